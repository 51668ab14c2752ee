"""Papers of whoever adds one, by an entry point of a distribution that lies on the path."""

import importlib
import json
import sys

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.models.base import models
from fourscore_analysis.models.constant import printed_a
from fourscore_analysis.models.machines import machine_of
from fourscore_analysis.models.trends import trends_of
from fourscore_analysis.papers import all_papers
from fourscore_analysis.plots import all_plots
from fourscore_analysis.records.papers import sources
from fourscore_analysis.records.values import InputError

ENTRY_POINTS = "[fourscore.papers]\nmine = my_papers\n"
ITEM = {
    "paper": "smith26",
    "citation": "Smith, 2026",
    "source": "Table 1",
    "page": 1,
    "title": "Twice",
    "what": "Twice as much",
    "setup": {},
    "notes": [],
    "rows": [{"row": 1, "nodes": 4, "cores": 8}, {"row": 2, "nodes": 8, "cores": 17}],
}
FILES = {
    "my_papers-1.0.dist-info/METADATA": "Name: my-papers\nVersion: 1.0\n",
    "my_papers-1.0.dist-info/entry_points.txt": ENTRY_POINTS,
    "my_papers/__init__.py": "",
    "my_papers/smith26/__init__.py": "",
    "my_papers/smith26/numbers.py": """
from fourscore_analysis.papers.base import Item, Paper
from fourscore_analysis.papers.ranges import each, exactly
def cores():
    return each("smith26", "table-1", "cores", lambda row: exactly(2 * row["nodes"]), "2 nodes")
PAPER = Paper("smith26", {"table-1": Item(("nodes",), computed=cores)})
""",
    "my_papers/smith26/model.py": """
from dataclasses import replace
from fourscore_analysis.models.loggp import MODEL
MODEL = replace(MODEL, name="smith26")
""",
    "my_papers/smith26/plots/__init__.py": "",
    "my_papers/smith26/plots/twice.py": """
from dataclasses import replace
from fourscore_analysis.plots.phases import PLOT
PLOT = replace(PLOT, name="twice")
""",
    "my_papers/smith26/published/table-1.json": json.dumps(ITEM),
    "my_papers/smith26/machines/mine.toml": 'name = "mine"\n',
    "my_papers/smith26/trends/growth.toml": '[trends]\nnodes = { factor = 2, per = "year" }\n',
}


def write(folder, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def known(tmp_path, monkeypatch):
    """The folder of the distribution, whose papers are looked for anew."""

    def forget() -> None:
        importlib.invalidate_caches()
        sources.cache_clear()
        models.cache_clear()

    write(tmp_path, FILES)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    yield tmp_path
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("my_papers", "other")]:
        del sys.modules[name]
    forget()


def test_a_users_paper_is_as_good_as_ours(known):
    assert list(sources()) == sorted(sources())
    assert {"smith26", "haynes2000"} <= set(all_papers())
    assert models()["smith26"].title == models()["loggp"].title
    assert "twice" in [plot.name for plot in all_plots()]
    assert machine_of("mine").name == "mine"
    assert trends_of("growth").trends["nodes"].yearly == 2


def test_the_page_of_a_users_paper_judges_its_numbers(known, monkeypatch, capsys):
    monkeypatch.setenv("FOURSCORE_ARCHIVE", str(known / "none"))
    assert main(["report", "--paper", "smith26", "-o", str(known / "page.html"), "--json"]) == 0
    [paper] = json.loads(capsys.readouterr().out)["papers"]
    assert [(one["printed"], one["computed"], one["verdict"]) for one in paper["numbers"]] == [
        (8, 8, "rounding"),
        (17, 16, "within"),
    ]
    assert "Smith, 2026" in (known / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("named", ["nowhere", "json.decoder"])
def test_an_entry_point_without_papers_is_named(known, capsys, named):
    write(known, {"my_papers-1.0.dist-info/entry_points.txt": f"[fourscore.papers]\nmine = {named}\n"})
    assert main(["predict", "--list-machines"]) == 2
    assert f"an entry point fourscore.papers names {named}; expected a package" in capsys.readouterr().err


def test_two_papers_of_one_name_are_refused(known):
    write(known, {"other-1.0.dist-info/entry_points.txt": "[fourscore.papers]\nother = other\n"})
    write(known, {"other-1.0.dist-info/METADATA": "Name: other\nVersion: 1.0\n", "other/__init__.py": ""})
    write(known, {"other/lee2018/__init__.py": ""})
    importlib.invalidate_caches()
    sources.cache_clear()
    with pytest.raises(InputError, match=r"fourscore_papers\.lee2018 and other\.lee2018"):
        sources()


def test_nothing_but_papers_is_missing_without_papers(known, monkeypatch, capsys):
    for module in ("isoefficiency.models", "models.base", "models.constant", "papers", "plots", "plots.base"):
        monkeypatch.setattr(f"fourscore_analysis.{module}.sources", dict)
    models.cache_clear()
    assert list(models()) == ["loggp", "pmnf"]
    assert printed_a() is None
    assert "lee2018" not in str(all_plots())
    assert {"threads", "timeline"} <= {plot.name for plot in all_plots()}
    assert main(["report", "--paper", "all", "-o", str(known / "page.html")]) == 2
    assert "no paper 'all'; there are: none" in capsys.readouterr().err
