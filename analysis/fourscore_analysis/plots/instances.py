"""Several transforms at once, against how many and against ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.sweeps import OVER_FIRST, OtherTime, SweepGroup, draw_sweeps, find_sweeps, in_pages
from fourscore_analysis.plots.shared.ticks import own_ticks
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.basics import Place

PLACEMENT_WORDS = {"all": "on all ranks", "subset": "on its own ranks"}


@dataclass
class Page:
    """Groups against the number of instances, or against ranks."""

    against: str  # "instances" or "ranks"
    groups: list[SweepGroup]


def _alone(point: Point):
    """The cell of one instance: what those with several are set beside."""
    return replace(point.cell, contract=replace(point.cell.contract, instances=1))


def _several(view: View) -> bool:
    return any(point.cell.contract.instances > 1 for point in view.measured)


def pages(view: View) -> list[Page]:
    if not _several(view):
        return []
    found = []
    against_instances = [
        group
        for placement in PLACEMENT_WORDS
        for group in find_sweeps(
            view,
            lambda point, placement=placement: _instances(point, placement),
            _alone,
            lambda point, placement=placement: _method(point, placement),
            lambda point: point.title,
        )
    ]
    against_ranks = find_sweeps(
        view,
        lambda point: float(point.cell.ranks) if point.method.placement == "subset" else None,
        lambda point: (replace(point.cell, place=Place(1)), point.packing),
        lambda point: _method(point, "subset"),
        lambda point: " · ".join(
            part
            for part in (shape_text(point.cell.shape), f"{point.cell.contract.instances} instances", point.packing)
            if part
        ),
    )
    for against, groups in (("instances", _joined(against_instances)), ("ranks", against_ranks)):
        for group in groups:  # the instances are the axis or in the title
            words = group.subtitle.split(", ")
            group.subtitle = ", ".join(word for word in words if not word.endswith(" instances"))
        found += [Page(against, page) for page in in_pages(groups)]
    return found


def _instances(point: Point, placement: str) -> float | None:
    """One instance belongs to both placements."""
    return float(point.cell.contract.instances) if point.method.placement in ("", placement) else None


def _method(point: Point, placement: str) -> str:
    """The same for one instance and for several."""
    return f"{point.label.removesuffix(f' {placement}')}, {PLACEMENT_WORDS[placement]}"


def _joined(groups: list[SweepGroup]) -> list[SweepGroup]:
    """Both placements of one problem in one group."""
    found: dict[object, SweepGroup] = {}
    for group in groups:
        key = (_alone(group.first), group.first.setting)
        if key in found:
            found[key].sweeps += group.sweeps
        else:
            found[key] = group
    return list(found.values())


def draw(view: View, page: Page, heading: str) -> Figure:
    mean = OtherTime("mean until an instance is done", lambda point: point.instance_mean_s)
    return draw_sweeps(view, page.groups, heading, page.against, own_ticks, OVER_FIRST, mean, "time until all are done")


PLOT = Plot(
    name="instances",
    title="Several instances at once",
    caption="Lines: the time until the last instance is done. Crosses: the mean time until one is done. Each instance "
    "runs on all ranks, or on a subset of its own. At the right every curve is over its own first.",
    order=45,
    pages=pages,
    draw=draw,
)
