"""The tests of what czechowski2012 concludes; claims.toml has the sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fourscore_analysis.papers.base import NEAR
from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, SIMULATED, Finding, Tests
from fourscore_analysis.papers.here import Here, comparable, what_text
from fourscore_analysis.points.points import Point, fastest, group_by
from fourscore_analysis.points.units import digits, error_text, percent_text, ratio_text, shape_text, time_text
from fourscore_analysis.points.wires import Narrowing, narrowings
from fourscore_analysis.records.published import published

from fourscore_papers.czechowski2012 import equations
from fourscore_papers.czechowski2012.numbers import (
    COPIES,
    KAPPAS,
    NAME,
    PARTS,
    QDR_BYTES_PER_S,
    WEAK_EXTENT,
    YEARS,
    as_digpufft,
    gpu_gains,
    largest,
    memory_over_network,
    p3dfft_exchanges,
)
from fourscore_papers.czechowski2012.readings import (
    AS_PRINTED,
    EXTENT,
    FOUND,
    PEAK_FLOPS_PER_S,
    Node,
    keeneland_parts_s,
    node_of,
    outcome,
    trends,
)

TESTS = Tests()
TORUS = "hopper-gemini"  # the platform
IDEAL, USUAL = "sub-cube", "row-major"  # orders of its hosts
READINGS = {"Table 1 as printed": AS_PRINTED, "the reading that gives Figure 5": FOUND}
# What the words of the paper mean here.
LARGE_OVERHEAD = 1.25  # "large overhead": so many times the FFTs alone, at least
NEARLY_AS_COSTLY = 0.5  # times the FFT, at least
ABOUT_A_QUARTER = (0.15, 0.40)
LITTLE_PERCENT = 25.0  # "roughly 10 % to 20 %", at most
CLEARLY = 1.1  # times as fast, at least
OVER_TEN_TIMES = 10.0
A_FRACTION = 0.5  # "a fraction", at most
THOUSAND = (300, 3000)  # "roughly three orders of magnitude"
DOMINATES = 0.5  # share of the exchange from which on an algorithm is one of this kind
NEAR_A_BOUND = 0.75  # times what an equation promises, at least


def on_several_nodes(here: Here) -> list[Point]:
    """Pencils whose exchanges are seen, and go through a network."""
    return [one for one in here.transforms("pencil") if one.cell.place.nodes > 1 and one.exchange_share]


def computation_s(point: Point) -> float:
    """All but the exchange, on the slowest rank."""
    return sum(seconds for phase, seconds in point.phases.items() if phase != "exchange")


def seconds_of(point: Point, part: int) -> float:
    """The phases of a row of Figure 4."""
    return sum(point.phases.get(phase, 0.0) for phase in PARTS[part])


@TESTS.of("communication-dominates")
def communication_dominates(here: Here) -> Iterator[Finding]:
    cpu, nodes = node_of("CPU", years=0), published(NAME, "figure-2").rows[0]["nodes"]
    memory_s = equations.memory_time_s(WEAK_EXTENT, nodes, cpu.memory_bytes_per_s, cpu.cache_bytes)
    network_s = equations.network_time_s(WEAK_EXTENT, nodes, cpu.link_bytes_per_s)
    said = (
        f"at {WEAK_EXTENT:,}³ on {nodes:,} nodes Eq. 5 gives {time_text(network_s)}, Eq. 2 {time_text(memory_s)} with "
        "the CPU of Table 1"
    )
    yield Finding(EQUATIONS, network_s > memory_s, said)
    if point := largest(on_several_nodes(here)):
        said = f"exchange is {percent_text(point.exchange_share)} of the time ({what_text(point)})"
        yield Finding(MEASURED, point.exchange_share > 0.5, said)
    if found := p3dfft_exchanges(here):
        point, exchange_s = max(found, key=lambda one: (one[0].cell.elements, one[0].cell.ranks))
        share = exchange_s / point.time_s
        said = f"alone the all-to-alls take {percent_text(share)} of the time of P3DFFT ({what_text(point)})"
        yield Finding(MEASURED, share > 0.5, said)


@TESTS.of("computation-grows-faster")
def computation_grows(here: Here) -> Iterator[Finding]:
    cpu, nodes = node_of("CPU", years=0), published(NAME, "figure-2").rows[0]["nodes"]
    extents = (WEAK_EXTENT / 4, 2 * WEAK_EXTENT)
    memory, network = (
        [of(extent) for extent in extents]
        for of in (
            lambda n: equations.memory_time_s(n, nodes, cpu.memory_bytes_per_s, cpu.cache_bytes),
            lambda n: equations.network_time_s(n, nodes, cpu.link_bytes_per_s),
        )
    )
    growth = [times[1] / times[0] for times in (memory, network)]
    said = (
        f"from {extents[0]:,.0f}³ to {extents[1]:,.0f}³ Eq. 2 grows {digits(growth[0])} times and Eq. 5 "
        f"{digits(growth[1])} times: log_Z n is below 1 up to n = Z = {cpu.cache_bytes / equations.WORD_BYTES:,.0f}"
    )
    yield Finding(EQUATIONS, growth[0] > growth[1] * (1 + 1e-9), said)
    cubes = [one for one in on_several_nodes(here) if len(set(one.cell.shape)) == 1]
    sizes = comparable(cubes, lambda one: one.cell.shape[0], also=lambda one: one.cell.place)
    if len(sizes) > 1:
        shares = [computation_s(one) / one.phases["exchange"] for one in (sizes[0], sizes[-1])]
        said = (
            f"computation takes {ratio_text(shares[0])} times as long as the exchange at "
            f"{shape_text(sizes[0].cell.shape)}, {ratio_text(shares[1])} times at {what_text(sizes[-1])}"
        )
        yield Finding(MEASURED, shares[1] > shares[0], said)


@TESTS.of("computation-has-an-overhead")
def computation_overhead(here: Here) -> Iterator[Finding]:
    if point := largest([one for one in here.transforms("pencil") if one.alone.get("fft")]):
        ratio = computation_s(point) / point.alone["fft"]
        said = f"computation takes {ratio_text(ratio)} times as long as its FFTs alone ({what_text(point)})"
        yield Finding(MEASURED, ratio > LARGE_OVERHEAD, said)


@TESTS.of("a-is-6-3")
def constant_a(here: Here) -> Iterator[Finding]:
    printed = published(NAME, "section-3.1.2").rows[0]["a"]
    for one in here.constants:
        if one.members[0].point.method.local_fft == "fftw":
            evidence = SIMULATED if one.source.simulated else MEASURED
            said = f"A is {digits(one.fit.a)} with a cache of {one.z:,.0f} words ({one.title}); {printed} in print"
            yield Finding(evidence, abs(one.fit.a / printed - 1) <= NEAR, said)


@TESTS.of("transpose-costs-as-an-fft")
def transpose_costs(here: Here) -> Iterator[Finding]:
    shares = [row["share_percent"] for row in published(NAME, "figure-4").rows]
    for points in (here.transforms("pencil"), as_digpufft(here)):
        point = largest([one for one in points if seconds_of(one, 1)])
        if point:
            ratio = seconds_of(point, 2) / seconds_of(point, 1)
            said = (
                f"packing and unpacking takes {ratio_text(ratio)} of the time of the FFTs ({what_text(point)}); "
                f"{ratio_text(shares[1] / shares[0])} in print"
            )
            yield Finding(MEASURED, ratio >= NEARLY_AS_COSTLY, said)


LINKS = {"QDR InfiniBand": QDR_BYTES_PER_S, "the link of Table 1": node_of("GPU", 0).link_bytes_per_s}


def keeneland(link_bytes_per_s: float, on_gpus: bool = True) -> dict[str, float]:
    """Parts of the time of Figure 4 by Eqs 2, 3, 8 and 9."""
    table = published(NAME, "figure-4")
    pcie = published(NAME, "section-5.3.1").rows[0]["bandwidth_bytes_per_s"]
    return keeneland_parts_s(table.setup["nodes"], table.shape[0], link_bytes_per_s, pcie, on_gpus)


def by_links(percents: Sequence[float]) -> str:
    """17 % with QDR InfiniBand and 26 % with the link of Table 1"""
    return " and ".join(f"{percent:.0f} % with {name}" for percent, name in zip(percents, LINKS, strict=True))


@TESTS.of("gpus-gain-little")
def gpus_gain_little(here: Here) -> Iterator[Finding]:
    by_equations = [
        100 * (sum(keeneland(link, False).values()) / sum(keeneland(link).values()) - 1) for link in LINKS.values()
    ]
    said = f"GPUs gain {by_links(by_equations)} (Eqs 2, 3, 8 and 9; section 5.1 has QDR InfiniBand)"
    yield Finding(EQUATIONS, 0 < by_equations[0] <= LITTLE_PERCENT, said)
    if gains := gpu_gains(here):
        low, high = (choose(gains, key=lambda one: one[1]) for choose in (min, max))
        said = f"GPUs gain {low[1]:.0f} % ({what_text(low[0])}) to {high[1]:.0f} % ({what_text(high[0])})"
        yield Finding(MEASURED, low[1] > 0 and high[1] <= LITTLE_PERCENT, said)


@TESTS.of("copies-cost-a-quarter")
def copies_cost(here: Here) -> Iterator[Finding]:
    least, most = ABOUT_A_QUARTER
    parts = [keeneland(link) for link in LINKS.values()]
    by_equations = [100 * of["copies"] / sum(of.values()) for of in parts]
    said = f"copies take {by_links(by_equations)} (Eqs 2, 3, 8 and 9; section 5.1 has QDR InfiniBand)"
    yield Finding(EQUATIONS, least <= by_equations[0] / 100 <= most, said)
    if point := largest(as_digpufft(here)):
        share = seconds_of(point, COPIES) / sum(point.phases.values())
        said = f"copies take {percent_text(share)} ({what_text(point)})"
        yield Finding(MEASURED, least <= share <= most, said)


@TESTS.of("copies-are-no-lasting-barrier")
def copies_no_barrier(here: Here) -> Iterator[Finding]:
    found = [
        point
        for variant in ("slab-gpu", "pencil-gpu")
        for point in here.transforms(variant)
        if point.method.option("staging") in ("copy", "resident")
    ]
    ratios = []
    for group in group_by(found, lambda one: (one.cell, one.method.variant, one.measured[0].machine_hash)):
        copied, resident = (
            fastest([one for one in group if one.method.option("staging") == name]) for name in ("copy", "resident")
        )
        if copied and resident:
            ratios.append((copied.time_s / resident.time_s, resident))
    if ratios:
        ratio, point = max(ratios, key=lambda one: (one[1].cell.elements, one[1].cell.ranks))
        said = f"with data that stay on the device it is {ratio_text(ratio)} times as fast ({what_text(point)})"
        yield Finding(MEASURED, ratio >= CLEARLY, said)


@TESTS.of("weak-nodes-win")
def weak_nodes_win(_: Here) -> Iterator[Finding]:
    gpu, peak = node_of("GPU"), PEAK_FLOPS_PER_S

    def times(flops_per_s: float) -> list[float]:
        """T_mem, T_net by bisection, and by the ideal mapping, on as many nodes as have the peak."""
        nodes = equations.nodes_of(peak, flops_per_s)
        return [
            equations.memory_time_s(EXTENT, nodes, gpu.memory_bytes_per_s, gpu.cache_bytes),
            *(
                equations.network_time_s(EXTENT, nodes, gpu.link_bytes_per_s, kappa)
                for kappa in (equations.torus_bisection(3), equations.torus_ideal(3))
            ),
        ]

    grown = [after / before for before, after in zip(times(gpu.flops_per_s), times(2 * gpu.flops_per_s), strict=True)]
    said = (
        f"half as many nodes, twice as fast with equal bandwidths, take {ratio_text(grown[0])} times as long for "
        f"memory, {ratio_text(grown[1])} times for the network of a 3-D torus, {ratio_text(grown[2])} times with an "
        "ideal mapping"
    )
    yield Finding(EQUATIONS, min(grown) > 1, said)


@TESTS.of("fraction-of-peak-falls")
def fraction_of_peak(_: Here) -> Iterator[Finding]:
    today = published(NAME, "section-6").rows[1]["of_peak_percent"]
    for said, reading in READINGS.items():
        percent = 100 * outcome(reading).flops_per_s / PEAK_FLOPS_PER_S
        speed = digits(outcome(reading).flops_per_s / 1e15)
        yield Finding(EQUATIONS, percent < today, f"{speed} PF/s, {digits(percent)} % of 4 EF/s, by {said}")


@TESTS.of("cpu-like-machine-wins")
def cpu_like_wins(_: Here) -> Iterator[Finding]:
    printed = published(NAME, "figure-5").rows[1]["speedup_over_gpu"]
    for said, reading in READINGS.items():
        times = outcome(reading).cpu_1_speedup
        yield Finding(EQUATIONS, times > 1, f"{digits(times)} times as fast by {said}, {printed} in print")


@TESTS.of("cpu-like-machines-communicate-less")
def communicate_less(_: Here) -> Iterator[Finding]:
    for said, reading in READINGS.items():
        network = {name: times[1] for name, times in outcome(reading).bars_s.items()}
        of_gpu = network.pop("GPU")
        text = ", ".join(f"{time_text(seconds)} on {name}" for name, seconds in network.items())
        holds = all(seconds < 0.99 * of_gpu for seconds in network.values())
        yield Finding(EQUATIONS, holds, f"T_net is {text} and {time_text(of_gpu)} on GPU by {said}")


@TESTS.of("equal-peak-costs-more")
def equal_peak_costs_more(_: Here) -> Iterator[Finding]:
    """Where an hour of each processor has one price, a transform costs processors times seconds."""
    for said, reading in READINGS.items():
        found = outcome(reading)
        processors = found.cpu_1_nodes / found.gpu_nodes
        price = processors / found.cpu_1_speedup
        text = f"{digits(processors)} times as many processors, and {digits(price)} times the price of a transform"
        yield Finding(EQUATIONS, processors > OVER_TEN_TIMES and price > 1, f"{text}, by {said}")


@TESTS.of("equal-time-costs-less")
def equal_time_costs_less(_: Here) -> Iterator[Finding]:
    for said, reading in READINGS.items():
        found = outcome(reading)
        processors, price = found.cpu_2_nodes / found.cpu_1_nodes, found.cpu_2_nodes / found.gpu_nodes
        text = (
            f"{digits(processors)} of CPU-1's processors, {digits(found.cpu_2_peak_flops_per_s / 1e18)} EF/s, and "
            f"{digits(price)} times the price of a transform on the GPU-like machine"
        )
        holds = processors < A_FRACTION and price < found.cpu_1_nodes / found.gpu_nodes / found.cpu_1_speedup
        yield Finding(EQUATIONS, holds, f"{text}, by {said}")


@TESTS.of("more-dimensions-help-energy")
def more_dimensions_help(_: Here) -> Iterator[Finding]:
    found = {name: both for name, both in decades().items() if name.startswith("5-D")}
    text = ", ".join(
        f"from {ratio_text(before)} to {ratio_text(after)} on a {name}" for name, (before, after) in found.items()
    )
    holds = bool(found) and all(after > before for before, after in found.values())
    yield Finding(EQUATIONS, holds, f"T_mem / T_net goes {text} from 2010 to 2020")


@TESTS.of("flops-are-negligible")
def flops_negligible(_: Here) -> Iterator[Finding]:
    found, gpu = outcome(AS_PRINTED), node_of("GPU")
    flops_s = equations.flops_time_s(EXTENT, found.gpu_nodes, gpu.flops_per_s)
    ratio = (found.memory_s + found.network_s) / flops_s
    said = f"T_mem + T_net is {digits(ratio)} times T_flops on the GPU-like machine"
    yield Finding(EQUATIONS, THOUSAND[0] <= ratio <= THOUSAND[1], said)


def ratios_2020(exchanges: float) -> dict[str, float]:
    """T_mem / T_net by network, with so many exchanges counted on an ideal mapping."""
    ideal = KAPPAS["3-D torus, ideal mapping"]
    return {
        name: memory_over_network(YEARS[1], kappa, exchanges if kappa == ideal else equations.EXCHANGES)
        for name, kappa in KAPPAS.items()
    }


@TESTS.of("memory-could-dominate")
def memory_could_dominate(_: Here) -> Iterator[Finding]:
    for said, exchanges in (("with Eq. 4 as printed", 1.0), ("with both exchanges in Eq. 4", equations.EXCHANGES)):
        ratios = ratios_2020(exchanges)
        text = ", ".join(f"{ratio_text(ratio)} ({name})" for name, ratio in ratios.items())
        yield Finding(EQUATIONS, max(ratios.values()) > 1, f"T_mem / T_net in 2020 is {text} {said}")


def decades() -> dict[str, tuple[float, float]]:
    """T_mem / T_net in 2010 and in 2020, by network."""
    both = {
        name: [memory_over_network(year, kappa, equations.EXCHANGES) for year in YEARS]
        for name, kappa in KAPPAS.items()
    }
    return {name: (before, after) for name, (before, after) in both.items()}


@TESTS.of("topology-bends-the-trend")
def topology_bends(_: Here) -> Iterator[Finding]:
    found = decades()
    printed = {row["network"]: row["mem_over_net_trend"] for row in published(NAME, "figure-6").rows}
    holds = all((after > before) == (printed[name] == "rises") for name, (before, after) in found.items())
    text = ", ".join(
        f"from {ratio_text(before)} to {ratio_text(after)} on a {name}" for name, (before, after) in found.items()
    )
    yield Finding(EQUATIONS, holds, f"T_mem / T_net goes {text}")


@TESTS.of("four-dimensions-are-balanced")
def four_dimensions(_: Here) -> Iterator[Finding]:
    change = {name: after / before for name, (before, after) in decades().items()}
    flattest = min(change, key=lambda name: max(change[name], 1 / change[name]))
    text = ", ".join(f"{ratio_text(factor)} ({name})" for name, factor in change.items())
    yield Finding(EQUATIONS, flattest.startswith("4-D"), f"T_mem / T_net changes in ten years by the factors {text}")


@TESTS.of("ideal-mapping-gains")
def ideal_mapping(here: Here) -> Iterator[Finding]:
    nodes = equations.nodes_of(PEAK_FLOPS_PER_S, node_of("CPU").flops_per_s)
    printed = published(NAME, "figure-6").rows[1]["faster_than_bisection_up_to"]
    said = (
        f"with both exchanges in Eq. 4 Eq. 5 takes {digits(nodes ** (1 / 6))} times as long on the {nodes:,.0f} nodes "
        f"of 2020; {printed} in print"
    )
    yield Finding(EQUATIONS, abs(nodes ** (1 / 6) / printed - 1) <= NEAR, said)
    if gains := simulated_gains(here):
        (count, extent), gain = max(gains.items())
        promised = count ** (1 / 6)
        said = (
            f"exchanges are {ratio_text(gain)} times as fast on {count:,} nodes at {extent}³, where P^(1/6) is "
            f"{digits(promised)}"
        )
        yield Finding(SIMULATED, gain >= NEAR_A_BOUND * promised, said)


def simulated_gains(here: Here) -> dict[tuple[int, int], float]:
    """By nodes and extent: the exchanges in the usual order of hosts over those in the ideal one."""
    extents = {point.cell.shape[0] for point in here.points if point.cell.contract.platform == TORUS}
    gains = {}
    for extent in extents:
        usual, ideal = (
            {
                one.cell.ranks: one.phases_max.get("exchange", 0.0)
                for one in here.simulated(TORUS, "pencil", (extent,) * 3, host_order=order)
                if one.cell.ranks == one.cell.place.nodes
            }
            for order in (USUAL, IDEAL)
        )
        gains |= {(count, extent): usual[count] / ideal[count] for count in usual if ideal.get(count)}
    return gains


@TESTS.of("stacked-memory-keeps-balance")
def stacked_memory(_: Here) -> Iterator[Finding]:
    before, after = node_of("CPU", 0), node_of("CPU")
    factors = trends()
    bandwidths = {
        "as the flop rate": before.memory_bytes_per_s * factors["peak_flops_per_s"],
        "as the cores": before.memory_bytes_per_s * factors["cores"],
        "as in Table 1": after.memory_bytes_per_s,
    }
    start = imbalance(before)
    worse = {name: imbalance(replace(after, memory_bytes_per_s=rate)) / start for name, rate in bandwidths.items()}
    text = ", ".join(f"{ratio_text(factor)} with a bandwidth that grows {name}" for name, factor in worse.items())
    said = f"flops a word over log2 (Z / cores) grow from 2010 to 2020 by the factor {text}"
    yield Finding(EQUATIONS, worse["as the flop rate"] <= 1 + NEAR, said)


def imbalance(node: Node) -> float:
    """The left side of Eq. 11 over the right one, up to its constant."""
    left, right = equations.stacked_memory_balance(
        node.cores, node.flops_per_s / node.cores, node.memory_bytes_per_s, node.cache_bytes / equations.WORD_BYTES
    )
    return left / right


@TESTS.of("compression-is-the-way-forward")
def compression(here: Here) -> Iterator[Finding]:
    """Tells whether smaller messages gain; that nothing else would, no measurement tells."""
    found = [one for one in narrowings(here.points) if (one.whole.exchange_share or 0) >= DOMINATES]
    for evidence in (MEASURED, SIMULATED):
        real = evidence == MEASURED
        if of_kind := [one for one in found if (one.whole.cell.contract.platform == "none") == real]:
            main = max(of_kind, key=lambda one: (one.whole.cell.elements, one.whole.cell.ranks, -one.ratio))
            yield Finding(evidence, main.ratio <= 1 / CLEARLY, narrowing_text(main))


def narrowing_text(one: Narrowing) -> str:
    return (
        f"with messages of half the bytes {one.narrowed.label} takes {ratio_text(one.ratio)} of the time at "
        f"{shape_text(one.whole.cell.shape)} on {one.whole.where}, where the exchange was "
        f"{percent_text(one.whole.exchange_share)} of it, and its error is {error_text(one.narrowed.error)}, not "
        f"{error_text(one.whole.error)}"
    )
