"""fourscore predict: what a point would take, by the models: on this machine, on a published one, or in other years."""

from __future__ import annotations

import argparse
import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from fourscore_analysis.commands.base import OK, SAYS_NO, Command
from fourscore_analysis.commands.options import (
    add_archive,
    add_model_options,
    add_runs,
    add_terms,
    add_threads,
    file_of,
    rank_counts_of,
    ranks_of,
    shape_of,
    wanted_of,
)
from fourscore_analysis.records.values import InputError, printable, shown

if TYPE_CHECKING:
    from fourscore_analysis.models.machines import Machine
    from fourscore_analysis.views.predictions import Answer, Source, Wanted

EXAMPLES = """Examples:
  fourscore predict --variant pencil --shape 512x512x512 --ranks 64
  fourscore predict --variant slab --shape 256x256x256 --ranks 2 --json
  fourscore predict --variant pencil,pencil-gpu --shape 1024x1024x1024 --machine mine.toml --ranks 1:4096 \\
      -o times.svg --csv times.csv
  fourscore predict --list-machines
  fourscore predict --variant pencil --shape 4096x4096x4096 --machine frontier
  fourscore predict --variant pencil --shape 21000x21000x21000 --machine mine.toml --project trends.toml \\
      --years 2026:2036 --beside frontier -o projected.svg
  fourscore predict --variant pencil --shape 4096x4096x4096 --equal-time frontier mine.toml
  fourscore predict --variant pencil --shape 4096x4096x4096 --equal-cost mine.toml theirs.toml --runs 1000
Without a file or a published machine the models are fitted to the archive, as `fourscore fit` does it. Times
have an interval, and what lies outside of what was measured is marked.
"""
FIRST_YEAR, LAST_YEAR, MOST_YEARS = 1900, 2200, 200
# Options that mean something in one use only, and the option that makes it.
ONLY_WITH = {"years": "project", "beside": "project", "weak": "project"}
EQUAL = ("equal_time", "equal_cost")
# What these cannot be asked with: they name the machines, find the nodes, and have tables of their own.
NOT_EQUAL = ("machine", "project", "nodes", "grid", "exchange", "save_machine", "csv", "output", "cost")
MOST_QUESTIONS = 1024  # per command


def _years(text: str) -> range:
    match = re.fullmatch(r"([0-9]{4}):([0-9]{4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not FIRST:LAST, as 2026:2036")
    first, last = int(match[1]), int(match[2])
    if not FIRST_YEAR <= first <= last <= LAST_YEAR or last - first >= MOST_YEARS:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} are not years from {FIRST_YEAR} to {LAST_YEAR}, the first no later than the last"
        )
    return range(first, last + 1)


def _variants(text: str) -> tuple[str, ...]:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*(,[a-z0-9][a-z0-9-]*)*", text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is no list of variants, as pencil or pencil,pencil-gpu")
    return tuple(dict.fromkeys(text.split(",")))


def _grid(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9][0-9]{0,9}(x[1-9][0-9]{0,9}){0,2}", text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a process grid, as 4x2")
    return tuple(int(part) for part in text.split("x"))


