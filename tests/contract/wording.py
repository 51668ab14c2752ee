"""English word order: comments, documents and names of tests name a thing before they say whose it is.

Usage: wording.py ROOT             reads the tree, prints FILE:LINE: RULE: text (what to write), exits 1 if any
       wording.py ROOT --selftest  plants a comment of each rule in each kind of file and expects it to be found

A comment is read as a whole: its first words, and the first words of each of its sentences.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checker import run
from layering import CPP_TOKEN

SENTENCE = r"(?:^|(?<=[.:;!?] ))"


@dataclass(frozen=True)
class Rule:
    name: str
    pattern: str
    instead: str
    plant: str
    documents: bool = True  # whether pages are held to it as well


RULES = (
    Rule("sentence-of", rf"{SENTENCE}Of\s", 'name the thing: "The bytes of a rank"', "Of rank 0; empty elsewhere."),
    Rule("comment-of", r"^of\s", 'the same: "per node", "on rank 0"', "of a node", documents=False),
    Rule("opens-with-a-relative", r"^(?:That (?:a|an|the|of)|Those (?:of|that|with|in|whose|who)|Whose)\b",
         'name the thing: "The launches that ..."', "Those that the verdict rests on.", documents=False),
    Rule("opens-with-a-preposition", r"^(?:By|For|From|In|Into|On|Through|To|With) (?:what|which|whose|whom)\b",
         'the noun first: "The layouts through which ..."', "Into which pencils a state is cut."),
    Rule("test-name", r"^def test_(?:by|for|from|of|to|whoever|whose|without)_",
         "the subject first: test_live_jobs_are_known_without_a_database", "def test_of_a_rank", documents=False),
    Rule("told-for-found", r"\b(?:is|are|was|were) told (?:slower|faster)\b", '"found slower"', "One is told slower."),
)  # fmt: skip

Piece = tuple[int, str]  # line, and text without its marks


def joined(lines: Iterator[tuple[int, bool, str]]) -> Iterator[Piece]:
    """Whole comments: those alone on their lines, one below the other, are one. Takes (line, alone, text)."""
    first, last, texts = 0, 0, []
    for line, alone, text in lines:
        if texts and alone and line == last + 1:
            texts.append(text)
        else:
            if texts:
                yield first, " ".join(texts)
            first, texts = line, [text]
        last = line if alone else 0
    if texts:
        yield first, " ".join(texts)


def of_cpp(text: str) -> Iterator[Piece]:
    def comments() -> Iterator[tuple[int, bool, str]]:
        for match in CPP_TOKEN.finditer(re.sub(r"(?<=\d)'(?=\d)", " ", text)):
            if match["comment"]:
                before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
                words = re.sub(r"^(?:///?<?|/\*+)\s*|\s*\*/$", "", match["comment"])
                yield text.count("\n", 0, match.start()) + 1, not before.strip(), words

    return joined(comments())


def of_python(text: str) -> Iterator[Piece]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (one for one in tokens if one.type == tokenize.COMMENT and not one.string.startswith("#!"))
    yield from joined((one.start[0], one.line.lstrip().startswith("#"), one.string.lstrip("# ")) for one in comments)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            words = ast.get_docstring(node)
            if words:
                yield node.body[0].lineno, " ".join(words.split())
            if getattr(node, "name", "").startswith("test_"):
                yield node.lineno, f"def {node.name}"


def of_lines(text: str) -> Iterator[Piece]:
    """Shell, CMake, TOML: from a # that stands outside quotes."""

    def comments() -> Iterator[tuple[int, bool, str]]:
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r"""((?:[^"'#]|"[^"]*"|'[^']*'|(?<=\S)#)*)(?<!\S)#+\s*(.*)""", line)
            if match and not line.startswith("#!"):
                yield number, not match[1].strip(), match[2]

    return joined(comments())


def of_markdown(text: str) -> Iterator[Piece]:
    """Paragraphs, list items and cells of tables, without blocks of code."""
    prose = re.sub(r"^( *)```.*?^\1```", lambda match: re.sub(r"[^\n]", "", match[0]), text, flags=re.M | re.S)
    first, words = 0, []
    for number, line in enumerate([*prose.splitlines(), ""], 1):
        begins = re.match(r"\s*(?:[-*>]|\d+\.|\|)\s|#+\s", line)
        if words and (begins or not line.strip()):
            yield first, " ".join(words)
            words = []
        for cell in re.split(r"\s*\|\s*", line):
            if "|" in line and cell:
                yield number, cell
        if line.strip() and "|" not in line:
            first = first if words else number
            words.append(re.sub(r"^\s*(?:(?:[-*>]|\d+\.|#+)\s+)?", "", line))


