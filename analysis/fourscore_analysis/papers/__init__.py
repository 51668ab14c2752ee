"""The papers' numbers judged: one module a paper. A module is found by being here; it defines PAPER."""

from __future__ import annotations

import importlib
import pkgutil

from fourscore_analysis.papers.base import Paper


def all_papers() -> dict[str, Paper]:
    """Every paper by its name, in the order of names."""
    modules = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    names = sorted(name for name in modules if name not in ("base", "here", "ranges"))
    return {name: importlib.import_module(f"{__name__}.{name}").PAPER for name in names}
