"""Two campaigns measured in pairs, as `fourscore run SUITE --against OTHER_BENCH` writes them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synthetic.common import digest, store
from synthetic.transforms import Maker, make_point, phase_model

BASE, CANDIDATE = "gate-aaaaaaaa", "gate-bbbbbbbb"


@dataclass
class Pairs:
    """Launches of both sides with the noise of a launch, and the drift that both launches of a pair share."""

    archive: Path
    noise: float = 0.01
    drift: float = 0.0  # from one launch to the next
    seed: int = 1
    makers: dict[str, Maker] = field(init=False)
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.makers = {
            name: Maker(campaign=name, suite="gate", isolate=False, repetitions=3, revision=revision, seed=seed)
            for seed, (name, revision) in enumerate(((BASE, "old"), (CANDIDATE, "new")))
        }

    def record(
        self, side: str, point: dict[str, Any], launch: int, slower: dict[str, float] | None = None, factor: float = 1.0
    ) -> dict[str, Any]:
        """`slower` by phase; `factor` of all of it."""
        scale = factor * math.exp(self.drift * launch + self.rng.gauss(0, self.noise))
        phases = {
            name: [[seconds * scale * (slower or {}).get(name, 1.0) * (1 + 0.001 * i) for i in range(3)]]
            * point["ranks"]
            for name, seconds in phase_model(point).items()
        }
        totals = [[sum(rows[rank][i] for rows in phases.values()) for i in range(3)] for rank in range(point["ranks"])]
        return self.makers[side].with_samples(point, launch, totals, phases)

    def add(
        self,
        point: dict[str, Any],
        launches: Sequence[int],
        slower: dict[str, float] | None = None,
        factor: float = 1.0,
    ) -> None:
        """Pairs of `point`, whose candidate is slower."""
        for launch in launches:
            store(self.archive, self.record(BASE, point, launch))
            store(self.archive, self.record(CANDIDATE, point, launch, slower, factor))

    def comparison(self, screen: int, confirm: int = 0, points: Sequence[dict[str, Any]] = (), **changes: Any) -> Path:
        """comparison.json, with a second stage of `points` where there is one."""
        stages = [{"name": "screen", "first_launch": 0, "launches": screen}]
        if confirm:
            chosen = [digest(point) for point in points]
            stages.append({"name": "confirm", "first_launch": screen, "launches": confirm, "points": chosen})
        content = {
            "schema": "fourscore.comparison",
            "schema_version": 1,
            "name": "gate-aaaaaaaa-bbbbbbbb",
            "suite": "gate",
            "base": {"campaign": BASE, "label": "old", "code_hash": ""},
            "candidate": {"campaign": CANDIDATE, "label": "new", "code_hash": ""},
            "seed": 42,
            "stages": stages,
            "overrides": [],
        } | changes
        file = self.archive / "comparisons" / content["name"] / "comparison.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content), encoding="utf-8")
        return file


def gate_points() -> list[dict[str, Any]]:
    """Points with every phase, of different methods."""
    return [
        make_point(variant, exchange, (extent,) * 3, 4)
        for variant in ("slab", "pencil")
        for exchange in ("alltoallv", "p2p", "pairwise")
        for extent in (64, 128)
    ]
