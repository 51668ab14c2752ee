"""What a model is: all that a module in this folder that defines MODEL has to know.

A model turns a question (a method on a problem at a place) into terms, each the seconds of one phase as an amount times
powers of parameters: T_net = 16 n^3/P . beta_link^-1. So every model is fitted, checked and asked in one way, and each
prediction says which term it comes from."""

from __future__ import annotations

import importlib
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from fourscore_analysis.records.cells import Cell, Contract, Method
from fourscore_analysis.records.papers import modules_of, sources


@dataclass(frozen=True)
class Question:
    """What is to be predicted. `grid`: the process grid, () where the method has none."""

    cell: Cell
    method: Method
    grid: tuple[int, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.cell, self.method, self.grid)))

    def __hash__(self) -> int:  # once: fits look questions up millions of times
        return self._hash

    @property
    def contract(self) -> Contract:
        return self.cell.contract

    @cached_property
    def ranks(self) -> int:
        return self.cell.ranks

    @cached_property
    def elements(self) -> int:
        """Points of the transform, complex or, of real data, as many as in complex storage: half."""
        return self.cell.elements

    @cached_property
    def word_bytes(self) -> int:
        """Bytes of an element as it is moved: complex, or half of that for real data."""
        word = 16 if self.contract.precision == "double" else 8
        return word // 2 if self.contract.kind == "r2c" else word

    @cached_property
    def runs(self) -> int:
        """Transforms in a sample: there and back are two, or of the gradient one forward and one back for each axis; of
        all fields and instances."""
        return self.arrays * (1 + self.fields_back if self.contract.goes_back else 1)

    @cached_property
    def fields_back(self) -> int:
        """Fields that a convolution leaves, each of a product of its own."""
        return len(self.cell.shape) if self.contract.operator == "gradient" else 1

    @property
    def arrays(self) -> int:
        """The arrays that are transformed: the fields of all instances."""
        return self.contract.instances * self.contract.fields

    @property
    def fields_a_message(self) -> int:
        return self.contract.fields if self.method.field_order == "together" else 1


Powers = tuple[tuple[str, int], ...]  # exponents of parameters, by name


class Term(NamedTuple):
    """amount x product of parameter^exponent seconds, in one phase. `name`: as the paper has it. Terms of one side
    are spent one after the other; where a phase takes the larger of its sides (Model.largest), these are spent at the
    same time."""

    phase: str
    name: str
    amount: float
    powers: Powers
    side: str = ""

    def seconds(self, values: Mapping[str, float]) -> float:
        return self.amount * math.prod(values[name] ** power for name, power in self.powers)


@dataclass(frozen=True)
class Form:
    """One choice between readings of a model: compute = sum or max. The first is the default. `of_file`: the default
    where the parameters are those of a file, which a machine has, and not those that a method was fitted with."""

    name: str
    choices: tuple[str, ...]
    meaning: str
    of_file: str = ""


Forms = Mapping[str, str]


@dataclass(frozen=True)
class Overlap:
    """What goes on at the same time as messages: these shares of phases, while all but one piece are in flight."""

    pieces: int
    shares: Mapping[str, float]

    def hidden(self, in_flight: Any, phases: Mapping[str, Any]) -> Any:
        """Seconds (numbers or arrays) of the exchange that computing hides. The longer of both takes its time, and one
        piece of the other stays: C + X - max(C + X/k, X + C/k)."""
        return (1 - 1 / self.pieces) * np.minimum(in_flight, self.computed(phases))

    def computed(self, phases: Mapping[str, Any]) -> Any:
        """Seconds that can go on meanwhile."""
        return sum(share * phases[phase] for phase, share in self.shares.items() if phase in phases)


IN_FLIGHT = "in flight"  # side of the terms of an exchange that need no processor
HIDDEN = "hidden by what is computed meanwhile"  # name of the term that takes them back


def _none(forms: Forms) -> frozenset[str]:
    return frozenset()


def _no_overlap(question: Question, forms: Forms) -> Overlap | None:
    return None


@dataclass(frozen=True)
class Model:
    """`terms(question, forms, values)` uses of `values` only the parameters in `shaping`, which shape the amounts (as
    cache_bytes); those that scale a term stand in its powers. `largest`: phases that take the larger of their sides.
    `overlap`: what goes on while messages are in flight."""

    name: str
    title: str
    citation: str  # a key of docs/bibliography.md, or "" for what no paper has
    equations: str
    validity: str  # in words
    variants: tuple[str, ...]  # () for every one
    terms: Callable[[Question, Forms, Mapping[str, float]], Sequence[Term]]
    shaping: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    largest: Callable[[Forms], frozenset[str]] = _none
    overlap: Callable[[Question, Forms], Overlap | None] = _no_overlap
    specialise: Callable[..., Model] | None = None  # chooses its terms from observations, as pmnf

    def default_forms(self, of_file: bool = False) -> dict[str, str]:
        return {form.name: (of_file and form.of_file) or form.choices[0] for form in self.forms}

    def covers(self, variant: str) -> bool:
        return not self.variants or variant in self.variants


@dataclass(frozen=True)
class Predicted:
    """Seconds of each phase, and the terms that they come from. `lacking`: the parameters that are not known, by phase;
    such a phase is in neither."""

    phases: dict[str, float]
    terms: tuple[tuple[Term, float], ...]
    lacking: dict[str, tuple[str, ...]]

    @property
    def total_s(self) -> float:
        """The sum of all phases, for a prediction that lacks none."""
        return math.fsum(self.phases.values())


def predict(model: Model, question: Question, values: Mapping[str, float], forms: Forms) -> Predicted:
    largest = model.largest(forms)
    terms = model.terms(question, forms, values)
    lacking: dict[str, set[str]] = defaultdict(set)
    for term in terms:
        if missing := {name for name, _ in term.powers if name not in values}:
            lacking[term.phase] |= missing
    timed = tuple((term, term.seconds(values)) for term in terms if term.phase not in lacking)
    sides: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for term, seconds in timed:
        sides[term.phase][term.side if term.phase in largest else ""] += seconds
    phases = {phase: max(found.values()) for phase, found in sides.items()}
    overlap = model.overlap(question, forms)
    if overlap and "exchange" in phases:
        in_flight = math.fsum(seconds for term, seconds in timed if term.side == IN_FLIGHT)
        phases["exchange"] -= float(overlap.hidden(in_flight, phases))
    return Predicted(
        phases,
        timed,
        {phase: tuple(sorted(names)) for phase, names in lacking.items()},
    )


@cache
def models() -> dict[str, Model]:
    """Every MODEL of a module of this folder or of a paper, by name, in the order of names."""
    own = modules_of(importlib.import_module("fourscore_analysis.models"))
    found: dict[str, Model] = {}
    for module in (*own, *(one.part("model") for one in sources().values())):
        model = getattr(module, "MODEL", None)
        if model is None:
            continue
        if model.name in found:
            raise ValueError(f"two models are named {model.name}")
        found[model.name] = model
    return dict(sorted(found.items()))
