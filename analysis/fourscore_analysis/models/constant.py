"""The constant A: words between memory and cache in a 1-D FFT of n points, over n max(log_Z n, 1).

A word is one element of the transform (16 bytes in double precision), and Z, the cache, is in words too. A is taken
from powers of two whose data are larger than the last-level cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from fourscore_analysis.points.counting import CountedPoint
from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.points.units import digits
from fourscore_analysis.records.papers import sources
from fourscore_analysis.records.published import Published, published
from fourscore_analysis.records.traffic import Source

WORD_BYTES = {"double": 16, "single": 8}  # bytes of a complex element
CONFIDENCE = 0.95
A_DIGITS = 4  # simulated counts are the same each time: so many digits of A are too


@dataclass(frozen=True, slots=True)
class Fit:
    """y = A x by ordinary least squares through the origin; the interval is None for fewer than two samples."""

    a: float
    count: int
    interval: tuple[float, float] | None


def fit_through_origin(x: Sequence[float], y: Sequence[float], confidence: float = CONFIDENCE) -> Fit:
    """A = sum(x y) / sum(x^2), with the interval of Student's t at count - 1 degrees of freedom. Sums are exact
    (math.fsum), so that the digits do not depend on the order of the samples. Raises ValueError without samples."""
    if not x or len(x) != len(y):
        raise ValueError(f"a fit of {len(x)} and {len(y)} values")
    square = math.fsum(value * value for value in x)
    a = math.fsum(one * other for one, other in zip(x, y, strict=True)) / square
    freedom = len(x) - 1
    if freedom == 0:
        return Fit(a, 1, None)
    from scipy.special import stdtrit  # slow to load

    variance = math.fsum((other - a * one) ** 2 for one, other in zip(x, y, strict=True)) / freedom
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(variance / square)
    return Fit(a, len(x), (a - half, a + half))


def cache_complexity(n: int, z: float) -> float:
    """n max(log_Z n, 1), Eq. 2 without A; n and Z in words."""
    return n * max(math.log(n) / math.log(z), 1.0)


@dataclass(frozen=True)
class Sample:
    """One length. `words`: moved by one transform."""

    n: int
    words: float
    complexity: float
    fitted: bool  # beyond the cache

    @property
    def a(self) -> float:
        return self.words / self.complexity


@dataclass
class Constant:
    """A of one library with one planner, counted by one source."""

    title: str
    source: Source
    multiplexed: bool
    cache_bytes: int
    word_bytes: int
    samples: list[Sample]  # by rising n
    members: list[CountedPoint]

    @property
    def z(self) -> float:
        """The cache in words."""
        return self.cache_bytes / self.word_bytes

    @property
    def fitted(self) -> list[Sample]:
        return [sample for sample in self.samples if sample.fitted]

    @cached_property
    def fit(self) -> Fit:
        return fit_through_origin(
            [sample.complexity for sample in self.fitted], [sample.words for sample in self.fitted]
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "of": self.title,
            "backend": self.source.backend,
            "group": self.source.group,
            "simulated": self.source.simulated,
            "fit_for_use": self.source.fit,
            "cache_bytes": self.cache_bytes,
            "word_bytes": self.word_bytes,
            "z_words": self.z,
            "a": self.fit.a,
            "interval": list(self.fit.interval) if self.fit.interval else None,
            "confidence": CONFIDENCE,
            "published_a": printed.a if (printed := printed_a()) else None,
            "samples": [
                {"n": one.n, "words": one.words, "complexity": one.complexity, "a": one.a, "fitted": one.fitted}
                for one in self.samples
            ],
        }


class Printed(NamedTuple):
    """A as a paper prints it, and where."""

    a: float
    table: Published


def printed_a() -> Printed | None:
    """By the first paper whose model.py names the item (A_ITEM); its column is "a"."""
    for name, one in sources().items():
        item = getattr(one.part("model"), "A_ITEM", None)
        if item:
            table = published(name, item)
            return Printed(float(table.rows[0]["a"]), table)
    return None


def constants(counted: Sequence[CountedPoint]) -> list[Constant]:
    """One for each way of transforming a single line on one rank that was counted at two or more lengths beyond the
    cache."""
    groups: dict[tuple, list[tuple[int, CountedPoint, int]]] = {}
    for one in counted:
        cache = cache_bytes(one)
        cell = one.point.cell
        if cache is None or not _is_line(one):
            continue
        key = (cell.contract, one.point.method, one.point.setting, one.source, cache)
        groups.setdefault(key, []).append((cell.shape[0], one, cache))
    found = []
    for (contract, method, setting, _, cache), members in groups.items():
        word = WORD_BYTES[contract.precision]
        samples = [
            Sample(n, one.total.total / word, cache_complexity(n, cache / word), n * word > cache)
            for n, one, _ in sorted(members, key=lambda member: member[0])
        ]
        if sum(sample.fitted for sample in samples) < 2:
            continue
        title = ", ".join(
            [method.local_fft or method.variant, *contract_terms(contract)[1:], *([setting] * bool(setting))]
        )
        multiplexed = any(one.multiplexed for _, one, _ in members)
        found.append(
            Constant(title, members[-1][1].source, multiplexed, cache, word, samples, [one for _, one, _ in members])
        )
    return found


def _is_line(one: CountedPoint) -> bool:
    """A complex 1-D transform of a power of two on one rank and thread, alone."""
    cell = one.point.cell
    terms = cell.contract
    return (
        one.point.method.variant == "serial"
        and len(cell.shape) == 1
        and cell.ranks == terms.threads == terms.instances == terms.fields == 1
        and terms.kind == "c2c"
        and terms.precision in WORD_BYTES
        and cell.elements >= 2
        and cell.elements & (cell.elements - 1) == 0
    )


def cache_bytes(one: CountedPoint) -> int | None:
    """Z in bytes: the simulated cache, else the machine's last level; None where the record does not say."""
    if one.source.cache:
        return one.source.cache.size_bytes
    if one.source.simulated:
        return None
    caches = one.launches[-1].identity.get("machine", {}).get("caches")
    sizes = {}
    for cache in caches if isinstance(caches, list) else ():
        level, size = (cache.get("level"), cache.get("bytes")) if isinstance(cache, dict) else (None, None)
        if isinstance(level, int) and isinstance(size, int) and size > 0:
            sizes[level] = size
    return sizes[max(sizes)] if sizes else None


def interval_text(one: Constant) -> str:
    """5.91–6.23, in the digits of A."""
    low, high = one.fit.interval
    return f"{digits(low, A_DIGITS)}–{digits(high, A_DIGITS)}"
