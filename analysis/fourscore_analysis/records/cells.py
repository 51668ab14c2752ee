"""What a record measured: the problem under a contract at a place, and the method that solves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fourscore_analysis.records.basics import Place
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

ZFP_RATE, USUAL_ZFP_RATE = "zfp-rate", 24  # the parameter, and its default: core/parameters.cpp
OTHER_WORK = ("other_work", "other_work_load", "other_work_place")  # keys that are said where there is some


@dataclass(frozen=True, slots=True)
class Contract:
    """What two measurements must share to be ranked against each other."""

    layout: str
    buffers: str
    normalisation: str
    precision: str
    kind: str
    direction: str
    planner: str
    threads: int
    instances: int
    fields: int = 1  # in each instance
    platform: str = "none"  # the simulated machine; its times are never ranked with those of real ones
    operator: str = ""  # what the spectrum of direction convolution is multiplied by
    wire: str = "as-is"  # what messages hold: results through smaller ones are less accurate
    wire_bits: int = 0  # a number in a compressed message has so many; 0 for other messages
    other_work: str = ""  # "2ms" that each rank computes beside its transforms; "": nothing
    other_work_load: str = ""  # "memory", or "" for compute
    other_work_place: str = ""  # "during" transforms, or "" for between

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
    exchange: str
    local_fft: str
    grid: str  # "auto", "2x2" or "tuned"
    parameters: str  # "" or "name=value, ..."
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


def read_cell(point: dict[str, Any], place: Place) -> Cell:
    shape = read(point, "shape", each(integer_of))
    if not 1 <= len(shape) <= 3 or min(shape) < 1:
        raise RecordError(f"shape {shown(point['shape'])} is not 1 to 3 positive extents")
    if math.prod(shape) >= 2**63:
        raise RecordError(f"shape {shown(point['shape'])} has more elements than can be addressed")
    terms = read(point, "contract", table_of)
    wire = read(point, "wire", name_of, "as-is")
    parameters = read(point, "parameters", table_of, {}) if wire == "zfp" else {}
    rate = read(parameters, ZFP_RATE, _rate, USUAL_ZFP_RATE)
    contract = Contract(
        layout=read(terms, "layout", name_of),
        buffers=read(terms, "buffers", name_of),
        normalisation=read(terms, "normalisation", name_of, "none"),
        precision=read(point, "precision", name_of),
        kind=read(point, "kind", name_of),
        direction=read(point, "direction", name_of),
        planner=read(terms, "planner", name_of),
        threads=read(point, "threads", count_of, 1),
        instances=read(point, "instances", count_of, 1),
        fields=read(point, "fields", count_of, 1),
        platform=place.platform,
        operator=read(point, "operator", name_of, ""),
        wire=wire,
        wire_bits=rate if wire == "zfp" else 0,
        other_work=read(point, "other_work", name_of, ""),
        other_work_load=read(point, "other_work_load", name_of, ""),
        other_work_place=read(point, "other_work_place", name_of, ""),
    )
    return Cell(contract, shape, place)


def read_method(point: dict[str, Any]) -> Method:
    parameters = read(point, "parameters", entries(name_of), {})
    return Method(
        variant=read(point, "variant", name_of),
        exchange=read(point, "exchange", name_of, "none"),
        local_fft=read(point, "local_fft", name_of, ""),
        grid=read(point, "grid", grid_of, "auto"),
        parameters=", ".join(f"{name}={value}" for name, value in parameters.items()),
        placement=read(point, "placement", name_of, "all") if read(point, "instances", count_of, 1) > 1 else "",
        field_order=read(point, "field_order", name_of, "together") if read(point, "fields", count_of, 1) > 1 else "",
        active_ranks=read(point, "active_ranks", active_ranks_of, ""),
        options=tuple(parameters.items()),
    )


def _rate(value: Any) -> int:
    text = name_of(value)
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise RecordError(f"{ZFP_RATE} is {shown(value)}, expected bits of a number")
    return int(text)


def active_ranks_of(value: Any) -> str:
    return name_of(value) if isinstance(value, str) else str(count_of(value))


def grid_of(value: Any) -> str:
    return value if isinstance(value, str) else "x".join(str(extent) for extent in each(count_of)(value))
