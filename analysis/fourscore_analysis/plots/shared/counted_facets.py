"""Counted points of one comparison together, as several plots show them."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.plots.base import View
from fourscore_analysis.points.counting import CountedPoint, short_doubt, short_source_text
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.views.view import ROWS_A_FACET

ROW_IN = 0.19


@dataclass
class CountedFacet:
    """Methods of one comparison, counted by one source; least traffic first."""

    title: str
    subtitle: str
    rows: list[CountedPoint]
    times: list[Point | None]  # for the same points, never simulated

    @property
    def height_in(self) -> float:
        return ROW_IN * len(self.rows)


def counted_facets(view: View) -> list[CountedFacet]:
    """The largest problems first, as many points as plots draw; a facet has ROWS_A_FACET rows at most."""
    groups = group_by(view.traffic_points, lambda one: (one.point.cell, one.point.setting, one.source))
    groups.sort(key=lambda group: (-group[0].point.cell.elements, -group[0].point.cell.ranks))
    facets, room = [], view.plot_points or len(view.traffic_points)
    for group in groups:
        if room < len(group) and facets:
            break
        room -= len(group)
        ordered = sorted(group, key=lambda one: (one.total.total, one.point.label))
        for start in range(0, len(ordered), ROWS_A_FACET):
            rows = ordered[start : start + ROWS_A_FACET]
            facets.append(_facet(view, rows))
    return facets


def _facet(view: View, rows: list[CountedPoint]) -> CountedFacet:
    first = rows[0]
    parts = (view.subtitle(first.point), short_source_text(first.source), short_doubt(first.source))
    return CountedFacet(
        title=first.point.title,
        subtitle=", ".join(part for part in parts if part),
        rows=rows,
        times=[view.shelf.timed(one.point) for one in rows],
    )
