"""How figures look and what their marks say: one look for one method, few curves on one axes, titles that are whole."""

import io
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fourscore_analysis.page import svg
from fourscore_analysis.page.report import LONGEST_WORD, breakable, whole_values
from fourscore_analysis.plots import component_bandwidth, local_fft_curves, strong_scaling
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.component_axes import small_multiples
from fourscore_analysis.plots.shared.lines import MOST_CURVES, draw_series, even_parts, is_power_of_two
from fourscore_analysis.points.components import Curve, CurveGroup, CurvePoint
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.cells import Method
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.tables.points import exchange_rows
from fourscore_analysis.tables.wall_time import wall_time
from fourscore_analysis.views.view import View
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from synthetic import Maker, canonical, make_point, read_back, view_of

ROOT = Path(__file__).resolve().parents[3]


def method(variant: str, exchange: str = "none", parameters: str = "") -> Method:
    return Method(variant, exchange, "fftw", "auto", parameters)


def curve(label: str, xs=(1024.0, 4096.0), program: str = "alltoall_bench") -> Curve:
    points = [CurvePoint(x, 1e-3, 1e-3, 1e-3, x, False) for x in xs]
    return Curve(program, "m", 2, "alltoall", {"exchange": label}, points, label=label)


def test_variants_and_exchanges_of_this_suite_have_looks_of_their_own():
    variants = [
        "serial",
        "fftw-mpi",
        "slab",
        "pencil",
        "volumetric",
        "danielson-lanczos",
        "overdecomposed",
        "node",
        "pencil-overlap",
    ]
    assert len({colours.colour_of(name) for name in variants}) == len(variants)
    exchanges = [
        "active",
        "alltoallv",
        "alltoallw",
        "bruck",
        "hierarchical",
        "ialltoallv",
        "p2p",
        "pairwise",
        "rma",
        "shared",
        "p2p-pipelined",
    ]
    looks = {colours.method_style(method("slab", name)).marker for name in exchanges}
    assert len(looks) == len(exchanges)
    assert len({colours.curve_style(name).colour for name in exchanges}) == len(exchanges)


def test_a_method_looks_the_same_whatever_else_is_in_the_campaign_and_in_every_process():
    unknown = "somebody-elses-variant"
    program = f"from fourscore_analysis.plots.shared import colours; print(colours.colour_of({unknown!r}))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONPATH": str(ROOT / "analysis"), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {colours.colour_of(unknown)}
    assert (
        colours.colour_of("slab") == colours.curve_style("slab").colour == colours.method_style(method("slab")).colour
    )


def test_more_curves_than_have_room_become_small_multiples_and_none_is_lost():
    curves = [curve(f"method-{number:02}") for number in range(42)]
    parts = small_multiples(CurveGroup("world", "", curves))
    assert len(parts) == 6
    assert all(len(part.curves) <= MOST_CURVES and len(part.curves) + len(part.others) == 42 for part in parts)
    assert [one.label for part in parts for one in part.curves] == [one.label for one in curves]
    assert next(part.title for part in parts) == "world (1 of 6)"
    [single] = small_multiples(CurveGroup("world", "", curves[:MOST_CURVES]))
    assert (single.title, single.others) == ("world", [])


@pytest.mark.parametrize("count", [1, 8, 9, 17, 42])
def test_parts_are_even(count):
    parts = even_parts(list(range(count)))
    assert [one for part in parts for one in part] == list(range(count))
    assert max(map(len, parts)) <= MOST_CURVES
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_scaling_of_many_methods_is_drawn_on_several_axes():
    maker = Maker("a-11111111", "a", isolate=False)
    records = [
        maker.ok(make_point(variant, exchange, ranks=ranks), 0)
        for variant in ("slab", "pencil", "volumetric", "node")
        for exchange in ("alltoallv", "p2p", "pairwise")
        for ranks in (2, 4)
    ]
    view = view_of(records)
    [page] = strong_scaling.pages(view)
    assert [len(group.series) for group in page] == [6, 6]
    assert [group.title("64³") for group in page] == ["64³ (1 of 2): node, pencil", "64³ (2 of 2): slab, volumetric"]


def test_only_lengths_that_are_powers_of_two_are_joined_by_a_line():
    assert is_power_of_two(64, 128, 1)
    assert not is_power_of_two(64, 96)
    axes = Figure().add_subplot()
    look = {"color": "#000000", "marker": "o"}
    draw_series(axes, [64, 96, 128], [1, 9, 2], [True, False, True], "-", ["a", "b", "c"], **look)
    line, markers = axes.lines
    assert list(line.get_xdata()) == [64, 128]
    assert line.get_marker() in ("None", "", None)
    assert list(markers.get_xdata()) == [64, 96, 128]
    assert markers.get_linestyle() == "None"


