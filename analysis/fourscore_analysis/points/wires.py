"""Messages made smaller: what a point gains where its messages hold less than its data, and what it loses. Time and
error stand side by side, because a point of another accuracy is no rival: nothing ranks the two sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from fourscore_analysis.points.apart import shown_slower
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.records.cells import ZFP_RATE, Contract, Method

AS_IS = "as-is"


@dataclass(frozen=True)
class Narrowing:
    """`narrowed` is `whole` with smaller messages."""

    whole: Point
    narrowed: Point

    @property
    def wire(self) -> str:
        return self.narrowed.cell.contract.wire_text

    @property
    def ratio(self) -> float:
        """Time with smaller messages over that with whole ones."""
        return self.narrowed.time_s / self.whole.time_s

    @property
    def told(self) -> bool:
        """Whether the launches tell the two times apart."""
        pair = (self.narrowed.measured, self.whole.measured)
        return shown_slower(*pair) or shown_slower(*reversed(pair))

    def as_json(self) -> dict[str, Any]:
        cell = self.narrowed.cell
        return {
            "method": self.narrowed.label,
            "wire": self.wire,
            "shape": list(cell.shape),
            "ranks": cell.ranks,
            "nodes": cell.place.nodes,
            "time_s": self.narrowed.time_s,
            "time_as_is_s": self.whole.time_s,
            "ratio": self.ratio,
            "told_apart": self.told,
            "error": self.narrowed.error,
            "error_as_is": self.whole.error,
            "bytes_sent": self.narrowed.traffic.bytes_sent if self.narrowed.traffic else None,
            "bytes_sent_as_is": self.whole.traffic.bytes_sent if self.whole.traffic else None,
        }


def with_whole_messages(contract: Contract) -> Contract:
    return replace(contract, wire=AS_IS, wire_bits=0)


def without_rate(method: Method) -> Method:
    options = tuple((name, value) for name, value in method.options if name != ZFP_RATE)
    return replace(method, options=options, parameters=", ".join(f"{name}={value}" for name, value in options))


def narrowings(points: Iterable[Point]) -> list[Narrowing]:
    """Every point with smaller messages whose other half was measured too, in the order of the points."""
    measured = [point for point in points if point.measured]
    found = []
    for group in group_by(measured, lambda point: (_problem(point), point.setting, without_rate(point.method))):
        whole = next((point for point in group if point.cell.contract.wire == AS_IS), None)
        if whole is not None:
            found += [Narrowing(whole, point) for point in group if point is not whole]
    return found


def _problem(point: Point) -> object:
    return replace(point.cell, contract=with_whole_messages(point.cell.contract))
