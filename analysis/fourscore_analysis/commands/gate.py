"""fourscore gate: how often the gate errs, and exact numbers held to a baseline."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

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
from fourscore_analysis.records.archive import InputError

EXAMPLES = """Examples:
  fourscore gate accept exact --baseline baseline.json     the newest campaign of the suite 'exact'
  fourscore gate check exact --baseline baseline.json
"""


def _add(gate: argparse.ArgumentParser) -> None:
    gate.add_argument("what", choices=["certify", "check", "accept", "beforehand"])
    gate.add_argument("campaign", nargs="?", metavar="CAMPAIGN", help="a campaign, or a suite for its newest campaign")
    add_archive(gate)
    gate.add_argument("--certification", type=file_of, metavar="FILE", help="which comparisons certify measured")
    gate.add_argument("--baseline", type=file_of, metavar="FILE", help="the exact numbers that were accepted")
    gate.add_argument("--points", default="", metavar="ID,...", help="of a comparison that is about to be measured")
    gate.add_argument("--machine-hash", default="", metavar="HASH", help="where it will be measured")
    gate.add_argument("--most-pairs", type=ranks_of, default=160, metavar="N", help="that its second stage may take")
    gate.add_argument("--detect", type=slowdown_of, default=0.05, metavar="PERCENT", help="that it is to find")
    gate.add_argument("--markdown", type=file_of, metavar="FILE", help="of check: write it for a pull request")
    gate.add_argument("--junit", type=file_of, metavar="FILE", help="of check: write it as JUnit XML")
    gate.add_argument("--json", type=file_of, metavar="FILE", help="write the result as JSON; - for standard output")


def _run(options: argparse.Namespace) -> int:
    if options.what == "accept":
        prepare_outputs(options, "json", "baseline")
    else:
        prepare_outputs(options, "json", "markdown", "junit", inputs=(options.baseline, options.certification))
    if options.what == "certify":
        return _certify(options)
    if options.what == "beforehand":
        return _beforehand(options)
    if not (options.campaign and options.baseline):
        raise InputError(f"{options.what} wants CAMPAIGN and --baseline FILE")
    from fourscore_analysis.gate.baseline import check, checked_json, numbers_of_runs, read_baseline, write_baseline
    from fourscore_analysis.gate.baseline_outputs import junit_of, markdown_of, text_of
    from fourscore_analysis.records.archive import read_campaigns, select_campaigns

    if options.what == "check":
        baseline = read_baseline(options.baseline)
    [campaign] = read_campaigns(options.archive, select_campaigns(options.archive, [options.campaign]))
    tell_unreadable("gate", campaign.unreadable)
    measured = numbers_of_runs(campaign.runs)
    if options.what == "accept":
        count = write_baseline(options.baseline, measured, campaign.suite)
        print(f"{options.baseline}: {count} exact numbers of {campaign.name}")
        return OK
    checked = check(baseline, measured)
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

    points = [point for point in options.points.split(",") if point]
    if not (points and options.machine_hash):
        raise InputError("beforehand wants --points ID,... and --machine-hash HASH")
    rules = replace(RULES, effect=options.detect)
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
