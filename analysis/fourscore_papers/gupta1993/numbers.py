"""What gupta1993 prints, and what follows from its equations, tables and text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from fourscore_analysis.isoefficiency.points import Family, families
from fourscore_analysis.papers.base import Item, Measured, Paper
from fourscore_analysis.papers.here import Here, what_text
from fourscore_analysis.papers.ranges import Computations, Computed, Range, each, exactly, printed, rounded, rows_of
from fourscore_analysis.points.points import group_points
from fourscore_analysis.points.units import ranks_text

from fourscore_papers.gupta1993 import equations, readings
from fourscore_papers.gupta1993.equations import Machine
from fourscore_papers.gupta1993.isoefficiency import machine_of
from fourscore_papers.gupta1993.simulated import PLATFORMS, families_on

NAME = "gupta1993"
LINEAR, SATURATES, POOR = "nearly linear", "saturates at a small number of processors", "poor isoefficiency"
RAPID, ALIKE = "much more rapid", "as rapid"
LEAST_RATIO = 10  # a mesh of MOST processors that needs so many times the points of a hypercube grows much faster
MOST = 1024  # processors of the figures
LEAST_GAIN = 1.5  # gain of the last doubling of the processors from which a curve is called nearly linear


def table_1() -> Computations:
    for number, row in enumerate(rows_of(NAME, "table-1"), 1):
        for machine, (ratio, _) in readings.RATIOS.items():
            slope = readings.k_of(row["efficiency"]) * ratio
            said = f"K t_w / t_c, t_w / t_c = {readings.ratio_text(ratio)}"
            yield Computed(number, f"slope_{machine.lower()}", exactly(float(slope)), said)


def table_2() -> Computations:
    ratio = rounded(printed(NAME, "table-2")["setup"]["t_w_over_t_c"])
    yield from each(
        NAME,
        "table-2",
        "efficiency",
        lambda row: 1 / (1 + ratio * math.log2(row["processors"]) / float(row["log2_points"])),
        "Eqs 1 and 4, t_s = 0",
    )


def table_3() -> Computations:
    points = int(printed(NAME, "table-3")["setup"]["points"])
    for number, row in enumerate(rows_of(NAME, "table-3"), 1):
        found = equations.exponent(points, int(row["iteration"]), int(row["index"]))
        yield Computed(number, "exponent_bits", f"{found:03b}", "reversed leading bits, section 3")


def table_4() -> Computations:
    points = int(printed(NAME, "table-4")["setup"]["points"])
    for number, row in enumerate(rows_of(NAME, "table-4"), 1):
        p = int(row["processors"])
        for step, count in enumerate(equations.new_twiddle_factors(points, p)):
            yield Computed(number, f"iteration_{step}_factors", exactly(count), "counted in Table 3")
        solved = equations.twiddle_factors_solved(points, p) if p > 1 else points
        yield Computed(number, "factors", exactly(equations.twiddle_factors(points, p)), "the recurrence of h")
        yield Computed(number, "factors", exactly(solved), "2 (n/p - 1) + log p")
        yield Computed(number, "cost_factors", exactly(p * equations.twiddle_factors(points, p)), "p h(8, p)")


def isoefficiency(item: str, ratio: Callable[[float], float], said: str) -> Computations:
    """Threshold t_c / (t_c + t), exponent K t / t_c, where a word costs t = ratio(t_w / t_c) t_c."""
    for number, row in enumerate(rows_of(NAME, item), 1):
        t = ratio(float(row["t_w_over_t_c"]))
        yield Computed(number, "threshold_efficiency", exactly(equations.threshold(t)), f"t_c / (t_c + t), {said}")
        yield Computed(
            number, "p_exponent", exactly(equations.slope(t, float(row["efficiency"]))), f"K t / t_c, {said}"
        )


def appendix_e_reading() -> Computations:
    yield from isoefficiency("appendix-e", lambda ratio: (ratio - 1) / ratio, "t / t_c = (t_w - t_c) / t_w")


def section_6() -> Computations:
    yield from each(
        NAME,
        "section-6",
        "throughput_gain_percent",
        lambda row: exactly(
            100 * equations.throughput_gain(float(row["saved_percent"]) / 100, float(row["efficiency_percent"]) / 100)
        ),
        "1 / (1 - r E) - 1",
    )


def section_7() -> Computations:
    """The first power of two on for which the mesh costs no more."""
    found = readings.crossing(equations.mesh_bisection_cost)
    yield Computed(1, "processors", exactly(found), "2 p / log p = p / 2")


def section_7_reading() -> Computations:
    found = readings.crossing(lambda p: 2 * equations.mesh_bisection_cost(p))
    yield Computed(1, "processors", exactly(found), "4 p / log p = p / 2: 2 sqrt(p) channels in the bisection")


def section_8() -> Computations:
    data = printed(NAME, "section-8")
    for number, row in enumerate(data["rows"], 1):
        flops = exactly(data["setup"]["flops_per_unit"] / row["t_c_us"] * 10**6)
        yield Computed(number, "flops_per_s", flops, "8 flops in t_c")
    ratio = float(data["setup"]["t_w_us"] / data["rows"][1]["t_c_us"])
    yield Computed(2, "break_even_efficiency", exactly(equations.threshold(ratio)), "t_c / (t_c + t_w)")


def section_8_machines() -> Computations:
    setup = printed(NAME, "section-8-machines")["setup"]
    yield from each(
        NAME,
        "section-8-machines",
        "t_w_over_t_c",
        lambda row: exactly(
            float(setup["word_bytes"] / row["bandwidth_bytes_per_s"] / (setup["flops_per_unit"] / row["flops_per_s"]))
        ),
        "8 bytes over the bandwidth, over 8 flops over the speed",
    )


def section_8_problem_sizes() -> Computations:
    table = {row["efficiency"]: row for row in rows_of(NAME, "table-1")}

    def log2_points(row: dict[str, Any]) -> Range:
        slope = table[row["efficiency"]][f"slope_{row['machine'].lower()}"]
        return rounded(slope) * float(row["log2_processors"])

    yield from each(NAME, "section-8-problem-sizes", "log2_points", log2_points, "slope of Table 1 x log p")


# ---- figures: the paper prints no t_s


def model_speedup(points: float, processors: float, t_s_s: float = 0.0, mesh: bool = False) -> float:
    """The speedup of binary exchange with the paper's t_c and t_w, Eqs 1, 4 and 8."""
    machine = ncube1(t_s_s)
    of = equations.mesh_overhead if mesh else equations.hypercube_overhead
    e = equations.efficiency(of(machine, points, processors), equations.work(machine, points))
    return equations.speedup(processors, e)


