"""The page and the plots: what they hold, and that nothing of a record reaches the page unescaped."""

import json
import re
import statistics
from collections import Counter

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.page.environment import vendored
from fourscore_analysis.plots import all_plots
from fourscore_analysis.plots.shared import colours
from fourscore_analysis.records.archive import campaign_names, read_campaigns
from fourscore_analysis.records.transforms import PHASES
from fourscore_analysis.tables.points import points_json
from fourscore_analysis.views.view import View
from synthetic import Maker, fill, make_point, many_points, peers_points, store


def text_of(page) -> str:
    """Without pictures, and without places where a line may end."""
    text = page.read_text(encoding="utf-8").replace("<wbr>", "")
    return re.sub(r"data:[a-z/+]+;base64,[A-Za-z0-9+/=]*", "data:", text)


def report_of(archive, tmp_path, *options) -> str:
    page = tmp_path / "report.html"
    assert main(["report", "--archive", str(archive), "-o", str(page), *options]) == 0
    return text_of(page)


def test_every_plot_is_also_a_png_an_svg_and_a_pdf(tmp_path, every_kind_of_picture):
    fill(tmp_path, Maker("peers-44444444", "peers"), peers_points(), 1)
    report_of(tmp_path, tmp_path, "--plot-points", "8")
    files = sorted(path.name for path in (tmp_path / "report-plots").iterdir())
    stems = {name.rpartition(".")[0] for name in files}
    magic = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert len(stems) >= 5
    assert files == sorted(stem + suffix for stem in stems for suffix in magic)
    for name in files:
        assert (tmp_path / "report-plots" / name).read_bytes().startswith(magic[name[-4:]])


def test_every_plot_is_drawn_and_shown(report):
    stems = {path.stem for path in report.with_name("report-plots").iterdir()}
    for plot in all_plots():
        assert any(f"-{plot.name}" in stem for stem in stems), plot.name
    assert report.read_text(encoding="utf-8").count('class="plot"') == len(stems)


def test_the_page_asks_for_nothing_outside_itself(report):
    page = text_of(report)
    targets = re.findall(r"""(?:src|href)=["']?([^"'>]*)""", page)
    assert targets
    assert [target for target in targets if not target.startswith(("data:", "#"))] == []
    data = r" type=\"application/json\" id=\"explorer-data\">"
    assert not re.search(rf"url\((?!#)|@import|<script(?!>|{data})|<link(?! rel=\"icon\")", page)
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script.lstrip().startswith('"use strict";')
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import|eval|innerHTML|sendBeacon)\b", script)
    assert len(script) - len(vendored("uPlot.iife.min.js")) < 45_000


def test_record_text_never_reaches_the_page_unescaped(report):
    page = text_of(report)
    assert "<script>alert" not in page
    for place in ("bad&lt;script&gt;", "exit status 134 &lt;script&gt;", "terminate called\n&lt;script&gt;"):
        assert place in page


def test_unreadable_files_are_named_and_the_rest_is_used(report):
    page = text_of(report)
    assert "2 files could not be used" in page
    assert re.search(r"0000000000000000-000\.json: truncated", page)
    assert re.search(r"0000000000000001-000\.json: schema version 4 is newer than 3", page)


def test_what_gave_no_time_is_listed_with_its_reason(report):
    page = text_of(report)
    for reason in ("slab uses at most 8 ranks", "took longer than 120 s", "plane-waves: error 0.3", "signal 9"):
        assert reason in page


def test_a_part_that_failed_is_listed_and_the_time_stays(undrawn, tmp_path):
    records = [Maker().ok(make_point(), launch) for launch in range(3)]
    for record in records[:2]:
        del record["isolated"]
        record["failed_parts"] = {"isolate": {"status": "timeout", "reason": "not finished after the time <limit>"}}
    for record in records:
        store(tmp_path, record)
    page = report_of(tmp_path, tmp_path)
    assert re.search(r"<strong>isolate: timeout</strong>.*?<td class=\"number\">2</td>", page, re.DOTALL)
    assert "not finished after the time &lt;limit&gt;" in page
    assert "<h3>Lowest median" in page
    assert "Nothing was measured." not in page


def test_flags_stand_in_the_tables_and_are_explained(report):
    page = text_of(report)
    for flag in ("oversubscribed", "unbound", "in-cache", "cold", "clock-suspect", "open-breakdown"):
        assert re.search(rf'<a class="flag[^>]*>{flag}</a>', page)
        assert re.search(rf"<dt><span[^>]*>{flag}</span></dt><dd>\w", page)


def test_contracts_have_tables_of_their_own(undrawn, tmp_path):
    fill(tmp_path, Maker("peers-44444444", "peers"), peers_points(), 1)
    page = report_of(tmp_path, tmp_path, "--plot-points", "8")
    headings = re.findall(r"<h3>Lowest median: (.*?)</h3>", page)
    assert len(headings) == 2
    assert {heading.split(",")[0] for heading in headings} == {"natural", "transposed"}
    for table in re.findall(r"<h3>Lowest median.*?</table>", page, re.DOTALL):
        assert table.count("<tr") == 7  # a heading and 3 shapes x 2 rank counts


