"""What a verdict looks like to a CI server: JUnit XML, and Markdown that shows what it is given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from fourscore_analysis.records.values import printable

FAILURE, SKIPPED = "failure", "skipped"


@dataclass(frozen=True)
class Case:
    """A test case. `said` is its message where it failed or was skipped; `details` stands below, line by line."""

    name: str
    said: str
    outcome: str = ""  # FAILURE, SKIPPED, or "" of one that passed
    details: Sequence[str] = ()


def junit(name: str, classname: str, properties: dict[str, str], cases: Sequence[Case], summary: Sequence[str]) -> str:
    suite = ElementTree.Element("testsuite", name=name)
    listed = ElementTree.SubElement(suite, "properties")
    for key, value in properties.items():
        ElementTree.SubElement(listed, "property", name=key, value=printable(value))
    for one in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=classname, name=printable(one.name))
        if one.outcome:
            ElementTree.SubElement(case, one.outcome, message=printable(one.said))
        lines = one.details if one.outcome else [one.said, *one.details]
        if lines:
            ElementTree.SubElement(case, "system-out").text = _lines(lines)
    ElementTree.SubElement(suite, "system-out").text = _lines(summary)
    suite.set("tests", str(len(cases)))
    for outcome, key in ((FAILURE, "failures"), (SKIPPED, "skipped")):
        suite.set(key, str(sum(one.outcome == outcome for one in cases)))
    suite.set("errors", "0")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(printable(line) for line in lines)


def escaped(text: str) -> str:
    """Markdown that shows what it is given."""
    return "".join(f"\\{one}" if one in "\\`*_{}[]<>#|~" else one for one in printable(text))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> list[str]:
    """With an empty line behind it; the last `numbers` columns are aligned to the right. Cells are escaped already."""
    marks = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return [f"| {' | '.join(cells)} |" for cells in (head, marks, *rows)] + [""]


def text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def link_to(file: Path, folder: Path) -> str:
    """From a document in `folder`."""
    return quote(os.path.relpath(file.resolve(), folder.resolve()))
