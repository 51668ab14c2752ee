"""Units in which values of parameters may be written, by what they measure: an explicit table, so that nothing is
guessed. "Gbit/s" is a bandwidth too; "1" is a plain number."""

from __future__ import annotations

_SI = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}

# What is measured, as models/parameters.py names it -> unit -> its size.
UNITS: dict[str, dict[str, float]] = {
    "flop/s": {f"{prefix}flop/s": size for prefix, size in _SI.items()},
    "B/s": {
        **{f"{prefix}B/s": size for prefix, size in {**_SI, **_BINARY}.items()},
        **{f"{prefix}bit/s": size / 8 for prefix, size in _SI.items()},
    },
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9},
    "B": {f"{prefix}B": size for prefix, size in {**_SI, **_BINARY}.items()},
    "1/s": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9, "1/s": 1.0},
    "1": {"1": 1.0},
}
# The unit in which a value is written that has none of its own.
PLAIN = {"flop/s": "Gflop/s", "B/s": "GB/s", "s": "us", "B": "MiB", "1/s": "GHz", "1": "1"}


def size_of(unit: str, measures: str) -> float | None:
    """The size of one `unit` in what is measured; None where it is no unit of that."""
    return UNITS[measures].get(unit)


def expected(measures: str) -> str:
    """Some units of it, for a message."""
    shown = {
        "flop/s": "flop/s with a prefix, as Gflop/s",
        "B/s": "B/s or bit/s with a prefix, as GB/s, GiB/s or Gbit/s",
        "s": "s, ms, us or ns",
        "B": "B with a prefix, as MB or MiB",
        "1/s": "Hz with a prefix, as GHz",
        "1": '"1"',
    }
    return shown[measures]
