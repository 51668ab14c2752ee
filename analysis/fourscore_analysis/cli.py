"""Command line of the analysis: python -m fourscore_analysis COMMAND ..., which `fourscore COMMAND` runs. Each command
is a module in commands/."""

from __future__ import annotations

import argparse
import difflib
import io
import itertools
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from fourscore_analysis.commands import all_commands
from fourscore_analysis.commands.base import ENVIRONMENT_FAILED, OK, UNUSABLE_INPUT, Command
from fourscore_analysis.records.values import InputError, MissingArchiveError, printable, shown

COLUMNS = 100  # that --help takes
FRONT = "--front="  # what the C++ program hands on where it asks how the words of a command are read


def main(arguments: Sequence[str] | None = None, program: str = "") -> int:
    """Returns the exit code: 0 done, 1 a result says no, 2 unusable input, 3 the environment failed; others are the
    command's own. `program` names a program that is `report` alone."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows ASCII alone gets escapes, not a failure
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    commands = all_commands()
    words = list(sys.argv[1:] if arguments is None else arguments)
    front = json.loads(words.pop(0).removeprefix(FRONT)) if words and words[0].startswith(FRONT) else None
    options = _options(commands, ["report", *words] if program else words, front, program)
    if front:
        given = {name: value for name, value in vars(options).items() if value is not None and value is not False}
        sys.stdout.buffer.write(b"\0".join(os.fsencode(f"{name}={value}") for name, value in given.items()))
        return OK
    name = program or f"fourscore {options.command}"
    try:
        code = commands[options.command].run(options)
        sys.stdout.flush()
        return code
    except InputError as error:
        missing = isinstance(error, MissingArchiveError)
        hint = " (choose one with --archive DIR)" if missing and not program else ""
        print(printable(f"{name}: {error}{hint}"), file=sys.stderr)
        return ENVIRONMENT_FAILED if missing else UNUSABLE_INPUT
    except ImportError as error:
        print(f"{name}: {sys.executable}: {error}; run jobscripts/setup", file=sys.stderr)
        return ENVIRONMENT_FAILED
    except BrokenPipeError:  # whoever read it has enough
        _drop_unwritten()
        return OK
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


def _wrapped(text: str) -> str:
    """What is indented, as examples are, stays as it is."""
    parts = itertools.groupby(text.splitlines(), key=lambda line: bool(line) and not line.startswith(" "))
    return "\n".join(textwrap.fill(" ".join(part), COLUMNS) if prose else "\n".join(part) for prose, part in parts)


class _Parser(argparse.ArgumentParser):
    """Errors as the rest of the command has them: what was wrong, the nearest name, where to read on."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> NoReturn:
        print(printable(f"{self.prog}: {message}"), file=sys.stderr)
        print(f"Run `{self.prog} --help` for what there is.", file=sys.stderr)
        sys.exit(UNUSABLE_INPUT)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[argparse.Namespace, list[str]]:
        """Refuses here what this parser does not know: the one above would name its own options."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0].startswith("-"):
            self.refuse(unknown[0], "an option", self._option_string_actions)
        if unknown:
            self.refuse(unknown[0], "an argument", ())
        return options, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.refuse(value, "a command", action.choices)
        super()._check_value(action, value)

    def refuse(self, word: str, kind: str, known: Iterable[str]) -> NoReturn:
        nearest = difflib.get_close_matches(word.partition("=")[0], known, 1)
        meant = "".join(f", did you mean '{one}'?" for one in nearest)
        self.error(f"{shown(word)} is not {kind} of `{self.prog}`{meant}")

    def subparser(self, name: str) -> _Parser:
        [commands] = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return commands.choices[name]


def _options(
    commands: Mapping[str, Command], words: Sequence[str], front: Mapping[str, Any] | None, program: str
) -> argparse.Namespace:
    """`front` has the options that the C++ program took out of the words, for --help and the nearest name."""
    parser = _Parser(prog="fourscore", description="Analysis of a fourscore archive.")
    parsers = parser.add_subparsers(dest="command", required=True)
    for command in commands.values():
        command.add(
            parsers.add_parser(
                command.name,
                prog=program or None,
                help=command.help,
                description=_wrapped(command.help[0].upper() + command.help[1:] + "."),
                epilog=_wrapped(command.examples),
            )
        )
    if front:
        asked = parser
        for name in front["command"].split():
            asked = asked.subparser(name)
        for one in front["options"]:
            value = {"metavar": one["metavar"]} if one["metavar"] else {"action": "store_true"}
            help_text = one["help"].replace("%", "%%")
            asked.add_argument(*one["name"].split(","), default=argparse.SUPPRESS, help=help_text, **value)
    return parser.parse_args(words)
