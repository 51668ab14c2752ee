"""Whether the files by which others install, cite and find fourscore agree, and are of their formats.

Usage: metadata.py ROOT [--selftest]
Checked are the version number in every file that has one, the date of the release, title, licence, keywords and authors,
CITATION.cff (by cffconvert where that is in PATH), codemeta.json, .zenodo.json. Exits 1 with one line for each finding.
--selftest spoils each in turn and expects to find it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from checker import run

# Files with a version number, and where in them it stands. Each pattern of files may match none, but for the first.
VERSIONS = (
    ("CMakeLists.txt", r"^project\(fourscore VERSION (\S+)"),
    ("CITATION.cff", r"^version: (\S+)"),
    ("codemeta.json", r'^  "version": "([^"]+)"'),
    ("analysis/pyproject.toml", r'^version = "([^"]+)"'),
    ("analysis/*/__init__.py", r'^__version__ = "([^"]+)"'),
    ("packaging/debian/changelog", r"\Afourscore \(([\d.]+)"),
    ("packaging/conda/recipe.yaml", r'^  version: "([^"]+)"'),
    ("packaging/easybuild/*.eb", r"^version = '([^']+)'"),
    ("packaging/spack/package.py", r'^    version\("([^"]+)"'),
    ("packaging/ramble/experiment.py", r'"version", default="([^"]+)"'),
)
CHANGELOG = "CHANGELOG.md"
LICENCE = "BSD-3-Clause"
FILES = ("CITATION.cff", "codemeta.json", ".zenodo.json")
# The keys of the Citation File Format 1.2.0 at the top of its file; those that it requires come first.
CFF_REQUIRED = ("cff-version", "message", "title", "authors")
CFF_OTHERS = (
    *("abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url"),
    *("preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url", "version"),
)


def read(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def versions(root: Path) -> list[tuple[str, str]]:
    """File and version number, the one of CMake first: the programs say that one."""
    return [
        (path.relative_to(root).as_posix(), match[1])
        for files, pattern in VERSIONS
        for path in sorted(root.glob(files))
        if (match := re.search(pattern, path.read_text(encoding="utf-8"), re.M))
    ]


def section(root: Path, version: str) -> tuple[str, str] | None:
    """Date (empty where it has none) and text of a version's section of the changelog."""
    match = re.search(rf"^## \[{re.escape(version)}\](?: - (\S+))?\n(.*?)(?=^## |\Z)", read(root, CHANGELOG), re.M | re.S)
    return (match[1] or "", match[2].strip()) if match else None


def cff(root: Path) -> dict[str, str]:
    """The keys at the top of CITATION.cff; each value is the text to the next key."""
    return {match[1]: match[2].strip() for match in re.finditer(r"^([\w-]+):(.*(?:\n(?:[ -].*)?(?!\S))*)", read(root, FILES[0]) + "\n", re.M)}


def names(text: str) -> set[str]:
    return {line.strip().removeprefix("- ").removeprefix("name: ").strip('"') for line in text.splitlines() if line.strip()}


