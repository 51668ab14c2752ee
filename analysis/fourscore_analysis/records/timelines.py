"""A traced run: what each thread of each rank did when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fourscore_analysis.records.values import (
    RecordError,
    amount_of,
    column_of,
    each,
    integer_of,
    name_of,
    read,
    some,
    table_of,
)


@dataclass(slots=True)
class Lane:
    """What one thread of one rank did when: columns of one length, seconds on the axis of all lanes."""

    rank: int
    lane: int
    dropped: int
    phases: tuple[str, ...]
    begin_s: np.ndarray
    end_s: np.ndarray


@dataclass(slots=True)
class Timeline:
    """One traced run; time 0 is when its first rank started."""

    end_s: float
    alignment: str
    uncertainty_s: float  # for the worst rank's clock
    lanes: tuple[Lane, ...]


def read_timeline(value: Any) -> Timeline:
    data = table_of(value)
    clock = read(data, "clock", table_of)
    return Timeline(
        end_s=max(read(data, "rank_end_s", some(amount_of))),
        alignment=read(clock, "alignment", name_of),
        uncertainty_s=max(read(clock, "uncertainty_s", some(amount_of))),
        lanes=read(data, "lanes", each(_lane)),
    )


def _lane(value: Any) -> Lane:
    lane = table_of(value)
    begin_s, end_s = read(lane, "begin_s", column_of), read(lane, "end_s", column_of)
    phases = read(lane, "phase", each(name_of))
    if not len(phases) == len(begin_s) == len(end_s):
        raise RecordError("columns of a lane differ in length")
    rank, number, dropped = (read(lane, key, integer_of) for key in ("rank", "lane", "dropped"))
    return Lane(rank, number, dropped, phases, begin_s, end_s)
