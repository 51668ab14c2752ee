"""Ours beside the numbers of lee2018: the suites papers/lee2018 have these points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from fourscore_analysis.papers.base import Measured
from fourscore_analysis.papers.here import Here, what_text
from fourscore_analysis.papers.ranges import printed, rows_of
from fourscore_analysis.points.points import Point, fastest, group_by

from fourscore_papers.lee2018 import equations

NAME = "lee2018"
LARGE, SMALL = (300,) * 3, (100,) * 3
CHARM, NODE = "overdecomposed", "node"
Key = TypeVar("Key", bound=Hashable)


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


def on_nodes(here: Here, variant: str, cores_a_node: int) -> dict[int, Point]:
    """One of both methods backward on 300³ by nodes, with so many cores of each."""
    found = here.transforms(variant, LARGE, direction="backward")
    return curve(
        [one for one in found if one.cell.place.ranks_per_node * one.cell.contract.threads == cores_a_node],
        lambda point: point.cell.place.nodes,
    )


def simulated_on_nodes(here: Here, variant: str, cores_a_node: int) -> dict[int, Point]:
    """The same on simulated nodes; of Charm-NodeFFT as it was, where there are such points."""
    found = [
        point
        for point in here.points
        if (point.method.variant, point.cell.shape) == (variant, LARGE)
        and point.cell.contract.platform != "none"
        and (point.cell.contract.kind, point.cell.contract.direction) == ("c2c", "backward")
        and point.cell.place.ranks_per_node * point.cell.contract.threads == cores_a_node
    ]
    as_it_was = [point for point in found if point.method.option("style") == "charm"]
    return curve(as_it_was or found, lambda point: point.cell.place.nodes)


def figure_3_4_here(here: Here) -> Iterator[Measured]:
    charm, node = (on_nodes(here, variant, 64) for variant in (CHARM, NODE))
    if 8 in charm:
        yield _time(1, "backward_low_ms", charm[8])
    if 16 in node and 32 in node:
        yield _change(2, "longer_percent", equations.longer(node[32].time_s, node[16].time_s), node[32], node[16])


def figure_3_5_here(here: Here) -> Iterator[Measured]:
    few, many = on_nodes(here, NODE, 64), on_nodes(here, NODE, 16)
    if 16 in few and 64 in many:
        shorter = equations.shorter(many[64].time_s, few[16].time_s)
        yield _change(2, "shorter_percent", shorter, many[64], few[16])


def table_3_1_here(here: Here) -> Iterator[Measured]:
    for number, row in enumerate(rows_of(NAME, "table-3.1"), 1):
        place = {"ranks": int(row["nodes"]), "threads": int(row["threads"])}
        point = fastest(here.transforms(NODE, LARGE, direction="backward", **place))
        if point is not None:
            yield _time(number, "backward_ms", point)


def by_threads(here: Here, direction: str, z_to_y: str = "one-thread") -> dict[int, Point]:
    """Charm-NodeFFT's method by worker threads, on the ranks with most of them; the largest shape that was measured."""
    found = [
        point
        for shape in (LARGE, SMALL)
        for point in here.transforms(NODE, shape, direction=direction)
        if (point.method.option("z-to-y") or "threads") == z_to_y and point.method.option("style") == "charm"
    ]
    lines = [
        curve(same, lambda point: point.cell.contract.threads)
        for same in group_by(found, lambda point: (point.cell.shape, point.cell.place.nodes, point.cell.ranks))
    ]
    return max(lines, key=len, default={})


def gain_of_threads(by_count: dict[int, Point]) -> float:
    """The time with fewest threads over the least with more."""
    fewest = min(by_count)
    return by_count[fewest].time_s / min(point.time_s for count, point in by_count.items() if count > fewest)


def figure_3_1_here(here: Here) -> Iterator[Measured]:
    forward, backward = (by_threads(here, direction) for direction in ("forward", "backward"))
    if min(len(forward), len(backward)) > 1:
        ratio = gain_of_threads(backward) / gain_of_threads(forward)
        one = backward[max(backward)]
        said = f"gain of threads over that of the forward transform, {what_text(one)}"
        yield Measured(1, "curve", ratio, len(one.measured), said)


ALLOCATIONS = {"default": "pageable", "pinned": "pinned", "unified": "managed"}  # Table 4.2 to host-memory
LARGEST = (500,) * 3
STATES = 3  # Z, Y and X, each with copies and transforms of its own


def allocated(points: Iterable[Point], allocation: str) -> list[Point]:
    """The points with this kind of host memory of Table 4.2; for any other word those without a device."""
    memory = ALLOCATIONS.get(allocation)
    if memory is None:
        return [one for one in points if one.method.option("offload") is None]
    offloaded = [one for one in points if one.method.option("offload")]
    return [one for one in offloaded if (one.method.option("host-memory") or "pinned") == memory]


def offloaded_here(here: Here) -> list[Point]:
    """Both methods on 300³ there and back, each state's pencils of a rank in one launch on a real device: Charm-NodeFFT
    first, of which Table 4.1 is."""
    found = [
        fastest(
            [
                one
                for one in here.transforms(variant, LARGE, direction="roundtrip")
                if one.method.option("offload") == launch and one.device is not None
            ]
        )
        for variant, launch in ((NODE, "pencil"), (CHARM, "rank"))
    ]
    return [point for point in found if point is not None]


