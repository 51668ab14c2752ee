"""What an archive has measured, to set beside a paper's numbers: points of transforms, and components alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fourscore_analysis.models.alpha_beta import AlphaBeta, alpha_betas
from fourscore_analysis.models.constant import Constant, constants
from fourscore_analysis.points.counting import counted_points
from fourscore_analysis.points.points import Point, group_points
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.archive import Campaign, campaign_names, read_campaigns


@dataclass(frozen=True)
class Here:
    """Everything of an archive; without one, nothing."""

    archive: Path | None = None
    campaigns: Sequence[Campaign] = field(default=())

    @cached_property
    def points(self) -> list[Point]:
        """Those with a time. The times of emulated launches are of no machine."""
        found = [point for campaign in self.campaigns for point in group_points(campaign)]
        return [point for point in found if point.measured and "emulated" not in point.flags]

    @cached_property
    def constants(self) -> list[Constant]:
        """The constant A of Eq. 2 of czechowski2012, by everything that counted it."""
        return [one for campaign in self.campaigns for one in constants(counted_points(group_points(campaign)))]

    @cached_property
    def alpha_betas(self) -> list[AlphaBeta]:
        return alpha_betas(run for campaign in self.campaigns for run in campaign.components if run.status == "ok")

    def transforms(self, variant: str, shape: tuple[int, ...] | None = None, **terms: object) -> list[Point]:
        """Complex forward transforms in double precision, one instance, of a variant (and shape), and with these terms:
        ranks, nodes, or attributes of the contract."""
        wanted = {"precision": "double", "kind": "c2c", "direction": "forward", "instances": 1} | terms
        return [
            point
            for point in self.points
            if point.method.variant == variant
            and (shape is None or point.cell.shape == shape)
            and all(_term(point, name) == value for name, value in wanted.items())
        ]


def _term(point: Point, name: str) -> object:
    if name == "ranks":
        return point.cell.ranks
    return point.cell.place.nodes if name == "nodes" else getattr(point.cell.contract, name)


def read_here(archive: Path | None) -> Here:
    """Raises InputError where `archive` is none."""
    return Here(archive, read_campaigns(archive, campaign_names(archive))) if archive else Here()


def fastest(points: Sequence[Point]) -> Point | None:
    """Of those with as many launches as any: a single lucky launch is no result."""
    most = max((len(point.measured) for point in points), default=0)
    return min((point for point in points if len(point.measured) == most), key=lambda one: one.time_s, default=None)


def what_text(point: Point) -> str:
    """128³, 2 ranks, pencil/alltoallv, Imaginary 9000"""
    model = point.measured[0].identity.get("machine", {}).get("cpu_model")
    where = point.cell.place.text()
    return ", ".join([shape_text(point.cell.shape), where, point.label, *([str(model)] if model else [])])
