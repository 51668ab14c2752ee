"""The mutation run itself: what it refuses, that a changed file is put back, where its table goes."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from catalogue import CatalogueError, Mutation, read_catalogue  # noqa: E402
from generated import Coverage, Generated, _tests_in, chances, in_functions, is_guard  # noqa: E402
from workplace import Workplace  # noqa: E402

loader = importlib.machinery.SourceFileLoader("mutation_run", str(Path(__file__).resolve().parent / "run"))
spec = importlib.util.spec_from_loader("mutation_run", loader)
assert spec is not None
mutation_run = importlib.util.module_from_spec(spec)
loader.exec_module(mutation_run)

GOOD = {"name": "n", "file": "f", "old": "a + b", "new": "a - b", "breaks": "sums", "ctest": "x"}


def toml(**changes: str) -> str:
    entry = {key: value for key, value in (GOOD | changes).items() if value}
    return "[[mutation]]\n" + "".join(f'{key} = "{value}"\n' for key, value in entry.items())


def refusal(folder: Path, text: str) -> str:
    (folder / "c.toml").write_text(text)
    try:
        read_catalogue(folder)
    except CatalogueError as error:
        return str(error)
    return ""


def entries_that_cannot_be_used_are_named(folder: Path) -> None:
    assert refusal(folder, toml()) == ""
    for changes, words in (
        ({"old": ""}, "key 'old' is missing"),
        ({"ctest": ""}, "no test should notice"),
        ({"new": "a + b"}, "are the same"),
        ({"old": "a\\nb"}, "parts of one line"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"pytest": "tests/nowhere.py"}, "tests/nowhere.py is not there"),
    ):
        said = refusal(folder, toml(**changes))
        assert words in said, said
        assert "c.toml: mutation 'n'" in said, said
    assert "two mutations are named 'n'" in refusal(folder, toml() + toml())
    assert "not TOML" in refusal(folder, "[[mutation")


def an_entry_applies_where_its_text_stands_once(folder: Path) -> None:
    mutation = Mutation(**GOOD)
    assert "is not there" in mutation.problem(folder)
    for text, problem in (("c = a + b", ""), ("c", "stands 0 times"), ("a + b, a + b", "stands 2 times")):
        (folder / "f").write_text(text)
        assert problem in mutation.problem(folder)
        assert bool(problem) == bool(mutation.problem(folder))


def a_generated_one_changes_its_line_and_no_equal_one(folder: Path) -> None:
    mutation = Generated(**(GOOD | {"old": "c = a + b", "new": "c = a - b"}), line=3)
    (folder / "f").write_text("c = a + b\n\nc = a + b\n")
    assert mutation.problem(folder) == ""
    assert mutation.applied((folder / "f").read_text()) == "c = a + b\n\nc = a - b\n"
    for text in ("c = a + b\n", "c = a + b\n\nd = a + b\n"):
        (folder / "f").write_text(text)
        assert "line 3 of f is another one" in mutation.problem(folder)


def a_changed_file_is_put_back_whatever_happens(folder: Path) -> None:
    mutation = Mutation(**GOOD)
    place = Workplace(folder, "ci", 1, 1.0)
    place.tree.mkdir()
    file = place.tree / "f"
    file.write_text("c = a + b")
    for error in (ValueError, KeyboardInterrupt):
        try:
            with place.changed(mutation):
                assert file.read_text() == "c = a - b"
                raise error
        except error:
            pass
        assert file.read_text() == "c = a + b"


def what_outlasts_its_time_is_no_pass(folder: Path) -> None:
    place = Workplace(folder, "ci", 1, 0.2)
    place.tree.mkdir(exist_ok=True)
    assert place._step(["true"], 60)
    assert not place._step(["false"], 60)
    assert not place._step(["sleep", "60"], 0.2)
    assert "not finished after 0.2 s" in place.output


def each_run_of_pytest_sees_the_present_files_and_its_own_environment(folder: Path) -> None:
    if importlib.util.find_spec("pytest") is None:
        return
    place = Workplace(folder, "ci", 1, 30.0)
    place.tree.mkdir()
    place.python = sys.executable
    (place.tree / "changed.py").write_text("VALUE = 1\n")
    (place.tree / "test_it.py").write_text(
        "import changed, os, time\n"
        "def test_value(): assert changed.VALUE == 1\n"
        "def test_environment(): assert os.environ.get('WORD') == 'said'\n"
        "def test_slow(): time.sleep(60)\n"
    )
    assert place._pytest_passes(["test_it.py::test_value"], {}, 30.0)
    (place.tree / "changed.py").write_text("VALUE = 2\n")
    assert not place._pytest_passes(["test_it.py::test_value"], {}, 30.0)
    assert "FAILED test_it.py::test_value" in place.output
    assert place._pytest_passes(["test_it.py::test_environment"], {"WORD": "said"}, 30.0)
    assert not place._pytest_passes(["test_it.py::test_environment"], {}, 30.0)
    assert place._pytest_passes(["test_it.py::test_value", "test_it.py::test_gone"], {}, 30.0) is False
    assert "test_value" in place.output  # the whole file was run
    assert not place._pytest_passes(["test_it.py::test_slow"], {}, 1.0)
    assert place.out_of_time


def a_kill_is_known_until_its_lines_change(folder: Path) -> None:
    mutation = Mutation(**GOOD)
    (folder / "f").write_text("c = a + b")
    mutation_run.Results(folder / "r.json").keep(mutation, folder, mutation_run.KILLED, 1.0)
    assert mutation_run.Results(folder / "r.json").before(mutation, folder) == mutation_run.KILLED
    (folder / "f").write_text("d = a + b")
    assert not mutation_run.Results(folder / "r.json").before(mutation, folder)


def a_kill_by_machine_outlasts_another_choice_of_tests(folder: Path) -> None:
    (folder / "f").write_text("c = a + b")
    one, other = (Generated(**(GOOD | {"pytest": name}), line=1) for name in ("t.py::one", "t.py::other"))
    assert one.digest(folder) == other.digest(folder)
    assert Mutation(**GOOD, pytest="t.py").digest(folder) != Mutation(**GOOD).digest(folder)


def a_test_counts_with_those_that_share_what_it_set_up(_: Path) -> None:
    of_file = {"t.py": ["t.py::a", "t.py::b[x|y]"]}
    assert _tests_in(["", "t.py::b[x|y]|run"], of_file, set()) == ["t.py::b[x|y]"]
    assert _tests_in(["t.py::a|setup", "u.py::c|run"], of_file, set()) == ["t.py::a", "t.py::b[x|y]", "u.py::c"]
    assert _tests_in(["t.py::a|run"], of_file, {"t.py"}) == of_file["t.py"]


def the_quickest_tests_of_a_line_are_chosen_and_those_of_its_mirror_where_no_test_runs_it(folder: Path) -> None:
    file, mirror = "analysis/fourscore_analysis/gate/f.py", "tests/analysis/gate/test_f.py"
    seconds = {"t.py::slow": 29.0, "t.py::quick": 1.0, "t.py::other": 0.5, "u.py::far": 1.0, f"{mirror}::it": 2.0}
    tests = {file: {"1": ["t.py::slow", "t.py::quick"], "3": ["t.py::slow"]}}
    (folder / "coverage.json").write_text(json.dumps({"seconds": seconds, "tests": tests}))
    coverage = Coverage(folder, "python3", folder)
    assert coverage.of(file, 1) == ["t.py::quick", "t.py::slow"]
    for line in (2, None):  # and no more in half a minute
        assert coverage.of(file, line) == [f"{mirror}::it", "t.py::other", "t.py::quick"]
    assert coverage.of("analysis/fourscore_analysis/gate/g.py", 1) == []


def a_default_belongs_to_the_import_and_a_body_to_the_call(_: Path) -> None:
    function = "A = 1\n@d\ndef f(\n    a=1,\n):\n    b = 2\n    return b\n"
    method = "class C:\n    x: int = 1\n    def g(self): return 3\n"
    assert in_functions(function + method) == {6, 7, 10}


def a_change_elsewhere_changes_no_chance(_: Path) -> None:
    text = "a = 1\nb = 2\na = 1\n"
    places = [((1, 4), (1, 5)), ((2, 4), (2, 5)), ((3, 4), (3, 5))]
    before = chances("f", text, places, 1)
    assert len(set(before)) == 3
    later = [((line + 2, column), (end_line + 2, end)) for (line, column), (end_line, end) in places]
    assert chances("f", "c = 3\n\n" + text, later, 1) == before
    assert chances("f", text.replace("2", "3"), places, 1)[::2] == before[::2]
    assert chances("f", text.replace("2", "2  # two"), places, 1) == before
    for other in (chances("f", text, places, 2), chances("g", text, places, 1)):
        assert not set(other) & set(before)


def a_guard_is_known_by_what_is_changed(_: Path) -> None:
    for old, new, guard in (
        ("zip(a, b, strict=True)", "zip(a, b, strict= False)", True),
        ("@dataclass(frozen=True, slots=True)", "@dataclass(frozen=True, slots=False)", True),
        ("f(frozen=True, deep=True)", "f(frozen=True, deep=False)", False),
        ("zip(a, b + 1, strict=True)", "zip(a, b - 1, strict=True)", False),
    ):
        assert is_guard(old, new) == guard


def a_name_that_fits_nothing_is_refused(_: Path) -> None:
    mutation = Mutation(**GOOD)
    assert mutation_run.chosen([mutation], None) == mutation_run.chosen([mutation], ["n*"]) == [mutation]
    said = ""
    try:
        mutation_run.chosen([mutation], ["n", "m*"])
    except CatalogueError as error:
        said = str(error)
    assert said == "--only 'm*' fits no mutation"


def only_what_failed_is_run_without_the_mutation(_: Path) -> None:
    class Place:
        output = "E  x\nFAILED t.py::b[1] - assert 1\n"

        def build(self, targets: tuple[str, ...]) -> bool:
            return True

        def tests_pass(self, mutation: Mutation) -> bool:
            return mutation.pytest == "'t.py::b[1]'"

    assert mutation_run.Runner(Place(), None)._pass_without(Mutation(**GOOD, pytest="t.py::a 't.py::b[1]'"))
    assert not mutation_run.Runner(Place(), None)._pass_without(Mutation(**GOOD, pytest="t.py::a"))


def the_table_stands_between_its_marks(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(f"before\n{mutation_run.MARKS[0]}\nold\n{mutation_run.MARKS[1]}\nafter\n")
    results = mutation_run.Results(folder / "results.json")
    results.known = {"n": {"result": mutation_run.SURVIVED, "date": "2026-01-02"}}
    mutation_run.write_table(page, mutation_run.table([Mutation(**GOOD, survives="because")], results))
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "0 of 1 mutations killed, 0.0 % (2026-01-02)." in text
    assert "- n (`f`: sums): because" in text
    assert "| n | `f` | sums | survived |" in text


def is_test(one: object) -> bool:
    """Gets a folder of its own, and returns nothing."""
    return inspect.isfunction(one) and list(one.__annotations__.values()) == ["Path", "None"]


def main() -> None:
    for test in filter(is_test, list(globals().values())):
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
        print(f"{test.__name__}: ok")


main()
