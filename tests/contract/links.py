"""Whether every link of the documents leads somewhere, and every citation key is in the bibliography.

Usage: links.py ROOT [--selftest]
Checked are, in all Markdown files, relative links and images with their #anchors, and in sources, suites and documents
citation keys (an author's name and a year). A key must be a heading of docs/bibliography.md, and each heading there
must be cited. A page that a comment or message of a source names must be there. Exits 1 with one line for each finding.
--selftest plants one of each kind and expects to find it.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from checker import run

BIBLIOGRAPHY = Path("docs/bibliography.md")
CITING = ("drivers", "suites", "analysis/fourscore_analysis", "analysis/fourscore_papers", "docs")
CITING_SUFFIXES = {".cpp", ".hpp", ".f90", ".toml", ".py", ".md"}
NAMING = ("core", "drivers", "hwcounters", "results", "jobscripts", "analysis", "suites", "cmake", "tests")
NAMING_SUFFIXES = {".cpp", ".hpp", ".f90", ".toml", ".py", ".cmake", ".txt", ".in", ""}
SKIPPED = {"build", ".venv", ".git", ".cache", "node_modules", "__pycache__"}

FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2[`~]*\s*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
# Looks ahead, as a link's text may hold an image.
LINK = re.compile(r"(?=\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\))")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+(\S+)", re.M)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.M)
EXTERNAL = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)
PAGE = re.compile(r"(?<![\w./-])((?:docs|suites|results|analysis)/(?:[\w.-]+/)*[\w.-]+\.md)\b")
KEY = re.compile(r"(?<![\w./-])([a-z]{3,}(?:19|20)\d\d)(?![\w-])")


def markdown_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.md") if not SKIPPED & set(path.relative_to(root).parts))


def anchor(heading: str, taken: dict[str, int]) -> str:
    """As GitHub makes it of a heading; the second of equal ones ends in -1."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    count = taken.get(slug, 0)
    taken[slug] = count + 1
    return f"{slug}-{count}" if count else slug


def anchors(text: str) -> set[str]:
    taken: dict[str, int] = {}
    return {anchor(heading, taken) for heading in HEADING.findall(FENCE.sub("", text))}


def targets(text: str) -> Iterator[tuple[int, str]]:
    """Line and target of each link outside code."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group(0))

    # A link's own text may be code, so code is blanked but for its backticks' place.
    prose = CODE.sub(blank, FENCE.sub(blank, text))
    for pattern in (LINK, REFERENCE):
        for match in pattern.finditer(prose):
            yield prose.count("\n", 0, match.start()) + 1, match.group(1)


def broken_links(root: Path) -> Iterator[str]:
    known: dict[Path, set[str]] = {}
    for path in markdown_files(root):
        for line, target in targets(path.read_text(encoding="utf-8")):
            if EXTERNAL.match(target):
                continue
            where = f"{path.relative_to(root)}:{line}"
            name, _, fragment = unquote(target).partition("#")
            file = (path.parent / name).resolve() if name else path.resolve()
            if not file.is_relative_to(root) or not file.exists():
                yield f"{where}: {target} leads nowhere"
            elif fragment and file.suffix == ".md":
                if file not in known:
                    known[file] = anchors(file.read_text(encoding="utf-8"))
                if fragment not in known[file]:
                    yield f"{where}: {file.relative_to(root)} has no heading #{fragment}"


def unknown_keys(root: Path) -> Iterator[str]:
    bibliography = root / BIBLIOGRAPHY
    if not bibliography.is_file():
        yield f"{BIBLIOGRAPHY} is missing"
        return
    headings = {
        heading for heading in HEADING.findall(bibliography.read_text(encoding="utf-8")) if KEY.fullmatch(heading)
    }
    cited: set[str] = set()
    for folder in CITING:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in CITING_SUFFIXES or not path.is_file() or path == bibliography:
                continue
            for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for key in KEY.findall(text):
                    cited.add(key)
                    if key not in headings:
                        yield f"{path.relative_to(root)}:{number}: {key} is not in {BIBLIOGRAPHY}"
    for folder in sorted((root / "suites/papers").glob("*")):
        if folder.is_dir() and folder.name not in headings:
            yield f"{folder.relative_to(root)}: {folder.name} is not in {BIBLIOGRAPHY}"
    for key in sorted(headings - cited):
        yield f"{BIBLIOGRAPHY}: nothing cites {key}"


def missing_pages(root: Path) -> Iterator[str]:
    for folder in NAMING:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in NAMING_SUFFIXES or not path.is_file() or SKIPPED & set(path.relative_to(root).parts):
                continue
            if path.name == Path(__file__).name:
                continue  # it plants some
            for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                for page in PAGE.findall(text):
                    if "planted" not in page and not (root / page).is_file():
                        yield f"{path.relative_to(root)}:{number}: {page} is not there"


def findings(root: Path) -> list[str]:
    return [*broken_links(root), *unknown_keys(root), *missing_pages(root)]


PLANTED = (
    ("docs/planted.md", "[away](no-such-page.md)\n", "docs/planted.md:1: no-such-page.md leads nowhere"),
    ("docs/planted.md", "\n![a picture](images/no-such.svg)\n", "docs/planted.md:2: images/no-such.svg leads nowhere"),
    ("docs/planted.md", "[![a](images/no.svg)](README.md)\n", "docs/planted.md:1: images/no.svg leads nowhere"),
    ("docs/planted.md", "# One\n[there](#two)\n", "docs/planted.md:2: docs/planted.md has no heading #two"),
    ("docs/planted.md", "[key](bibliography.md#nobody)\n", "docs/bibliography.md has no heading #nobody"),
    ("docs/planted.md", "[out](../../secret.md)\n", "docs/planted.md:1: ../../secret.md leads nowhere"),
    ("drivers/variants/planted.cpp", '{"planted", "a card", "nobody2099"}\n',
     "drivers/variants/planted.cpp:1: nobody2099 is not in docs/bibliography.md"),
    ("jobscripts/planted.cpp", '"see docs/no-such-page.md"\n',
     "jobscripts/planted.cpp:1: docs/no-such-page.md is not there"),
    ("suites/papers/nobody2099/figure.toml", 'name = "planted"\n', "is not in docs/bibliography.md"),
)  # fmt: skip
ALLOWED = "# One two\n[up](#one-two) `[no](link.md)` [out](https://example.org/x.md#y)\n```\n[no](link.md)\n```\n"


def selftest(root: Path) -> int:
    """Each planted finding is found, and what is no finding is not. ROOT itself may have findings of its own."""
    status = 0
    with tempfile.TemporaryDirectory() as temporary:
        for file, text, expected in (*PLANTED, ("docs/planted.md", ALLOWED, "")):
            tree = Path(temporary).resolve() / "tree"
            for document in (*markdown_files(root), *(root / "docs").rglob("*.svg"), *(root / "docs").rglob("*.png")):
                copy = tree / document.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(document, copy)
            before = set(findings(tree))
            planted = tree / file
            planted.parent.mkdir(parents=True, exist_ok=True)
            planted.write_text(text, encoding="utf-8")
            found = set(findings(tree)) - before
            if not (any(expected in line for line in found) if expected else not found):
                print(f"planted in {file}: {text!r}; expected {expected or 'nothing'!r}, found {sorted(found)}")
                status = 1
            shutil.rmtree(tree)
    print("selftest: " + ("failed" if status else "every planted finding was found"))
    return status


if __name__ == "__main__":
    sys.exit(run(__doc__, findings, "every link leads somewhere", selftest))
