"""The damage of records.py, read by the report and by `best`. It runs in forks of this process, which imports the analysis once."""

from __future__ import annotations

import os
import random
import sys
from contextlib import nullcontext
from pathlib import Path

import records
from harness import Outcome, Place, Step

ANALYSIS = Path(__file__).resolve().parents[2] / "analysis"


def load() -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if str(ANALYSIS) not in sys.path:
        sys.path.insert(0, str(ANALYSIS))
    import fourscore_analysis.page.report  # noqa: F401 (to have it in memory)
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf
    import matplotlib.backends.backend_svg
    import matplotlib.font_manager  # noqa: F401


def nothing_unescaped(page: Path) -> str | None:
    """No text of a record becomes an element of the page."""
    text = page.read_text(encoding="utf-8", errors="replace")
    return "a record's text stands in the page as an element" if "<script>x" in text else None


def question(draw: random.Random, place: Place, archive: Path) -> Step:
    from fourscore_analysis.cli import main

    shape, ranks = draw.choice(["4x4x4", "8x8x8", "6", "999999999x999999999"]), draw.choice(["1", "2", "2147483647"])
    more = draw.choice([[], ["--json"], ["--machine-hash", "0"], ["--kind", "c2r"]])
    arguments = ["best", "--archive", str(archive), "--shape", shape, "--ranks", ranks, *more]
    return Step([place.program("fourscore"), *arguments], frozenset({0, 1, 2}), ("home",), call=lambda: main(arguments))


def steps(draw: random.Random, place: Place) -> list[Step]:
    load()
    import fourscore_analysis.page.report
    from fourscore_analysis.cli import main

    archive = place.copy_archive()
    records.damage(draw, archive)
    if draw.random() < 0.2:
        return [question(draw, place, archive)]
    papers = draw.choice(["czechowski2012", "eleftheriou2005", "gupta1993", "haynes2000", "lee2018"])
    more = draw.choice([[], ["--json"], ["--plot-points", "1"], ["--plot-points=0"], ["--paper", papers]])
    arguments = ["report", "--archive", str(archive), "-o", "page.html", *more]
    page = place.work / "page.html"

    def must(outcome: Outcome) -> str | None:
        if outcome.code != 0:
            return None
        return nothing_unescaped(page) if page.is_file() else "exit code 0 without a page"

    with_plots = draw.random() < 0.25

    def call() -> int:
        if not with_plots:  # they take nearly all of the time
            fourscore_analysis.page.report.drawing = lambda views, folder: nullcontext(lambda: [[] for _ in views])
        return main(arguments)

    # A report of damaged records says so, and fails only where nothing is left: 0 or 2.
    writes = ("work/page.html", "work/page-plots", "home")
    return [Step([place.program("fourscore"), *arguments], frozenset({0, 2}), writes, call=call, must=must)]
