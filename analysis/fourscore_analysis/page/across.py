"""The page of machines, versions or MPIs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from fourscore_analysis import __version__
from fourscore_analysis.page import figures, svg
from fourscore_analysis.page.across_figures import AcrossFigure, figures_of
from fourscore_analysis.page.environment import environment
from fourscore_analysis.page.output import prepare_folder, prepare_output
from fourscore_analysis.page.report import breakable, whole_values
from fourscore_analysis.plots.shared import narrow, style
from fourscore_analysis.plots.shared.colours import colour_of
from fourscore_analysis.records.archive import Campaign, Unreadable, campaigns_of, read_campaigns, readable
from fourscore_analysis.records.files import refuse_unless_regular, write_whole
from fourscore_analysis.records.flags import meanings
from fourscore_analysis.tables import across as tables
from fourscore_analysis.tables.across_files import files
from fourscore_analysis.tables.row import Texts
from fourscore_analysis.views.across import Across, Group, across

OPEN_ROWS = 60


@dataclass(frozen=True)
class AcrossPage:
    report: Across
    unreadable: Sequence[Unreadable]
    page: Path
    plots_folder: Path


def build_across(
    archives: Sequence[Path],
    wanted: Sequence[str],
    name: str,
    base: str,
    page: Path,
    plots_folder: Path | None = None,
    tables_folder: Path | None = None,
) -> AcrossPage:
    """Writes `page`, its figures, and tables where a folder is given. Raises InputError for what cannot be used, and
    where there is nothing to set side by side; OSError when the files cannot be written."""
    plots_folder = plots_folder or page.with_name(f"{page.stem}-plots")
    found = {archive: read_campaigns(archive, names) for archive, names in campaigns_of(archives, wanted).items()}
    every = [campaign for campaigns in found.values() for campaign in campaigns]
    readable(every)
    report = across(found, name, base)
    for archive in archives:
        prepare_output(page, plots_folder, archive)
        if tables_folder:
            prepare_folder(tables_folder, archive, "tables")
    style.apply()
    glyphs: dict[str, tuple[str, str]] = {}
    sections = [
        _section(group, bool(base), name, number if len(report.groups) > 1 else 0, plots_folder, glyphs)
        for number, group in enumerate(report.groups, 1)
    ]
    if tables_folder:
        for file, content in files(report).items():
            write_whole(tables_folder / file, content)
    result = AcrossPage(report, list(_unreadable(found)), page, plots_folder)
    content = _render(result, sections, archives, glyphs)
    write_whole(page, content.encode("utf-8", "backslashreplace"))
    return result


def _unreadable(found: Mapping[Path, Sequence[Campaign]]) -> Iterator[Unreadable]:
    """Files are named with their archive where there are several."""
    for archive, campaigns in found.items():
        for file in (file for campaign in campaigns for file in campaign.unreadable):
            yield Unreadable(f"{archive}/{file.file}", file.reason) if len(found) > 1 else file


def _section(
    group: Group, base_asked: bool, name: str, number: int, folder: Path, glyphs: dict[str, tuple[str, str]]
) -> Texts:
    """One group of columns, as its tables and figures."""
    prefix = f"across-{name}" + (f"-{number}" if number else "")
    return Texts(
        group=group,
        base=tables.base_sentence(group, base_asked),
        remarks=tables.differing_sentences(group),
        winners=tables.map_lines(group),
        times=tables.time_lines(group),
        phases=tables.phase_lines(group),
        floors=tables.floor_lines(group),
        figures=[_drawn(figure, prefix, folder, glyphs) for figure in figures_of(group)],
    )


def _drawn(one: AcrossFigure, prefix: str, folder: Path, glyphs: dict[str, tuple[str, str]]) -> Texts:
    stem = f"{prefix}-{one.name}"
    refuse_unless_regular(folder / f"{stem}{kind}" for kind in figures.SAVE_OPTIONS)
    _, root = figures.save(narrow.fit(one.draw()), folder, stem)
    text, of_figure = svg.inline(root, f"{stem}-", one.title)
    glyphs.update(of_figure)
    return Texts(title=one.title, caption=one.caption, svg=Markup(text))


def _render(
    result: AcrossPage, sections: Sequence[Texts], archives: Sequence[Path], glyphs: dict[str, tuple[str, str]]
) -> str:
    made = environment()
    made.filters |= {"breakable": breakable, "whole_values": whole_values}
    lines = [line for section in sections for line in (*section.times, *section.winners)]
    return made.get_template("across.html.j2").render(
        result=result,
        report=result.report,
        sections=sections,
        archives=[str(archive) for archive in archives],
        cards=[(card, tables.card_rows(card)) for card in result.report.cards],
        findings=tables.findings(result.report),
        apart=tables.apart_sentences(result.report),
        flag_meanings=meanings(flag for line in lines for entry in line.entries for flag in entry.flags),
        colour_of=lambda variant: svg.themed_colour(colour_of(variant)),
        glyphs=glyphs,
        open_rows=OPEN_ROWS,
        version=__version__,
    )
