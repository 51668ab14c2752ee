"""One module a plot. A module is found by being here; it defines PLOT."""

from __future__ import annotations

import importlib
import pkgutil

from fourscore_analysis.plots.base import Plot


def all_plots() -> list[Plot]:
    """Every plot in the order in which a report shows them. Raises RuntimeError when two have the same name."""
    found: dict[str, Plot] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name == "base" or module.ispkg:
            continue
        plot = importlib.import_module(f"{__name__}.{module.name}").PLOT
        if plot.name in found:
            raise RuntimeError(f"two plots are called '{plot.name}'")
        found[plot.name] = plot
    return sorted(found.values(), key=lambda plot: plot.order)
