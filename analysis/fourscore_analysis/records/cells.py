"""What a record measured: the problem under a contract at a place, and the method that solves it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Any

from fourscore_analysis.records.basics import CORE, Place
from fourscore_analysis.records.values import (
    RecordError,
    count_of,
    each,
    entries,
    integer_of,
    name_of,
    read,
    shown,
    table_of,
)

POINT_KEYS: dict[str, dict[str, str]] = CORE["point_keys"]  # path and form of each, by name, in core's order
ZFP_RATE, USUAL_ZFP_RATE = "zfp-rate", 24  # the parameter, and its default: core/parameters.cpp
OTHER_WORK = ("other_work", "other_work_load", "other_work_place")  # keys that are said where there is some


@dataclass(frozen=True, slots=True)
class Contract:
    """What two measurements must share to be ranked against each other. Attributes, here and of Method, that are
    called as keys of a point are read from it."""

    layout: str
    buffers: str
    normalisation: str
    precision: str
    kind: str
    direction: str
    planner: str
    threads: int = 1
    instances: int = 1
    fields: int = 1  # in each instance
    platform: str = "none"  # the simulated machine; its times are never ranked with those of real ones
    operator: str = ""  # what the spectrum of direction convolution is multiplied by
    wire: str = "as-is"  # what messages hold: results through smaller ones are less accurate
    wire_bits: int = 0  # a number in a compressed message has so many; 0 for other messages
    other_work: str = ""  # "2ms" that each rank computes beside its transforms; "": nothing
    other_work_load: str = ""  # "memory", or "" for compute
    other_work_place: str = ""  # "during" transforms, or "" for between
    further: tuple[tuple[str, str], ...] = ()  # (key, value) of keys of a point that have no attribute anywhere

    @property
    def goes_back(self) -> bool:
        """Whether a sample is a transform forward and one backward."""
        return self.direction in ("roundtrip", "convolution")

    @property
    def wire_text(self) -> str:
        """single; zfp at 24 bits"""
        return f"{self.wire} at {self.wire_bits} bits" if self.wire_bits else self.wire

    @property
    def wire_share(self) -> float:
        """Bytes of an element in a message over those in memory."""
        if self.wire == "zfp":
            return (self.wire_bits or USUAL_ZFP_RATE) / 64
        return 0.5 if self.wire == "single" else 1.0


TUNED = "tuned"  # in the place of an exchange or a grid: each launch chose it by measurement


@dataclass(frozen=True, slots=True)
class Method:
    """Who solves the problem, and with which options."""

    variant: str
    exchange: str = "none"
    local_fft: str = ""
    grid: str = "auto"  # or "2x2", or "tuned"
    parameters: str = ""  # or "name=value, ..."
    placement: str = ""  # "all" or "subset" for several instances; "" for one
    field_order: str = ""  # "together", "in-turn" or "pipelined" for several fields; "" for one
    active_ranks: str = ""  # "2" or "auto", of the ranks of an instance; "" for all
    options: tuple[tuple[str, str], ...] = ()  # the same, apart: (name, value), sorted by name

    def option(self, name: str) -> str | None:
        """The value of one of the variant's own parameters, None where it was not given."""
        return dict(self.options).get(name)


@dataclass(frozen=True, slots=True)
class Cell:
    """One comparison: the same problem at the same place under the same contract."""

    contract: Contract
    shape: tuple[int, ...]
    place: Place

    @property
    def ranks(self) -> int:
        return self.place.ranks

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def credited_flops(self) -> float:
        """5 N log2 N, half of it for real data, there and once back, of all fields and instances: the convention of
        benchFFT."""
        factor = 2.5 if self.contract.kind == "r2c" else 5.0
        transforms = self.contract.instances * self.contract.fields * (2 if self.contract.goes_back else 1)
        return transforms * factor * self.elements * math.log2(self.elements)


def word_of(value: Any) -> str:
    """A word, a number, or extents joined by x."""
    if isinstance(value, str):
        return name_of(value)
    return "x".join(map(str, each(count_of)(value if isinstance(value, list) else [value])))


_shape_of, _parameters_of = each(integer_of), entries(name_of)
_OF_FORM = {"text": name_of, "integer": count_of}  # the others are texts at times
_Reader = tuple[bool, str, Callable[[Any], Any], bool]  # in the contract or not, key, how it is read, required


def _reader(key: str, required: bool = False) -> _Reader:
    one = POINT_KEYS[key]
    return one["path"].startswith("/contract/"), key, _OF_FORM.get(one["form"], word_of), required


def _readers(of: type) -> list[_Reader]:
    """Readers of the attributes that are keys of a point."""
    return [_reader(one.name, one.default is MISSING) for one in fields(of) if one.name in POINT_KEYS]


_OF_CELL = {"shape", "ranks", "nodes", "ranks_per_node", "placement_of_ranks", "host_order"}  # and of Place
_CONTRACT, _METHOD = _readers(Contract), _readers(Method)
_KNOWN = _OF_CELL.union(key for _, key, _, _ in _CONTRACT + _METHOD)
_FURTHER = [_reader(key) for key in POINT_KEYS if key not in _KNOWN]


def _values(point: dict[str, Any], terms: dict[str, Any], readers: Iterable[_Reader]) -> dict[str, Any]:
    """Without keys that are absent and may be: their attributes have defaults."""
    return {
        key: read(holder, key, kind)
        for of_contract, key, kind, required in readers
        if key in (holder := terms if of_contract else point) or required
    }


def read_cell(point: dict[str, Any], place: Place) -> Cell:
    shape = read(point, "shape", _shape_of)
    if not 1 <= len(shape) <= 3 or min(shape) < 1:
        raise RecordError(f"shape {shown(point['shape'])} is not 1 to 3 positive extents")
    if math.prod(shape) >= 2**63:
        raise RecordError(f"shape {shown(point['shape'])} has more elements than can be addressed")
    terms = read(point, "contract", table_of)
    values = _values(point, terms, _CONTRACT)
    values["normalisation"] = read(terms, "normalisation", name_of, "none")
    values["platform"] = place.platform
    if values.get("wire") == "zfp":
        values["wire_bits"] = read(read(point, "parameters", table_of, {}), ZFP_RATE, _rate, USUAL_ZFP_RATE)
    further = tuple((key, str(value)) for key, value in _values(point, terms, _FURTHER).items())
    return Cell(Contract(**values, further=further), shape, place)


def read_method(point: dict[str, Any]) -> Method:
    values = _values(point, point, _METHOD)
    parameters = read(point, "parameters", _parameters_of, {})
    for key, several, usual in (("placement", "instances", "all"), ("field_order", "fields", "together")):
        values[key] = values.get(key, usual) if read(point, several, count_of, 1) > 1 else ""
    options = tuple(parameters.items())
    return Method(**values, parameters=", ".join(f"{name}={value}" for name, value in options), options=options)


def _rate(value: Any) -> int:
    text = name_of(value)
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise RecordError(f"{ZFP_RATE} is {shown(value)}, expected bits of a number")
    return int(text)
