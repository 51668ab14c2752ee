"""Readings of lee2018: of its counts of messages, of operations and of cores, and of one time."""

from __future__ import annotations

from decimal import Decimal

from fourscore_analysis.papers.base import Search, Tried
from fourscore_analysis.papers.ranges import rows_of

from fourscore_papers.lee2018 import equations

NAME = "lee2018"
PAIRS = 3  # forward and backward transforms under which both counts of Figure 3.2 come out
CHARM_CUTS, CHARM_CORES = (10, 10), 128
NODE_CUTS, NODES = (2, 4), 8  # 150x75x300 points a node (Table 3.1)
# Rates of the P100's bus and memory: what no copy and no FFT can exceed.
BUS_BYTES_PER_S, MEMORY_BYTES_PER_S = 15.75e9, 732e9


def messages(pairs: int) -> tuple[float, float]:
    """Messages that a PE of Charm-FFT and a node of Charm-NodeFFT receive in so many transforms there and back."""
    charm = equations.messages_a_worker(CHARM_CUTS, CHARM_CORES, 2 * pairs)
    return charm, equations.messages_a_worker(NODE_CUTS, NODES, 2 * pairs)


def figure_3_2_search() -> Search:
    return Search(
        "Figure 3.2: messages that a worker receives",
        ("Charm-FFT, 10x10 on 128 PEs", "Charm-NodeFFT, 8 nodes"),
        tuple(row["messages"] for row in rows_of(NAME, "figure-3.2")),
        tuple(Tried(f"{pairs} forward and {pairs} backward", messages(pairs)) for pairs in (1, 2, PAIRS, 4)),
        "The text says just over 100, and below 40, and not how many transforms were run. A pencil of each state "
        "receives 20 messages in a transform that is cut 10x10, and 6 in one that is cut 2x4. With "
        f"{PAIRS} forward and backward transforms these are 94 and 36, and the messages of start and end come on top.",
        "The count agrees with the decomposition that the thesis describes: 12,000 messages between all PEs of "
        "Charm-FFT, 288 between the nodes of Charm-NodeFFT. The conclusion, far fewer messages, stands.",
    )


def table_4_1_search() -> Search:
    rows = rows_of(NAME, "table-4.1")
    there, back, last = rows[0], rows[1], rows[5]
    total = float(there["total_ms"] / there["share_percent"]) * 100
    listed = float(sum(row["total_ms"] for row in rows))
    of_rows = [float(row["total_ms"] / row["average_ms"]) for row in (there, back, last)]
    missing = total - listed
    return Search(
        "Table 4.1: operations, and the total of the rows",
        ("HtoD", "DtoH", "D3 FFT", "total, ms"),
        (there["operations"], back["operations"], last["operations"], Decimal("312.1")),
        (
            Tried("total over average, rows as printed", (*of_rows, listed)),
            Tried(
                "a pencil of each state there and back, forward and backward (section 4.1)",
                (equations.copies(2), equations.copies(2), 2.0, None),
            ),
            Tried(
                "the row of D3 has one of its two operations",
                (*of_rows[:2], 2.0, listed + float(last["average_ms"])),
            ),
        ),
        f"The shares are of 312.1 ms, and the rows have {missing:.2f} ms less. That is one D3 FFT: its row counts two "
        "operations and has the time of one. There were six copies back, as many as forth, since every pencil "
        "goes both ways, and the total is six times the average. No reading gives the printed four.",
        "None for the conclusion: the copies take 97.4 % of the GPU's time, as the text says.",
    )


def table_4_1_nodes_search() -> Search:
    rows = rows_of(NAME, "table-4.1")
    there_s, back_s, fft_s = (float(rows[index]["average_ms"]) * 1e-3 for index in (0, 1, 3))

    def rates(nodes: int, word_bytes: int) -> tuple[float, ...]:
        pencil = equations.copied_bytes(300**3, nodes, 1, word_bytes) / equations.STATES
        swept = equations.line_fft_bytes(300**3, nodes, word_bytes)
        return pencil / there_s / 1e9, pencil / back_s / 1e9, swept / fft_s / 1e9

    return Search(
        "Table 4.1: on how many nodes",
        ("HtoD, GB/s", "DtoH, GB/s", "1-D FFTs, GB/s"),
        (),
        (
            *(Tried(f"{nodes} node{'s' * (nodes > 1)}, 16 bytes an element", rates(nodes, 16)) for nodes in (1, 2, 4)),
            Tried("1 node, 8 bytes an element", rates(1, 8)),
        ),
        "The thesis does not say on how many nodes the table was made. In double precision it was not one: the copies "
        f"back would pass the bus at 20 GB/s, of {BUS_BYTES_PER_S / 1e9:g} that PCIe 3.0 has, and the FFTs would read "
        f"and write 1,050 GB/s, of the {MEMORY_BYTES_PER_S / 1e9:.0f} of a P100's memory.",
        "If it was 4 nodes, as in Table 4.2, the copies ran at 3.7 and 5.0 GB/s. At these rates those of one transform "
        "of 500³ take 0.70 s of the 1.27 s of Table 4.2: they dominate there too, as the thesis says.",
    )


def figure_3_4_search() -> Search:
    row = rows_of(NAME, "figure-3.4")[0]
    return Search(
        "Figure 3.4: where Charm-FFT is best",
        ("nodes", "PEs"),
        (row["nodes"], row["cores"]),
        (
            Tried("8 nodes of 64 PEs", (8, equations.cores(8, 64))),
            Tried("16 nodes of 64 PEs, as Figure 3.3 has for 1,024 PEs", (16, equations.cores(16, 64))),
            Tried("8 nodes of 128 hardware threads", (8, equations.cores(8, 128))),
        ),
        "8 nodes with 64 PEs have 512. 1,024 are those of 16 nodes, which Figure 3.3 names. The text of Figure 3.5 "
        "compares its 1,024 PEs with 8 nodes again, so 8 stands in two places; with two threads on each core of a "
        "Knights Landing node both would be right.",
        "If it was 8 nodes, Charm-FFT levels off at half as many PEs as the text says, and Figure 3.5 compares 1,024 "
        "PEs with 512. That it prefers many PEs on few nodes stands either way.",
    )


def table_5_3_search() -> Search:
    base = 61.0
    return Search(
        "Table 5.3: 4 instances on 16 nodes",
        ("completion, ms", "more than 61 ms, %"),
        (Decimal(97), Decimal(59)),
        (
            Tried("as in Table 5.3", (94.0, 100 * equations.longer(94, base))),
            Tried("as in the text of section 5.2.2", (97.0, 100 * equations.longer(97, base))),
        ),
        "The text's 59 % follow from its own 97 ms, not from the 94 ms of the table: the two are of different runs.",
        "None: four instances take half as long again as two, by either.",
    )


def searches() -> tuple[Search, ...]:
    return (figure_3_2_search(), table_4_1_search(), table_4_1_nodes_search(), figure_3_4_search(), table_5_3_search())


REMARKS = (
    "The thesis has no numbered equations. What follows from its text are counts: of pencils, messages, cores, copies.",
    "Figure 2.3: 20x20 pencils on 128 PEs are 3.1 for each PE on average; no PE has more than the 4 of the text.",
    "Row 3 of Table 4.1, data conversion, has nothing of ours beside it: our pencils lie as cuFFT takes them. The "
    "transforms beside rows 4 to 6 are timed alone, each axis forward and backward.",
)
