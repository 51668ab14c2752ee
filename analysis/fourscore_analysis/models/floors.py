"""How long a transform takes at least on its machine: three floors, each the time of one kind of work at the rate that
a component program reached there alone.

memory    bytes that pass between memory and the caches, at the copy bandwidth
flops     credited flops at the rate of the local library on data in cache
exchange  bytes that a rank sends at the rate of the exchange alone

A method that overlaps all three perfectly takes the largest. This is the roofline (williams2009) of a whole transform,
with the exchange as a third roof.

Bytes of memory are those that no cache of C bytes a rank can save. Between two exchanges a rank passes at least once
over its data: what it receives depends on all that was sent, so nothing is finished before. And one pass does
transforms of as many points as the cache holds, so that N points take ceil(log_Z N) passes of a cache of Z elements
(bailey1990 does it in so many; hong1981 proves the order). A pass reads and writes the rank's D bytes but for those
that the cache kept: 2 (D - C). Packing and the copies of messages are in no floor: the FFT next to them can do them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from fourscore_analysis.models.base import Question
from fourscore_analysis.models.observations import question_of
from fourscore_analysis.models.work import exchanges, share_bytes
from fourscore_analysis.points.components import MEMORY, TRANSFORMS
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.rates import EXCHANGES, Rate, Rates, last_level_bytes

NAMES = ("memory", "flops", "exchange")
LONGEST = 4096  # points of a transform that a command to measure asks for
PROGRAMS = {"memory": MEMORY, "flops": TRANSFORMS, "exchange": EXCHANGES}


@dataclass(frozen=True)
class Floor:
    """Seconds that one kind of work takes at least: amount / rate, of a rank."""

    name: str  # one of NAMES
    amount: float  # bytes or flops
    seconds: float
    sources: tuple[Rate, ...]  # where the rates come from; () where there is nothing to do


@dataclass(frozen=True)
class Floors:
    """The floors of one measured point."""

    point: Point
    passes: int  # over a rank's data, in one transform
    found: dict[str, Floor]  # those whose rate was measured, by name
    lacking: dict[str, str]  # the others: the command that measures it

    @property
    def largest(self) -> Floor | None:
        """None where nothing was measured that takes time."""
        return max((one for one in self.found.values() if one.seconds > 0), key=lambda one: one.seconds, default=None)

    @property
    def ratio(self) -> float | None:
        """The point's time over the largest floor."""
        return self.point.time_s / self.largest.seconds if self.largest else None

    def as_json(self) -> dict[str, Any]:
        cell, method = self.point.cell, self.point.method
        return {
            "shape": list(cell.shape),
            "ranks": cell.ranks,
            "nodes": cell.place.nodes,
            "method": self.point.label,
            "variant": method.variant,
            "exchange": method.exchange,
            "local_fft": method.local_fft,
            "time_s": self.point.time_s,
            "passes": self.passes,
            "floors": {
                name: {
                    "seconds": one.seconds,
                    "amount": one.amount,
                    "rates": [{"per_s": rate.rate, "of": rate.source, "instead": rate.instead} for rate in one.sources],
                }
                for name, one in self.found.items()
            },
            "largest": self.largest.name if self.largest else None,
            "time_over_largest": self.ratio,
            "not_measured": self.lacking,
        }


def floors(point: Point, rates: Rates) -> Floors:
    """`rates`: of the machine of `point`, which has a time."""
    question = question_of(point.measured[0])
    machine = point.measured[0].identity.get("machine", {})
    cores = question.cell.place.ranks_per_node * question.contract.threads
    cache_bytes = last_level_bytes(machine, cores) / question.cell.place.ranks_per_node
    passes = least_passes(question, cache_bytes)
    found = {
        "memory": _memory(question, passes, cache_bytes, rates, cores),
        "flops": _flops(question, rates, cores),
        "exchange": _exchange(point, question, rates),
    }
    return Floors(
        point,
        passes,
        {name: one for name, one in found.items() if one},
        {name: _command(name, question, cores) for name, one in found.items() if not one},
    )