def test_a_title_is_never_cut():
    long = "a campaign of a name that is " + "very " * 30 + "long"
    lines, points = lettering.fitted(long, 4.6, 9)
    assert " ".join(lines) == long
    assert len(lines) > 1
    assert max(lettering.text_width_in(line, points) for line in lines) <= 4.6
    figure, [axes] = layout.stacked_axes(long, [1.0], 0.5)
    layout.facet_title(axes, "128×96×100 · 16 ranks", "transposed, in-place, double, c2c, forward, " * 3)
    written = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert "…" not in written
    assert long in written
    renderer = FigureCanvasAgg(figure).get_renderer()
    for text in figure.texts:
        box = text.get_window_extent(renderer)
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height
    heading, *titles = (text.get_window_extent(renderer) for text in figure.texts)
    assert all(title.y1 < heading.y0 for title in titles)


def test_a_mark_becomes_a_title_and_each_marker_of_a_line_has_its_own():
    figure = Figure()
    axes = figure.add_subplot()
    [bar] = axes.barh([0], [1])
    mark(bar, "slab <script>\n12.3 ms & flags")
    [line] = axes.plot([0.2, 0.8], [0.1, 0.2], marker="o")
    mark(line, "first", "second")
    stream = io.BytesIO()
    figure.savefig(stream, format="svg")
    root = svg.titled(stream.getvalue())
    assert [title.text for title in root.iter(f"{{{svg.SVG}}}title")] == [
        "slab <script>\n12.3 ms & flags",
        "first",
        "second",
    ]
    again = ElementTree.fromstring(svg.whole_file(root))
    assert not any(element.get("id", "").startswith("fourscore") for element in again.iter())
    text, glyphs = svg.inline(root, "f7-", "what it is")
    assert "<script>" not in text
    assert glyphs
    assert not any(f'id="{name}"' in text for name in glyphs)
    assert 'aria-label="what it is"' in text


def test_a_long_word_of_a_table_can_be_broken_and_nothing_of_it_is_lost_or_unescaped():
    text = "<b>overdecomposed/" + "x" * 60 + " 2x2"
    broken = str(breakable(text))
    assert broken.replace("<wbr>", "") == "&lt;b&gt;overdecomposed/" + "x" * 60 + " 2x2"
    assert max(len(part) for part in broken.replace(" ", "<wbr>").split("<wbr>")) <= LONGEST_WORD + 12


def test_no_line_of_a_sentence_ends_between_a_number_and_its_unit():
    said = "on 8 ranks: 12.3 ms (launches 12–13 ms); 8.00 GB/s, 15 % of 1.00 MiB; 3 launches; 2 sound methods"
    kept = whole_values(said)
    assert kept.replace("\u00a0", " ") == said
    assert kept.count("\u00a0") == 7
    assert "2 sound" in kept


def test_wall_time_is_the_sum_of_all_stages_of_all_launches():
    maker, point = Maker(isolate=False), make_point()
    records = [maker.ok(point, launch) for launch in range(2)]
    for record in records:
        record["harness"] = {"launch_s": 1.0, "init_s": 2.0, "plan_s": 6.0, "verify_s": 3.0, "measure_s": 8.0}
    launches = read_back(records)
    wall = wall_time(launches)
    assert (wall.total, wall.launches) == ("40.0 s", 2)
    assert [(part.name, part.time, part.fraction) for part in wall.parts] == [
        ("measuring", "16.0 s", 0.4),
        ("planning", "12.0 s", 0.3),
        ("checking", "6.00 s", 0.15),
        ("launching", "6.00 s", 0.15),
    ]
    assert wall_time([]) is None


def test_the_bandwidth_of_an_exchange_is_its_bytes_over_its_phase_and_unknown_without_a_copy():
    maker = Maker(isolate=False)
    record = maker.with_samples(make_point(), 0, [[3.0] * 3] * 2, {"fft": [[1.0] * 3] * 2, "exchange": [[2.0] * 3] * 2})
    record["cost"] |= {"bytes_sent_per_rank": [4e9, 4e9], "messages_per_rank": [1, 1]}
    [row] = exchange_rows(View(Campaign("c", "c", [parse_record(canonical(record), "a.json")]), 0))
    assert (row.rate, row.time, row.copy, row.over_copy) == ("2.00 GB/s", "2.00 s", "–", "–")


def test_component_plots_say_what_they_are(example):
    """Every curve of the example is on some page, and local transforms have markers off the line."""
    from fourscore_analysis.records.archive import read_campaigns, select_campaigns

    campaigns = read_campaigns(example, select_campaigns(example, ["components"]))
    view = View(campaigns[0], 0)
    pages = [page for plot in (component_bandwidth, local_fft_curves) for page in plot.pages(view)]
    assert pages
    assert all(len(group.curves) <= MOST_CURVES for page in pages for group in page.groups)
