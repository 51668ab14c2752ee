"""Campaigns on eight nodes, of which some may be slow, and what is found of them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

from fourscore_analysis.models.slow_nodes import node_effects
from fourscore_analysis.points.points import group_points

from synthetic.common import campaign_of
from synthetic.example import CLUSTER
from synthetic.transforms import Maker, make_point

POINTS = [make_point(variant, exchange, ranks=8, nodes=4) for variant, exchange in (("slab", "p2p"), ("pencil", "p2p"))]


def maker(seed: int = 1, **changes: Any) -> Maker:
    return Maker(**{"isolate": False, "repetitions": 3, "hosts": CLUSTER, "seed": seed} | changes)


def effects_of(records: Iterable[dict[str, Any]]):
    return node_effects(group_points(campaign_of(records)))


def noisy(seed: int, launches: int) -> list[dict[str, Any]]:
    """Launches differ by 10 %, and so do the nodes of each, but none of them more often than the others."""
    drawn, made, records = random.Random(seed), maker(seed), []
    for launch in range(launches):
        for point in POINTS:
            made.slow = {host: math.exp(drawn.gauss(0, 0.1)) for host in CLUSTER}
            records.append(made.ok(point, launch, scale=math.exp(drawn.gauss(0, 0.1))))
    return records
