"""Messages made smaller: time and error side by side, and never in one ranking."""

from __future__ import annotations

from typing import Any

import pytest
from fourscore_analysis.models.observations import all_series
from fourscore_analysis.page.report import section_of
from fourscore_analysis.plots import wire_error as plot
from fourscore_analysis.points.points import comparisons, group_points
from fourscore_analysis.points.wires import narrowings
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.tables.findings import findings
from fourscore_analysis.tables.suggested import sweep_text
from fourscore_analysis.tables.transforms import contract_tables
from fourscore_analysis.tables.wires import wire_findings, wire_rows
from fourscore_analysis.views.best import Question, find
from fourscore_analysis.views.view import View
from synthetic import launches_alike, make_point, view_of

SHAPE = (64, 64, 64)


def timed(variant: str, seconds: float, wire: str = "as-is", launches: int = 6, **look: Any) -> list[dict[str, Any]]:
    named = {"wire": wire} if wire != "as-is" else {}
    point = make_point(variant, shape=SHAPE, ranks=4, parameters=look.get("parameters", {}), **named)
    records = launches_alike(point, seconds, launches, look.get("flags", ()))
    for launch, record in enumerate(records):
        error = (2e-16 if wire == "as-is" else 6e-8) * (1 + launch)
        record["verification"]["checks"][0] |= {"error": error, "tolerance": 4e-7}
        record["verification"]["checks"].append(
            {"name": "message-volume", "when": "before", "error": 0, "tolerance": 0, "ok": True}
        )
    return records


@pytest.fixture(scope="module")
def view() -> View:
    """The smaller messages are faster with either method."""
    return view_of(
        timed("pencil", 1.0), timed("pencil", 0.7, "single"), timed("slab", 1.2), timed("slab", 0.9, "single")
    )


def test_time_and_error_stand_side_by_side(view):
    pencil, _ = narrowings(view.points)
    assert (pencil.wire, pencil.ratio, pencil.told) == ("single", pytest.approx(0.7), True)
    assert (pencil.whole.error, pencil.narrowed.error) == (pytest.approx(1.2e-15), pytest.approx(3.6e-7))
    rows = wire_rows(view)
    assert [(row.method, row.wire, row.ratio, row.error, row.first) for row in rows[:2]] == [
        ("pencil/alltoallv", "as-is", "", "1.2e-15", True),
        ("pencil/alltoallv", "single", "0.70", "3.6e-07", False),
    ]
    [sentence] = wire_findings(view)
    assert sentence == (
        "With wire single pencil/alltoallv takes 0.70 of the time at 64³ on 4 ranks (702 ms, not 1.00 s), and its "
        "error is 3.6e-07, not 1.2e-15."
    )
    assert sentence in findings(view)
    [first, _] = section_of(view).counted_json()["wires"]
    assert (first["wire"], first["ratio"], first["error"], first["error_as_is"]) == (
        "single",
        pytest.approx(0.7),
        pytest.approx(3.6e-7),
        pytest.approx(1.2e-15),
    )


def test_points_of_another_accuracy_share_no_comparison_table_headline_or_fit(view):
    for one in comparisons(group_points(view.campaign)):
        assert len({point.cell.contract.wire for point in one.points}) == 1
    tables = contract_tables(view)
    assert len(tables) == 2
    assert sorted("wire single" in table.contract for table in tables) == [False, True]
    assert all(len(table.rows) == 2 for table in tables)
    said = [sentence for sentence in findings(view) if "fastest" in sentence]
    assert len(said) == 2
    assert all("pencil/alltoallv" in sentence and "slab" in sentence for sentence in said)
    assert len(all_series(view.campaign.launches)) == 4  # two methods, each with two kinds of messages


@pytest.mark.parametrize(
    ("asked", "wires"), [("as-is", ["as-is"]), ("single", ["single"]), (None, ["as-is", "single"])]
)
def test_best_answers_for_each_wire_apart(view, asked, wires):
    found = find([view.campaign], Question(SHAPE, 4, wire=asked))
    assert sorted(answer.best.cell.contract.wire for answer in found.answers) == wires
    for answer in found.answers:
        assert {point.cell.contract.wire for point in answer.comparison.ranked} == {answer.best.cell.contract.wire}


def test_compressed_messages_of_other_rates_are_apart_too():
    def zfp(seconds: float, **parameters: str) -> list[dict[str, Any]]:
        return timed("pencil", seconds, "zfp", parameters=dict(parameters))

    view = view_of(timed("pencil", 1.0), zfp(0.8), zfp(0.6, **{"zfp-rate": "16"}))
    found = {one.wire: one.narrowed.cell.contract.wire_share for one in narrowings(view.points)}
    assert found == {"zfp at 24 bits": 24 / 64, "zfp at 16 bits": 16 / 64}
    assert len(comparisons(group_points(view.campaign))) == 3
    assert len(find([view.campaign], Question(SHAPE, 4, wire="zfp")).answers) == 2
    with pytest.raises(RecordError, match="zfp-rate"):
        view_of(zfp(0.6, **{"zfp-rate": "many"}))


def test_a_suggested_suite_asks_for_the_same_messages(view):
    [_, single] = [point for point in view.points if point.method.variant == "pencil"]
    text = sweep_text(single.method, single.cell.contract, 4, [])
    assert 'wire = "single"' in text
    [whole, _] = [point for point in view.points if point.method.variant == "pencil"]
    assert "wire" not in sweep_text(whole.method, whole.cell.contract, 4, [])


def test_times_that_are_not_told_apart_and_flagged_ones_are_no_gain():
    alike = view_of(timed("pencil", 1.0), timed("pencil", 1.0, "single"))
    assert [row.tied for row in wire_rows(alike)] == [False, True]
    assert wire_findings(alike)[0].endswith("; the launches do not tell the two times apart.")
    flagged = view_of(timed("pencil", 1.0), timed("pencil", 0.5, "single", flags=["oversubscribed"]))
    assert "No basis for a claim" in wire_findings(flagged)[0]
    assert wire_rows(view_of(timed("pencil", 1.0, "single"))) == []


def test_the_plot_has_error_against_time_of_both_sides(view, tmp_path):
    [[facet]] = plot.pages(view)
    assert len(facet) == 2
    figure = plot.draw(view, [facet], "heading")
    [axes] = figure.axes
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    drawn = {(round(float(line.get_xdata()[0]), 2), float(line.get_ydata()[0])) for line in marks}
    assert {x for x, _ in drawn} == {1.0, 0.7, 1.2, 0.9}
    assert sorted(y for _, y in drawn) == pytest.approx([1.2e-15] * 2 + [3.6e-7] * 2)
    assert sum(line.get_markerfacecolor() == "white" for line in marks) == 2
    assert plot.pages(view_of(timed("pencil", 1.0))) == []
    figure.savefig(tmp_path / "plot.svg")
