"""Command line of the analysis: python -m fourscore_analysis COMMAND ..., which `fourscore COMMAND` runs. Each command
is a module in commands/."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from fourscore_analysis.commands import all_commands
from fourscore_analysis.commands.base import ENVIRONMENT_FAILED, UNUSABLE_INPUT, Command
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import MissingArchiveError, printable, shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 a result says no, 2 unusable input, 3 the environment failed; others are the
    command's own."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows ASCII alone gets escapes, not a failure
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    commands = all_commands()
    options = _options(commands, arguments)
    name = f"fourscore {options.command}"
    try:
        code = commands[options.command].run(options)
        sys.stdout.flush()
        return code
    except InputError as error:
        print(printable(f"{name}: {error}"), file=sys.stderr)
        return ENVIRONMENT_FAILED if isinstance(error, MissingArchiveError) else UNUSABLE_INPUT
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


class _Parser(argparse.ArgumentParser):
    """Errors as the rest of the command has them: what was wrong, the nearest name, where to read on."""

    def error(self, message: str) -> NoReturn:
        print(printable(f"{self.prog}: {message}"), file=sys.stderr)
        print(f"Run `{self.prog} --help` for what there is.", file=sys.stderr)
        sys.exit(UNUSABLE_INPUT)

    def option_names(self) -> list[str]:
        return [name for name in self._option_string_actions if name.startswith("--")]


def _options(commands: Mapping[str, Command], arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fourscore", description="Analysis of a fourscore archive.")
    parsers = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    added: dict[str, _Parser] = {}
    for command in commands.values():
        added[command.name] = parsers.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            epilog=command.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add(added[command.name])
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        used = added[options.command]
        name = unknown[0].partition("=")[0]
        nearest = difflib.get_close_matches(name, used.option_names(), 1) if name.startswith("-") else []
        what = "an option" if name.startswith("-") else "an argument"
        used.error(
            f"{shown(unknown[0])} is not {what} of `{used.prog}`"
            + "".join(f"; did you mean '{one}'?" for one in nearest)
        )
    return options
