"""A site's pages as HTML. A page that would be larger than LARGEST_PAGE loses rows at its end, says so, and links its
data, which has all of them."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from fourscore_analysis import __version__
from fourscore_analysis.page.environment import PACKAGE, environment
from fourscore_analysis.points.units import ratio_text, time_text
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.site.contents import Row
from fourscore_analysis.site.sparkline import sparkline

LARGEST_PAGE = 290_000  # bytes
LONGEST_TEXT = 120  # characters of a name in a table
ENTRIES_A_PAGE = 500  # lists
MOST_ROWS = 2000  # none is shorter than 150 bytes
STYLE = "style.css"
TEMPLATES = PACKAGE / "page" / "templates"


@dataclass(frozen=True)
class About:
    """What every page says at its end."""

    licence: str
    campaigns: int
    first: str
    last: str
    revisions: tuple[str, ...]


@cache
def _made():
    made = environment()
    made.filters |= {"short": _short, "day": _day, "groups": _groups}
    made.globals |= {"version": __version__, "style": STYLE, "sparkline": sparkline, "time_text": time_text}
    made.globals |= {"ratio_text": ratio_text}
    return made


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _day(text: str) -> str:
    return text[:10] or "unknown"


def _groups(rows: Sequence[Row], heading: Sequence[str]) -> list[list[Row]]:
    """Rows that follow each other and share a heading."""

    def said(row: Row) -> list[str]:
        return [row.where if name == "ranks" else getattr(row, name) for name in heading]

    return [list(group) for _, group in groupby(rows, said)]


@cache
def program_digest() -> str:
    """The digest of what makes pages: where it changes, all are made anew."""
    sources = [*sorted(TEMPLATES.glob("site*")), TEMPLATES / "report.css", *sorted((PACKAGE / "site").glob("*.py"))]
    found = hashlib.sha256(__version__.encode())
    for file in sources:
        found.update(regular_content(file))
    return found.hexdigest()


def style() -> bytes:
    """The house's style sheet, and what a site needs beside it."""
    parts = [regular_content(TEMPLATES / name) for name in ("report.css", "site.css")]
    return b"".join(parts)


def render(template: str, rows: Sequence[Any] = (), **values: Any) -> bytes:
    """With as many of `rows` as fit into LARGEST_PAGE."""
    shown = min(len(rows), MOST_ROWS)
    while True:
        page = (
            _made()
            .get_template(template)
            .render(rows=rows[:shown], left_out=len(rows) - shown, **values)
            .encode("utf-8", "backslashreplace")
        )
        if len(page) <= LARGEST_PAGE or not shown:
            return page
        shown = min(shown - 1, int(shown * 0.95 * LARGEST_PAGE / len(page)))


def json_of(value: Any) -> bytes:
    return f"{json.dumps(value, separators=(',', ':'))}\n".encode()


def parquet_of(rows: Sequence[dict[str, Any]]) -> bytes:
    """A column for each key of any row; what is no single value is JSON. Needs pyarrow."""
    import pyarrow
    import pyarrow.parquet

    def plain(value: Any) -> Any:
        return json.dumps(value) if isinstance(value, dict | list) else value

    columns = dict.fromkeys(key for row in rows for key in row)  # pyarrow takes those of the first row alone
    flat = [{key: plain(row.get(key)) for key in columns} for row in rows]
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(flat), content)
    return content.getvalue()
