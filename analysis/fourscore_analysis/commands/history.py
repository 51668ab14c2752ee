"""fourscore history: what changed where, in every series over the builds of the code. The C++ program asks git, and
reads the acknowledgements, which its options name; it hands on --context."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fourscore_analysis.commands.base import OK, SAYS_NO, Command
from fourscore_analysis.commands.options import add_archive, file_of, path_of, tell_unreadable
from fourscore_analysis.records.values import InputError, printable, shown

EXAMPLES = """Examples:
  fourscore history -o history.html
  fourscore history --repo . --acknowledged expected.toml --fail-on-slowdown
  fourscore history --series variant=pencil,shape=128x*,ranks=4 --json pencil.json
A series is a point on one machine. A change names the revisions between which it came, its size with an
interval, and p. The exit code is 0, whatever is found; 1 with --fail-on-slowdown, where one stands.
"""
MOST_MARGIN_PERCENT = 1000


def _add(history: argparse.ArgumentParser) -> None:
    add_archive(history)
    history.add_argument(
        "--series",
        type=_series,
        default={},
        metavar="KEY=PATTERN,...",
        help="only series whose keys match: variant=pencil,shape=128x* (default: all)",
    )
    history.add_argument(
        "--margin", type=_percent, default=2.0, metavar="PERCENT", help="smaller changes do not count (default: 2)"
    )
    history.add_argument(
        "-o", "--output", type=file_of, default="history.html", metavar="FILE", help="the page (default: history.html)"
    )
    history.add_argument(
        "--json",
        type=file_of,
        metavar="FILE",
        nargs="?",
        const=Path("-"),
        help="write everything as JSON; without FILE to standard output",
    )
    history.add_argument(
        "--fail-on-slowdown", action="store_true", help="exit code 1 where a slowdown stands that nobody acknowledged"
    )
    history.add_argument("--context", type=path_of, help=argparse.SUPPRESS)  # what `fourscore history` hands on


def _series(text: str) -> dict[str, str]:
    patterns = {}
    for part in text.split(","):
        key, sign, pattern = part.partition("=")
        if not (sign and key.strip() and pattern.strip()):
            raise argparse.ArgumentTypeError(f"{shown(part)} is not KEY=PATTERN, as variant=pencil")
        patterns[key.strip()] = pattern.strip()
    return patterns


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MOST_MARGIN_PERCENT:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number of per cent from 0 to {MOST_MARGIN_PERCENT}")
    return value


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.gate.archive_history import Question, read_context, read_history
    from fourscore_analysis.page.history import write_history_page
    from fourscore_analysis.records.files import prepare_file, write_whole
    from fourscore_analysis.tables.history import history_json, history_text

    to_screen = options.json == Path("-")
    prepare_file(options.output, options.archive, "history")
    if options.json is not None and not to_screen:
        prepare_file(options.json, options.archive, "history", "--json")
    if options.json is not None and options.json.resolve() == options.output.resolve():
        raise InputError(f"-o and --json both name '{options.json}'")
    question = Question(series=options.series, margin=options.margin / 100, **read_context(options.context))
    history = read_history(options.archive, question)
    tell_unreadable("history", history.unreadable)
    write_history_page(history, options.output)
    if options.json is not None:
        text = json.dumps(history_json(history)) + "\n"
        if to_screen:
            print(text, end="")
        else:
            write_whole(options.json, text.encode("utf-8", "backslashreplace"))
    if not to_screen:
        print("\n".join(printable(line) for line in history_text(history).splitlines()))
        print(printable(f"page: {options.output}"))
    return SAYS_NO if options.fail_on_slowdown and history.slowdowns else OK


COMMAND = Command(
    name="history",
    help="what changed where in each series over revisions of the code",
    examples=EXAMPLES,
    order=40,
    add=_add,
    run=_run,
)
