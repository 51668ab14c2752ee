"""The page of the papers: a section for each, with its claims, its summary, its tables and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from fourscore_analysis import __version__
from fourscore_analysis.page import figures, svg
from fourscore_analysis.page.environment import environment
from fourscore_analysis.page.output import prepare_output
from fourscore_analysis.papers import all_papers
from fourscore_analysis.papers.base import KINDS, Paper, counts, judge
from fourscore_analysis.papers.claims import VERDICTS, conclusions_of
from fourscore_analysis.papers.claims import counts as claim_counts
from fourscore_analysis.papers.here import Here, read_here
from fourscore_analysis.plots import plots_of
from fourscore_analysis.plots.shared import narrow, style
from fourscore_analysis.plots.shared.paper_plot import PaperPlot
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.files import refuse_unless_regular, write_whole
from fourscore_analysis.tables import papers as tables
from fourscore_analysis.tables.row import Texts

ALL = "all"


class Section(Texts):
    """One paper."""

    def as_json(self) -> dict[str, Any]:
        numbers = [number.as_json() for one in self.judged for number in one.numbers]
        searches = [
            {
                "title": one.search.title,
                "columns": list(one.search.columns),
                "printed": [float(value) for value in one.search.printed],
                "readings": [{"reading": tried.reading, "values": list(tried.values)} for tried in one.search.tried],
                "found": one.search.found,
                "meaning": one.search.meaning,
            }
            for one in self.searches
        ]
        return {
            "paper": self.paper.name,
            "claims": [one.as_json() for one in self.claims],
            "claim_verdicts": claim_counts(self.claims),
            "verdicts": counts(self.judged),
            "summary": list(self.summary),
            "remarks": list(self.paper.remarks),
            "numbers": numbers,
            "searches": searches,
        }


@dataclass(frozen=True)
class PapersPage:
    sections: Sequence[Section]
    page: Path
    plots_folder: Path
    here: Here


def chosen(names: Sequence[str]) -> list[Paper]:
    """Raises InputError for a name that no paper has, with those that there are."""
    papers = all_papers()
    known = [*papers, ALL] if papers else []
    for name in names:
        if name not in known:
            raise InputError(f"no paper '{name}'; there are: {', '.join(known) or 'none'}")
    return list(papers.values()) if ALL in names else [papers[name] for name in dict.fromkeys(names)]


def build_papers(names: Sequence[str], archive: Path | None, page: Path, plots_folder: Path | None) -> PapersPage:
    """Writes `page` and the figures. Raises InputError for what cannot be used, OSError when the files cannot be
    written. Without an archive the page has the equations alone."""
    papers = chosen(names)
    plots_folder = plots_folder or page.with_name(f"{page.stem}-plots")
    here = read_here(archive)
    prepare_output(page, plots_folder, archive or Path("fourscore-archive"))
    style.apply()
    glyphs: dict[str, tuple[str, str]] = {}
    sections = [_section(paper, here, plots_folder, glyphs) for paper in papers]
    result = PapersPage(sections, page, plots_folder, here)
    write_whole(page, _render(result, glyphs).encode("utf-8", "backslashreplace"))
    return result


def _section(paper: Paper, here: Here, folder: Path, glyphs: dict[str, tuple[str, str]]) -> Section:
    judged, claims = judge(paper, here), conclusions_of(paper.name, here)
    return Section(
        paper=paper,
        citation=judged[0].item.citation,
        claims=claims,
        judged=judged,
        summary=[*tables.claims_summary(claims), *tables.summary(paper, judged, here)],
        searches=[tables.search_table(search) for search in paper.searches()],
        items=[(one, tables.rows_of(one)) for one in judged],
        figures=[_figure(paper, plot, here, folder, glyphs) for plot in plots_of(paper.name)],
    )


def _figure(paper: Paper, plot: PaperPlot, here: Here, folder: Path, glyphs: dict[str, tuple[str, str]]) -> Texts:
    figure = narrow.fit(plot.draw(here, f"{paper.name} · {plot.title}"))
    stem = f"{paper.name}-{plot.name}"
    refuse_unless_regular(folder / f"{stem}{kind}" for kind in figures.SAVE_OPTIONS)
    _, root = figures.save(figure, folder, stem)
    text, of_figure = svg.inline(root, f"{stem}-", plot.title)
    glyphs.update(of_figure)
    return Texts(plot=plot, svg=Markup(text))


def _render(result: PapersPage, glyphs: Mapping[str, tuple[str, str]]) -> str:
    return (
        environment()
        .get_template("papers.html.j2")
        .render(result=result, glyphs=glyphs, kinds=KINDS, verdicts=VERDICTS, version=__version__)
    )
