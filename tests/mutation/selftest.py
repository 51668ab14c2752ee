"""The mutation run itself: what it refuses, that a changed file is put back, where its table goes."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from catalogue import CatalogueError, Mutation, read_catalogue  # noqa: E402
from generated import Generated  # noqa: E402
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


def a_kill_is_known_until_its_lines_change(folder: Path) -> None:
    mutation = Mutation(**GOOD)
    (folder / "f").write_text("c = a + b")
    mutation_run.Results(folder / "r.json").keep(mutation, folder, mutation_run.KILLED, 1.0)
    assert mutation_run.Results(folder / "r.json").killed_before(mutation, folder)
    (folder / "f").write_text("d = a + b")
    assert not mutation_run.Results(folder / "r.json").killed_before(mutation, folder)


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


def main() -> None:
    for test in (
        entries_that_cannot_be_used_are_named,
        an_entry_applies_where_its_text_stands_once,
        a_generated_one_changes_its_line_and_no_equal_one,
        a_changed_file_is_put_back_whatever_happens,
        what_outlasts_its_time_is_no_pass,
        a_kill_is_known_until_its_lines_change,
        the_table_stands_between_its_marks,
    ):
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
        print(f"{test.__name__}: ok")


main()