def test_a_campaign_without_isolated_parts_lacks_that_plot(tmp_path):
    maker = Maker("peers-44444444", "peers", isolate=False)
    store(tmp_path, maker.ok(make_point(), 0))
    page = report_of(tmp_path, tmp_path)
    assert "<h3>Where the time goes</h3>" in page
    for absent in ("Inside against alone", "Strong scaling", "Weak scaling", "Breakdown against"):
        assert absent not in page


def test_a_campaign_of_skipped_points_only_is_a_report(tmp_path):
    store(tmp_path, Maker().ended(make_point(ranks=16), 0, "skipped", "too many ranks"))
    page = report_of(tmp_path, tmp_path)
    assert "Nothing was measured." in page
    assert "too many ranks" in page


def test_a_mix_of_builds_is_shown_with_what_differs(undrawn, tmp_path):
    for launch, revision in enumerate(("aaaaaaa", "bbbbbbb")):
        store(tmp_path, Maker(revision=revision).ok(make_point(), launch))
    page = report_of(tmp_path, tmp_path)
    assert "mixes more than one build" in page
    assert re.search(r"<td>revision</td><td[^>]*>aaaaaaa \(1\); bbbbbbb \(1\)</td>", page)
    assert page.count("<h3>Lowest median") == 2


def test_launches_placed_differently_are_flagged(undrawn, tmp_path):
    maker = Maker()
    records = [maker.ok(make_point(), launch) for launch in range(2)]
    records[1]["provenance"]["identity"]["launch"]["core_maps"] = [{"nodes": "0", "cores": ["4", "5"]}]
    records[1]["provenance"] |= {"launch_hash": "0123456789abcdef", "identity_hash": "fedcba9876543210"}
    for record in records:
        store(tmp_path, record)
    page = report_of(tmp_path, tmp_path)
    assert re.search(r'<a class="flag[^>]*>mixed-launch</a>', page)
    assert "launched differently" in page


def test_every_phase_has_a_colour_of_its_own():
    seen = [colours.phase_colour(phase) for phase in PHASES]
    assert len(set(seen)) == len(PHASES)


def test_json_tells_a_program_what_was_written(undrawn, example, tmp_path, capsys):
    assert main(["report", "--archive", str(example), "weak", "-o", str(tmp_path / "r.html"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["report"] == str(tmp_path / "r.html")
    assert answer["campaigns"][0]["campaign"] == "weak-22222222"
    assert answer["campaigns"][0]["records"] == {"ok": 48}
    assert sum(point["launches"] for point in answer["campaigns"][0]["points"]) == 48


def test_json_has_the_table_of_all_points(example):
    """Every point once, also those without a time, with what the page's tables have of it and its records."""
    for name in campaign_names(example):
        [campaign] = read_campaigns(example, [name])
        launches = {launch.file: launch for launch in campaign.launches}
        points = json.loads(json.dumps(points_json(View(campaign, 0))))
        ids = Counter((one["point_id"], one["setting"]) for one in points)
        assert {point_id for point_id, _ in ids} == {launch.point_id for launch in campaign.launches}
        assert set(ids.values()) <= {1}
        for one in points:
            mine = [launches[file] for file in one["records"]]
            assert {launch.cell.shape for launch in mine} <= {tuple(one["shape"])}
            assert one["launches"] == len(mine)
            if not mine:
                assert one["median_s"] is None
                continue
            assert one["median_s"] == statistics.median(launch.median_s for launch in mine)
            for phase, seconds in one["phases_s"].items():
                values = [launch.phase_s[phase] for launch in mine if phase in launch.phase_s]
                assert seconds == statistics.median(values)
        assert sum(sum(one["statuses"].values()) for one in points) == len(campaign.launches)


def test_pages_of_an_earlier_report_are_removed_and_other_files_kept(tmp_path):
    store(tmp_path, Maker().ok(make_point(), 0))
    folder = tmp_path / "report-plots"
    folder.mkdir()
    for name in ("strong-1a2b3c4d-samples-7.png", "strong-00000001-samples-7.png", "notes.txt"):
        (folder / name).write_text("x")
    report_of(tmp_path, tmp_path)
    names = {path.name for path in folder.iterdir()}
    assert "strong-1a2b3c4d-samples-7.png" not in names
    assert {"strong-1a2b3c4d-samples.svg", "strong-00000001-samples-7.png", "notes.txt"} <= names


def test_points_left_out_of_the_plots_are_said(undrawn, tmp_path):
    fill(tmp_path, Maker("many-55555555", "many"), many_points(42), 1)
    page = report_of(tmp_path, tmp_path, "--plot-points", "14")
    assert "28 of 42 points are in no plot" in page
    assert "All 21 points" in page  # at each precision
    assert "are in no plot" not in report_of(tmp_path, tmp_path, "--plot-points", "0")
    with pytest.raises(SystemExit) as ended:
        main(["report", "--plot-points", "-3"])
    assert ended.value.code == 2


def test_every_record_of_a_large_campaign_is_in_the_report(undrawn, tmp_path):
    maker, points = Maker("many-55555555", "many"), list(many_points(300))
    for number in range(600):
        store(tmp_path, maker.ok(points[number % len(points)], number // len(points)))
    page = report_of(tmp_path, tmp_path)
    assert "600 records" in page
    assert "154 of 300 points are in no plot" in page  # 20 comparisons of 7 methods and the last, of 6, are drawn
