"""What a mark says when it is pointed at: its method, value, launches and flags."""

from __future__ import annotations

from collections.abc import Iterable

from fourscore_analysis.points.components import TRANSFORMS, Curve, CurvePoint
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.stats import Spread
from fourscore_analysis.points.units import bytes_text, range_text, rate_text, time_text


def head_text(point: Point) -> str:
    """slab/alltoallv · 128³ · 2 ranks"""
    setting = [point.setting] if point.setting else []
    return " · ".join([point.label, point.title, *setting])


def launches_text(time: Spread) -> str:
    """12.3 ms: one launch; or 12.3 ms: 5 launches, 12.1–12.6 ms"""
    if time.count == 1:
        return f"{time_text(time.median)}: one launch"
    return f"{time_text(time.median)}: {time.count} launches, {range_text(time.low, time.high)}"


def flags_text(flags: Iterable[str]) -> str:
    return f"flags: {', '.join(flags) or 'none'}"


def point_text(point: Point, *values: str) -> str:
    """Head, `values` in lines of their own, time with launches, flags. A point without a time has no line for it."""
    count = len(point.launches)
    time = launches_text(point.time) if point.time else f"no time: {count} launch{'es' if count > 1 else ''}"
    flags = point.flags or sorted({flag for launch in point.launches for flag in launch.flags})
    return "\n".join([head_text(point), *values, time, flags_text(flags)])


def size_text(program: str, x: float) -> str:
    return f"{x:g} points" if program == TRANSFORMS else bytes_text(x)


def curve_text(curve: Curve, point: CurvePoint) -> str:
    """Kernel, size and rate, time with launches, flags."""
    rate = rate_text(point.rate, "FLOP/s" if curve.program == TRANSFORMS else "B/s")
    what = f"{curve.program}: {curve.label or curve.kernel} · {curve.place.text()}"
    over = "" if point.over_copy is None else f", {point.over_copy:.2f} of the copy"
    launches = f"{point.launches} launches" if point.launches > 1 else "one launch"
    flags = {flag for flag in curve.flags if flag != "in-cache"} | ({"in-cache"} if point.in_cache else set())
    spread = range_text(point.low_s, point.high_s)
    return "\n".join(
        [
            what,
            f"{size_text(curve.program, point.x)}: {rate} a rank{over}",
            f"{time_text(point.time_s)}: {launches}, {spread}",
            flags_text(sorted(flags)),
        ]
    )
