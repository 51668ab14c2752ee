"""A reference of the installed headers, by what cmake/FourscoreInstall.cmake installs and what their comments say.

One page for each folder, in it each header, and in that each declaration outside of classes with the comment above it.
A class is shown with its public and protected members and their comments; bodies of functions are left out.
"""

from __future__ import annotations

import functools
import html
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FIRST = ("drivers/interfaces",)  # what one reads who adds something
SKIPPED_LINE = re.compile(r"#(?!define)|namespace [\w:]+ \{|\}  // namespace|extern \"C\" \{|using namespace")
TYPE = re.compile(r"(?:typedef )?(?:struct|class|enum(?: class)?|union)\b")


@dataclass
class Page:
    path: str
    title: str
    text: str


@dataclass
class Item:
    """A declaration with the comment above it."""

    comment: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


def installed_headers(root: Path) -> list[Path]:
    """The headers that the install() commands name."""
    text = (root / "cmake/FourscoreInstall.cmake").read_text(encoding="utf-8")
    found: set[Path] = set()
    for words in re.findall(r"install\((FILES|DIRECTORY)([^)]*?)DESTINATION \$\{CMAKE_INSTALL_INCLUDEDIR\}([^)]*)\)", text):
        excluded = set(re.findall(r"PATTERN (\w+) EXCLUDE", words[2]))
        for place in (root / name for name in words[1].split()):
            files = [place] if words[0] == "FILES" else place.rglob("*.hpp")
            found |= {path for path in files if path.suffix in (".hpp", ".h") and not excluded & set(path.relative_to(root).parts)}
    return sorted(found)


def depth_after(line: str, depth: int) -> int:
    bare = re.sub(r"//.*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'", "", line)
    return depth + sum(bare.count(one) for one in "({[") - sum(bare.count(one) for one in ")}]")


def items(text: str) -> Iterator[Item]:
    """The declarations of a header. Its first comment, which is about all of it, comes as an item without code."""
    item, depth, in_comment = Item(), 0, False
    for line in text.splitlines():
        if "SPDX-License-Identifier" in line:
            continue
        if depth == 0 and not item.code:
            if in_comment or re.match(r"//|/\*", line):
                in_comment = in_comment or line.startswith("/*")
                in_comment = in_comment and "*/" not in line
                item.comment.append(re.sub(r"^(?:///?|/\*\*?| \*(?!/)) ?|\s*\*/$", "", line))
                continue
            if not line.strip() or SKIPPED_LINE.match(line) or line == "}":
                if item.comment:
                    yield item
                item = Item()
                continue
        item.code.append(line)
        depth = depth_after(line, depth)
        if depth == 0 and not line.endswith("\\") and (item.code[0].startswith("#define") or re.search(r"[;}]\s*(?:(?://|/\*).*)?$", line)):
            yield item
            item = Item()


def flat(code: list[str]) -> str:
    """In one line, without the template's parameters and attributes."""
    text = " ".join(line.strip() for line in code)
    return re.sub(r"\[\[nodiscard\]\] |__attribute__\(\(.*?\)\) ", "", re.sub(r"^template <[^{;]*?> (?=\w|\[)", "", text))


def interface(code: list[str]) -> list[str]:
    """Without private members and without what functions do."""
    if code[0].startswith("#define"):
        return code
    shown: list[str] = []
    depth, private, body = 0, False, None
    of_type = TYPE.match(flat(code))
    for line in code:
        before, depth = depth, depth_after(line, depth)
        if body is not None:
            body = None if depth < body else body
            continue
        if access := re.match(r" (public|protected|private):", line):
            private = access[1] == "private"
        if private and depth > 0:
            continue
        of_function = not TYPE.match(flat([line])) and (before > 0 or not of_type)
        if of_function and line.endswith(" {") and not line.endswith("= {"):
            body, line = depth, line.removesuffix(" {") + ";"
        elif not of_type:
            line = re.sub(r" \{.*\}$", ";", line)
        shown.append(line)
    while len(shown) > 2 and not shown[-2].strip():
        del shown[-2]
    return shown


def name_of(code: list[str]) -> str:
    text = flat(code)
    if match := re.match(r"#define (\w+)", text):
        return match[1]
    if match := re.match(r"enum \{ *(\w+)", text):
        return match[1]
    if match := re.match(r"typedef struct (\w+)|(?:struct|class|enum class|enum|union) (\w+)", text):
        return match[1] or match[2]
    if match := re.match(r"(?:inline )?(?:using|constexpr [\w:<>, ]+?|inline constexpr [\w:<>, ]+?) (\w+)(?: =|\{|\[)", text):
        return match[1]
    if match := re.search(r"(operator[^\w\s(]+|~?\w+)\(", text):
        return match[1]
    return ""


def prose(lines: list[str]) -> str:
    """A comment as Markdown that says the same: only its code in backticks stays code."""
    parts = re.split(r"(`[^`]*`)", "\n".join(lines).strip())
    return "".join(part if part.startswith("`") else re.sub(r"([*\[\]_])", r"\\\1", html.escape(part, quote=False)) for part in parts)


def section(root: Path, path: Path) -> str:
    name = path.relative_to(root).as_posix().removeprefix("drivers/")
    if path.suffix == ".h":
        name = path.name  # installed where compilers look first
    lines = [f"## {name}", "", f'```cpp\n#include "{name}"\n```', ""]
    for number, item in enumerate(items(path.read_text(encoding="utf-8"))):
        if not item.code:
            lines += [prose(item.comment), ""] if number == 0 else []
            continue
        code = interface(item.code)
        name = name_of(code)
        forward = re.fullmatch(r"(?:struct|class|enum class) \w+(?: : \w+)?;", code[0])
        if not name or forward or re.fullmatch(r"[A-Z_]+_(?:H|HPP)", name):
            continue
        lines += [f"### {name}".replace("_", r"\_"), "", *([prose(item.comment), ""] if item.comment else []), "```cpp", *code, "```", ""]
    return "\n".join(lines)


@functools.cache
def pages(root: Path) -> list[Page]:
    by_folder: dict[str, list[Path]] = defaultdict(list)
    for path in installed_headers(root):
        parts = path.relative_to(root).parts
        by_folder["/".join(parts[: 2 if parts[0] == "drivers" else 1])].append(path)
    architecture = (root / "docs/architecture.md").read_text(encoding="utf-8")
    holds = dict(re.findall(r"^\| `([\w/]+)/` \| (.*?) \|", architecture, re.M))
    found = []
    for folder in sorted(by_folder, key=lambda name: (name not in FIRST, name)):
        text = "\n".join([f"# {folder}", "", holds.get(folder, ""), "", *(section(root, path) for path in by_folder[folder])])
        found.append(Page(f"api/{folder.removeprefix('drivers/')}.md", folder, text))
    return found
