"""What a model says of a point, and how sure that is: by phase and term, which parameter limits it, and whether it
lies outside what the model was fitted to.

The interval is of draws of the parameters (of a fit: its bootstrap; of a parameter file: its intervals), each times an
error that the model made on points that it had not seen, where these are known."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fourscore_analysis.models.base import HIDDEN, IN_FLIGHT, Model, Question, Term
from fourscore_analysis.models.certainty import CONFIDENCE, SEED, is_too_wide
from fourscore_analysis.models.fit import DRAWS, Fitted
from fourscore_analysis.models.held_out import TOTAL, Guess, likely_errors
from fourscore_analysis.models.machines import Machine
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.parameters import parameter
from fourscore_analysis.records.archive import InputError

NORMAL_95 = 1.959964
LEAST_ELASTICITY = 0.01
STEP = 1e-4  # step in a logarithm
SHAPES = 16


@dataclass(frozen=True)
class Range:
    """What a fit has seen: the least and most elements a rank and in all, ranks, nodes."""

    elements: tuple[float, float]
    share: tuple[float, float]
    ranks: tuple[int, int]
    nodes: tuple[int, int]

    def outside(self, question: Question) -> tuple[str, ...]:
        """What of the question lies outside."""
        share = question.elements / question.ranks
        sizes = not self.elements[0] <= question.elements <= self.elements[1]
        found = [
            ("size", sizes or not self.share[0] <= share <= self.share[1]),
            ("ranks", not self.ranks[0] <= question.ranks <= self.ranks[1]),
            ("nodes", not self.nodes[0] <= question.cell.place.nodes <= self.nodes[1]),
        ]
        return tuple(name for name, is_out in found if is_out)


@dataclass(frozen=True)
class Basis:
    """A model with the values of its parameters. `draws`: log values, a line a draw, a column for each of `drawn`.
    `errors`: log(predicted / measured) of points held out, by phase and TOTAL; `errors_outside`: those of them that lay
    outside of what was seen. `seen` is None of a parameter file."""

    model: Model
    forms: dict[str, str]
    values: dict[str, float]
    drawn: tuple[str, ...]
    draws: np.ndarray = field(repr=False)
    title: str
    undetermined: tuple[str, ...] = ()  # parameters that the data do not tell
    seen: Range | None = None
    most_nodes: int | None = None  # that the machine of a parameter file has
    ranks_per_node: int | None = None  # all of which work, of a parameter file
    errors: dict[str, tuple[float, ...]] = field(default_factory=dict)
    errors_outside: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def errors_of(self, phase: str, outside: bool) -> tuple[float, ...]:
        """The errors that a prediction of this kind is likely to have; () where too few are known."""
        return tuple(likely_errors(self.errors.get(phase, ()), self.errors_outside.get(phase, ()), outside))


@dataclass(frozen=True)
class Timed:
    """Seconds, with an interval that holds them with 95 %; None where nothing tells how sure they are."""

    seconds: float
    interval: tuple[float, float] | None = None

    @property
    def too_wide(self) -> bool:
        """An interval with which nothing can be decided."""
        return is_too_wide(self.interval)


@dataclass(frozen=True)
class Prediction:
    """`elasticity`: d log time / d log parameter, the largest first. `outside`: what lies outside of the fit."""

    question: Question
    basis: Basis
    total: Timed
    phases: dict[str, Timed]
    terms: tuple[tuple[Term, float], ...]
    elasticity: dict[str, float]
    outside: tuple[str, ...]

    @property
    def flops_per_s(self) -> float:
        return self.question.cell.credited_flops / self.total.seconds

    @property
    def limiting(self) -> str:
        """The parameter on which the time depends most."""
        return next(iter(self.elasticity), "")

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Parameters that the data do not tell, where the time depends on them."""
        slopes = self.elasticity
        return tuple(name for name in self.basis.undetermined if abs(slopes.get(name, 0.0)) >= LEAST_ELASTICITY)

    def term_s(self, name: str) -> float:
        """The time of all terms whose name begins so."""
        return math.fsum(seconds for term, seconds in self.terms if term.name.startswith(name))


class LackingError(InputError):
    """A parameter that the prediction needs is not known."""

    def __init__(self, names: Sequence[str], message: str) -> None:
        super().__init__(message)
        self.names = tuple(names)


