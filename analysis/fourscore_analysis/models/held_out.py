"""How far a model is off on points that it has not seen: each size left out once, each number of ranks left out once.

Beside it the naive model: as fast, in credited flops a second and rank, as the nearest point that was seen, phase by
phase. A model that is no better than this says nothing."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.models.base import Forms, Model, Question, predict
from fourscore_analysis.models.certainty import CONFIDENCE
from fourscore_analysis.models.fit import Fitted, Given, fit
from fourscore_analysis.models.observations import MODELLED, Observation
from fourscore_analysis.models.rows import Designs

TOTAL = "total"
MOST_ALONE, GROUPS = 16, 8  # parts, each left out alone; groups of more
LEAST_ERRORS = 4  # from which on their spread counts
SCHEMES: dict[str, Callable[[Question], object]] = {
    "size": lambda question: question.cell.shape,
    "ranks": lambda question: question.cell.place,
}


@dataclass(frozen=True)
class Guess:
    """One phase (or the total) of one point that was left out. Seconds; `naive_s` is of the nearest point seen."""

    scheme: str  # what was left out: size or ranks
    question: Question
    phase: str
    predicted_s: float
    naive_s: float | None
    measured_s: float  # median over launches
    outside: bool  # smaller, or larger, or on other ranks than all that was seen

    @property
    def error(self) -> float:
        """Relative: predicted / measured - 1."""
        return self.predicted_s / self.measured_s - 1

    @property
    def naive_error(self) -> float | None:
        return self.naive_s / self.measured_s - 1 if self.naive_s is not None else None

    @property
    def log_error(self) -> float:
        return math.log(self.predicted_s / self.measured_s)


@dataclass(frozen=True)
class Errors:
    """Errors in one phase: median and 90th percentile of |predicted / measured - 1|."""

    phase: str
    count: int
    median: float
    p90: float
    naive_median: float | None
    naive_p90: float | None


def held_out(
    model: Model,
    observations: Sequence[Observation],
    forms: Forms,
    given: Mapping[str, Given] | None = None,
    shared: Designs | None = None,
) -> list[Guess]:
    """Points whose parameters the rest does not give (as of exchanges, from one rank) are not guessed in those phases,
    nor in total."""
    designs = shared or Designs(model, (one.question for one in observations), forms)
    medians, means = _medians(observations), _means(observations)
    found: list[Guess] = []
    for scheme, part_of in SCHEMES.items():
        parts: dict[object, list[Observation]] = defaultdict(list)
        for one in sorted(means, key=lambda one: (one.question.elements, one.question.ranks)):
            parts[part_of(one.question)].append(one)
        if len(parts) < 2:
            continue
        for left_out in _groups(list(parts)):
            left = [one for part in left_out for one in parts[part]]
            seen = [one for part, members in parts.items() if part not in left_out for one in members]
            try:
                fitted = fit(model, seen, forms, given, draws=0, shared=designs)
            except ValueError:  # none of the phases that are left
                continue
            known = _Known.of([one.question for one in seen])
            found += [guess for one in left for guess in _guesses(scheme, fitted, one.question, known, medians)]
    return found


def _groups(parts: list) -> list[set]:
    """Each part alone; if there are more than MOST_ALONE, some together, spread out so that neighbours stay."""
    count = len(parts) if len(parts) <= MOST_ALONE else GROUPS
    return [set(parts[first::count]) for first in range(count)]


def _guesses(
    scheme: str,
    fitted: Fitted,
    question: Question,
    known: _Known,
    medians: Mapping[Question, Mapping[str, float]],
) -> list[Guess]:
    """Guesses for the phases of one point and for its total."""
    predicted = predict(fitted.model, question, fitted.values, fitted.forms).phases
    measured, near, outside = medians[question], known.nearest(question), known.is_beyond(question)
    there = [phase for phase in MODELLED if phase in measured]
    wanted = [phase for phase in there if phase in predicted]
    found = []
    for phase in wanted:
        naive = _scaled(near, medians[near].get(phase), question)
        found.append(Guess(scheme, question, phase, predicted[phase], naive, measured[phase], outside))
    if wanted and wanted == there:
        total = math.fsum(seconds for phase, seconds in predicted.items() if phase in MODELLED)
        naive = _scaled(near, medians[near][TOTAL], question)
        found.append(Guess(scheme, question, TOTAL, total, naive, measured[TOTAL], outside))
    return found


def _medians(observations: Sequence[Observation]) -> dict[Question, dict[str, float]]:
    """Medians over launches, for each phase and for the total."""
    return {
        question: {phase: statistics.median(seconds) for phase, seconds in phases.items()}
        for question, phases in _launches(observations).items()
    }


def _means(observations: Sequence[Observation]) -> list[Observation]:
    """One for each point, with what a fit of all its launches would see: the means of the logarithms."""
    found = []
    for question, phases in _launches(observations).items():
        means = {phase: math.exp(statistics.fmean(map(math.log, seconds))) for phase, seconds in phases.items()}
        found.append(Observation(question, means.pop(TOTAL), means))
    return found


def _launches(observations: Sequence[Observation]) -> dict[Question, dict[str, list[float]]]:
    launches: dict[Question, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in observations:
        launches[one.question][TOTAL].append(one.total_s)
        for phase, seconds in one.phases.items():
            launches[one.question][phase].append(seconds)
    return launches


@dataclass(frozen=True)
class _Known:
    """What was seen; `questions` are ordered by elements."""

    questions: list[Question]
    log_elements: np.ndarray
    log_ranks: np.ndarray
    ranks: frozenset[int]
    shares: tuple[float, float]  # elements of a rank: the least and the most

    @classmethod
    def of(cls, questions: Iterable[Question]) -> _Known:
        ordered = sorted(questions, key=lambda one: one.elements)
        shares = [one.elements / one.ranks for one in ordered]
        return cls(
            ordered,
            np.log([float(one.elements) for one in ordered]),
            np.log([float(one.ranks) for one in ordered]),
            frozenset(one.ranks for one in ordered),
            (min(shares), max(shares)),
        )

    def nearest(self, question: Question) -> Question:
        """In the logarithms of elements and ranks; the smaller of two that are as near."""
        size = np.abs(self.log_elements - math.log(question.elements))
        return self.questions[int(np.argmin(np.round(size + np.abs(self.log_ranks - math.log(question.ranks)), 12)))]

    def is_beyond(self, question: Question) -> bool:
        least, most = self.shares
        return question.ranks not in self.ranks or not least <= question.elements / question.ranks <= most


def _scaled(near: Question, seconds: float | None, question: Question) -> float | None:
    if seconds is None:
        return None
    work = question.cell.credited_flops / question.ranks
    return seconds * work / (near.cell.credited_flops / near.ranks)


def likely_errors(found: Sequence[float], outside: Sequence[float], is_outside: bool) -> Sequence[float]:
    """The errors that a prediction is likely to have: outside of what was seen, the errors made there if there are
    enough; () where too few are known at all."""
    if is_outside and len(outside) >= LEAST_ERRORS:
        return outside
    return found if len(found) >= LEAST_ERRORS else ()


def interval(guess: Guess, guesses: Sequence[Guess]) -> tuple[float, float] | None:
    """Seconds between which the measured time should lie, with 95 %: the prediction with an error of the others in its
    place. None where there are too few others."""
    others = [
        other for other in guesses if (other.scheme, other.phase) == (guess.scheme, guess.phase) and other != guess
    ]
    outside = [other.log_error for other in others if other.outside]
    found = likely_errors([other.log_error for other in others], outside, guess.outside)
    if not found:
        return None
    low, high = np.quantile(guess.predicted_s * np.exp(-np.array(found)), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def errors(guesses: Sequence[Guess]) -> list[Errors]:
    """By phase, in the order of MODELLED, the total last."""
    found = []
    for phase in (*MODELLED, TOTAL):
        of_phase = [guess for guess in guesses if guess.phase == phase]
        if not of_phase:
            continue
        sizes = sorted(abs(guess.error) for guess in of_phase)
        naive = sorted(abs(guess.naive_error) for guess in of_phase if guess.naive_error is not None)
        found.append(
            Errors(
                phase,
                len(of_phase),
                statistics.median(sizes),
                float(np.quantile(sizes, 0.9)),
                statistics.median(naive) if naive else None,
                float(np.quantile(naive, 0.9)) if naive else None,
            )
        )
    return found
