"""The page of the papers: what it holds with an archive and without, and that every figure is drawn."""

import contextlib
import io
import json
import re

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.papers import all_papers
from fourscore_analysis.plots import plots_of
from synthetic import Maker, component_point, component_record, crossover_points, fill, make_point, store
from synthetic.components import messages


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """An archive with a point for each number and figure that can have ours beside it."""
    archive = tmp_path_factory.mktemp("papers") / "archive"
    cube = (128, 128, 128)
    points = [
        *crossover_points(),
        *(make_point("pencil", shape=(n,) * 3, ranks=4) for n in (64, 128, 256)),
        *(make_point(name, shape=cube, ranks=ranks) for name in ("volumetric", "fftw-mpi") for ranks in (1, 4)),
        make_point("volumetric", shape=cube, ranks=512),
    ]
    fill(archive, Maker("papers-11111111", "papers"), points, 2)
    maker = Maker("messages-11111111", "messages")
    for launch in range(2):
        found = list(messages(2, [], 1e9))
        store(archive, component_record(maker, component_point("pairwise_bench", 2), launch, found))
    return archive


@pytest.fixture(scope="module")
def with_archive(measured):
    """The page, its folder, and what it says in JSON."""
    page = measured.parent / "papers.html"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(["report", "--paper", "all", "-o", str(page), "--archive", str(measured), "--json"]) == 0
    return page.read_text(encoding="utf-8"), page.parent, json.loads(said.getvalue())


@pytest.fixture(scope="module")
def without_archive(tmp_path_factory):
    """The page, and what is printed."""
    folder = tmp_path_factory.mktemp("equations")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOURSCORE_ARCHIVE", str(folder / "nowhere"))
        assert main(["report", "--paper", "all", "-o", str(folder / "papers.html")]) == 0
    return (folder / "papers.html").read_text(encoding="utf-8"), said.getvalue()


def test_the_page_has_the_equations_alone_without_an_archive(without_archive):
    page, said = without_archive
    assert "Without an archive" in page
    assert "measured here</th>" not in page
    for name in all_papers():
        assert f'id="{name}"' in page
        assert f"{name}: " in said


def test_an_archive_without_records_is_as_none(tmp_path, monkeypatch, capsys):
    (tmp_path / "archive" / "records").mkdir(parents=True)
    monkeypatch.setenv("FOURSCORE_ARCHIVE", str(tmp_path / "archive"))
    assert main(["report", "--paper", "haynes2000", "-o", str(tmp_path / "papers.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["archive"] is None


def test_an_archive_that_is_asked_for_must_be_there(tmp_path, capsys):
    assert main(["report", "--paper", "all", "--archive", str(tmp_path / "no"), "-o", str(tmp_path / "p.html")]) == 3
    assert "no archive at" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--paper", "nobody"], "no paper 'nobody'; there are: czechowski2012,"),
        (["--paper", "all", "strong"], "--paper takes no CAMPAIGN"),
        (["--paper", "all", "--plot-points", "5"], "--paper takes no --plot-points"),
        (["--paper", "all", "--efficiency", "0.5"], "--paper takes no --efficiency"),
    ],
)
def test_what_cannot_be_used_ends_with_2_and_says_why(tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    assert main(["report", *options]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_every_figure_is_on_the_page_and_beside_it(with_archive):
    page, folder, _ = with_archive
    stems = {f"{name}-{plot.name}" for name in all_papers() for plot in plots_of(name)}
    assert len(stems) >= 12
    assert page.count('class="plot"') == len(stems)
    written = {path.name for path in (folder / "papers-plots").iterdir()}
    assert written == {f"{stem}.svg" for stem in stems}


def test_the_page_asks_for_nothing_outside_itself(with_archive):
    page, _, _ = with_archive
    targets = re.findall(r"""(?:src|href)=["']?([^"'>]*)""", page)
    assert [target for target in targets if not target.startswith(("data:", "#"))] == []


def test_json_has_every_number_with_its_verdict_and_ours(with_archive):
    papers = {one["paper"]: one for one in with_archive[2]["papers"]}
    assert set(papers) == set(all_papers())
    for one in papers.values():
        assert sum(one["verdicts"].values()) == len(one["numbers"])
        assert {number["verdict"] for number in one["numbers"]} <= set(one["verdicts"])
    ours = {
        (name, number["item"], number["column"])
        for name, one in papers.items()
        for number in one["numbers"]
        if number["measured"]
    }
    assert {
        ("czechowski2012", "figure-4", "share_percent"),
        ("eleftheriou2005", "figure-3", "fftw_faster_percent"),
        ("eleftheriou2005", "figure-4", "speedup_above"),
        ("eleftheriou2005", "table-1", "torus_s"),
        ("haynes2000", "section-5", "alpha_beta_bytes"),
    } <= ours
    for one in papers.values():
        for number in one["numbers"]:
            for each in number["measured"]:
                assert each["launches"] >= 1
                assert each["what"]
                off = each["value"] / number["printed"] - 1
                assert each["difference"] == (pytest.approx(off) if each["value"] >= 0 else None)


def test_a_disagreement_shows_both_readings_and_what_it_means(without_archive):
    page, _ = without_archive
    for text in (
        "Figure 5: the time for memory",
        "memory bandwidth of 2010, and Eq. 8 added",
        "8 cycles a butterfly, two of them at once in the double FPU",
        "What it means.",
    ):
        assert text in page
