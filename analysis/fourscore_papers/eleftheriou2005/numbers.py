"""What eleftheriou2005 prints, and what follows from its bounds, its Table 1 and its text."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from fourscore_analysis.papers.base import Item, Measured, Paper, Search, Tried
from fourscore_analysis.papers.here import Here, comparable, on_nodes_of, what_text
from fourscore_analysis.papers.ranges import Computations, Computed, exactly, printed, rounded, rows_of
from fourscore_analysis.points.components import TRANSFORMS
from fourscore_analysis.points.points import fastest
from fourscore_analysis.records.basics import median_of
from fourscore_analysis.records.components import Benchmark

from fourscore_papers.eleftheriou2005 import equations

NAME = "eleftheriou2005"
CYCLES_FOUND = 2.0  # cycles of a 1-D FFT of n points, over n log2 n: see searches()
FOUND = "8 cycles a butterfly, two of them at once in the double FPU: 2 n log2 n cycles"
EXCHANGES = {"active packets": ("active",), "MPI collective": ("alltoallv", "alltoallw")}
DIMENSIONS = {"line": equations.LINE, "plane": equations.PLANE, "volume": equations.VOLUME}
EXTENT = 128  # in Figs 2 to 4


def setup() -> tuple[float, float]:
    """Nodes and clock of Table 1."""
    data = printed(NAME, "table-1")["setup"]
    return float(data["nodes"]), float(data["clock_hz"])


def figure_2() -> Computations:
    yield Computed(1, "nodes", exactly(equations.most_nodes_of_slabs(EXTENT)), "slabs: no more nodes than the extent")


def hardware_limits() -> Computations:
    for number, row in enumerate(rows_of(NAME, "hardware-limits"), 1):
        dimensions = DIMENSIONS[row["all_to_all_in"]]
        yield Computed(
            number, "hops_over_p", exactly(equations.average_hops(dimensions, 1)), "a quarter of p a dimension"
        )
        yield Computed(number, "links", exactly(equations.links(dimensions)), "two a dimension")


def table_1() -> Computations:
    for number, row in enumerate(rows_of(NAME, "table-1"), 1):
        mesh, torus, rest, network = (
            rounded(row[name]) for name in ("mesh_s", "torus_s", "non_bandwidth_s", "bandwidth_s")
        )
        volume = float(math.prod(row["shape"]))
        volume_log2 = volume * math.log2(row["shape"][0])
        yield Computed(number, "mesh_over_torus", mesh / torus, "T_mesh / T_torus")
        yield Computed(number, "non_bandwidth_s", 2 * torus - mesh, "2 T_torus - T_mesh")
        yield Computed(number, "bandwidth_s", mesh - torus, "T_mesh - T_torus")
        yield Computed(number, "non_bandwidth_per_n3_log2_n_s", rest / volume_log2, "T_non-bandwidth / (N³ log2 N)")
        yield Computed(number, "bandwidth_per_n3_s", network / volume, "T_bandwidth / N³")
        if row["layer"] == "model":
            yield from model(
                number, int(row["shape"][0]), equations.CYCLES, "8 N log2 N cycles for each of 3 N² transforms"
            )


def model(number: int, n: int, cycles: float, said: str) -> Computations:
    nodes, clock_hz = setup()
    bound = "three all-to-alls on the torus, 2 bits a cycle and link, 80 %"
    yield Computed(number, "non_bandwidth_s", exactly(equations.computation_time_s(n, nodes, clock_hz, cycles)), said)
    yield Computed(number, "bandwidth_s", exactly(equations.bandwidth_time_s(n, nodes, clock_hz)), bound)
    yield Computed(
        number, "torus_s", exactly(equations.torus_time_s(n, nodes, clock_hz, cycles)), f"{said}, and the bound"
    )
    yield Computed(
        number, "mesh_s", exactly(equations.mesh_time_s(n, nodes, clock_hz, cycles)), f"{said}, and twice the bound"
    )


def table_1_reading() -> Computations:
    for number, row in enumerate(rows_of(NAME, "table-1"), 1):
        if row["layer"] == "model":
            found = model(number, int(row["shape"][0]), CYCLES_FOUND, FOUND)
            yield from (one for one in found if one.column != "bandwidth_s")


# Ours, measured. MPI does not say whether its network is a torus or a mesh.


def table_1_here(here: Here) -> Iterator[Measured]:
    nodes, _ = setup()
    for number, row in enumerate(rows_of(NAME, "table-1"), 1):
        found = here.transforms("volumetric", tuple(map(int, row["shape"])), ranks=int(nodes))
        found = [one for one in found if one.method.exchange in EXCHANGES.get(row["layer"], ())]
        point = fastest(on_nodes_of(int(nodes), found))
        if point is not None:
            yield Measured(number, "torus_s", point.time_s, len(point.measured), what_text(point, int(nodes)))


def figure_3_here(here: Here) -> Iterator[Measured]:
    """On one rank, with one contract: the natural layout where both have it, in which the paper's method ends."""
    for layout in ("natural", "transposed"):
        ours, theirs = (
            fastest(here.transforms(name, (EXTENT,) * 3, ranks=1, layout=layout)) for name in ("volumetric", "fftw-mpi")
        )
        if ours is not None and theirs is not None:
            launches = min(len(ours.measured), len(theirs.measured))
            percent = 100 * (ours.time_s / theirs.time_s - 1)
            yield Measured(1, "fftw_faster_percent", percent, launches, f"{what_text(ours)}, against fftw-mpi")
            return


