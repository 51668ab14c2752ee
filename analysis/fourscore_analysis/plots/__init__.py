"""One module a plot, here or in the folder plots/ of a paper. A module is found by being there; it defines PLOT."""

from __future__ import annotations

import sys
from dataclasses import replace

from fourscore_analysis.plots.base import Plot, beside
from fourscore_analysis.plots.shared.paper_plot import PaperPlot
from fourscore_analysis.records.papers import modules_of, sources


def all_plots() -> list[Plot]:
    """Every plot in the order in which a report shows them, with what papers say of it. Raises RuntimeError when two
    have the same name."""
    found: dict[str, Plot] = {}
    packages = [sys.modules[__name__], *(one.part("plots") for one in sources().values())]
    for module in (module for package in packages if package for module in modules_of(package, but=("base",))):
        if module.PLOT.name in found:
            raise RuntimeError(f"two plots are called '{module.PLOT.name}'")
        said = [one.captions[module.PLOT.name] for one in beside() if module.PLOT.name in one.captions]
        found[module.PLOT.name] = replace(module.PLOT, caption=" ".join([module.PLOT.caption, *said]))
    return sorted(found.values(), key=lambda plot: (plot.order, plot.name))


def plots_of(paper: str) -> tuple[PaperPlot, ...]:
    """The figures of a paper's page, in their order; a paper may have none."""
    figures = sources()[paper].part("figures")
    return figures.PLOTS if figures else ()
