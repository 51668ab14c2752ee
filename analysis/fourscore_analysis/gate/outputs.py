"""A gate as text for a terminal, Markdown for a pull request, and JUnit XML for a CI server."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

from fourscore_analysis.gate import verdict
from fourscore_analysis.gate.documents import (
    FAILURE,
    SKIPPED,
    Case,
    escaped,
    junit,
    link_to,
    markdown_table,
    text_table,
)
from fourscore_analysis.gate.exact import VARIES
from fourscore_analysis.gate.result import STATES, Gate
from fourscore_analysis.gate.scatter import named_pairs, scatter_lines
from fourscore_analysis.gate.sentences import (
    blame_sentence,
    change_text,
    exact_sentence,
    headline,
    notes,
    phase_text,
    sentence,
    share_text,
)
from fourscore_analysis.gate.verdict import Verdict
from fourscore_analysis.points.units import time_text
from fourscore_analysis.records.values import printable

MOST_LINES = 20  # per verdict; JSON has all
MOST_ROWS = 100  # per table
MOST_DETAILS = 12  # series whose pairs are shown
QUIET = (verdict.NO_CHANGE, verdict.COUNTED, verdict.SKIPPED)  # that the short outputs only count
COLUMNS = ("verdict", "series", "change", "95 %", "base", "candidate", "launches", "could hide")
NUMBERS = 6  # columns of these, the last
PHASE_COLUMNS = ("phase", "base", "candidate", "change of its slowest rank")


def text_of(gate: Gate) -> str:
    """Worst first."""
    lines = [headline(gate)]
    for word, verdicts in _groups(gate):
        lines += [f"  {word:<14} {_with_blame(gate, one)}" for one in verdicts[:MOST_LINES]]
        lines += _left_out(f"  {word:<14} ", len(verdicts), MOST_LINES)
    changed = gate.changed
    lines += [f"  {'exact':<14} {exact_sentence(one)}" for one in changed[:MOST_LINES]]
    lines += _left_out(f"  {'exact':<14} ", len(changed), MOST_LINES)
    lines += notes(gate)
    return "\n".join(printable(line) for line in lines)


def row_of(gate: Gate, one: Verdict) -> tuple[str, ...]:
    """Cells of COLUMNS."""
    change = one.change
    hidden = one.could_hide(gate.require_detectable)
    ends = [""] * 5
    if change:
        size, _, interval = change_text(change.ratio, change.interval).partition(" [")
        counts = "–".join(str(count) for count in dict.fromkeys(change.launches))
        ends = [size, f"[{interval}" if interval else "–", time_text(change.base_s), time_text(change.candidate_s)]
        ends.append(f"{counts} pairs" if one.series.paired else counts)
    hides = "" if one.word in verdict.DECIDED else share_text(hidden) if math.isfinite(hidden) else "anything"
    return (one.word, one.series.title, *ends, hides)


def phase_rows(one: Verdict) -> list[tuple[str, ...]]:
    """Cells of PHASE_COLUMNS; the seconds of all rows add up to those of the last."""
    if not (one.phases and one.change):
        return []
    rows = [
        (phase.phase, time_text(phase.base_s), time_text(phase.candidate_s), phase_text(phase)) for phase in one.phases
    ]
    change = one.change
    whole = change_text(change.ratio, change.interval)
    return [*rows, ("all", time_text(change.base_s), time_text(change.candidate_s), whole)]


def shown_in_detail(gate: Gate) -> list[Verdict]:
    """Series whose pairs a reader wants to see, worst first."""
    hiding = {id(one) for one in gate.not_decided}
    return [one for one in gate.verdicts if one.change and (one.word not in QUIET or id(one) in hiding)]


def markdown_of(gate: Gate, folder: Path) -> str:
    """For a file in `folder`, from which its links to records lead."""
    lines = [f"**fourscore: {escaped(headline(gate))}**", ""]
    for word, verdicts in _groups(gate):
        lines += [f"- **{word}** {escaped(_with_blame(gate, one))}" for one in verdicts[:MOST_LINES]]
        lines += _left_out("- ", len(verdicts), MOST_LINES)
    changed = gate.changed
    lines += [f"- **exact** {escaped(exact_sentence(one))}" for one in changed[:MOST_LINES]]
    lines += _left_out("- ", len(changed), MOST_LINES)
    lines += [""] if lines[-1] else []
    rows = [[escaped(cell) for cell in row_of(gate, one)] for one in gate.verdicts[:MOST_ROWS]]
    if rows:
        lines += markdown_table(COLUMNS, rows, NUMBERS)
        lines += _left_out("", len(gate.verdicts), MOST_ROWS)
    for one in shown_in_detail(gate)[:MOST_DETAILS]:
        lines += _details(gate, one, folder)
    lines += [escaped(note) for note in notes(gate)]
    return "\n".join(lines).rstrip() + "\n"


def _details(gate: Gate, one: Verdict, folder: Path) -> list[str]:
    title = escape(printable(one.series.title))  # no Markdown, but HTML
    lines = [f"<details><summary>{title}: {one.word}</summary>", ""]
    if rows := phase_rows(one):
        lines += markdown_table(PHASE_COLUMNS, ([escaped(cell) for cell in row] for row in rows), 3)
    if scatter := scatter_lines(one):
        lines += ["```text", *scatter, "```", ""]
    for name, pair in named_pairs(one):
        files = (gate.compared.base.path_of(pair.base.run), gate.compared.candidate.path_of(pair.candidate.run))
        base, candidate = (link_to(file, folder) for file in files)
        lines.append(f"- {name}: {escaped(pair.text())}: [base]({base}), [candidate]({candidate})")
    return [*lines, "", "</details>", ""]


def junit_of(gate: Gate) -> str:
    """One test case a series, and one for each exact number that changed. What blocks is a failure; what was not
    decided is skipped, with the reason, or a failure too where it has an exit code."""
    hiding = {id(one) for one in gate.not_decided} if gate.strict or gate.require_detectable else set()
    cases = []
    for one in gate.verdicts:
        outcome = FAILURE if one.blocks or id(one) in hiding else SKIPPED if one.word in SKIPPED_CASES else ""
        said = f"{one.word}: {_with_blame(gate, one)}" if outcome else _with_blame(gate, one)
        cases.append(Case(one.series.title, said, outcome, _junit_details(gate, one)))
    for one in gate.changed:
        outcome = FAILURE if one.blocks else SKIPPED if one.word == VARIES else ""
        said = f"{one.word}: {exact_sentence(one)}" if outcome else exact_sentence(one)
        cases.append(Case(f"{one.series.title}: {one.name}", said, outcome))
    compared = gate.compared
    properties = {"state": STATES[gate.state], "base": compared.base.label, "candidate": compared.candidate.label}
    table = text_table([COLUMNS, *(row_of(gate, one) for one in gate.verdicts[:MOST_ROWS])])
    summary = [headline(gate), "", *table, "", *notes(gate)]
    return junit(f"fourscore compare {compared.name}".strip(), "fourscore.compare", properties, cases, summary)


def _junit_details(gate: Gate, one: Verdict) -> list[str]:
    if not any(one is shown for shown in shown_in_detail(gate)[:MOST_DETAILS]):
        return []
    rows = phase_rows(one)
    lines = ["", *text_table([PHASE_COLUMNS, *rows])] if rows else []
    lines += ["", *scatter_lines(one), ""]
    for name, pair in named_pairs(one):
        base, candidate = gate.compared.base.path_of(pair.base.run), gate.compared.candidate.path_of(pair.candidate.run)
        lines.append(f"{name}: {pair.text()}: {base} {candidate}")
    return lines


SKIPPED_CASES = (
    verdict.MISSING,
    verdict.NOT_COMPARABLE,
    verdict.BIMODAL,
    verdict.UNDECIDED,
    verdict.SKIPPED,
)


def _groups(gate: Gate) -> list[tuple[str, list[Verdict]]]:
    """What must be said one by one: all that is not as it was, and what is not known to be."""
    hiding = {id(one) for one in gate.not_decided}
    found = []
    for word in gate.counts:
        verdicts = [one for one in gate.verdicts if one.word == word and (word not in QUIET or id(one) in hiding)]
        found += [(word, verdicts)] if verdicts else []
    return found


def _with_blame(gate: Gate, one: Verdict) -> str:
    blamed = blame_sentence(one)
    said = sentence(one, gate.rules)
    return f"{said}; {blamed}" if blamed else said


def _left_out(start: str, count: int, most: int) -> list[str]:
    return [f"{start}and {count - most} more"] if count > most else []
