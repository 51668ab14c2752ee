"""Its tables beside the plots that show the same of any campaign."""

from __future__ import annotations

from fourscore_analysis.plots.base import Beside
from fourscore_analysis.plots.shared.sweeps import Curve
from fourscore_analysis.records.published import published

NAME = "lee2018"
# What stands on the axis; the item, what of it, and nodes of the rows or None for all; columns of both axes.
CURVES = (
    *(("threads a rank", "table-3.1", f"{nodes} nodes", nodes, "threads", "backward_ms") for nodes in (4, 8, 16)),
    ("pencils a state", "table-2.1", "FFT", None, "chares_per_state", "forward_ms"),
    ("pencils a state", "table-2.1", "IFFT", None, "chares_per_state", "backward_ms"),
    ("instances", "table-5.1", "8 nodes", None, "instances", "completion_ms"),
    ("ranks", "table-5.2", "2 instances, nodes", None, "nodes", "completion_ms"),
    ("ranks", "table-5.3", "4 instances, nodes", None, "nodes", "completion_ms"),
)


def curves(axis: str) -> list[Curve]:
    found = []
    for against, item, what, nodes, x, y in CURVES:
        if against == axis:
            table = published(NAME, item)
            rows = [row for row in table.rows if nodes in (None, row.get("nodes"))]
            found.append(Curve(table, what, tuple(float(row[x]) for row in rows), tuple(row[y] / 1e3 for row in rows)))
    return found


BESIDE = Beside(
    {
        "threads": f"Dotted: Table 3.1 of {NAME} (inverse transform of 300³, one process a node).",
        "decomposition": f"Dotted: Table 2.1 of {NAME} (300³ on 128 cores).",
        "instances": f"Dotted: the completion times of Tables 5.1 to 5.3 of {NAME} (100³, a forward and an inverse "
        "transform each).",
        "timeline": f"As Figs. 2.2, 2.3 and 3.6 of {NAME}.",
    },
    curves,
)
