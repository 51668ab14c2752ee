"""Types of values that options of commands take, and the option that most of them have. The message about a wrong value
says what was expected."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourscore_analysis.records.files import prepare_file, write_whole
from fourscore_analysis.records.values import InputError, printable, shown

if TYPE_CHECKING:
    from fourscore_analysis.records.archive import Unreadable
    from fourscore_analysis.views.predictions import Wanted

MOST_RANKS = 2**31 - 1
STANDARD_OUTPUT = Path("-")
LARGEST_EXTENT = 2**62
MOST_COUNTS = 64
LARGEST_SLOWDOWN = 10.0  # that may be asked for, as a share of the time
# What may be asked for of a point's contract, beside its shape and place.
TERMS = {
    "precision": ("double", "single"),
    "kind": ("c2c", "r2c", "c2r"),
    "direction": ("forward", "backward", "roundtrip", "convolution"),
    "layout": ("natural", "transposed"),
    "wire": ("as-is", "single", "zfp"),
}


MOST_FIELDS = 64
FIELD_ORDERS = ("together", "in-turn", "pipelined")


def default_archive() -> Path:
    return Path(os.environ.get("FOURSCORE_ARCHIVE") or "fourscore-archive")


class _EachOf(argparse.Action):
    """A list of what an option was given, its default where it was not."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        found = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*(found if isinstance(found, list) else ()), values])


def add_archive(command: argparse.ArgumentParser, as_word: bool = False, several: bool = False) -> None:
    """An option, which with `several` makes a list of what it is given; or the first word."""
    default = str(default_archive())
    more = "; may be repeated with --across" if several else ""
    places = "$FOURSCORE_ARCHIVE, else the machine file's, else ./fourscore-archive"
    command.add_argument(
        "archive" if as_word else "--archive",
        **({"nargs": "?"} if as_word else {}),
        **({"action": _EachOf} if several else {}),
        type=path_of,
        default=default,
        metavar="DIR",
        help=f"folder of the archive (default: {places}; here {default})".replace("%", "%%") + more,
    )


def add_terms(command: argparse.ArgumentParser, default: str) -> None:
    for name, words in TERMS.items():
        command.add_argument(f"--{name}", choices=words, help=f"default: {default}")
    command.add_argument("--operator", metavar="NAME", help=f"of --direction convolution; default: {default}")


def terms_of(options: argparse.Namespace) -> dict[str, str | None]:
    """What was asked for of TERMS, None for what was not; an operator is asked for with direction convolution.
    Raises InputError for c2r in another direction, and for an operator in one."""
    terms = {name: getattr(options, name) for name in (*TERMS, "operator")}
    if terms["operator"] and terms["direction"] not in (None, "convolution"):
        raise InputError(
            f"--operator {printable(terms['operator'])} with --direction {terms['direction']}; "
            "expected --direction convolution, or none"
        )
    if terms["operator"]:
        terms["direction"] = "convolution"
    if terms["kind"] == "c2r":
        if terms["direction"] not in (None, "backward"):
            direction = terms["direction"]
            raise InputError(f"--kind c2r is r2c backward; expected no --direction, or backward, not {direction}")
        terms |= {"kind": "r2c", "direction": "backward"}
    return terms


def add_threads(command: argparse.ArgumentParser) -> None:
    command.add_argument("--threads", type=ranks_of, metavar="N", help="of a rank (default: each, of a file 1)")
    command.add_argument("--fields", type=fields_of, metavar="N", help="of one problem (default: each, of a file 1)")
    command.add_argument(
        "--field-order", choices=FIELD_ORDERS, help="of several fields (default: each, of a file together)"
    )


def add_runs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--runs",
        type=ranks_of,
        default=1,
        metavar="N",
        help="transforms of a job, for what it costs (default: 1)",
    )
    command.add_argument(
        "--cost",
        type=file_of,
        metavar="FILE",
        help="a file whose [cost] says price and watts of a node (default: that of --machine)",
    )


def wanted_of(options: argparse.Namespace, variant: str) -> Wanted:
    """What was asked for. Raises InputError."""
    from fourscore_analysis.views.fits import Choice
    from fourscore_analysis.views.predictions import Wanted

    if options.field_order and (options.fields or 1) < 2:
        raise InputError(f"--field-order {options.field_order} is of several fields; expected --fields from 2 on")
    choice = Choice(model=options.model, variant=variant, forms=tuple(options.form), given=tuple(options.given))
    asked = {**terms_of(options), "threads": options.threads, "fields": options.fields}
    terms = tuple((name, value) for name, value in asked.items() if value)
    grid = getattr(options, "grid", ())
    return Wanted(options.shape, choice, options.exchange, options.nodes, grid, terms, options.field_order or "")


