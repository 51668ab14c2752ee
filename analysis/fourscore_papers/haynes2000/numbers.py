"""The numbers of section 5 of haynes2000, and what follows from its equations 4 and 5."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fourscore_analysis.papers.base import Item, Measured, Paper, Search, Tried
from fourscore_analysis.papers.here import Here, what_text
from fourscore_analysis.papers.ranges import Computations, Computed, rows_of
from fourscore_analysis.points.points import Point, fastest, group_by

from fourscore_papers.haynes2000 import equations

NAME = "haynes2000"
ETHERNET_BYTES_PER_S = 100e6 / 8
PLATFORM = "ethernet-100mbit"  # the paper's cluster, simulated
SIMULATED_EXTENTS = (8, 16, 32, 64, 128)
# P, n and alpha at which a printed formula is compared with ours, beta being 2 kB / alpha: small and large.
SAMPLES = [(nodes, float(extent**3), alpha) for nodes in (2, 64, 1024) for extent in (8, 64) for alpha in (1e-5, 2e-4)]
FORMULAS: dict[tuple[str, str], Callable[[float, float, float, float], float]] = {
    ("traditional", "latencies_formula"): lambda p, n, alpha, beta: equations.traditional_messages(p),
    ("traditional", "packet_bytes_formula"): lambda p, n, alpha, beta: equations.traditional_packet_bytes(n, p),
    ("traditional", "time_s_formula"): lambda p, n, alpha, beta: equations.traditional_time_s(n, p, alpha, beta),
    ("traditional", "many_nodes_time_s_formula"): lambda p, n, alpha, beta: (
        alpha * equations.traditional_on_many(n, p, alpha * beta)
    ),
    ("new", "latencies_formula"): lambda p, n, alpha, beta: equations.new_messages(p),
    ("new", "packet_bytes_formula"): lambda p, n, alpha, beta: equations.new_packet_bytes(n, p),
    ("new", "time_s_formula"): lambda p, n, alpha, beta: equations.new_time_s(n, p, alpha, beta),
}


def equations_4_and_5() -> Computations:
    """A printed formula is ours where both give the same at every sample: then the formula itself is computed."""
    for number, row in enumerate(rows_of(NAME, "equations-4-and-5"), 1):
        for (method, column), ours in FORMULAS.items():
            if method == row["method"]:
                same = all(_same(str(row[column]), ours, *sample) for sample in SAMPLES)
                said = f"haynes2000/equations.py at {len(SAMPLES)} combinations of P, n and alpha"
                yield Computed(number, column, str(row[column]) if same else "another value", said)


def _same(text: str, ours: Callable[..., float], nodes: int, elements: float, alpha_s: float) -> bool:
    beta = 2e3 / alpha_s
    names = {"P": nodes, "n": elements, "u": equations.WORD_BYTES, "alpha": alpha_s, "beta": beta, "log2": math.log2}
    value = eval(text, {"__builtins__": {}}, names)  # from published/, not from a record
    return math.isclose(value, ours(nodes, elements, alpha_s, beta), rel_tol=1e-9)


def alpha_beta_here(here: Here) -> Iterator[Measured]:
    """Alpha and beta of a simultaneous send and receive, for each row: the paper's two machines gave the same."""
    found = [
        one for one in here.alpha_betas if one.kernel == "sendrecv" and one.alpha_s.value > 0 and one.byte_s.value > 0
    ]
    for place in dict.fromkeys((one.machine_hash, one.place) for one in found):
        members = [one for one in found if (one.machine_hash, one.place) == place]
        product = statistics.median(one.alpha_s.value * one.beta for one in members)
        launches = members[0].replicates if members[0].of_launches else 1
        for row in (1, 2):
            yield Measured(row, "alpha_beta_bytes", product, launches, f"pairwise_bench, {place[1].text(True)}")


def printed_alpha_beta() -> float:
    return float(rows_of(NAME, "section-5")[0]["alpha_beta_bytes"])


@dataclass(frozen=True)
class Crossing:
    """Both methods on the same cube and ranks: the fastest of each."""

    extent: int
    ranks: int
    ratio: float  # time of the new method over that of the traditional one, below 1 the new one wins
    what: str


