"""What do N nodes gain from their devices? The fastest way to use these against the fastest way to use the processors
of as many nodes. Each side has its own placement: ranks a node and threads may differ, the problem may not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from fourscore_analysis.points.apart import shown_slower
from fourscore_analysis.points.points import Point, fastest, group_by

STAND_INS = {"emulated", "foreign"}  # flags of times that are of no device, or that nobody vouches for


@dataclass(frozen=True)
class DeviceGain:
    """One problem on one number of nodes of one machine."""

    device: Point
    processors: Point

    @property
    def ratio(self) -> float:
        """How many times as fast the devices are: below 1 they lose."""
        return self.processors.time_s / self.device.time_s

    @property
    def told(self) -> bool:
        """Whether the launches tell the two times apart."""
        pair = (self.device.measured, self.processors.measured)
        return shown_slower(*pair) or shown_slower(*reversed(pair))

    def as_json(self) -> dict[str, Any]:
        cell = self.device.cell
        return {
            "shape": list(cell.shape),
            "nodes": cell.place.nodes,
            "ratio": self.ratio,
            "told_apart": self.told,
            "device": _side_json(self.device),
            "processors": _side_json(self.processors),
        }


def _side_json(point: Point) -> dict[str, Any]:
    return {
        "method": point.label,
        "ranks": point.cell.ranks,
        "threads": point.cell.contract.threads,
        "time_s": point.time_s,
        "launches": len(point.measured),
        "flags": list(point.flags),
    }


def device_gains(points: Iterable[Point]) -> list[DeviceGain]:
    """A gain for each problem and number of nodes that both sides solved, in the order of the points. On either side
    points with fewer launches than others do not count."""
    sound = [point for point in points if point.measured and not STAND_INS & set(point.flags)]
    found = []
    for group in group_by(sound, _problem):
        device = fastest([point for point in group if point.on_device])
        processors = fastest([point for point in group if not point.on_device])
        if device is not None and processors is not None:
            found.append(DeviceGain(device, processors))
    return found


def _problem(point: Point) -> tuple:
    """What both sides have to share."""
    contract, first = replace(point.cell.contract, threads=1), point.measured[0]
    return contract, point.cell.shape, point.cell.place.nodes, first.machine_hash, first.code_hash
