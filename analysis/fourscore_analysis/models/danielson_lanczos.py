"""Communication time of haynes2000, section 5: two all-to-alls (equation 4) against log2 P pairwise phases (5).

Times are in units of the latency alpha: then of the machine only the product alpha beta is needed, which is what the
section prints."""

from __future__ import annotations

import math

from fourscore_analysis.records.published import Published, published

WORD_BYTES = 16  # u: of one element of the grid


def section_5() -> Published | None:
    return published("haynes2000", "section-5")


def alpha_beta_bytes() -> float | None:
    """Bytes that cost as much in latency as in transmission; None without the paper's numbers."""
    table = section_5()
    return float(table.rows[0]["alpha_beta_bytes"]) if table else None


def traditional(elements: int, ranks: int, alpha_beta: float) -> float:
    """Equation 4, over alpha: 2 (P - 1) (1 + n u / (alpha beta P^2))."""
    return 2 * (ranks - 1) * (1 + elements * WORD_BYTES / (alpha_beta * ranks**2))


def new(elements: int, ranks: int, alpha_beta: float) -> float:
    """Equation 5, over alpha: log2 P (1 + n u / (alpha beta P))."""
    return math.log2(ranks) * (1 + elements * WORD_BYTES / (alpha_beta * ranks))
