"""Which method may be called the fastest. The one place with the rule; docs/measuring.md says it to people.

A claim rests on points that are sound: no flag that makes a time doubtful, and at least LEAST_LAUNCHES launches. It
takes two of them, and that the launches show every other point of the comparison to be slower (apart.py): the
chance that one of two equally fast points is shown to be slower is at most 5 %. Three launches each show nothing."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.points.points import Comparison, Point
from fourscore_analysis.points.stats import INTERVAL_FROM
from fourscore_analysis.records.flags import doubts_of_time

LEAST_LAUNCHES = INTERVAL_FROM


@dataclass(frozen=True)
class Claim:
    """What a comparison says of its fastest point."""

    comparison: Comparison
    doubts: tuple[str, ...]  # why its lowest median is no basis for a claim; () where it is one
    rivals: tuple[Point, ...]  # the others that are sound, fastest first
    left_out: int  # how many others are not sound

    @property
    def best(self) -> Point:
        return self.comparison.fastest

    @property
    def tied(self) -> list[Point]:
        """The points that the launches do not tell from the best, sound or not."""
        return self.comparison.tied

    @property
    def holds(self) -> bool:
        return not self.doubts and not self.tied and bool(self.rivals)


def doubts(point: Point) -> tuple[str, ...]:
    """Why no claim rests on the time of `point`."""
    found = [f"flagged {', '.join(flags)}"] if (flags := doubts_of_time(point.flags)) else []
    if (count := len(point.measured)) < LEAST_LAUNCHES and "simulated" not in point.flags:
        found.append(f"{count} launch{'es' if count > 1 else ''}, a claim takes {LEAST_LAUNCHES}")
    return tuple(found)


def claim(comparison: Comparison) -> Claim:
    others = comparison.ranked[1:]
    sound = tuple(point for point in others if not doubts(point))
    found = doubts(comparison.fastest)
    if others and not sound and not found:
        found = (f"no other method is free of flags and has {LEAST_LAUNCHES} launches",)
    return Claim(comparison, found, sound, len(others) - len(sound))