def add_model_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--model", default="", help="one model (default: all of a method; the best is used)")
    command.add_argument(
        "--form",
        type=pair_of,
        action="append",
        default=[],
        metavar="NAME=CHOICE",
        help="how a model is read: network=bisection; docs/models.md has all",
    )
    command.add_argument(
        "--given",
        type=given_of,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter that is known, in SI units",
    )


def pair_of(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not NAME=VALUE")
    return name, value


def given_of(text: str) -> tuple[str, float]:
    """A parameter of the models within its bounds, in SI units."""
    from fourscore_analysis.models.parameters import PARAMETERS

    name, value = pair_of(text)
    if name not in PARAMETERS:
        raise argparse.ArgumentTypeError(f"no parameter {shown(name)}; expected one of {', '.join(PARAMETERS)}")
    known = PARAMETERS[name]
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not known.least <= number <= known.most:
        raise argparse.ArgumentTypeError(
            f"{name} is {shown(value)}; expected a number of {known.unit} from {known.least:g} to {known.most:g}"
        )
    return name, number


def shape_of(text: str) -> tuple[int, ...]:
    extents = text.split("x")
    if not (1 <= len(extents) <= 3 and all(re.fullmatch(r"[1-9][0-9]{0,18}", extent) for extent in extents)):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a shape: 1 to 3 extents from 1 on, as 128x96x100")
    shape = tuple(int(extent) for extent in extents)
    if math.prod(shape) > LARGEST_EXTENT:
        raise argparse.ArgumentTypeError(f"{shown(text)} has more elements than any transform, 2^62")
    return shape


def ranks_of(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:20]) <= MOST_RANKS):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number from 1 to {MOST_RANKS}")
    return int(text)


def fields_of(text: str) -> int:
    if not (re.fullmatch(r"[1-9][0-9]?", text) and int(text) <= MOST_FIELDS):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number of fields from 1 to {MOST_FIELDS}")
    return int(text)


def rank_counts_of(text: str) -> list[int]:
    """FIRST:LAST doubles; or a list with commas."""
    if re.fullmatch(r"[1-9][0-9]{0,9}(,[1-9][0-9]{0,9})*", text):
        found = [int(part) for part in text.split(",")]
    elif match := re.fullmatch(r"([1-9][0-9]{0,9}):([1-9][0-9]{0,9})", text):
        first, last = int(match[1]), int(match[2])
        if first > last:
            raise argparse.ArgumentTypeError(f"{shown(text)} goes backwards; expected the smaller count first")
        found = [first << step for step in range(MOST_COUNTS) if first << step <= last]
    else:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a count of ranks; expected 64, 64,128,256 or 64:4096, which doubles"
        )
    if max(found) > MOST_RANKS:
        raise argparse.ArgumentTypeError(f"{shown(text)} has more than {MOST_RANKS} ranks")
    if len(found) > MOST_COUNTS:
        raise argparse.ArgumentTypeError(f"{shown(text)} are {len(found)} counts; expected at most {MOST_COUNTS}")
    return sorted(set(found))


def slowdown_of(text: str) -> float:
    """5, 5%: as a share of the time. More than the margin within which nobody needs to look."""
    from fourscore_analysis.gate.rules import RULES

    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not RULES.margin < share <= LARGEST_SLOWDOWN:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is no slowdown in per cent, as 5%; expected more than the margin, "
            f"{100 * RULES.margin:g}, up to {100 * LARGEST_SLOWDOWN:g}"
        )
    return share


def path_of(text: str) -> Path:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a path")
    return Path(text)


def file_of(text: str) -> Path:
    if not path_of(text).name:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not the name of a file")
    return Path(text)


def prepare_outputs(options: argparse.Namespace, *names: str, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raises InputError where a file that one of the options `names` asks for cannot be written, before anything long
    is done; where two of them name the same, or one names a file of `inputs`, which is read."""
    taken = {Path(name).resolve(): "what is read" for name in inputs if name and Path(name).is_file()}
    for name in names:
        file: Path | None = getattr(options, name)
        if file is None or file == STANDARD_OUTPUT:
            continue
        option = f"--{name.replace('_', '-')}"
        prepare_file(file, options.archive, name.replace("_", " "), option)
        other = taken.setdefault(file.resolve(), option)
        if other != option:
            raise InputError(f"{other} and {option} both name '{file}'")


def tell_unreadable(command: str, files: Iterable[Unreadable]) -> None:
    """On standard error, each with its reason."""
    for file in files:
        print(printable(f"fourscore {command}: {file.file} is not used: {file.reason}"), file=sys.stderr)


def write_output(name: Path, content: str) -> None:
    """To the file, or to standard output where `name` is "-"."""
    if name == STANDARD_OUTPUT:
        sys.stdout.write(content)
    else:
        write_whole(name, content)