def figure_4_here(here: Here) -> Iterator[Measured]:
    for number, row in enumerate(rows_of(NAME, "figure-4"), 1):
        found = here.transforms("volumetric", (EXTENT,) * 3)
        found = [one for one in found if one.method.exchange in EXCHANGES[row["layer"]]]
        series = comparable(found, lambda one: one.cell.ranks)
        if len(series) > 1 and series[0].cell.ranks == 1:
            one, most = series[0], series[-1]
            launches = min(len(most.measured), len(one.measured))
            yield Measured(number, "speedup_above", one.time_s / most.time_s, launches, what_text(most))


def efficiency_here(here: Here) -> Iterator[Measured]:
    """The local library that comes nearest to the peak, beside the paper's best. Nothing here is like its own naive
    kernel."""
    shares: dict[str, list[float]] = defaultdict(list)
    models: dict[str, str] = {}
    points = rows_of(NAME, "parallel-performance-analysis")[0]["points"]
    for run in (run for campaign in here.campaigns for run in campaign.components):
        if run.component != TRANSFORMS or run.status != "ok" or run.simulated or run.foreign:
            continue
        peak = max((flops_per_s(one) for one in run.benchmarks if is_double(one, "multiply-add")), default=0.0)
        kernels = [one for one in run.benchmarks if is_double(one, "c2c") and one.number("length") == points]
        if peak and kernels:
            best = max(kernels, key=flops_per_s)
            shares[best.label("library")].append(100 * flops_per_s(best) / peak)
            models[best.label("library")] = str(run.identity.get("machine", {}).get("cpu_model", ""))
    if shares:
        library, found = max(shares.items(), key=lambda item: median_of(item[1]))
        what = ", ".join(filter(None, (library, f"{points} points", "share of multiply-adds", models[library])))
        yield Measured(1, "efficiency_above_percent", median_of(found), len(found), what)


def is_double(one: Benchmark, kernel: str) -> bool:
    return one.kernel == kernel and one.label("precision") == "double"


def flops_per_s(one: Benchmark) -> float:
    return (one.number("flops") or 0.0) / one.median_s


def table_1_search() -> Search:
    rows = [row for row in rows_of(NAME, "table-1") if row["layer"] == "model"]
    nodes, clock_hz = setup()
    readings = (
        ("8 N log2 N cycles for each of 3 N² transforms, as printed", 8.0),
        ("5 N log2 N flops, one a cycle", 5.0),
        ("8 cycles for each of (N/2) log2 N butterflies", 4.0),
        ("8 N log2 N cycles, of one dimension alone", 8 / 3),
        (FOUND, CYCLES_FOUND),
        ("8 N log2 N flops, two fused multiply-adds a cycle: the same 2 N log2 N", 2.0),
        ("8 N log2 N cycles, two processors of two FPUs a node: the same 2 N log2 N", 2.0),
        ("5 N log2 N flops, four a cycle", 1.25),
    )

    def values(cycles: float) -> tuple[float, ...]:
        extents = [int(row["shape"][0]) for row in rows]
        last = extents[-1]
        ratio = equations.mesh_time_s(last, nodes, clock_hz, cycles) / equations.torus_time_s(
            last, nodes, clock_hz, cycles
        )
        return (*(1e6 * equations.computation_time_s(n, nodes, clock_hz, cycles) for n in extents), ratio)

    return Search(
        "Table 1: the model's part that does not depend on bandwidth",
        (*(f"{row['shape'][0]}³, µs" for row in rows), "T_mesh / T_torus, 128³"),
        (*(row["non_bandwidth_s"] * 10**6 for row in rows), rows[-1]["mesh_over_torus"]),
        tuple(Tried(name, values(cycles)) for name, cycles in readings),
        "The table's model has exactly a quarter of 8 N log2 N cycles for each transform. It agrees, within the "
        "rounding of every number, where the eight cycles are for a butterfly of two points and not for each "
        "point of a stage (a transform has (N/2) log2 N butterflies), and where the double FPU of Blue Gene/L "
        "issues two fused multiply-adds a cycle. Eight flops in place of cycles, or two processors a node, give "
        "the same number; the text does not tell which was meant.",
        "The text's own words would refute its Table 1: 8 N log2 N cycles take 0.98 ms for 128³, and the active "
        "packets spent 0.49 ms on all that is not bandwidth. A bound cannot be beaten. With the table's reading "
        "the conclusion stands: computation is a small part, and 1.81 of the active packets at 128³ is close to "
        "the model's 1.85. With the text's reading the model would be at 1.59, below what was measured.",
    )


PAPER = Paper(
    NAME,
    {
        "figure-2": Item(("library",), computed=figure_2),
        "figure-3": Item(("nodes",), measured=figure_3_here),
        "figure-4": Item(("layer", "nodes"), measured=figure_4_here),
        "hardware-limits": Item(("all_to_all_in",), computed=hardware_limits),
        "parallel-performance-analysis": Item(("library", "points"), measured=efficiency_here),
        "table-1": Item(("layer", "shape"), computed=table_1, reading=table_1_reading, measured=table_1_here),
    },
    lambda: (table_1_search(),),
    remarks=(
        "Everything else agrees: the bandwidth bound to every digit, and each derived column of Table 1 with the times "
        "that it derives from.",
    ),
)
