"""fourscore report: one page about campaigns, and every plot."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from fourscore_analysis.commands.base import OK, Command
from fourscore_analysis.commands.options import add_archive, default_archive, file_of, path_of, tell_unreadable
from fourscore_analysis.records.values import printable, shown

MOST_PLOT_POINTS = 1_000_000
MOST_EFFICIENCIES = 5

EXAMPLES = """Examples:
  fourscore report                                  newest campaign of each suite in ./fourscore-archive -> report.html
  fourscore report --archive /data/fft strong       newest campaign of the suite 'strong'
  fourscore report strong-1a2b3c4d -o strong.html   one campaign
  fourscore report --tables tables --width column   tables for LaTeX, figures as wide as a paper's column
  fourscore report --paper all -o papers.html       every number of the papers, by their equations and beside ours
  fourscore report --archive ours --archive theirs --across machines -o machines.html      machines side by side
"""
PROGRAM = "fourscore-report"  # installed with the wheel; there the archive is the first word
EXAMPLES_OF_PROGRAM = """Examples:
  fourscore-report archive                             newest campaign of each suite in ./archive -> report.html
  fourscore-report archive strong -o strong.html       newest campaign of the suite 'strong'
  fourscore-report --paper all -o papers.html          every number of the papers, by their equations
"""


def _add(report: argparse.ArgumentParser) -> None:
    as_program = report.prog == PROGRAM
    if as_program:
        add_archive(report, as_word=True)
        report.epilog = EXAMPLES_OF_PROGRAM
    report.add_argument(
        "campaigns",
        nargs="*",
        metavar="CAMPAIGN",
        help="a campaign, or a suite for its newest campaign (default: the newest of each suite)",
    )
    if not as_program:
        add_archive(report, several=True)
    report.add_argument(
        "-o", "--output", type=file_of, default="report.html", metavar="FILE", help="the page (default: report.html)"
    )
    report.add_argument(
        "--plots", type=path_of, metavar="DIR", help="folder of the plots (default: beside the page, report-plots)"
    )
    report.add_argument(
        "--plot-points",
        type=_plot_points,
        metavar="N",
        help="points a campaign in the plots at most, the largest problems first; tables always have all "
        "(0: no limit; default: 150, fewer in reports of more than 4000 records)",
    )
    report.add_argument(
        "--efficiency",
        type=_efficiencies,
        metavar="E,...",
        help="of which the report says the size that keeps them: up to 5 numbers between 0 and 1 "
        "(default: 0.5,0.66,0.83)",
    )
    report.add_argument(
        "--paper",
        action="append",
        metavar="NAME",
        help="a page of a paper's numbers instead, with verdicts: a key of the bibliography, or all; may be repeated. "
        "Takes the whole archive; without one, the equations alone",
    )
    report.add_argument(
        "--across",
        choices=("machines", "versions", "mpis"),
        help="a page of the same points side by side instead: on each machine of the archives, or with each version of "
        "libraries or each MPI of a machine. Takes all campaigns, or all of those and of the suites that are named",
    )
    report.add_argument(
        "--base",
        metavar="NAME",
        help="the machine, version or MPI that --across holds the others against: its name, a part of it, or how the "
        "digest of its machine begins (default: the one with most points)",
    )
    report.add_argument(
        "--tables",
        type=path_of,
        metavar="DIR",
        help="write the points as tables too, into this folder: times, phases, memory and messages of each campaign, "
        "for LaTeX (booktabs) and as CSV",
    )
    report.add_argument(
        "--width",
        type=_width,
        metavar="WIDTH",
        help="of each figure, with letters of the same size: 3.4in, 86mm, 8.6cm, or column, which is 3.4in "
        "(default: 4.8in)",
    )
    report.add_argument("--json", action="store_true", help="print what was written and found as JSON")


def _plot_points(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:20]) <= MOST_PLOT_POINTS):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number of points (0 to {MOST_PLOT_POINTS})")
    return int(text)


def _efficiencies(text: str) -> tuple[float, ...]:
    try:
        values = tuple(sorted({float(part) for part in text.split(",")}))
    except ValueError:
        values = ()
    if not (1 <= len(values) <= MOST_EFFICIENCIES and all(0 < value < 1 for value in values)):
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not 1 to {MOST_EFFICIENCIES} numbers between 0 and 1, as 0.5,0.8"
        )
    return values


def _width(text: str) -> float:
    from fourscore_analysis.plots.shared.layout import width_of
    from fourscore_analysis.records.archive import InputError

    try:
        return width_of(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.plots.shared.layout import WIDTH_IN, pages_of

    archives = options.archive if isinstance(options.archive, list) else [options.archive]
    _check_together(options, len(archives))
    options.archive = archives[0]
    with pages_of(options.width or WIDTH_IN):
        if options.across:
            return _run_across(options, archives)
        return _run_papers(options) if options.paper else _run_campaigns(options)


def _check_together(options: argparse.Namespace, archives: int) -> None:
    """Raises InputError for options that do not go together."""
    from fourscore_analysis.records.archive import InputError

    if not options.across and archives > 1:
        raise InputError(
            f"{archives} archives without --across; expected one, or --across; `fourscore archive merge` makes one"
        )
    if not options.across and options.base is not None:
        raise InputError("--base without --across; expected both, or neither")
    refused = (
        ("--paper", "CAMPAIGN", options.campaigns, "a paper's page reads the whole archive"),
        ("--paper", "--plot-points", options.plot_points is not None, "a paper's page reads the whole archive"),
        ("--paper", "--efficiency", options.efficiency is not None, "a paper's page reads the whole archive"),
        ("--paper", "--tables", options.tables is not None, "a paper's page reads the whole archive"),
        ("--across", "--paper", options.paper, "each makes a page of its own"),
        ("--across", "--plot-points", options.plot_points is not None, "its page draws the largest problems"),
        ("--across", "--efficiency", options.efficiency is not None, "its page has no isoefficiency"),
    )
    for option, other, given, why in refused:
        if given and getattr(options, option.removeprefix("--")):
            raise InputError(f"{option} takes no {other}: {why}")


def _run_campaigns(options: argparse.Namespace) -> int:
    from fourscore_analysis.page.report import build_report
    from fourscore_analysis.tables.points import points_json

    chosen = {"efficiencies": options.efficiency} if options.efficiency else {}
    chosen |= {"tables_folder": options.tables} if options.tables else {}
    report = build_report(
        options.archive, options.campaigns, options.output, options.plots, options.plot_points, **chosen
    )
    tell_unreadable("report", report.unreadable)
    if options.json:
        print(
            json.dumps(
                {
                    "report": str(report.page),
                    "plots": str(report.plots_folder),
                    **({"tables": str(options.tables)} if options.tables else {}),
                    "campaigns": [
                        {
                            "campaign": section.campaign.name,
                            "suite": section.campaign.suite,
                            "records": section.counts,
                            "findings": section.findings,
                            "points": points_json(section.view),
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
        tables = f"; tables: {options.tables}" if options.tables else ""
        print(printable(f"report: {report.page} (plots: {report.plots_folder}{tables})"))
    return OK


def _run_papers(options: argparse.Namespace) -> int:
    from fourscore_analysis.page.papers import build_papers

    found = build_papers(options.paper, archive_of(options), options.output, options.plots)
    tell_unreadable("report", (file for campaign in found.here.campaigns for file in campaign.unreadable))
    if options.json:
        archive = str(found.here.archive) if found.here.archive else None
        papers = [section.as_json() for section in found.sections]
        paths = {"report": str(found.page), "plots": str(found.plots_folder), "archive": archive}
        print(json.dumps(paths | {"papers": papers}, indent=1))
    else:
        for section in found.sections:
            print(printable(f"{section.paper.name}: {' '.join(section.summary)}"))
        print(printable(f"report: {found.page} (plots: {found.plots_folder})"))
    return OK


def _run_across(options: argparse.Namespace, archives: list[Path]) -> int:
    from fourscore_analysis.page.across import build_across
    from fourscore_analysis.tables.across import summary_text
    from fourscore_analysis.tables.across_files import across_json

    page = build_across(
        archives, options.campaigns, options.across, options.base or "", options.output, options.plots, options.tables
    )
    tell_unreadable("report", page.unreadable)
    if options.json:
        paths = {"report": str(page.page), "plots": str(page.plots_folder)}
        paths |= {"tables": str(options.tables)} if options.tables else {}
        unreadable = [asdict(file) for file in page.unreadable]
        print(json.dumps(paths | across_json(page.report) | {"unreadable": unreadable}, indent=1))
    else:
        for line in summary_text(page.report).splitlines():
            print(printable(line))
        tables = f"; tables: {options.tables}" if options.tables else ""
        print(printable(f"report: {page.page} (plots: {page.plots_folder}{tables})"))
    return OK


def archive_of(options: argparse.Namespace) -> Path | None:
    """The archive that is asked for; None where it is the default one and is not there, or holds no record yet."""
    from fourscore_analysis.records.archive import InputError, campaign_names

    if options.archive == default_archive():
        try:
            campaign_names(options.archive)
        except InputError:
            return None
    return options.archive


COMMAND = Command(
    name="report",
    help="one self-contained HTML page about campaigns, machines side by side, or the papers, and every plot as SVG, "
    "PNG and PDF",
    examples=EXAMPLES,
    order=10,
    add=_add,
    run=_run,
)
