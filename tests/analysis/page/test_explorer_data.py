"""What the explorer of a page is given."""

import json
from pathlib import Path

import pytest
from fourscore_analysis.page import explorer
from fourscore_analysis.page.environment import page_json
from fourscore_analysis.page.explorer import explorer_data, packed
from fourscore_analysis.records.archive import read_campaigns, select_campaigns
from fourscore_analysis.tables.points import points_json
from fourscore_analysis.views.view import View

ROOT = Path(__file__).resolve().parents[3]
ARCHIVE = ROOT / "docs/example/archive"


@pytest.fixture(scope="module")
def view() -> View:
    [campaign] = read_campaigns(ARCHIVE, select_campaigns(ARCHIVE, []))
    return View(campaign, 0)


def value_of(column: list | dict, row: int):
    """As explorer.js does it."""
    if isinstance(column, list):
        once, at = column
        return once[at[row]] if once else at[row]
    parts = {key: value_of(part, row) for key, part in column.items()}
    return {key: value for key, value in parts.items() if value != {} or isinstance(column[key], dict)}


def unpacked(columns: dict, count: int) -> list[dict]:
    return [value_of(columns, row) for row in range(count)]


def test_packing_keeps_every_value_and_says_repeated_ones_once():
    rows = [{"name": f"m{number % 2}", "of": [number], "more": {"x": number / 4}} for number in range(6)]
    rows += [{"name": "m0", "of": [], "more": {}, "reason": None}]
    columns = packed(rows)
    assert columns["name"] == [["m0", "m1"], [0, 1, 0, 1, 0, 1, 0]]
    assert unpacked(columns, len(rows)) == rows


def test_times_keep_six_digits_and_what_is_no_number_is_null():
    [row] = unpacked(packed([{"time_s": 0.0123456789, "bytes": 12582912.0, "ratio": float("nan")}]), 1)
    assert row == {"time_s": 0.0123457, "bytes": 12582912, "ratio": None}


def test_each_point_has_what_json_says_its_launches_and_its_records(view):
    data = explorer_data([view], ARCHIVE, ARCHIVE.parent / "report.html")
    rows, expected = unpacked(data["points"], data["count"]), points_json(view)
    assert [row["json"]["point_id"] for row in rows] == [one["point_id"] for one in expected]
    assert len(rows) == 7
    for row, one in zip(rows, expected, strict=True):
        measured = [launch for launch in row["launches"] if len(launch) > 2]
        files = [f"records/{row['campaign']}/{one['point_id']}-{launch[0]:03}.json" for launch in measured]
        assert files == one["records"]
        for number, _, median_s, samples in measured:
            record = json.loads((ARCHIVE / f"records/{row['campaign']}/{one['point_id']}-{number:03}.json").read_text())
            times = record["samples"]["time_s"]
            assert [sample * median_s / 1e4 for sample in samples] == pytest.approx(times, rel=1e-4)
    assert data["records"] == "archive/records"
    assert "heffte" in {row["variant"] for row in rows if row["status"] == "skipped"}


def test_many_samples_become_order_statistics(view, monkeypatch):
    monkeypatch.setattr(explorer, "MOST_SAMPLES", 20)
    monkeypatch.setattr(explorer, "FEWEST_SAMPLES", 3)
    data = explorer_data([view], ARCHIVE, ARCHIVE.parent / "report.html")
    assert data["samples"] == 3
    full = {launch.file: launch for point in view.points for launch in point.measured}
    for row in unpacked(data["points"], data["count"]):
        for number, _, median_s, samples in (launch for launch in row["launches"] if len(launch) > 2):
            file = f"records/{row['campaign']}/{row['json']['point_id']}-{number:03}.json"
            ordered = sorted(full[file].time_s)
            expected = [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
            assert [one * median_s / 1e4 for one in samples] == pytest.approx(expected, rel=1e-4)


def test_no_text_ends_the_element_of_the_data():
    said = page_json({"x": "</script><!--\u2028&"})
    assert not set("<>&\u2028") & set(said)
    assert json.loads(said) == {"x": "</script><!--\u2028&"}