def crossings_here(here: Here) -> list[Crossing]:
    """Cubes alone, complex, double, forward; within one contract, machine and place."""
    found = []
    points = [*here.transforms("danielson-lanczos"), *here.transforms("rods")]
    cubes = [point for point in points if len(point.cell.shape) == 3 and len(set(point.cell.shape)) == 1]
    for group in group_by(
        cubes, lambda point: (point.cell, point.measured[0].machine_hash, point.measured[0].code_hash)
    ):
        new, traditional = (
            fastest([point for point in group if point.method.variant == name])
            for name in ("danielson-lanczos", "rods")
        )
        if new is not None and traditional is not None and new.cell.ranks > 1:
            ratio = new.time_s / traditional.time_s
            found.append(Crossing(new.cell.shape[0], new.cell.ranks, ratio, what_text(new)))
    return found


def simulated_here(here: Here, extent: int) -> list[Point]:
    """Both methods on the simulated cluster of 100 Mbit/s, a rank a node, on each count of nodes; the traditional one
    with its messages one after the other, and all at once."""
    found = [
        here.simulated(PLATFORM, variant, (extent,) * 3, exchange)
        for variant, exchange in (("danielson-lanczos", "none"), ("rods", "pairwise"), ("rods", "p2p"))
    ]
    return [point for points in found for point in points if point.cell.place.ranks_per_node == 1]


def simulated_crossings(here: Here) -> list[Crossing]:
    """Crossings of communication alone, on the slowest rank, as Eqs 4 and 5 count it: one message after the other."""
    found = []
    for extent in SIMULATED_EXTENTS:
        by_method = group_by(simulated_here(here, extent), lambda point: (point.method.variant, point.method.exchange))
        exchange_s = {
            (group[0].method.exchange, point.cell.ranks): point.phases_max["exchange"]
            for group in by_method
            for point in group
            if point.phases_max.get("exchange")
        }
        for (exchange, ranks), old_s in exchange_s.items():
            new_s = exchange_s.get(("none", ranks))
            if exchange == "pairwise" and new_s:
                what = f"{extent}³, {ranks} simulated nodes of {PLATFORM}: communication alone"
                found.append(Crossing(extent, ranks, new_s / old_s, what))
    return found


def searches() -> tuple[Search, ...]:
    """No number disagrees. What alpha is on the Ethernet is not printed; it follows, and is as it should be."""
    product = printed_alpha_beta()
    extents = tuple(round(equations.crossover_elements(nodes, product) ** (1 / 3), 1) for nodes in (4, 8, 64, 1024))
    alpha_us = product / ETHERNET_BYTES_PER_S * 1e6
    return (
        Search(
            "Where the new method wins",
            ("extent of the cube on 4 nodes", "on 8", "on 64", "on 1024"),
            (),
            (Tried("Eqs 4 and 5 with alpha beta = 2 kB: equal times", extents),),
            "The section prints no crossover; its equations give it. Below the extent the new method wins. On 2 "
            f"nodes it always does. With 100 Mbit/s, 2 kB mean a latency of {alpha_us:.0f} µs, which is usual for "
            "MPI over such an Ethernet.",
            "The section expects the new method to win with many nodes and small grids, and its equations say so "
            "for the grids of electronic structure, 32 to 128 a side, from tens of nodes on.",
        ),
    )


PAPER = Paper(
    NAME,
    {
        "equations-4-and-5": Item(("equation", "method"), computed=equations_4_and_5),
        "section-5": Item(("machine", "nodes"), measured=alpha_beta_here),
    },
    searches,
    remarks=(
        "No number disagrees: the section prints two equations and the product of latency and bandwidth.",
        "What can be questioned is what Eq. 4 counts: the messages of an all-to-all one after the other. Simulated as "
        "pairwise sends them, both methods take the equations' times, and the new method wins where they say. With p2p "
        "all messages are under way at once, and the traditional method was never slower on any of the simulated cubes "
        "and nodes (docs/simulation.md). The platform gives a message no time of its sender's processor, so a real "
        "cluster lies between the two.",
        "Of the paper we have section 5 alone. The conclusions of its other sections are not judged here.",
    ),
)
