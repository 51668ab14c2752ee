"""What lee2018 prints, and what follows from its tables and text; it has no numbered equations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from fourscore_analysis.papers.base import Item, Measured, Paper
from fourscore_analysis.papers.here import Here, what_text
from fourscore_analysis.papers.ranges import Computations, Computed, Range, each, exactly, printed, rounded, rows_of
from fourscore_analysis.points.points import Point, fastest, group_by

from fourscore_papers.lee2018 import equations, readings

NAME = "lee2018"
LARGE, SMALL = (300,) * 3, (100,) * 3
CHARM, NODE = "overdecomposed", "node"
Key = TypeVar("Key", bound=Hashable)


def cuts_of(decomposition: str) -> tuple[int, int]:
    """(10, 10) of 10x10."""
    first, second = map(int, decomposition.split("x"))
    return first, second


def cores(item: str) -> Computations:
    data = printed(NAME, item)
    for number, row in enumerate(data["rows"], 1):
        a_node = row["cores_per_node"] if "cores_per_node" in row else data["setup"]["cores_per_node"]
        if row["cores"] is not None:
            yield Computed(number, "cores", exactly(equations.cores(row["nodes"], a_node)), "nodes x PEs of a node")


def figure_2_3() -> Computations:
    table = printed(NAME, "table-2.1")
    by_cut = {row["decomposition"]: row for row in table["rows"]}
    slower = rounded(by_cut["20x20"]["backward_ms"]) / rounded(by_cut["10x10"]["backward_ms"])
    yield Computed(1, "slower_percent", 100 * (slower - 1), "20x20 over 10x10 of Table 2.1, backward")
    a_core = by_cut["20x20"]["chares_per_state"] / table["setup"]["cores"]
    yield Computed(1, "chares_per_core", exactly(a_core), "400 pencils of a state on 128 PEs, on average")


def figure_2_3_reading() -> Computations:
    most = equations.most_chares_a_core(equations.pencils((20, 20)), int(printed(NAME, "figure-2.3")["setup"]["cores"]))
    yield Computed(1, "chares_per_core", exactly(most), "of the PE that has most")


def figure_3_2_reading() -> Computations:
    charm, node = readings.messages(readings.PAIRS)
    said = f"{readings.PAIRS} forward and backward transforms"
    yield Computed(1, "messages", exactly(charm), said)
    yield Computed(2, "messages", exactly(node), said, bound="below")


def figure_3_4_reading() -> Computations:
    yield Computed(1, "cores", exactly(equations.cores(16, 64)), "16 nodes, which Figure 3.3 has for 1,024 PEs")


def table_2_1() -> Computations:
    yield from each(
        NAME,
        "table-2.1",
        "chares",
        lambda row: exactly(equations.chares(row["chares_per_state"])),
        "pencils of a state x 3 states",
    )
    yield from each(
        NAME,
        "table-2.1",
        "chares_per_state",
        lambda row: exactly(equations.pencils(cuts_of(row["decomposition"]))),
        "cuts of the two axes",
    )


def table_3_1() -> Computations:
    yield from each(
        NAME,
        "table-3.1",
        "nodes",
        lambda row: exactly(equations.nodes_of(300**3, [int(extent) for extent in row["points_per_node"]])),
        "300³ over the points of a node",
    )


def table_4_1() -> Computations:
    """Shares are of the total that the first row implies."""
    first = rows_of(NAME, "table-4.1")[0]
    total = rounded(first["total_ms"]) / rounded(first["share_percent"])
    yield from each(
        NAME,
        "table-4.1",
        "operations",
        lambda row: rounded(row["total_ms"]) / rounded(row["average_ms"]),
        "total over average",
    )
    yield from each(
        NAME,
        "table-4.1",
        "share_percent",
        lambda row: rounded(row["total_ms"]) / total,
        "total over 312.1 ms, which the first row implies",
    )


def table_4_1_reading() -> Computations:
    row = rows_of(NAME, "table-4.1")[5]
    both = 2 * rounded(row["average_ms"])
    yield Computed(6, "operations", both / rounded(row["average_ms"]), "the row has the time of one of two operations")


def section_4_2_1() -> Computations:
    copies = rows_of(NAME, "table-4.1")[:2]
    both = rounded(copies[0]["share_percent"]) + rounded(copies[1]["share_percent"])
    yield Computed(1, "share_percent", both, "both copies of Table 4.1")
    backward = {row["allocation"]: rounded(row["backward_s"]) for row in rows_of(NAME, "table-4.2")}
    shorter = 1 - backward["default"] / backward["no GPU, FFTW"]
    yield Computed(2, "shorter_percent", 100 * shorter, "default against FFTW of Table 4.2")


def section_5_2_2() -> Computations:
    two, four = ({int(row["nodes"]): row for row in rows_of(NAME, table)} for table in ("table-5.2", "table-5.3"))
    text = rows_of(NAME, "section-5.2.2")
    less = 1 - rounded(two[16]["completion_ms"]) / rounded(two[2]["completion_ms"])
    yield Computed(1, "difference_percent", 100 * less, "16 against 2 nodes of Table 5.2")
    means = two[16]["forward_ms"] + two[16]["backward_ms"]
    apart = equations.shorter(float(means), float(two[16]["completion_ms"]))
    yield Computed(2, "difference_percent", exactly(100 * apart), "Table 5.2, 16 nodes")
    yield Computed(3, "completion_ms", exactly(two[8]["completion_ms"]), "Table 5.2, 8 nodes")
    yield Computed(4, "completion_ms", exactly(four[16]["completion_ms"]), "Table 5.3, 16 nodes")
    more = rounded(text[3]["completion_ms"]) / rounded(text[2]["completion_ms"]) - 1
    yield Computed(4, "difference_percent", 100 * more, "97 ms over 61 ms, both of the text")


def section_5_2_2_reading() -> Computations:
    text = rows_of(NAME, "section-5.2.2")
    found = rounded(text[2]["completion_ms"]) * Range(1.585, 1.595)
    yield Computed(4, "completion_ms", found, "59 % more than 61 ms")


# ---- ours, measured: the suites papers/lee2018 have these points


def _setting(point: Point) -> tuple:
    """What stays in one comparison or curve, whatever the ranks, threads, instances and pencils."""
    contract = replace(point.cell.contract, threads=1, instances=1)
    launch = point.measured[0]
    return launch.machine_hash, launch.code_hash, contract


def curve(points: Iterable[Point], key: Callable[[Point], Key]) -> dict[Key, Point]:
    """The fastest for each value of `key`: of one machine, build and contract, but for what _setting() leaves out, and
    of the same other parameters. Takes the group with most values where there are several."""

    def alike(point: Point) -> tuple:
        others = tuple(option for option in point.method.options if option[0] != "decomposition")
        return _setting(point), point.method.variant, others

    groups = [
        {key(same[0]): best for same in group_by(group, key) if (best := fastest(same))}
        for group in group_by(points, alike)
    ]
    return max(groups, key=len, default={})


def decomposed(here: Here, direction: str) -> dict[str, Point]:
    """Charm-FFT's method on 300³ by its decomposition, on the most ranks."""
    found = [one for one in here.transforms(CHARM, LARGE, direction=direction) if one.method.option("decomposition")]
    most = max((one.cell.ranks for one in found), default=0)
    on_most = [point for point in found if point.cell.ranks == most]
    return curve(on_most, lambda point: str(point.method.option("decomposition")))


