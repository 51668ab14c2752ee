"""`fourscore report`: campaigns and suites by name, its options, and that nothing of the current folder is executed."""

import os
import pathlib
import re
import signal

import pytest
from fourscore_command import Fourscore
from processes import alive, children_of, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANALYSIS, EXAMPLE = ROOT / "analysis", ROOT / "docs/example/archive"


def reported(fourscore, *arguments, **options) -> dict:
    """What a run of the command says in JSON; its page is report.html in the test's folder."""
    return fourscore.json("report", *arguments, **options)


@pytest.fixture(scope="module")
def archived(tmp_path_factory) -> tuple[Fourscore, str, str]:
    """An archive with two campaigns of the suite `s`, of one point and of three: their names. To be read alone."""
    fourscore = Fourscore(tmp_path_factory.mktemp("archived"))
    fourscore("run", fourscore.points(points=1, launches=1))
    older = {path.name for path in (fourscore.archive / "records").iterdir()}
    fourscore("run", fourscore.points(points=3, launches=1))
    newer = {path.name for path in (fourscore.archive / "records").iterdir()} - older
    return fourscore, older.pop(), newer.pop()


def test_the_name_of_a_suite_means_its_newest_campaign_and_that_of_a_campaign_itself(archived):
    fourscore, older, newer = archived
    for arguments, expected in ((["s"], newer), ([older], older), ([], newer)):
        found = reported(fourscore, *arguments)
        assert [one["campaign"] for one in found["campaigns"]] == [expected]
        assert found["campaigns"][0]["suite"] == "s"


def test_a_name_that_is_neither_suite_nor_campaign_ends_with_2_and_the_nearest(archived):
    fourscore, older, _ = archived
    error = fourscore("report", older[:-1] + "z", code=2).stderr
    assert f"did you mean '{older}'?" in error
    assert len(error.splitlines()) == 1


def test_the_help_says_what_is_shown_without_a_name(fourscore):
    text = " ".join(fourscore("report", "--help").stdout.split())
    assert "default: all" not in text
    assert "default: the newest of each suite" in text
    assert "0: no limit; default: 150" in text


def test_the_number_of_plot_points_and_efficiencies_are_handed_on(archived):
    """0 is no limit, as the page advises. The name of a page may look like an option."""
    fourscore = archived[0]
    fourscore("report", "--plot-points", 0, "--output=-x.html")
    assert "are in no plot" not in (fourscore.folder / "-x.html").read_text()
    assert list((fourscore.folder / "-x-plots").iterdir())
    fourscore("report", "--plot-points", 1, "--efficiency", "0.4,0.9")
    page = (fourscore.folder / "report.html").read_text()
    assert "2 of 3 points are in no plot" in re.sub(r"<[^>]*>", "", page)
    assert "--plot-points 0" in page
    error = fourscore("report", "--efficiency=2", code=2).stderr
    assert "'2' is not 1 to 5 numbers between 0 and 1" in error


@pytest.mark.parametrize("value", ["-1", "few", "1e400", ""])
def test_a_number_of_plot_points_that_is_none_ends_with_2_and_a_short_message(archived, value):
    error = archived[0]("report", f"--plot-points={value}", code=2).stderr
    assert "plot-points" in error
    assert len(error) < 200


def test_nothing_of_the_current_folder_is_executed(fourscore):
    """Neither by the look for packages nor by the report; an empty entry of PYTHONPATH means the current folder too."""
    fourscore("run", fourscore.points(points=1, launches=1))
    for name in ("json", "numpy", "importlib", "matplotlib", "fourscore_analysis", "fourscore_papers", "sitecustomize"):
        (fourscore.folder / f"{name}.py").write_text(f"open('executed-{name}', 'w')\nraise SystemExit(9)\n")
    for path in ("", f":{ANALYSIS}::"):
        environment = {"PYTHONPATH": path, "PYTHONSAFEPATH": ""}
        assert reported(fourscore, environment=environment)["campaigns"]
    assert not list(fourscore.folder.glob("executed-*"))


def test_an_entry_of_the_python_path_is_kept(archived):
    """Modules and Spack supply numpy so."""
    fourscore = archived[0]
    elsewhere = fourscore.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "jinja2.py").write_text("import os; os._exit(42)\n")
    fourscore("report", code=42, environment={"PYTHONPATH": str(elsewhere)})


def test_an_interpreter_that_is_no_python_ends_with_3(archived):
    fourscore, page = archived[0], archived[0].folder / "none.html"
    for program in ("/bin/true", "/bin/false"):
        error = fourscore("report", "-o", page, environment={"FOURSCORE_PYTHON": program}, code=3).stderr
        assert f"'{program}' does not work as a Python interpreter" in error
    assert not page.exists()


def test_a_papers_page_needs_no_archive_and_takes_a_paper_each_time(fourscore):
    folder = fourscore.folder
    found = fourscore.json("report", "--paper", "haynes2000")
    assert (found["archive"], [one["paper"] for one in found["papers"]]) == (None, ["haynes2000"])
    both = ["--paper", "haynes2000", "--paper", "eleftheriou2005", "-o", "both.html"]
    fourscore("report", *both)
    page = (folder / "both.html").read_text(encoding="utf-8")
    assert 'id="haynes2000"' in page
    assert 'id="eleftheriou2005"' in page


def test_a_papers_page_takes_the_whole_archive(archived):
    fourscore = archived[0]
    found = reported(fourscore, "--paper", "haynes2000")
    assert found["archive"] == str(fourscore.archive)
    assert "have a measurement of the archive" in found["papers"][0]["summary"][-1]


def test_an_unknown_paper_or_a_campaign_beside_one_ends_with_2(fourscore):
    error = fourscore("report", "--paper", "nobody1999", code=2).stderr
    assert "there are: czechowski2012, eleftheriou2005, gupta1993, haynes2000, lee2018, all" in error
    error = fourscore("report", "--paper", "all", "strong", code=2).stderr
    assert "--paper takes no CAMPAIGN" in error


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_worker_outlives_a_report_that_is_ended(fourscore, number):
    """It draws the many figures of the example on all cores; `fourscore` becomes the Python that starts them."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core: there are no workers")
    arguments = ["--archive", EXAMPLE, "--plots", fourscore.folder / "plots", "-o", fourscore.folder / "r.html"]
    with fourscore.start("report", *arguments) as report:
        assert wait_for(lambda: len(children_of(report.pid)) >= 2 or report.poll() is not None)
        workers = children_of(report.pid)
        report.send_signal(number)
        assert workers, "ended before it drew anything"
        assert wait_for(lambda: not any(alive(worker) for worker in workers))
        assert report.wait() == -number