def ncube1(t_s_s: float = 0.0) -> Machine:
    setup = printed(NAME, "figure-2")["setup"]
    return Machine(float(setup["t_c_us"]) * 1e-6, float(setup["t_w_us"]) * 1e-6, t_s_s)


def curve_word(points: float, t_s_s: float) -> str:
    gain = model_speedup(points, MOST, t_s_s) / model_speedup(points, MOST / 2, t_s_s)
    return LINEAR if gain >= LEAST_GAIN else SATURATES


def figure_2() -> Computations:
    """Only the large transform: the small one is bounded by the start-up time, which the paper does not print."""
    yield Computed(2, "curve", curve_word(65536, 0.0), "Eqs 1 and 4, t_s = 0, from 512 to 1,024 processors")


def figure_2_reading() -> Computations:
    for number, row in enumerate(rows_of(NAME, "figure-2"), 1):
        said = f"Eqs 1 and 4, t_s = {1e3 * readings.START_S:g} ms, from 512 to 1,024 processors"
        yield Computed(number, "curve", curve_word(float(row["points"]), readings.START_S), said)


def figure_3() -> Computations:
    machine = ncube1()
    threshold = equations.threshold(machine.t_w_s / machine.t_c_s)
    for number, row in enumerate(rows_of(NAME, "figure-3"), 1):
        word = LINEAR if float(row["efficiency"]) < threshold else POOR
        yield Computed(number, "curve", word, "E against t_c / (t_c + t_w)")


def figure_4() -> Computations:
    """The points that a mesh needs over those of a hypercube, Eqs 4 and 8 without t_s; no processor is without work."""
    level = float(rows_of(NAME, "figure-4")[1]["efficiency"])
    cube, mesh = (
        max(math.log2(MOST), equations.log2_points_for(of, ncube1(), level, MOST))
        for of in (equations.hypercube_overhead, equations.mesh_overhead)
    )
    word = RAPID if mesh - cube > math.log2(LEAST_RATIO) else ALIKE
    said = f"2^{mesh:.1f} points against 2^{cube:.1f} on 1,024 processors, Eqs 4 and 8, t_s = 0"
    yield Computed(2, "curve", word, said)


# ---- ours, measured


def lines_here(here: Here) -> list[Family]:
    """Binary exchange in one dimension over its own time on one rank, as the paper has it; with local transforms of
    radix 2 and words of 8 bytes first, then those of most sizes."""
    found: list[Family] = []
    for campaign in here.campaigns:
        points = [
            point
            for point in group_points(campaign)
            if point.method.variant == "binary-exchange"
            and len(point.cell.shape) == 1
            and "emulated" not in point.flags
            and point.cell.contract.platform == "none"
        ]
        found += families(points)[0]
    return sorted(found, key=lambda family: (-_likeness(family), -len(family.measured)))


def _likeness(family: Family) -> int:
    method, contract = family.first.method, family.first.cell.contract
    return (method.option("local") == "radix-2") + (contract.precision == "single")


