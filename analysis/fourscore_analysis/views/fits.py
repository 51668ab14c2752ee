"""The models of each method that an archive measured: fitted, and checked on points that they had not seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fourscore_analysis.models.base import Model, Question, models
from fourscore_analysis.models.fit import Fitted, Given, fit
from fourscore_analysis.models.held_out import SCHEMES, TOTAL, Errors, Guess, errors, held_out
from fourscore_analysis.models.measured import of_components, of_machine
from fourscore_analysis.models.observations import Series, all_series, usable
from fourscore_analysis.models.rows import Designs
from fourscore_analysis.models.suggest import suggested
from fourscore_analysis.records.archive import Campaign, InputError
from fourscore_analysis.records.workers import available_cores, pool_of

LEAST_SIZES, LEAST_RANK_COUNTS = 3, 2
WORTH_PROCESSES = 1000  # launches from which on fits are spread over the cores


@dataclass(frozen=True)
class Choice:
    """What is fitted: `given` is taken as it is, `fit_anyway` is fitted even where a component measured it."""

    model: str = ""  # "": every model of the method; the one with the least error is used
    variant: str = ""
    forms: tuple[tuple[str, str], ...] = ()
    given: tuple[tuple[str, float], ...] = ()
    fit_anyway: tuple[str, ...] = ()
    machine_hash: str = ""
    first_only: bool = False  # the first model of each method: what a report has time for
    least_sizes: int = 0  # sizes that a method needs; others are left out
    most_sizes: int = 0  # sizes of a method that are fitted; 0: no limit
    most_methods: int = 0  # those with most launches; 0: no limit


@dataclass(frozen=True)
class Tried:
    """One model of a method."""

    fitted: Fitted
    guesses: tuple[Guess, ...]

    @property
    def name(self) -> str:
        return self.fitted.model.name

    def errors(self, scheme: str) -> list[Errors]:
        return errors([guess for guess in self.guesses if guess.scheme == scheme])

    def total(self, scheme: str) -> Errors | None:
        return next((one for one in self.errors(scheme) if one.phase == TOTAL), None)


@dataclass(frozen=True)
class MethodFit:
    """A method with its models, that with the least median error in total first; or why there is none."""

    series: Series
    tried: tuple[Tried, ...]
    cores: int  # per node of the machine; 1 where its records do not say
    reason: str = ""

    @property
    def best(self) -> Tried:
        return self.tried[0]

    @property
    def suggested(self) -> list[Question]:
        """Points that would tell what these do not."""
        return suggested(self.series, self.best.fitted if self.tried else None, self.cores)


def fits(campaigns: Sequence[Campaign], choice: Choice) -> list[MethodFit]:
    """Raises InputError where nothing can be fitted: no launches, several machines, no such model or form."""
    wanted = models_of(choice)
    hiding = dict(choice.forms).get("overlap", "none")
    if hiding in ("pieces", "perfect"):
        raise InputError(
            f"form overlap cannot be '{hiding}' in a fit: what was measured of an exchange is what was not hidden"
        )
    launches = [launch for launch in usable(campaigns) if launch.machine_hash.startswith(choice.machine_hash)]
    if choice.machine_hash and not launches:
        raise InputError(f"no launch is of a machine {choice.machine_hash}; expected the beginning of a machine hash")
    all_of = all_series(launches)
    chosen = [series for series in all_of if not choice.variant or series.method.variant == choice.variant]
    if not chosen:
        there = ", ".join(sorted({series.method.variant for series in all_of}))
        raise InputError(f"no launch of variant '{choice.variant}'; these campaigns have {there}")
    runs = [run for campaign in campaigns for run in campaign.components]
    machine = of_machine(launches)
    cores = launches[0].identity.get("machine", {}).get("cores")
    cores = cores if isinstance(cores, int) else 1
    tasks = []
    for series in _within(chosen, choice):
        places = {one.question.cell.place for one in series.observations}
        known = machine | of_components(runs, series.machine_hash, places)
        known = {name: one for name, one in known.items() if name not in choice.fit_anyway}
        known |= {name: Given(value, "given") for name, value in choice.given}
        tasks.append(_Task(series, wanted, choice, known, cores))
    return _done(tasks)


@dataclass(frozen=True)
class _Task:
    series: Series
    wanted: Sequence[Model]
    choice: Choice
    given: Mapping[str, Given]
    cores: int


def _done(tasks: Sequence[_Task]) -> list[MethodFit]:
    """In the order of the tasks. The models of many launches are fitted in processes of their own, those of the longest
    task first: so an archive of one method keeps several cores busy too."""
    lacking = [_lacking(task) for task in tasks]
    pairs = [
        (task, model) for task, reason in zip(tasks, lacking, strict=True) if not reason for model in _models_for(task)
    ]
    pairs.sort(key=lambda pair: -len(pair[0].series.observations))
    workers = min(available_cores(), len(pairs))
    if workers < 2 or sum(len(task.series.observations) for task in tasks) < WORTH_PROCESSES:
        results = [_tried(*pair) for pair in pairs]
    else:
        import scipy.optimize  # noqa: F401  before processes begin, which then share it

        with pool_of(workers) as pool:
            results = list(pool.map(_tried, *zip(*pairs, strict=True)))
    found: dict[int, list[Tried | str]] = defaultdict(list)
    for (task, _), result in zip(pairs, results, strict=True):
        found[id(task)].append(result)
    return [_method_fit(task, reason, found[id(task)]) for task, reason in zip(tasks, lacking, strict=True)]


def _within(chosen: Sequence[Series], choice: Choice) -> list[Series]:
    """The series of the sizes that are asked for, as many as are asked for."""
    found = [
        series
        for series in chosen
        if choice.least_sizes <= len(series.sizes) <= (choice.most_sizes or len(series.sizes))
        and (not choice.least_sizes or not _too_little(series))
    ]
    if choice.most_methods and len(found) > choice.most_methods:
        found.sort(key=lambda series: -len(series.observations))
        found = found[: choice.most_methods]
    return found


def models_of(choice: Choice) -> list[Model]:
    """The models that are asked for. Raises InputError for a model, a form or a choice that does not exist."""
    known = models()
    if choice.model and choice.model not in known:
        raise InputError(f"no model '{choice.model}'; expected one of {', '.join(known)}")
    wanted = [known[choice.model]] if choice.model else list(known.values())
    for name, value in choice.forms:
        choices = {form.name: form.choices for model in wanted for form in model.forms}
        if name not in choices:
            raise InputError(f"no form '{name}'; expected one of {', '.join(sorted(choices))}")
        if value not in choices[name]:
            raise InputError(f"form {name} cannot be '{value}'; expected one of {', '.join(choices[name])}")
    return wanted


def _models_for(task: _Task) -> list[Model]:
    covering = [model for model in task.wanted if model.covers(task.series.method.variant)]
    return covering[:1] if task.choice.first_only else covering


def _lacking(task: _Task) -> str:
    """Why the method cannot be fitted; "" where it can."""
    if reason := _too_little(task.series):
        return reason
    return "" if _models_for(task) else f"model {task.choice.model} is not of {task.series.method.variant}"


def _tried(task: _Task, model: Model) -> Tried | str:
    """The reason where none of the model's phases was measured."""
    observations = task.series.observations
    forms = model.default_forms()
    forms |= {name: value for name, value in task.choice.forms if name in forms}
    shared = Designs(model, (one.question for one in observations), forms)
    try:
        fitted = fit(model, observations, forms, task.given, shared=shared)
    except ValueError as error:
        return str(error)
    return Tried(fitted, tuple(held_out(model, observations, forms, task.given, shared)))


def _method_fit(task: _Task, reason: str, results: Sequence[Tried | str]) -> MethodFit:
    tried = sorted((one for one in results if isinstance(one, Tried)), key=_error)
    if not tried and results:
        reason = next(one for one in reversed(results) if isinstance(one, str))
    return MethodFit(task.series, tuple(tried), task.cores, reason)


def _error(tried: Tried) -> tuple[float, float]:
    """The mean over what was left out, by size and by ranks, of the median errors in total; without one, the residual
    decides."""
    found = [total.median for scheme in SCHEMES if (total := tried.total(scheme))]
    return (sum(found) / len(found) if found else float("inf")), tried.fitted.residual


def _too_little(series: Series) -> str:
    if len(series.sizes) < LEAST_SIZES:
        return f"measured at {_count(len(series.sizes), 'size')}; a fit takes {LEAST_SIZES} or more"
    if len(series.ranks) < LEAST_RANK_COUNTS and series.method.variant != "serial":
        ranks = series.ranks[0]
        return f"measured on {_count(ranks, 'rank')} only; a fit takes {LEAST_RANK_COUNTS} or more counts of ranks"
    return ""


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
