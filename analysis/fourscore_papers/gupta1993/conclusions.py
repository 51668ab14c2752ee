"""The tests of what gupta1993 concludes; claims.toml has the sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from fourscore_analysis.isoefficiency.points import Family, Need
from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, SIMULATED, Finding, Tests
from fourscore_analysis.papers.here import Here
from fourscore_analysis.points.points import Point, fastest, group_by
from fourscore_analysis.points.units import digits, ranks_text, ratio_text, shape_text, time_text

from fourscore_papers.gupta1993 import equations, networks, readings
from fourscore_papers.gupta1993.equations import Machine
from fourscore_papers.gupta1993.isoefficiency import log2_size_kept
from fourscore_papers.gupta1993.numbers import LEAST_GAIN, MOST, lines_here, ncube1
from fourscore_papers.gupta1993.simulated import CUT_THROUGH, PLATFORMS, families_on

TESTS = Tests()
BINARY, TRANSPOSE = "binary-exchange", "transpose"
BELOW, ABOVE = 0.66, 0.87  # the outer efficiencies of Figure 3, on both sides of the threshold 0.83
LOW = 0.5  # where a simulated mesh does not keep the 0.66 of Figure 4 on several numbers of nodes
MODERATE = 1.2  # growth of log(n log n) over that of log(p log p), at most
SAME = 0.05  # relative difference up to which two times are the same
SMALL, LARGE = 1024, 65536  # points of Figure 2
COUNTS = (64, 256, 1024)


def machine() -> Machine:
    return ncube1(readings.START_S)


def of_evidence(here: Here) -> Iterator[tuple[str, list[Family]]]:
    """The families of binary exchange: the real one that is most like the paper's, and the simulated hypercube."""
    yield MEASURED, [family for family in lines_here(here)[:1] if family.has_curve]
    yield SIMULATED, families_on(here, PLATFORMS["hypercube"], BINARY)


# ---- hypercube: how the size grows


def growth(sizes: Sequence[tuple[int, float]]) -> float | None:
    """From the fewest to the most processors, of (processors, log2 n): log(n log n) over log(p log p)."""
    if len(sizes) < 2:
        return None
    (few, small), (many, large) = sizes[0], sizes[-1]
    of_size = large + math.log2(large) - small - math.log2(small)
    return of_size / (math.log2(many * math.log2(many)) - math.log2(few * math.log2(few)))


def kept(needs: Iterable[Need]) -> list[tuple[int, float]]:
    return [(need.ranks, need.log2_elements) for need in needs if need.inside]


def by_equation(curve: networks.Curve, level: float, start_s: float = 0.0) -> list[tuple[int, float]]:
    return [(count, log2_size_kept(curve.overhead, ncube1(start_s), level, count)) for count in COUNTS]


def growth_findings(here: Here, level: float, wanted: Callable[[float], bool]) -> Iterator[Finding]:
    value = growth(by_equation(networks.HYPERCUBE, level))
    if value is not None:
        said = f"with t_s = 0 n log n grows as the power {digits(value)} of p log p at E = {level:g}"
        yield Finding(EQUATIONS, wanted(value), said)
    for evidence, families in of_evidence(here):
        for family in families:
            sizes = kept(family.needs(level))
            value = growth(sizes)
            if value is not None:
                counts = f"{sizes[0][0]} to {ranks_text(sizes[-1][0])}"
                said_here = f"from {counts} n log n grows as the power {digits(value)} of p log p at E = {level:g}"
                yield Finding(evidence, wanted(value), said_here)


@TESTS.of("linear-below-the-threshold")
def linear(here: Here) -> Iterator[Finding]:
    yield from growth_findings(here, BELOW, lambda value: value <= MODERATE)


@TESTS.of("bent-above-the-threshold")
def bent(here: Here) -> Iterator[Finding]:
    yield from growth_findings(here, ABOVE, lambda value: value > MODERATE)


def last_gain(family: Family, points: int) -> tuple[int, float] | None:
    """Most ranks, and the gain of speedup for each doubling of the ranks on the way there from those before."""
    found = [one for one in family.measured if one.elements == points]
    if len(found) < 2:
        return None
    before, last = found[-2:]
    doublings = math.log2(last.ranks / before.ranks)
    return last.ranks, (last.speedup.value / before.speedup.value) ** (1 / doublings)


