"""Command line of the analysis: python -m fourscore_analysis report|best ..., which `fourscore report` and
`fourscore best` run."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import printable, shown

OK, SAYS_NO, UNUSABLE_INPUT, ENVIRONMENT_FAILED = 0, 1, 2, 3
MOST_PLOT_POINTS = 1_000_000
MOST_RANKS = 2**31 - 1
LARGEST_EXTENT = 2**62

REPORT_EXAMPLES = """examples:
  fourscore report                                  newest campaign of each suite in ./fourscore-archive -> report.html
  fourscore report --archive /data/fft strong       newest campaign of the suite 'strong'
  fourscore report strong-1a2b3c4d -o strong.html   one campaign
"""


# What may be asked for of a point's contract, beside its shape and place.
TERMS = {
    "precision": ("double", "single"),
    "kind": ("c2c", "r2c", "c2r"),
    "direction": ("forward", "backward", "roundtrip"),
    "layout": ("natural", "transposed"),
}
BEST_EXAMPLES = """examples:
  fourscore best --shape 256x256x256 --ranks 8
  fourscore best --shape 256x256x256 --ranks 64 --nodes 4 --precision single --json
  fourscore best --shape 128x128x128 --ranks 8 --layout natural --machine-hash 1a2b
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 what was asked for was not measured, 2 unusable input, 3 the environment
    failed."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows ASCII alone gets escapes, not a failure
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    name = f"fourscore {options.command}"
    try:
        code = {"report": _report, "best": _best}[options.command](options)
        sys.stdout.flush()
        return code
    except InputError as error:
        print(printable(f"{name}: {error}"), file=sys.stderr)
        return UNUSABLE_INPUT
    except ImportError as error:
        print(f"{name}: {sys.executable}: {error}; run jobscripts/setup", file=sys.stderr)
        return ENVIRONMENT_FAILED
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else ""
        print(printable(f"{name}: cannot write{where}: {error.strerror or error}"), file=sys.stderr)
        _drop_unwritten()
        return ENVIRONMENT_FAILED
    except KeyboardInterrupt:
        return 130


