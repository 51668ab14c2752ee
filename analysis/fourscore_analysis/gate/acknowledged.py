"""Changes that a maintainer expects: which series, which revisions, and why. `fourscore history` checks their file, and
hands on what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from fourscore_analysis.gate.revisions import Build, Revisions
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import entries, integer_of, read, shown, table_of, text_of


@dataclass(frozen=True)
class Acknowledgement:
    """Accepts changes that came with the revisions `first` to `last`, both included, as places in their order."""

    where: str  # FILE:LINE
    series: Mapping[str, str]  # patterns by key
    first: int
    last: int
    reason: str

    def covers(self, keys: Mapping[str, str], before: Build, after: Build) -> bool:
        """Whether a change between these two builds is one of them: a revision behind the one, up to the other, is."""
        if not matches(self.series, keys):
            return False
        if before.place == after.place:  # the same revision, built again
            return self.first <= after.place <= self.last
        return self.first <= after.place and self.last > before.place


def matches(patterns: Mapping[str, str], keys: Mapping[str, str]) -> bool:
    return all(fnmatchcase(keys.get(key, ""), pattern) for key, pattern in patterns.items())


def read_acknowledgements(data: Any, known_keys: set[str], revisions: Revisions) -> list[Acknowledgement]:
    """Raises InputError for a series or a revision that there is not, with file and line."""
    found = []
    for one in data:
        table = table_of(one)
        where = f"{read(table, 'file', text_of)}:{read(table, 'line', integer_of)}"
        series = read(table, "series", entries(text_of))
        check_patterns(series, known_keys, where)
        places = {}
        for end in ("first", "last"):
            name = read(table, end, text_of)
            places[end] = revisions.place(name)
            if places[end] is None:
                raise InputError(
                    f"{where}: {end}: {shown(name)} is no revision of the history, or the beginning of several"
                )
        if places["first"] > places["last"]:
            raise InputError(f"{where}: the revision of 'first' comes after that of 'last'")
        found.append(Acknowledgement(where, series, places["first"], places["last"], read(table, "reason", text_of)))
    return found


def check_patterns(series: Mapping[str, str], known_keys: set[str], where: str) -> None:
    """Raises InputError for a key that no series has."""
    for key in series:
        if key not in known_keys:
            raise InputError(
                f"{where}: {shown(key)} is no key of any series here; there are: {', '.join(sorted(known_keys))}"
            )
