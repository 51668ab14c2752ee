"""One sentence in plain words for each campaign, from its numbers alone."""

from __future__ import annotations

from collections import Counter

from fourscore_analysis.points.claims import LEAST_LAUNCHES, Claim, claim, doubts
from fourscore_analysis.points.points import REFERENCE, Comparison, Point, plans_text
from fourscore_analysis.points.units import percent_text, range_text, ratio_text, shape_text, time_text
from fourscore_analysis.tables.device_gain import device_gain_findings
from fourscore_analysis.tables.energy import energy_findings
from fourscore_analysis.tables.fields import field_findings
from fourscore_analysis.tables.floors import floor_sentence
from fourscore_analysis.tables.libraries import library_findings
from fourscore_analysis.tables.link_loads import link_findings
from fourscore_analysis.tables.nodes import slow_node_findings
from fourscore_analysis.tables.traffic_findings import no_time_reason, traffic_findings
from fourscore_analysis.tables.wires import wire_findings
from fourscore_analysis.views.view import View

MOST_SENTENCES = 4


def main_claim(found: list[Comparison]) -> Claim | None:
    """The claim about the largest problem on the most ranks that several methods solved; if possible one whose times
    are sound, at least not oversubscribed."""
    claims = [claim(one) for one in found]
    sound = [one for one in claims if not one.doubts]
    fair = sound or [one for one in claims if "oversubscribed" not in one.best.flags] or claims
    if not fair:
        return None
    several = [one for one in fair if len(one.comparison.ranked) > 1] or fair
    return max(several, key=lambda one: (*_size(one.comparison), len(one.comparison.ranked)))


def _size(one: Comparison) -> tuple[int, int]:
    return (one.cell.elements, one.cell.ranks)


def findings(view: View) -> list[str]:
    """Slow nodes; a sentence for each contract of the campaign, that of the largest problem first, then the most
    measured, and how far that is from the machine's floors; what nodes gain from their devices; what another local
    library changes, and what smaller messages do; the fastest way to transform several arrays; differing plans; links
    that saturate; what was counted."""
    by_contract: dict[str, list[Comparison]] = {}
    for one in view.comparisons:
        by_contract.setdefault(view.contract_of(one), []).append(one)
    groups = sorted(
        by_contract.values(),
        key=lambda group: (-max(one.cell.elements for one in group), -sum(len(one.ranked) for one in group)),
    )
    sentences = [_with_floor(view, group) for group in groups[:MOST_SENTENCES]]
    if len(groups) > MOST_SENTENCES:
        sentences.append(f"{len(groups) - MOST_SENTENCES} more contracts are in the tables.")
    counted = traffic_findings(view) + energy_findings(view)
    if not sentences:
        return [sentence for sentence in (*counted, no_time_reason(view)) if sentence] or [finding([])]
    tellers = (device_gain_findings, library_findings, wire_findings, field_findings, plan_findings, link_findings)
    others = [sentence for told in tellers for sentence in told(view)]
    return slow_node_findings(view.node_effects) + sentences + others + counted


def plan_findings(view: View) -> list[str]:
    """Points whose launches ran different plans: their spread over launches is also that of the planner."""
    points = [point for one in view.comparisons for point in one.ranked]
    told = [point for point in points if point.plans]
    mixed = sorted((point for point in told if point.plans > 1), key=lambda point: -point.plans)
    if not mixed:
        return []
    worst = mixed[0]
    return [
        f"{len(mixed)} of {len(told)} points ran different local plans in different launches, so that their spread is "
        f"also that of the planner: {worst.label} at {shape_text(worst.cell.shape)} on {worst.where} "
        f"had {plans_text(worst)}."
    ]


def _with_floor(view: View, group: list[Comparison]) -> str:
    main = main_claim(group)
    floor = floor_sentence(view, main.best) if main else ""
    return " ".join(part for part in (finding(group, view.subtitle(group[0])), floor) if part)


def finding(found: list[Comparison], contract: str = "") -> str:
    """At 128³ on 2 ranks slab/shared is fastest: 12.3 ms, 0.87 of fftw-mpi; 34 % of its time is exchange."""
    main = main_claim(found)
    if main is None:
        return "Nothing was measured."
    one, best = main.comparison, main.best
    place = f"{shape_text(one.cell.shape)} on {one.where}" + (f" ({contract})" if contract else "")
    text = f"At {place} {best.label} {_place_of(main)}"
    ratio = one.ratio(best)
    if ratio is not None and best.method.variant != REFERENCE:
        unsound = "; ".join(doubts(one.reference)) if not main.doubts else ""
        text += f"; {ratio_text(ratio)} of the time of {REFERENCE}" + (f" (but that: {unsound})" if unsound else "")
    share = best.exchange_share
    if share and "open-breakdown" not in best.flags:
        text += f"; {percent_text(share)} of its time is exchange"
    text += "."
    if main.doubts:
        text += f" No basis for a claim: {'; '.join(main.doubts)}."
    elif main.left_out:
        text += f" Not in the claim: {main.left_out} with flags or fewer than {LEAST_LAUNCHES} launches."
    return text


def _place_of(main: Claim) -> str:
    """takes 12.3 ms; or: is fastest: 12.3 ms; next is pencil/p2p at 14 ms; or: has the lowest median ..."""
    best, ranked = main.best, main.comparison.ranked
    time = f"{time_text(best.time_s)}{_launch_range(best)}"
    if len(ranked) == 1:
        return f"takes {time}"
    if main.tied:
        names = ", ".join(point.label for point in main.tied[:2]) + (" and others" if len(main.tied) > 2 else "")
        return f"has the lowest median, {time}, but the launches do not tell it from {names}"
    runner = main.rivals[0] if main.holds else ranked[1]
    next_best = f"; next is {runner.label} at {time_text(runner.time_s)}"
    return ("is fastest: " if main.holds else "has the lowest median: ") + time + next_best


def wins(found: list[Comparison]) -> str:
    """How often which method is shown to be fastest; "" with fewer than two comparisons of several methods."""
    contests = [claim(one) for one in found if len(one.ranked) > 1]
    if len(contests) < 2:
        return ""
    decided = [one for one in contests if one.holds]
    others = f"ties, flagged, or of fewer than {LEAST_LAUNCHES} launches"
    if not decided:
        return f"In none of {len(contests)} comparisons is a method shown to be fastest: they are {others}."
    counts = Counter(one.best.label for one in decided).most_common()
    listed = ", ".join(f"{label} {count}" for label, count in counts[:5]) + (", others" if len(counts) > 5 else "")
    rest = f"; the others are {others}" if len(decided) < len(contests) else ""
    return f"Fastest in {len(decided)} of {len(contests)} comparisons: {listed}{rest}."


def _launch_range(point: Point) -> str:
    time = point.time
    return f" (launches {range_text(time.low, time.high)})" if time.count > 1 else " (one launch)"
