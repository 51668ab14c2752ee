"""Tables for papers and spreadsheets have the numbers of the points, and nothing that LaTeX or a spreadsheet runs."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.records.archive import read_campaigns, select_campaigns
from fourscore_analysis.tables.exported import KINDS, TABLES, exported, latex_text
from fourscore_analysis.tables.points import points_json
from fourscore_analysis.views.view import View
from synthetic import Maker, make_point, view_of


@pytest.fixture(scope="module")
def views(example):
    return [View(one, 0) for one in read_campaigns(example, select_campaigns(example, [])) if one.launches]


def rows_of(view, name):
    return list(csv.DictReader(io.StringIO(exported(view, name, "csv"))))


def test_csv_has_every_measured_point_with_all_digits(views):
    seen = 0
    for view in views:
        known = {(one["point_id"], one["setting"] or ""): one for one in points_json(view) if one["median_s"]}
        rows = rows_of(view, "times")
        assert len(rows) == len(view.measured)
        medians = sorted(one["median_s"] for one in known.values())
        assert sorted(float(row["time_s"]) for row in rows) == medians
        seen += len(rows)
    assert seen > 100


def test_phases_and_messages_are_those_of_the_points(views):
    [view] = [one for one in views if one.campaign.name == "strong-1a2b3c4d"]
    points = [point for one in view.comparisons for point in one.ranked]
    for row, point in zip(rows_of(view, "phases"), points, strict=True):
        assert {f"{name}_s": seconds for name, seconds in point.phases.items()} == {
            name: float(value) for name, value in row.items() if name in row and name[:-2] in point.phases and value
        }
    for row, point in zip(rows_of(view, "messages"), points, strict=True):
        assert (float(row["messages"]), float(row["bytes_sent"])) == (point.traffic.messages, point.traffic.bytes_sent)


def test_each_line_of_latex_has_as_many_cells_as_columns(views):
    rows = 0
    for view in views:
        for name in TABLES:
            text = exported(view, name, "latex")
            if not text:
                continue
            spec = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1]
            lines = [line for line in text.splitlines() if line.endswith(r"\\")]
            assert all(len(re.findall(r"(?<!\\)&", line)) == len(spec) - 1 for line in lines)
            assert len(lines) == 1 + len(view.measured)
            assert all(line.startswith("%") for line in text.splitlines()[:3])
            rows += len(lines)
    assert rows > 300


def test_bold_is_the_method_that_may_be_called_fastest_and_no_other():
    maker = Maker("a-11111111", "a", isolate=False)
    points = [make_point(variant, shape=[256, 256, 256]) for variant in ("slab", "pencil")]
    records = [
        maker.with_samples(point, launch, [[1.0 + at + launch / 100] * 3] * 2, {})
        for at, point in enumerate(points)
        for launch in range(5)
    ]
    view = view_of(records)
    text = exported(view, "times", "latex")
    assert text.count(r"\textbf{slab") == text.count(r"\textbf") == 1
    assert r"\textbf" not in exported(view, "memory", "latex")
    assert "1.02~s" in text
    few = view_of(records[:1] + records[5:6])
    assert r"\textbf" not in exported(few, "times", "latex")


def test_what_records_say_is_text_for_latex_and_for_a_spreadsheet():
    assert latex_text(r"50 % & a_b \input{x} $x$ ~^# 64³ <1> µs") == (
        r"50 \% \& a\_b \textbackslash{}input\{x\} \$x\$ \textasciitilde{}\textasciicircum{}\# 64$^3$ "
        r"\textless{}1\textgreater{} $\mu$s"
    )
    assert "\n" not in latex_text("a\nb")
    point = make_point("=cmd()") | {"parameters": {"@x": "1"}}
    view = view_of([Maker("a-11111111", "a", isolate=False).ok(point, 0)])
    [row] = rows_of(view, "times")
    assert row["variant"] == "'=cmd()"
    assert row["parameters"] == "'@x=1"


def test_no_table_without_a_measured_point():
    view = view_of([Maker().ended(make_point(), 0, "failed", "it burst")])
    assert not any(exported(view, name, kind) for name in TABLES for kind in KINDS)


def test_a_report_writes_them_where_asked(undrawn, tmp_path, capsys):
    archive = "docs/example/archive"
    page, folder = tmp_path / "r.html", tmp_path / "tables"
    assert main(["report", "--archive", archive, "-o", str(page), "--tables", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"] == str(folder)
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(f"example-46629e60-{name}.{end}" for name in TABLES for end in ("csv", "tex"))
    [campaign] = read_campaigns(Path(archive), ["example-46629e60"])
    assert (folder / "example-46629e60-times.tex").read_text() == exported(View(campaign, 0), "times", "latex")
    assert main(["report", "--archive", archive, "-o", str(page), "--tables", f"{archive}/records/tables"]) == 2
    assert "lies among the records" in capsys.readouterr().err
    assert main(["report", "--paper", "all", "--tables", str(folder)]) == 2
    assert "--paper takes no --tables" in capsys.readouterr().err
