"""The figures of the papers' pages: one module a paper, which defines PLOTS. A paper may have none."""

from __future__ import annotations

import importlib
import pkgutil

from fourscore_analysis.plots.shared.paper_plot import PaperPlot


def plots_of(paper: str) -> tuple[PaperPlot, ...]:
    """In the order of the page."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return importlib.import_module(f"{__name__}.{paper}").PLOTS if paper in names else ()
