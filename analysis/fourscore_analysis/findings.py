"""One sentence in plain words for each campaign, from its numbers alone."""

from __future__ import annotations

from collections import Counter

from fourscore_analysis.points import REFERENCE, Comparison
from fourscore_analysis.units import digits, percent_text, range_text, ranks_text, shape_text, time_text


def main_comparison(found: list[Comparison]) -> Comparison | None:
    """The largest problem on the most ranks that several methods solved; if possible not oversubscribed."""
    fair = [one for one in found if "oversubscribed" not in one.fastest.flags] or found
    if not fair:
        return None
    several = [one for one in fair if len(one.ranked) > 1] or fair
    return max(several, key=lambda one: (one.cell.elements, one.cell.ranks, len(one.ranked)))


def finding(found: list[Comparison]) -> str:
    """At 128³ on 2 ranks slab/shared is fastest: 12.3 ms, 0.87 of fftw-mpi; 34 % of its time is exchange."""
    main = main_comparison(found)
    if main is None:
        return "Nothing was measured."
    best = main.fastest
    place = f"{shape_text(main.cell.shape)} on {ranks_text(main.cell.ranks)}"
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
        text += f"; {digits(ratio, 2 if ratio < 1 else 3)} of the time of {REFERENCE}"
    share = best.exchange_share
    if share:
        text += f"; {percent_text(share)} of its time is exchange"
    return text + "."


def wins(found: list[Comparison]) -> str:
    """How often which method is fastest; "" with fewer than two comparisons of several methods."""
    contests = [one for one in found if len(one.ranked) > 1]
    if len(contests) < 2:
        return ""
    counts = Counter(one.fastest.label for one in contests).most_common()
    listed = ", ".join(f"{label} {count}" for label, count in counts[:5]) + (", others" if len(counts) > 5 else "")
    return f"Lowest median, of {len(contests)} comparisons: {listed}."


def _launch_range(point) -> str:
    time = point.time
    return f" (launches {range_text(time.low, time.high)})" if time.count > 1 else ""
