"""The papers' own numbers, to draw beside ours: <paper>/published/<table, figure or section>.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.papers import files_of_papers, sources


@dataclass(frozen=True)
class Inconsistent:
    """A printed number that disagrees with the paper's own formulas, tables or text."""

    row: int  # its "row", from 1
    column: str
    computed: float
    why: str


@dataclass(frozen=True)
class Published:
    """One item of a paper: rows as the paper prints them, units in the names of the columns, None where it prints no
    number."""

    paper: str  # a key of the bibliography
    item: str  # the file's name: "table-2.1"
    citation: str
    source: str  # "Table 2.1"
    page: int | None  # None: not known to us
    title: str
    what: str
    setup: dict[str, Any]
    notes: tuple[str, ...]
    inconsistent: tuple[Inconsistent, ...]
    rows: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        """The paper's key and the source: "lee Table 2.1"."""
        return f"{self.paper} {self.source}"

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.setup["shape"])


@cache
def published(paper: str, item: str) -> Published:
    return _read(file_of(paper, item))


def file_of(paper: str, item: str) -> Path:
    return sources()[paper].folder / "published" / f"{item}.json"


def all_published() -> tuple[Published, ...]:
    """Every item of every paper, by the names of papers and files."""
    return tuple(_read(path) for path in files_of_papers("published", ".json"))


def _read(path: Path) -> Published:
    """Raises ValueError with the file's name where it is not as papers/published.schema.json has it."""
    try:
        data = json.loads(regular_content(path))
        return Published(
            paper=data["paper"],
            item=path.stem,
            citation=data["citation"],
            source=data["source"],
            page=data["page"],
            title=data["title"],
            what=data["what"],
            setup=data["setup"],
            notes=tuple(data["notes"]),
            inconsistent=tuple(Inconsistent(**one) for one in data.get("inconsistent", ())),
            rows=tuple(data["rows"]),
        )
    except KeyError as error:
        raise ValueError(f"{path}: no {error}, which every file of published numbers has") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
