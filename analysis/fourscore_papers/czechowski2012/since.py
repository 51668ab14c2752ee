"""The trends of Table 1 of czechowski2012, derived: from its factors, from each other, and from a machine that came."""

from __future__ import annotations

import math
from decimal import Decimal

from fourscore_analysis.models.machines import Machine, machine_of
from fourscore_analysis.papers.base import Search, Tried
from fourscore_analysis.papers.ranges import rows_of
from fourscore_analysis.points.units import digits

PAPER = "czechowski2012"
BEFORE, CAME = "czechowski2012-gpu-2010", "frontier"  # both GPU-like
# Quantities of Table 1, and what the two machines have of them: of a rank, which is a processor, or of the whole.
QUANTITIES = {
    "peak_flops_per_s": "flop_rate",
    "memory_bytes_per_s": "memory_bandwidth",
    "link_bytes_per_s": "link_bandwidth",
    "machine_peak_flops_per_s": "peak",
    "system_memory_bytes": "memory",
    "nodes": "nodes",
}
NAMES = ("flops of a processor", "its memory bandwidth", "its link", "flops of the machine", "its memory", "processors")


def printed(column: str) -> list[Decimal]:
    rows = {row["quantity"]: row[column] for row in rows_of(PAPER, "table-1-trends")}
    return [rows[name] for name in QUANTITIES]


def since() -> list[float]:
    """Years in which each quantity doubled from one machine to the other."""
    before, came = _known(BEFORE), _known(CAME)
    years = (came.year or 0) - (before.year or 0)
    return [years / math.log2(_value(came, name) / _value(before, name)) for name in QUANTITIES.values()]


def _known(name: str) -> Machine:
    machine = machine_of(name)
    assert machine, name
    return machine


def _value(machine: Machine, name: str) -> float:
    if name == "nodes":
        return float((machine.nodes or 0) * machine.ranks_per_node)
    return machine.whole[name].value if name in machine.whole else machine.parameters[name].value


def trends_search() -> Search:
    doubling = dict(zip(QUANTITIES, printed("doubling_years"), strict=True))
    of_nodes = 1 / (1 / float(doubling["machine_peak_flops_per_s"]) - 1 / float(doubling["peak_flops_per_s"]))
    by_factors = tuple(10 / math.log2(factor) for factor in printed("ten_year_factor"))
    found = dict(zip(QUANTITIES, since(), strict=True))
    return Search(
        "Table 1: in how many years quantities double",
        NAMES,
        tuple(doubling.values()),
        (
            Tried("by the printed factors of ten years", by_factors),
            Tried("nodes are R_peak / C", tuple(of_nodes if name == "nodes" else None for name in QUANTITIES)),
            Tried("from the GPU-like machine of 2010 to Frontier in 2022", tuple(found.values())),
        ),
        "The table agrees with itself. Its text does not say from which machines the trends come. A processor of "
        f"Frontier has flops that doubled in {digits(found['peak_flops_per_s'], 2)} years and a memory bandwidth that "
        f"doubled in {digits(found['memory_bytes_per_s'], 2)}, a little slower than expected. Its link would have "
        f"taken {digits(found['link_bytes_per_s'], 2)} years.",
        "The paper's key claim needs links that grow faster than memory bandwidth. They did not: on this machine the "
        "network limits 3-D FFTs more than Table 1 would have it, and the time within the node matters less.",
    )