def _add(predict: argparse.ArgumentParser) -> None:
    add_archive(predict)
    predict.add_argument("--variant", type=_variants, default=(), metavar="LIST", help="pencil, or pencil,pencil-gpu")
    predict.add_argument("--exchange", default="", help="of the archive (default: each that was measured)")
    predict.add_argument("--shape", type=shape_of, help="1 to 3 extents, slowest in memory first: 128x96x100")
    predict.add_argument(
        "--ranks",
        type=rank_counts_of,
        metavar="LIST",
        help="64, 64,128 or 1:4096, which doubles (default with --machine: all of it)",
    )
    predict.add_argument("--nodes", type=ranks_of, metavar="N", help="default: as few as have a core for each rank")
    predict.add_argument("--grid", type=_grid, default=(), metavar="AxB", help="default: the variant's own choice")
    add_terms(predict, "of the archive: each apart; of a file: double, c2c, forward, transposed")
    add_threads(predict)
    add_model_options(predict)
    predict.add_argument(
        "--machine",
        action="append",
        default=[],
        metavar="M",
        help="a file of parameters, a published machine, or a hash of the archive; several are set beside each other",
    )
    predict.add_argument(
        "--list-machines",
        action="store_true",
        help="published machines, flops for each byte, and what each cannot predict",
    )
    predict.add_argument(
        "--save-machine", type=file_of, metavar="FILE", help="write the fitted parameters as a file for --machine"
    )
    predict.add_argument(
        "--equal-time",
        nargs="+",
        default=[],
        metavar="M",
        help="A B [B ...]: how many nodes of each B take as long as --ranks of machine A (default: all of it)",
    )
    predict.add_argument(
        "--equal-cost",
        nargs="+",
        default=[],
        metavar="M",
        help="A B [B ...]: how many nodes of each B cost as much an hour as those of A, and which is faster then",
    )
    add_runs(predict)
    predict.add_argument("--project", default="", metavar="TRENDS", help="a file of trends, or published ones")
    predict.add_argument("--years", type=_years, metavar="FIRST:LAST", help="with --project")
    predict.add_argument(
        "--weak", action="store_true", help="with --project: the elements grow from --shape on as the nodes do"
    )
    predict.add_argument("--beside", default="", metavar="M", help="a real machine beside the last year projected")
    predict.add_argument(
        "-o", "--output", type=file_of, metavar="FILE", help="times over ranks, or the projection: .svg, .png or .pdf"
    )
    predict.add_argument("--csv", type=file_of, metavar="FILE", help="write a line for each prediction")
    predict.add_argument("--json", action="store_true", help="print the answer as JSON")


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.models.machines import published_machines
    from fourscore_analysis.tables.machines import machines_json, machines_text

    if options.list_machines:
        found = list(published_machines().values())
        print(json.dumps(machines_json(found), indent=1) if options.json else machines_text(found))
        return OK
    _refuse_incomplete(options)
    _prepare(options)
    if options.equal_time or options.equal_cost:
        return _equal(options)
    return _projection(options) if options.project else _predictions(options)


def _refuse_incomplete(options: argparse.Namespace) -> None:
    for name in ("variant", "shape"):
        if not getattr(options, name):
            raise InputError(f"--{name} is missing; or ask for --list-machines")
    for name, other in ONLY_WITH.items():
        if getattr(options, name) and not getattr(options, other):
            raise InputError(f"--{name} goes with --{other} only")
    counts = options.ranks or []
    if options.equal_time or options.equal_cost:
        _refuse_beside_equal(options)
    if options.project:
        if options.weak and options.ranks:
            raise InputError("--weak takes all nodes of each year, and no --ranks")
        if not options.years:
            raise InputError("--project wants --years FIRST:LAST")
        if options.csv:
            raise InputError("--csv is for predictions without --project; --json has the years")
        for name in ("variant", "ranks", "machine"):
            if len(getattr(options, name) or ()) > 1:
                raise InputError(f"--project takes one --{name}, not several")
    if options.nodes and counts and options.nodes > min(counts):
        raise InputError(f"--nodes is {options.nodes}; expected at most as many as --ranks, {min(counts)}")
    product = math.prod(options.grid)
    if options.grid and any(product != count for count in counts):
        raise InputError(
            f"--grid is of {product} ranks; expected a product of --ranks, {', '.join(str(count) for count in counts)}"
        )
    if (asked := len(options.variant) * max(len(counts), 1) * max(len(options.machine), 1)) > MOST_QUESTIONS:
        raise InputError(f"{asked} predictions; expected at most {MOST_QUESTIONS}: fewer variants, machines or ranks")


def _refuse_beside_equal(options: argparse.Namespace) -> None:
    if options.equal_time and options.equal_cost:
        raise InputError("--equal-time and --equal-cost exclude each other")
    asked = "--equal-time" if options.equal_time else "--equal-cost"
    for name in NOT_EQUAL:
        if getattr(options, name):
            raise InputError(f"{asked} takes no --{name.replace('_', '-')}")
    if len(options.equal_time or options.equal_cost) < 2:
        raise InputError(f"{asked} wants two machines or more: A, and those whose nodes are to be found")
    for name in ("variant", "ranks"):
        if len(getattr(options, name) or ()) > 1:
            raise InputError(f"{asked} takes one --{name}, not several")