def cff_findings(root: Path) -> Iterator[str]:
    file, found = FILES[0], cff(root)
    for key in CFF_REQUIRED:
        if not found.get(key):
            yield f"{file}: {key} is missing"
    for key in found.keys() - {*CFF_REQUIRED, *CFF_OTHERS}:
        yield f"{file}: {key} is no key of the Citation File Format"
    if found.get("cff-version") != "1.2.0":
        yield f"{file}: cff-version is {found.get('cff-version')}; expected 1.2.0"
    if (date := found.get("date-released")) and not re.fullmatch(r'"?\d{4}-\d\d-\d\d"?', date):
        yield f"{file}: date-released is {date}; expected YYYY-MM-DD"
    if program := shutil.which("cffconvert"):
        asked = subprocess.run([program, "--validate", "-i", root / file], capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            yield f"{file}: cffconvert says: {' '.join((asked.stdout + asked.stderr).split())[-300:]}"


def findings(root: Path) -> Iterator[str]:
    for file in FILES:
        if not (root / file).is_file():
            yield f"{file} is missing"
            return
    yield from cff_findings(root)
    try:
        codemeta, zenodo = (json.loads(read(root, file)) for file in FILES[1:])
    except json.JSONDecodeError as error:
        yield f"{' or '.join(FILES[1:])}: no JSON: {error}"
        return
    citation = cff(root)
    stated = versions(root)
    version = stated[0][1]
    for file, other in stated[1:]:
        if other != version:
            yield f"{file}: version {other}; CMakeLists.txt has {version}"
    changes = section(root, version)
    if changes is None:
        yield f"{CHANGELOG}: no section [{version}], the version of CMakeLists.txt"
    elif changes[0] != citation.get("date-released", "").strip('"'):
        yield f"{CHANGELOG}: {version} is of '{changes[0]}'; date-released of CITATION.cff is '{citation.get('date-released', '')}'"
    title, authors = citation.get("title", "").strip('"'), names(citation.get("authors", ""))
    for file, what, value, expected in (
        (FILES[0], "license", citation.get("license"), LICENCE),
        (FILES[1], "license", codemeta.get("license"), f"https://spdx.org/licenses/{LICENCE}"),
        (FILES[2], "license", zenodo.get("license"), LICENCE),
        (FILES[1], "name", codemeta.get("name"), title),
        (FILES[2], "title", zenodo.get("title"), title),
        (FILES[1], "author", {one.get("name") for one in codemeta.get("author", [])}, authors),
        (FILES[2], "creators", {one.get("name") for one in zenodo.get("creators", [])}, authors),
        (FILES[1], "keywords", set(codemeta.get("keywords", [])), names(citation.get("keywords", ""))),
        (FILES[2], "keywords", set(zenodo.get("keywords", [])), names(citation.get("keywords", ""))),
        (FILES[1], "@context", codemeta.get("@context"), "https://w3id.org/codemeta/3.0"),
        (FILES[1], "type", codemeta.get("type"), "SoftwareSourceCode"),
        (FILES[2], "upload_type", zenodo.get("upload_type"), "software"),
    ):
        if value != expected:
            yield f"{file}: {what} is {value!r}; expected {expected!r}"


SPOILT = (
    ("CITATION.cff", "version: ", "version: 9."),
    ("CITATION.cff", "authors:", "author:"),
    ("CITATION.cff", "cff-version: 1.2.0", "cff-version: 1.9.0"),
    ("CITATION.cff", "license: BSD-3-Clause", "license: MIT"),
    ("CITATION.cff", "license: ", "date-released: soon\nlicense: "),
    ("CITATION.cff", "license: ", "date-released: 1999-01-01\nlicense: "),
    ("CITATION.cff", "  - benchmark\n", ""),
    ("codemeta.json", '"version": "', '"version": "9.'),
    ("codemeta.json", "{", ""),
    ("codemeta.json", "The fourscore authors", "Somebody"),
    ("codemeta.json", "codemeta/3.0", "codemeta/9.0"),
    (".zenodo.json", '"title": "', '"title": "Another '),
    (".zenodo.json", '"BSD-3-Clause"', '"MIT"'),
    (".zenodo.json", '"MPI"', '"PVM"'),
    ("CMakeLists.txt", "fourscore VERSION ", "fourscore VERSION 9."),
    ("packaging/debian/changelog", "fourscore (", "fourscore (9."),
    ("packaging/spack/package.py", 'version("', 'version("9.'),
    ("CHANGELOG.md", "\n## [", "\n## [9"),
)


def copy(root: Path, tree: Path) -> None:
    """The files that are read here, into another folder."""
    for pattern in (CHANGELOG, *FILES, *(files for files, _ in VERSIONS)):
        for path in root.glob(pattern):
            (tree / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, tree / path.relative_to(root))


def selftest(root: Path) -> int:
    status = 0
    for file, old, new in SPOILT:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            copy(root, tree)
            text = read(tree, file)
            (tree / file).write_text(text.replace(old, new), encoding="utf-8")
            if old not in text or not set(findings(tree)) - set(findings(root)):
                print(f"{file}: {old!r} became {new!r}, and nothing was found")
                status = 1
    print(f"{len(SPOILT)} lines spoilt in turn")
    return status


if __name__ == "__main__":
    sys.exit(run(__doc__, findings, "the files by which others install, cite and find fourscore agree", selftest))
