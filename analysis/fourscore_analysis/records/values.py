"""Values of a record, each checked for its type once, where it is read. What was checked cannot stop the report later:
numbers are finite and of a size that arithmetic bears, texts are Unicode, names fit on a line."""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    import numpy as np

Value = TypeVar("Value")

LARGEST_NUMBER = 1e30  # bytes, flops, seconds: products and quotients of two such numbers stay finite
SHORTEST_TIME_S = 1e-15
LONGEST_INTEGER = 19  # digits: beyond 64 bits nothing of a record is an integer
LONGEST_NAME = 1000  # characters
LONGEST_SHOWN = 100  # characters of a value in a message
DEEPEST = 12  # levels of what is kept as it is: provenance and volatile
LONGEST_PLAIN = 128  # characters of a name that becomes part of a path
_PLAIN = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{LONGEST_PLAIN - 1}}}")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ALWAYS_PLAIN = frozenset({str, int, bool, type(None)})
_NUMBERS = frozenset({int, float})
_REQUIRED: Any = object()


class RecordError(ValueError):
    """A file that cannot be used as a record; the message is the reason, without the file's name."""


class InputError(Exception):
    """What the user asked for cannot be used; ends in exit code 2."""


class MissingArchiveError(InputError):
    """The archive is not there: something is missing outside; ends in exit code 3, as in all of `fourscore`."""


def shown(value: Any) -> str:
    """`value` for a message: short, on one line, without control characters, however large or deep it is."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    short.maxlist = short.maxdict = short.maxlevel = 2
    text = printable(short.repr(value))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def printable(text: str) -> str:
    """`text` for a terminal: control and format characters, line ends and what is not Unicode are escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def parse_json(content: str | bytes, with_constants: bool = False) -> Any:
    """Raises RecordError where it is no JSON in UTF-8, nested too deeply, or holds numbers that no program writes. NaN
    and Infinity, which are no JSON, only where they are asked for: other people's programs write them."""
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        data = (_LENIENT if with_constants else _STRICT).decode(text)
        if _SURROGATE.search(content if isinstance(content, bytes) else content.encode("utf-8", "replace")):
            json.dumps(data, ensure_ascii=False).encode("utf-8")  # half a pair is no Unicode
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg:
            raise RecordError(f"truncated: JSON ends early, at character {error.pos}") from None
        raise RecordError(f"not JSON: {error.msg} at character {error.pos}") from None
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise RecordError("not UTF-8 text") from None
    except RecursionError:
        raise RecordError("nested too deeply") from None
    return data


def _refuse_constant(name: str) -> NoReturn:
    raise RecordError(f"holds {name}, which is not a JSON number")


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER and len(digits.lstrip("-")) > LONGEST_INTEGER:
        raise RecordError(f"holds an integer of {len(digits.lstrip('-'))} digits, expected at most {LONGEST_INTEGER}")
    return int(digits)


# Made once: json.loads makes one for each text that it is given with such words.
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)
_LENIENT = json.JSONDecoder(parse_constant=float, parse_int=_integer)


def read(table: dict[str, Any], key: str, kind: Callable[[Any], Value], default: Any = _REQUIRED) -> Value:
    """`kind` of the value of `key`, or `default` where it is not there. Raises RecordError with the key."""
    value = table.get(key, default)
    if value is default:
        if default is _REQUIRED:
            raise RecordError(f"lacks the key '{key}'")
        return default
    try:
        return kind(value)
    except RecordError as error:
        raise RecordError(f"{key}: {error}") from None


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise RecordError(f"expected text, found {shown(value)}")
    return value


def name_of(value: Any) -> str:
    """A text that labels rows and curves."""
    if isinstance(value, str) and value.isprintable() and len(value) <= LONGEST_NAME:
        return value
    raise RecordError(f"expected at most {LONGEST_NAME} printable characters, found {shown(text_of(value))}")


def plain_name(value: Any) -> str:
    """A name that becomes part of a path and stays in its folder, as core/plain_name.hpp has it."""
    if not _PLAIN.fullmatch(text_of(value)):
        raise RecordError(
            f"expected 1 to {LONGEST_PLAIN} letters, digits, - _ . only, not starting with - or ., found {shown(value)}"
        )
    return value


