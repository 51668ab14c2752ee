"""What becomes of matplotlib's SVG: marks get titles, and a page can hold many of them inline.

Inline, all figures are one document: their names get a prefix each, and glyphs, which are the same in all, stand once
in the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from xml.etree import ElementTree

from fourscore_analysis.plots.base import AS_DRAWN, MARK, NEXT_LINE, NEXT_TEXT
from fourscore_analysis.plots.shared import colours

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_G, _USE, _TITLE, _PATH, _HREF = f"{{{SVG}}}g", f"{{{SVG}}}use", f"{{{SVG}}}title", f"{{{SVG}}}path", f"{{{XLINK}}}href"
_GLYPH = re.compile(r"[A-Za-z]+-[0-9a-f]+")  # DejaVuSans-41
_FINE_DIGITS = re.compile(r"(\.\d\d)\d+")  # hundredths of a point are finer than any screen
_REFERENCE = re.compile(r"url\(#([^)]+)\)")

_ATTRIBUTE = re.compile(r'\b(fill|stroke)="(#[0-9A-Fa-f]{6})"')
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
# Colours that are others on a dark page, and their names in templates/report.css. Files beside the page have them as
# they were drawn.
_THEMED = {
    colour.lower(): f"var(--{name})"
    for colour, name in (
        ("#ffffff", "paper"),
        ("#e6e6e6", "grid"),
        (colours.LIGHT_GREY, "faint"),
        (colours.GREY, "grey"),
        (colours.SOFT, "soft"),
        (colours.INK, "ink"),
        (colours.BLACK, "ink"),
        (colours.BLUE, "blue"),
        (colours.INDIGO, "indigo"),
        (colours.WINE, "wine"),
        (colours.BROWN, "brown"),
    )
}

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


def titled(content: bytes) -> ElementTree.Element:
    """The figure, in which what `mark` named has its text as a title. Raises ParseError for what is no XML."""
    root = ElementTree.fromstring(content)
    for group in list(root.iter(_G)):
        name = group.get("id", "")
        if name.startswith(AS_DRAWN):
            del group.attrib["id"]
            group.set("class", AS_DRAWN)
        elif name.startswith(MARK):
            del group.attrib["id"]
            _give_titles(group, name.removeprefix(MARK).split(NEXT_TEXT))
    return root


def _give_titles(group: ElementTree.Element, texts: list[str]) -> None:
    """One for each marker, where there are as many; else the first of them for all."""
    markers = list(group.iter(_USE))
    owners = markers if len(texts) > 1 and len(markers) == len(texts) else [group]
    for owner, text in zip(owners, texts, strict=False):
        owner.set("class", "mark")
        title = ElementTree.Element(_TITLE)
        title.text = text.replace(NEXT_LINE, "\n")
        owner.insert(0, title)


def themed_colour(colour: str) -> str:
    """`colour` of a figure as a page's style sheet has it: by name, where a dark page has another."""
    return _THEMED.get(colour.lower(), colour)


def themed(plot: str) -> str:
    """A small plot, whose elements have one colour each as an attribute, with the colours of the page."""
    return _ATTRIBUTE.sub(lambda found: f'style="{found[1]}: {themed_colour(found[2])}"', plot)


@cache  # few looks, many marks
def _themed_style(style: str) -> str:
    return _COLOUR.sub(lambda found: themed_colour(found[0]), style)


def _theme(root: ElementTree.Element) -> None:
    """Colours of `root` and below become those of the page; but for what stands on a shade that stays."""
    if root.get("class") == AS_DRAWN:
        return
    if style := root.get("style"):
        root.set("style", _themed_style(style))
    for child in root:
        _theme(child)


def whole_file(root: ElementTree.Element) -> bytes:
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def inline(root: ElementTree.Element, prefix: str, alt: str) -> tuple[str, dict[str, tuple[str, str]]]:
    """The figure as a part of a page, and its glyphs (name to outline and transform), which the page holds once.
    Changes `root`."""
    glyphs: dict[str, tuple[str, str]] = {}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == _PATH and _GLYPH.fullmatch(name := child.get("id", "")):
                glyphs[name] = (child.get("d", ""), child.get("transform", ""))
                parent.remove(child)
            elif child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{{{SVG}}}defs" and not len(child):
                parent.remove(child)
    _theme(root)
    wanted = set(_references(root))
    for element in root.iter():
        name = element.get("id")
        if name is not None and name not in wanted:
            del element.attrib["id"]
        elif name is not None:
            element.set("id", prefix + name)
        if (target := element.attrib.pop(_HREF, None)) is not None:
            element.set("href", target if target[1:] in glyphs or target[:1] != "#" else f"#{prefix}{target[1:]}")
        for key in ("d", "x", "y"):
            if value := element.get(key):
                element.set(key, _FINE_DIGITS.sub(r"\1", " ".join(value.split())))
        for key, value in element.items():
            if "url(#" in value:
                element.set(key, _REFERENCE.sub(rf"url(#{prefix}\1)", value))
    width, height = (float(root.get(side, "0").removesuffix("pt")) / 72 * 96 for side in ("width", "height"))
    root.attrib |= {"class": "plot", "role": "img", "aria-label": alt, "width": f"{width:g}", "height": f"{height:g}"}
    for unneeded in ("version", "xmlns"):
        root.attrib.pop(unneeded, None)
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r">\s+<", ">\n<", text), glyphs


def _references(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        for key, value in element.items():
            if key == _HREF:
                yield value.removeprefix("#")
            yield from _REFERENCE.findall(value)
