"""Exact numbers held to a baseline, as text for a terminal, Markdown for a pull request, and JUnit XML for a CI
server."""

from __future__ import annotations

from collections.abc import Sequence

from fourscore_analysis.gate.baseline import ABSENT, Change, Checked
from fourscore_analysis.gate.documents import FAILURE, SKIPPED, Case, escaped, junit, markdown_table
from fourscore_analysis.gate.exact import SAME, VARIES
from fourscore_analysis.gate.result import STATES
from fourscore_analysis.records.values import printable

MOST_LINES = 20
MOST_ROWS = 200
ADVICE = "Where this is meant, move the baseline: fourscore gate accept CAMPAIGN --baseline FILE"


def headline(checked: Checked) -> str:
    counts = ", ".join(f"{count} {word}" for word, count in checked.counts.items())
    return f"{STATES[checked.exit_code]}: exact numbers: {counts}"


def text_of(checked: Checked) -> str:
    told = _told(checked)
    lines = [headline(checked), *(f"  {one.word:<8}{one.text()}" for one in told[:MOST_LINES])]
    if len(told) > MOST_LINES:
        lines.append(f"  and {len(told) - MOST_LINES} more; --json has all")
    lines += [ADVICE] if told else []
    return "\n".join(printable(line) for line in lines)


def markdown_of(checked: Checked) -> str:
    told = _told(checked)
    lines = [f"**fourscore: {escaped(headline(checked))}**", ""]
    if told:
        rows = ((one.word, one.title, one.name, one.said) for one in told[:MOST_ROWS])
        head = ("change", "point", "number", "what is said")
        lines += markdown_table(head, ([escaped(cell) for cell in row] for row in rows))
        lines += [f"and {len(told) - MOST_ROWS} more", ""] if len(told) > MOST_ROWS else []
        lines.append(escaped(ADVICE))
    return "\n".join(lines).rstrip() + "\n"


def junit_of(checked: Checked) -> str:
    """A test case a point. What blocks is a failure; a point of which nothing was compared is skipped."""
    points: dict[str, list[Change]] = {}
    for one in checked.changes:
        points.setdefault(one.title, []).append(one)
    cases = [_case(title, changes) for title, changes in points.items()]
    return junit(
        "fourscore gate check", "fourscore.gate", {"state": STATES[checked.exit_code]}, cases, [headline(checked)]
    )


def _case(title: str, changes: Sequence[Change]) -> Case:
    told = [f"{one.word}: {f'{one.name} ' if one.name else ''}{one.said}" for one in changes if one.word != SAME]
    blocking = [one for one in changes if one.blocks]
    compared = any(one.word not in (ABSENT, VARIES) for one in changes)
    outcome = FAILURE if blocking else "" if compared else SKIPPED
    same = sum(one.word == SAME for one in changes)
    said = told[0] if told else f"{same} numbers as before"
    return Case(title, said, outcome, told[1:] if not outcome else told)


def _told(checked: Checked) -> list[Change]:
    return [one for one in checked.changes if one.word != SAME]
