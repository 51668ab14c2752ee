"""Which links of a simulated machine are busy in which exchange of a point."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fourscore_analysis.points.points import Point
from fourscore_analysis.records.link_loads import ExchangeLoad

SATURATED = 0.9  # busy for so much of an exchange: a link that its messages wait for


@dataclass(frozen=True)
class Busiest:
    """The kinds of link that have the busiest link of an exchange: by symmetry often several."""

    kinds: tuple[str, ...]
    most_busy: float
    mean_busy: float  # over all links of these kinds
    link: str

    @property
    def saturated(self) -> bool:
        return self.most_busy >= SATURATED


@dataclass(frozen=True)
class LinkLoads:
    """The link loads of a point, whose launches are the same to the last digit."""

    point: Point
    exchanges: tuple[ExchangeLoad, ...]
    busiest: tuple[Busiest, ...]  # by exchange

    @property
    def worst(self) -> int:
        """Index of the exchange that has the busiest link."""
        return max(range(len(self.busiest)), key=lambda index: self.busiest[index].most_busy)

    def as_json(self) -> dict[str, Any]:
        exchanges = [
            {
                "seconds": exchange.seconds,
                "kinds": list(one.kinds),
                "most_busy": one.most_busy,
                "mean_busy": one.mean_busy,
                "link": one.link,
            }
            for exchange, one in zip(self.exchanges, self.busiest, strict=True)
        ]
        return {"point_id": self.point.launches[0].point_id, "method": self.point.label, "exchanges": exchanges}


def link_loads(points: Iterable[Point]) -> list[LinkLoads]:
    """The link loads of the measured points that have them, in their order."""
    found = []
    for point in points:
        exchanges = next((launch.link_loads for launch in point.measured if launch.link_loads), ())
        if exchanges:
            found.append(LinkLoads(point, exchanges, tuple(busiest_of(one) for one in exchanges)))
    return found


def busiest_of(one: ExchangeLoad) -> Busiest:
    most = max(kind.most_busy for kind in one.kinds)
    kinds = [kind for kind in one.kinds if kind.most_busy == most]
    mean = sum(kind.links * kind.mean_busy for kind in kinds) / sum(kind.links for kind in kinds)
    return Busiest(tuple(sorted((kind.kind for kind in kinds), key=kind_order)), most, mean, one.busiest_link)


def kind_order(name: str) -> tuple[int, str]:
    """By dimension, bit or level first: +0, -0, +1, -1."""
    number = re.search(r"[0-9]{1,9}", name)
    return (int(number[0]) if number else 0, name)
