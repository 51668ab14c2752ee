"""What follows from the formulas, tables and text of eleftheriou2005, item by item."""

from __future__ import annotations

import math
from collections.abc import Callable

from papers.ranges import Claims, exactly, printed, rounded


def table_1() -> Claims:
    data = printed("eleftheriou2005", "table-1")
    limits = printed("eleftheriou2005", "hardware-limits")["setup"]
    nodes, clock_hz = float(data["setup"]["nodes"]), float(data["setup"]["clock_hz"])
    for number, row in enumerate(data["rows"], 1):
        mesh, torus, rest, network = (
            rounded(row[name]) for name in ("mesh_s", "torus_s", "non_bandwidth_s", "bandwidth_s")
        )
        volume = float(math.prod(row["shape"]))
        volume_log2 = volume * math.log2(row["shape"][0])
        yield number, "mesh_over_torus", mesh / torus
        yield number, "non_bandwidth_s", 2 * torus - mesh
        yield number, "bandwidth_s", mesh - torus
        yield number, "non_bandwidth_per_n3_log2_n_s", rest / volume_log2
        yield number, "bandwidth_per_n3_s", network / volume
        if row["layer"] == "model":
            cycles = 3 * float(limits["cycles_per_n_log2_n"]) * volume_log2
            yield number, "non_bandwidth_s", exactly(cycles / nodes / clock_hz)
            link_bytes_per_s = (
                float(limits["bits_per_cycle"]) / 8 * clock_hz * float(limits["utilisation_percent"]) / 100
            )
            received = float(limits["redistributions"]) * 16 * volume / nodes
            hops_a_link = (nodes ** (1 / 3) / 4) / 2  # of a line; of planes and volumes it is the same
            yield number, "bandwidth_s", exactly(received * hops_a_link / link_bytes_per_s)


FORMULAS: dict[str, Callable[[], Claims]] = {
    "table-1": table_1,
}
