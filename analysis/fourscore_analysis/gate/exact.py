"""Numbers that no noise touches: messages, bytes, workspace, plans, and what a simulation counts. They need no
repetition, and any change is a change of the code.

A number is compared where all launches of a side agree in it; else it is no number of the code, and is said to vary.
What ranks wait for is left out: they look again and again whether a message has come, as often as chance wants. So of
a simulation the phases that do not wait count. Their instructions are the same each time. Their memory traffic is not
where there are several ranks: what lies in the cache when a phase begins is what the exchange before it left there (up
to 60 % from launch to launch, docs/gate.md). So traffic is compared for one rank alone, with a tolerance: addresses,
which the system draws, decide which lines of the simulated cache meet. Little traffic is left out, of which one line is
more than the tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourscore_analysis.gate.series import Series
from fourscore_analysis.records.traffic import metric_sum
from fourscore_analysis.records.transforms import Launch

COUNT_TOLERANCE = 5e-4
FEW = 8  # instructions: addresses decide which branch a copy takes
WAITING_PHASES = ("exchange", "other")
LEAST_TRAFFIC = 2**19  # bytes
INSTRUCTIONS = "instructions"  # metrics of the groups in hwcounters/groups, and in the words of the output
TRAFFIC = {
    "dram_read_bytes": "bytes read from memory",
    "dram_write_bytes": "bytes written to memory",
    "dram_bytes": "bytes moved to and from memory",
}
MORE, LESS, OTHER, SAME, VARIES, GONE, NEW = "more", "less", "other", "same", "varies", "gone", "new"


@dataclass(frozen=True)
class Exact:
    """One number of one series. Values are the largest over ranks, and the sum; `word` says how they changed."""

    series: Series
    name: str
    word: str
    base: float | None
    candidate: float | None
    base_sum: float | None = None
    candidate_sum: float | None = None
    tolerance: float = 0.0

    @property
    def blocks(self) -> bool:
        """More work than before; and what is no longer said cannot be shown to be no more."""
        return self.word == MORE

    @property
    def ratio(self) -> float | None:
        """Candidate over base: of the largest, or of the sum where that is the same."""
        pairs = ((self.base, self.candidate), (self.base_sum, self.candidate_sum))
        return next(
            (after / before for before, after in pairs if before and after is not None and after != before), None
        )


Values = dict[str, tuple[tuple[float, ...], float]]  # by name: one value a rank or reader, tolerance


def compare_exact(series: Iterable[Series]) -> list[Exact]:
    """The exact numbers of every series, those that changed or vary first."""
    found = [one for each in series for one in _of_series(each)]
    order = (MORE, OTHER, GONE, NEW, VARIES, LESS, SAME)
    return sorted(found, key=lambda one: (order.index(one.word), -abs(math.log(one.ratio or 1.0)), one.series.title))


def _of_series(series: Series) -> list[Exact]:
    base = [numbers_of(run) for run in series.base.counted]
    candidate = [numbers_of(run) for run in series.candidate.counted]
    if not (base and candidate):
        return []
    names = dict.fromkeys(name for numbers in (*base, *candidate) for name in numbers)
    return [
        _compared(
            series,
            name,
            [numbers[name] for numbers in base if name in numbers],
            [numbers[name] for numbers in candidate if name in numbers],
        )
        for name in names
    ]


def numbers_of(run: Launch) -> Values:
    found: Values = {name: (values, 0.0) for name, values in run.declared.items()}
    if run.counters is not None and run.counters.source.simulated:
        cache = run.counters.source.cache
        where = f", cache of {cache.size_bytes} bytes" if cache else ""
        for phase, values in run.counters.phases.items():
            if phase in WAITING_PHASES:
                continue
            counts = {INSTRUCTIONS: INSTRUCTIONS} | (TRAFFIC if run.place.ranks == 1 else {})
            for metric, words in counts.items():
                total = metric_sum(values, metric)
                if total is not None and (metric == INSTRUCTIONS or total >= LEAST_TRAFFIC):
                    counted = tuple(v or 0.0 for v in values[metric])
                    few = FEW / max(1.0, *counted) if metric == INSTRUCTIONS else 0.0
                    found[f"{words} in {phase}{where}"] = (counted, max(COUNT_TOLERANCE, few))
    return found


def _compared(series: Series, name: str, base: Sequence, candidate: Sequence) -> Exact:
    if not base or not candidate:
        values = (base or candidate)[0][0]
        ends = (max(values), None) if base else (None, max(values))
        return Exact(series, name, GONE if base else NEW, *ends)
    tolerance = base[0][1]
    ends = (max(base[0][0]), max(candidate[0][0]), math.fsum(base[0][0]), math.fsum(candidate[0][0]))
    if not (agree(base, tolerance) and agree(candidate, tolerance)):
        word = VARIES
    elif close(ends[0], ends[1], tolerance) and close(ends[2], ends[3], tolerance):
        same = tolerance > 0 or sorted(base[0][0]) == sorted(candidate[0][0])
        word = SAME if same else OTHER
    else:
        largest_moved = not close(ends[0], ends[1], tolerance)
        more = ends[1] > ends[0] if largest_moved else ends[3] > ends[2]
        word = MORE if more else LESS
    return Exact(series, name, word, *ends, tolerance)


def close(first: float, second: float, tolerance: float) -> bool:
    return abs(first - second) <= tolerance * max(abs(first), abs(second))


def agree(launches: Sequence, tolerance: float) -> bool:
    first = launches[0][0]
    return all(
        len(values) == len(first)
        and all(close(one, other, tolerance) for one, other in zip(values, first, strict=True))
        for values, _ in launches[1:]
    )
