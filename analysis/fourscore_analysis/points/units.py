"""Numbers as people read them: three significant digits, with their unit."""

from __future__ import annotations

import math

LEAST_PLAIN, MOST_PLAIN = 1e-6, 1e12  # the range of numbers that are read without an exponent
LEAST_TIME_S = 1e-12  # in nanoseconds; a model's constant may be less
_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SI_PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BYTE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def time_unit(seconds: float) -> tuple[float, str]:
    """The unit (its size in seconds, its name) in which `seconds` reads best."""
    for size, name in _TIME_UNITS:
        if abs(seconds) >= size * 0.9995:
            return size, name
    return _TIME_UNITS[-1]


def digits(value: float, significant: int = 3) -> str:
    """`value` with so many significant digits: 1230, 12.3, 0.00123; with an exponent where zeros would be counted."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if not LEAST_PLAIN <= abs(value) < MOST_PLAIN:
        return f"{value:.{significant - 1}e}"
    places = significant - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    places = significant - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(0, places)}f}"


def time_text(seconds: float | None) -> str:
    """12.3 ms"""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if 0 < abs(seconds) < LEAST_TIME_S:
        return f"{digits(seconds)} s"
    size, name = time_unit(seconds)
    return f"{digits(seconds / size)} {name}"


def error_text(error: float | None) -> str:
    """6.1e-08, of a relative error"""
    return "unknown" if error is None else f"{error:.1e}"


def range_text(low: float, high: float) -> str:
    """12.1–12.6 ms: both in the unit of the larger."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    size, name = time_unit(high)
    return f"{digits(low / size)}–{digits(high / size)} {name}"


def bytes_unit(count: float) -> tuple[float, str]:
    """The unit (its size in bytes, its name) in which `count` reads best."""
    return next(((size, name) for size, name in _BYTE_UNITS if count >= size), (1.0, "B"))


def bytes_text(count: float | None) -> str:
    """1.5 MiB"""
    if count is None:
        return "–"
    for size, name in _BYTE_UNITS:
        if count >= size:
            return f"{digits(count / size)} {name}"
    return f"{count:.0f} B"


def whole_bytes_text(count: float) -> str:
    """64 KiB: of sizes that are whole powers of two, without decimals."""
    size, name = bytes_unit(count)
    return f"{count / size:g} {name}"


def rate_unit(rate: float, unit: str) -> tuple[float, str]:
    """The SI unit (its size, its name) in which a rate in `unit` (B/s, FLOP/s) reads best."""
    for size, prefix in _SI_PREFIXES:
        if rate >= size * 0.9995:
            return size, prefix + unit
    return 1.0, unit


def rate_text(rate: float | None, unit: str) -> str:
    """8.12 GB/s"""
    if rate is None:
        return "–"
    size, name = rate_unit(rate, unit)
    return f"{digits(rate / size)} {name}"


def shape_text(shape: tuple[int, ...]) -> str:
    """128³ for a cube, else 128×96×100."""
    if len(shape) == 3 and len(set(shape)) == 1:
        return f"{shape[0]}³"
    return "×".join(str(extent) for extent in shape)


def part_title(title: str, number: int, count: int) -> str:
    """128³ (2 of 3); the title itself where there is one part only."""
    return f"{title} ({number} of {count})" if count > 1 else title


def counted(count: int, one: str, many: str = "") -> str:
    """1 slowdown, 2 slowdowns"""
    return f"{count} {one if count == 1 else many or one + 's'}"


def ranks_text(ranks: int) -> str:
    return counted(ranks, "rank")


def launches_text(launches: int) -> str:
    return counted(launches, "launch", "launches")


def ratio_text(ratio: float) -> str:
    """0.87, 1.05, 12.3"""
    return f"{ratio:.2f}" if ratio < 9.995 else digits(ratio)


def percent_text(share: float | None) -> str:
    return "–" if share is None or not math.isfinite(share) else f"{100 * share:.0f} %"
