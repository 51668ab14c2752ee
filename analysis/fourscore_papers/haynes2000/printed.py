"""What haynes2000 prints of its machines, for its equations 4 and 5 (equations/haynes2000.py)."""

from __future__ import annotations

from fourscore_analysis.records.published import Published, published


def section_5() -> Published | None:
    return published("haynes2000", "section-5")


def alpha_beta_bytes() -> float | None:
    """Bytes that cost as much in latency as in transmission; None without the paper's numbers."""
    table = section_5()
    return float(table.rows[0]["alpha_beta_bytes"]) if table else None
