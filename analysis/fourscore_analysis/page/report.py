"""Puts the report together: reads, works out, draws, and writes one page, a folder of plots, and tables where asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from fourscore_analysis import __version__
from fourscore_analysis.isoefficiency import tables as isoefficiency_tables
from fourscore_analysis.isoefficiency.points import EFFICIENCIES, as_json
from fourscore_analysis.models.alpha_beta import alpha_betas
from fourscore_analysis.page.environment import environment, page_json, vendored
from fourscore_analysis.page.explorer import explorer_data
from fourscore_analysis.page.figures import drawing, file_name
from fourscore_analysis.page.output import prepare_folder, prepare_output
from fourscore_analysis.points.claims import LEAST_LAUNCHES
from fourscore_analysis.points.device_gain import device_gains
from fourscore_analysis.points.energy import energy_groups, pareto
from fourscore_analysis.points.fields import field_ways
from fourscore_analysis.points.libraries import substitutions
from fourscore_analysis.points.link_loads import SATURATED
from fourscore_analysis.points.overlap import overlaps
from fourscore_analysis.points.points import group_by, setting_names
from fourscore_analysis.points.provenance import (
    IdentityPart,
    differences,
    flatten,
    identity_parts,
    launch_differences,
    volatile_ranges,
)
from fourscore_analysis.points.units import percent_text
from fourscore_analysis.points.wires import narrowings
from fourscore_analysis.records.archive import Campaign, Unreadable, read_campaigns, readable, select_campaigns
from fourscore_analysis.records.files import write_whole
from fourscore_analysis.records.flags import meanings
from fourscore_analysis.tables import components as component_tables
from fourscore_analysis.tables import floors as floor_tables
from fourscore_analysis.tables import libraries as library_tables
from fourscore_analysis.tables import link_loads as link_tables
from fourscore_analysis.tables import nodes as node_tables
from fourscore_analysis.tables import overlap as overlap_tables
from fourscore_analysis.tables import points as point_tables
from fourscore_analysis.tables import traffic as traffic_tables
from fourscore_analysis.tables import transforms as tables
from fourscore_analysis.tables import wall_time
from fourscore_analysis.tables.device_gain import device_gain_rows
from fourscore_analysis.tables.energy import energy_tables
from fourscore_analysis.tables.exported import TABLES, exported
from fourscore_analysis.tables.fields import field_table
from fourscore_analysis.tables.findings import findings, wins
from fourscore_analysis.tables.row import Texts
from fourscore_analysis.tables.troubles import troubles
from fourscore_analysis.tables.wires import wire_rows
from fourscore_analysis.views.shelf import Shelf
from fourscore_analysis.views.view import View

PLOT_POINTS = 150  # a campaign
MANY_RECORDS, FEW_PLOT_POINTS = 4000, 24  # beyond so many records the whole report draws so many points
OPEN_TABLE_ROWS = 30
OPEN_PAGES = 2  # pages of a plot that are open; the others unfold
LONGEST_WORD = 24  # characters of a table that stay on one line
TABLE_FILES = {"latex": ".tex", "csv": ".csv"}


class Section(Texts):
    """One campaign of the page."""

    @property
    def campaign(self) -> Campaign:
        return self.view.campaign

    @property
    def flags(self) -> list[str]:
        """Flags of any launch or point, to explain them."""
        members = [*self.campaign.runs, *self.view.points]
        return sorted({flag for member in members for flag in member.flags})

    def counted_json(self) -> dict[str, Any]:
        """The constant A, alpha and beta of messages, what nodes do to their launches, what they gain from their
        devices, what other work costs beside transforms, what another local library and smaller messages change, the
        ways of several arrays, isoefficiency, the floors of each point, how busy simulated links are, and what runs
        take of energy, where the campaign has them."""
        found = {
            "constants": [one.as_json() for one in self.view.constants],
            "alpha_beta": [one.as_json() for one in alpha_betas(self.view.bench.measured)],
            "nodes": self.view.node_effects.as_json() if self.view.node_effects.hosts else None,
            "device_gains": [one.as_json() for one in device_gains(self.view.points)],
            "overlap": [one.as_json() for one in overlaps(self.view.points)],
            "libraries": [one.as_json() for one in substitutions(self.view.points)],
            "wires": [one.as_json() for one in narrowings(self.view.points)],
            "fields": [one.as_json() for one in field_ways(self.view.points)],
            "isoefficiency": [as_json(family, self.view.efficiencies) for family in self.view.isoefficiency[0]],
            "floors": [one.as_json() for one in self.view.floors],
            "link_loads": [one.as_json() for one in self.view.link_loads],
            "energies": [
                one.as_json(best)
                for group in energy_groups(self.view.energies)
                for best in [pareto(group)]
                for one in group
            ],
        }
        return {name: values for name, values in found.items() if values}


@dataclass
class Report:
    sections: list[Section]
    identities: list[IdentityPart]
    unreadable: list[Unreadable]  # in all campaigns, also in those that have nothing else
    page: Path
    plots_folder: Path

    @property
    def glyphs(self) -> dict[str, tuple[str, str]]:
        """Outlines that all figures of the page share."""
        pages = [page for section in self.sections for drawn in section.plots for page in drawn.pages]
        return {name: outline for page in pages for name, outline in page.glyphs.items()}


def build_report(
    archive: Path,
    wanted: list[str],
    page: Path,
    plots_folder: Path | None,
    plot_points: int | None,
    efficiencies: tuple[float, ...] = EFFICIENCIES,
    tables_folder: Path | None = None,
) -> Report:
    """Writes `page`, the plots (by default into a folder beside it, called after it), and tables where a folder is
    given. Raises InputError for what cannot be used, OSError when the files cannot be written."""
    plots_folder = plots_folder or page.with_name(f"{page.stem}-plots")
    found = read_campaigns(archive, select_campaigns(archive, wanted))
    unreadable = [file for campaign in found for file in campaign.unreadable]
    campaigns = readable(found)
    prepare_output(page, plots_folder, archive)
    if tables_folder:
        prepare_folder(tables_folder, archive, "tables")
    if plot_points is None:
        plot_points = default_plot_points(campaigns)
    views = [View(campaign, plot_points, efficiencies) for campaign in campaigns]
    shelf = Shelf(views)
    for view in views:
        view.shelf = shelf
    with drawing(views, plots_folder) as drawn:
        sections = [section_of(view) for view in views]
        if tables_folder:
            write_tables(views, tables_folder)
        identities = identity_parts({campaign.name: campaign.runs for campaign in campaigns})
        for section, plots in zip(sections, drawn(), strict=True):
            section.plots = plots
    report = Report(sections, identities, unreadable, page, plots_folder)
    write_whole(page, render(report, archive).encode("utf-8", "backslashreplace"))
    return report


def write_tables(views: list[View], folder: Path) -> None:
    """CAMPAIGN-TABLE.tex and .csv for each table for which a campaign has something."""
    for view in views:
        for name in TABLES:
            for kind, suffix in TABLE_FILES.items():
                if content := exported(view, name, kind):
                    write_whole(folder / f"{file_name(view.campaign.name)}-{name}{suffix}", content)


def default_plot_points(campaigns: list[Campaign]) -> int:
    """Points that the plots of each campaign draw, so that a large archive still becomes a report in seconds."""
    if sum(len(campaign.runs) for campaign in campaigns) <= MANY_RECORDS:
        return PLOT_POINTS
    return max(1, FEW_PLOT_POINTS // len(campaigns))


def section_of(view: View) -> Section:
    launches, runs = view.campaign.launches, view.campaign.runs
    mixed = [("machine", differences(runs, "machine")), ("code", differences(launches, "code"))]
    for of_program in group_by(view.campaign.components, lambda run: run.component):
        mixed.append(("code", differences(of_program, "code")))
    mixed.append(("launch", launch_differences(view.comparisons)))
    return Section(
        view=view,
        findings=findings(view),
        wins=wins(view.comparisons),
        counts=tables.status_counts(runs),
        contract_tables=tables.contract_tables(view),
        device_gain=device_gain_rows(view),
        overlap=overlap_tables.overlap_rows(view),
        libraries=library_tables.library_rows(view),
        wires=wire_rows(view),
        fields=field_table(view),
        troubles=troubles(view),
        memory=point_tables.memory_rows(view),
        components=point_tables.component_rows(view),
        harness=wall_time.harness_rows(runs),
        wall=wall_time.wall_time(runs),
        exchanges=point_tables.exchange_rows(view),
        cards=tables.method_cards(view),
        mixed=[(part, found) for part, found in mixed if found],
        settings=[(name, machine, code) for (machine, code), name in setting_names(launches).items()],
        volatile=volatile_ranges(runs),
        traffic=traffic_tables.traffic_tables(view),
        energy=energy_tables(view),
        uncounted=traffic_tables.uncounted_rows(view),
        constants=traffic_tables.constant_tables(view),
        bench=component_tables.bench_tables(view),
        alpha_beta=component_tables.alpha_beta_rows(view),
        floors=floor_tables.floor_table(view),
        links=link_tables.link_rows(view),
        nodes=node_tables.node_table(view.node_effects),
        isoefficiency=isoefficiency_tables.isoefficiency_tables(view),
        lacking=isoefficiency_tables.lacking(view),
    )


def machine_line(report: Report) -> str:
    """The machine and build in one line, when all campaigns share them."""
    machines = [flatten(dict(entry.fields)) for entry in report.identities if entry.part == "machine"]
    # A component is a program of its own beside the one that measures transforms.
    builds = {launch.code_hash for section in report.sections for launch in section.campaign.launches}
    entries = [entry for entry in report.identities if entry.part == "code"]
    entries = [entry for entry in entries if entry.digest in builds] or entries[:1]
    codes = [flatten(dict(entry.fields)) for entry in entries]
    if not machines or not codes:
        return ""
    if len(machines) > 1 or len(codes) > 1:
        return f"{len(machines)} machine(s), {len(codes)} build(s): see provenance"
    machine, code = machines[0], codes[0]
    parts = [
        machine.get("cpu_model"),
        f"{machine.get('cores', '?')} cores",
        code.get("mpi", "").split(",")[0],
        code.get("fftw"),
        code.get("compiler"),
    ]
    return " · ".join(part for part in parts if part and part != "–")


@cache  # labels stand in many rows
def breakable(text: str) -> Markup:
    """`text`, escaped, with places where a line may end: behind each slash, and within words longer than any label."""
    parts = re.findall(rf"[^\s/]{{1,{LONGEST_WORD}}}/?|\s+|/", text)
    ends = (part.endswith("/") or len(part) == LONGEST_WORD for part in parts)
    return Markup("").join(escape(part) + Markup("<wbr>" if end else "") for part, end in zip(parts, ends, strict=True))


def whole_values(text: str) -> str:
    """`text`, in which no line ends between a number and its unit."""
    return re.sub(
        r"(?<=\d) (?=(?:%|[nµm]?s|[kKMGT]?i?(?:B|FLOP)(?:/s)?|launch(?:es)?|ranks?)(?![\w/]))", "\u00a0", text
    )


def render(report: Report, archive: Path) -> str:
    """The page. All text of records passes Jinja's escaping."""
    made = environment()
    explorer = explorer_data([section.view for section in report.sections], archive, report.page)
    made.filters |= {"breakable": breakable, "whole_values": whole_values}
    started = [
        str(launch.volatile["started_at"])
        for section in report.sections
        for launch in section.campaign.runs
        if launch.volatile.get("started_at")
    ]
    return made.get_template("report.html.j2").render(
        report=report,
        explorer=explorer,
        explorer_json=page_json(explorer),
        vendored=vendored,
        archive=str(archive),
        machine=machine_line(report),
        first=min(started)[:16].replace("T", " ") if started else "",
        last=max(started)[:16].replace("T", " ") if started else "",
        flag_meanings=meanings(flag for section in report.sections for flag in section.flags),
        least_launches=LEAST_LAUNCHES,
        saturated=percent_text(SATURATED),
        open_rows=OPEN_TABLE_ROWS,
        open_pages=OPEN_PAGES,
        version=__version__,
        unreadable=report.unreadable,
    )