@TESTS.of("small-transforms-saturate")
def saturate(here: Here) -> Iterator[Finding]:
    for evidence, families in of_evidence(here):
        for family in families:
            small, large = (last_gain(family, points) for points in (SMALL, LARGE))
            if small and large and min(small[0], large[0]) >= MOST // 2:
                said = (
                    f"the last doubling, to {ranks_text(small[0])}, gains a factor of {ratio_text(small[1])} at "
                    f"{SMALL:,} points and of {ratio_text(large[1])} at {LARGE:,}"
                )
                yield Finding(evidence, small[1] < LEAST_GAIN <= large[1], said)


@TESTS.of("meshes-do-not-scale")
def meshes(here: Here) -> Iterator[Finding]:
    cube, mesh = (growth(by_equation(curve, BELOW)) for curve in (networks.HYPERCUBE, networks.MESH))
    if cube and mesh:
        said = f"n log n grows as the power {digits(mesh, 2)} of p log p on a mesh, {digits(cube, 2)} on a hypercube"
        said = f"with t_s = 0 and E = {BELOW:g}, from 64 to {COUNTS[-1]:,} processors, {said}"
        yield Finding(EQUATIONS, mesh > MODERATE * cube, said)
    for level in (BELOW, LOW):
        sizes = {name: _sizes_on(here, platform, level) for name, platform in PLATFORMS.items()}
        both = sorted(set(sizes["mesh"]) & set(sizes["hypercube"]))
        if len(both) > 1:
            found = {name: growth([(count, of[count]) for count in both]) or 0.0 for name, of in sizes.items()}
            said = (
                f"from {both[0]} to {both[-1]} nodes n log n grows as the power {digits(found['mesh'], 2)} of p log p "
                f"on a mesh, {digits(found['hypercube'], 2)} on a hypercube, at E = {level:g}"
            )
            yield Finding(SIMULATED, found["mesh"] > MODERATE * found["hypercube"], said)
            return


def _sizes_on(here: Here, platform: str, level: float) -> dict[int, float]:
    return dict(size for family in families_on(here, platform, BINARY) for size in kept(family.needs(level)))


@TESTS.of("cut-through-does-not-help-a-mesh")
def cut_through_mesh(_: Here) -> Iterator[Finding]:
    stored = equations.mesh_overhead(machine(), LARGE, MOST)
    ratio = equations.cut_through_mesh_overhead(machine(), LARGE, MOST) / stored
    free = equations.cut_through_mesh_overhead(machine(), LARGE, MOST, contention=False) / stored
    said = (
        f"on 1,024 processors with 65,536 points T_o is {ratio_text(ratio)} times that of store-and-forward, and would "
        f"be {ratio_text(free)} times without contention"
    )
    yield Finding(EQUATIONS, abs(ratio - 1) <= SAME, said)


# ---- transposition


@TESTS.of("transposition-needs-cut-through")
def store_and_forward(here: Here) -> Iterator[Finding]:
    of = (equations.transpose_overhead_store_and_forward, equations.hypercube_overhead, equations.transpose_overhead)
    stored, binary, cut = (overhead(machine(), LARGE, 256) for overhead in of)
    said = (
        f"on 256 processors with 65,536 points T_o of transposition is {ratio_text(stored / binary)} times that of "
        f"binary exchange, and with cut-through routing {ratio_text(cut / binary)} times"
    )
    yield Finding(EQUATIONS, stored >= binary, said)
    ratios = _transpose_over_binary(here, PLATFORMS["hypercube"])
    if ratios:
        ranks, points, ratio = ratios[-1]
        yield Finding(
            SIMULATED, ratio >= 1 - SAME, f"pair by pair {_times(ranks)} {ratio_text(ratio)} at {points:,} points"
        )


def _times(ranks: int) -> str:
    return f"on {ranks_text(ranks)} the time of transposition over that of binary exchange is"


@TESTS.of("transposition-wins-large-problems")
def transposition(here: Here) -> Iterator[Finding]:
    curves = (networks.ROUTING[0], networks.ROUTING[-1])
    found = {
        level: [dict(by_equation(curve, level, readings.START_S))[256] for curve in curves] for level in (BELOW, 0.95)
    }
    said = ", ".join(f"2^{b:.1f} and 2^{t:.1f} points at E = {level:g}" for level, (b, t) in found.items())
    holds = found[BELOW][0] < found[BELOW][1] and found[0.95][1] < found[0.95][0]
    yield Finding(EQUATIONS, holds, f"256 processors need by binary exchange and by transposition {said}")
    ratios = _transpose_over_binary(here, CUT_THROUGH)
    if len(ratios) > 1:
        (ranks, few, small), *_, (_, many, large) = ratios
        said = f"pair by pair {_times(ranks)} {ratio_text(small)} at {few:,} points and {ratio_text(large)} at {many:,}"
        yield Finding(SIMULATED, large < 1 < small, said)


