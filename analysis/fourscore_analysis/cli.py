"""Command line of the analysis: python -m fourscore_analysis report ..., which `fourscore report` runs."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import printable, shown

OK, UNUSABLE_INPUT, ENVIRONMENT_FAILED = 0, 2, 3
MOST_PLOT_POINTS = 1_000_000

EXAMPLES = """examples:
  fourscore report                                  newest campaign of each suite in ./fourscore-archive -> report.html
  fourscore report --archive /data/fft strong       newest campaign of the suite 'strong'
  fourscore report strong-1a2b3c4d -o strong.html   one campaign
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 2 unusable input, 3 the environment failed."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows ASCII alone gets escapes, not a failure
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        code = _report(options)
        sys.stdout.flush()
        return code
    except InputError as error:
        print(printable(f"fourscore report: {error}"), file=sys.stderr)
        return UNUSABLE_INPUT
    except ImportError as error:
        print(f"fourscore report: {sys.executable}: {error}; run jobscripts/setup", file=sys.stderr)
        return ENVIRONMENT_FAILED
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else ""
        print(printable(f"fourscore report: cannot write{where}: {error.strerror or error}"), file=sys.stderr)
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
    report = commands.add_parser(
        "report",
        help="one self-contained HTML page about campaigns, and every plot as SVG, PNG and PDF",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    report.add_argument(
        "campaigns",
        nargs="*",
        metavar="CAMPAIGN",
        help="a campaign, or a suite for its newest campaign (default: the newest of each suite)",
    )
    default = os.environ.get("FOURSCORE_ARCHIVE") or "fourscore-archive"
    report.add_argument(
        "--archive",
        type=_path,
        default=default,
        metavar="DIR",
        help=f"the archive (default: $FOURSCORE_ARCHIVE, else ./fourscore-archive; now {default})".replace("%", "%%"),
    )
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
    return parser


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
                    "unreadable": [{"file": file.file, "reason": file.reason} for file in report.unreadable],
                },
                indent=1,
            )
        )
    else:
        for section in report.sections:
            print(printable(f"{section.campaign.name}: {section.findings[0]}"))
        print(printable(f"report: {report.page} (plots: {report.plots_folder})"))
    return OK