READERS = dict.fromkeys((".cpp", ".hpp", ".cu"), of_cpp) | dict.fromkeys((".cmake", ".sh", ".toml", ".yml"), of_lines)
READERS |= {".py": of_python, ".md": of_markdown}


def reader_of(path: Path) -> Callable[[str], Iterator[Piece]] | None:
    if path.name == "CMakeLists.txt":
        return of_lines
    if path.suffix:
        return READERS.get(path.suffix)
    with path.open("rb") as file:
        first = file.readline(100)
    return None if not first.startswith(b"#!") else of_python if b"python" in first else of_lines


def found_in(path: Path) -> Iterator[tuple[int, Rule, str]]:
    reader = reader_of(path)
    for line, words in reader(path.read_text(encoding="utf-8")) if reader else ():
        for rule in RULES:
            match = re.search(rule.pattern, words)
            if match and (rule.documents or reader is not of_markdown):
                yield line, rule, words[match.start() :][:60]


FOLDERS = ("analysis", "cmake", "core", "docs", "drivers", "examples", "hwcounters", "jobscripts", "packaging", "results", "suites")


def findings(root: Path) -> Iterator[str]:
    inside = (path for folder in (*FOLDERS, "tests") for path in sorted((root / folder).rglob("*")))
    for path in (*sorted(root.iterdir()), *inside):
        if path.is_file() and not path.is_symlink() and path != Path(__file__).resolve():
            for line, rule, words in found_in(path):
                yield f"{path.relative_to(root)}:{line}: {rule.name}: {words} ({rule.instead})"


KINDS = {
    "planted.hpp": ("int ranks;  // {}\n", "/// Fine.\n\n/// {}\n"),
    "planted.py": ('def f():\n    """{}"""\n', "x = 1  # {}\n"),
    "planted": ("#!/bin/sh\n# {}\n", "#!/bin/sh\nx=1 # {}\n", '#!/usr/bin/env python3\n"""{}"""\n'),
    "planted.toml": ('x = "#"  # {}\n', "# {}\n"),
    "CMakeLists.txt": ("# {}\n", "set(x y)  # {}\n"),
    "planted.md": ("# A page\n\n{}\n", "- {}\n", "| key | {} |\n"),
}
SECOND = "/// Fine.\n/// Also fine. {}\n"  # a sentence in a comment
ALLOWED = {
    "planted.hpp": 'auto x = "Of rank 0";  // a plan\nint y;  ///< that were planned\n// One of\n// of these.\n',
    "planted.py": 'x = "Of rank 0"  # off and on\n"""Of no docstring."""\n',
    "planted.sh": "#!/bin/sh\necho 'Of # Of rank'\n",
    "planted.md": "```sh\n# Of rank 0\n```\n\nThe rest\nof it. Those that remain are few.\n",
}


def selftest(_: Path) -> int:
    status = 0
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve()
        (root / "docs").mkdir()

        def expect(names: set[str], file: str, text: str) -> None:
            nonlocal status
            place = root / "docs" / file
            place.write_text(text, encoding="utf-8")
            found = {line.split(": ")[1] for line in findings(root)}
            place.unlink()
            if found != names:
                print(f"planted in {file}: {text!r}; expected {sorted(names)}, found {sorted(found)}")
                status = 1

        for rule in RULES:
            for file, texts in KINDS.items():
                for text in texts:
                    held = rule.documents or file != "planted.md"
                    expect({rule.name} if held else set(), file, text.format(rule.plant))
            opens = rule.pattern.startswith("^")
            expect(set() if opens else {rule.name}, "planted.hpp", SECOND.format(rule.plant))
        expect({"test-name"}, "planted.py", "def test_of_a_rank():\n    pass\n")
        for file, text in ALLOWED.items():
            expect(set(), file, text)
    print(f"{len(RULES)} rules tried on planted comments")
    return status


if __name__ == "__main__":
    sys.exit(run(__doc__, findings, f"{len(RULES)} rules hold", selftest))
