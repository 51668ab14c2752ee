"""Sentences about counted traffic, the constant A and components alone: nothing for campaigns without them."""

from __future__ import annotations

from fourscore_analysis.models.constant import A_DIGITS, interval_text, printed_a
from fourscore_analysis.points.claims import doubts as doubts_of_point
from fourscore_analysis.points.components import MEMORY
from fourscore_analysis.points.counting import CountedPoint, doubts, short_source_text, uncounted
from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.units import bytes_text, digits, ranks_text, rate_text, ratio_text, shape_text
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.traffic import Source
from fourscore_analysis.views.view import View


def traffic_findings(view: View) -> list[str]:
    """At most one of each: A, the lowest traffic, why nothing was counted, the copy bandwidth."""
    return [
        sentence for sentence in (_constant(view), _least_traffic(view), _uncounted(view), _bandwidth(view)) if sentence
    ]


def _constant(view: View) -> str:
    if not view.constants:
        return ""
    one = view.constants[0]
    printed = printed_a()
    beside = f"; {printed.table.paper} has {printed.a:g}" if printed else ""
    more = f"; {len(view.constants) - 1} more in the table" if len(view.constants) > 1 else ""
    sizes = f"{one.fit.count} sizes beyond {bytes_text(one.cache_bytes)}"
    return (
        f"A of Eq. 2 is {digits(one.fit.a, A_DIGITS)} (95 % interval {interval_text(one)}, {sizes}; "
        f"{_by(one.source, one.multiplexed)}){beside}{more}."
    )


def _least_traffic(view: View) -> str:
    """The finding in the largest comparison in which several methods were counted."""
    groups = group_by(view.counted, lambda one: (one.point.cell, one.point.setting, one.source))
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return ""
    group = max(groups, key=lambda group: (group[0].point.cell.elements, group[0].point.cell.ranks, len(group)))
    best = min(group, key=lambda one: one.total.total)
    most = max(group, key=lambda one: one.total.total)
    cell = best.point.cell
    over = best.total_over_least
    return (
        f"Memory traffic at {shape_text(cell.shape)} on {best.point.where} "
        f"({_by(best.source, best.multiplexed)}): {best.point.label} moves "
        f"{bytes_text(best.total.total)}{_over(over)}, the lowest of {len(group)} methods; "
        f"{most.point.label} moves {bytes_text(most.total.total)}.{_unsound(group)}"
    )


def _unsound(group: list[CountedPoint]) -> str:
    """A simulation counts the same each time and on any machine; what hardware counts is as sound as its launches."""
    if group[0].source.simulated:
        return ""
    found = list(dict.fromkeys(doubt for one in group for doubt in doubts_of_point(one.point)))
    return f" No basis for a claim: {'; '.join(found)}." if found else ""


def _over(over: float | None) -> str:
    return "" if over is None else f", {ratio_text(over)} of what its phases must move without a cache"


def _by(source: Source, multiplexed: bool) -> str:
    unsure = [doubt.split(":")[0] for doubt in doubts(source, multiplexed)]
    return "; ".join([short_source_text(source), *unsure])


def _uncounted(view: View) -> str:
    found = uncounted(view.points)
    if not found:
        return ""
    (asked, reason), launches = max(found.items(), key=lambda item: item[1])
    more = f" ({len(found) - 1} more reasons in the table)" if len(found) > 1 else ""
    return f"{asked} counted nothing in {launches} launch{'es' if launches > 1 else ''}: {reason.rstrip('.')}{more}."


def _bandwidth(view: View) -> str:
    curves = view.bench.curves(MEMORY)
    if not curves:
        return ""
    machine = curves[0].machine_hash
    a_node = " a node" if any(curve.place.nodes > 1 for curve in curves) else ""
    parts = []
    for ranks in sorted({curve.place.ranks_per_node for curve in curves if curve.machine_hash == machine}):
        ceiling = view.bench.copy_ceiling(machine, Place(ranks))
        if ceiling and ceiling.ranks == ranks:
            flags = f" (flagged {', '.join(ceiling.flags)})" if ceiling.flags else ""
            parts.append(f"{rate_text(ceiling.rate, 'B/s')} a rank with {ranks_text(ranks)}{a_node}{flags}")
    return f"Copy bandwidth beyond the cache: {', '.join(parts)}." if parts else ""


def no_time_reason(view: View) -> str:
    """What stands in place of "Nothing was measured." where something else was."""
    simulated = sum(launch.simulated and launch.status == "ok" for launch in view.campaign.launches)
    if simulated:
        return (
            f"No time was measured: {simulated} launch{'es' if simulated > 1 else ''} ran under a simulator, to count."
        )
    if view.bench.measured:
        return f"Components alone: {', '.join(view.bench.programs)}."
    return ""