def _drop_unwritten() -> None:
    """What standard output did not take would be tried again at the end, and fail again, with a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fourscore", description="Analysis of a fourscore archive.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_report(commands)
    _add_best(commands)
    return parser


def _add_archive(command: argparse.ArgumentParser) -> None:
    default = os.environ.get("FOURSCORE_ARCHIVE") or "fourscore-archive"
    command.add_argument(
        "--archive",
        type=_path,
        default=default,
        metavar="DIR",
        help=f"the archive (default: $FOURSCORE_ARCHIVE, else ./fourscore-archive; now {default})".replace("%", "%%"),
    )


def _add_report(commands: Any) -> None:
    report = commands.add_parser(
        "report",
        help="one self-contained HTML page about campaigns, and every plot as SVG, PNG and PDF",
        epilog=REPORT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    report.add_argument(
        "campaigns",
        nargs="*",
        metavar="CAMPAIGN",
        help="a campaign, or a suite for its newest campaign (default: the newest of each suite)",
    )
    _add_archive(report)
    report.add_argument(
        "-o", "--output", type=_file, default="report.html", metavar="FILE", help="the page (default: report.html)"
    )
    report.add_argument(
        "--plots", type=_path, metavar="DIR", help="folder of the plots (default: beside the page, report-plots)"
    )
    report.add_argument(
        "--plot-points",
        type=_count,
        metavar="N",
        help="points a campaign in the plots at most, the largest problems first; tables always have all "
        "(0: no limit; default: 150, fewer in reports of more than 4000 records)",
    )
    report.add_argument("--json", action="store_true", help="print what was written and found as JSON")


def _add_best(commands: Any) -> None:
    best = commands.add_parser(
        "best",
        help="which method was fastest for a shape on so many ranks, with its evidence",
        epilog=BEST_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_archive(best)
    best.add_argument("--shape", type=_shape, required=True, help="1 to 3 extents, slowest in memory first: 128x96x100")
    best.add_argument("--ranks", type=_ranks, required=True, metavar="N")
    best.add_argument("--nodes", type=_ranks, metavar="N", help="that the ranks are on (default: any, each apart)")
    for name, words in TERMS.items():
        best.add_argument(f"--{name}", choices=words, help="default: any, each apart")
    best.add_argument("--machine-hash", default="", metavar="HASH", help="of one machine, or how it begins")
    best.add_argument("--json", action="store_true", help="print the answer as JSON")


def _shape(text: str) -> tuple[int, ...]:
    extents = text.split("x")
    if not (1 <= len(extents) <= 3 and all(re.fullmatch(r"[1-9][0-9]{0,18}", extent) for extent in extents)):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a shape: 1 to 3 extents from 1 on, as 128x96x100")
    shape = tuple(int(extent) for extent in extents)
    if math.prod(shape) > LARGEST_EXTENT:
        raise argparse.ArgumentTypeError(f"{shown(text)} has more elements than any transform, 2^62")
    return shape


def _ranks(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:20]) <= MOST_RANKS):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number from 1 to {MOST_RANKS}")
    return int(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:20]) <= MOST_PLOT_POINTS):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number of points (0 to {MOST_PLOT_POINTS})")
    return int(text)


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a path")
    return Path(text)


def _file(text: str) -> Path:
    if not _path(text).name:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not the name of a file")
    return Path(text)


def _best(options: argparse.Namespace) -> int:
    from fourscore_analysis.records.archive import campaign_names, read_campaigns
    from fourscore_analysis.tables.best import best_json, best_text
    from fourscore_analysis.views.best import Question, find

    kind, direction = options.kind, options.direction
    if kind == "c2r":
        if direction not in (None, "backward"):
            raise InputError(f"--kind c2r is r2c backward; expected no --direction, or backward, not {direction}")
        kind, direction = "r2c", "backward"
    if options.nodes and options.nodes > options.ranks:
        raise InputError(f"--nodes is {options.nodes}; expected at most as many as --ranks, {options.ranks}")
    question = Question(
        shape=options.shape,
        ranks=options.ranks,
        nodes=options.nodes,
        precision=options.precision,
        kind=kind,
        direction=direction,
        layout=options.layout,
        machine_hash=options.machine_hash,
    )
    campaigns = read_campaigns(options.archive, campaign_names(options.archive))
    unreadable = [file for campaign in campaigns for file in campaign.unreadable]
    for file in unreadable:
        print(printable(f"fourscore best: {file.file} is not used: {file.reason}"), file=sys.stderr)
    found = find(campaigns, question)
    if options.json:
        print(json.dumps(best_json(found) | {"unreadable": [asdict(file) for file in unreadable]}, indent=1))
    else:
        print("\n".join(printable(line) for line in best_text(found).splitlines()))
    return OK if found.answers else SAYS_NO


def _report(options: argparse.Namespace) -> int:
    from fourscore_analysis.page.report import build_report  # takes a moment: not before --help

    report = build_report(options.archive, options.campaigns, options.output, options.plots, options.plot_points)
    for file in report.unreadable:
        print(printable(f"fourscore report: {file.file} is not used: {file.reason}"), file=sys.stderr)
    if options.json:
        print(
            json.dumps(
                {
                    "report": str(report.page),
                    "plots": str(report.plots_folder),
                    "campaigns": [
                        {
                            "campaign": section.campaign.name,
                            "suite": section.campaign.suite,
                            "records": section.counts,
                            "findings": section.findings,
                        }
                        | section.counted_json()
                        for section in report.sections
                    ],
                    "unreadable": [asdict(file) for file in report.unreadable],
                },
                indent=1,
            )
        )
    else:
        for section in report.sections:
            print(printable(f"{section.campaign.name}: {section.findings[0]}"))
        print(printable(f"report: {report.page} (plots: {report.plots_folder})"))
    return OK
