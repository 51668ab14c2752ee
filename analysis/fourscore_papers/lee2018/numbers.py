"""What lee2018 prints, and what follows from its tables and text; it has no numbered equations."""

from __future__ import annotations

from fourscore_analysis.papers.base import Item, Paper
from fourscore_analysis.papers.ranges import Computations, Computed, Range, each, exactly, printed, rounded, rows_of

from fourscore_papers.lee2018 import equations, readings
from fourscore_papers.lee2018.measured import (
    figure_2_3_here,
    figure_3_1_here,
    figure_3_3_here,
    figure_3_4_here,
    figure_3_5_here,
    figure_4_1_here,
    figure_4_2_here,
    several_here,
    share_here,
    table_2_1_here,
    table_3_1_here,
    table_4_1_here,
    table_4_2_here,
)
from fourscore_papers.lee2018.receives import figure_3_2_here

NAME = "lee2018"


def cuts_of(decomposition: str) -> tuple[int, int]:
    """(10, 10) of 10x10."""
    first, second = map(int, decomposition.split("x"))
    return first, second


def cores(item: str) -> Computations:
    data = printed(NAME, item)
    for number, row in enumerate(data["rows"], 1):
        a_node = row["cores_per_node"] if "cores_per_node" in row else data["setup"]["cores_per_node"]
        if row["cores"] is not None:
            yield Computed(number, "cores", exactly(equations.cores(row["nodes"], a_node)), "nodes x PEs of a node")


def figure_2_3() -> Computations:
    table = printed(NAME, "table-2.1")
    by_cut = {row["decomposition"]: row for row in table["rows"]}
    slower = rounded(by_cut["20x20"]["backward_ms"]) / rounded(by_cut["10x10"]["backward_ms"])
    yield Computed(1, "slower_percent", 100 * (slower - 1), "20x20 over 10x10 of Table 2.1, backward")
    a_core = by_cut["20x20"]["chares_per_state"] / table["setup"]["cores"]
    yield Computed(1, "chares_per_core", exactly(a_core), "400 pencils of a state on 128 PEs, on average")


def figure_2_3_reading() -> Computations:
    most = equations.most_chares_a_core(equations.pencils((20, 20)), int(printed(NAME, "figure-2.3")["setup"]["cores"]))
    yield Computed(1, "chares_per_core", exactly(most), "of the PE that has most")


def figure_3_2_reading() -> Computations:
    charm, node = readings.messages(readings.PAIRS)
    said = f"{readings.PAIRS} forward and backward transforms"
    yield Computed(1, "messages", exactly(charm), said)
    yield Computed(2, "messages", exactly(node), said, bound="below")


def figure_3_4_reading() -> Computations:
    yield Computed(1, "cores", exactly(equations.cores(16, 64)), "16 nodes, which Figure 3.3 has for 1,024 PEs")


def table_2_1() -> Computations:
    yield from each(
        NAME,
        "table-2.1",
        "chares",
        lambda row: exactly(equations.chares(row["chares_per_state"])),
        "pencils of a state x 3 states",
    )
    yield from each(
        NAME,
        "table-2.1",
        "chares_per_state",
        lambda row: exactly(equations.pencils(cuts_of(row["decomposition"]))),
        "cuts of the two axes",
    )


def table_3_1() -> Computations:
    yield from each(
        NAME,
        "table-3.1",
        "nodes",
        lambda row: exactly(equations.nodes_of(300**3, [int(extent) for extent in row["points_per_node"]])),
        "300³ over the points of a node",
    )


def table_4_1() -> Computations:
    """Shares are of the total that the first row implies."""
    first = rows_of(NAME, "table-4.1")[0]
    total = rounded(first["total_ms"]) / rounded(first["share_percent"])
    yield from each(
        NAME,
        "table-4.1",
        "operations",
        lambda row: rounded(row["total_ms"]) / rounded(row["average_ms"]),
        "total over average",
    )
    yield from each(
        NAME,
        "table-4.1",
        "share_percent",
        lambda row: rounded(row["total_ms"]) / total,
        "total over 312.1 ms, which the first row implies",
    )


def table_4_1_reading() -> Computations:
    row = rows_of(NAME, "table-4.1")[5]
    both = 2 * rounded(row["average_ms"])
    yield Computed(6, "operations", both / rounded(row["average_ms"]), "the row has the time of one of two operations")


