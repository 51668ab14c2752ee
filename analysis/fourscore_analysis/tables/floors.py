"""How far points are from the floors of their machine: rows as text, and a sentence."""

from __future__ import annotations

from fourscore_analysis.models.floors import NAMES, Floor, Floors
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.rates import Rate
from fourscore_analysis.points.units import bytes_text, rate_text, ratio_text, time_text
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View

UNITS = {"memory": "B/s", "flops": "FLOP/s", "exchange": "B/s"}
WHOSE = {"memory": "a core", "flops": "a core", "exchange": "a rank"}
MOST_COMMANDS = 6


def floor_table(view: View) -> Texts | None:
    """None for a campaign without times. There are no rows where no component of the machine was measured, but which
    floors some row lacks, and the commands that measure them."""
    if not view.floors:
        return None
    rows = [_row(view, one) for one in view.floors if one.largest]
    commands = list(dict.fromkeys(command for one in view.floors for command in one.lacking.values()))
    lacking = [name for name in NAMES if any(name in one.lacking for one in view.floors)]
    return Texts(
        rows=rows,
        rates=_rates(view.floors),
        lacking=lacking,
        commands=commands[:MOST_COMMANDS],
        more_commands=max(0, len(commands) - MOST_COMMANDS),
    )


def floor_sentence(view: View, point: Point) -> str:
    """It takes 2.31 times the largest floor, memory (39.1 ms); "" where none was measured."""
    one = next((one for one in view.floors if one.point is point), None)
    if one is None or one.largest is None or one.ratio is None:
        return ""
    of = "floor" if not one.lacking else f"floor that was measured (not {' and '.join(one.lacking)})"
    largest = f"{one.largest.name} ({time_text(one.largest.seconds)})"
    return f"It takes {ratio_text(one.ratio)} times the largest {of}, {largest}."


def _row(view: View, one: Floors) -> Texts:
    return Texts(
        **of_point(view, one.point),
        time=time_text(one.point.time_s),
        passes=one.passes,
        floors=[_cell(name, one.found.get(name), one.largest) for name in NAMES],
        ratio=ratio_text(one.ratio) if one.ratio else "–",
        largest=one.largest.name if one.largest else "–",
    )


def _cell(name: str, floor: Floor | None, largest: Floor | None) -> tuple[str, str, bool]:
    """Seconds, amount, and whether it is the largest."""
    if floor is None:
        return "–", "not measured", False
    if not floor.amount:
        return "0", "in the cache" if name == "memory" else "nothing to do", False
    amount = rate_text(floor.amount, "FLOP") if name == "flops" else bytes_text(floor.amount)
    return time_text(floor.seconds), amount, floor is largest


def _rates(found: list[Floors]) -> list[Texts]:
    """The rates on which floors of the table rest: each once, by floor."""
    rates: dict[tuple[str, Rate], None] = {}
    for name in NAMES:
        for one in found:
            for rate in one.found[name].sources if one.largest and name in one.found else ():
                rates.setdefault((name, rate))
    return [
        Texts(
            floor=name,
            rate=f"{rate_text(rate.rate, UNITS[name])} {WHOSE[name]}",
            source=rate.source,
            instead=rate.instead,
        )
        for name, rate in rates
    ]
