"""What is asked of the models, and what they rest on: fits of an archive, or a file of parameters."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fourscore_analysis.models.base import Model, Question
from fourscore_analysis.models.cost import Cost
from fourscore_analysis.models.grids import chosen_grid, reason_against, reason_of_order
from fourscore_analysis.models.machines import Machine, cost_of_file, published_machines, with_threads
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.predictions import (
    Basis,
    LackingError,
    Prediction,
    basis_of_fit,
    basis_of_machine,
    lacking,
    predicted,
)
from fourscore_analysis.models.work import ON_DEVICE, VARIANTS
from fourscore_analysis.records.archive import Campaign, InputError, campaign_names, read_campaigns
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import Cell, Contract, Method
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.records.values import shown
from fourscore_analysis.views.fits import Choice, MethodFit, fits, models_of

# What a parameter file leaves open.
PLAIN_CONTRACT = Contract("transposed", "in-place", "none", "double", "c2c", "forward", "measure", 1, 1)
TERMS = ("precision", "kind", "direction", "operator", "layout", "wire")


@dataclass(frozen=True)
class Wanted:
    """What is to be predicted. `terms`: of the contract, by name; those of a file that are not here are plain."""

    shape: tuple[int, ...]
    choice: Choice
    exchange: str = ""
    nodes: int | None = None
    grid: tuple[int, ...] = ()
    terms: tuple[tuple[str, str | int], ...] = ()
    field_order: str = ""  # "": any, of a file together


@dataclass(frozen=True)
class Source:
    """One method under one contract with what predicts it, or why nothing does. `takes`: in the place of how many
    ranks of one thread each of its ranks stands, where methods are ranked on so many of these."""

    label: str
    title: str
    method: Method
    contract: Contract
    basis: Basis | None
    reason: str = ""
    observations: tuple[Observation, ...] = ()
    ranks_per_node: int = 1
    fit: MethodFit | None = None
    machine: Machine | None = None
    takes: int = 1
    cost: Cost | None = None


def priced(sources: Sequence[Source], file: Path | None) -> list[Source]:
    """Each with what [cost] of the file says of a node, or of its machine. Raises InputError."""
    cost = cost_of_file(file) if file else None
    return [replace(one, cost=cost or (one.machine.cost if one.machine else None)) for one in sources]


@dataclass(frozen=True)
class Answer:
    """A prediction, or the reason why there is none; beside it what was measured of the same point: seconds, and by
    phase, as medians over launches."""

    source: Source
    question: Question
    prediction: Prediction | None
    reason: str = ""
    measured_s: float | None = None
    measured_phases: dict[str, float] | None = None
    launches: int = 0


def check_hash(machine: str) -> None:
    """Raises InputError for what cannot be the beginning of a machine hash, nor "" for none."""
    if machine and not re.fullmatch(r"[0-9a-f]{1,64}", machine):
        raise InputError(
            f"no machine {shown(machine)}; expected a file that ends with .toml, the beginning of a machine hash, or "
            f"one of {', '.join(published_machines())}"
        )


def read_sources(archive: Path, machine: str, wanted: Wanted) -> list[Source]:
    """The sources of an archive; `machine` is how the hash of one of its machines begins, "" where it has only one.
    Raises InputError where nothing is as asked for."""
    check_hash(machine)
    chosen = replace(wanted, choice=replace(wanted.choice, machine_hash=machine))
    campaigns = read_campaigns(archive, campaign_names(archive))
    fitting = [replace(one, launches=[launch for launch in one.launches if _fits(launch, wanted)]) for one in campaigns]
    if any(one.launches for one in campaigns) and not any(one.launches for one in fitting):
        raise InputError("no launch is of this exchange and contract; `fourscore fit` shows what there is")
    return sources_of_archive(fitting, chosen)


def _fits(launch: Launch, wanted: Wanted) -> bool:
    if wanted.exchange and launch.method.exchange != wanted.exchange:
        return False
    if wanted.field_order and launch.method.field_order != wanted.field_order:
        return False
    return all(getattr(launch.cell.contract, name) == value for name, value in wanted.terms)


def sources_of_archive(campaigns: Sequence[Campaign], wanted: Wanted) -> list[Source]:
    """The methods of campaigns that hold what is wanted alone. Raises InputError where there is nothing to fit."""
    found = []
    for one in fits(campaigns, wanted.choice):
        series, basis = one.series, None
        if one.tried:
            best = one.best
            basis = basis_of_fit(best.fitted, series.observations, "the fit to this archive", best.guesses)
            basis = replace(basis, values=dict(wanted.choice.given) | basis.values)
        measured = max(observation.question.cell.place.ranks_per_node for observation in series.observations)
        found.append(
            Source(
                series.label,
                series.title,
                series.method,
                series.contract,
                basis,
                one.reason,
                series.observations,
                max(measured, one.cores),
                one,
            )
        )
    return found


def source_of_machine(machine: Machine, wanted: Wanted, ranks: int) -> Source:
    """With the first model that covers the variant and for which nothing is lacking. Raises InputError."""
    source = _bare(machine, wanted)
    assert source.machine is not None
    asked, given = dict(wanted.choice.forms), dict(wanted.choice.given)
    covering = _covering(wanted.choice)
    reasons = []
    for model in covering:
        own = {form.name for form in model.forms}
        basis = basis_of_machine(model, source.machine, {name: value for name, value in asked.items() if name in own})
        basis = replace(basis, values=basis.values | given)
        missing = lacking(basis, question_of(source, wanted, ranks))
        if not missing:
            return replace(source, basis=basis)
        reasons.append((missing, f"{model.name} needs {', '.join(missing)}"))
    needs = "; ".join(text for _, text in reasons)
    fewest = min((missing for missing, _ in reasons), key=len)
    raise LackingError(fewest, f"{machine.name} does not give all that a prediction takes: {needs}")


def _bare(machine: Machine, wanted: Wanted, reason: str = "") -> Source:
    """Without what predicts it. Raises InputError for more threads than a node has places."""
    variant, contract = wanted.choice.variant, replace(PLAIN_CONTRACT, **dict(wanted.terms))
    machine = with_threads(machine, contract.threads)
    label = f"{variant}, {contract.threads} threads" if contract.threads > 1 else variant
    order = (wanted.field_order or "together") if contract.fields > 1 else ""
    method = Method(variant, "", "", "auto", "", field_order=order)
    return Source(label, "", method, contract, None, reason, ranks_per_node=machine.ranks_per_node, machine=machine)


def _covering(choice: Choice) -> list[Model]:
    """Models of the variant that know a machine by its parameters. Raises InputError for none."""
    found = [model for model in models_of(choice) if model.covers(choice.variant) and not model.specialise]
    if not found:
        raise InputError(
            f"model {choice.model} predicts nothing of {choice.variant} from parameters"
            if choice.model
            else f"no model is of '{choice.variant}'"
        )
    return found


def sources_of_machine(machine: Machine, wanted: Wanted, ranks: int) -> list[Source]:
    """One for each variant that a model is of, or of the one asked for; what is lacking is the reason. `node` has one
    rank a node and as many threads as others have ranks there, unless threads were asked for."""
    found = []
    variants = (wanted.choice.variant,) if wanted.choice.variant else (*VARIANTS, *ON_DEVICE)
    for variant in variants:
        one = replace(wanted, choice=replace(wanted.choice, variant=variant))
        takes = machine.ranks_per_node if variant == "node" and "threads" not in dict(wanted.terms) else 1
        if takes > 1:
            one = replace(one, terms=(*one.terms, ("threads", takes)))
        try:
            source = source_of_machine(machine, one, max(ranks // takes, 1))
        except InputError as error:
            source = _bare(machine, one, str(error))
        found.append(replace(source, takes=takes))
    return found


def question_of(source: Source, wanted: Wanted, ranks: int, grid: tuple[int, ...] = ()) -> Question:
    """`grid`: () for the one asked for, else that of `auto`."""
    nodes = wanted.nodes or -(-ranks // source.ranks_per_node)
    cell = Cell(source.contract, wanted.shape, Place(ranks, nodes))
    own = tuple(int(part) for part in source.method.grid.split("x")) if source.method.grid[:1].isdecimal() else ()
    fixed = own if own and _product(own) == ranks else ()
    chosen = chosen_grid(source.method.variant, wanted.shape, source.contract.kind, ranks)
    return Question(cell, source.method, grid or wanted.grid or fixed or chosen)


def answer(source: Source, question: Question) -> Answer:
    """Never raises: what cannot be predicted has its reason."""
    measured = [one for one in source.observations if _same(one.question, question)]
    phases: dict[str, list[float]] = defaultdict(list)
    for one in measured:
        for phase, seconds in one.phases.items():
            phases[phase].append(seconds)
    prediction, reason = None, source.reason
    variant = source.method.variant
    limit = reason_against(variant, question.cell.shape, source.contract.kind, question.ranks)
    limit = limit or reason_of_order(variant, source.method.field_order)
    if limit:
        reason = limit
    elif source.basis:
        try:
            prediction = predicted(source.basis, question)
        except InputError as error:
            reason = str(error)
    return Answer(
        source,
        question,
        prediction,
        "" if prediction else reason,
        statistics.median(one.total_s for one in measured) if measured else None,
        {phase: statistics.median(values) for phase, values in phases.items()} if measured else None,
        len(measured),
    )


def _same(measured: Question, asked: Question) -> bool:
    """The same point; and on the same grid, where it has more than one extent."""
    if len(measured.grid) == len(asked.grid) > 1:
        return measured.cell == asked.cell and measured.grid == asked.grid
    return measured.cell == asked.cell


def _product(grid: Sequence[int]) -> int:
    found = 1
    for extent in grid:
        found *= extent
    return found