def basis_of_fit(
    fitted: Fitted, observations: Sequence[Observation], title: str, guesses: Sequence[Guess] = ()
) -> Basis:
    """`guesses`: of this model on points that were left out. Parameters that the fit refused stay where they are: along
    what the data do not tell, its draws go anywhere."""
    refused = {name for one in fitted.refused for name in one.names}
    kept = [column for column, name in enumerate(fitted.free) if name not in refused]
    errors: dict[str, list[float]] = defaultdict(list)
    outside: dict[str, list[float]] = defaultdict(list)
    for guess in guesses:
        errors[guess.phase].append(guess.log_error)
        if guess.outside:
            outside[guess.phase].append(guess.log_error)
    return Basis(
        model=fitted.model,
        forms=dict(fitted.forms),
        values=dict(fitted.values),
        drawn=tuple(fitted.free[column] for column in kept),
        draws=fitted.draws[:, kept],
        title=title,
        undetermined=tuple(name for name in fitted.free if name in refused),
        seen=range_of([one.question for one in observations]),
        errors={phase: tuple(found) for phase, found in errors.items()},
        errors_outside={phase: tuple(found) for phase, found in outside.items()},
    )


def basis_of_machine(model: Model, machine: Machine, forms: Mapping[str, str]) -> Basis:
    """`forms`: what the user chose, over those of the machine and those of the model. Parameters with an interval are
    drawn from a lognormal distribution that has it."""
    own = {form.name: form.choices for form in model.forms}
    of_machine = {name: choice for name, choice in machine.forms.items() if name in own}
    for name, choice in of_machine.items():
        if choice not in own[name] and name not in forms:
            raise InputError(
                f"{machine.name} has {name} = {choice}, which {model.name} has not; choose with --form {name}= one of "
                f"{', '.join(own[name])}"
            )
    drawn = {name: one.interval for name, one in machine.parameters.items() if one.interval}
    random = np.random.default_rng(SEED)
    draws = np.empty((DRAWS, len(drawn)))
    for column, (name, (low, high)) in enumerate(drawn.items()):
        spread = math.log(high / low) / (2 * NORMAL_95)
        draws[:, column] = math.log(machine.values[name]) + spread * random.standard_normal(DRAWS)
    chosen = {**model.default_forms(of_file=True), **of_machine, **forms}
    return Basis(
        model,
        chosen,
        machine.values,
        tuple(drawn),
        draws,
        machine.name,
        most_nodes=machine.nodes,
        ranks_per_node=machine.ranks_per_node,
    )


def _outside(basis: Basis, question: Question) -> tuple[str, ...]:
    if basis.seen:
        return basis.seen.outside(question)
    place = question.cell.place
    found = [
        ("nodes", basis.most_nodes and place.nodes > basis.most_nodes),
        ("ranks a node", basis.ranks_per_node and place.ranks_per_node > basis.ranks_per_node),
    ]
    return tuple(name for name, is_out in found if is_out)


def range_of(questions: Sequence[Question]) -> Range:
    elements = [float(question.elements) for question in questions]
    share = [question.elements / question.ranks for question in questions]
    ranks = [question.ranks for question in questions]
    nodes = [question.cell.place.nodes for question in questions]
    return Range(
        (min(elements), max(elements)), (min(share), max(share)), (min(ranks), max(ranks)), (min(nodes), max(nodes))
    )


def lacking(basis: Basis, question: Question) -> tuple[str, ...]:
    """Parameters that the terms need and the basis does not have. One that shapes the amounts is needed where another
    value of it gives other terms."""
    small, large = _Asked(basis.values, 2.0**20), _Asked(basis.values, 2.0**40)
    terms = list(basis.model.terms(question, basis.forms, small))
    needed = {name for term in terms for name, _ in term.powers}
    if terms != list(basis.model.terms(question, basis.forms, large)):
        needed |= small.missing
    return tuple(sorted(needed - set(basis.values)))


class _Asked(dict):
    """Notes which values are asked for in vain, and has another for them."""

    def __init__(self, values: Mapping[str, float], other: float = 2.0**20) -> None:
        super().__init__(values)
        self.other = other
        self.missing: set[str] = set()

    def __missing__(self, name: str) -> float:
        self.missing.add(name)
        return self.other


