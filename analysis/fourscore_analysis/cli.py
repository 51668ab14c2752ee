"""Command line of the analysis: python -m fourscore_analysis COMMAND ..., which `fourscore COMMAND` runs. Each command
is a module in commands/."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable, Sequence

from fourscore_analysis.commands import all_commands
from fourscore_analysis.commands.base import ENVIRONMENT_FAILED, UNUSABLE_INPUT, Command
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import printable


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 a result says no, 2 unusable input, 3 the environment failed; others are the
    command's own."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows ASCII alone gets escapes, not a failure
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    commands = all_commands()
    options = _parser(commands.values()).parse_args(arguments)
    name = f"fourscore {options.command}"
    try:
        code = commands[options.command].run(options)
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


def _parser(commands: Iterable[Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fourscore", description="Analysis of a fourscore archive.")
    parsers = parser.add_subparsers(dest="command", required=True)
    for command in commands:
        command.add(
            parsers.add_parser(
                command.name,
                help=command.help,
                epilog=command.examples,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )
    return parser
