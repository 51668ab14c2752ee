"""One module a plot, here or in plots/ of a paper, or plots.py of a feature's folder. A module is found by being there;
it defines PLOT."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path

from fourscore_analysis.plots.base import Plot, beside
from fourscore_analysis.plots.shared.paper_plot import PaperPlot
from fourscore_analysis.records.papers import modules_of, sources


def all_plots() -> list[Plot]:
    """Every plot in the order in which a report shows them, with what papers say of it. Raises RuntimeError when two
    have the same name."""
    found: dict[str, Plot] = {}
    packages = [sys.modules[__name__], *(one.part("plots") for one in sources().values())]
    modules = [module for package in packages if package for module in modules_of(package, but=("base",))]
    features = (path.parent.name for path in Path(__file__).parents[1].glob("*/plots.py"))
    modules += [importlib.import_module(f"fourscore_analysis.{name}.plots") for name in features]
    papers = beside()
    for module in modules:
        if module.PLOT.name in found:
            raise RuntimeError(f"two plots are called '{module.PLOT.name}'")
        said = [one.captions[module.PLOT.name] for one in papers if module.PLOT.name in one.captions]
        found[module.PLOT.name] = replace(module.PLOT, caption=" ".join([module.PLOT.caption, *said]))
    return sorted(found.values(), key=lambda plot: (plot.order, plot.name))


def plots_of(paper: str) -> tuple[PaperPlot, ...]:
    """The figures of a paper's page, in their order; a paper may have none."""
    figures = sources()[paper].part("figures")
    return figures.PLOTS if figures else ()
