"""Builds of the code in the order of their revisions: as a repository has them, else as they were first measured."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fourscore_analysis.records.briefs import UNKNOWN, Brief

SHORTEST_REVISION = 7  # digits by which a revision may be named
SHOWN_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Build:
    """One program: a revision, compiled once, with the libraries that it was loaded with. `place` counts revisions from
    0; what has none of its own lies between two of them."""

    code_hash: str
    revision: str
    dirty: bool
    first_at: str
    place: float

    @property
    def name(self) -> str:
        """3f2c9b1a44, 3f2c9b1a44 with changes, unknown (build 9c1d0e22)"""
        if self.revision == UNKNOWN:
            return f"unknown (build {self.code_hash[:8]})"
        return self.revision[:SHOWN_DIGITS] + (" with changes" if self.dirty else "")


class Revisions:
    """Revisions in their order, to be found by the beginning of their names too."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places = {name: place for place, name in enumerate(names)}
        self._sorted = sorted(self._places)

    def place(self, name: str) -> int | None:
        """None where no revision, or more than one, begins so."""
        if name in self._places:
            return self._places[name]
        if len(name) < SHORTEST_REVISION:
            return None
        first = bisect_left(self._sorted, name)
        found = self._sorted[first : first + 2]
        matching = [one for one in found if one.startswith(name)]
        return self._places[matching[0]] if len(matching) == 1 else None


def first_measured(launches: Iterable[Brief]) -> list[str]:
    """Known revisions by their first measurement."""
    first: dict[str, str] = {}
    for launch in launches:
        if launch.revision != UNKNOWN:
            first[launch.revision] = min(first.get(launch.revision, launch.started_at), launch.started_at)
    return sorted(first, key=lambda name: (first[name], name))


def ordered_builds(launches: Iterable[Brief], revisions: Revisions) -> list[Build]:
    """Every build of `launches`, in order. One with uncommitted changes follows its revision. One whose revision is
    unknown, or not among `revisions`, follows what was first measured last before it."""
    first: dict[tuple[str, str, bool], str] = {}
    for launch in launches:
        key = (launch.code_hash, launch.revision, launch.dirty)
        first[key] = min(first.get(key, launch.started_at), launch.started_at)
    places = {revision: revisions.place(revision) for _, revision, _ in first if revision != UNKNOWN}
    placed = sorted((first_at, places[key[1]]) for key, first_at in first.items() if places.get(key[1]) is not None)
    times = [first_at for first_at, _ in placed]

    def place_of(revision: str, first_at: str) -> float:
        if (place := places.get(revision)) is not None:
            return place
        before = bisect_right(times, first_at)
        return placed[before - 1][1] + 0.5 if before else -0.5

    builds = [Build(*key, first_at, place_of(key[1], first_at)) for key, first_at in first.items()]
    return sorted(builds, key=lambda one: (one.place, one.dirty, one.first_at, one.code_hash))


def not_placed(builds: Iterable[Build], revisions: Revisions) -> list[str]:
    """Known revisions of `builds` that are not among `revisions`."""
    names: Mapping[str, None] = dict.fromkeys(one.revision for one in builds if one.revision != UNKNOWN)
    return [name for name in names if revisions.place(name) is None]
