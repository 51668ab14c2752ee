"""Rows of the tables of counted memory traffic and of the constant A, as text."""

from __future__ import annotations

from fourscore_analysis.models.constant import A_DIGITS, Constant, interval_text, printed_a
from fourscore_analysis.points.counting import CountedPoint, doubts, source_text, uncounted
from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.units import bytes_text, digits, ratio_text, time_text
from fourscore_analysis.records.transforms import PHASES
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def traffic_tables(view: View) -> list[Texts]:
    """One a source; in each the points of a comparison together, the lowest traffic first."""
    return [_traffic_table(view, members) for members in group_by(view.counted, lambda one: source_text(one.source))]


def _traffic_table(view: View, members: list[CountedPoint]) -> Texts:
    first = members[0]
    present = {phase for one in members for phase in one.phases}
    phases = [phase for phase in PHASES if phase in present] + sorted(present - set(PHASES))
    rows = []
    for group in group_by(members, lambda one: (one.point.cell, one.point.setting)):
        ordered = sorted(group, key=lambda one: (one.total.total, one.point.label))
        rows += [_traffic_row(view, one, phases, one is ordered[0]) for one in ordered]
    return Texts(
        source=source_text(first.source),
        doubts=list(dict.fromkeys(doubt for one in members for doubt in doubts(one.source, one.multiplexed))),
        simulated=first.source.simulated,
        phases=phases,
        rows=rows,
    )


def _traffic_row(view: View, one: CountedPoint, phases: list[str], first: bool) -> Texts:
    """`first`: in its comparison."""
    timed = view.shelf.timed(one.point)
    declared = next((launch.traffic for launch in one.launches if launch.traffic), None)
    return Texts(
        **of_point(view, one.point),
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
    """Bytes, and "1.50" of the minimum."""
    if phase not in one.phases:
        return ("–", "–")
    return (bytes_text(one.phases[phase].total), _ratio(one.over_least(phase)))


def _ratio(value: float | None) -> str:
    return "–" if value is None else ratio_text(value)


def uncounted_rows(view: View) -> list[Texts]:
    found = uncounted(view.points).items()
    return [Texts(asked=asked, reason=reason, launches=count) for (asked, reason), count in found]


def constant_tables(view: View) -> list[Texts]:
    return [_constant_table(one) for one in view.constants]


def _constant_table(one: Constant) -> Texts:
    printed = printed_a()
    return Texts(
        title=one.title,
        source=source_text(one.source),
        doubts=doubts(one.source, one.multiplexed),
        cache=f"{bytes_text(one.cache_bytes)}, Z = {one.z:g} words of {one.word_bytes} B",
        a=digits(one.fit.a, A_DIGITS),
        interval=interval_text(one),
        published=f"{printed.a:g}" if printed else "",
        paper=printed.table.paper if printed else "",
        rows=[
            Texts(
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