def _transpose_over_binary(here: Here, platform: str) -> list[tuple[int, int, float]]:
    """(ranks, points, ratio of times) on the most ranks on which both were simulated, by rising points. Partners of
    binary exchange are neighbours, so that its routing does not matter."""
    times: dict[str, dict[tuple[int, int], float]] = {}
    for variant, platforms in ((BINARY, (PLATFORMS["hypercube"], platform)), (TRANSPOSE, (platform,))):
        found = [family for one in platforms for family in families_on(here, one, variant)]
        times[variant] = {(one.ranks, one.elements): one.point.time_s for of in found for one in of.measured}
    both = sorted(set(times[BINARY]) & set(times[TRANSPOSE]))
    return [(r, n, times[TRANSPOSE][r, n] / times[BINARY][r, n]) for r, n in both if r == both[-1][0]]


def variations(here: Here, variant: str, dimensions: int = 1) -> Iterator[tuple[str, list[Point]]]:
    """Points of a method that differ in its parameters alone, several ranks each on a node of its own, with what they
    are evidence of; the groups on most ranks, and of these with most points, last."""
    found = [
        point
        for point in here.points
        if point.method.variant == variant
        and len(point.cell.shape) == dimensions
        and point.cell.ranks == point.cell.place.nodes > 1
        and point.cell.contract.platform in ("none", PLATFORMS["hypercube"])
    ]
    groups = group_by(found, lambda one: (one.cell, one.measured[0].machine_hash, one.measured[0].code_hash))
    for group in sorted(groups, key=lambda one: (one[0].cell.ranks, one[0].cell.elements)):
        yield MEASURED if group[0].cell.contract.platform == "none" else SIMULATED, group


def last_of_each(found: Iterable[tuple[str, Finding]]) -> Iterator[Finding]:
    """One finding of each evidence: that on the most ranks."""
    yield from dict(found).values()


@TESTS.of("dimensions-between-the-two")
def dimensions(here: Here) -> Iterator[Finding]:
    starts, words = Machine(1.0, 0.0, 1.0), Machine(1.0, 1.0)
    in_order = [[equations.m_dimensional_overhead(one, LARGE, 64, m) for m in range(2, 8)] for one in (starts, words)]
    holds = in_order[0] == sorted(in_order[0], reverse=True) and in_order[1] == sorted(in_order[1])
    said = "on 64 processors from m = 2 to 7 the time of starts falls from %s to %s, and that of words rises %s-fold"
    fall = (in_order[0][0], in_order[0][-1], in_order[1][-1] / in_order[1][0])
    yield Finding(EQUATIONS, holds, said % tuple(digits(value) for value in fall))
    yield from last_of_each(_dimensions(here))


def _dimensions(here: Here) -> Iterator[tuple[str, Finding]]:
    binary = {}
    for _, group in variations(here, BINARY):
        plain = fastest([one for one in group if not one.method.options])
        if plain:
            binary[plain.cell] = plain
    best: dict[str, tuple[float, Finding]] = {}
    for evidence, group in variations(here, TRANSPOSE):
        by_m = {m: fastest([one for one in group if _m(one) == m]) for m in sorted({_m(one) for one in group})}
        between = [point for m, point in by_m.items() if m > 2 and point]
        if by_m.get(2) is None or not between or group[0].cell not in binary:
            continue
        chosen, ends = min(between, key=lambda one: one.time_s), (by_m[2], binary[group[0].cell])
        gain = min(one.time_s for one in ends) / chosen.time_s
        said = (
            f"{shape_text(chosen.cell.shape)} points on {ranks_text(chosen.cell.ranks)} take "
            f"{time_text(chosen.time_s)} with m = {_m(chosen)}, {time_text(ends[0].time_s)} with m = 2, "
            f"{time_text(ends[1].time_s)} by binary exchange"
        )
        if evidence not in best or gain > best[evidence][0]:
            best[evidence] = (gain, Finding(evidence, gain > 1, said))
    yield from ((evidence, finding) for evidence, (_, finding) in best.items())


