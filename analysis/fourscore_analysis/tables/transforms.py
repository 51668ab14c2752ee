"""Rows of the tables that rank transforms, as text: the page only places them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fourscore_analysis.points.claims import claim
from fourscore_analysis.points.points import REFERENCE, Comparison, Point
from fourscore_analysis.points.units import digits, percent_text, range_text, ratio_text, shape_text, time_text
from fourscore_analysis.records.basics import STATUSES, Run
from fourscore_analysis.views.view import View


@dataclass(kw_only=True)
class TimeRow:
    """The time of one method in its comparison."""

    shape: str
    ranks: int
    nodes: str
    method: str
    time: str
    spread: str
    gflops: str
    ratio: str
    exchange: str
    flags: tuple[str, ...]


@dataclass(kw_only=True)
class SummaryRow(TimeRow):
    """The method with the lowest median of one comparison."""

    tied: list[str]
    rivals: int
    launches: int
    fastest: bool  # may be called so


@dataclass(kw_only=True)
class PointRow(TimeRow):
    interval: str
    launches: str
    tied: bool
    first: bool  # in its comparison: the lowest median


@dataclass
class ContractTable:
    """Everything that may be ranked together: one contract on one machine with one build."""

    contract: str
    has_reference: bool
    summary: list[SummaryRow] = field(default_factory=list)
    rows: list[PointRow] = field(default_factory=list)

    @cached_property  # once the rows are complete: the page asks with each row
    def has_intervals(self) -> bool:
        return any(row.interval for row in self.rows)


def contract_tables(view: View) -> list[ContractTable]:
    """One table a contract, in each the comparisons in order of size and ranks."""
    tables: dict[str, ContractTable] = {}
    for one in view.comparisons:
        contract = view.contract_of(one)
        table = tables.setdefault(contract, ContractTable(contract, False))
        table.has_reference = table.has_reference or one.reference is not None
        table.summary.append(_summary_row(one))
        table.rows += _point_rows(one)
    return list(tables.values())


def _ratio_text(one: Comparison, point: Point) -> str:
    ratio = one.ratio(point)
    if ratio is None:
        return "–"
    if point is one.reference:
        return "1"
    return ratio_text(ratio)


def _time_row(one: Comparison, point: Point) -> dict[str, Any]:
    """The fields of TimeRow."""
    return {
        "shape": shape_text(one.cell.shape),
        "ranks": one.cell.ranks,
        "nodes": one.cell.place.with_placement(str(one.cell.place.nodes)),
        "method": point.label,
        "time": time_text(point.time_s),
        "spread": range_text(point.time.low, point.time.high) if point.time.count > 1 else "one launch",
        "gflops": digits(point.gflops) if point.gflops else "–",
        "ratio": _ratio_text(one, point),
        "exchange": percent_text(point.exchange_share),
        "flags": point.flags,
    }


def _summary_row(one: Comparison) -> SummaryRow:
    best = one.fastest
    return SummaryRow(
        **_time_row(one, best),
        tied=[point.label for point in one.tied],
        rivals=len(one.ranked) - 1,
        launches=len(best.measured),
        fastest=claim(one).holds,
    )


def _point_rows(one: Comparison) -> list[PointRow]:
    tied = {id(point) for point in one.tied}
    return [
        PointRow(
            **_time_row(one, point),
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
