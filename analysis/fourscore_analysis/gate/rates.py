"""How often the gate errs on one machine, as `fourscore gate certify` measured it there: what every report of a gate
carries."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.files import regular_content, write_whole
from fourscore_analysis.records.values import (
    RecordError,
    each,
    integer_of,
    name_of,
    number_of,
    parse_json,
    plain_name,
    read,
    table_of,
)

RATES_SCHEMA, SCHEMA_VERSION = "fourscore.gate-rates", 1
SHARES = ("red", "series", "blamed")


@dataclass(frozen=True)
class Share:
    """`count` of `of`."""

    count: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Clopper and Pearson (Biometrika 26, 1934)."""
        if not self.of:
            return (0.0, 1.0)
        from scipy.special import betaincinv  # slow to load

        others = self.of - self.count
        low = float(betaincinv(self.count, others + 1, 0.025)) if self.count else 0.0
        return low, float(betaincinv(self.count + 1, others, 0.975)) if others else 1.0

    def text(self) -> str:
        """29 of 30, 97 % [83, 100]"""
        if not self.of:
            return "none of none"
        low, high = (f"{100 * end:.0f}" for end in self.interval)
        return f"{self.count} of {self.of}, {100 * self.count / self.of:.0f} % [{low}, {high}]"


@dataclass(frozen=True)
class Rate:
    """How often comparisons were red whose candidate was slower by so many percent; 0: the same build, untouched."""

    slower_percent: float
    red: Share  # comparisons
    series: Share  # called a regression, among those that have a verdict on their times
    blamed: Share  # regressions whose most changed phase is the one that was made slower


@dataclass(frozen=True)
class Rates:
    machine_hash: str
    phase: str  # that was made slower
    rates: tuple[Rate, ...]  # by size, ascending

    def of(self, percent: float) -> Rate | None:
        return next((rate for rate in self.rates if rate.slower_percent == percent), None)


def text_of(rates: Rates) -> str:
    lines = [f"machine {rates.machine_hash}; slowed phase: {rates.phase}; 95 % intervals"]
    lines += [f"  {'candidate':<14}{'comparisons red':<28}{'series called slower':<30}blame is right"]
    for rate in rates.rates:
        name = f"{rate.slower_percent:g} % slower" if rate.slower_percent else "the same"
        blamed = rate.blamed.text() if rate.slower_percent else "-"
        lines.append(f"  {name:<14}{rate.red.text():<28}{rate.series.text():<30}{blamed}")
    return "\n".join(lines)


def sentence_of(rates: Rates) -> str:
    """For every report of a gate: how often it errs where it was measured."""
    parts = []
    for rate in rates.rates:
        if rate.slower_percent == 0:
            parts.append(f"a build compared with itself was red in {rate.red.text()}")
        else:
            parts.append(f"of series slower by {rate.slower_percent:g} % it found {rate.series.text()}")
    return f"Certified on this machine: {'; '.join(parts)}."


def rates_json(rates: Rates) -> dict:
    found = asdict(rates)
    for rate, one in zip(rates.rates, found["rates"], strict=True):
        for name in SHARES:
            one[name]["interval"] = list(getattr(rate, name).interval)
    return {"schema": RATES_SCHEMA, "schema_version": SCHEMA_VERSION} | found


def keep_rates(archive: Path, rates: Rates) -> Path:
    """Where compare finds them: the last certification of each machine."""
    file = _file_of(archive, rates.machine_hash)
    file.parent.mkdir(exist_ok=True)
    write_whole(file, json.dumps(rates_json(rates), indent=1) + "\n")
    return file


def _file_of(archive: Path, machine_hash: str) -> Path:
    return archive / "certifications" / f"rates-{plain_name(machine_hash)}.json"


def kept_rates(archive: Path, machine_hash: str) -> Rates | None:
    """None where this machine was not certified, or what was kept cannot be read."""
    try:
        file = _file_of(archive, machine_hash)
        if not file.is_file():
            return None
        data = read_document(file, RATES_SCHEMA)
        return Rates(
            read(data, "machine_hash", name_of),
            read(data, "phase", name_of),
            tuple(
                Rate(read(one, "slower_percent", number_of), *(_share(one, name) for name in SHARES))
                for one in read(data, "rates", each(table_of))
            ),
        )
    except (InputError, RecordError):
        return None


def _share(data: dict, name: str) -> Share:
    share = read(data, name, table_of)
    found = Share(read(share, "count", integer_of), read(share, "of", integer_of))
    if not 0 <= found.count <= found.of:
        raise RecordError(f"{name}: {found.count} of {found.of} is no share")
    return found


def read_document(file: Path, schema: str) -> dict:
    """A JSON object that says so of itself. Raises InputError."""
    try:
        data = parse_json(regular_content(file))
    except RecordError as error:
        raise InputError(f"'{file}' cannot be read: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != schema or data.get("schema_version") != SCHEMA_VERSION:
        raise InputError(f"'{file}' is no {schema} of version {SCHEMA_VERSION}")
    return data
