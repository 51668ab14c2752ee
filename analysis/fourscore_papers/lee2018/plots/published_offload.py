"""What a device does for offloaded pencils beside Table 4.1 of lee2018, and kinds of host memory beside Table 4.2."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.published_marks import LOOK
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.share_bars import draw_share_bar, label_share_bars
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import bytes_text, digits, rate_text, shape_text, time_text
from fourscore_analysis.records.published import Published, published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fourscore_papers.lee2018.measured import ALLOCATIONS as MEMORY

PAPER = "lee2018"
H2D, KERNELS, D2H = "to the device", "kernels", "to the host"
PARTS = {H2D: ("h2d",), KERNELS: ("fft", "pack", "unpack"), D2H: ("d2h",)}
COLOURS = {H2D: colours.ORANGE, KERNELS: colours.BLUE, D2H: colours.BROWN}
HOST = "no GPU, FFTW"
DIRECTIONS = {"forward": colours.BLUE, "backward": colours.VERMILLION}
ROW_IN = 0.22
ROWS_A_PAGE = 16
COLUMNS = 3


@dataclass(frozen=True)
class Bar:
    """Shares of the time in which a device is busy, 0 to 1, by part."""

    label: str
    shares: dict[str, float]
    said: dict[str, str]
    is_published: bool = False


@dataclass(frozen=True)
class Page:
    offloaded: list[Point]
    on_host: list[Point]  # the same without a device; never beside a stand-in
    emulated: bool


@dataclass(frozen=True)
class Ratio:
    """A time over that of the same with pageable memory."""

    allocation: str
    direction: str
    value: float
    said: str


def published_bar(table: Published) -> Bar:
    """The shares as printed; what the rows lack of 100 % is in no part."""
    parts = {"CUDA Memcpy HtoD": H2D, "CUDA Memcpy DtoH": D2H}
    shares, said = dict.fromkeys(PARTS, 0.0), dict.fromkeys(PARTS, f"{table.name}, published")
    for row in table.rows:
        part = parts.get(row["operation"], KERNELS)
        shares[part] += row["share_percent"] / 100
        said[part] += f"\n{row['operation']}: {row['operations']} × {digits(row['average_ms'])} ms"
    return Bar(f"{table.source}, published", shares, said, True)


def bar_of(point: Point) -> Bar:
    """Phases of the slowest rank; operations and bytes of the one that copies most."""
    work = point.device
    assert work is not None
    times = {part: sum(point.phases.get(phase, 0.0) for phase in phases) for part, phases in PARTS.items()}
    total = sum(times.values())
    counts = {
        H2D: (work.h2d_copies, work.h2d_bytes),
        KERNELS: (work.ffts, None),
        D2H: (work.d2h_copies, work.d2h_bytes),
    }
    said = {}
    for part, (operations, moved) in counts.items():
        lines = [f"{operations:.0f} operations, {time_text(times[part])} in all"]
        if operations:
            lines.append(f"{time_text(times[part] / operations)} each")
        if moved and times[part]:
            lines.append(f"{bytes_text(moved)}, {rate_text(moved / times[part], 'B/s')}")
        said[part] = "\n".join([*lines, point_text(point)])
    shares = {part: time / total for part, time in times.items()}
    return Bar(label_of(point), shares, said)


def label_of(point: Point) -> str:
    """overdecomposed, rank, pinned, forward: 100³, 2 ranks"""
    method = point.method
    launch, memory = method.option("offload"), method.option("host-memory") or "pinned"
    words = [method.variant, *([launch] if launch else []), memory, point.cell.contract.direction]
    return f"{', '.join(words)}: {shape_text(point.cell.shape)}, {point.where}"


def ratios(offloaded: list[Point], on_host: list[Point]) -> list[Ratio]:
    """Ratios of points that differ in nothing but the kind of memory to the same method without a device."""
    found = []
    for base in offloaded:
        direction = base.cell.contract.direction
        if base.method.option("host-memory") != MEMORY["default"] or direction not in DIRECTIONS:
            continue
        for words, memory in MEMORY.items():
            for one in offloaded:
                if (one.method.option("host-memory") or "pinned") == memory and _apart(one) == _apart(base):
                    found.append(_ratio(words, direction, one, base))
        found += [
            _ratio(HOST, direction, one, base)
            for one in on_host
            if one.cell == base.cell and one.method.variant == base.method.variant and _home(one) == _home(base)
        ]
    return found


def _home(point: Point) -> tuple[str, str]:
    return point.measured[0].machine_hash, point.measured[0].code_hash


def _apart(point: Point) -> tuple:
    """All but the kind of memory."""
    options = tuple(option for option in point.method.options if option[0] != "host-memory")
    return _home(point), point.cell, replace(point.method, options=options, parameters="")


def _ratio(allocation: str, direction: str, one: Point, base: Point) -> Ratio:
    value = one.time_s / base.time_s
    return Ratio(allocation, direction, value, f"{allocation}: {digits(value)} × pageable\n{point_text(one)}")


def published_ratios(table: Published) -> list[Ratio]:
    [base] = [row for row in table.rows if row["allocation"] == "default"]
    return [
        Ratio(
            row["allocation"],
            direction,
            row[f"{direction}_s"] / base[f"{direction}_s"],
            f"{table.name}, published: {row['allocation']}, {direction}, {row[f'{direction}_s']} s",
        )
        for row in table.rows
        for direction in DIRECTIONS
    ]


def pages(view: View) -> list[Page]:
    if not any(item.startswith(f"{PAPER}/table-4") for item in view.campaign.paper):
        return []
    points = [point for one in view.drawn for point in one.ranked]
    on_host = [point for point in points if point.device is None and "emulated" not in point.flags]
    found = []
    for emulated in (False, True):
        kind = [point for point in points if point.device and ("emulated" in point.flags) is emulated]
        for start in range(0, len(kind), ROWS_A_PAGE):
            found.append(Page(kind[start : start + ROWS_A_PAGE], [] if emulated else on_host, emulated))
    return found


def draw(_: View, page: Page, heading: str) -> Figure:
    activity, allocations = (published(PAPER, item) for item in ("table-4.1", "table-4.2"))
    bars = [published_bar(activity), *(bar_of(point) for point in page.offloaded)]
    theirs, ours = published_ratios(allocations), ratios(page.offloaded, page.on_host)
    rows = [row for row in (*MEMORY, HOST) if any(one.allocation == row for one in theirs + ours)]
    handles = [Patch(color=COLOURS[part], label=part) for part in PARTS]
    handles += [Line2D([], [], color=DIRECTIONS[name], marker="o", linestyle="", label=name) for name in DIRECTIONS]
    figure, axes = layout.stacked_axes(
        f"EMULATED {heading}" if page.emulated else heading,
        [ROW_IN * len(bars), *([ROW_IN * len(rows) + 0.1] if rows else [])],
        lettering.label_width_in([bar.label for bar in bars] + rows),
        legend=(handles, COLUMNS),
        note=difference_line([activity, allocations], page.offloaded),
    )
    _draw_bars(axes[0], bars)
    layout.facet_title(axes[0], "Time in which the device is busy", "published: dotted")
    if rows:
        _draw_ratios(axes[1], rows, theirs, ours)
        layout.facet_title(axes[1], "Kinds of host memory", "published: hollow, of Charm-NodeFFT")
    return figure


def _draw_bars(axes: Axes, bars: list[Bar]) -> None:
    for row, bar in enumerate(bars):
        draw_share_bar(axes, row, bar.shares, bar.said, COLOURS, bar.is_published)
    label_share_bars(axes, [bar.label for bar in bars])


def _draw_ratios(axes: Axes, rows: list[str], theirs: list[Ratio], ours: list[Ratio]) -> None:
    for direction, colour in DIRECTIONS.items():
        for ratio_list, look, offset in ((theirs, LOOK, -0.18), (ours, {"linestyle": "", "color": colour}, 0.18)):
            mine = [one for one in ratio_list if one.direction == direction]
            if not mine:
                continue
            edge = {"markeredgecolor": colour} if ratio_list is theirs else {}
            [drawn] = axes.plot(
                [one.value for one in mine],
                [rows.index(one.allocation) + offset for one in mine],
                **(look | {"marker": "o", "markersize": 3.6, "linestyle": ""} | edge),
            )
            mark(drawn, *(one.said for one in mine))
    axes.axvline(1, color=colours.INK, linewidth=0.6)
    layout.row_axis(axes, rows, range(len(rows)), (-0.6, len(rows) - 0.4))
    axes.set_xlim(left=0)
    axes.set_xlabel("time over that with pageable memory")


PLOT = Plot(
    name="published-offload",
    title="Offloaded pencils beside Charm-FFT",
    caption="As Tables 4.1 and 4.2 of lee2018. Above: what share of a device's busy time are copies; each part says "
    "its operations, bytes and time. The paper's shares stand first, dotted. Below: the whole transform's time by kind "
    "of host memory, hollow where published; default is pageable, unified is managed.",
    order=23,
    pages=pages,
    draw=draw,
)
