"""The papers' numbers judged: what `numbers.py` of a paper is made of, and who judges it."""

from __future__ import annotations

from fourscore_analysis.papers.base import Paper
from fourscore_analysis.records.papers import sources


def all_papers() -> dict[str, Paper]:
    """Every paper whose numbers are judged, by its name, in the order of names."""
    found = {name: one.part("numbers") for name, one in sources().items()}
    return {name: module.PAPER for name, module in found.items() if module}
