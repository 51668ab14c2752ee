"""The page of machines side by side, from the command line: what it writes, prints, and refuses."""

import csv
import json
import re

import pytest
from fourscore_analysis.cli import main
from synthetic import Maker, elsewhere, make_point, store, weak_points

HOSTILE = "<script>alert(1)</script>\u2028&amp;"
POINTS = [make_point("slab", shape=(128, 128, 256), ranks=ranks) for ranks in (1, 2)]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """One archive a machine; the second takes twice as long, and its records say hostile things."""
    folder = tmp_path_factory.mktemp("across")
    for name, scale, machine in (("ours", 1.0, {}), ("theirs", 2.0, {"cpu_model": f"Bad {HOSTILE}"})):
        maker = Maker(isolate=False, repetitions=2, seed=len(name))
        for point in [*POINTS, *weak_points(), make_point(f"x{HOSTILE[:25]}", shape=(64, 64, 64))]:
            for launch in range(5):
                store(folder / name, elsewhere(maker.ok(point, launch, scale), machine, mpi=f"MPI {HOSTILE}"))
    return folder / "ours", folder / "theirs"


def report(archives, page, *options):
    given = [word for archive in archives for word in ("--archive", str(archive))]
    return main(["report", *given, "--across", "machines", "-o", str(page), *options])


@pytest.fixture(scope="module")
def written(archives, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    assert report(archives, folder / "across.html", "--base", "imaginary", "--tables", str(folder / "tables")) == 0
    return folder


def test_the_page_has_both_machines_their_ratio_and_their_figures(written):
    page = (written / "across.html").read_text(encoding="utf-8")
    assert "Imaginary 9000 @ 2.60GHz, 8 cores (as --base asks)" in page
    assert re.search(r"takes (1\.9|2\.0)\d\u00a0?\s?times as long", page)
    stems = {path.stem for path in (written / "across-plots").iterdir()}
    assert {"across-machines-strong-scaling", "across-machines-weak-scaling", "across-machines-phases"} <= stems
    for part in (
        "Which method wins where",
        "Times, and how many times as long",
        "Machines",
        "Phases, with their share",
    ):
        assert part in page


def test_nothing_of_a_record_is_unescaped_and_nothing_is_loaded(written):
    page = (written / "across.html").read_text(encoding="utf-8")
    assert HOSTILE[:25] not in page
    assert "alert(1)" in page
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#|data:)""", page)


def test_tables_have_each_side_of_each_row(written):
    with (written / "tables" / "across-machines.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    slab = [row for row in rows if row["shape"] == "128x128x256" and row["ranks"] == "2"]
    assert [row["base"] for row in slab] == ["Imaginary 9000 @ 2.60GHz, 8 cores"] * 2
    ratio = next(row for row in slab if row["ratio"])
    assert float(ratio["ratio_low"]) < float(ratio["ratio"]) < float(ratio["ratio_high"])
    assert float(ratio["ratio"]) == pytest.approx(2.0, rel=0.05)
    latex = (written / "tables" / "across-machines-times.tex").read_text(encoding="utf-8")
    assert latex.count(r"\midrule") == 1
    assert r"script\textgreater{}" in latex
    assert "<" not in latex


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr("fourscore_analysis.page.across.figures_of", lambda group: [])


@pytest.mark.usefixtures("undrawn")
def test_the_summary_and_the_json_say_the_same(archives, tmp_path, capsys):
    assert report(archives, tmp_path / "a.html") == 0
    said = capsys.readouterr().out
    assert report(archives, tmp_path / "a.html", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert all(sentence.split("<")[0] in said for sentence in answer["findings"])
    assert [card["digest"] for card in answer["machines"]] == [
        column["machine_hash"] for column in answer["groups"][0]["columns"]
    ]
    row = answer["groups"][0]["rows"][0]
    assert {"ratio", "ratio_interval", "told_apart", "fraction_of_floor", "phases_s", "records"} <= set(row["sides"][0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--across", "clouds"], "invalid choice: 'clouds'"),
        (["--across", "machines"], "one machine alone has times (Imaginary 9000 @ 2.60GHz, 8 cores), expected two"),
        (["--across", "machines", "strange"], "no campaign or suite 'strange' in"),
        (["--across", "machines", "--paper", "all"], "--across takes no --paper: each makes a page of its own"),
        (["--across", "machines", "--plot-points", "3"], "--across takes no --plot-points"),
        (["--across", "machines", "--efficiency", "0.5"], "--across takes no --efficiency"),
        (["--base", "x"], "--base without --across; expected both, or neither"),
        (["--archive", "other"], "2 archives without --across; expected one, or --across"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(archives, tmp_path, capsys, options, said):
    words = ["report", "--archive", str(archives[0]), "-o", str(tmp_path / "a.html"), *options]
    try:
        code = main(words)
    except SystemExit as error:
        code = error.code
    assert code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "a.html").exists()


@pytest.mark.usefixtures("undrawn")
def test_a_suite_means_all_its_campaigns(archives, tmp_path, capsys):
    for name in ("strong", "strong-1a2b3c4d"):
        assert report(archives, tmp_path / "a.html", name) == 0
    assert "report: " in capsys.readouterr().out
