"""What papers say of the overhead of a method, fitted to its measured times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fourscore_analysis.isoefficiency.points import Family
from fourscore_analysis.records.papers import sources


@dataclass(frozen=True)
class Fitted:
    """`text`: equation and constants. `log2_size`: of an efficiency and ranks log2 of the least n that keeps the
    efficiency and gives every rank something to do; infinity where none does."""

    paper: str
    text: str
    log2_size: Callable[[float, float], float]


def fitted(family: Family) -> Fitted | None:
    """By the first paper whose isoefficiency.py has a model of the method; None where none has, or points are few."""
    modules = (one.part("isoefficiency") for one in sources().values())
    found = (module.fitted(family) for module in modules if module)
    return next((one for one in found if one), None)
