"""Which node each rank of a launch was on, and how long the ranks of each node computed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.values import amount_of, each, entries, read, table_of

COMPUTATION = ("fft", "twiddle", "combine", "pack", "unpack")  # phases in which no rank waits for another
MOST_UNEVEN = 1.1  # largest over smallest share of the work; beyond it the shares tell more than the nodes
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?:/(\d{1,9}))?)?")


def node_of_rank(launch: Mapping[str, Any], place: Place) -> list[int] | None:
    """By rank, from the launch's part of the identity; None where that does not say it of every rank."""
    seen = launch.get("placement_of_ranks")
    if place.nodes == 1:
        return [0] * place.ranks
    if seen == "cyclic":
        return [rank % place.nodes for rank in range(place.ranks)]
    if seen == "block":
        counts = _ranks_of_nodes(launch.get("core_maps"), place)
        return [node for node, count in enumerate(counts) for _ in range(count)] if counts else None
    if not isinstance(seen, list) or len(seen) != place.nodes:
        return None
    found = [-1] * place.ranks
    for node, text in enumerate(seen):
        for rank in numbers_of(text, place.ranks):
            found[rank] = node
    return None if -1 in found else found


def numbers_of(text: Any, limit: int) -> list[int]:
    """The numbers below `limit` that a text such as "0-3,8,16-28/4" stands for; [] for what is no such text."""
    if not isinstance(text, str):
        return []
    found: list[int] = []
    for part in text.split(","):
        if not (match := _RANGE.fullmatch(part)):
            return []
        first = int(match[1])
        last, step = int(match[2] or first), int(match[3] or 1)
        found += range(first, min(last + 1, limit), max(step, 1))
    return [number for number in found if number < limit]


def _ranks_of_nodes(core_maps: Any, place: Place) -> list[int] | None:
    """How many ranks each node has: a core map has an entry for each rank of its nodes."""
    counts = [0] * place.nodes
    for kind in core_maps if isinstance(core_maps, list) else ():
        if isinstance(kind, dict) and isinstance(kind.get("cores"), list):
            for node in numbers_of(kind.get("nodes"), place.nodes):
                counts[node] = len(kind["cores"])
    return counts if sum(counts) == place.ranks and min(counts) > 0 else None


def work_of_ranks(data: Mapping[str, Any], ranks: int) -> list[float]:
    """What each rank computes, up to a factor: the bytes that its phases must move by the card's formula, else those of
    its data. [] where the record does not say."""
    by_phase = read(read(data, "cost", table_of, {}), "least_bytes_per_rank", entries(each(amount_of)), {})
    known = [values for phase, values in by_phase.items() if phase in COMPUTATION and len(values) == ranks]
    if known:
        return [sum(of_rank) for of_rank in zip(*known, strict=True)]
    held = read(read(data, "memory", table_of, {}), "local_data_bytes", each(amount_of), ())
    return list(held) if len(held) == ranks else []


def seconds_by_node(
    by_phase: Mapping[str, np.ndarray], work: Sequence[float], nodes: Sequence[int], count: int
) -> tuple[float, ...]:
    """Computing seconds of each of `count` nodes: of a rank the sum of COMPUTATION over its share of the work, median
    over repetitions; of a node the median over its ranks. `by_phase` is [rank][repetition]. () where nothing was
    computed, or the ranks' shares are unknown or differ by more than MOST_UNEVEN."""
    computing = [rows for phase, rows in by_phase.items() if phase in COMPUTATION and rows.size]
    if not computing or not work or min(work) <= 0 or max(work) > MOST_UNEVEN * min(work):
        return ()
    shares = np.asarray(work) / np.mean(work)
    of_rank = np.median(np.sum(computing, axis=0), axis=1) / shares
    owner = np.asarray(nodes)
    found = tuple(float(np.median(of_rank[owner == node])) for node in range(count))
    return found if min(found) > 0 else ()
