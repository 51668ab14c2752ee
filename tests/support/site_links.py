"""The links of a folder of pages, and where they lead."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Reader(HTMLParser):
    """The links of a page, and its names to link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if key in ("id", "name"):
                self.names.add(value or "")
            elif key in ("href", "src") and value and tag != "base":
                self.links.append(value)


def followed(site: Path, pattern: str) -> tuple[list[str], set[str]]:
    """Links of the pages that match `pattern` which lead nowhere in the folder, with their page; and those that leave
    it."""
    pages = {path: Reader(path.read_text(encoding="utf-8")) for path in site.rglob(pattern)}
    dead, outside = set(), set()
    for page, reader in pages.items():
        for link in reader.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                outside.add(link)
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_relative_to(site.resolve()) or not target.is_file():
                dead.add(f"{page.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                dead.add(f"{page.relative_to(site)}: {link} (no such place)")
    return sorted(dead), outside