def table_4_1_here(here: Here) -> Iterator[Measured]:
    """Copies of a rank's pencils and their transforms, forward and backward: of the GPU's busy time. The transforms of
    each axis are timed alone. Our pencils need no conversion."""
    for point in offloaded_here(here):
        busy = sum(point.phases.get(phase, 0.0) for phase in ("h2d", "d2h", "fft"))
        for number, phase, operations in ((1, "h2d", point.device.h2d_copies), (2, "d2h", point.device.d2h_copies)):
            yield from _operation(number, point, point.phases.get(phase, 0.0), operations, busy)
        for number, time_s in enumerate(axis_times(point), 4):
            yield from _operation(number, point, time_s, 2, busy)


def axis_times(point: Point) -> list[float]:
    """Transforms along each axis, forward and backward together, in the order of the forward ones; [] where the states
    of a rank are not three, or were not timed alone."""
    names = [(f"fft-{state}", f"backward fft-{STATES + 1 - state}") for state in range(1, STATES + 1)]
    if not all(name in point.components for both in names for name in both):
        return []
    return [sum(point.components[name] for name in both) for both in names]


def _operation(row: int, point: Point, time_s: float, operations: float, busy_s: float) -> Iterator[Measured]:
    values = {
        "total_ms": 1e3 * time_s,
        "average_ms": 1e3 * time_s / operations,
        "operations": operations,
        "share_percent": 100 * equations.share(time_s, busy_s),
    }
    for column, value in values.items():
        yield Measured(row, column, value, len(point.measured), what_text(point))


def table_4_2_here(here: Here) -> Iterator[Measured]:
    for number, row in enumerate(rows_of(NAME, "table-4.2"), 1):
        for direction in ("forward", "backward"):
            found = here.transforms(NODE, LARGEST, direction=direction, ranks=4)
            point = fastest(allocated(found, row["allocation"]))
            if point is not None:
                yield Measured(number, f"{direction}_s", point.time_s, len(point.measured), what_text(point))


def by_nodes(here: Here, allocation: str) -> dict[int, Point]:
    """Charm-NodeFFT's method backward on 300³ with this kind of host memory, or none, by nodes with a rank each."""
    found = here.transforms(NODE, LARGE, direction="backward")
    return curve(
        [one for one in allocated(found, allocation) if one.cell.place.ranks_per_node == 1],
        lambda point: point.cell.place.nodes,
    )


def figure_4_1_here(here: Here) -> Iterator[Measured]:
    fftw, cufft = by_nodes(here, ""), by_nodes(here, "default")
    for number, row in enumerate(rows_of(NAME, "figure-4.1"), 1):
        nodes = int(row["nodes"])
        if nodes in fftw and nodes in cufft:
            shorter = equations.shorter(cufft[nodes].time_s, fftw[nodes].time_s)
            yield _change(number, "shorter_percent", shorter, cufft[nodes], fftw[nodes])


def figure_4_2_here(here: Here) -> Iterator[Measured]:
    """Times over that of the default on the most nodes."""
    default = by_nodes(here, "default")
    for number, row in enumerate(rows_of(NAME, "figure-4.2"), 1):
        found = by_nodes(here, row["allocation"])
        both = set(found) & set(default)
        if both:
            one, other = found[max(both)], default[max(both)]
            launches = min(len(one.measured), len(other.measured))
            said = f"times over those of the default, {what_text(one)}"
            yield Measured(number, "curve", one.time_s / other.time_s, launches, said)


def several_here(here: Here, item: str) -> Iterator[Measured]:
    """Instances at once, there and back: the time until the last is done, and the means of both ways over them. The
    way back of one begins when its way there is through on its last rank."""
    data = printed(NAME, item)
    for number, row in enumerate(data["rows"], 1):
        many = int(row["instances"])
        found = here.transforms(NODE, SMALL, direction="roundtrip", ranks=int(row["nodes"]), instances=many)
        wanted = data["setup"]["placement"] if many > 1 else ""
        point = fastest([one for one in found if one.method.placement == wanted])
        if point is None:
            continue
        yield _time(number, "completion_ms", point)
        for column, time_s in zip(("forward_ms", "backward_ms"), _both_ways(point), strict=False):
            yield Measured(number, column, 1e3 * time_s, len(point.measured), what_text(point))


def _both_ways(point: Point) -> tuple[float, ...]:
    """The means of both ways; () where records have them not."""
    if point.cell.contract.instances > 1:
        return point.instance_means_s or ()
    if point.forward_mean_s is None or point.mean_s is None:
        return ()
    return point.forward_mean_s, point.mean_s - point.forward_mean_s


def _time(row: int, column: str, point: Point) -> Measured:
    return Measured(row, column, 1e3 * point.time_s, len(point.measured), what_text(point))


def _change(row: int, column: str, share: float, point: Point, other: Point) -> Measured:
    launches = min(len(point.measured), len(other.measured))
    return Measured(row, column, 100 * share, launches, f"{what_text(point)}, against {other.label}")
