"""What follows from the formulas, tables and text of lee2018, item by item."""

from __future__ import annotations

import math
from collections.abc import Callable

from papers.ranges import Claims, each, exactly, printed, rounded, rows_of


def cores(item: str) -> Claims:
    data = printed("lee2018", item)
    for number, row in enumerate(data["rows"], 1):
        a_node = row["cores_per_node"] if "cores_per_node" in row else data["setup"]["cores_per_node"]
        if row["cores"] is not None:
            yield number, "cores", exactly(row["nodes"] * a_node)


def figure_2_3() -> Claims:
    table = printed("lee2018", "table-2.1")
    by_cut = {row["decomposition"]: row for row in table["rows"]}
    slower = rounded(by_cut["20x20"]["backward_ms"]) / rounded(by_cut["10x10"]["backward_ms"])
    yield 1, "slower_percent", 100 * (slower - 1)
    yield 1, "chares_per_core", exactly(by_cut["20x20"]["chares_per_state"] / table["setup"]["cores"])


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
    yield 1, "share_percent", rounded(copies[0]["share_percent"]) + rounded(copies[1]["share_percent"])
    backward = {row["allocation"]: rounded(row["backward_s"]) for row in rows_of("lee2018", "table-4.2")}
    yield 2, "shorter_percent", 100 * (1 - backward["default"] / backward["no GPU, FFTW"])


def section_5_2_2() -> Claims:
    two, four = ({int(row["nodes"]): row for row in rows_of("lee2018", table)} for table in ("table-5.2", "table-5.3"))
    text = rows_of("lee2018", "section-5.2.2")
    yield 1, "difference_percent", 100 * (1 - rounded(two[16]["completion_ms"]) / rounded(two[2]["completion_ms"]))
    means = two[16]["forward_ms"] + two[16]["backward_ms"]
    yield 2, "difference_percent", exactly(100 * (1 - means / two[16]["completion_ms"]))
    yield 3, "completion_ms", exactly(two[8]["completion_ms"])
    yield 4, "completion_ms", exactly(four[16]["completion_ms"])
    yield 4, "difference_percent", 100 * (rounded(text[3]["completion_ms"]) / rounded(text[2]["completion_ms"]) - 1)


FORMULAS: dict[str, Callable[[], Claims]] = {
    "figure-2.3": figure_2_3,
    "figure-3.3": lambda: cores("figure-3.3"),
    "figure-3.4": lambda: cores("figure-3.4"),
    "figure-3.5": lambda: cores("figure-3.5"),
    "section-4.2.1": section_4_2_1,
    "section-5.2.2": section_5_2_2,
    "table-2.1": table_2_1,
    "table-3.1": table_3_1,
    "table-4.1": table_4_1,
}
