"""fourscore gate: how often the gate errs, and exact numbers held to a baseline. What `gate certify` measures
is said by options of the C++ program, which hands on --certification."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fourscore_analysis.commands.base import OK, Command
from fourscore_analysis.commands.options import (
    STANDARD_OUTPUT,
    add_archive,
    file_of,
    prepare_outputs,
    ranks_of,
    slowdown_of,
    tell_unreadable,
    write_output,
)
from fourscore_analysis.records.values import InputError

if TYPE_CHECKING:
    from fourscore_analysis.records.archive import Campaign

EXAMPLES = """Examples:
  fourscore run exact && fourscore gate accept exact --baseline baseline.json
  fourscore run exact && fourscore gate check exact --baseline baseline.json
  fourscore gate certify --dry-run
  fourscore gate certify --runs 30 --slower 2,5,10 --only variant=pencil
check compares messages, bytes, memory, plans and simulated counts: any machine will do, and any change is the
code's. Exit code 0: nothing grew; 1: a number grew, or a result is wrong; 2: unusable input; 3: the environment
failed; 4: nothing was measured.
certify compares this build with itself, and with itself made slower in one phase, and prints how often the
gate was red. Interrupt it at any time; the same command goes on.
"""


def _add(gate: argparse.ArgumentParser) -> None:
    kinds = gate.add_subparsers(dest="what", required=True, title="Subcommands", metavar="COMMAND")
    check = kinds.add_parser("check", help="compare exact numbers of a campaign with accepted ones")
    accept = kinds.add_parser("accept", help="write those of a campaign as the accepted ones")
    certify = kinds.add_parser("certify", help="measure false alarms, and slowdowns that are found, of known size")
    beforehand = kinds.add_parser("beforehand")  # asked by `compare` of builds
    for kind in (check, accept):
        kind.add_argument("campaign", metavar="CAMPAIGN", help="a campaign, or a suite for its newest campaign")
        kind.add_argument(
            "--baseline", type=file_of, required=True, metavar="FILE", help="the exact numbers that were accepted"
        )
    for kind in (check, accept, certify, beforehand):
        add_archive(kind)
    for kind in (check, certify):
        kind.add_argument(
            "--json", type=file_of, metavar="FILE", help="write the result as JSON; - for standard output"
        )
    check.add_argument("--markdown", type=file_of, metavar="FILE", help="write it for a pull request")
    check.add_argument("--junit", type=file_of, metavar="FILE", help="write it as JUnit XML")
    certify.add_argument("--certification", type=file_of, help=argparse.SUPPRESS)  # which comparisons were measured
    beforehand.add_argument("--points", required=True, metavar="ID,...", help="that are about to be measured")
    beforehand.add_argument("--machine-hash", required=True, metavar="HASH", help="where they will be measured")
    beforehand.add_argument("--most-pairs", type=ranks_of, default=160, metavar="N", help="of the second stage")
    beforehand.add_argument("--detect", type=slowdown_of, metavar="PERCENT", help="that it is to find")


def _run(options: argparse.Namespace) -> int:
    return {"check": _check, "accept": _accept, "certify": _certify, "beforehand": _beforehand}[options.what](options)


def _campaign(options: argparse.Namespace) -> Campaign:
    from fourscore_analysis.records.archive import read_campaigns, select_campaigns

    [campaign] = read_campaigns(options.archive, select_campaigns(options.archive, [options.campaign]))
    tell_unreadable("gate", campaign.unreadable)
    return campaign


def _accept(options: argparse.Namespace) -> int:
    from fourscore_analysis.gate.baseline import numbers_of_runs, write_baseline

    prepare_outputs(options, "baseline")
    campaign = _campaign(options)
    count = write_baseline(options.baseline, numbers_of_runs(campaign.runs), campaign.suite)
    print(f"{options.baseline}: {count} exact numbers of {campaign.name}")
    return OK


def _check(options: argparse.Namespace) -> int:
    from fourscore_analysis.gate.baseline import check, checked_json, numbers_of_runs, read_baseline
    from fourscore_analysis.gate.baseline_outputs import junit_of, markdown_of, text_of

    prepare_outputs(options, "json", "markdown", "junit", inputs=[options.baseline])
    baseline = read_baseline(options.baseline)
    checked = check(baseline, numbers_of_runs(_campaign(options).runs))
    _write_json(options.json, checked_json(checked))
    if options.markdown:
        write_output(options.markdown, markdown_of(checked))
    if options.junit:
        write_output(options.junit, junit_of(checked))
    if options.json != STANDARD_OUTPUT:
        print(text_of(checked))
    return checked.exit_code


def _certify(options: argparse.Namespace) -> int:
    from fourscore_analysis.gate.certify import measure_rates
    from fourscore_analysis.gate.rates import keep_rates, rates_json, text_of

    prepare_outputs(options, "json", inputs=[options.certification])
    if not options.certification:
        raise InputError("certify wants --certification FILE")
    rates = measure_rates(options.archive, options.certification)
    keep_rates(options.archive, rates)
    _write_json(options.json, rates_json(rates))
    if options.json != STANDARD_OUTPUT:
        print(text_of(rates))
    return OK


def _beforehand(options: argparse.Namespace) -> int:
    from fourscore_analysis.gate.beforehand import beforehand
    from fourscore_analysis.gate.rules import RULES

    points = options.points.split(",")
    rules = replace(RULES, effect=options.detect or RULES.effect)
    found = beforehand(options.archive, points, options.machine_hash, options.most_pairs, rules)
    _write_json(STANDARD_OUTPUT, found)
    return OK


def _write_json(name: Path | None, data: dict) -> None:
    if name is not None:
        write_output(name, json.dumps(data, indent=1) + "\n")


COMMAND = Command(
    name="gate",
    help="how often the gate errs on a machine, and exact numbers held to a baseline",
    examples=EXAMPLES,
    order=35,
    add=_add,
    run=_run,
)