def predicted(basis: Basis, question: Question) -> Prediction:
    """Raises LackingError for parameters that are not known, InputError for what the model does not describe."""
    if not basis.model.covers(question.method.variant):
        raise InputError(
            f"{basis.model.name} is not of {question.method.variant}; it is of {', '.join(basis.model.variants)}"
        )
    if missing := lacking(basis, question):
        raise LackingError(missing, f"{basis.title} does not give {', '.join(missing)}, which {basis.model.name} needs")
    terms = [term for term in basis.model.terms(question, basis.forms, _Asked(basis.values)) if term.amount > 0]
    if not terms:
        raise InputError(f"{basis.model.name} has no term for this; nothing is predicted")
    counted = _counted(basis, question)
    seconds = {phase: np.array([one]) for phase, one in counted.once().items()}
    drawn = _drawn(basis, question) if basis.draws.size else {}
    outside = _outside(basis, question)

    def timed(phase: str, once: np.ndarray, many: np.ndarray | None) -> Timed:
        return Timed(float(once[0]), _interval(float(once[0]), many, basis.errors_of(phase, bool(outside))))

    return Prediction(
        question=question,
        basis=basis,
        total=timed(TOTAL, sum(seconds.values()), sum(drawn.values()) if drawn else None),
        phases={phase: timed(phase, once, drawn.get(phase)) for phase, once in seconds.items()},
        terms=tuple((term, term.seconds(basis.values)) for term in (*terms, *_hidden(counted))),
        elasticity=_elasticity(basis, question),
        outside=outside,
    )


def _hidden(counted: _Counted) -> list[Term]:
    hidden = counted.hidden()
    return [Term("exchange", HIDDEN, -hidden, ())] if hidden else []


def _interval(seconds: float, drawn: np.ndarray | None, errors: Sequence[float]) -> tuple[float, float] | None:
    """Draws, each times one of the errors on points held out; None where there is neither."""
    if drawn is None and not errors:
        return None
    values = np.full(DRAWS, seconds) if drawn is None else drawn
    if errors:
        chosen = np.random.default_rng(SEED).integers(0, len(errors), len(values))
        values = values * np.exp(-np.array(errors)[chosen])
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def slopes_of(basis: Basis, question: Question) -> dict[str, dict[str, float]]:
    """d log seconds / d log parameter, by phase and parameter; those of parameters that shape the amounts by a
    difference."""
    found = _counted(basis, question).slopes()
    for name in basis.model.shaping:
        if name not in basis.values:
            continue
        ends = [_counted(_with(basis, {name: basis.values[name] * math.exp(step)}), question) for step in (-STEP, STEP)]
        low, high = (one.once() for one in ends)
        for phase, slopes in found.items():
            slope = math.log(high[phase] / low[phase]) / (2 * STEP) if phase in low and phase in high else 0.0
            if slope:
                slopes[name] = slopes.get(name, 0.0) + slope
    return found


def _elasticity(basis: Basis, question: Question) -> dict[str, float]:
    """The elasticities of the total, the largest first."""
    seconds, total = _counted(basis, question).once(), defaultdict(float)
    for phase, slopes in slopes_of(basis, question).items():
        for name, slope in slopes.items():
            total[name] += slope * seconds[phase] / math.fsum(seconds.values())
    return dict(sorted(total.items(), key=lambda item: -abs(item[1])))


def _drawn(basis: Basis, question: Question) -> dict[str, np.ndarray]:
    """Seconds of each phase for each draw. Draws of a parameter that shapes the amounts are taken together by its size,
    SHAPES groups of them, each with the middle of its values."""
    shaping = [name for name in basis.model.shaping if name in basis.drawn]
    if not shaping:
        return _counted(basis, question).drawn(basis.draws, basis.drawn)
    column = basis.drawn.index(shaping[0])
    found: dict[str, np.ndarray] = {}
    for group in np.array_split(np.argsort(basis.draws[:, column]), SHAPES):
        known = parameter(shaping[0])
        middle = min(max(math.exp(min(float(np.median(basis.draws[group, column])), 700)), known.least), known.most)
        counted = _counted(_with(basis, {shaping[0]: middle}), question)
        for phase, seconds in counted.drawn(basis.draws[group], basis.drawn).items():
            found.setdefault(phase, np.zeros(len(basis.draws)))[group] = seconds
    return found


def _with(basis: Basis, values: Mapping[str, float]) -> Basis:
    return replace(basis, values=basis.values | values)


