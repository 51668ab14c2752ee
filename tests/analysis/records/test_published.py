"""The papers' numbers: every file follows its schema, is read whole, and stands in docs/published.md."""

import copy
import json
import re

import pytest
from conftest import ROOT
from fourscore_analysis.records import published as module
from fourscore_analysis.records.papers import Source, files_of_papers, sources
from fourscore_analysis.records.published import Published, all_published, published
from jsonschema import Draft202012Validator

FILES = files_of_papers("published", ".json")
PAPERS = {"czechowski2012", "eleftheriou2005", "gupta1993", "haynes2000", "lee2018"}
SCHEMA = json.loads((ROOT / "analysis/fourscore_analysis/papers/published.schema.json").read_text(encoding="utf-8"))
PAGE = ROOT / "docs/published.md"


def content(path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parents[1].name}/{path.stem}")
def test_a_file_follows_the_schema(path):
    data = content(path)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(data)] == []
    assert data["paper"] == path.parents[1].name
    assert re.sub(r"[ ,]+", "-", data["source"].lower()) == path.stem
    assert [row["row"] for row in data["rows"]] == list(range(1, len(data["rows"]) + 1))
    assert len({tuple(row) for row in data["rows"]}) == 1, "rows differ in their columns"
    columns = set(data["rows"][0]) - {"row"}
    assert all(any(row[column] is not None for row in data["rows"]) for column in columns), "a column is empty"
    for one in data.get("inconsistent", []):
        assert data["rows"][one["row"] - 1][one["column"]] != one["computed"]


def test_all_five_papers_have_files_and_each_has_one_citation():
    assert {path.parents[1].name for path in FILES} == PAPERS
    for paper in PAPERS:
        assert len({content(path)["citation"] for path in FILES if path.parents[1].name == paper}) == 1
    headings = (ROOT / "docs/bibliography.md").read_text(encoding="utf-8")
    assert all(f"### {paper}\n" in headings for paper in PAPERS)


@pytest.mark.parametrize(
    "break_it",
    [
        lambda data: data.pop("page"),
        lambda data: data.update(page=0),
        lambda data: data.update(rows=[]),
        lambda data: data["rows"][0].pop("row"),
        lambda data: data["rows"][0].update(backward_parsecs=1),
        lambda data: data["rows"][0].update(backward_ms="127"),
        lambda data: data["rows"][0].update(chares=7.5),
        lambda data: data["setup"].update(machines=2),
        lambda data: data.update(inconsistent=[{"row": 1, "column": "chares", "computed": 1}]),
    ],
)
def test_the_schema_refuses_what_it_does_not_know(break_it):
    data = content(sources()["lee2018"].folder / "published/table-2.1.json")
    assert Draft202012Validator(SCHEMA).is_valid(data)
    broken = copy.deepcopy(data)
    break_it(broken)
    assert not Draft202012Validator(SCHEMA).is_valid(broken)


def test_every_file_is_read_whole():
    items = all_published()
    assert [(item.paper, item.item) for item in items] == [(path.parents[1].name, path.stem) for path in FILES]
    for item, path in zip(items, FILES, strict=True):
        data = content(path)
        assert published(item.paper, item.item) == item
        assert (item.source, item.page, item.title, item.what) == tuple(
            data[key] for key in ("source", "page", "title", "what")
        )
        assert (item.setup, list(item.rows), list(item.notes)) == (data["setup"], data["rows"], data["notes"])
        assert [vars(one) for one in item.inconsistent] == data.get("inconsistent", [])


def test_an_item_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"lee2018.published.table-9\.9\.json: No such file"):
        published("lee2018", "table-9.9")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{", "Expecting"), ("{}", "no 'paper'"), ("[]", "list indices")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch, text, expected):
    (tmp_path / "published").mkdir()
    (tmp_path / "published/table-1.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "sources", lambda: {"nobody": Source("nobody", "nobody", tmp_path)})
    published.cache_clear()
    with pytest.raises(ValueError, match=rf"published.table-1\.json: .*{expected}"):
        published("nobody", "table-1")


def line_of(item: Published) -> str:
    """The item's line in docs/published.md."""
    page = f", page {item.page}" if item.page else ""
    disagree = "; ".join(
        f"row {one.row}, `{one.column}`: {item.rows[one.row - 1][one.column]:g} printed, {one.computed:g} computed"
        for one in item.inconsistent
    )
    cells = (
        f"[{item.source}](../analysis/fourscore_papers/{item.paper}/published/{item.item}.json){page}",
        item.title,
        disagree,
    )
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def test_the_page_lists_every_item_and_what_disagrees():
    """Where this fails, the lines that docs/published.md should have are in the message."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for paper in PAPERS:
        [section] = [section for section in sections if section.startswith(f"{paper}\n")]
        there = [line for line in section.splitlines() if line.startswith("| [")]
        expected = [line_of(item) for item in all_published() if item.paper == paper]
        assert there == expected, "\n".join(expected)
