"""What follows from the formulas, tables and text of gupta1993, item by item."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fourscore_analysis.papers.base import Item, Paper
from fourscore_analysis.papers.ranges import (
    Claim,
    Claims,
    Range,
    each,
    exactly,
    printed,
    rounded,
    rounded_or_cut,
    rows_of,
)


def table_1() -> Claims:
    """The entries of a machine are K = E / (1 - E) times one ratio: the one that meets most of them."""
    rows = rows_of("gupta1993", "table-1")
    weights = [row["efficiency"] / (1 - row["efficiency"]) for row in rows]
    for machine, ratio in zip(("m1", "m2", "m3", "m4"), rows_of("gupta1993", "section-8-machines"), strict=True):
        column = f"slope_{machine}"
        ranges = [rounded_or_cut(row[column]) / float(k) for row, k in zip(rows, weights, strict=True)]
        met = max(([one for one in ranges if one.meets(exactly(end.low))] for end in ranges), key=len)
        best = Range(max(one.low for one in met), min(one.high for one in met))
        assert best.meets(rounded(ratio["t_w_over_t_c"])), f"{column} needs {best}"
        yield from (Claim(number, column, best * float(k)) for number, k in enumerate(weights, 1))


def table_2() -> Claims:
    ratio = rounded(printed("gupta1993", "table-2")["setup"]["t_w_over_t_c"])
    yield from each(
        "gupta1993",
        "table-2",
        "efficiency",
        lambda row: 1 / (1 + ratio * math.log2(row["processors"]) / float(row["log2_points"])),
    )


def table_4() -> Claims:
    n = 8
    for number, row in enumerate(rows_of("gupta1993", "table-4"), 1):
        p = int(row["processors"])
        yield Claim(number, "factors", exactly(n if p == 1 else 2 * (n // p - 1) + int(math.log2(p))))
        yield Claim(number, "factors", exactly(sum(row[f"iteration_{step}_factors"] for step in range(3))))
        yield Claim(number, "cost_factors", exactly(p * row["factors"]))


def isoefficiency(item: str, ratio: Callable[[float], float]) -> Claims:
    """Threshold t_c / (t_c + t), exponent K t / t_c, where a word costs t = ratio(t_w / t_c) t_c."""
    for number, row in enumerate(rows_of("gupta1993", item), 1):
        t = ratio(float(row["t_w_over_t_c"]))
        yield Claim(number, "threshold_efficiency", exactly(1 / (1 + t)))
        yield Claim(number, "p_exponent", exactly(t * float(row["efficiency"] / (1 - row["efficiency"]))))


def section_6() -> Claims:
    yield from each(
        "gupta1993",
        "section-6",
        "throughput_gain_percent",
        lambda row: exactly(100 / (1 - row["saved_percent"] * row["efficiency_percent"] / 10000) - 100),
    )


def section_7() -> Claims:
    """From the first power of two on for which 2 p / log2 p is no more than p / 2."""
    yield Claim(
        1, "processors", exactly(next(p for p in (2**d for d in range(1, 20)) if 2 * p / math.log2(p) <= p / 2))
    )


def section_8() -> Claims:
    data = printed("gupta1993", "section-8")
    for number, row in enumerate(data["rows"], 1):
        yield Claim(number, "flops_per_s", exactly(data["setup"]["flops_per_unit"] / row["t_c_us"] * 10**6))
    yield Claim(2, "break_even_efficiency", exactly(1 / (1 + data["setup"]["t_w_us"] / data["rows"][1]["t_c_us"])))


def section_8_machines() -> Claims:
    """Words of 8 bytes and units of 8 flops: the two eights cancel."""
    setup = printed("gupta1993", "section-8-machines")["setup"]
    assert setup["word_bytes"] == setup["flops_per_unit"]
    yield from each(
        "gupta1993",
        "section-8-machines",
        "t_w_over_t_c",
        lambda row: exactly(row["flops_per_s"] / row["bandwidth_bytes_per_s"]),
    )


def section_8_problem_sizes() -> Claims:
    table = {row["efficiency"]: row for row in rows_of("gupta1993", "table-1")}

    def log2_points(row: dict[str, Any]) -> Range:
        slope = table[row["efficiency"]][f"slope_{row['machine'].lower()}"]
        return rounded(slope) * float(row["log2_processors"])

    yield from each("gupta1993", "section-8-problem-sizes", "log2_points", log2_points)


_EXAMPLES = ("name", "network", "of", "t_w_over_t_c", "efficiency")

PAPER = Paper(
    "gupta1993",
    {
        "appendix-c": Item(_EXAMPLES, claims=lambda: isoefficiency("appendix-c", lambda ratio: 2 * ratio)),
        "appendix-e": Item(_EXAMPLES, claims=lambda: isoefficiency("appendix-e", lambda ratio: ratio - 1)),
        "examples-1-and-2": Item(_EXAMPLES, claims=lambda: isoefficiency("examples-1-and-2", lambda ratio: ratio)),
        "figure-2": Item(("points", "curve")),
        "figure-3": Item(("efficiency",)),
        "figure-4": Item(("network", "efficiency")),
        "section-6": Item(("efficiency_percent", "saved_percent"), claims=section_6),
        "section-7": Item(claims=section_7),
        "section-8": Item(("machine", "method", "of"), given=("t_c_us",), claims=section_8),
        "section-8-machines": Item(
            ("machine", "name"), given=("bandwidth_bytes_per_s", "flops_per_s"), claims=section_8_machines
        ),
        "section-8-problem-sizes": Item(("machine", "efficiency", "log2_processors"), claims=section_8_problem_sizes),
        "table-1": Item(("efficiency",), claims=table_1),
        "table-2": Item(("log2_points", "processors"), claims=table_2),
        "table-3": Item(("iteration", "index")),
        "table-4": Item(("processors",), claims=table_4),
    },
)
