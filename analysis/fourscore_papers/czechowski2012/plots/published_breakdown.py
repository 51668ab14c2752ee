"""Shares of FFT, local transpose and communication beside Fig. 4 of czechowski2012."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.published_marks import measures
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.share_bars import draw_share_bar, label_share_bars
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.published import Published, published
from matplotlib.figure import Figure
from matplotlib.patches import Patch

PAPER = "czechowski2012"
FFT, TRANSPOSE, COPIES, REST = "FFT", "local transpose", "copies to and from the GPU", "communication and the rest"
PARTS = {FFT: ("fft", "twiddle", "combine"), TRANSPOSE: ("pack", "unpack"), COPIES: ("h2d", "d2h")}
COLOURS = {FFT: colours.BLUE, TRANSPOSE: colours.SKY, COPIES: colours.ORANGE, REST: colours.VERMILLION}
PRINTED = {"FFT": FFT, "local transpose": TRANSPOSE, "copies between host and GPU (PCIe)": COPIES}
ROW_IN = 0.22
ROWS_A_PAGE = 24
COLUMNS = 2


@dataclass
class Bar:
    """Shares of one time, 0 to 1, by part."""

    label: str
    shares: dict[str, float]
    said: str
    is_published: bool = False


def shares_of(point: Point) -> dict[str, float]:
    """Shares of the slowest rank's phases; what is none of the parts that the paper prints is the rest."""
    total = sum(point.phases.values())
    shares = {part: sum(point.phases.get(phase, 0.0) for phase in phases) / total for part, phases in PARTS.items()}
    return shares | {REST: 1 - sum(shares.values())}


def published_bars(found: Published) -> list[Bar]:
    """As printed, and without the copies, which a method on the CPU has not."""
    shares = {PRINTED[row["part"]]: row["share_percent"] / 100 for row in found.rows}
    shares[REST] = 1 - sum(shares.values())
    without = {part: share / (1 - shares[COPIES]) for part, share in shares.items() if part != COPIES}
    said = f"{found.name}, published; the rest is not printed"
    return [
        Bar(f"{found.source}, published", shares, said, True),
        Bar("the same without copies", without, f"{said}\nshares of the time without the copies", True),
    ]


def pages(view: View) -> list[list[Point]]:
    if not measures(view, PAPER):
        return []
    points = [point for one in view.drawn for point in one.ranked if sum(point.phases.values()) > 0]
    if f"{PAPER}/figure-4" not in view.campaign.paper:
        return []
    # Copies to a stand-in for a GPU are never drawn beside those to a real one.
    kinds = [[point for point in points if ("emulated" in point.flags) is emulated] for emulated in (False, True)]
    return [kind[start : start + ROWS_A_PAGE] for kind in kinds for start in range(0, len(kind), ROWS_A_PAGE)]


def draw(view: View, points: list[Point], heading: str) -> Figure:
    found = published(PAPER, "figure-4")
    bars = published_bars(found)
    several = len({point.label for point in points}) > 1
    for point in points:
        label = f"{shape_text(point.cell.shape)}, {point.where}" + (f", {point.label}" if several else "")
        bars.append(Bar(label, shares_of(point), point_text(point)))
    present = [part for part in COLOURS if any(bar.shares.get(part) for bar in bars)]
    figure, [axes] = layout.stacked_axes(
        f"EMULATED {heading}" if "emulated" in points[0].flags else heading,
        [ROW_IN * len(bars)],
        lettering.label_width_in(bar.label for bar in bars),
        legend=([Patch(color=COLOURS[part], label=part) for part in present], COLUMNS),
        note=difference_line([found], points),
    )
    for row, bar in enumerate(bars):
        shares = {part: bar.shares[part] for part in present if bar.shares.get(part, 0.0) > 0}
        draw_share_bar(axes, row, shares, dict.fromkeys(shares, bar.said), COLOURS, bar.is_published)
    label_share_bars(axes, [bar.label for bar in bars])
    labels = dict.fromkeys(point.label for point in points)
    layout.facet_title(axes, ", ".join(labels), view.subtitle(points[0]))
    return figure


PLOT = Plot(
    name="published-breakdown",
    title="Shares of the time beside DiGPUFFT",
    caption="As Fig. 4 of czechowski2012, whose shares (21, 16 and 27 %, the rest not printed) stand first, dotted: "
    "there the FFT runs on GPUs, so the second bar leaves the copies out. Ours: phases of the slowest rank; pack and "
    "unpack are the local transpose.",
    order=21,
    pages=pages,
    draw=draw,
)
