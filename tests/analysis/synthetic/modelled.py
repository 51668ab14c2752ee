"""Observations of a machine whose parameters are known, with noise: what a fit must find again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from fourscore_analysis.models.base import Question, models, predict
from fourscore_analysis.models.fit import Given
from fourscore_analysis.models.observations import LEAST_SHARE, Observation
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import Cell, Contract, Method

TRUE = {
    "flop_rate": 2.8e10,
    "odd_flop_rate": 1.1e10,
    "memory_constant": 6.3,
    "memory_bandwidth": 3e10,
    "cache_bandwidth": 8e10,
    "core_bandwidth": 4.5e10,
    "link_bandwidth": 1e10,
    "latency": 2e-6,
    "overhead": 1e-6,
    "startup_time": 2e-6,
    "word_time": 2e-9,
    "butterfly_time": 4e-10,
    "cycle_rate": 2.6e9,
    "pcie_bandwidth": 1.2e10,
    "cache_bytes": 3e7,
    "private_cache_bytes": 2.0**18,
}
GIVEN = {"private_cache_bytes": Given(TRUE["private_cache_bytes"], "known")}
CUBES = (16, 24, 32, 48, 64, 96, 128, 192, 256)
RANKS = (1, 2, 4, 8, 16)
NOISE = 0.05


def question(
    variant: str = "pencil",
    shape: Iterable[int] = (64, 64, 64),
    ranks: int = 2,
    *,
    nodes: int = 1,
    grid: tuple[int, ...] = (),
    exchange: str = "alltoallv",
    options: tuple[tuple[str, str], ...] = (),
    **contract: str | int,
) -> Question:
    terms = {
        "layout": "transposed",
        "buffers": "in-place",
        "normalisation": "none",
        "precision": "double",
        "kind": "c2c",
        "direction": "forward",
        "planner": "measure",
        "threads": 1,
        "instances": 1,
    } | contract
    method = Method(variant, exchange, "fftw", "auto", "", options=options)
    return Question(Cell(Contract(**terms), tuple(shape), Place(ranks, nodes)), method, grid)


def cubes(variant: str = "pencil", extents: Iterable[int] = CUBES, ranks: Iterable[int] = RANKS) -> list[Question]:
    ranks = tuple(ranks)
    return [question(variant, (extent,) * 3, count) for extent in extents for count in ranks]


def observed(
    questions: Iterable[Question],
    model: str = "czechowski2012",
    *,
    launches: int = 3,
    noise: float = NOISE,
    seed: int = 1,
    true: Mapping[str, float] = TRUE,
    forms: Mapping[str, str] | None = None,
) -> list[Observation]:
    """Each phase of each launch is off by a factor of its own."""
    chosen = models()[model]
    random = np.random.default_rng(seed)
    found = []
    for one in questions:
        phases = predict(chosen, one, true, forms or chosen.default_forms()).phases
        for _ in range(launches):
            seconds = {phase: value * math.exp(noise * random.standard_normal()) for phase, value in phases.items()}
            total = sum(seconds.values())
            kept = {phase: value for phase, value in seconds.items() if value >= LEAST_SHARE * total}
            found.append(Observation(one, total, kept))
    return found
