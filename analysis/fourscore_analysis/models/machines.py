"""Parameter files: what the models know of one machine, each value with its unit and its source. TOML, as in
docs/predicting.md; those of published machines lie in machines/ of a paper.

    name = "mine"
    nodes = 16
    [parameters]
    memory_bandwidth = { value = 21.3, unit = "GB/s", source = "memory_bench", interval = [20.9, 21.6] }
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fourscore_analysis.models.base import models
from fourscore_analysis.models.cost import Cost, read_cost
from fourscore_analysis.models.parameters import PARAMETERS
from fourscore_analysis.models.units import PLAIN, expected, size_of
from fourscore_analysis.points.units import ranks_text
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.papers import files_of_papers
from fourscore_analysis.records.values import RecordError, shown

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
MOST_NODES, MOST_BYTES = 10**9, 2**20
# Figures of the whole machine, that no model needs: drawn beside a projection.
WHOLE = {"peak": "flop/s", "linpack": "flop/s", "memory": "B"}
WHOLE_BOUNDS = (1.0, 1e30)
_KEYS = (
    "name",
    "description",
    "source",
    "year",
    "nodes",
    "ranks_per_node",
    "machine_hash",
    "forms",
    "parameters",
    "whole",
    "cost",
)
_QUANTITY = ("value", "unit", "source", "interval")


@dataclass(frozen=True)
class Quantity:
    """In SI units; `unit` is how it is written. The interval holds the value with 95 %."""

    value: float
    unit: str
    source: str = ""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Machine:
    """`forms`: how this machine is to be read by models that have a form of that name, as network = "bisection".
    `machine_hash`: of the machine in an archive that this was fitted on, "" for another."""

    name: str
    description: str = ""
    source: str = ""
    year: int | None = None
    nodes: int | None = None
    ranks_per_node: int = 1
    parameters: dict[str, Quantity] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    whole: dict[str, Quantity] = field(default_factory=dict)
    machine_hash: str = ""
    cost: Cost | None = None

    @property
    def values(self) -> dict[str, float]:
        return {name: one.value for name, one in self.parameters.items()}

    def balance(self, bandwidth: str) -> float | None:
        """Flops a byte: C over a bandwidth; None where one of them is not known."""
        rate, other = self.parameters.get("flop_rate"), self.parameters.get(bandwidth)
        return rate.value / other.value if rate and other else None


def published_machines() -> dict[str, Machine]:
    """The machines that come with papers, by name."""
    return {name: read_machine(path) for name, path in named_files("machines").items()}


def named_files(folder: str) -> dict[str, Path]:
    """TOML files of the papers' folders of that name, by their names. Raises InputError where two have the same."""
    found: dict[str, Path] = {}
    for path in files_of_papers(folder, ".toml"):
        if found.setdefault(path.stem, path) is not path:
            raise InputError(f"two {folder} are called {path.stem}: {found[path.stem]} and {path}")
    return dict(sorted(found.items()))


def machine_of(asked: str) -> Machine | None:
    """The file, or the published machine of that name; None where it is neither. A name with a / or that ends with
    .toml is a file: raises InputError where it cannot be read."""
    if "/" in asked or asked.endswith(".toml"):
        return read_machine(Path(asked))
    path = named_files("machines").get(asked)
    return read_machine(path) if path else None


def read_machine(path: Path) -> Machine:
    """Raises InputError naming the file, the key and what was expected."""
    return parse_machine(read_toml(path), str(path))


def cost_of_file(path: Path) -> Cost:
    """[cost] of a parameter file, or of a machine file of jobs. Raises InputError."""
    cost = read_cost(read_toml(path).get("cost"), str(path))
    if cost is None:
        raise InputError(f"{path} has no [cost]; expected node_hour_price or node_watts there")
    return cost


