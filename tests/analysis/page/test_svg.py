"""Figures within a page."""

import io
from pathlib import Path

from fourscore_analysis.page import svg
from fourscore_analysis.plots.base import AS_DRAWN
from fourscore_analysis.plots.shared import colours
from matplotlib.figure import Figure


def drawn() -> bytes:
    figure = Figure(figsize=(2, 2), facecolor="white")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color=colours.INDIGO)
    axes.plot([0, 1], [1, 0], color=colours.VERMILLION)
    axes.text(0.5, 0.5, "on a shade", color=colours.INK, gid=AS_DRAWN)
    axes.tick_params(labelcolor=colours.INK)
    content = io.BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


def test_in_a_page_colours_are_those_of_its_style_sheet_and_letters_on_a_shade_keep_theirs():
    root = svg.titled(drawn())
    assert b"var(--" not in svg.whole_file(root)
    text, _ = svg.inline(root, "f-", "alt")
    for name in ("paper", "ink", "indigo"):
        assert f"var(--{name})" in text
    assert colours.INDIGO.lower() not in text
    assert "#d55e00" in text
    shade = text[text.index(f'class="{AS_DRAWN}"') :]
    assert colours.INK in shade[: shade.index("</g>")]
    assert text.count(colours.INK) == 1
    assert 'id="as-drawn"' not in text


def test_a_small_plot_has_its_colours_as_styles():
    plot = f'<line stroke="{colours.INK}" fill="none"/><circle fill="{colours.VERMILLION}"/>'
    assert svg.themed(plot) == '<line style="stroke: var(--ink)" fill="none"/><circle style="fill: #D55E00"/>'


def test_every_variable_of_a_figure_has_a_colour_in_both_schemes():
    style = (Path(svg.__file__).parent / "templates/report.css").read_text(encoding="utf-8")
    names = {svg.themed_colour(colour) for colour in (*colours.SERIES_COLOURS, *colours.VARIANT_COLOURS.values())}
    names |= {
        svg.themed_colour(colour) for colour in (colours.INK, colours.SOFT, colours.LIGHT_GREY, "#ffffff", "#e6e6e6")
    }
    names = {name[6:-1] for name in names if name.startswith("var(--")}
    assert len(names) == 10
    for name in names:
        assert style.count(f"--{name}: #") == 2, name