def _counted(basis: Basis, question: Question) -> _Counted:
    terms = basis.model.terms(question, basis.forms, _Asked(basis.values))
    return _Counted(basis, question, [term for term in terms if term.amount > 0])


class _Counted:
    """The terms of one question as arrays. T terms, K parameters."""

    def __init__(self, basis: Basis, question: Question, terms: Sequence[Term]) -> None:
        self.names = sorted({name for term in terms for name, _ in term.powers})
        self.powers = np.zeros((len(terms), len(self.names)))
        for row, term in enumerate(terms):
            for name, power in term.powers:
                self.powers[row, self.names.index(name)] += power
        self.log_amount = np.log([term.amount for term in terms])
        self.log_values = np.log([basis.values[name] for name in self.names])
        largest = basis.model.largest(basis.forms)
        self.keys = [(term.phase, term.side if term.phase in largest else "") for term in terms]
        self.in_flight = np.array([term.side == IN_FLIGHT for term in terms], dtype=float)
        self.overlap = basis.model.overlap(question, basis.forms) if self.in_flight.any() else None

    def once(self) -> dict[str, float]:
        """Seconds of each phase."""
        return {phase: float(found[0]) for phase, found in self.drawn(np.zeros((1, 0)), ()).items()}

    def drawn(self, draws: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Seconds of each phase, one for each line of `draws`, which has log values of these parameters."""
        values = np.tile(self.log_values, (len(draws), 1))
        for column, name in enumerate(names):
            if name in self.names:
                values[:, self.names.index(name)] = draws[:, column]
        each = np.exp(self.log_amount + values @ self.powers.T)
        phases, hidden = self._phases(each)
        return phases | ({"exchange": phases["exchange"] - hidden} if self.overlap else {})

    def hidden(self) -> float:
        """Seconds of the exchange that computing hides; those of `once` are without them."""
        _, hidden = self._phases(self._each())
        return float(hidden[0])

    def _each(self) -> np.ndarray:
        """Seconds of each term; shape (1, T)."""
        return np.exp(self.log_amount + self.powers @ self.log_values)[None, :]

    def _phases(self, each: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Seconds of each phase as if one came after the other, and what of the exchange is hidden."""
        phases = {phase: np.max(list(sides.values()), axis=0) for phase, sides in self._sides(each).items()}
        in_flight = each @ self.in_flight
        return phases, self.overlap.hidden(in_flight, phases) if self.overlap else 0 * in_flight

    def slopes(self) -> dict[str, dict[str, float]]:
        """d log seconds / d log parameter, by phase: of the terms that count."""
        each = self._each()
        found = {}
        for phase, sides in self._sides(each).items():
            counting = (phase, max(sides, key=lambda side: sides[side][0]))
            weight = each[0] * np.array([key == counting for key in self.keys])
            slopes = weight @ self.powers / weight.sum()
            found[phase] = {name: float(slope) for name, slope in zip(self.names, slopes, strict=True) if slope}
        return found | ({"exchange": self._slopes_of_waiting(each, found)} if self.overlap else {})

    def _slopes_of_waiting(self, each: np.ndarray, found: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """The slopes of the exchange less what is hidden: a part of the shorter one of messages and computing."""
        assert self.overlap is not None
        phases, hidden = self._phases(each)
        in_flight, computed = float((each @ self.in_flight)[0]), float(self.overlap.computed(phases)[0])
        slopes: dict[str, float] = defaultdict(float)
        whole = float(phases["exchange"][0])
        for name, slope in found["exchange"].items():
            slopes[name] += whole * slope
        if in_flight <= computed:
            moved = dict(zip(self.names, (each * self.in_flight)[0] @ self.powers, strict=True))
        else:
            moved = defaultdict(float)
            for phase, share in self.overlap.shares.items():
                for name, slope in found.get(phase, {}).items():
                    moved[name] += share * float(phases[phase][0]) * slope
        for name, slope in moved.items():
            slopes[name] -= (1 - 1 / self.overlap.pieces) * slope
        waited = whole - float(hidden[0])
        return {name: float(slope) / waited for name, slope in slopes.items() if slope}

    def _sides(self, each: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
        found: dict[str, dict[str, np.ndarray]] = {}
        for column, (phase, side) in enumerate(self.keys):
            sides = found.setdefault(phase, {})
            sides[side] = sides.get(side, 0.0) + each[:, column]
        return found