def table_2_1_here(here: Here) -> Iterator[Measured]:
    for direction in ("forward", "backward"):
        found = decomposed(here, direction)
        for number, row in enumerate(rows_of(NAME, "table-2.1"), 1):
            point = found.get(row["decomposition"])
            if point is not None:
                yield _time(number, f"{direction}_ms", point)


def share_here(here: Here, item: str) -> Iterator[Measured]:
    """The share of the 1-D FFTs, backward."""
    found = decomposed(here, "backward")
    for number, row in enumerate(rows_of(NAME, item), 1):
        point = found.get(row["decomposition"])
        if point is not None and "fft" in point.phases:
            percent = 100 * equations.share(point.phases["fft"], sum(point.phases.values()))
            yield Measured(number, "fft_percent", percent, len(point.measured), what_text(point))


def figure_2_3_here(here: Here) -> Iterator[Measured]:
    yield from share_here(here, "figure-2.3")
    found = decomposed(here, "backward")
    fine, coarse = found.get("20x20"), found.get("10x10")
    if fine is not None and coarse is not None:
        yield _change(1, "slower_percent", equations.longer(fine.time_s, coarse.time_s), fine, coarse)


def at_equal_cores(here: Here) -> tuple[Point, Point] | None:
    """Charm-FFT's and Charm-NodeFFT's method backward on 300³, the fastest of each on the most cores that both have."""
    points = [point for variant in (CHARM, NODE) for point in here.transforms(variant, LARGE, direction="backward")]
    found: list[tuple[Point, Point]] = []
    for same in group_by(points, lambda point: (_setting(point), _cores(point))):
        charm, node = (fastest([one for one in same if one.method.variant == name]) for name in (CHARM, NODE))
        if charm and node:
            found.append((charm, node))
    return max(found, key=lambda pair: _cores(pair[0]), default=None)


def _cores(point: Point) -> int:
    return point.cell.ranks * point.cell.contract.threads


def figure_3_3_here(here: Here) -> Iterator[Measured]:
    found = at_equal_cores(here)
    if found:
        charm, node = found
        yield _change(1, "faster_percent", equations.longer(node.time_s, charm.time_s), charm, node)
        yield _time(2, "backward_ms", charm)


def table_3_1_here(here: Here) -> Iterator[Measured]:
    for number, row in enumerate(rows_of(NAME, "table-3.1"), 1):
        place = {"ranks": int(row["nodes"]), "threads": int(row["threads"])}
        point = fastest(here.transforms(NODE, LARGE, direction="backward", **place))
        if point is not None:
            yield _time(number, "backward_ms", point)


