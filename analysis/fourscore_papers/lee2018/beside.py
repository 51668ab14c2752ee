"""Its tables beside the plots that show the same of any campaign."""

from __future__ import annotations

from fourscore_analysis.plots.base import Beside
from fourscore_analysis.plots.shared.sweeps import Curve
from fourscore_analysis.records.published import Published, published

NAME = "lee2018"


def curves(axis: str) -> list[Curve]:
    return CURVES[axis]() if axis in CURVES else []


def _table_3_1() -> list[Curve]:
    table = published(NAME, "table-3.1")
    return [
        _curve(table, f"{nodes} nodes", [row for row in table.rows if row["nodes"] == nodes], "threads", "backward_ms")
        for nodes in dict.fromkeys(row["nodes"] for row in table.rows)
    ]


def _table_2_1() -> list[Curve]:
    table = published(NAME, "table-2.1")
    columns = (("FFT", "forward_ms"), ("IFFT", "backward_ms"))
    return [_curve(table, what, table.rows, "chares_per_state", column) for what, column in columns]


def _tables_5_2_and_5_3() -> list[Curve]:
    tables = [published(NAME, f"table-{number}") for number in ("5.2", "5.3")]
    return [
        _curve(table, f"{table.setup['instances']} instances, nodes", table.rows, "nodes", "completion_ms")
        for table in tables
    ]


def _table_5_1() -> list[Curve]:
    table = published(NAME, "table-5.1")
    return [_curve(table, "8 nodes", table.rows, "instances", "completion_ms")]


def _curve(table: Published, what: str, rows, quantity: str, time: str) -> Curve:
    return Curve(table, what, tuple(float(row[quantity]) for row in rows), tuple(row[time] / 1e3 for row in rows))


CURVES = {
    "threads a rank": _table_3_1,
    "pencils a state": _table_2_1,
    "instances": _table_5_1,
    "ranks": _tables_5_2_and_5_3,
}
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
