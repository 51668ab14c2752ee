"""What a site's pages say, as rows for tables and for data files. Only what may be compared is ranked together: one
problem under one contract at one place, on one machine with one build."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fourscore_analysis.points.claims import claim, doubts
from fourscore_analysis.points.machine_cards import DIGEST_DIGITS, NOBODY, machine_cards, revision_of
from fourscore_analysis.points.points import Comparison, Point, comparisons, contract_terms, group_by, group_points
from fourscore_analysis.points.units import digits, range_text, ratio_text, shape_text, time_text
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.site.addresses import (
    machine_address,
    method_address,
    method_title,
    problem_address,
    problem_of,
)
from fourscore_analysis.site.campaign_data import started_at
from fourscore_analysis.tables.points import cell_json, point_json

APART = ("simulated", "emulated", "foreign")  # flags of results that no real machine's stand beside
FASTEST, UNDECIDED, UNRANKED = "fastest", "not told from the fastest", "not ranked"
SHORT_HASH = 8
_TITLES: dict[tuple[str, str], str] = {}  # by digest and platform: a card takes a moment, and rows are many


@dataclass
class Row:
    """A measured point, and what its comparison says of it."""

    point: Point
    rank: int | None  # None where it is not ranked
    ratio: float | None  # its time over that of the fastest
    verdict: str
    doubts: tuple[str, ...]

    @cached_property
    def newest(self) -> Launch:
        return max(self.point.measured, key=started_at)

    @property
    def problem(self) -> str:
        return problem_of(self.point.cell).title

    @property
    def problem_address(self) -> str:
        return problem_address(problem_of(self.point.cell))

    @property
    def method(self) -> str:
        return method_title(self.point.method)

    @property
    def method_address(self) -> str:
        return method_address(self.point.method)

    @property
    def machine(self) -> str:
        return machine_title(self.newest)

    @property
    def machine_address(self) -> str:
        return machine_address(self.newest.machine_hash) if self.newest.machine_hash else ""

    @property
    def build(self) -> str:
        return build_title(self.newest)

    @property
    def contract(self) -> str:
        """The terms that the problem does not say."""
        said = {self.point.cell.contract.precision, self.point.cell.contract.kind, self.point.cell.contract.direction}
        return ", ".join(term for term in contract_terms(self.point.cell.contract) if term not in said)

    @property
    def where(self) -> str:
        return self.point.cell.place.text(self.point.cell.place.nodes > 1)

    @property
    def time(self) -> str:
        return time_text(self.point.time_s)

    @property
    def spread(self) -> str:
        time = self.point.time
        return range_text(time.low, time.high) if time and time.count > 1 else ""

    @property
    def over_fastest(self) -> str:
        return "–" if self.ratio is None else ratio_text(self.ratio)

    @property
    def rate(self) -> str:
        return digits(self.point.gflops) if self.point.gflops else "–"

    @property
    def apart(self) -> str:
        """Why it stands by itself: simulated, emulated, foreign; "" for a measurement."""
        found = [flag for flag in APART if flag in self.point.flags]
        if self.point.cell.place.platform != "none" and "simulated" not in found:
            found.insert(0, "simulated")
        return ", ".join(found)

    def as_json(self) -> dict[str, Any]:
        newest = self.newest
        return {
            "problem": self.problem_address,
            "method_page": self.method_address,
            "machine": self.machine_address or None,
            "machine_hash": newest.machine_hash,
            "code_hash": newest.code_hash,
            "build": self.build,
            "platform": self.point.cell.place.platform,
            **cell_json(self.point.cell),
            **point_json(self.point),
            "rank": self.rank,
            "time_over_fastest": self.ratio,
            "verdict": self.verdict,
            "doubts": list(self.doubts),
            "last_started_at": started_at(newest),
        }


def machine_title(launch: Launch) -> str:
    """Imaginary 9000, 8 cores (1c8fad): the name of its card, and how its digest begins."""
    key = launch.machine_hash, launch.place.platform
    if key not in _TITLES:
        name = next((card.name for card in machine_cards([launch])), "machine not known")
        _TITLES[key] = f"{name} ({launch.machine_hash[:DIGEST_DIGITS]})" if launch.machine_hash else name
    return _TITLES[key]


def build_title(launch: Launch) -> str:
    """3f2c9b1, or how the digest of the build begins where no revision is known."""
    code = launch.identity.get("code")
    revision = revision_of(code) if isinstance(code, dict) else NOBODY
    return revision if revision != NOBODY else launch.code_hash[:SHORT_HASH] or NOBODY


def compared(launches: Sequence[Launch]) -> list[Comparison]:
    return comparisons(group_points(Campaign("site", "site", list(launches))))


def rows_of(found: Iterable[Comparison]) -> Iterator[Row]:
    """Fastest first within each comparison."""
    for one in found:
        if "foreign" in one.fastest.flags or one.fastest.measured[0].foreign:
            yield from (Row(point, None, None, UNRANKED, doubts(point)) for point in one.ranked)
            continue
        said = claim(one)
        undecided = {id(point) for point in said.tied} | (set() if said.holds else {id(said.best)})
        for number, point in enumerate(one.ranked):
            verdict = UNDECIDED if id(point) in undecided else "" if number else FASTEST
            if len(one.ranked) == 1:
                verdict = "alone"
            yield Row(point, number + 1, point.time_s / one.fastest.time_s, verdict, doubts(point))


def newest_first(found: list[Comparison]) -> list[Comparison]:
    """Comparisons in their order, those of one cell and machine with the newest build first."""

    def last(one: Comparison) -> str:
        return max(started_at(launch) for point in one.points for launch in point.measured)

    groups = group_by(found, lambda one: (one.cell, one.fastest.measured[0].machine_hash))
    return [one for group in groups for one in sorted(group, key=last, reverse=True)]


@dataclass
class Series:
    """One point on one machine over builds, oldest first."""

    title: str
    machine: str
    machine_address: str
    problem_address: str
    values: list[tuple[str, str, float, int]]  # when its first launch began, build, median seconds, launches

    @property
    def seconds(self) -> list[float]:
        return [seconds for _, _, seconds, _ in self.values]

    @property
    def change(self) -> float:
        """The last value over the first."""
        return self.seconds[-1] / self.seconds[0]

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "machine": self.machine_address,
            "problem": self.problem_address,
            "builds": [
                {"first_started_at": at, "revision": build, "median_s": seconds, "launches": launches}
                for at, build, seconds, launches in self.values
            ],
        }


def series_of(launches: Sequence[Launch]) -> list[Series]:
    """What was measured with two builds or more; those with most builds first. Values stand for builds."""
    points = [one for one in group_points(Campaign("site", "site", list(launches))) if one.measured]

    def home(point: Point) -> tuple:
        first = point.measured[0]
        return first.point_id, point.cell, first.machine_hash, "emulated" in point.flags, first.foreign

    found = [_series(group) for group in group_by(points, home) if len(group) > 1]
    return sorted(found, key=lambda one: (-len(one.values), one.title, one.machine_address))


def _series(points: Sequence[Point]) -> Series:
    first = points[0].measured[0]
    values = [
        (min(map(started_at, point.measured)), build_title(point.measured[0]), point.time_s, len(point.measured))
        for point in points
    ]
    cell = points[0].cell
    marked = [flag for flag in APART if flag in points[0].flags]
    words = [f"{method_title(points[0].method)} at {shape_text(cell.shape)}", cell.place.text(cell.place.nodes > 1)]
    return Series(
        title=", ".join([*words, *contract_terms(cell.contract), *marked]),
        machine=machine_title(first),
        machine_address=machine_address(first.machine_hash) if first.machine_hash else "",
        problem_address=problem_address(problem_of(cell)),
        values=sorted(values),
    )