def _prepare(options: argparse.Namespace) -> None:
    """Raises InputError where a file cannot be written, before anything long is done."""
    from fourscore_analysis.records.files import prepare_file

    if options.save_machine:
        prepare_file(options.save_machine, options.archive, "machine", "--save-machine")
    if options.csv:
        prepare_file(options.csv, options.archive, "table", "--csv")
    if options.output:
        from fourscore_analysis.page.figures import suffix_of

        suffix_of(options.output)
        prepare_file(options.output, options.archive, "projection" if options.project else "figure")


def _predictions(options: argparse.Namespace) -> int:
    """Predicts each variant on each machine; the exit code is 1 where nothing can be predicted."""
    from fourscore_analysis.models.machines import machine_of

    found: list[Answer] = []
    for asked in options.machine or [""]:
        machine = machine_of(asked) if asked else None
        for variant in options.variant:
            wanted = wanted_of(options, variant)
            found += _of_archive(options, asked, wanted) if machine is None else _of_file(options, machine, wanted)
    return _print(options, found)


def _of_archive(options: argparse.Namespace, machine: str, wanted: Wanted) -> list[Answer]:
    """Every method of the archive that fits."""
    from fourscore_analysis.views.predictions import answer, check_hash, priced, question_of, read_sources

    check_hash(machine)
    if not options.ranks:
        raise InputError("--ranks is missing; only a machine with nodes has a default")
    sources = priced(read_sources(options.archive, machine, wanted), options.cost)
    _save(options, sources)
    return [answer(source, question_of(source, wanted, ranks)) for source in sources for ranks in options.ranks]


def _of_file(options: argparse.Namespace, machine: Machine, wanted: Wanted) -> list[Answer]:
    """Raises InputError where the one thing that was asked cannot be predicted; each of several has its reason."""
    from fourscore_analysis.views.predictions import answer, priced, question_of, source_of_machine, sources_of_machine

    for name in ("exchange", "save_machine"):
        if getattr(options, name):
            raise InputError(
                f"--{name.replace('_', '-')} is for fits to an archive; {machine.name} is a file of parameters"
            )
    counts = options.ranks or [_all_ranks(options, machine)]
    alone = len(options.variant) == len(options.machine) == len(counts) == 1
    found = []
    for ranks in counts:
        if alone:
            source = source_of_machine(machine, wanted, ranks)
        else:
            own = replace(wanted, terms=(("threads", 1), *wanted.terms))
            [source] = sources_of_machine(machine, own, ranks)
        [source] = priced([source], options.cost)
        found.append(answer(source, question_of(source, wanted, ranks)))
    if alone and found[0].reason:
        raise InputError(found[0].reason)
    return found


