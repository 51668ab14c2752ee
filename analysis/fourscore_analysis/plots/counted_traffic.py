"""Memory traffic of each phase beside the time of each phase, by method."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.counted_facets import CountedFacet, counted_facets
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.counting import short_source_text
from fourscore_analysis.points.units import bytes_text, bytes_unit, time_text, time_unit
from fourscore_analysis.records.transforms import PHASES

COLUMNS = 5


def pages(view: View) -> list[list[CountedFacet]]:
    facets = [facet for facet in counted_facets(view) if any(one.phases for one in facet.rows)]
    return [[facets[i] for i in page] for page in layout.paginate([facet.height_in for facet in facets])]


def draw(view: View, facets: list[CountedFacet], heading: str) -> Figure:
    rows = [one for facet in facets for one in facet.rows]
    present = [phase for phase in PHASES if any(phase in one.phases for one in rows)]
    figure, pairs = layout.row_pairs(
        heading,
        [facet.height_in for facet in facets],
        lettering.label_width_in(one.point.label for one in rows),
        legend=([Patch(color=colours.phase_colour(phase), label=phase) for phase in present], COLUMNS),
    )
    for facet, (left, right) in zip(facets, pairs, strict=True):
        numbers, limits = range(len(facet.rows)), (-0.6, len(facet.rows) - 0.4)
        _draw_bytes(left, facet)
        _draw_times(right, facet)
        layout.row_axis(left, [one.point.label for one in facet.rows], numbers, limits)
        layout.row_axis(right, [""] * len(numbers), numbers, limits)
        layout.facet_title(left, facet.title, facet.subtitle)
    return figure


def _draw_bytes(axes: Axes, facet: CountedFacet) -> None:
    most = max(one.total.total for one in facet.rows)
    unit, name = bytes_unit(most)
    for row, one in enumerate(facet.rows):
        stacked = {phase: value.total / unit for phase, value in one.phases.items()}
        said = {
            phase: point_text(one.point, f"{phase}: {bytes_text(value.total)} moved", short_source_text(one.source))
            for phase, value in one.phases.items()
        }
        end = _stack(axes, row, stacked, said)
        _end(axes, row, max(end, one.total.total / unit), bytes_text(one.total.total))
    axes.set_xlim(0, most / unit * 1.5)
    axes.locator_params(axis="x", nbins=4)
    axes.set_xlabel(f"memory traffic, all ranks ({name})")


def _draw_times(axes: Axes, facet: CountedFacet) -> None:
    longest = max((timed.time_s for timed in facet.times if timed), default=0.0)
    if not longest:
        axes.set_xticks([])
        axes.set_xlabel("no time in this report")
        return
    unit_s, name = time_unit(longest)
    for row, timed in enumerate(facet.times):
        if timed is None:
            _end(axes, row, 0, "no time")
            continue
        said = {phase: point_text(timed, f"{phase}: {time_text(seconds)}") for phase, seconds in timed.phases.items()}
        end = _stack(axes, row, {phase: seconds / unit_s for phase, seconds in timed.phases.items()}, said)
        _end(axes, row, max(end, timed.time_s / unit_s), time_text(timed.time_s))
    axes.set_xlim(0, longest / unit_s * 1.5)
    axes.locator_params(axis="x", nbins=4)
    axes.set_xlabel(f"time ({name})")


def _stack(axes: Axes, row: int, widths: dict[str, float], said: dict[str, str]) -> float:
    """The phases one after the other; returns where they end."""
    left = 0.0
    for phase in [*(phase for phase in PHASES if phase in widths), *sorted(set(widths) - set(PHASES))]:
        look = {"height": 0.74, "color": colours.phase_colour(phase), "linewidth": 0}
        [bar] = axes.barh([row], [widths[phase]], left=[left], **look)
        mark(bar, said[phase])
        left += widths[phase]
    return left


def _end(axes: Axes, row: int, value: float, text: str) -> None:
    axes.annotate(text, (value, row), (3, 0), textcoords="offset points", va="center", fontsize=6.5)


PLOT = Plot(
    name="counted-traffic",
    title="Memory traffic and time by phase",
    caption="Left: bytes between memory and the last-level cache in one transform, all ranks together, by phase. The "
    "lowest stands first. Right: the time of the same phases on the slowest rank, in a run that was not simulated, "
    "where this report has one. Where the subtitle says simulated, the bytes are those of the simulated cache.",
    order=50,
    pages=pages,
    draw=draw,
)
