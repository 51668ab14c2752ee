"""Rows of the tables that rank transforms, as text: the page only places them."""

from __future__ import annotations

from typing import Any

from fourscore_analysis.points.claims import claim
from fourscore_analysis.points.points import REFERENCE, Comparison, Point, group_by
from fourscore_analysis.points.units import digits, percent_text, range_text, ratio_text, time_text
from fourscore_analysis.records.basics import STATUSES, Run
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def contract_tables(view: View) -> list[Texts]:
    """One table a contract on one machine with one build, in each the comparisons in order of size and ranks: all that
    may be ranked together."""
    return [_contract_table(view, group) for group in group_by(view.comparisons, view.contract_of)]


def _contract_table(view: View, group: list[Comparison]) -> Texts:
    rows = [row for one in group for row in _point_rows(view, one)]
    return Texts(
        contract=view.contract_of(group[0]),
        has_reference=any(one.reference for one in group),
        has_intervals=any(row.interval for row in rows),
        summary=[_summary_row(view, one) for one in group],
        rows=rows,
    )


def _ratio_text(one: Comparison, point: Point) -> str:
    ratio = one.ratio(point)
    if ratio is None:
        return "–"
    if point is one.reference:
        return "1"
    return ratio_text(ratio)


def _time_row(view: View, one: Comparison, point: Point) -> dict[str, Any]:
    """The time of one method in its comparison."""
    return of_point(view, point) | {
        "time": time_text(point.time_s),
        "spread": range_text(point.time.low, point.time.high) if point.time.count > 1 else "one launch",
        "gflops": digits(point.gflops) if point.gflops else "–",
        "ratio": _ratio_text(one, point),
        "exchange": percent_text(point.exchange_share),
    }


def _summary_row(view: View, one: Comparison) -> Texts:
    """The method with the lowest median of one comparison, and whether it may be called fastest."""
    best = one.fastest
    return Texts(
        **_time_row(view, one, best),
        tied=[point.label for point in one.tied],
        rivals=len(one.ranked) - 1,
        launches=len(best.measured),
        fastest=claim(one).holds,
    )


def _point_rows(view: View, one: Comparison) -> list[Texts]:
    tied = {id(point) for point in one.tied}
    return [
        Texts(
            **_time_row(view, one, point),
            interval=_interval_text(point),
            launches=_launches_text(point),
            tied=id(point) in tied,
            first=point is one.fastest,
        )
        for point in one.ranked
    ]


def _interval_text(point: Point) -> str:
    if not point.time.interval:
        return ""
    return f"{range_text(*point.time.interval)} ({percent_text(point.time.coverage)})"


def _launches_text(point: Point) -> str:
    """5 + 1 failed, 2 wrong"""
    others = ", ".join(f"{count} {status}" for status, count in point.statuses.items() if status != "ok")
    return f"{len(point.measured)}" + (f" + {others}" if others else "")


def status_counts(launches: list[Run]) -> dict[str, int]:
    """How many launches ended how, those that occur."""
    return {status: count for status in STATUSES if (count := sum(launch.status == status for launch in launches))}


def method_cards(view: View) -> list[tuple[str, str]]:
    """Variants and exchanges of the campaign with their one line and citation."""
    cards: dict[str, str] = {}
    for launch in view.campaign.runs:
        for name, summary in launch.summaries:
            cards.setdefault(name, summary)
    return sorted(cards.items(), key=lambda card: (card[0] != REFERENCE, card[0]))
