"""What a record measured, as a cell: directions that go there and back, and their operators."""

from __future__ import annotations

import math

import pytest
from fourscore_analysis.models.base import Question
from fourscore_analysis.points.keys import point_keys
from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.records import cells
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import Cell, read_cell, read_method
from fourscore_analysis.tables.points import cell_json
from fourscore_analysis.tables.suggested import sweep_text
from synthetic.transforms import make_point


def cell_of(**changes: str) -> Cell:
    return read_cell(make_point("slab", "p2p", (8, 8, 8), 2, **changes), Place(2))


@pytest.mark.parametrize(
    ("changes", "transforms"),
    [
        ({}, 1),
        ({"direction": "backward"}, 1),
        ({"direction": "roundtrip"}, 2),
        ({"direction": "convolution", "operator": "poisson"}, 2),
        ({"direction": "convolution", "operator": "gradient"}, 2),  # whatever goes back
    ],
)
def test_there_and_back_are_credited_as_two_transforms(changes: dict[str, str], transforms: int) -> None:
    assert cell_of(**changes).credited_flops == pytest.approx(transforms * 5 * 512 * math.log2(512))


def test_cycles_of_other_operators_are_other_cells() -> None:
    poisson, scale = (cell_of(direction="convolution", operator=one) for one in ("poisson", "scale"))
    assert poisson != scale
    assert "convolution poisson" in contract_terms(poisson.contract)
    assert cell_json(poisson)["operator"] == "poisson"
    assert cell_of().contract.operator == ""
    assert "operator" not in cell_json(cell_of())


def test_a_cycle_is_suggested_and_exported_with_its_operator() -> None:
    point = make_point("slab", "p2p", (8, 8, 8), 2, direction="convolution", operator="poisson")
    cell, method = read_cell(point, Place(2)), read_method(point)
    assert 'operator = "poisson"' in sweep_text(method, cell.contract, 2, [Question(cell, method)])
    assert 'operator = "' not in sweep_text(method, cell_of().contract, 2, [Question(cell, method)])
    assert point_keys(cell, method)["operator"] == "poisson"


def test_a_key_that_the_analysis_does_not_know_sets_points_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cells.POINT_KEYS, "colour", {"path": "/colour", "form": "text"})
    monkeypatch.setattr(cells, "_FURTHER", [cells._reader("colour")])
    plain, red = cell_of(), cell_of(colour="red")
    method = read_method(make_point("slab", "p2p", (8, 8, 8), 2))
    assert plain != red
    assert contract_terms(red.contract) == [*contract_terms(plain.contract), "colour red"]
    assert [point_keys(cell, method)["colour"] for cell in (plain, red)] == ["", "red"]
    assert cell_json(red) == cell_json(plain) | {"colour": "red"}
    assert 'colour = "red"' in sweep_text(method, red.contract, 2, [Question(red, method)])
