"""How the parameters of a machine change over the years: trend files, and a machine of another year.

name = "mine"
year = 2026
[trends]
memory_bandwidth = { doubling = 3.0, unit = "years" }
nodes = { factor = 1.1, per = "year" }
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fourscore_analysis.models.machines import Machine, Quantity, named_files, read_forms, read_toml, refuse_unknown
from fourscore_analysis.models.parameters import PARAMETERS
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import shown

YEARS = {"years": 1.0, "months": 1 / 12}  # units of a doubling time
PERIODS = {"year": 1.0, "decade": 10.0}  # years in which a factor holds
NODES = "nodes"
OF_MACHINE = (NODES, "peak", "memory")  # that change beside the parameters
LEAST_FACTOR, MOST_FACTOR = 1e-3, 1e3  # a year
_KEYS = ("name", "description", "source", "machine", "year", "forms", "trends")


@dataclass(frozen=True)
class Trend:
    """Grows by `yearly` each year; `written`: as the file has it."""

    yearly: float
    written: str
    source: str = ""


@dataclass(frozen=True)
class Trends:
    """From `year` on, where the machine says none. `machine`: a published one or a file, "" for what the user names."""

    name: str
    description: str
    source: str
    machine: str
    year: int | None
    forms: dict[str, str]
    trends: dict[str, Trend]


def trends_of(asked: str) -> Trends:
    """The file, or the published trends of that name. Raises InputError."""
    known = named_files("trends")
    if asked not in known and "/" not in asked and not asked.endswith(".toml") and not Path(asked).exists():
        published = ", ".join(known)
        raise InputError(f"no trends {shown(asked)}; expected a file that ends with .toml, or one of: {published}")
    return read_trends(known.get(asked) or Path(asked))


def read_trends(path: Path) -> Trends:
    """Raises InputError naming the file, the key and what was expected."""
    data, where = read_toml(path), str(path)
    refuse_unknown(data, _KEYS, where)
    texts = {}
    for key in ("name", "description", "source", "machine"):
        texts[key] = data.get(key, "")
        if not isinstance(texts[key], str):
            raise InputError(f"{where}: {key} is {shown(texts[key])}; expected text")
    year = data.get("year")
    if year is not None and (type(year) is not int or not 1900 <= year <= 2200):
        raise InputError(f"{where}: year is {shown(year)}; expected a whole number from 1900 to 2200")
    found = data.get("trends")
    if not isinstance(found, dict) or not found:
        raise InputError(
            f'{where}: trends is {shown(found)}; expected a table, as flop_rate = {{ doubling = 1.7, unit = "years" }}'
        )
    refuse_unknown(found, [*PARAMETERS, *OF_MACHINE], f"{where}: trends", "a parameter")
    trends = {name: _trend(value, f"{where}: trends.{name}") for name, value in found.items()}
    return Trends(**texts, year=year, forms=read_forms(data.get("forms", {}), where), trends=trends)


def _trend(value: Any, where: str) -> Trend:
    expected = 'expected { doubling = 1.7, unit = "years" } or { factor = 59.0, per = "decade" }'
    if not isinstance(value, dict):
        raise InputError(f"{where} is {shown(value)}; {expected}")
    refuse_unknown(value, ("doubling", "unit", "factor", "per", "source"), where)
    if ("doubling" in value) == ("factor" in value):
        raise InputError(f"{where} is {shown(value)}; {expected}")
    source = value.get("source", "")
    if not isinstance(source, str):
        raise InputError(f"{where}.source is {shown(source)}; expected text")
    if "doubling" in value:
        number, unit = _positive(value, "doubling", where), _unit(value, "unit", YEARS, where)
        yearly, written = 2.0 ** min(1 / (number * YEARS[unit]), 1e3), f"doubles in {number:g} {unit}"
    else:
        number, period = _positive(value, "factor", where), _unit(value, "per", PERIODS, where)
        yearly, written = number ** (1 / PERIODS[period]), f"× {number:g} a {period}"
    if not LEAST_FACTOR <= yearly <= MOST_FACTOR:
        raise InputError(
            f"{where}: {written} is absurd; expected a factor of {LEAST_FACTOR:g} to {MOST_FACTOR:g} a year"
        )
    return Trend(yearly, written, source)


def _unit(value: Mapping[str, Any], key: str, units: Mapping[str, float], where: str) -> str:
    words = " or ".join(units)
    if key not in value:
        raise InputError(f"{where} has no unit of time: {key} is missing; expected {words}")
    if value[key] not in units:
        raise InputError(f"{where}.{key} is {shown(value[key])}; expected {words}")
    return value[key]


def _positive(value: Mapping[str, Any], key: str, where: str) -> float:
    number = value[key]
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 < number < math.inf:
        raise InputError(f"{where}.{key} is {shown(number)}; expected a number above 0")
    return float(number)


def machine_in(machine: Machine, trends: Trends, year: int) -> Machine:
    """The machine as it would be in `year`. Raises InputError for a trend of what the machine does not have, and where
    a value leaves what a parameter may be."""
    first = machine.year or trends.year
    if first is None:
        raise InputError(f"neither {machine.name} nor the trends say from which year on; give one of them a year")
    years = year - first
    grown = {name: trend.yearly**years for name, trend in trends.trends.items()}
    return replace(
        machine,
        year=year,
        nodes=round(machine.nodes * grown.get(NODES, 1.0)) if machine.nodes else None,
        parameters={name: _grown(name, one, grown, year) for name, one in machine.parameters.items()},
        whole={
            name: replace(one, value=one.value * grown[name], interval=None)
            for name, one in machine.whole.items()
            if name in grown
        },
    )


def without_base(machine: Machine, trends: Trends) -> list[str]:
    """Trends of what the machine does not have: they change nothing."""
    known = {*machine.parameters, *machine.whole, *([NODES] if machine.nodes else [])}
    return [name for name in trends.trends if name not in known]


def _grown(name: str, one: Quantity, grown: Mapping[str, float], year: int) -> Quantity:
    value, parameter = one.value * grown.get(name, 1.0), PARAMETERS[name]
    if not parameter.least <= value <= parameter.most:
        raise InputError(f"{name} would be {value:.3g} {parameter.unit} in {year}; expected at most {parameter.most:g}")
    if one.interval is None:
        return replace(one, value=value)
    low, high = (end * grown.get(name, 1.0) for end in one.interval)
    return replace(one, value=value, interval=(low, high))
