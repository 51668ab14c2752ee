"""What each thread of each rank did when, in one traced run."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import flags_text, head_text
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import time_text, time_unit
from fourscore_analysis.records.timelines import Lane, Timeline
from fourscore_analysis.records.transforms import PHASES

ROW_IN, FEW_ROWS_IN = 0.15, 0.26  # a lane; where there are few of them
FEW_ROWS = 4
MOST_LANES = 48
EDGES_BELOW = 500  # events: then each has an edge of its own, so that stretches of one phase are told apart
RASTER_FROM = 3000  # events: drawing each as a vector would make the page heavy
OUTLIER = 2.5  # times the median of the runs it may be compared with: such a run has an axis of its own
COLUMNS = 5


@dataclass
class Trace:
    """One facet: a point's traced run, on an axis as long as that of the runs it may be compared with."""

    point: Point
    timeline: Timeline
    subtitle: str
    longest_s: float

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return self.timeline.lanes[:MOST_LANES]

    @property
    def height_in(self) -> float:
        rows = len(self.lanes)
        return rows * (FEW_ROWS_IN if rows <= FEW_ROWS else ROW_IN)


def pages(view: View) -> list[list[Trace]]:
    found = []
    for one in sorted(view.drawn, key=lambda one: (-one.cell.elements, -one.cell.ranks)):
        traced = [point for point in one.ranked if point.traced]
        if not traced:
            continue
        ends = sorted(point.traced.timeline.end_s for point in traced)
        usual = max(end for end in ends if end <= OUTLIER * ends[len(ends) // 2])
        for point in traced:
            longest = max(usual, point.traced.timeline.end_s)
            notes = [view.subtitle(one), "a longer axis than its rivals" if longest > usual else ""]
            found.append(Trace(point, point.traced.timeline, ", ".join(filter(None, notes)), longest))
    return [[found[i] for i in page] for page in layout.paginate([trace.height_in for trace in found])]


def draw(view: View, traces: list[Trace], heading: str) -> Figure:
    present = {phase for trace in traces for lane in trace.lanes for phase in lane.phases}
    shown = [phase for phase in PHASES if phase in present]
    figure, all_axes = layout.stacked_axes(
        heading,
        [trace.height_in for trace in traces],
        lettering.label_width_in(label for trace in traces for label in _labels(trace)),
        legend=([Patch(color=colours.phase_colour(phase), label=phase) for phase in shown], COLUMNS),
    )
    for trace, axes in zip(traces, all_axes, strict=True):
        _draw_trace(trace, axes)
    return figure


def _labels(trace: Trace) -> list[str]:
    threads = any(lane.lane for lane in trace.timeline.lanes)
    return [f"rank {lane.rank} thread {lane.lane}" if threads else f"rank {lane.rank}" for lane in trace.lanes]


def _draw_trace(trace: Trace, axes: Axes) -> None:
    unit_s, unit = time_unit(trace.longest_s)
    events = sum(len(lane.phases) for lane in trace.lanes)
    edges = {"edgecolor": "white", "linewidth": 0.25} if events < EDGES_BELOW else {"linewidth": 0}
    for row, lane in enumerate(trace.lanes):
        for phase in dict.fromkeys(lane.phases):
            bars = [
                (begin / unit_s, (end - begin) / unit_s)
                for name, begin, end in zip(lane.phases, lane.begin_s, lane.end_s, strict=True)
                if name == phase
            ]
            bar = axes.broken_barh(bars, (row - 0.4, 0.8), facecolor=colours.phase_colour(phase), **edges)
            bar.set_rasterized(events >= RASTER_FROM)
            busy = time_text(sum(width for _, width in bars) * unit_s)
            lines = [
                head_text(trace.point),
                f"traced run of launch {trace.point.traced.launch + 1}: rank {lane.rank}, thread {lane.lane}",
                f"{phase}: {busy} in {len(bars)} stretches",
            ]
            mark(bar, "\n".join([*lines, flags_text(trace.point.flags)]))
        if lane.dropped and len(lane.end_s):
            axes.annotate(
                f" {lane.dropped} more", (lane.end_s[-1] / unit_s, row), va="center", fontsize=6.5, color=colours.INK
            )
    labels = _labels(trace)
    layout.row_axis(axes, labels, range(len(labels)), (-0.6, len(labels) - 0.4))
    axes.set_xlim(0, trace.longest_s / unit_s * 1.02)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(f"time since the first rank started ({unit})")
    notes = [trace.subtitle]
    if len(trace.timeline.lanes) > MOST_LANES:
        notes.append(f"{MOST_LANES} of {len(trace.timeline.lanes)} lanes")
    if trace.timeline.uncertainty_s > 0:
        notes.append(f"clocks within {time_text(trace.timeline.uncertainty_s)}")
    title = f"{trace.point.label} · {trace.point.title}"
    layout.facet_title(axes, title, ", ".join(note for note in notes if note))


PLOT = Plot(
    name="timeline",
    title="What every rank does when",
    caption="One traced run of a launch, made after the samples and among none of them: a row for each rank, and for "
    "each of its threads that worked. A gap: the thread did nothing for this transform. Runs of one problem have axes "
    "of one length, but for outliers. The command fourscore export --format chrome-trace writes the same for Perfetto.",
    order=22,
    pages=pages,
    draw=draw,
)
