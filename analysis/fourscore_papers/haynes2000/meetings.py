"""Where both methods of haynes2000 were measured: the new one and the traditional one."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.plots.base import View
from fourscore_analysis.points.points import Comparison, Point

NEW, TRADITIONAL = "danielson-lanczos", "rods"


@dataclass
class Meeting:
    """One comparison in which both methods were measured: the fastest of each, whatever its exchange and options."""

    comparison: Comparison
    new: Point
    traditional: Point

    @property
    def ratio(self) -> float:
        """Below 1 the new method wins."""
        return self.new.time_s / self.traditional.time_s

    @property
    def range(self) -> tuple[float, float]:
        """The range of the ratio, when each takes any of its launches."""
        new, traditional = self.new.time, self.traditional.time
        return new.low / traditional.high, new.high / traditional.low


def meetings(view: View) -> list[Meeting]:
    """Meetings on more than one rank: on one there is nothing to exchange."""
    found = []
    for one in view.drawn:
        new = [point for point in one.ranked if point.method.variant == NEW]
        traditional = [point for point in one.ranked if point.method.variant == TRADITIONAL]
        if new and traditional and one.cell.ranks > 1:
            found.append(Meeting(one, new[0], traditional[0]))
    return found
