"""The models of each method that an archive measured: fitted, and checked on points that they had not seen."""

from __future__ import annotations

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
    """In the order of the tasks; many launches in processes of their own, the longest task first."""
    sizes = [len(task.series.observations) for task in tasks]
    workers = min(available_cores(), len(tasks))
    if workers < 2 or sum(sizes) < WORTH_PROCESSES:
        return [_method_fit(task) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda number: -sizes[number])
    with pool_of(workers) as pool:
        found = dict(zip(order, pool.map(_method_fit, [tasks[number] for number in order]), strict=True))
    return [found[number] for number in range(len(tasks))]


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


def _method_fit(task: _Task) -> MethodFit:
    series, choice, given, cores = task.series, task.choice, task.given, task.cores
    reason = _too_little(series)
    covering = [model for model in task.wanted if model.covers(series.method.variant)]
    if not reason and not covering:
        reason = f"model {choice.model} is not of {series.method.variant}"
    if reason:
        return MethodFit(series, (), cores, reason)
    tried = []
    for model in covering[:1] if choice.first_only else covering:
        forms = model.default_forms()
        forms |= {name: value for name, value in choice.forms if name in forms}
        shared = Designs(model, (one.question for one in series.observations), forms)
        try:
            fitted = fit(model, series.observations, forms, given, shared=shared)
        except ValueError as error:  # none of its phases was measured
            reason = str(error)
            continue
        tried.append(Tried(fitted, tuple(held_out(model, series.observations, forms, given, shared))))
    return MethodFit(series, tuple(sorted(tried, key=_error)), cores, "" if tried else reason)


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
