"""What follows from the formulas, tables and text of lee2018, item by item."""

from __future__ import annotations

import math

from fourscore_analysis.papers.base import Item, Paper
from fourscore_analysis.papers.ranges import Claim, Claims, each, exactly, printed, rounded, rows_of


def cores(item: str) -> Claims:
    data = printed("lee2018", item)
    for number, row in enumerate(data["rows"], 1):
        a_node = row["cores_per_node"] if "cores_per_node" in row else data["setup"]["cores_per_node"]
        if row["cores"] is not None:
            yield Claim(number, "cores", exactly(row["nodes"] * a_node))


def figure_2_3() -> Claims:
    table = printed("lee2018", "table-2.1")
    by_cut = {row["decomposition"]: row for row in table["rows"]}
    slower = rounded(by_cut["20x20"]["backward_ms"]) / rounded(by_cut["10x10"]["backward_ms"])
    yield Claim(1, "slower_percent", 100 * (slower - 1))
    yield Claim(1, "chares_per_core", exactly(by_cut["20x20"]["chares_per_state"] / table["setup"]["cores"]))


def table_2_1() -> Claims:
    yield from each("lee2018", "table-2.1", "chares", lambda row: exactly(3 * row["chares_per_state"]))
    yield from each(
        "lee2018",
        "table-2.1",
        "chares_per_state",
        lambda row: exactly(math.prod(map(int, row["decomposition"].split("x")))),
    )


def table_3_1() -> Claims:
    yield from each("lee2018", "table-3.1", "nodes", lambda row: exactly(300**3 / math.prod(row["points_per_node"])))


def table_4_1() -> Claims:
    first = rows_of("lee2018", "table-4.1")[0]
    total = rounded(first["total_ms"]) / rounded(first["share_percent"])
    yield from each(
        "lee2018", "table-4.1", "operations", lambda row: rounded(row["total_ms"]) / rounded(row["average_ms"])
    )
    yield from each("lee2018", "table-4.1", "share_percent", lambda row: rounded(row["total_ms"]) / total)


def section_4_2_1() -> Claims:
    copies = rows_of("lee2018", "table-4.1")[:2]
    yield Claim(1, "share_percent", rounded(copies[0]["share_percent"]) + rounded(copies[1]["share_percent"]))
    backward = {row["allocation"]: rounded(row["backward_s"]) for row in rows_of("lee2018", "table-4.2")}
    yield Claim(2, "shorter_percent", 100 * (1 - backward["default"] / backward["no GPU, FFTW"]))


def section_5_2_2() -> Claims:
    two, four = ({int(row["nodes"]): row for row in rows_of("lee2018", table)} for table in ("table-5.2", "table-5.3"))
    text = rows_of("lee2018", "section-5.2.2")
    yield Claim(
        1, "difference_percent", 100 * (1 - rounded(two[16]["completion_ms"]) / rounded(two[2]["completion_ms"]))
    )
    means = two[16]["forward_ms"] + two[16]["backward_ms"]
    yield Claim(2, "difference_percent", exactly(100 * (1 - means / two[16]["completion_ms"])))
    yield Claim(3, "completion_ms", exactly(two[8]["completion_ms"]))
    yield Claim(4, "completion_ms", exactly(four[16]["completion_ms"]))
    yield Claim(
        4, "difference_percent", 100 * (rounded(text[3]["completion_ms"]) / rounded(text[2]["completion_ms"]) - 1)
    )


_PLACES = ("library", "nodes", "cores_per_node", "instances", "placement")

PAPER = Paper(
    "lee2018",
    {
        "figure-2.2": Item(("decomposition", "operation")),
        "figure-2.3": Item(("decomposition", "operation"), claims=figure_2_3),
        "figure-3.2": Item((*_PLACES, "cores", "name")),
        "figure-3.3": Item(_PLACES, claims=lambda: cores("figure-3.3")),
        "figure-3.4": Item((*_PLACES, "against_nodes"), claims=lambda: cores("figure-3.4")),
        "figure-3.5": Item((*_PLACES, "against_nodes", "against_cores_per_node"), claims=lambda: cores("figure-3.5")),
        "figure-3.6": Item(("cores_per_node",)),
        "figure-4.1": Item(("nodes", "operation")),
        "section-4.2.1": Item(("of", "allocation", "operation"), claims=section_4_2_1),
        "section-5.2.2": Item(_PLACES, claims=section_5_2_2),
        "table-2.1": Item(("decomposition",), claims=table_2_1),
        "table-3.1": Item(("points_per_node", "threads"), claims=table_3_1),
        "table-4.1": Item(("operation",), claims=table_4_1),
        "table-4.2": Item(("allocation",)),
        "table-5.1": Item(_PLACES),
        "table-5.2": Item(_PLACES),
        "table-5.3": Item(_PLACES),
    },
)