ALLOCATIONS = {"default": "pageable", "pinned": "pinned", "unified": "managed"}  # Table 4.2 to host-memory
LARGEST = (500,) * 3


def table_4_1_here(here: Here) -> Iterator[Measured]:
    """Copies of a rank's pencils, each state's in one launch, forward and backward: of the GPU's busy time."""
    found = here.transforms(CHARM, LARGE, direction="roundtrip")
    point = fastest([one for one in found if one.method.option("offload") == "rank" and one.device is not None])
    if point is None:
        return
    busy = sum(point.phases.get(phase, 0.0) for phase in ("h2d", "d2h", "fft"))
    for number, phase, operations in ((1, "h2d", point.device.h2d_copies), (2, "d2h", point.device.d2h_copies)):
        time_s = point.phases.get(phase, 0.0)
        values = {
            "total_ms": 1e3 * time_s,
            "average_ms": 1e3 * time_s / operations,
            "operations": operations,
            "share_percent": 100 * equations.share(time_s, busy),
        }
        for column, value in values.items():
            yield Measured(number, column, value, len(point.measured), what_text(point))


def table_4_2_here(here: Here) -> Iterator[Measured]:
    for number, row in enumerate(rows_of(NAME, "table-4.2"), 1):
        memory = ALLOCATIONS.get(row["allocation"])
        for direction in ("forward", "backward"):
            found = here.transforms(NODE, LARGEST, direction=direction, ranks=4)
            if memory is None:
                found = [one for one in found if one.method.option("offload") is None]
            else:
                offloaded = [one for one in found if one.method.option("offload")]
                found = [one for one in offloaded if (one.method.option("host-memory") or "pinned") == memory]
            point = fastest(found)
            if point is not None:
                yield Measured(number, f"{direction}_s", point.time_s, len(point.measured), what_text(point))


def several_here(here: Here, item: str) -> Iterator[Measured]:
    """Instances at once, there and back: the time until the last is done."""
    data = printed(NAME, item)
    for number, row in enumerate(data["rows"], 1):
        many = int(row["instances"])
        found = here.transforms(NODE, SMALL, direction="roundtrip", ranks=int(row["nodes"]), instances=many)
        wanted = data["setup"]["placement"] if many > 1 else ""
        point = fastest([one for one in found if one.method.placement == wanted])
        if point is not None:
            yield _time(number, "completion_ms", point)


def _time(row: int, column: str, point: Point) -> Measured:
    return Measured(row, column, 1e3 * point.time_s, len(point.measured), what_text(point))


def _change(row: int, column: str, share: float, point: Point, other: Point) -> Measured:
    launches = min(len(point.measured), len(other.measured))
    return Measured(row, column, 100 * share, launches, f"{what_text(point)}, against {other.label}")


PAPER = Paper(
    NAME,
    {
        "figure-2.2": Item(("decomposition",), measured=lambda here: share_here(here, "figure-2.2")),
        "figure-2.3": Item(
            ("decomposition",), computed=figure_2_3, reading=figure_2_3_reading, measured=figure_2_3_here
        ),
        "figure-3.2": Item(("library", "decomposition", "nodes", "cores", "of"), reading=figure_3_2_reading),
        "figure-3.3": Item(
            ("library", "nodes", "cores_per_node"), computed=lambda: cores("figure-3.3"), measured=figure_3_3_here
        ),
        "figure-3.4": Item(
            ("library", "nodes", "against_nodes"), computed=lambda: cores("figure-3.4"), reading=figure_3_4_reading
        ),
        "figure-3.5": Item(
            ("library", "nodes", "against_nodes", "against_cores_per_node"), computed=lambda: cores("figure-3.5")
        ),
        "figure-3.6": Item(("cores_per_node",)),
        "figure-4.1": Item(("nodes",)),
        "section-4.2.1": Item(("of",), computed=section_4_2_1),
        "section-5.2.2": Item(("instances", "nodes"), computed=section_5_2_2, reading=section_5_2_2_reading),
        "table-2.1": Item(("decomposition",), computed=table_2_1, measured=table_2_1_here),
        "table-3.1": Item(("points_per_node", "threads"), computed=table_3_1, measured=table_3_1_here),
        "table-4.1": Item(("operation",), computed=table_4_1, reading=table_4_1_reading, measured=table_4_1_here),
        "table-4.2": Item(("allocation",), measured=table_4_2_here),
        "table-5.1": Item(("instances", "nodes"), measured=lambda here: several_here(here, "table-5.1")),
        "table-5.2": Item(("instances", "nodes"), measured=lambda here: several_here(here, "table-5.2")),
        "table-5.3": Item(("instances", "nodes"), measured=lambda here: several_here(here, "table-5.3")),
    },
    readings.searches,
    remarks=readings.REMARKS,
)
