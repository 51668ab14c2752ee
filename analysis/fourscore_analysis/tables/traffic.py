"""Rows of the tables of counted memory traffic and of the constant A, as text."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourscore_analysis.models.constant import A_DIGITS, Constant, interval_text, printed_a
from fourscore_analysis.points.counting import CountedPoint, doubts, source_text, uncounted
from fourscore_analysis.points.units import bytes_text, digits, ratio_text, shape_text, time_text
from fourscore_analysis.records.transforms import PHASES
from fourscore_analysis.views.view import View


@dataclass
class TrafficRow:
    shape: str
    ranks: int
    nodes: str
    method: str
    contract: str
    read: str
    written: str
    total: str
    over_least: str
    an_element: str
    phases: list[tuple[str, str]]  # bytes and "× 1.50" of the minimum, of each phase of the table
    sent: str
    time: str
    first: bool  # in its comparison


@dataclass
class TrafficTable:
    """All that one source counted."""

    source: str
    doubts: list[str]
    simulated: bool
    phases: list[str]
    rows: list[TrafficRow] = field(default_factory=list)


@dataclass
class UncountedRow:
    asked: str
    reason: str
    launches: int


@dataclass
class ConstantRow:
    n: str
    words: str
    an_element: str
    complexity: str
    a: str
    fitted: bool


@dataclass
class ConstantTable:
    title: str
    source: str
    doubts: list[str]
    cache: str
    a: str
    interval: str
    published: str
    paper: str
    rows: list[ConstantRow]


def traffic_tables(view: View) -> list[TrafficTable]:
    """One a source; in each the points of a comparison together, the lowest traffic first."""
    by_source: dict[str, list[CountedPoint]] = {}
    for one in view.counted:
        by_source.setdefault(source_text(one.source), []).append(one)
    return [_traffic_table(view, name, members) for name, members in by_source.items()]


def _traffic_table(view: View, name: str, members: list[CountedPoint]) -> TrafficTable:
    present = {phase for one in members for phase in one.phases}
    phases = [phase for phase in PHASES if phase in present] + sorted(present - set(PHASES))
    notes = list(dict.fromkeys(note for one in members for note in doubts(one.source, one.multiplexed)))
    table = TrafficTable(name, notes, members[0].source.simulated, phases)
    order = {(cell, setting): number for number, (cell, setting) in enumerate(_cells(members))}
    previous = None
    for one in sorted(members, key=lambda one: (order[_cell(one)], one.total.total, one.point.label)):
        table.rows.append(_traffic_row(view, one, phases, _cell(one) != previous))
        previous = _cell(one)
    return table


def _cell(one: CountedPoint) -> tuple:
    return (one.point.cell, one.point.setting)


def _cells(members: list[CountedPoint]) -> list[tuple]:
    return list(dict.fromkeys(_cell(one) for one in members))


def _traffic_row(view: View, one: CountedPoint, phases: list[str], first: bool) -> TrafficRow:
    point, timed = one.point, view.shelf.timed(one.point)
    declared = next((launch.traffic for launch in one.launches if launch.traffic), None)
    return TrafficRow(
        shape=shape_text(point.cell.shape),
        ranks=point.cell.ranks,
        nodes=point.cell.place.with_placement(str(point.cell.place.nodes)),
        method=point.label,
        contract=view.contract_of(point),
        read=bytes_text(one.total.read),
        written=bytes_text(one.total.written),
        total=bytes_text(one.total.total),
        over_least=_ratio(one.total_over_least),
        an_element=digits(one.bytes_an_element),
        phases=[_phase(one, phase) for phase in phases],
        sent=bytes_text(declared.bytes_sent if declared else None),
        time=time_text(timed.time_s if timed else None),
        first=first,
    )


def _phase(one: CountedPoint, phase: str) -> tuple[str, str]:
    if phase not in one.phases:
        return ("–", "–")
    return (bytes_text(one.phases[phase].total), _ratio(one.over_least(phase)))


def _ratio(value: float | None) -> str:
    return "–" if value is None else ratio_text(value)


def uncounted_rows(view: View) -> list[UncountedRow]:
    return [UncountedRow(asked, reason, count) for (asked, reason), count in uncounted(view.points).items()]


def constant_tables(view: View) -> list[ConstantTable]:
    return [_constant_table(one) for one in view.constants]


def _constant_table(one: Constant) -> ConstantTable:
    printed = printed_a()
    return ConstantTable(
        title=one.title,
        source=source_text(one.source),
        doubts=doubts(one.source, one.multiplexed),
        cache=f"{bytes_text(one.cache_bytes)}, Z = {one.z:g} words of {one.word_bytes} B",
        a=digits(one.fit.a, A_DIGITS),
        interval=interval_text(one),
        published=f"{printed.a:g}" if printed else "",
        paper=printed.table.paper if printed else "",
        rows=[
            ConstantRow(
                n=_length_text(sample.n),
                words=f"{sample.words:,.0f}",
                an_element=digits(sample.words / sample.n, A_DIGITS),
                complexity=digits(sample.complexity / sample.n, A_DIGITS),
                a=digits(sample.a, A_DIGITS),
                fitted=sample.fitted,
            )
            for sample in one.samples
        ],
    )


def _length_text(n: int) -> str:
    """65536 = 2^16"""
    return f"{n} = 2^{n.bit_length() - 1}"
