"""Overheads of networks that gupta1993 compares, and of two of today, for curves side by side.

Those of today are ours: what links of a fat tree and of a dragonfly carry, with the constants of the platforms
hdr-fat-tree and slingshot-dragonfly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from fourscore_papers.gupta1993 import equations
from fourscore_papers.gupta1993.equations import Machine
from fourscore_papers.gupta1993.isoefficiency import Overhead

WORD_BYTES = 8  # in the paper, and an element in single precision
# 5 flops for each element and iteration, a word on a link, and what two ranks and the longest way spend on a message.
FAT_TREE = Machine(t_c_s=5 / 1e11, t_w_s=WORD_BYTES / 25e9, t_s_s=2 * 3e-7 + 6 * 1.5e-7)
DRAGONFLY = Machine(t_c_s=5 / 1e12, t_w_s=WORD_BYTES / 25e9, t_s_s=2 * 3e-7 + 5 * 3.5e-7)
# slingshot-dragonfly: a router's hosts, a group's routers; one wire between two routers of a group and two groups.
HOSTS, ROUTERS = 16, 8


@dataclass(frozen=True)
class Curve:
    """One method on one network, with constants of its own or those of the paper's nCUBE1. `platform` and `variant` are
    what simulates it."""

    label: str
    overhead: Overhead
    machine: Machine | None = None
    platform: str = ""
    variant: str = ""


def dragonfly_exchange_overhead(machine: Machine, points: float, processors: float) -> float:
    """Ours: Eq. 3 with messages on one wire in the place of hops, as in appendix D. In binary exchange all hosts of a
    group want one other group at a time, and all hosts of a router one other router of their group."""
    bits = math.log2(processors)
    in_router = min(bits, math.log2(HOSTS))
    in_group = min(bits - in_router, math.log2(ROUTERS))
    messages_a_wire = in_router + in_group * HOSTS + (bits - in_router - in_group) * HOSTS * ROUTERS
    return machine.t_s_s * processors * bits + machine.t_w_s * points * messages_a_wire


def dragonfly_transpose_overhead(machine: Machine, points: float, processors: float) -> float:
    """Ours: Eq. 11 with all messages under way at once. The one wire between two groups, or two routers of the only
    group, carries n/p^2 words for each pair of their hosts."""
    if processors <= HOSTS:
        return equations.transpose_overhead(machine, points, processors)
    pairs = HOSTS**2 if processors <= HOSTS * ROUTERS else (HOSTS * ROUTERS) ** 2
    words = max(1.0, pairs / processors) * points
    return machine.t_w_s * words + machine.t_s_s * processors**2


HYPERCUBE = Curve("hypercube", Overhead(equations.hypercube_overhead, "Eq. 4"), None, "ncube", "binary-exchange")
MESH = Curve("2-D mesh", Overhead(equations.mesh_overhead, "Eq. 8"), None, "ncube-mesh", "binary-exchange")

ROUTING = (
    Curve("binary exchange, either routing", HYPERCUBE.overhead, None, "ncube", "binary-exchange"),
    Curve(
        "transposition, store-and-forward",
        Overhead(equations.transpose_overhead_store_and_forward, "section 5", 2.0),
        None,
        "ncube",
        "transpose",
    ),
    Curve(
        "transposition, cut-through",
        Overhead(equations.transpose_overhead, "Eq. 11", 2.0),
        None,
        "ncube-cut-through",
        "transpose",
    ),
)
CHANNELS = (
    HYPERCUBE,
    MESH,
    *(
        Curve(
            f"2-D mesh, channels p^{power:g} wide",
            Overhead(partial(equations.widened_mesh_overhead, power=power), "section 7", 1 + power),
        )
        for power in (0.25, 0.5)
    ),
)
DIMENSIONS = (
    HYPERCUBE,
    Curve(
        "3-D mesh",
        Overhead(partial(equations.grid_overhead, dimensions=3), "section 10"),
        None,
        "ncube-mesh-3d",
        "binary-exchange",
    ),
    MESH,
)
OF_TODAY = tuple(
    Curve(f"{network}, {name}", overhead, machine, platform, variant)
    for network, machine, platform, overheads in (
        (
            "fat tree",
            FAT_TREE,
            "hdr-fat-tree",
            (Overhead(equations.hypercube_overhead, "Eq. 4"), Overhead(equations.transpose_overhead, "Eq. 11", 2.0)),
        ),
        (
            "dragonfly",
            DRAGONFLY,
            "slingshot-dragonfly",
            (Overhead(dragonfly_exchange_overhead, "ours"), Overhead(dragonfly_transpose_overhead, "ours", 2.0)),
        ),
    )
    for name, variant, overhead in zip(
        ("binary exchange", "transposition"), ("binary-exchange", "transpose"), overheads, strict=True
    )
)


def best_power(machine: Machine, efficiency: float, processors: float, steps: int = 100) -> float:
    """The x from 0 to 1 at which a mesh with channels p^x wide (section 7) needs the fewest points; the least of
    several. For large p it is 0.5, as the section says."""

    def log2_points(power: float) -> float:
        overhead = partial(equations.widened_mesh_overhead, power=power)
        words = equations.log2_points_for(overhead, machine, efficiency, processors)
        return max((1 + power) * math.log2(processors), words)

    return min((step / steps for step in range(steps + 1)), key=log2_points)
