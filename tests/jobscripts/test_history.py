"""`fourscore history`: git's order and the acknowledgements reach the analysis, and the index saves reading records
without changing the answer."""

import json
import pathlib
import sqlite3
import sys
import time

import pytest
from fourscore_command import Fourscore, git

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "analysis"))
from synthetic import make_point  # noqa: E402
from synthetic.histories import HistoryMaker, revision_of  # noqa: E402

POINT = make_point("pencil", "alltoallv", (8, 8, 8), 1)
BUILDS, STEP = 16, 9
SERIES = '{ variant = "pencil", ranks = 1 }'


def seconds(build: int, launch: int) -> float:
    """A step of a fifth, with noise that is the same in every run."""
    return (1.2 if build >= STEP else 1.0) * (1 + 0.001 * ((7 * build + 3 * launch) % 11))


def fill(fourscore, **changes) -> None:
    HistoryMaker(fourscore.archive).builds(POINT, BUILDS, seconds, launches=2, **changes)
    time.sleep(0.2)  # a file that has just been written is not taken for settled


@pytest.fixture(scope="module")
def stepping(tmp_path_factory):
    """An archive with a slowdown, to be read alone."""
    fourscore = Fourscore(tmp_path_factory.mktemp("stepping"))
    fill(fourscore)
    return fourscore


def ask(fourscore, *arguments, code=0) -> dict:
    page = fourscore.archive.parent / "history.html"
    return json.loads(fourscore("history", "-o", page, "--json", "-", *arguments, code=code).stdout)


def findings(answer: dict) -> list[tuple]:
    return [
        (one["kind"], one["counts"], one["before"]["revision"], one["after"]["revision"])
        for series in answer["series"]
        for one in series["findings"]
    ]


def toml(fourscore, text: str) -> pathlib.Path:
    file = fourscore.archive.parent / "expected.toml"
    file.write_text(text)
    return file