def section_4_2_1() -> Computations:
    copies = rows_of(NAME, "table-4.1")[:2]
    both = rounded(copies[0]["share_percent"]) + rounded(copies[1]["share_percent"])
    yield Computed(1, "share_percent", both, "both copies of Table 4.1")
    backward = {row["allocation"]: rounded(row["backward_s"]) for row in rows_of(NAME, "table-4.2")}
    shorter = 1 - backward["default"] / backward["no GPU, FFTW"]
    yield Computed(2, "shorter_percent", 100 * shorter, "default against FFTW of Table 4.2")


def section_5_2_2() -> Computations:
    two, four = ({int(row["nodes"]): row for row in rows_of(NAME, table)} for table in ("table-5.2", "table-5.3"))
    text = rows_of(NAME, "section-5.2.2")
    less = 1 - rounded(two[16]["completion_ms"]) / rounded(two[2]["completion_ms"])
    yield Computed(1, "difference_percent", 100 * less, "16 against 2 nodes of Table 5.2")
    means = two[16]["forward_ms"] + two[16]["backward_ms"]
    apart = equations.shorter(float(means), float(two[16]["completion_ms"]))
    yield Computed(2, "difference_percent", exactly(100 * apart), "Table 5.2, 16 nodes")
    yield Computed(3, "completion_ms", exactly(two[8]["completion_ms"]), "Table 5.2, 8 nodes")
    yield Computed(4, "completion_ms", exactly(four[16]["completion_ms"]), "Table 5.3, 16 nodes")
    more = rounded(text[3]["completion_ms"]) / rounded(text[2]["completion_ms"]) - 1
    yield Computed(4, "difference_percent", 100 * more, "97 ms over 61 ms, both of the text")


def section_5_2_2_reading() -> Computations:
    text = rows_of(NAME, "section-5.2.2")
    found = rounded(text[2]["completion_ms"]) * Range(1.585, 1.595)
    yield Computed(4, "completion_ms", found, "59 % more than 61 ms")


PAPER = Paper(
    NAME,
    {
        "figure-2.2": Item(("decomposition",), measured=lambda here: share_here(here, "figure-2.2")),
        "figure-2.3": Item(
            ("decomposition",), computed=figure_2_3, reading=figure_2_3_reading, measured=figure_2_3_here
        ),
        "figure-3.1": Item(("of",), measured=figure_3_1_here),
        "figure-3.2": Item(
            ("library", "decomposition", "nodes", "cores", "of"), reading=figure_3_2_reading, measured=figure_3_2_here
        ),
        "figure-3.3": Item(
            ("library", "nodes", "cores_per_node"), computed=lambda: cores("figure-3.3"), measured=figure_3_3_here
        ),
        "figure-3.4": Item(
            ("library", "nodes", "against_nodes"),
            computed=lambda: cores("figure-3.4"),
            reading=figure_3_4_reading,
            measured=figure_3_4_here,
        ),
        "figure-3.5": Item(
            ("library", "nodes", "against_nodes", "against_cores_per_node"),
            computed=lambda: cores("figure-3.5"),
            measured=figure_3_5_here,
        ),
        "figure-3.6": Item(("cores_per_node",)),
        "figure-4.1": Item(("nodes",), measured=figure_4_1_here),
        "figure-4.2": Item(("allocation",), measured=figure_4_2_here),
        "section-4.2.1": Item(("of",), computed=section_4_2_1),
        "section-5.2.2": Item(("instances", "nodes"), computed=section_5_2_2, reading=section_5_2_2_reading),
        "table-2.1": Item(("decomposition",), computed=table_2_1, measured=table_2_1_here),
        "table-3.1": Item(("points_per_node", "threads"), computed=table_3_1, measured=table_3_1_here),
        "table-4.1": Item(("operation",), computed=table_4_1, reading=table_4_1_reading, measured=table_4_1_here),
        "table-4.2": Item(("allocation",), measured=table_4_2_here),
        "table-5.1": Item(("instances", "nodes"), measured=lambda here: several_here(here, "table-5.1")),
        "table-5.2": Item(("instances", "nodes"), measured=lambda here: several_here(here, "table-5.2")),
        "table-5.3": Item(("instances", "nodes"), measured=lambda here: several_here(here, "table-5.3")),
    },
    readings.searches,
    remarks=readings.REMARKS,
)
