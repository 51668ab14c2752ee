"""Draws the plots of all campaigns, on all cores, and writes each as SVG, PNG and PDF."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from matplotlib.figure import Figure

from fourscore_analysis.page import svg
from fourscore_analysis.plots import Plot, all_plots
from fourscore_analysis.plots.shared import layout, narrow, style
from fourscore_analysis.points.units import part_title
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.files import refuse_unless_regular, write_whole
from fourscore_analysis.records.workers import available_cores, pool_of
from fourscore_analysis.views.view import View

SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    ".svg": {"metadata": {"Date": None}},
    ".png": {"dpi": 140},
    ".pdf": {"metadata": {"CreationDate": None}},
}
ENORMOUS_BYTES = 2_000_000  # size of an SVG: the page then has a picture, whose marks say nothing


@dataclass
class DrawnPage:
    """One page of one plot: the files beside the report, and what is put into it: an SVG, or where that would be
    enormous (`svg` is empty) a picture as a data URI."""

    stem: str
    width_px: int
    height_px: int
    svg: str
    data_uri: str
    alt: str
    glyphs: dict[str, tuple[str, str]]  # outlines and transforms that the SVG refers to, by name


@dataclass
class DrawnPlot:
    plot: Plot
    pages: list[DrawnPage]


@dataclass
class _Job:
    view: int
    plot: Plot
    page: Any
    stem: str
    heading: str
    width_in: float


# What each drawing process is given when it begins, for all of its jobs.
_views: list[View] = []
_jobs: list[_Job] = []


def _receive(views: list[View], jobs: list[_Job]) -> None:
    global _views, _jobs
    _views, _jobs = views, jobs
    style.apply()


def plots_of(view: View) -> list[tuple[Plot, list[Any]]]:
    """The plots for which a campaign has data, and what each of their pages shows."""
    found = [(plot, list(plot.pages(view))) for plot in all_plots()]
    return [(plot, pages) for plot, pages in found if pages]


def heading_of(view: View, plot: Plot, page: int, pages: int) -> str:
    """The heading of one page, counted from 1."""
    return part_title(f"{plot.title} · {view.campaign.name}", page, pages)


@contextmanager
def drawing(views: list[View], folder: Path) -> Iterator[Callable[[], list[list[DrawnPlot]]]]:
    """Draws every plot that has data, for each view, as wide as pages are where this is called, and writes the files
    into `folder`, which must exist, while the body of `with` does something else. What it gives waits for all of them.
    Raises InputError where something else than a file stands in a plot's place."""
    jobs: list[_Job] = []
    shape: list[list[tuple[Plot, list[int]]]] = []
    for number, view in enumerate(views):
        shape.append([])
        for plot, pages in plots_of(view):
            start = len(jobs)
            for index, page in enumerate(pages, 1):
                stem = f"{file_name(view.campaign.name)}-{plot.name}" + (f"-{index}" if len(pages) > 1 else "")
                heading = heading_of(view, plot, index, len(pages))
                jobs.append(_Job(number, plot, page, stem, heading, layout.width_in()))
            shape[-1].append((plot, list(range(start, len(jobs)))))
    refuse_unless_regular(folder / f"{job.stem}{kind}" for job in jobs for kind in SAVE_OPTIONS)
    for view in views:
        remove_earlier(folder, view.campaign.name)
    with _begun(views, jobs, folder) as begun:

        def drawn() -> list[list[DrawnPlot]]:
            pages = list(begun)
            return [[DrawnPlot(plot, [pages[number] for number in of_plot]) for plot, of_plot in one] for one in shape]

        yield drawn


def file_name(name: str) -> str:
    """`name` with everything that a file name should not hold replaced."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def remove_earlier(folder: Path, campaign: str) -> None:
    """Removes the pages that an earlier report drew of this campaign: there may have been more of them."""
    plots = "|".join(re.escape(plot.name) for plot in all_plots())
    ours = re.compile(rf"{re.escape(file_name(campaign))}-(?:{plots})(?:-\d+)?\.(?:svg|png|pdf)")
    for path in list(folder.iterdir()):
        if ours.fullmatch(path.name) and path.is_file():
            path.unlink()


@contextmanager
def _begun(views: list[View], jobs: list[_Job], folder: Path) -> Iterator[Iterable[DrawnPage]]:
    arguments = [(index, folder) for index in range(len(jobs))]
    workers = min(available_cores(), len(jobs))
    if workers < 2:
        _receive(views, jobs)
        yield map(_draw_job, arguments)
    else:
        with pool_of(workers, _receive, (views, jobs)) as pool:
            yield pool.map(_draw_job, arguments)


def _draw_job(argument: tuple[int, Path]) -> DrawnPage:
    index, folder = argument
    job = _jobs[index]
    with layout.pages_of(job.width_in):
        figure = narrow.fit(job.plot.draw(_views[job.view], job.page, job.heading))
    drawn, root = save(figure, folder, job.stem)
    width, height = figure.get_size_inches() * 96
    page = DrawnPage(job.stem, round(width), round(height), "", "", job.heading, {})
    if len(drawn[".svg"]) > ENORMOUS_BYTES:
        page.data_uri = f"data:image/png;base64,{base64.b64encode(drawn['.png']).decode('ascii')}"
    else:
        page.svg, page.glyphs = svg.inline(root, f"f{index}-", job.heading)
    return page


def suffix_of(file: Path) -> str:
    """Raises InputError for another name than that of a figure."""
    if file.suffix not in SAVE_OPTIONS:
        raise InputError(f"-o {file}: expected a name that ends with one of {', '.join(SAVE_OPTIONS)}")
    return file.suffix


def write_figure(draw: Callable[[], Figure], file: Path) -> None:
    """Writes a figure of the kind that the name ends with. Raises InputError for a name that is not of a figure."""
    kind = suffix_of(file)
    style.apply()
    drawn = _content(draw(), kind)
    write_whole(file, svg.whole_file(svg.titled(drawn)) if kind == ".svg" else drawn)


def _content(figure: Figure, kind: str) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=kind[1:], **SAVE_OPTIONS[kind])
    return content.getvalue()


def save(figure: Figure, folder: Path, stem: str) -> tuple[dict[str, bytes], Element]:
    """Writes every kind of picture. Returns their contents, and the root of the SVG."""
    drawn = {kind: _content(figure, kind) for kind in SAVE_OPTIONS}
    root = svg.titled(drawn[".svg"])
    drawn[".svg"] = svg.whole_file(root)
    for kind, content in drawn.items():
        write_whole(folder / f"{stem}{kind}", content)
    return drawn, root
