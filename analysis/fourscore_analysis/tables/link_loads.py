"""Which links of a simulated machine are busy in which exchange: rows as text, and a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from fourscore_analysis.points.link_loads import SATURATED, LinkLoads
from fourscore_analysis.points.units import percent_text, shape_text, time_text
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View

MOST_KINDS = 4  # by name; more are counted
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def link_rows(view: View) -> list[Texts]:
    return [row for one in view.link_loads for row in _rows(view, one)]


def _rows(view: View, one: LinkLoads) -> list[Texts]:
    """One for each exchange, with the kinds of link that have its busiest one."""
    rows = []
    for number, (exchange, busiest) in enumerate(zip(one.exchanges, one.busiest, strict=True), 1):
        rows.append(
            Texts(
                **of_point(view, one.point),
                exchange=number,
                time=time_text(exchange.seconds),
                kinds=kinds_text(busiest.kinds, len(exchange.kinds)),
                most=percent_text(busiest.most_busy),
                mean=percent_text(busiest.mean_busy),
                link=busiest.link or "–",
                saturated=busiest.saturated,
                first=number == 1,
            )
        )
    return rows


def kinds_text(kinds: Sequence[str], of: int) -> str:
    """+0, -0; or: bit 0, bit 1, bit 2, bit 3 and 2 more; or: all 6 kinds"""
    if len(kinds) == of > 2:
        return f"all {of} kinds"
    more = f" and {len(kinds) - MOST_KINDS} more" if len(kinds) > MOST_KINDS else ""
    return ", ".join(kinds[:MOST_KINDS]) + more


def link_findings(view: View) -> list[str]:
    """How many points saturate a link, and which does it most; nothing where none does."""
    full = [one for one in view.link_loads if one.busiest[one.worst].saturated]
    if not full:
        return []
    worst = max(full, key=lambda one: (one.busiest[one.worst].most_busy, one.point.cell.elements, one.point.cell.ranks))
    busiest, kinds = worst.busiest[worst.worst], len(worst.exchanges[worst.worst].kinds)
    point, count = worst.point, len(view.link_loads)
    return [
        f"An exchange saturates a link ({percent_text(SATURATED)} busy or more) at {len(full)} of {count} simulated "
        f"point{'s' if count > 1 else ''}. Most of all: {point.label} at {shape_text(point.cell.shape)} on "
        f"{point.where}, whose {_ordinal(worst.worst)} exchange saturates links {kinds_text(busiest.kinds, kinds)} "
        f"({percent_text(busiest.most_busy)} busy at {busiest.link}, {percent_text(busiest.mean_busy)} on average)."
    ]


def _ordinal(index: int) -> str:
    return ORDINALS[index] if index < len(ORDINALS) else f"{index + 1}th"
