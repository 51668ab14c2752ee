"""fourscore advise: which method, grid and exchange to use, by prediction, and what to measure to be surer."""

from __future__ import annotations

import argparse
import json
import sys
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
from fourscore_analysis.records.values import printable

if TYPE_CHECKING:
    from fourscore_analysis.views.active_ranks import RanksToUse
    from fourscore_analysis.views.predictions import Source, Wanted

EXAMPLES = """Examples:
  fourscore advise --shape 1024x1024x1024 --ranks 64:4096
  fourscore advise --shape 256x256x256 --ranks 2,4,8 --layout natural --json
  fourscore advise --shape 512x512x512 --ranks 2 --suggest more.toml && fourscore run more.toml
  fourscore advise --shape 4096x4096x4096 --ranks 512 --machine frontier
64:4096 doubles: 64, 128, ... 4096. `fourscore best` says which method was fastest where it was measured.
"""
TOP = 5


def _add(advise: argparse.ArgumentParser) -> None:
    add_archive(advise)
    advise.add_argument("--shape", type=shape_of, required=True, help="1 to 3 extents, slowest in memory first")
    advise.add_argument("--ranks", type=rank_counts_of, required=True, metavar="LIST", help="64:4096, or 64,128,256")
    advise.add_argument("--nodes", type=ranks_of, metavar="N", help="default: as few as have a core for each rank")
    advise.add_argument("--variant", default="", help="only this one (default: all that were measured)")
    advise.add_argument("--exchange", default="", help="only this one")
    add_terms(advise, "of the archive: each apart")
    add_threads(advise)
    add_model_options(advise)
    advise.add_argument(
        "--machine", default="", metavar="M", help="a file of parameters, a published machine, or a hash of the archive"
    )
    add_runs(advise)
    advise.add_argument("--top", type=ranks_of, default=TOP, metavar="N", help=f"rows of a table (default: {TOP})")
    advise.add_argument("--suggest", type=file_of, metavar="FILE", help="write what to measure next as a suite")
    advise.add_argument("--json", action="store_true", help="print the advice as JSON")


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.records.files import prepare_file, write_whole
    from fourscore_analysis.tables.advice import advice_json, advice_suite, advice_text, ranks_to_use_text
    from fourscore_analysis.views.advice import advise
    from fourscore_analysis.views.predictions import priced

    if options.suggest:
        prepare_file(options.suggest, options.archive, "suite", "--suggest")
    wanted = wanted_of(options, options.variant)
    found = advise(priced(_sources(options, wanted), options.cost), wanted, options.ranks)
    few = _measured_on_few(options)
    if options.json:
        said = advice_json(found, options.runs) | {"ranks_to_use": [one.as_json() for one in few]}
        print(json.dumps(said, indent=1))
    else:
        text = advice_text(found, options.top, options.runs) + ranks_to_use_text(few)
        print("\n".join(printable(line) for line in text.splitlines()))
    if options.suggest:
        suite = advice_suite(found)
        if suite:
            write_whole(options.suggest, suite.encode("utf-8"))
        else:
            print("fourscore advise: nothing to suggest; no file is written", file=sys.stderr)
    return OK if any(group.answers for group in found.groups) else SAYS_NO


def _measured_on_few(options: argparse.Namespace) -> list[RanksToUse]:
    """Where the archive has this shape on several numbers of active ranks."""
    from fourscore_analysis.papers.here import read_here
    from fourscore_analysis.views.active_ranks import ranks_to_use

    if options.machine or not options.archive:
        return []
    found = ranks_to_use(read_here(options.archive).points)
    return [
        one
        for one in found
        if one.best.cell.shape == options.shape
        and one.best.cell.ranks in options.ranks
        and options.variant in ("", one.best.method.variant)
        and options.exchange in ("", one.best.method.exchange)
    ]


def _sources(options: argparse.Namespace, wanted: Wanted) -> list[Source]:
    from fourscore_analysis.models.machines import machine_of
    from fourscore_analysis.views.predictions import read_sources, sources_of_machine

    machine = machine_of(options.machine) if options.machine else None
    if machine is None:
        return read_sources(options.archive, options.machine, wanted)
    return sources_of_machine(machine, wanted, max(options.ranks))


COMMAND = Command(
    name="advise",
    help="which variant, grid and exchange to use on so many ranks, by prediction, and what to measure next",
    examples=EXAMPLES,
    order=32,
    add=_add,
    run=_run,
)