def _m(point: Point) -> int:
    return int(point.method.option("dimensions") or 2)


# ---- section 6: arithmetic


@TESTS.of("higher-radix-communicates-as-much")
def radix(here: Here) -> Iterator[Finding]:
    yield from last_of_each(_radix(here))


def _radix(here: Here) -> Iterator[tuple[str, Finding]]:
    """Stages of a higher radix in pairwise steps, as the section has them; direct ones send more words."""
    for evidence, group in _alike(variations(here, BINARY), {"radix", "stages"}):
        pairwise = [one for one in group if _radix_of(one) == 2 or one.method.option("stages") == "pairwise"]
        by_radix = {_radix_of(same[0]): fastest(same) for same in group_by(pairwise, _radix_of)}
        seconds = {q: point.phases_max.get("exchange", 0.0) for q, point in sorted(by_radix.items()) if point}
        if len(seconds) > 1 and seconds.get(2):
            ratios = {q: value / seconds[2] for q, value in seconds.items() if q > 2}
            cell = group[0].cell
            said = (
                f"exchanges of {shape_text(cell.shape)} points on {ranks_text(cell.ranks)} take "
                f"{', '.join(map(ratio_text, ratios.values()))} times those of radix 2 with radix "
                f"{', '.join(map(str, ratios))}"
            )
            yield evidence, Finding(evidence, all(abs(one - 1) <= 2 * SAME for one in ratios.values()), said)


def _alike(found: Iterable[tuple[str, list[Point]]], but: set[str]) -> Iterator[tuple[str, list[Point]]]:
    """The same groups, of points that differ in nothing but these parameters."""
    for evidence, group in found:
        for same in group_by(group, lambda point: tuple(one for one in point.method.options if one[0] not in but)):
            yield evidence, same


def _radix_of(point: Point) -> int:
    return int(point.method.option("radix") or 2)


@TESTS.of("gains-of-serial-code-are-dampened")
def dampened(here: Here) -> Iterator[Finding]:
    serial, parallel = (equations.throughput_gain(0.25, e) for e in (1.0, 0.5))
    said = (
        f"25 % fewer operations give {100 * serial:.0f} % more on one processor and {100 * parallel:.0f} % at E = 0.5"
    )
    yield Finding(EQUATIONS, parallel < serial, said)
    pairs = []
    for family in lines_here(here):
        if family.first.method.option("local") == "radix-2":
            fast = {
                (one.ranks, one.elements): one
                for other in lines_here(here)
                if other.first.cell.contract == family.first.cell.contract
                and other.first.method.option("local") in (None, "library")
                for one in other.measured
            }
            pairs += [(one, fast[key]) for one in family.measured if (key := (one.ranks, one.elements)) in fast]
    if pairs:
        slow, fast_one = max(pairs, key=lambda pair: (pair[0].ranks, -pair[0].efficiency.value))
        saved, saved_here = (
            1 - new.time_s / old.time_s for old, new in ((slow.serial, fast_one.serial), (slow.point, fast_one.point))
        )
        said = (
            f"the library saves {100 * saved:.0f} % of the time of radix-2 passes on one rank, and "
            f"{100 * saved_here:.0f} % on {ranks_text(slow.ranks)} at E = {digits(slow.efficiency.value, 2)}, "
            f"{slow.elements:,} points"
        )
        yield Finding(MEASURED, saved_here < saved, said)


# ---- sections 7 and 10: cost


@TESTS.of("hypercube-cheaper-by-links")
def by_links(_: Here) -> Iterator[Finding]:
    counts = [2.0**power for power in range(2, 21)]
    ratios = [equations.mesh_links_cost(count) / equations.hypercube_links_cost(count) for count in counts]
    times = f"{ratio_text(min(ratios))} times its links at least"
    said = f"from 4 to 2^20 processors a mesh as fast as a hypercube has {times}"
    yield Finding(EQUATIONS, min(ratios) > 1, said)


