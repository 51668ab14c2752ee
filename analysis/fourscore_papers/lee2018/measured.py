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