def read_toml(path: Path) -> dict[str, Any]:
    """Raises InputError with the file, and the line where TOML itself is broken."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib
    try:
        return tomllib.loads(regular_content(path, MOST_BYTES).decode("utf-8"))
    except RecordError as error:
        raise InputError(f"{path}: {error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: no TOML: {error}") from None


def parse_machine(data: Mapping[str, Any], where: str) -> Machine:
    refuse_unknown(data, _KEYS, where)
    name = data.get("name")
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        raise InputError(f"{where}: name is {shown(name)}; expected letters, digits and -, at most 64")
    whole = {
        key: quantity(value, unit_of, WHOLE_BOUNDS, f"{where}: whole.{key}")
        for key, unit_of, value in _known(data, "whole", WHOLE, where)
    }
    measured = {one.name: one.unit for one in PARAMETERS.values()}
    parameters = {}
    for key, unit_of, value in _known(data, "parameters", measured, where):
        bounds = (PARAMETERS[key].least, PARAMETERS[key].most)
        parameters[key] = quantity(value, unit_of, bounds, f"{where}: parameters.{key}")
    return Machine(
        name=name,
        description=_text(data, "description", where),
        source=_text(data, "source", where),
        year=_integer(data, "year", 1900, 2200, where),
        nodes=_integer(data, "nodes", 1, MOST_NODES, where),
        ranks_per_node=_integer(data, "ranks_per_node", 1, 10**6, where) or 1,
        parameters=parameters,
        forms=read_forms(data.get("forms", {}), where),
        whole=whole,
        machine_hash=_text(data, "machine_hash", where),
        cost=read_cost(data.get("cost"), where),
    )


def quantity(value: Any, measures: str, bounds: tuple[float, float], where: str) -> Quantity:
    """{ value = 21.3, unit = "GB/s" } in SI units. Raises InputError."""
    if not isinstance(value, dict):
        raise InputError(f'{where} is {shown(value)}; expected {{ value = ..., unit = "..." }}')
    refuse_unknown(value, _QUANTITY, where)
    unit = value.get("unit")
    if unit is None:
        raise InputError(f"{where} has no unit; expected {expected(measures)}")
    size = size_of(unit, measures) if isinstance(unit, str) else None
    if size is None:
        raise InputError(f"{where}.unit is {shown(unit)}; expected {expected(measures)}")
    number = _number(value.get("value"), f"{where}.value") * size
    _refuse_absurd(number, value["value"], unit, bounds, size, f"{where}.value")
    interval = value.get("interval")
    if interval is None:
        return Quantity(number, unit, _text(value, "source", where))
    if not (isinstance(interval, list) and len(interval) == 2):
        raise InputError(f"{where}.interval is {shown(interval)}; expected [low, high] in {unit}")
    low, high = (_number(end, f"{where}.interval") * size for end in interval)
    _refuse_absurd(low, interval[0], unit, bounds, size, f"{where}.interval")
    _refuse_absurd(high, interval[1], unit, bounds, size, f"{where}.interval")
    if not low <= number <= high:
        raise InputError(
            f"{where}.interval is {shown(interval)}; expected [low, high] around the value {value['value']}"
        )
    return Quantity(number, unit, _text(value, "source", where), (low, high))


def read_forms(value: Any, where: str) -> dict[str, str]:
    """Names and choices of forms that some model has. Raises InputError."""
    if not isinstance(value, dict):
        raise InputError(f'{where}: forms is {shown(value)}; expected a table, as network = "full"')
    known: dict[str, list[str]] = {}
    for model in models().values():
        for form in model.forms:
            known.setdefault(form.name, []).extend(form.choices)
    refuse_unknown(value, known, f"{where}: forms", "a form that a model has")
    for name, choice in value.items():
        if choice not in known[name]:
            choices = ", ".join(dict.fromkeys(known[name]))
            raise InputError(f"{where}: forms.{name} is {shown(choice)}; expected one of {choices}")
    return dict(value)


def refuse_unknown(data: Mapping[str, Any], known: Iterable[str], where: str, what: str = "a key") -> None:
    """Raises InputError for the first key that is not known, with the nearest that is."""
    names = list(known)
    for key in data:
        if key not in names:
            near = difflib.get_close_matches(key, names, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise InputError(f"{where}: {shown(key)} is not known; {meant}expected {what}: {', '.join(names)}")


def machine_text(machine: Machine) -> str:
    """TOML that read_machine() reads back."""
    lines = [f"name = {_quoted(machine.name)}"]
    for key in ("description", "source", "machine_hash"):
        if value := getattr(machine, key):
            lines.append(f"{key} = {_quoted(value)}")
    for key in ("year", "nodes", "ranks_per_node"):
        if (value := getattr(machine, key)) is not None:
            lines.append(f"{key} = {value}")
    for title, quantities in (("parameters", machine.parameters), ("whole", machine.whole)):
        if quantities:
            measures = {name: one.unit for name, one in PARAMETERS.items()} | WHOLE
            lines += ["", f"[{title}]", *(_quantity_text(key, one, measures[key]) for key, one in quantities.items())]
    if machine.cost:
        given = {name: value for name, value in vars(machine.cost).items() if value is not None}
        lines += ["", "[cost]"]
        lines += [
            f"{name} = {_quoted(value) if isinstance(value, str) else _toml_number(value)}"
            for name, value in given.items()
        ]
    if machine.forms:
        lines += ["", "[forms]", *(f"{key} = {_quoted(value)}" for key, value in machine.forms.items())]
    return "\n".join(lines) + "\n"


def with_threads(machine: Machine, threads: int) -> Machine:
    """With ranks that have so many threads, each in the place of as many ranks. Raises InputError where a node has not
    so many."""
    if threads == 1:
        return machine
    if threads > machine.ranks_per_node:
        raise InputError(
            f"{machine.name} has {ranks_text(machine.ranks_per_node)} a node; expected at most as many threads of one "
            f"rank, which takes the places of them, not {threads}"
        )

    def taken(one: Quantity, factor: float) -> Quantity:
        ends = tuple(factor * end for end in one.interval) if one.interval else None
        return replace(one, value=factor * one.value, interval=ends)

    grown = {name: taken(one, float(threads) ** PARAMETERS[name].together) for name, one in machine.parameters.items()}
    return replace(machine, parameters=grown, ranks_per_node=machine.ranks_per_node // threads)


def plain_unit(name: str) -> str:
    """The unit in which a fitted value of the parameter is written."""
    return PLAIN[PARAMETERS[name].unit]


def _quantity_text(key: str, one: Quantity, measures: str) -> str:
    size = size_of(one.unit, measures)
    assert size is not None
    parts = [f"value = {_toml_number(one.value / size)}", f"unit = {_quoted(one.unit)}"]
    if one.interval:
        parts.append(f"interval = [{', '.join(_toml_number(end / size) for end in one.interval)}]")
    if one.source:
        parts.append(f"source = {_quoted(one.source)}")
    return f"{key} = {{ {', '.join(parts)} }}"


def _toml_number(value: float) -> str:
    text = f"{value:.12g}"
    return text if any(mark in text for mark in ".e") else f"{text}.0"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a basic string of TOML has the escapes of JSON


def _known(data: Mapping[str, Any], table: str, units: Mapping[str, str], where: str) -> list[tuple[str, str, Any]]:
    """(key, what it measures, value) of a table of quantities."""
    found = data.get(table, {})
    if not isinstance(found, dict):
        raise InputError(f"{where}: {table} is {shown(found)}; expected a table")
    refuse_unknown(found, units, f"{where}: {table}", "a parameter" if table == "parameters" else "a key")
    return [(key, units[key], value) for key, value in found.items()]


def _refuse_absurd(
    value: float, written: object, unit: str, bounds: tuple[float, float], size: float, where: str
) -> None:
    least, most = bounds
    if not least <= value * (1 + 1e-12) or not value * (1 - 1e-12) <= most:
        raise InputError(f"{where} is {shown(written)} {unit}; expected {least / size:g} to {most / size:g} {unit}")


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"{where} is {shown(value)}; expected a number")
    return float(value)


def _text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} is {shown(value)}; expected text")
    return value


def _integer(data: Mapping[str, Any], key: str, least: int, most: int, where: str) -> int | None:
    value = data.get(key)
    if value is None:
        return None
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{where}: {key} is {shown(value)}; expected a whole number from {least} to {most}")
    return value
