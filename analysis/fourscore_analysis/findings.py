"""One sentence in plain words for each campaign, from its numbers alone."""

from __future__ import annotations

from collections import Counter

from fourscore_analysis.points import REFERENCE, Comparison, Point
from fourscore_analysis.traffic_findings import no_time_reason, traffic_findings
from fourscore_analysis.units import percent_text, range_text, ranks_text, ratio_text, shape_text, time_text
from fourscore_analysis.view import View

MOST_SENTENCES = 4
DOUBTFUL = ("oversubscribed", "cold", "clock-suspect", "mixed-launch")  # flags that a sentence must not hide


def main_comparison(found: list[Comparison]) -> Comparison | None:
    """The largest problem on the most ranks that several methods solved; if possible not oversubscribed."""
    fair = [one for one in found if "oversubscribed" not in one.fastest.flags] or found
    if not fair:
        return None
    several = [one for one in fair if len(one.ranked) > 1] or fair
    return max(several, key=lambda one: (one.cell.elements, one.cell.ranks, len(one.ranked)))


def findings(view: View) -> list[str]:
    """A sentence for each contract of the campaign: that of the largest problem first, then the most measured."""
    by_contract: dict[str, list[Comparison]] = {}
    for one in view.comparisons:
        by_contract.setdefault(view.contract_of(one), []).append(one)
    groups = sorted(
        by_contract.values(),
        key=lambda group: (-max(one.cell.elements for one in group), -sum(len(one.ranked) for one in group)),
    )
    sentences = [finding(group, view.subtitle(group[0])) for group in groups[:MOST_SENTENCES]]
    if len(groups) > MOST_SENTENCES:
        sentences.append(f"{len(groups) - MOST_SENTENCES} more contracts are in the tables.")
    counted = traffic_findings(view)
    if not sentences:
        return [sentence for sentence in (*counted, no_time_reason(view)) if sentence] or [finding([])]
    return sentences + counted


def finding(found: list[Comparison], contract: str = "") -> str:
    """At 128³ on 2 ranks slab/shared is fastest: 12.3 ms, 0.87 of fftw-mpi; 34 % of its time is exchange."""
    main = main_comparison(found)
    if main is None:
        return "Nothing was measured."
    best = main.fastest
    place = f"{shape_text(main.cell.shape)} on {ranks_text(main.cell.ranks)}" + (f" ({contract})" if contract else "")
    time = f"{time_text(best.time_s)}{_launch_range(best)}"
    if len(main.ranked) == 1:
        text = f"At {place} {best.label} takes {time}"
    elif main.tied:
        names = ", ".join(point.label for point in main.tied[:2]) + (" and others" if len(main.tied) > 2 else "")
        text = f"At {place} {best.label} has the lowest median, {time}, but the launches do not tell it from {names}"
    else:
        runner = main.ranked[1]
        text = f"At {place} {best.label} is fastest: {time}; next is {runner.label} at {time_text(runner.time_s)}"
    ratio = main.ratio(best)
    if ratio is not None and best.method.variant != REFERENCE:
        text += f"; {ratio_text(ratio)} of the time of {REFERENCE}"
    share = best.exchange_share
    if share:
        text += f"; {percent_text(share)} of its time is exchange"
    doubts = [flag for flag in best.flags if flag in DOUBTFUL]
    if doubts:
        text += f" (but: {', '.join(doubts)})"
    return text + "."


def wins(found: list[Comparison]) -> str:
    """How often which method is fastest; "" with fewer than two comparisons of several methods."""
    contests = [one for one in found if len(one.ranked) > 1]
    if len(contests) < 2:
        return ""
    counts = Counter(one.fastest.label for one in contests).most_common()
    listed = ", ".join(f"{label} {count}" for label, count in counts[:5]) + (", others" if len(counts) > 5 else "")
    return f"Fastest in {len(contests)} comparisons: {listed}."


def _launch_range(point: Point) -> str:
    time = point.time
    return f" (launches {range_text(time.low, time.high)})" if time.count > 1 else " (one launch)"
