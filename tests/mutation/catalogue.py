"""The catalogue of mutations: one-line changes of a reported quantity, each with the tests that should notice."""

from __future__ import annotations

import fnmatch
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent / "catalogue"
TEXTS = ("name", "file", "old", "new", "breaks")
CONTEXT = 3  # lines before and after the changed one, while which are the same a kill stays known
OTHERS = ("build", "ctest", "filter", "pytest", "survives")


class CatalogueError(Exception):
    """An entry that cannot be used; the message names its file and its name."""


@dataclass(frozen=True)
class Stage:
    """Targets of the build, and the tests that run once these are built."""

    build: tuple[str, ...] = ()
    ctest: str = ""  # regular expression of test names, as for ctest -R
    filter: str = ""  # which of these programs' tests of GoogleTest
    pytest: str = ""  # arguments, the first of which is a file or a folder of tests
    limit_s: float = 0  # time limit of the tests; 0: the limit of the workplace


@dataclass(frozen=True)
class Mutation:
    """`old`, which stands once in `file`, becomes `new`. Paths are relative to the root of the project."""

    name: str
    file: str
    old: str
    new: str
    breaks: str  # the promise that the changed program does not keep
    build: tuple[str, ...] = ()  # these four: see Stage
    ctest: str = ""
    filter: str = ""
    pytest: str = ""
    survives: str = ""  # why no test can notice; "" where one should

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What should notice it; none but the first is built where that does."""
        return (Stage(self.build, self.ctest, self.filter, self.pytest),)

    def matches(self, pattern: str) -> bool:
        return fnmatch.fnmatch(self.name, pattern) or fnmatch.fnmatch(self.file, pattern)

    def applied(self, text: str) -> str:
        """The text of the file with the mutation."""
        return text.replace(self.old, self.new, 1)

    def place(self, lines: list[str]) -> int:
        """The index of the line that it changes."""
        return next((number for number, line in enumerate(lines) if self.old in line), 0)

    def digest(self, root: Path) -> str:
        """Changes with the entry and with the lines about the one that it changes."""
        text = "\0".join((*self.build, self.name, self.old, self.new, self.ctest, self.filter, self.pytest))
        lines = (root / self.file).read_text(encoding="utf-8").split("\n")
        place = self.place(lines)
        about = "\n".join(lines[max(0, place - CONTEXT) : place + CONTEXT + 1])
        return hashlib.sha256((text + about).encode()).hexdigest()[:16]

    def problem(self, root: Path) -> str:
        """Why it does not apply to the tree at `root`; "" where it does."""
        file = root / self.file
        if not file.is_file():
            return f"{self.file} is not there"
        count = file.read_text(encoding="utf-8").count(self.old)
        return "" if count == 1 else f"its old text stands {count} times in {self.file}; expected once"


def _entry(source: Path, number: int, table: Any) -> Mutation:
    if not isinstance(table, dict):
        raise CatalogueError(f"{source.name}: mutation {number} is no table")
    where = f"{source.name}: mutation {table.get('name', number)!r}"
    for key in TEXTS:
        if not isinstance(table.get(key), str) or (key != "new" and not table[key]):
            raise CatalogueError(f"{where}: key '{key}' is missing or no text")
    for key in table:
        if key not in TEXTS + OTHERS:
            raise CatalogueError(f"{where}: unknown key '{key}'; allowed: {', '.join(TEXTS + OTHERS)}")
    if "\n" in table["old"] or "\n" in table["new"]:
        raise CatalogueError(f"{where}: old and new are parts of one line")
    if table["old"] == table["new"]:
        raise CatalogueError(f"{where}: old and new are the same")
    mutation = Mutation(**(table | {"build": tuple(table.get("build", ()))}))
    if not mutation.ctest and not mutation.pytest:
        raise CatalogueError(f"{where}: no test should notice it; expected 'ctest' or 'pytest'")
    if mutation.pytest and not (ROOT / mutation.pytest.split()[0].split("::")[0]).exists():
        raise CatalogueError(f"{where}: {mutation.pytest.split()[0]} is not there")
    return mutation


def read_catalogue(folder: Path = FOLDER) -> list[Mutation]:
    """All entries, by file and as they stand there. Raises CatalogueError."""
    found: dict[str, Mutation] = {}
    for source in sorted(folder.glob("*.toml")):
        try:
            tables = tomllib.loads(source.read_text(encoding="utf-8")).get("mutation", [])
        except tomllib.TOMLDecodeError as error:
            raise CatalogueError(f"{source.name}: not TOML: {error}") from None
        for number, table in enumerate(tables, 1):
            mutation = _entry(source, number, table)
            if mutation.name in found:
                raise CatalogueError(f"{source.name}: two mutations are named {mutation.name!r}")
            found[mutation.name] = mutation
    return list(found.values())