def figure_2_here(here: Here) -> Iterator[Measured]:
    """Speedup on the most ranks."""
    for number, row in enumerate(rows_of(NAME, "figure-2"), 1):
        found = [one for family in lines_here(here) for one in family.measured if one.elements == row["points"]]
        if found:
            best = max(found, key=lambda one: one.ranks)
            launches = min(len(best.point.measured), len(best.serial.measured))
            yield Measured(number, "curve", best.speedup.value, launches, f"speedup, {what_text(best.point)}")


def figure_3_here(here: Here) -> Iterator[Measured]:
    """The slope of log n against log p that keeps each efficiency, on a real machine and on the simulated hypercube."""
    real = [family for family in lines_here(here)[:1] if family.has_curve]
    for number, row in enumerate(rows_of(NAME, "figure-3"), 1):
        for family in real + families_on(here, PLATFORMS["hypercube"], "binary-exchange"):
            slope = family.slope(float(row["efficiency"]))
            if slope is not None:
                most = max(family.measured, key=lambda one: one.ranks).point
                launches = min(len(one.point.measured) for one in family.measured)
                said = f"log n over log p, to {most.cell.place.text()}, {most.label}"
                yield Measured(number, "curve", slope, launches, said)


def mesh_over_hypercube(here: Here, level: float) -> tuple[int, float, int] | None:
    """Most simulated ranks on which both were measured; the points that keep an efficiency on the mesh over those on
    the hypercube; launches. None without both."""
    found = {network: families_on(here, platform, "binary-exchange") for network, platform in PLATFORMS.items()}
    sizes = {
        network: {need.ranks: need.log2_elements for family in of for need in family.needs(level) if need.inside}
        for network, of in found.items()
    }
    both = set(sizes["mesh"]) & set(sizes["hypercube"])
    if not both:
        return None
    launches = min(len(one.point.measured) for of in found.values() for family in of for one in family.measured)
    return max(both), 2 ** (sizes["mesh"][max(both)] - sizes["hypercube"][max(both)]), launches


def figure_4_here(here: Here) -> Iterator[Measured]:
    found = mesh_over_hypercube(here, float(rows_of(NAME, "figure-4")[1]["efficiency"]))
    if found:
        ranks, ratio, launches = found
        said = f"points on a mesh over those on a hypercube, {ranks_text(ranks)} simulated of nCUBE1"
        yield Measured(2, "curve", ratio, launches, said)


def section_8_here(here: Here) -> Iterator[Measured]:
    """Speed of a unit and break-even efficiency, from t_c and t_w fitted to the times of binary exchange."""
    family = next((one for one in lines_here(here) if one.has_curve), None)
    machine = machine_of(family) if family else None
    if family is None or machine is None:
        return
    units = float(printed(NAME, "section-8")["setup"]["flops_per_unit"])
    launches = min(min(len(one.point.measured), len(one.serial.measured)) for one in family.measured)
    most = max(family.measured, key=lambda one: (one.ranks, one.elements))
    said = f"fitted to {len(family.measured)} points up to {what_text(most.point)}"
    yield Measured(2, "flops_per_s", units / machine.t_c_s, launches, said)
    yield Measured(2, "break_even_efficiency", equations.threshold(machine.t_w_s / machine.t_c_s), launches, said)


_EXAMPLES = ("t_w_over_t_c", "efficiency")

PAPER = Paper(
    NAME,
    {
        "appendix-c": Item(
            _EXAMPLES, computed=lambda: isoefficiency("appendix-c", lambda ratio: 2 * ratio, "t = 2 t_w")
        ),
        "appendix-e": Item(
            _EXAMPLES,
            computed=lambda: isoefficiency("appendix-e", lambda ratio: ratio - 1, "t = t_w - t_c"),
            reading=appendix_e_reading,
        ),
        "examples-1-and-2": Item(
            _EXAMPLES, computed=lambda: isoefficiency("examples-1-and-2", lambda ratio: ratio, "t = t_w")
        ),
        "figure-2": Item(("points",), computed=figure_2, reading=figure_2_reading, measured=figure_2_here),
        "figure-3": Item(("efficiency",), computed=figure_3, measured=figure_3_here),
        "figure-4": Item(("network", "measured"), given=("efficiency",), computed=figure_4, measured=figure_4_here),
        "section-6": Item(("machine", "efficiency_percent", "saved_percent"), computed=section_6),
        "section-7": Item(computed=section_7, reading=section_7_reading),
        "section-8": Item(("t_c_us",), computed=section_8, measured=section_8_here),
        "section-8-machines": Item(
            ("machine", "name"), given=("bandwidth_bytes_per_s", "flops_per_s"), computed=section_8_machines
        ),
        "section-8-problem-sizes": Item(("machine", "efficiency", "log2_processors"), computed=section_8_problem_sizes),
        "table-1": Item(("efficiency",), computed=table_1),
        "table-2": Item(("log2_points", "processors"), computed=table_2),
        "table-3": Item(("iteration", "index"), computed=table_3),
        "table-4": Item(("processors",), computed=table_4),
    },
    readings.searches,
    remarks=readings.REMARKS,
)
