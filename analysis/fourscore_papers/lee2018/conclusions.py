"""The tests of what lee2018 concludes; claims.toml has the sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, PRINTED, SIMULATED, Finding, Tests
from fourscore_analysis.papers.here import Here
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import digits, ranks_text, ratio_text, time_text
from fourscore_analysis.records.published import published

from fourscore_papers.lee2018 import equations, readings
from fourscore_papers.lee2018.measured import (
    ALLOCATIONS,
    CHARM,
    LARGE,
    NAME,
    NODE,
    SMALL,
    allocated,
    by_nodes,
    by_threads,
    curve,
    decomposed,
    gain_of_threads,
    offloaded_here,
    on_nodes,
    simulated_on_nodes,
)
from fourscore_papers.lee2018.more_nodes import PLATFORM
from fourscore_papers.lee2018.receives import figure_3_2_here

TESTS = Tests()
MARGIN = 1.05  # times as fast from which one is faster
FEW, MANY = 4, 64  # nodes on which the methods are compared; from which on there are many
LEAST_CORES = 25  # with fewer, even the 25 pencils of the coarsest decomposition are more than one a core
KNIGHTS = "knl-omni-path"  # in papers/lee2018/threads-simulated
THREADS = (4, 16, 32)  # the fewest, the best and the most of Table 3.1


def times_text(times_s: Mapping[object, float]) -> str:
    """41 ms (10x10), 45 ms (15x15)"""
    return ", ".join(f"{time_text(time_s)} ({what})" for what, time_s in times_s.items())


# ---- chapter 2: pencils


def _by_pencils(here: Here) -> Iterator[tuple[str, str, int, dict[str, float]]]:
    """Evidence, direction, cores, and times by decomposition, by rising pencils."""
    table = published(NAME, "table-2.1")
    for direction in ("forward", "backward"):
        printed = {row["decomposition"]: row[f"{direction}_ms"] / 1e3 for row in table.rows}
        yield PRINTED, direction, int(table.setup["cores"]), printed
        points = decomposed(here, direction)
        found = {cut: points[cut].time_s for cut in printed if cut in points}
        if len(found) > 2:
            yield MEASURED, direction, next(iter(points.values())).cell.ranks, found


@TESTS.of("one-pencil-a-core-is-best")
def one_pencil_a_core(here: Here) -> Iterator[Finding]:
    for evidence, direction, cores, times in _by_pencils(here):
        if cores < LEAST_CORES:
            continue
        best = min(times, key=times.__getitem__)
        pencils = _pencils(best)
        said = (
            f"{best} is fastest {direction}, {digits(pencils / cores, 2)} pencils of a state for each of {cores} cores"
        )
        yield Finding(evidence, 0.5 <= pencils / cores <= 2, said)


def _pencils(decomposition: str) -> int:
    first, second = map(int, decomposition.split("x"))
    return equations.pencils((first, second))


@TESTS.of("messages-eat-the-gain-of-small-pencils")
def smaller_share(here: Here) -> Iterator[Finding]:
    shares = [published(NAME, item).rows[0]["fft_percent"] for item in ("figure-2.2", "figure-2.3")]
    yield _share_finding(PRINTED, *shares)
    found = decomposed(here, "backward")
    ours = [found[cut].phases for cut in ("10x10", "20x20") if cut in found and "fft" in found[cut].phases]
    if len(ours) == 2:
        yield _share_finding(MEASURED, *(100 * phases["fft"] / sum(phases.values()) for phases in ours))


def _share_finding(evidence: str, coarse: float, fine: float) -> Finding:
    said = f"transforms take {digits(coarse)} % of the time with 10x10 pencils and {digits(fine)} % with 20x20"
    return Finding(evidence, fine < coarse, said)


# ---- chapter 3: nodes


@TESTS.of("fewer-messages-with-a-pencil-a-node")
def fewer_messages(here: Here) -> Iterator[Finding]:
    charm, node = readings.messages(readings.PAIRS)
    said = f"in six transforms a PE of Charm-FFT receives {charm:.0f} messages, a node of Charm-NodeFFT {node:.0f}"
    yield Finding(EQUATIONS, node < charm, said)
    charm, node = (row["messages"] for row in published(NAME, "figure-3.2").rows)
    yield Finding(PRINTED, node < charm, f"just over {charm} messages, and below {node}")
    found = {one.row: one.value for one in figure_3_2_here(here)}
    if len(found) == 2:
        said = f"in six transforms a worker receives {digits(found[1])} messages, a node {digits(found[2])}"
        yield Finding(MEASURED, found[2] < found[1], said)


@TESTS.of("sixteen-threads-are-best")
def sixteen_threads(here: Here) -> Iterator[Finding]:
    table = published(NAME, "table-3.1")
    for nodes in sorted({row["nodes"] for row in table.rows}):
        rows = [row for row in table.rows if row["nodes"] == nodes]
        times = {row["threads"]: row["backward_ms"] / 1e3 for row in rows}
        yield _thread_finding(PRINTED, nodes, times)
    for evidence, platform in ((MEASURED, "none"), (SIMULATED, KNIGHTS)):
        points = here.transforms(NODE, LARGE, direction="backward", platform=platform)
        for nodes in sorted({point.cell.place.nodes for point in points}):
            same = [one for one in points if one.cell.place.nodes == one.cell.ranks == nodes]
            found = curve(same, lambda one: one.cell.contract.threads)
            if set(THREADS) <= set(found):
                times = {threads: found[threads].time_s for threads in sorted(found)}
                yield _thread_finding(evidence, nodes, times)


def _thread_finding(evidence: str, nodes: int, times: Mapping[int, float]) -> Finding:
    best = min(times, key=times.__getitem__)
    return Finding(evidence, best == THREADS[1], f"on {nodes} nodes {best} threads are fastest of {times_text(times)}")


@TESTS.of("one-thread-from-z-to-y-holds-the-forward-transform-back")
def one_thread(here: Here) -> Iterator[Finding]:
    row = published(NAME, "table-5.1").rows[0]
    said = (
        f"one instance on 8 nodes of 24 cores takes {row['forward_ms']} ms forward and {row['backward_ms']} ms backward"
    )
    yield Finding(PRINTED, row["forward_ms"] > MARGIN * row["backward_ms"], said)
    forward, backward = (by_threads(here, direction) for direction in ("forward", "backward"))
    if min(len(forward), len(backward)) > 1:
        gains = [gain_of_threads(by_count) for by_count in (forward, backward)]
        where = ranks_text(next(iter(forward.values())).cell.ranks)
        said = (
            f"on {where} threads make the forward transform {ratio_text(gains[0])} times as fast, the backward one %s"
        )
        yield Finding(MEASURED, gains[1] > MARGIN * gains[0], said % f"{ratio_text(gains[1])} times")


def methods_on_nodes(here: Here) -> Iterator[tuple[str, dict[str, dict[int, Point]]]]:
    """Evidence, and both methods backward on 300³ by nodes: with as many cores of each node, or simulated."""
    for evidence, points_of in ((MEASURED, on_nodes), (SIMULATED, simulated_on_nodes)):
        found = {name: [points_of(here, name, count) for count in (64, 16)] for name in (CHARM, NODE)}
        best = {name: _fastest_by_nodes(of) for name, of in found.items()}
        if all(best.values()):
            yield evidence, best
    simulated = {
        name: {one.cell.place.nodes: one for one in here.simulated(PLATFORM, name, LARGE, direction="backward")}
        for name in (CHARM, NODE)
    }
    if all(simulated.values()):
        yield SIMULATED, simulated


def _fastest_by_nodes(found: list[dict[int, Point]]) -> dict[int, Point]:
    every = [(nodes, point) for by_count in found for nodes, point in by_count.items()]
    return dict(sorted(every, key=lambda pair: (pair[0], -pair[1].time_s)))


@TESTS.of("charm-fft-is-faster-on-few-nodes")
def faster_on_few(here: Here) -> Iterator[Finding]:
    charm = min(row["backward_ms"] for row in published(NAME, "table-2.1").rows)
    node = min(row["backward_ms"] for row in published(NAME, "table-3.1").rows if row["nodes"] == FEW)
    said = f"on {FEW} nodes the best of Table 2.1 is {charm} ms, that of Table 3.1 {node} ms"
    yield Finding(PRINTED, node > MARGIN * charm, said)
    for evidence, found in methods_on_nodes(here):
        if all(FEW in by_count for by_count in found.values()):
            charm, node = (found[name][FEW].time_s for name in (CHARM, NODE))
            said = (
                f"on {FEW} nodes {CHARM} takes {time_text(charm)} and {NODE} {time_text(node)}, "
                f"{100 * equations.longer(node, charm):.0f} % more"
            )
            yield Finding(evidence, node > MARGIN * charm, said)


@TESTS.of("charm-fft-levels-off-first")
def levels_off(here: Here) -> Iterator[Finding]:
    for evidence, found in methods_on_nodes(here):
        both = sorted(set(found[CHARM]) & set(found[NODE]))
        few = [nodes for nodes in both if nodes < both[-1] / 2] if both else []
        if few and both[-1] >= MANY:
            start, end = few[-1], both[-1]
            charm, node = (found[name][start].time_s / found[name][end].time_s for name in (CHARM, NODE))
            faster = f"{CHARM} {ratio_text(charm)} times as fast, {NODE} {ratio_text(node)} times"
            said = f"{end} nodes in place of {start} make {faster}"
            yield Finding(evidence, node > MARGIN * charm, said)


@TESTS.of("many-nodes-with-few-cores-suit-nodefft")
def many_nodes(here: Here) -> Iterator[Finding]:
    row = next(row for row in published(NAME, "figure-3.5").rows if row["shorter_percent"] is not None)
    said = f"{row['nodes']} nodes of 16 take {row['shorter_percent']} % less than {row['against_nodes']} of 64"
    yield Finding(PRINTED, row["shorter_percent"] > 0, said)
    for evidence, points_of in ((MEASURED, on_nodes), (SIMULATED, simulated_on_nodes)):
        wide, narrow = points_of(here, NODE, 64), points_of(here, NODE, 16)
        both = [nodes for nodes in sorted(wide) if 4 * nodes in narrow]
        if both:
            few, many = both[-1], 4 * both[-1]
            times = {f"{few} x 64": wide[few].time_s, f"{many} x 16": narrow[many].time_s}
            said = f"{64 * few:,} cores take {times_text(times)}"
            yield Finding(evidence, wide[few].time_s > MARGIN * narrow[many].time_s, said)


# ---- chapter 4: a GPU


@TESTS.of("copies-fill-the-gpus-time")
def copies(here: Here) -> Iterator[Finding]:
    shares = [row["share_percent"] for row in published(NAME, "table-4.1").rows[:2]]
    yield Finding(PRINTED, sum(shares) > 97, f"both copies of Table 4.1 are {sum(shares):.1f} %")
    for point in offloaded_here(here):
        copied = sum(point.phases.get(phase, 0.0) for phase in ("h2d", "d2h"))
        share = equations.share(copied, copied + point.phases.get("fft", 0.0))
        yield Finding(MEASURED, share > 0.9, f"copies take {100 * share:.0f} % of the time of {point.label}'s device")


@TESTS.of("gpu-gains-less-with-more-nodes")
def gpu_gains(here: Here) -> Iterator[Finding]:
    rows = published(NAME, "figure-4.1").rows
    yield _gain_finding(PRINTED, {row["nodes"]: row["shorter_percent"] for row in rows})
    fftw, cufft = by_nodes(here, ""), by_nodes(here, "default")
    shorter = {
        nodes: 100 * equations.shorter(cufft[nodes].time_s, fftw[nodes].time_s)
        for nodes in sorted(set(fftw) & set(cufft))
    }
    if len(shorter) > 1:
        yield _gain_finding(MEASURED, shorter)


def _gain_finding(evidence: str, shorter: Mapping[int, float]) -> Finding:
    few, many = min(shorter), max(shorter)
    nodes = f"{digits(shorter[few])} % on {few} node{'s' * (few > 1)} and {digits(shorter[many])} % on {many}"
    said = f"the GPU makes the transform shorter by {nodes}"
    return Finding(evidence, shorter[few] > max(0.0, shorter[many]), said)


@TESTS.of("pageable-memory-is-fastest")
def pageable(here: Here) -> Iterator[Finding]:
    rows = {row["allocation"]: row["backward_s"] for row in published(NAME, "table-4.2").rows}
    yield _memory_finding(PRINTED, {name: rows[name] for name in ALLOCATIONS}, "500³ on 4 nodes")
    largest = here.transforms(NODE, (500,) * 3, direction="backward", ranks=4)
    for where, found in (
        (
            "500³ on 4 nodes",
            {name: curve(allocated(largest, name), lambda one: one.cell.ranks) for name in ALLOCATIONS},
        ),
        ("300³ on the most nodes", {name: by_nodes(here, name) for name in ALLOCATIONS}),
    ):
        both = set.intersection(*(set(of) for of in found.values()))
        if both:
            yield _memory_finding(MEASURED, {name: of[max(both)].time_s for name, of in found.items()}, where)


def _memory_finding(evidence: str, times: Mapping[str, float], where: str) -> Finding:
    rest = [time_s for name, time_s in times.items() if name != "default"]
    return Finding(evidence, times["default"] < min(rest), f"{where} takes {times_text(times)}")


# ---- chapter 5: instances


def _instances(here: Here, placement: str, many: int | None = None) -> dict[tuple[int, int], Point]:
    """There and back on 100³, by instances and nodes, a rank each."""
    points = [
        point
        for count in ((1, 2, 3, 4, 8, 16) if many is None else (many,))
        for point in here.transforms(NODE, SMALL, direction="roundtrip", instances=count)
        if point.method.placement in ("", placement) and point.cell.place.ranks_per_node == 1
    ]
    return curve(points, lambda point: (point.cell.contract.instances, point.cell.place.nodes))


@TESTS.of("instances-on-all-nodes-wait-for-cores")
def wait_for_cores(here: Here) -> Iterator[Finding]:
    rows = published(NAME, "table-5.1").rows
    yield _waiting_finding(PRINTED, {row["instances"]: row["completion_ms"] / 1e3 for row in rows}, 8)
    found = _instances(here, "all")
    nodes = max((count for _, count in found), default=0)
    times = {many: found[many, nodes].time_s for many in (1, 2, 4, 8, 16) if (many, nodes) in found}
    if nodes > 1 and {1, 16} <= set(times):
        yield _waiting_finding(MEASURED, times, nodes)


def _waiting_finding(evidence: str, times: Mapping[int, float], nodes: int) -> Finding:
    """Few instances take no longer than one, and many do."""
    few, many = times[2] / times[1] if 2 in times else 1.0, times[16] / times[1]
    said = f"2 instances take {ratio_text(few)} times as long as one on {nodes} nodes, 16 take {ratio_text(many)} times"
    return Finding(evidence, many > 1.5 > few, said)


@TESTS.of("instances-on-subsets-run-at-once")
def run_at_once(here: Here) -> Iterator[Finding]:
    rows = published(NAME, "table-5.2").rows
    yield _subset_finding(PRINTED, {row["nodes"]: row["completion_ms"] / 1e3 for row in rows})
    found = _instances(here, "subset", 2)
    times = {nodes: point.time_s for (_, nodes), point in sorted(found.items()) if nodes > 1}
    if len(times) > 1:
        yield _subset_finding(MEASURED, times)


def _subset_finding(evidence: str, times: Mapping[int, float]) -> Finding:
    few, many = min(times), max(times)
    less = 100 * equations.shorter(times[many], times[few])
    said = f"two instances on {many} nodes take {less:.0f} % less than on {few}: {times_text(times)}"
    return Finding(evidence, times[many] * MARGIN < times[few], said)