def _all_ranks(options: argparse.Namespace, machine: Machine) -> int:
    if not machine.nodes:
        raise InputError(f"--ranks is missing, and {machine.name} does not say how many nodes it has")
    return (options.nodes or machine.nodes) * max(machine.ranks_per_node // (options.threads or 1), 1)


def _save(options: argparse.Namespace, sources: list[Source]) -> None:
    from fourscore_analysis.models.machines import machine_text
    from fourscore_analysis.records.files import write_whole

    if options.save_machine:
        write_whole(options.save_machine, machine_text(_fitted_machine(sources)).encode("utf-8"))


def _fitted_machine(sources: list[Source]) -> Machine:
    """The machine that the only fitted method gives. Raises InputError for none or several."""
    from fourscore_analysis.models.projection import machine_of_fit
    from fourscore_analysis.models.work import pieces_in_flight

    fitted = [source for source in sources if source.fit and source.fit.tried]
    if len(fitted) != 1:
        labels = "; ".join(source.title for source in fitted)
        raise InputError(
            f"{len(fitted)} methods were fitted; expected one: choose with --exchange, --layout ({labels})"
        )
    [source] = fitted
    assert source.fit is not None
    nodes = max(one.question.cell.place.nodes for one in source.observations)
    machine_hash = source.fit.series.machine_hash
    return machine_of_fit(
        source.fit.best.fitted,
        f"machine-{machine_hash[:8]}",
        machine_hash,
        nodes,
        source.ranks_per_node,
        any(pieces_in_flight(one.question) > 1 for one in source.observations),
    )


def _projection(options: argparse.Namespace) -> int:
    from fourscore_analysis.models.machines import machine_of
    from fourscore_analysis.models.trends import trends_of
    from fourscore_analysis.tables.projections import projection_json, projection_text
    from fourscore_analysis.views.predictions import read_sources
    from fourscore_analysis.views.projections import projected

    [variant] = options.variant
    wanted, ranks = wanted_of(options, variant), options.ranks[0] if options.ranks else None
    asked = options.machine[0] if options.machine else ""
    machine, trends = machine_of(asked) if asked else None, trends_of(options.project)
    if options.save_machine or (options.exchange and machine):
        raise InputError("--save-machine and --exchange are for fits to an archive, without --project")
    if machine is None and not asked and trends.machine:
        machine = machine_of(trends.machine)
    if machine is None:
        machine = _fitted_machine(read_sources(options.archive, asked, wanted))
    beside = _known(options.beside) if options.beside else None
    found = projected(machine, trends, options.years, wanted, ranks, beside, options.weak)
    if options.output:
        from fourscore_analysis.page.figures import write_figure
        from fourscore_analysis.page.projection_figure import projection_figure

        write_figure(lambda: projection_figure(found), options.output)
    print(json.dumps(projection_json(found), indent=1) if options.json else projection_text(found))
    return OK


def _equal(options: argparse.Namespace) -> int:
    """The exit code is 1 where no machine can be as fast, or as cheap."""
    from fourscore_analysis.tables import equal_cost, equal_time
    from fourscore_analysis.views.equal_cost import equal_costs
    from fourscore_analysis.views.equal_time import equal_times

    [variant] = options.variant
    first, *others = [_known(asked) for asked in options.equal_time or options.equal_cost]
    wanted, ranks = wanted_of(options, variant), options.ranks[0] if options.ranks else None
    if options.equal_time:
        found = equal_times(first, others, wanted, ranks)
        print(json.dumps(equal_time.as_json(found), indent=1) if options.json else equal_time.as_text(found))
        return OK if any(one.fewest for one in found) else SAYS_NO
    bought = equal_costs(first, others, wanted, ranks)
    as_json, as_text = equal_cost.as_json(bought, options.runs), equal_cost.as_text(bought, options.runs)
    print(json.dumps(as_json, indent=1) if options.json else as_text)
    return OK if any(one.side for one in bought) else SAYS_NO


def _known(asked: str) -> Machine:
    """A file of parameters or a published machine. Raises InputError."""
    from fourscore_analysis.models.machines import machine_of

    machine = machine_of(asked)
    if machine is None:
        raise InputError(f"no machine {shown(asked)}; `fourscore predict --list-machines` has the published ones")
    return machine


def _print(options: argparse.Namespace, found: list[Answer]) -> int:
    from fourscore_analysis.records.files import write_whole
    from fourscore_analysis.tables.predictions import answers_csv, answers_json, answers_table, answers_text

    if options.csv:
        write_whole(options.csv, answers_csv(found, options.runs).encode("utf-8"))
    if options.output:
        from fourscore_analysis.page.figures import write_figure
        from fourscore_analysis.page.prediction_figure import predictions_figure

        write_figure(lambda: predictions_figure(found), options.output)
    if options.json:
        print(json.dumps(answers_json(found, options.runs), indent=1))
    else:
        several = len(options.variant) > 1 or len(options.ranks or ()) > 1 or len(options.machine) > 1
        text = answers_table(found, options.runs) if several else answers_text(found, options.runs)
        print("\n".join(printable(line) for line in text.splitlines()))
    return OK if any(one.prediction for one in found) else SAYS_NO


COMMAND = Command(
    name="predict",
    help="what a point would take, by the papers' models: here, on another machine, in other years",
    examples=EXAMPLES,
    order=31,
    add=_add,
    run=_run,
)
