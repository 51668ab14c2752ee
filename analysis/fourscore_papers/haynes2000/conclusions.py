"""The tests of what haynes2000 concludes in its section 5; claims.toml has the sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, SIMULATED, Finding, Tests
from fourscore_analysis.papers.here import Here
from fourscore_analysis.points.points import Point, fastest, group_by
from fourscore_analysis.points.units import digits, ranks_text, ratio_text, shape_text

from fourscore_papers.haynes2000 import equations
from fourscore_papers.haynes2000.meetings import NEW, TRADITIONAL
from fourscore_papers.haynes2000.numbers import SIMULATED_EXTENTS, printed_alpha_beta, simulated_here
from fourscore_papers.haynes2000.pairwise_phases import alpha_beta_bytes, communication_s, over_alpha

TESTS = Tests()
PAIRWISE, AT_ONCE = "pairwise", "p2p"
WAYS = {PAIRWISE: "with its messages one after the other", AT_ONCE: "with all its messages under way at once"}
ONE_SIDED = "one-sided"  # value of the parameter `messages` of danielson-lanczos
NEAR = 0.05  # relative difference up to which times are those of an equation
RISE = 0.02  # relative difference below which ratios count as equal
MANY = 16  # nodes from which on the method is expected to win
NODES, EXTENT = 64, 64  # nodes of the Origin 2000; a grid as electronic structure calculations have them
Pair = tuple[Point, Point]  # new and traditional


def pairs(here: Here) -> Iterator[tuple[str, str, dict[tuple[int, int], Pair]]]:
    """Evidence, how the traditional method's messages go in words, and both methods by extent and nodes: a rank a node,
    cubes, the fastest of each."""
    real = [
        point
        for name in (NEW, TRADITIONAL)
        for point in here.transforms(name)
        if len(point.cell.shape) == 3
        and len(set(point.cell.shape)) == 1
        and point.cell.ranks == point.cell.place.nodes > 1
    ]
    found = {}
    for same in group_by(real, lambda one: (one.cell, one.measured[0].machine_hash, one.measured[0].code_hash)):
        new, old = (fastest([one for one in same if one.method.variant == name]) for name in (NEW, TRADITIONAL))
        if new and old:
            found[new.cell.shape[0], new.cell.ranks] = (new, old)
    yield MEASURED, "with its fastest exchange", found
    simulated = [point for extent in SIMULATED_EXTENTS for point in simulated_here(here, extent)]
    for exchange, words in WAYS.items():
        yield SIMULATED, words, dict(_simulated_pairs(simulated, exchange))


def _simulated_pairs(points: Sequence[Point], exchange: str) -> Iterator[tuple[tuple[int, int], Pair]]:
    for same in group_by(points, lambda one: (one.cell.shape, one.cell.ranks)):
        new = next((one for one in same if one.method.variant == NEW), None)
        old = next((one for one in same if (one.method.variant, one.method.exchange) == (TRADITIONAL, exchange)), None)
        if new and old:
            yield (new.cell.shape[0], new.cell.ranks), (new, old)


def ratios(found: Mapping[tuple[int, int], Pair]) -> dict[tuple[int, int], float]:
    """Communication of the new method over that of the traditional one, by extent and nodes."""
    return {
        key: communication_s(new) / communication_s(old)
        for key, (new, old) in sorted(found.items())
        if communication_s(new) and communication_s(old)
    }


def cube(extent: int) -> str:
    return shape_text((extent,) * 3)


# ---- messages and bytes


def _sent(here: Here) -> Iterator[tuple[str, Pair]]:
    """Both methods on the most nodes, with the pairwise exchange where simulated."""
    for evidence, words, found in pairs(here):
        counted = {key: pair for key, pair in found.items() if all(point.traffic for point in pair)}
        if counted and words != WAYS[AT_ONCE]:
            yield evidence, counted[max(counted, key=lambda key: (key[1], key[0]))]


@TESTS.of("fewer-messages")
def fewer_messages(here: Here) -> Iterator[Finding]:
    new, old = equations.new_messages(NODES), equations.traditional_messages(NODES)
    yield Finding(EQUATIONS, new < old, f"on {NODES} nodes a node sends {new:g} messages in place of {old:g}")
    for evidence, (ours, theirs) in _sent(here):
        nodes = ours.cell.ranks
        sent, of_old = ours.traffic.messages, theirs.traffic.messages
        said = f"on {ranks_text(nodes)} one sends {digits(sent)} messages in place of {digits(of_old)}"
        yield Finding(evidence, sent == equations.new_messages(nodes) < of_old, said)


@TESTS.of("more-bytes")
def more_bytes(here: Here) -> Iterator[Finding]:
    new = equations.new_messages(NODES) * equations.new_packet_bytes(EXTENT**3, NODES)
    old = equations.traditional_messages(NODES) * equations.traditional_packet_bytes(EXTENT**3, NODES)
    said = f"on {NODES} nodes a node sends {ratio_text(new / old)} times the bytes of the traditional method"
    yield Finding(EQUATIONS, new > old, said)
    for evidence, (ours, theirs) in _sent(here):
        ratio = ours.traffic.bytes_sent / theirs.traffic.bytes_sent
        nodes, of = ranks_text(ours.cell.ranks), cube(ours.cell.shape[0])
        said = f"on {nodes} one sends {ratio_text(ratio)} times the bytes, {of}"
        yield Finding(evidence, ratio > 1, said)


# ---- equations 4 and 5


def _over_equation(points: Sequence[Point], equation) -> list[float]:
    """Simulated communication over what the equation gives with latency and bandwidth of the simulated network."""
    found = []
    for point in points:
        value, product = over_alpha(point), alpha_beta_bytes(point)
        if value and product:
            found.append(value / equation(point.cell.elements, point.cell.ranks, product))
    return found


def _equation_finding(over: Sequence[float], equation: str, words: str) -> Finding:
    said = f"it takes {ratio_text(min(over))} to {ratio_text(max(over))} times {equation} {words}, {len(over)} points"
    return Finding(SIMULATED, all(abs(one - 1) <= NEAR for one in over), said)


@TESTS.of("equation-4-holds")
def equation_4(here: Here) -> Iterator[Finding]:
    for evidence, words, found in pairs(here):
        over = _over_equation([old for _, old in found.values()], equations.traditional)
        if evidence == SIMULATED and over:
            yield _equation_finding(over, "Eq. 4", words)


@TESTS.of("equation-5-holds")
def equation_5(here: Here) -> Iterator[Finding]:
    points = [
        point
        for extent in SIMULATED_EXTENTS
        for point in simulated_here(here, extent)
        if point.method.variant == NEW and point.cell.ranks > 1
    ]
    over = _over_equation(points, equations.new)
    if over:
        yield _equation_finding(over, "Eq. 5", "on the simulated cluster")


# ---- where the new method wins


def by_equations(extent: int, nodes: int, alpha_beta: float) -> float:
    """Eq. 5 over Eq. 4."""
    return equations.new(extent**3, nodes, alpha_beta) / equations.traditional(extent**3, nodes, alpha_beta)


@TESTS.of("wins-on-many-processors")
def many_processors(here: Here) -> Iterator[Finding]:
    few, many = (by_equations(EXTENT, nodes, printed_alpha_beta()) for nodes in (4, 1024))
    said = f"{cube(EXTENT)} takes {ratio_text(few)} times as long on 4 nodes, {ratio_text(many)} times on 1,024"
    yield Finding(EQUATIONS, many < 1, said)
    for evidence, words, found in pairs(here):
        over = ratios(found)
        most = {extent: max(nodes for of, nodes in over if of == extent) for extent, _ in over}
        on_most = {extent: over[extent, nodes] for extent, nodes in most.items() if nodes >= MANY}
        if on_most:
            times = ", ".join(f"{ratio_text(one)} at {cube(of)} on {most[of]}" for of, one in on_most.items())
            said = f"it takes so many times as long as the traditional method {words}: {times} nodes"
            wins = [one < 1 for one in on_most.values()]
            holds = wins[0] if len(set(wins)) == 1 else None
            yield Finding(evidence, holds, said)


@TESTS.of("wins-on-small-grids")
def small_grids(here: Here) -> Iterator[Finding]:
    over = [by_equations(extent, NODES, printed_alpha_beta()) for extent in SIMULATED_EXTENTS]
    said = f"on {NODES} nodes it takes {_list(over)} times as long at {_cubes(SIMULATED_EXTENTS)}"
    yield Finding(EQUATIONS, rises(over), said)
    for evidence, words, found in pairs(here):
        over_all = ratios(found)
        most = max((nodes for _, nodes in over_all), default=0)
        of_most = {extent: ratio for (extent, nodes), ratio in over_all.items() if nodes == most}
        if len(of_most) > 1:
            said = (
                f"on {most} nodes it takes {_list(of_most.values())} times as long at {_cubes(of_most)} as the "
                f"traditional method {words}"
            )
            yield Finding(evidence, rises(list(of_most.values())), said)


def rises(values: Sequence[float]) -> bool:
    return all(other >= one * (1 - RISE) for one, other in pairwise(values)) and values[-1] > values[0]


def _list(values) -> str:
    return ", ".join(ratio_text(value) for value in values)


def _cubes(extents) -> str:
    return ", ".join(cube(extent) for extent in extents)


@TESTS.of("useful-for-electronic-structure")
def electronic_structure(here: Here) -> Iterator[Finding]:
    first = next((2**k for k in range(2, 13) if by_equations(EXTENT, 2**k, printed_alpha_beta()) < 1), math.inf)
    said = f"with 2 kB the new method wins at {cube(EXTENT)} from {first:,} nodes on, of the powers of two from 4 on"
    yield Finding(EQUATIONS, first <= 1024, said)
    for evidence, words, found in pairs(here):
        over = {nodes: ratio for (extent, nodes), ratio in ratios(found).items() if extent == EXTENT}
        if over and max(over) >= NODES:
            nodes = max(over)
            said = (
                f"{cube(EXTENT)} on {nodes} nodes takes {ratio_text(over[nodes])} times as long as the traditional "
                f"method {words}"
            )
            yield Finding(evidence, over[nodes] < 1, said)


@TESTS.of("crossover-by-latency-and-bandwidth")
def by_product(_: Here) -> Iterator[Finding]:
    over = [
        equations.new_time_s(EXTENT**3, NODES, alpha_s, beta)
        / equations.traditional_time_s(EXTENT**3, NODES, alpha_s, beta)
        for alpha_s, beta in ((160e-6, 12.5e6), (1.6e-6, 1.25e9))
    ]
    said = (
        f"{cube(EXTENT)} on {NODES} nodes takes {ratio_text(over[0])} times as long with 160 µs and 12.5 MB/s, and "
        f"{ratio_text(over[1])} times with 1.6 µs and 1.25 GB/s, whose product is the same"
    )
    yield Finding(EQUATIONS, abs(over[1] / over[0] - 1) < 1e-9, said)


@TESTS.of("clusters-rather-than-supercomputers")
def clusters(_: Here) -> Iterator[Finding]:
    slow, fast = (equations.crossover_elements(NODES, product) ** (1 / 3) for product in (2e3, 2e2))
    said = (
        f"on {NODES} nodes it wins below {slow:.0f}³ with a latency of 2 kB, and below {fast:.0f}³ with a tenth of it"
    )
    yield Finding(EQUATIONS, fast < slow, said)


@TESTS.of("lower-level-messages-have-less-latency")
def lower_level(here: Here) -> Iterator[Finding]:
    """The new method over one-sided messages against two-sided ones: the smallest cube, on the most nodes."""
    found = [
        point
        for point in here.transforms(NEW)
        if len(point.cell.shape) == 3 and point.cell.ranks == point.cell.place.nodes > 1 and communication_s(point)
    ]
    groups = group_by(found, lambda one: (one.cell, one.measured[0].machine_hash, one.measured[0].code_hash))
    both = [
        (one_sided, two_sided)
        for same in groups
        if (one_sided := fastest([one for one in same if one.method.option("messages") == ONE_SIDED]))
        and (two_sided := fastest([one for one in same if one.method.option("messages") != ONE_SIDED]))
    ]
    if both:
        new, old = min(both, key=lambda pair: (pair[0].cell.elements, -pair[0].cell.ranks))
        ratio = communication_s(new) / communication_s(old)
        said = (
            f"{cube(new.cell.shape[0])} on {new.cell.ranks} nodes takes {ratio_text(ratio)} times as long over "
            "one-sided messages as over two-sided ones"
        )
        yield Finding(MEASURED, ratio < 1, said)