@pytest.fixture
def repository(tmp_path):
    """A repository of BUILDS commits, and their names."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    names = []
    for number in range(BUILDS):
        git(folder, "commit", "-q", "--allow-empty", "-m", str(number))
        names.append(git(folder, "rev-parse", "HEAD"))
    return folder, names


def test_a_slowdown_is_found_and_fails_only_where_that_is_asked_for(stepping):
    assert findings(ask(stepping)) == [("slowdown", True, revision_of(STEP - 1), revision_of(STEP))]
    page = stepping.archive.parent / "page.html"
    said = stepping("history", "-o", page, "--fail-on-slowdown", code=1).stdout
    assert "1 slowdown to look at" in said
    assert "pencil/alltoallv at 8³" in page.read_text()


def test_the_index_saves_reading_and_changes_nothing(fourscore):
    fill(fourscore)
    first = ask(fourscore)
    with sqlite3.connect(fourscore.archive / "index.sqlite") as database:
        assert database.execute("SELECT count(*) FROM briefs").fetchone() == (2 * BUILDS,)
    assert ask(fourscore) == first
    with sqlite3.connect(fourscore.archive / "index.sqlite") as database:
        database.execute("UPDATE briefs SET brief = replace(brief, '1.2', '9.9')")
    assert ask(fourscore) == first, "a row that somebody changed is not believed"
    (fourscore.archive / "index.sqlite").write_bytes(b"no index")
    assert ask(fourscore) == first
    # A record that changed is read again.
    [file] = fourscore.archive.glob(f"records/*-{0:08x}/*-000.json")
    record = json.loads(file.read_text())
    samples = record["samples"]
    samples["time_s"] = samples["rank_total_s"][0] = samples["rank_phase_s"]["fft"][0] = [7.0, 7.0, 7.0]
    file.write_text(json.dumps(record))
    [series] = ask(fourscore)["series"]
    assert 7.0 in [launch["median_s"] for build in series["builds"] for launch in build["launches"]]


def test_a_repository_orders_the_revisions(fourscore, repository):
    folder, names = repository
    fill(fourscore, revision=lambda build: names[build], day=lambda build: 100 - build)
    assert [one[0] for one in findings(ask(fourscore))] == ["improvement"]
    answer = ask(fourscore, "--repo", folder)
    assert findings(answer) == [("slowdown", True, names[STEP - 1], names[STEP])]
    assert answer["order"] == f"in the order of {folder}"


def test_what_is_no_repository_of_these_revisions_is_refused(stepping, repository, tmp_path):
    folder, _ = repository
    said = stepping("history", "--repo", folder, "-o", tmp_path / "h.html", code=2).stderr
    assert f"--repo {folder} has none of the {BUILDS} revisions of the archive" in said
    (tmp_path / "empty").mkdir()
    said = stepping("history", "--repo", tmp_path / "empty", code=2).stderr
    assert "expected a git repository with commits; git says: fatal: not a git repository" in said
    assert "No such file" in stepping("history", "--repo", tmp_path / "none", code=2).stderr


def test_an_acknowledged_slowdown_does_not_fail(stepping):
    file = toml(
        stepping,
        f'[[change]]\nseries = {SERIES}\nfirst = "{revision_of(STEP)[:9]}"\nreason = "checks its input"\n',
    )
    answer = ask(stepping, "--acknowledged", file, "--fail-on-slowdown")
    assert [one[1] for one in findings(answer)] == [False]
    assert answer["series"][0]["findings"][0]["acknowledged"] == {
        "where": f"{file}:1",
        "reason": "checks its input",
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (f'[[change]]\nseries = {SERIES}\nfirst = "abc"\n', 1, "[[change]] lacks 'reason'"),
        (f'[[change]]\nseries = {SERIES}\nfirst = "abc"\nreason = " "\n', 4, "expected a string that is not empty"),
        (f'[[change]]\nseries = {SERIES}\nfirst = 1\nreason = "a"\n', 3, "key 'first' is 1; expected a string"),
        ('[[change]]\nfirst = "abc"\nreason = "a"\n', 1, "[[change]] lacks 'series'"),
        ('[[change]]\nseries = "pencil"\nfirst = "abc"\nreason = "a"\n', 2, "expected a table of patterns"),
        ('[[change]]\nseries = { ranks = 1.5 }\nfirst = "abc"\nreason = "a"\n', 2, "expected a string or an integer"),
        (f'[[change]]\nseries = {SERIES}\nfrist = "abc"\n', 3, "unknown key 'frist' in [[change]], did you mean 'first'?"),
        ("[[changes]]\n", 1, "unknown key 'changes' in the file, did you mean 'change'?"),
        ("change = 1\n", 1, "expected tables: [[change]]"),
        ("[[change\n", 1, "not TOML"),
        (f'[[change]]\nseries = {SERIES}\nfirst = "0000000"\nreason = "a"\n', 1, "'0000000' is no revision"),
    ],
)
def test_mistakes_in_acknowledgements_are_reported_with_file_and_line(stepping, text, line, words):
    file = toml(stepping, text)
    said = stepping("history", "--acknowledged", file, "-o", file.with_suffix(".html"), code=2).stderr
    assert f"{file}:{line}: " in said
    assert words in said


def test_acknowledgements_that_are_not_there_are_an_error(stepping):
    said = stepping("history", "--acknowledged", "none.toml", code=2).stderr
    assert "acknowledgements none.toml: cannot be read: No such file" in said


def test_options_reach_the_analysis(stepping):
    answer = ask(stepping, "--margin", "30", "--series", "variant=pen*")
    assert findings(answer) == [("small", False, revision_of(STEP - 1), revision_of(STEP))]
    assert "colour" in stepping("history", "--series", "colour=red", code=2).stderr


def test_an_empty_archive_is_refused(fourscore):
    assert "no archive" in fourscore("history", code=3).stderr
    (fourscore.archive / "records").mkdir(parents=True)
    assert "holds no record yet" in fourscore("history", code=2).stderr
