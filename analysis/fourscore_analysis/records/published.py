"""The papers' own numbers, to draw beside ours: results/published/<paper>/<table or figure>.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[3] / "results" / "published"


@dataclass(frozen=True)
class Published:
    """One table: rows as the paper prints them, units in the names of the columns."""

    paper: str
    source: str  # "Table 2.1"
    setup: dict[str, Any]
    rows: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        """lee2018 Table 2.1"""
        return f"{self.paper} {self.source}"

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.setup["shape"])


@cache
def published(paper: str, table: str) -> Published | None:
    """The table, or None where this installation lacks the papers' numbers: a report is one without them."""
    path = FOLDER / paper / f"{table}.json"
    if not path.is_file():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    return Published(data["paper"], data["source"], data["setup"], tuple(data["rows"]))
