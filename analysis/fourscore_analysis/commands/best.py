"""fourscore best: which method was fastest for a shape on so many ranks."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from fourscore_analysis.commands.base import OK, SAYS_NO, Command
from fourscore_analysis.commands.options import add_archive, add_terms, ranks_of, shape_of, tell_unreadable, terms_of
from fourscore_analysis.records.values import InputError, printable

EXAMPLES = """Examples:
  fourscore best --shape 256x256x256 --ranks 8
  fourscore best --shape 256x256x256 --ranks 64 --nodes 4 --precision single --json
  fourscore best --shape 128x128x128 --ranks 8 --layout natural --machine-hash 1a2b
Only what was measured counts. Where it was not, the nearest that was is named, and the exit code is 1.
"""


def _add(best: argparse.ArgumentParser) -> None:
    add_archive(best)
    best.add_argument(
        "--shape", type=shape_of, required=True, help="1 to 3 extents, slowest in memory first: 128x96x100"
    )
    best.add_argument("--ranks", type=ranks_of, required=True, metavar="N")
    best.add_argument("--nodes", type=ranks_of, metavar="N", help="that the ranks are on (default: any, each apart)")
    add_terms(best, "any, each apart")
    best.add_argument("--machine-hash", default="", metavar="HASH", help="of one machine, or how it begins")
    best.add_argument("--json", action="store_true", help="print the answer as JSON")


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.records.archive import campaign_names, read_campaigns
    from fourscore_analysis.tables.best import best_json, best_text
    from fourscore_analysis.views.best import Question, find

    if options.nodes and options.nodes > options.ranks:
        raise InputError(f"--nodes is {options.nodes}; expected at most as many as --ranks, {options.ranks}")
    question = Question(
        shape=options.shape,
        ranks=options.ranks,
        nodes=options.nodes,
        **terms_of(options),
        machine_hash=options.machine_hash,
    )
    campaigns = read_campaigns(options.archive, campaign_names(options.archive))
    unreadable = [file for campaign in campaigns for file in campaign.unreadable]
    tell_unreadable("best", unreadable)
    found = find(campaigns, question)
    if options.json:
        print(json.dumps(best_json(found) | {"unreadable": [asdict(file) for file in unreadable]}, indent=1))
    else:
        print("\n".join(printable(line) for line in best_text(found).splitlines()))
    return OK if found.answers else SAYS_NO


COMMAND = Command(
    name="best",
    help="which method was fastest for a shape on so many ranks, with its evidence",
    examples=EXAMPLES,
    order=20,
    add=_add,
    run=_run,
)
