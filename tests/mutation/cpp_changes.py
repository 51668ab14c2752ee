"""What a machine can change in a C++ source: operators, comparisons, constants, conditions and jumps, found in Clang's
syntax tree, so that template arguments, references, declarations and what the preprocessor drops stay as they are."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clang.cindex import Cursor

COMPARISONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": ["-", "*"], "-": ["+", "*"], "*": ["/", "+"], "/": ["*", "-"], "%": ["/", "*"]}
ASSIGNMENTS = {"+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/=", "="], "/=": ["*=", "="]}
LOGIC = {"&&": ["||"], "||": ["&&"]}
STEPS = {"++": ["--"], "--": ["++"]}
EXTREMES = {"min": ["max"], "max": ["min"]}
BUILT_IN = COMPARISONS | ARITHMETIC | ASSIGNMENTS | LOGIC
KINDS = (
    (COMPARISONS, "comparison"),
    (ARITHMETIC, "arithmetic"),
    (ASSIGNMENTS, "assignment"),
    (LOGIC, "logic"),
    (STEPS, "step"),
    (EXTREMES, "extreme"),
)
INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|[0-9][0-9']*)([uUlLzZ]*)")
FLOATING = re.compile(r"([0-9'.]+(?:[eE][-+]?[0-9]+)?)([fFlL]?)")
ONE_MORE = range(1, 100)  # floating constants that become one more; others are doubled


@dataclass(frozen=True, order=True)
class Place:
    """The bytes `begin` to `end` of a file, and what may stand there in their stead."""

    begin: int
    end: int
    kind: str
    instead: tuple[str, ...]


def _operator(text: str, begin: int, end: int, table: dict[str, list[str]]) -> Place | None:
    """The operator between two operands, where nothing but white space stands beside it."""
    token = text[begin:end].strip()
    if token not in table:
        return None
    begin = text.index(token, begin)
    kind = next(name for one, name in KINDS if token in one)
    return Place(begin, begin + len(token), kind, tuple(table[token]))


def integer(token: str) -> list[str]:
    found = INTEGER.fullmatch(token)
    if not found:
        return []
    digits, suffix = found.groups()
    value = int(digits.replace("'", ""), 8 if digits.isdigit() and len(digits) > 1 and digits[0] == "0" else 0)
    others = {value + 1, value - 1, 0} - {value, -1}
    return [f"{other}{suffix}" for other in sorted(others)]


def floating(token: str) -> list[str]:
    found = FLOATING.fullmatch(token)
    if not found:
        return []
    digits, suffix = found.groups()
    value = float(digits.replace("'", ""))
    larger = value + 1 if value in ONE_MORE or value == 0 else 2 * value
    return [f"{other!r}{suffix}" for other in (0.0, larger) if other != value]


class Finder:
    """The places of one file in the tree of a translation unit. The text has one character for each byte."""

    def __init__(self, path: str, text: str) -> None:
        from clang.cindex import CursorKind, TypeKind

        self.path, self.text, self.boolean = path, text, TypeKind.BOOL
        kinds = CursorKind
        self.of_kind = {
            kinds.BINARY_OPERATOR: self._between,
            kinds.COMPOUND_ASSIGNMENT_OPERATOR: self._between,
            kinds.CALL_EXPR: self._call,
            kinds.UNARY_OPERATOR: self._unary,
            kinds.INTEGER_LITERAL: self._constant,
            kinds.FLOATING_LITERAL: self._constant,
            kinds.CXX_BOOL_LITERAL_EXPR: self._constant,
            kinds.IF_STMT: self._condition,
            kinds.WHILE_STMT: self._condition,
            kinds.CONDITIONAL_OPERATOR: self._condition,
            kinds.RETURN_STMT: self._return,
            kinds.CONTINUE_STMT: self._jump,
            kinds.BREAK_STMT: self._jump,
        }
        self.left_out = {kinds.STATIC_ASSERT, kinds.ANNOTATE_ATTR}

    def places(self, cursor: Cursor) -> Iterator[Place]:
        """The places in a cursor and in all below it."""
        if cursor.kind in self.left_out:
            return
        found = self.of_kind.get(cursor.kind)
        if found and self._is_here(cursor):
            yield from (place for place in found(cursor) if place)
        for child in cursor.get_children():
            yield from self.places(child)

    def _is_here(self, cursor: Cursor) -> bool:
        """Not in another file, and no part of a macro: that begins where the macro's name stands."""
        file = cursor.extent.start.file
        return bool(file) and file.name == self.path and cursor.extent.start.offset < cursor.extent.end.offset

    def _text_of(self, cursor: Cursor) -> str:
        return self.text[cursor.extent.start.offset : cursor.extent.end.offset]

    def _whole(self, cursor: Cursor, kind: str, instead: list[str]) -> Place:
        return Place(cursor.extent.start.offset, cursor.extent.end.offset, kind, tuple(instead))

    def _between(self, cursor: Cursor) -> Iterator[Place | None]:
        operands = list(cursor.get_children())
        if len(operands) == 2:
            yield _operator(self.text, operands[0].extent.end.offset, operands[1].extent.start.offset, BUILT_IN)

    def _call(self, cursor: Cursor) -> Iterator[Place | None]:
        """Comparisons of classes, and std::min and std::max."""
        children = list(cursor.get_children())
        if cursor.spelling.startswith("operator") and len(children) == 3:
            ends = sorted(children, key=lambda one: one.extent.start.offset)
            yield _operator(self.text, ends[0].extent.end.offset, ends[2].extent.start.offset, COMPARISONS)
        elif cursor.spelling in EXTREMES and children:
            name = re.match(r"std::(min|max)\b", self._text_of(cursor))
            if name:
                begin = cursor.extent.start.offset + name.start(1)
                yield Place(begin, begin + 3, "extreme", tuple(EXTREMES[name.group(1)]))

    def _unary(self, cursor: Cursor) -> Iterator[Place | None]:
        text = self._text_of(cursor)
        begin = cursor.extent.start.offset
        if text.startswith("!") and not text.startswith("!="):  # which C++20 reads as the negation of ==
            yield Place(begin, begin + 1, "negation", ("",))
        for step, others in STEPS.items():
            if text.startswith(step):
                yield Place(begin, begin + 2, "step", tuple(others))
            elif text.endswith(step):
                yield Place(cursor.extent.end.offset - 2, cursor.extent.end.offset, "step", tuple(others))

    def _constant(self, cursor: Cursor) -> Iterator[Place | None]:
        token = self._text_of(cursor)
        opposite = {"true": ["false"], "false": ["true"]}
        instead = opposite.get(token) or integer(token) or floating(token)
        if instead:
            yield self._whole(cursor, "boolean" if token in opposite else "constant", instead)

    def _condition(self, cursor: Cursor) -> Iterator[Place | None]:
        """Negated as a whole; not where it declares something."""
        children = list(cursor.get_children())
        first = children[0] if children else None
        if first is not None and first.kind.is_expression() and self._is_here(first):
            yield self._whole(first, "condition", [f"!({self._text_of(first)})"])

    def _return(self, cursor: Cursor) -> Iterator[Place | None]:
        value = next(iter(cursor.get_children()), None)
        if value is None or value.type.get_canonical().kind != self.boolean or not self._is_here(value):
            return
        if self._text_of(value) not in ("true", "false"):
            yield self._whole(value, "return", [f"!({self._text_of(value)})"])

    def _jump(self, cursor: Cursor) -> Iterator[Place | None]:
        opposite = {"continue": ["break"], "break": ["continue"]}
        yield self._whole(cursor, "jump", opposite[self._text_of(cursor)])


