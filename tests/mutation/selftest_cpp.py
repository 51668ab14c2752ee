"""The mutations that a machine makes in C++: what it changes and what it leaves alone, their order, their tests."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cpp_changes import Place, arguments_of, floating, integer, places_in, use_libclang_of  # noqa: E402
from cpp_coverage import CppCoverage, Test  # noqa: E402
from cpp_generated import changes_of, stages_for  # noqa: E402
from workplace import Workplace  # noqa: E402

COMPILER = "clang++-14"
# The body of a function, and what of it may be changed.
CHANGED = {
    "return a < b;": {("comparison", "<"), ("return", "a < b")},
    "return a + 2 * b;": {("arithmetic", "+"), ("constant", "2"), ("arithmetic", "*")},
    "if (!ready) return 1.5;": {("negation", "!"), ("condition", "!ready"), ("constant", "1.5")},
    "while (ready && a != b) break;": {
        ("condition", "ready && a != b"),
        ("logic", "&&"),
        ("comparison", "!="),
        ("jump", "break"),
    },
    "a += std::min(a, b);": {("assignment", "+="), ("extreme", "min")},
    "while (a < 0x10) { ++a; continue; }": {
        ("condition", "a < 0x10"),
        ("comparison", "<"),
        ("constant", "0x10"),
        ("step", "++"),
        ("jump", "continue"),
    },
    "bool done = true;": {("boolean", "true")},
    "return name == other;": {("comparison", "=="), ("return", "name == other")},
    "bool differ = name != other;": {("comparison", "!=")},
}
LEFT_ALONE = (
    "std::vector<std::vector<int>> nested; std::vector<int>&& moved = {}; const int* pointer = &a;",
    'std::string text = "a < b && !c + 1"; // a < b, 1 + 2',
    "auto taken = [](Own&& left, const Own&) { return std::move(left); };",
    "static_assert(sizeof(int) >= 2 && true);",
    "MACRO_WITH(a);",
)
HEAD = """#include <algorithm>
#include <string>
#include <vector>
#define MACRO_WITH(x) ((x) < 1 && (x) + 2)
struct Own { bool operator<(const Own&) const; Own& operator+=(int); };
#if 0
int left_out = 1 + 2;
#endif
"""


def found_in(folder: Path, body: str) -> set[tuple[str, str]]:
    file = folder / "one.cpp"
    file.write_text(HEAD + f"auto f(int a, int b, bool ready, std::string name, std::string other) {{\n{body}\n}}\n")
    found = places_in(str(file), ["-std=c++20"], lambda path: path == str(file))[str(file)]
    return {(one.kind, file.read_text()[one.begin : one.end]) for one in found}


def what_computes_or_decides_is_changed(folder: Path) -> None:
    for body, expected in CHANGED.items():
        found = found_in(folder, body)
        assert found == expected, f"{body}: {found}"


def what_declares_or_quotes_is_left_alone(folder: Path) -> None:
    for body in LEFT_ALONE:
        found = found_in(folder, body)
        assert not found, f"{body}: {found}"


def constants_become_their_neighbours(_: Path) -> None:
    for token, others in (
        ("0", ["1"]),
        ("1", ["0", "2"]),
        ("7U", ["0U", "6U", "8U"]),
        ("1'000", ["0", "999", "1001"]),
        ("0x10", ["0", "15", "17"]),
        ("n", []),
    ):
        assert integer(token) == others, token
    for token, others in (
        ("0.0", ["1.0"]),
        ("2.5F", ["0.0F", "5.0F"]),
        ("3.0", ["0.0", "4.0"]),
        ("1e-9", ["0.0", "2e-09"]),
    ):
        assert floating(token) == others, token


def a_change_elsewhere_leaves_order_and_choice(_: Path) -> None:
    text = b"int a = 1;\nint b = 1;\nint b = 1;\n"

    def made(text: bytes, seed: int) -> dict[str, str]:
        places = [Place(at, at + 1, "constant", ("0", "2")) for at, one in enumerate(text) if one == ord("1")]
        return {number: change.new for number, change in changes_of("f.cpp", text, "f.cpp", places, seed)}

    first = made(text, 1)
    assert len(first) == 3
    assert set(first.values()) <= {"int a = 0;", "int a = 2;", "int b = 0;", "int b = 2;"}
    moved = made(b"// more\n" + text + b"int c = 1;\n", 1)
    assert first.items() <= moved.items()
    assert not first.keys() & made(text, 2).keys()


def a_change_knows_its_line(_: Path) -> None:
    text = 'auto text = "\u00fc";\n  if (a < b) c();\n'.encode()
    at = text.index(b"a < b")
    ((_number, change),) = changes_of("f.cpp", text, "f.cpp", [Place(at, at + 5, "condition", ("!(a < b)",))], 1)
    assert (change.line, change.column, change.old, change.new) == (2, 7, "  if (a < b) c();", "  if (!(a < b)) c();")


def quick_programs_come_first_and_the_rest_within_the_time(_: Path) -> None:
    tests = [
        Test("core_test", 0.1, ("core_test",)),
        Test("jobs.run", 1.0, ("fourscore",), "t.py::run[a b]"),
        Test("jobs.fit", 2.0, ("fft_bench",), "t.py::fit"),
        Test("drivers.input", 3.0, ("fft_bench",), "u.py::input"),
        Test("phases_test.2", 40.0, ("phases_test",)),
        Test("jobs.slow", 100.0, ("fourscore",), "t.py::slow"),
    ]
    first, *stages = stages_for(tests, "flags.o")
    assert first.build == ("flags.o",)
    assert [(stage.build, stage.ctest, stage.pytest) for stage in stages] == [
        (("core_test",), "^core_test$", ""),
        (("fft_bench",), "", "u.py::input"),
        (("fft_bench", "fourscore"), "", "'t.py::run[a b]' t.py::fit"),
        (("phases_test",), "^phases_test[.]2$", ""),
    ]
    assert all(stage.limit_s > 60 for stage in stages)
    assert len(stages_for(tests[5:], "flags.o")) == 2, "one test runs however long it takes"
    assert len(stages_for([], "flags.o")) == 1


def tests_are_those_that_run_the_line_the_quickest_first(folder: Path) -> None:
    def bits(*lines: int) -> str:
        return f"{sum(1 << line for line in lines):x}"

    coverage = CppCoverage(Workplace(folder, "mutation", 1, 1.0), folder)
    coverage._measure_new = lambda: None
    coverage._counted = lambda: {"a.cpp": bits(3, 4, 70)}
    for name, seconds, lines in (("slow", 2.0, (3, 70)), ("quick", 1.0, (3,))):
        coverage.known[name] = [asdict(Test(name, seconds, (name,), lines={"a.cpp": bits(*lines)}))]
    coverage.measure()
    for line, text, expected in (
        (3, "", ["quick", "slow"]),
        (70, "", ["slow"]),
        (4, "", []),  # which no test runs
        (5, "", ["quick", "slow"]),  # which Clang does not count, as it is outside functions
        (4, "fork()", ["quick", "slow"]),
    ):
        assert [test.ctest for test in coverage.tests_of("a.cpp", line, "a.cpp", text)] == expected, (line, text)
    assert [test.ctest for test in coverage.tests_of("a.hpp", 1, "a.cpp", "")] == ["quick", "slow"]


def a_compilation_is_read_without_its_output(_: Path) -> None:
    for launcher in ("", "/usr/bin/ccache "):
        command = f"{launcher}/usr/bin/clang++-14 -Ia '-DB=\"c d\"' -o one.o -c one.cpp"
        assert arguments_of(command) == ["-Ia", '-DB="c d"']


def main() -> None:
    tests = [
        constants_become_their_neighbours,
        a_change_elsewhere_leaves_order_and_choice,
        a_change_knows_its_line,
        quick_programs_come_first_and_the_rest_within_the_time,
        tests_are_those_that_run_the_line_the_quickest_first,
        a_compilation_is_read_without_its_output,
    ]
    if importlib.util.find_spec("clang") and shutil.which(COMPILER):
        use_libclang_of(COMPILER)
        tests += [what_computes_or_decides_is_changed, what_declares_or_quotes_is_left_alone]
    else:
        print(f"what Clang finds: not tested: {COMPILER} or its Python bindings (pip install clang==14.0) are not here")
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
        print(f"{test.__name__}: ok")


main()
