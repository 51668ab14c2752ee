"""Figures as wide as a paper's column: nothing lies over anything else, nothing leaves the page."""

from itertools import pairwise

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.page import figures
from fourscore_analysis.page.figures import plots_of
from fourscore_analysis.plots import phases
from fourscore_analysis.plots.shared import layout, narrow, style
from fourscore_analysis.records.archive import InputError, read_campaigns, select_campaigns
from fourscore_analysis.views.shelf import Shelf
from fourscore_analysis.views.view import View
from matplotlib import rc_context


@pytest.fixture(scope="module")
def views(example):
    views = [View(one, 45) for one in read_campaigns(example, select_campaigns(example, [])) if one.runs]
    for view in views:
        view.shelf = Shelf(views)
    return views


def figures_of(views):
    """The first page of each plot."""
    with layout.pages_of(layout.COLUMN_IN), rc_context(style.RC):
        found = {plot.name: (view, plot, pages) for view in views for plot, pages in plots_of(view)}
        for name, (view, plot, pages) in found.items():
            yield name, narrow.fit(plot.draw(view, pages[0], "heading"))


def is_crowded(labels) -> bool:
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
    return any(left.x1 > right.x0 for left, right in pairwise(boxes))


def test_numbers_at_ticks_and_labels_of_axes_have_room(views):
    names = set()
    for name, figure in figures_of(views):
        assert figure.get_figwidth() == pytest.approx(layout.COLUMN_IN)
        figure.draw_without_rendering()
        for axes in figure.axes:
            labels = [tick.label1 for tick in axes.xaxis.get_major_ticks()]
            shown = [label for label in labels if label.get_visible() and any(map(str.isdigit, label.get_text()))]
            assert not is_crowded(shown), name
            box = axes.xaxis.label.get_window_extent()
            assert box.width == 0 or (box.x0 >= -1 and box.x1 <= figure.bbox.x1 + 1), name
        names.add(name)
    assert {"phases", "strong-scaling", "roofline", "component-bandwidth", "against-reference"} <= names


def test_the_usual_width_is_left_as_it_is(views):
    [view] = [one for one in views if one.campaign.name == "strong-1a2b3c4d"]
    plot, pages = next(found for found in plots_of(view) if found[0].name == "against-reference")
    drawn = []
    narrow_fit = narrow.fit
    for fit in (narrow_fit, lambda figure: figure):
        figure = fit(plot.draw(view, pages[0], "heading"))
        drawn.append(
            [(text.get_text(), text.get_fontsize(), text.get_visible()) for text in figure.findobj(narrow.Text)]
        )
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("text", "inches"), [("column", 3.4), ("3.4in", 3.4), ("86mm", 86 / 25.4), ("8.6cm", 8.6 / 2.54), ("12in", 12)]
)
def test_a_width_has_a_unit(text, inches):
    assert layout.width_of(text) == pytest.approx(inches)


@pytest.mark.parametrize("text", ["", "3.4", "2.9in", "13in", "-3in", "3.4 in", "3.4em", "nanin", "1e1in", "columns"])
def test_what_is_no_width_is_refused_with_what_is(text, capsys):
    with pytest.raises(InputError, match=r"expected column \(3\.4in\), or 3in to 12in"):
        layout.width_of(text)
    with pytest.raises(SystemExit, match="2"):
        main(["report", f"--width={text}"])
    assert "expected column (3.4in)" in capsys.readouterr().err


def test_a_report_has_its_figures_as_wide_as_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "all_plots", lambda: [phases.PLOT])
    page = tmp_path / "r.html"
    assert main(["report", "--archive", "docs/example/archive", "-o", str(page), "--width", "86mm"]) == 0
    svg = (tmp_path / "r-plots/example-46629e60-phases.svg").read_text(encoding="utf-8")
    width = float(svg.split('width="', 1)[1].split("pt", 1)[0])
    assert width == pytest.approx(86 / 25.4 * 72, abs=0.01)
    assert layout.width_in() == layout.WIDTH_IN
