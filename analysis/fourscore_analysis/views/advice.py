"""For each count of ranks: methods and grids by predicted time, and what to measure to be surer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourscore_analysis.models.advice import Next, next_points, tied
from fourscore_analysis.models.grids import grids
from fourscore_analysis.models.predictions import Prediction
from fourscore_analysis.points.units import ranks_text, shape_text
from fourscore_analysis.records.cells import Contract
from fourscore_analysis.views.fits import Choice
from fourscore_analysis.views.predictions import Answer, Source, Wanted, answer, question_of

SMALLEST_EXTENT = 4
MOST_SHAPES = 6  # to measure: the shape asked for, and its halves


@dataclass(frozen=True)
class Ranked:
    """One contract on so many ranks: predicted ones by time, then those that are not, each with its reason."""

    contract: Contract
    ranks: int
    nodes: int
    answers: tuple[Answer, ...]
    refused: tuple[Answer, ...]

    @property
    def best(self) -> Answer | None:
        return self.answers[0] if self.answers else None

    @property
    def told_apart_by_nothing(self) -> list[tuple[str, ...]]:
        """Methods of which the models count the same in every phase on some grid, so that measurements must decide."""
        alike: dict[tuple, dict[str, None]] = defaultdict(dict)
        for one in self.answers:
            if one.prediction and one.measured_s is None:
                phases = sorted((name, f"{timed.seconds:.9e}") for name, timed in one.prediction.phases.items())
                cuts = tuple(extent for extent in one.question.grid if extent > 1) or (one.question.ranks,)
                alike[cuts, tuple(phases)][one.source.label] = None
        groups = list(dict.fromkeys(tuple(labels) for labels in alike.values() if len(labels) > 1))
        return [one for one in groups if not any(set(one) < set(other) for other in groups)]

    def ties(self, one: Answer) -> bool:
        """With the fastest."""
        first = self.answers[0].prediction
        return bool(first and one.prediction and one is not self.answers[0] and tied(first, one.prediction))


@dataclass(frozen=True)
class Suggestion:
    """What to measure of one method."""

    source: Source
    points: tuple[Next, ...]


@dataclass(frozen=True)
class Advice:
    shape: tuple[int, ...]
    groups: tuple[Ranked, ...]
    suggestions: tuple[Suggestion, ...]

    @property
    def title(self) -> str:
        return shape_text(self.shape)


def advise(sources: Sequence[Source], wanted: Wanted, rank_counts: Sequence[int]) -> Advice:
    """Contracts are never ranked against each other."""
    by_contract: dict[Contract, list[Source]] = defaultdict(list)
    for source in sources:
        by_contract[replace(source.contract, threads=source.contract.threads // source.takes)].append(source)
    groups = []
    for contract, members in by_contract.items():
        for ranks in rank_counts:
            groups.append(_ranked(contract, members, wanted, ranks))
    return Advice(wanted.shape, tuple(groups), tuple(_suggestions(groups)))


def _ranked(contract: Contract, sources: Sequence[Source], wanted: Wanted, ranks: int) -> Ranked:
    found: list[Answer] = []
    for source in sources:
        if ranks % source.takes:
            source = replace(source, basis=None, reason=f"{ranks_text(ranks)} are no whole nodes of {source.takes}")
        count = max(ranks // source.takes, 1)
        own = [wanted.grid] if wanted.grid else grids(source.method.variant, wanted.shape, contract.kind, count)
        found += _without_equals([answer(source, question_of(source, wanted, count, grid)) for grid in own])
    predicted = sorted((one for one in found if one.prediction), key=lambda one: _seconds(one))
    refused = [one for one in found if not one.prediction]
    nodes = found[0].question.cell.place.nodes if found else 1
    return Ranked(contract, ranks, nodes, tuple(predicted), tuple(_once(refused)))


def _seconds(one: Answer) -> float:
    return one.prediction.total.seconds if one.prediction else float("inf")


def _without_equals(answers: Sequence[Answer]) -> list[Answer]:
    """Keeps the first of the grids to which the model gives the same time, and every one that was measured."""
    seen: set[float] = set()
    found = []
    for one in answers:
        key = round(_seconds(one), 15)
        if key not in seen or one.measured_s is not None:
            found.append(one)
        seen.add(key)
    return found


def _once(refused: Sequence[Answer]) -> list[Answer]:
    """One for each method and reason."""
    return list({(one.source.title, one.reason): one for one in refused}.values())


def _suggestions(groups: Sequence[Ranked]) -> list[Suggestion]:
    """Suggestions for the methods that are the fastest somewhere, or tied with it."""
    targets: dict[str, list[Prediction]] = defaultdict(list)
    sources: dict[str, Source] = {}
    for group in groups:
        for one in group.answers:
            if one.prediction and (one is group.best or group.ties(one)):
                targets[one.source.title].append(one.prediction)
                sources[one.source.title] = one.source
    found = []
    for title, predictions in targets.items():
        source = sources[title]
        assert source.basis is not None
        points = next_points(source.basis, predictions, _candidates(source, predictions))
        if points:
            found.append(Suggestion(source, tuple(points)))
    return found


def _candidates(source: Source, targets: Sequence[Prediction]) -> list[Prediction]:
    """Points not yet measured: the shape asked for and its halves, on each count of ranks that was measured, and twice
    the most; and those asked for among these."""
    counts = sorted({one.question.ranks for one in source.observations})
    most = 2 * max(counts, default=1)
    asked = {target.question.ranks for target in targets}
    counts = sorted({*counts, *(ranks for ranks in asked if ranks <= most)})
    shape = targets[0].question.cell.shape
    shapes = [shape]
    while len(shapes) < MOST_SHAPES and min(shape) // 2 >= SMALLEST_EXTENT:
        shape = tuple(extent // 2 for extent in shape)
        shapes.append(shape)
    measured = {(one.question.cell.shape, one.question.ranks) for one in source.observations}
    found = []
    for extents in shapes:
        for ranks in counts:
            if (extents, ranks) in measured:
                continue
            wanted = Wanted(extents, Choice())
            one = answer(replace(source, observations=()), question_of(source, wanted, ranks))
            if one.prediction:
                found.append(one.prediction)
    return found