def number_of(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RecordError(f"expected a number, found {shown(value)}")
    if not abs(value) <= LARGEST_NUMBER:
        raise RecordError(f"expected a number up to {LARGEST_NUMBER:g}, found {shown(value)}")
    return float(value)


def amount_of(value: Any) -> float:
    """A number that is not negative: seconds, bytes, flops."""
    if number_of(value) < 0:
        raise RecordError(f"expected 0 or more, found {shown(value)}")
    return float(value)


def time_of(value: Any) -> float:
    """Seconds that something took."""
    if number_of(value) < SHORTEST_TIME_S:
        raise RecordError(f"expected seconds, found a time that is not positive: {shown(value)}")
    return float(value)


def integer_of(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise RecordError(f"expected an integer, found {shown(value)}")
    return value


def count_of(value: Any) -> int:
    """An integer from 1 on."""
    if integer_of(value) < 1:
        raise RecordError(f"expected 1 or more, found {shown(value)}")
    return value


def truth_of(value: Any) -> bool:
    if not isinstance(value, bool):
        raise RecordError(f"expected true or false, found {shown(value)}")
    return value


def table_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RecordError(f"expected an object, found {shown(value)}")
    return value


def list_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(f"expected a list, found {shown(value)}")
    return value


def one_of(words: Sequence[str]) -> Callable[[Any], str]:
    def read_word(value: Any) -> str:
        if value not in words:
            raise RecordError(f"{shown(value)} is none of {', '.join(words)}")
        return value

    return read_word


def each(kind: Callable[[Any], Value]) -> Callable[[Any], tuple[Value, ...]]:
    """A list of values of one kind."""
    least = _LEAST.get(kind)
    if least is None:
        return lambda value: tuple([kind(one) for one in list_of(value)])

    def read_numbers(value: Any) -> tuple[Any, ...]:
        numbers = list_of(value)
        if _NUMBERS.issuperset(map(type, numbers)) and (
            not numbers or least <= min(numbers) <= max(numbers) <= LARGEST_NUMBER
        ):
            return tuple(map(float, numbers))
        return tuple([kind(one) for one in numbers])

    return read_numbers


# Long lists of records are of these: all of a list are looked at together.
_LEAST: dict[Callable[[Any], Any], float] = {amount_of: 0, time_of: SHORTEST_TIME_S}


def some(kind: Callable[[Any], Value]) -> Callable[[Any], tuple[Value, ...]]:
    """As `each`, with one value at least."""
    read_each = each(kind)

    def read_some(value: Any) -> tuple[Value, ...]:
        if not list_of(value):
            raise RecordError("expected a list with at least one entry")
        return read_each(value)

    return read_some


def entries(kind: Callable[[Any], Value]) -> Callable[[Any], dict[str, Value]]:
    """An object whose values are of one kind; its keys are names, and come sorted."""

    def read_entries(value: Any) -> dict[str, Value]:
        table = table_of(value)
        return {name_of(name): read(table, name, kind) for name in sorted(table)}

    return read_entries


def rows_of(value: Any) -> np.ndarray:
    """A list of lists of one length of numbers that are not negative, as a matrix."""
    import numpy as np  # slow to load, for --help

    rows = list_of(value)
    if len({len(list_of(row)) for row in rows}) > 1:
        raise RecordError("its lists differ in length")
    if not _NUMBERS.issuperset(map(type, chain.from_iterable(rows))):
        raise RecordError(f"expected lists of numbers, found {shown(rows)}")
    matrix = np.asarray(rows, dtype=float)
    if matrix.size and not (matrix.min() >= 0 and matrix.max() <= LARGEST_NUMBER):
        raise RecordError(f"expected numbers from 0 to {LARGEST_NUMBER:g}")
    return matrix


def column_of(value: Any) -> np.ndarray:
    """A list of numbers that are not negative."""
    return rows_of([list_of(value)])[0]


def plain_of(value: Any, levels: int = DEEPEST) -> Any:
    """What is shown as it is: any JSON, but neither deep nor with numbers beyond what arithmetic bears."""
    if isinstance(value, dict | list) and levels == 0:
        raise RecordError(f"nested more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        return {
            name: inner if type(inner) in _ALWAYS_PLAIN else plain_of(inner, levels - 1)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return value if set(map(type, value)) <= _ALWAYS_PLAIN else [plain_of(inner, levels - 1) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise RecordError("holds a number beyond what a computer can represent")
    return value


def plain_table_of(value: Any) -> dict[str, Any]:
    return plain_of(table_of(value))