def least_passes(question: Question, cache_bytes: float) -> int:
    """Times that a rank must read and write all of its data in one transform: stages between exchanges, and as many as
    the points of the transform take with a cache of so many bytes (0: not known)."""
    contract = replace(question.contract, layout="transposed")  # bringing it back to its order computes nothing
    there = replace(question, cell=replace(question.cell, contract=contract))
    stages = 1 + len(exchanges(there)) * question.fields_a_message // question.runs
    if question.ranks > 1:
        stages = max(stages, 2)  # whatever a library does: every result depends on the data of all ranks
    held = cache_bytes / question.word_bytes
    return max(stages, math.ceil(math.log(question.elements) / math.log(held) - 1e-9) if held > 1 else 1)


def _memory(question: Question, passes: int, cache_bytes: float, rates: Rates, cores: int) -> Floor | None:
    """Each of several arrays may stay in the cache until it is done; then all of their data pass once."""
    contract = question.contract
    all_data = share_bytes(question) * question.arrays
    arrays = contract.fields if question.method.placement == "subset" else question.arrays  # per rank
    of_each = arrays * passes * max(0.0, all_data / arrays - cache_bytes)
    there_and_back = question.runs / question.arrays
    moved = 2 * there_and_back * max(of_each, all_data - cache_bytes)
    if moved <= 0:
        return Floor("memory", 0.0, 0.0, ())
    rate = rates.bandwidth(cores)
    return Floor("memory", moved, moved / (rate.rate * contract.threads), (rate,)) if rate else None


def _flops(question: Question, rates: Rates, cores: int) -> Floor | None:
    """5 N log2 n of each axis at the rate of its length; of real data half, that of the last axis as r2c."""
    contract, amount, seconds, sources = question.contract, 0.0, 0.0, []
    half = 0.5 if contract.kind == "r2c" else 1.0
    for axis, length in enumerate(question.cell.shape):
        if length == 1:
            continue
        kind = contract.kind if axis == len(question.cell.shape) - 1 else "c2c"
        rate = rates.transform(cores, question.method.local_fft, contract.precision, kind, length)
        if rate is None:
            return None
        flops = half * 5 * question.elements / question.ranks * math.log2(length) * question.runs
        amount += flops
        seconds += flops / (rate.rate * contract.threads)
        sources.append(rate)
    return Floor("flops", amount, seconds, tuple(dict.fromkeys(sources)))


def _exchange(point: Point, question: Question, rates: Rates) -> Floor | None:
    """The floor of the busiest rank, by the bytes that its plan declares, else by the card's formula."""
    traffic = point.traffic
    formula = [one for one in exchanges(question) if one.bytes > 0]
    by_formula = math.fsum(one.bytes for one in formula)
    sent = traffic.bytes_sent + traffic.bytes_read_shared if traffic else by_formula
    if sent <= 0:
        return Floor("exchange", 0.0, 0.0, ())
    # A rank's bytes by the ranks of its group and the size of a message; where no formula knows, all at once.
    parts = [(one.group, one.bytes / one.messages, one.bytes / by_formula) for one in formula]
    if not parts:
        messages = traffic.messages if traffic and traffic.messages else 1.0
        parts = [(question.ranks, sent / messages, 1.0)]
    seconds, sources = 0.0, []
    for group, message_bytes, share in parts:
        rate = rates.exchange(question.cell.place, question.method.exchange, group, message_bytes)
        if rate is None:
            return None
        seconds += sent * share / rate.rate
        sources.append(rate)
    return Floor("exchange", sent, seconds, tuple(dict.fromkeys(sources)))


def _command(name: str, question: Question, cores: int) -> str:
    """What measures the rate of a floor, as one line for a shell."""
    program, method = PROGRAMS[name], question.method
    record = f"--record {program}.json"
    if name == "memory":
        return f"mpirun -n {cores} {program} --parameter kernels=copy,streaming-copy,triad {record}"
    if name == "flops":
        lengths = [str(length) for length in sorted({*question.cell.shape}) if 1 < length <= LONGEST] or ["256"]
        points = 16 * max(map(int, lengths))  # few enough for the cache of a core
        library = f"--parameter library={method.local_fft} " if method.local_fft not in ("", "none") else ""
        return (
            f"mpirun -n {cores} {program} --parameter lengths={','.join(lengths)} --parameter points={points} {library}"
            f"--parameter kind={question.contract.kind} --parameter precision={question.contract.precision} {record}"
        )
    exchange = method.exchange if method.exchange not in ("", "none") else "all"
    return (
        f"mpirun -n {question.ranks} {program} --parameter exchange={exchange} --parameter communicator=world "
        f"--parameter parts=transport {record}"
    )
