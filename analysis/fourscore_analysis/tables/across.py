"""Columns side by side, as text, as CSV, as LaTeX and for machines. A ratio is a column's time over that of the base:
above 1 it takes longer."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fourscore_analysis.points.apart import ratio_between
from fourscore_analysis.points.claims import Claim
from fourscore_analysis.points.machine_cards import MachineCard
from fourscore_analysis.points.stats import Estimate
from fourscore_analysis.points.units import launches_text, percent_text, range_text, ratio_text, shape_text, time_text
from fourscore_analysis.records.cells import Cell
from fourscore_analysis.records.transforms import PHASES
from fourscore_analysis.views.across import Across, Column, Group, Side

CLEAR, TIED, DOUBTFUL, ALONE = "clear", "tied", "doubtful", "alone"  # what a cell of the map says
NOTHING = "–"


@dataclass(frozen=True)
class Entry:
    """A cell of a table: what it says, what stands small below, and how the page marks it."""

    text: str
    small: str = ""
    mark: str = ""  # faster or slower than the base where that is told, or one of CLEAR, TIED, DOUBTFUL, ALONE
    flags: tuple[str, ...] = ()
    variant: str = ""  # the map has it: whose method it is


@dataclass(frozen=True)
class Line:
    """A row: which problem, and method or phase; and an entry for each column."""

    shape: str
    where: str
    what: tuple[str, ...]
    contract: str
    entries: tuple[Entry, ...]


def _line(group: Group, cell: Cell, what: Iterable[str], entries: Iterable[Entry]) -> Line:
    where = cell.place.text(group.shows_nodes)
    return Line(shape_text(cell.shape), where, tuple(what), group.subtitle(cell), tuple(entries))


def time_lines(group: Group) -> list[Line]:
    return [_line(group, row.cell, [row.label], map(_time_entry, row.sides)) for row in group.rows]


def _time_entry(side: Side | None) -> Entry:
    if side is None:
        return Entry(NOTHING)
    point = side.point
    if side.ratio is None:
        spread = range_text(*point.time.interval) if point.time.interval else ""
        return Entry(time_text(point.time_s), spread, "", point.flags)
    mark = "" if not side.told else "slower" if side.ratio.value > 1 else "faster"
    return Entry(time_text(point.time_s), ratio_words(side.ratio, side.told), mark, point.flags)


def ratio_words(ratio: Estimate, told: bool) -> str:
    """× 1.25 (1.20 to 1.31); × ≈ 1.01 (0.97 to 1.06), where the interval holds 1 or there is none"""
    if ratio.interval is None:
        return f"× ≈ {ratio_text(ratio.value)} (no interval)"
    low, high = map(ratio_text, ratio.interval)
    return f"× {'' if told else '≈ '}{ratio_text(ratio.value)} ({low} to {high})"


def map_lines(group: Group) -> list[Line]:
    """Which method wins where."""
    return [_line(group, cell, [], map(map_entry, claims)) for cell, claims in group.problems]


def map_entry(one: Claim | None) -> Entry:
    if one is None:
        return Entry(NOTHING)
    best, others = one.best, one.comparison.ranked[1:]
    if not others:
        return Entry(best.label, "no other method was measured", ALONE, best.flags, best.method.variant)
    if one.tied:
        names = ", ".join(point.label for point in one.tied[:2])
        more = f" and {len(one.tied) - 2} more" if len(one.tied) > 2 else ""
        return Entry(f"≈ {best.label}", f"not told from {names}{more}", TIED, best.flags, best.method.variant)
    ratio = ratio_between(others[0].measured, best.measured)
    interval = f" ({' to '.join(map(ratio_text, ratio.interval))})" if ratio.interval else ""
    small = f"{others[0].label} takes × {ratio_text(ratio.value)}{interval}"
    if len(others) > 1:
        small += f"; {len(others) + 1} methods"
    if one.doubts:
        small += f"; in doubt: {'; '.join(one.doubts)}"
    return Entry(best.label, small, CLEAR if one.holds else DOUBTFUL, best.flags, best.method.variant)


def phase_lines(group: Group) -> list[Line]:
    """Time and share of each phase; only points whose phases at least two columns have."""
    return [
        _line(group, row.cell, [row.label, phase], (_phase_entry(side, phase) for side in row.sides))
        for row in group.rows
        if sum(bool(side.point.phases) for side in row.measured) > 1
        for phase in PHASES
        if any(side.point.phases.get(phase) for side in row.measured)
    ]


def _phase_entry(side: Side | None, phase: str) -> Entry:
    seconds = side.point.phases.get(phase) if side else None
    if side is None or seconds is None:
        return Entry(NOTHING)
    return Entry(time_text(seconds), percent_text(seconds / sum(side.point.phases.values())))


def floor_lines(group: Group) -> list[Line]:
    """The largest measured floor of each machine over the time, for points for which any column has one."""
    return [
        _line(group, row.cell, [row.label], map(_floor_entry, row.sides))
        for row in group.rows
        if any(side.fraction for side in row.measured)
    ]


def _floor_entry(side: Side | None) -> Entry:
    if side is None or side.floors.largest is None:
        return Entry(NOTHING, "not measured" if side else "")
    largest = side.floors.largest
    lacking = f", without {' and '.join(side.floors.lacking)}" if side.floors.lacking else ""
    return Entry(percent_text(side.fraction), f"{largest.name} {time_text(largest.seconds)}{lacking}")


def card_rows(card: MachineCard) -> list[tuple[str, str]]:
    """What a card says, by name; without what no record says."""
    counts = ", ".join(map(str, card.ranks))
    days = " to ".join(dict.fromkeys((card.first[:10], card.last[:10])))
    rows = [
        ("processor", card.processor),
        ("cores a node", str(card.cores or "")),
        ("caches", card.caches),
        ("memory a node", card.memory),
        ("devices", ", ".join(card.devices)),
        ("network", ", ".join(card.network)),
        ("nodes", f"up to {card.nodes}" if card.nodes > 1 else "1"),
        ("ranks", counts),
        ("MPI", ", ".join(card.mpis)),
        ("libraries", ", ".join(card.libraries)),
        ("compiler", ", ".join(card.compilers)),
        ("fourscore", ", ".join(card.revisions)),
        ("measured", f"{days}, {launches_text(card.launches)}"),
        *((f"{one.what} alone", one.text) for one in card.reached),
        ("identity", card.digest),
    ]
    return [(name, text) for name, text in rows if text]


def findings(report: Across) -> list[str]:
    return [sentence for group in report.groups for sentence in _group_findings(report, group)]


def _group_findings(report: Across, group: Group) -> Iterator[str]:
    """How each column stands to the base, then which methods win where."""
    head = f"{group.machine}: " if group.machine else ""
    base = group.columns[group.base]
    if not group.rows:
        yield f"{head}No point was measured on two {report.noun}s: same shape, ranks, method and contract."
    for number, column in enumerate(group.columns):
        if number != group.base and group.rows:
            yield head + _standing(column, base, [side for row in group.rows if (side := row.sides[number])])
    for number, column in enumerate(group.columns):
        found = [claims[number] for _, claims in group.problems if claims[number]]
        if found:
            yield head + _winners(column, found)


def _standing(column: Column, base: Column, sides: Sequence[Side]) -> str:
    ratios = [side.ratio.value for side in sides if side.ratio]
    if not ratios:
        return f"{column.title} shares no point with {base.title}."
    told = Counter("slower" if side.ratio.value > 1 else "faster" for side in sides if side.ratio and side.told)
    rest = len(ratios) - told.total()
    spread = f", {ratio_text(min(ratios))} to {ratio_text(max(ratios))}" if len(ratios) > 1 else ""
    times = f"{ratio_text(statistics.median(ratios))} times as long as {base.title}"
    points = "the one point that both have" if len(ratios) == 1 else f"{len(ratios)} points that both have"
    counts = f"faster in {told['faster']}, slower in {told['slower']}, not told apart in {rest}"
    return f"{column.title} takes {times} on {points} (median{spread}): {counts}."


def _winners(column: Column, found: Sequence[Claim]) -> str:
    clear = Counter(one.best.label for one in found if one.holds)
    problems = "1 problem" if len(found) == 1 else f"{len(found)} problems"
    if not clear:
        tied = sum(bool(one.tied) for one in found)
        alone = sum(len(one.comparison.ranked) == 1 for one in found)
        counts = f"not told apart in {tied}, one method alone in {alone}, in doubt in {len(found) - tied - alone}"
        return f"On {column.title} no method is clearly fastest in {problems}: {counts}."
    won = ", ".join(f"{label} in {count}" for label, count in clear.most_common(3))
    return f"On {column.title} the clearly fastest of {problems} is {won}."


def base_sentence(group: Group, asked: bool) -> str:
    """Which column is the base, and why."""
    why = "as --base asks" if asked else f"the {group.noun} with most points; --base chooses another"
    return f"Base: {group.columns[group.base].title} ({why})."


def differing_sentences(group: Group) -> list[str]:
    """What of the code differs between the columns beside what they are; and what a column leaves out."""
    found = []
    if group.differing:
        names = ", ".join(dict.fromkeys(one.field.split(".")[0] for one in group.differing))
        found.append(f"The builds of the columns also differ in: {names}. A ratio is of all that together.")
    for column in group.columns:
        if column.older:
            found.append(f"{column.title}: {launches_text(column.older)} of earlier builds are left out.")
    if group.alone:
        points = (
            "1 point of one column alone is" if group.alone == 1 else f"{group.alone} points of one column alone are"
        )
        found.append(f"{points} in no row.")
    return found


def apart_sentences(report: Across) -> list[str]:
    """What is left out and why, and identities that changed."""
    found = [f"Left out: {launches_text(count)} {reason}." for reason, count in report.apart.items()]
    for archive, host, differing in report.changed:
        fields = "; ".join(
            f"{one.field} {', '.join(f'{value} ({launches_text(count)})' for value, count in one.values)}"
            for one in differing
        )
        found.append(
            f"{archive} describes host {host} in several ways, since it changed or two hosts have its name. "
            f"It counts as several machines: {fields}."
        )
    if report.single:
        found.append(f"Measured with one {report.noun} alone: {', '.join(report.single)}.")
    return found


def summary_text(report: Across) -> str:
    return "\n".join([*apart_sentences(report), *findings(report)])