@TESTS.of("mesh-cheaper-by-bisection")
def by_bisection(_: Here) -> Iterator[Finding]:
    """The section has 256 of its own costs, which are equal on 16: the mesh is cheaper beyond 256 the more."""
    found = readings.crossing(equations.mesh_bisection_cost)
    wrapped = readings.crossing(lambda p: 2 * equations.mesh_bisection_cost(p))
    said = (
        f"2 p / log p and p / 2 are equal at {found} processors; with 2 sqrt(p) channels in the bisection, as with "
        f"wraparound, at {wrapped}"
    )
    yield Finding(EQUATIONS, found is not None and found <= 256, said)


@TESTS.of("channels-as-wide-as-root-p")
def channels(_: Here) -> Iterator[Finding]:
    far, near = (networks.best_power(machine(), BELOW, count) for count in (2.0**400, float(MOST)))
    said = f"the best width is p^{far:g} for 2^400 processors, and p^{near:g} for 1,024, at E = {BELOW:g}"
    yield Finding(EQUATIONS, abs(far - 0.5) <= SAME, said)


# ---- appendices C and E


@TESTS.of("ordered-at-most-twice")
def ordered(here: Here) -> Iterator[Finding]:
    found = {}
    for evidence, layouts in _layouts(here):
        natural, transposed = layouts
        for key in sorted(set(natural) & set(transposed)):
            ratio = natural[key].overhead_s / transposed[key].overhead_s
            ranks, n = key
            said = f"at {n:,} points on {ranks_text(ranks)} T_o is {ratio_text(ratio)} times that of the unordered one"
            most = equations.ordered_steps(ranks) / math.log2(ranks)
            found[evidence] = Finding(evidence, ratio <= most, said)
    yield from found.values()


def _layouts(here: Here) -> Iterator[tuple[str, tuple[dict, dict]]]:
    """Natural and transposed points of binary exchange by ranks and elements, where T_o is more than nothing."""
    for evidence, platform in ((MEASURED, "none"), (SIMULATED, PLATFORMS["hypercube"])):
        of = partial(families_on, here, platform, BINARY)
        natural, transposed = (
            {(one.ranks, one.elements): one for family in of(layout) for one in family.measured if one.overhead_s > 0}
            for layout in ("natural", "transposed")
        )
        yield evidence, (natural, transposed)


@TESTS.of("two-dimensions-as-one")
def two_dimensions(here: Here) -> Iterator[Finding]:
    one, two = (
        overhead(machine(), LARGE, 256)
        for overhead in (equations.hypercube_overhead, equations.two_dimensional_overhead)
    )
    said = f"on 256 processors with 65,536 points T_o in two dimensions is {ratio_text(two / one)} times that in one"
    yield Finding(EQUATIONS, abs(two / one - 1) <= SAME, said)
    lines = {(group[0].cell.ranks, group[0].cell.elements): group for _, group in variations(here, BINARY)}
    found = {}
    for evidence, group in variations(here, BINARY, dimensions=2):
        key = (group[0].cell.ranks, group[0].cell.elements)
        both = [fastest([one for one in of if not one.method.options]) for of in (group, lines.get(key, []))]
        if evidence == SIMULATED and all(both):
            ratio = both[0].time_s / both[1].time_s
            said = (
                f"{shape_text(both[0].cell.shape)} takes {ratio_text(ratio)} times as long as {key[1]:,} points in one "
                f"dimension on {ranks_text(key[0])}"
            )
            found[evidence] = Finding(evidence, abs(ratio - 1) <= 2 * SAME, said)
    yield from found.values()


@TESTS.of("overlap-scales-better")
def overlap(here: Here) -> Iterator[Finding]:
    before, after = (equations.slope(t, 0.9) for t in (2.0, 1.0))
    said = f"with t_w = 2 t_c and E = 0.9 the exponent of p falls from {before:g} to {after:g}"
    yield Finding(EQUATIONS, 1 < after < before, said)
    found = {}
    for evidence, group in _alike(variations(here, BINARY), {"pieces"}):
        whole = fastest([one for one in group if (one.method.option("pieces") or "1") == "1"])
        pieces = fastest([one for one in group if (one.method.option("pieces") or "1") != "1"])
        if evidence == MEASURED and whole and pieces:
            ratio = pieces.time_s / whole.time_s
            said = (
                f"{shape_text(whole.cell.shape)} points on {ranks_text(whole.cell.ranks)} take {ratio_text(ratio)} "
                f"times as long in {pieces.method.option('pieces')} pieces"
            )
            found[evidence] = Finding(evidence, ratio < 1 - SAME, said)
    yield from found.values()
