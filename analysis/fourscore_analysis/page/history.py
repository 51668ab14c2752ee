"""The page of a history: what must be looked at, every series as a small plot, and its launches a click away."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from fourscore_analysis import __version__
from fourscore_analysis.gate.archive_history import History
from fourscore_analysis.gate.history import SMALL, Finding
from fourscore_analysis.page import svg
from fourscore_analysis.page.environment import environment, page_json
from fourscore_analysis.page.history_figure import history_figure
from fourscore_analysis.page.small_plot import Panel, colour_of, panels_of, small_plot
from fourscore_analysis.plots.shared import style
from fourscore_analysis.points.units import counted, time_text
from fourscore_analysis.records.files import write_whole
from fourscore_analysis.tables import history as texts
from fourscore_analysis.tables.row import Texts

MOST_FIGURES = 16  # large ones: of the points with most to look at
MOST_ROWS = 200  # findings in the table


def write_history_page(history: History, page: Path) -> None:
    """Raises OSError where the page cannot be written."""
    write_whole(page, _render(history, page).encode("utf-8", "backslashreplace"))


def _render(history: History, page: Path) -> str:
    style.apply()
    panels = panels_of(history.judged)
    glyphs: dict[str, tuple[str, str]] = {}
    shown = [_shown(number, panel, glyphs) for number, panel in enumerate(panels)]
    findings = [one for one in history.findings if one.kind != SMALL]
    anchors = {one.series.panel: f"s{number}" for number, panel in enumerate(panels) for one in panel.judged}
    return (
        environment()
        .get_template("history.html.j2")
        .render(
            history=history,
            summary=texts.summary_text(history),
            counts=texts.counts_text(history),
            slowdowns=counted(len(history.slowdowns), "slowdown"),
            rows=[_row(one, anchors[one.series.panel]) for one in findings[:MOST_ROWS]],
            left_out=max(0, len(findings) - MOST_ROWS),
            shown=shown,
            glyphs=glyphs,
            data=page_json(_data(history, panels, page)),
            version=__version__,
        )
    )


def _shown(number: int, panel: Panel, glyphs: dict[str, tuple[str, str]]) -> Texts:
    """A point on the page; without findings, or far below, it has no large figure."""
    findings = [one for one in panel.findings if one.kind != SMALL]
    large = ""
    if findings and number < MOST_FIGURES:
        content = io.BytesIO()
        history_figure(panel).savefig(content, format="svg", metadata={"Date": None})
        large, of_figure = svg.inline(svg.titled(content.getvalue()), f"h{number}-", panel.title)
        glyphs.update(of_figure)
    said = f"{texts.change_text(findings[0].ratio)} {texts.range_of_revisions(findings[0])}" if findings else ""
    colour = colour_of(findings[0]) if findings else ""
    small = Markup(small_plot(panel))
    return Texts(panel=panel, small=small, large=Markup(large), finding=said, colour=colour)


def _row(finding: Finding, anchor: str) -> Texts:
    """A finding in the table."""
    what = "slower" if finding.ratio > 1 else "faster"
    p = texts.p_text(finding.p)
    if finding.launches_p is not None:
        p += f", {texts.p_text(finding.launches_p)}"
    return Texts(
        anchor=anchor,
        title=f"{finding.series.title} ({finding.series.place})" if finding.series.place else finding.series.title,
        what=f"{what}, slowly" if finding.drift else what,
        colour=colour_of(finding),
        revisions=texts.range_of_revisions(finding),
        size=f"{texts.change_text(finding.ratio)}{texts.interval_text(finding)}",
        before=time_text(float(finding.series.values_s[finding.begin])),
        p=p,
        since=finding.builds_since,
        remarks="; ".join(texts.remarks(finding)),
    )


def _data(history: History, panels: Sequence[Panel], page: Path) -> dict[str, Any]:
    """Every launch, as short as it goes: what a click shows. A launch is [campaign, launch, median, low, high], and its
    file where that has another name than usual."""
    builds = {build: number for number, build in enumerate(history.builds)}
    campaigns: dict[str, int] = {}

    def launch(one: Any, point_id: str) -> list[Any]:
        _, campaign, name = one.file.split("/", 2)
        number = name.removeprefix(f"{point_id}-").removesuffix(".json")
        usual = number.isdecimal() and name == f"{point_id}-{number}.json"
        times = [float(f"{value:.5g}") for value in (one.times.median_s, one.times.low_s, one.times.high_s)]
        at = campaigns.setdefault(campaign, len(campaigns))
        return [at, number, *times] if usual else [at, "", *times, name]

    shown = [
        {
            "point": panel.judged[0].series.point_id,
            "series": [
                {
                    "place": history.places[one.series.machine_hash, one.series.launch_hash].name,
                    "noise": round(one.noise, 5),
                    "bimodal": one.bimodal,
                    "builds": [builds[build] for build in one.series.builds],
                    "launches": [[launch(each, one.series.point_id) for each in of] for of in one.series.launches],
                }
                for one in panel.judged
            ],
        }
        for panel in panels
    ]
    return {
        "records": os.path.relpath(history.archive / "records", page.parent),
        "builds": [[build.name, build.first_at[:16].replace("T", " ")] for build in history.builds],
        "campaigns": list(campaigns),
        "panels": shown,
    }