def arguments_of(command: str) -> list[str]:
    """The arguments of an entry of compile_commands.json that libclang takes: nothing about the output."""
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in ("-c", "-o"):
            next(words)
        else:
            kept.append(word)
    return kept[1 if "clang" in kept[0] else 2 :]  # a compiler launcher may stand before the compiler


def use_libclang_of(compiler: str) -> None:
    """Loads the library that came with the compiler: no other reads its precompiled headers."""
    from clang.cindex import Config

    def said(option: str) -> str:
        return subprocess.run([compiler, option], capture_output=True, text=True, check=True).stdout.strip()

    major = said("-dumpversion").split(".")[0]
    Config.set_library_file(said(f"-print-file-name=libclang-{major}.so.1"))


def places_in(source: str, arguments: list[str], wanted: Any) -> dict[str, list[Place]]:
    """The places of a translation unit, by file, in all files of which `wanted` says so. Each is one line."""
    from clang.cindex import Index

    unit = Index.create().parse(source, arguments)
    errors = [str(one) for one in unit.diagnostics if one.severity >= 3]
    if errors:
        raise ValueError(f"Clang cannot read {source}: {errors[0]}")
    finders: dict[str, Finder] = {}
    found: dict[str, set[Place]] = {}
    for cursor in unit.cursor.get_children():
        path = cursor.location.file.name if cursor.location.file else ""
        if not path or not wanted(path):
            continue
        if path not in finders:
            finders[path] = Finder(path, Path(path).read_bytes().decode("latin-1"))
        places = found.setdefault(path, set())
        places.update(
            one for one in finders[path].places(cursor) if "\n" not in finders[path].text[one.begin : one.end]
        )
    return {path: sorted(places) for path, places in found.items()}
