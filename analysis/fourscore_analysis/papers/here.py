"""What an archive has measured, to set beside a paper's numbers: points of transforms, and components alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fourscore_analysis.models.alpha_beta import AlphaBeta, alpha_betas
from fourscore_analysis.models.constant import Constant, constants
from fourscore_analysis.points.counting import counted_points
from fourscore_analysis.points.points import Point, fastest, group_by, group_points
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.archive import Campaign, campaign_names, read_campaigns


@dataclass(frozen=True)
class Here:
    """Everything of an archive; without one, nothing."""

    archive: Path | None = None
    campaigns: Sequence[Campaign] = field(default=())

    @cached_property
    def points(self) -> list[Point]:
        """The points with a time, without emulated launches, which no machine has, and unchecked foreign ones."""
        found = [point for campaign in self.campaigns for point in group_points(campaign)]
        return [point for point in found if point.measured and not {"emulated", "foreign"} & set(point.flags)]

    @cached_property
    def constants(self) -> list[Constant]:
        """The constant A, by everything that counted it."""
        return [one for campaign in self.campaigns for one in constants(counted_points(group_points(campaign)))]

    @cached_property
    def alpha_betas(self) -> list[AlphaBeta]:
        return alpha_betas(run for campaign in self.campaigns for run in campaign.components if run.status == "ok")

    def transforms(self, variant: str, shape: tuple[int, ...] | None = None, **terms: object) -> list[Point]:
        """Complex forward transforms in double precision, one field and instance, of a variant (and shape), on real
        machines, with whole messages and no other work, and with these terms: ranks, nodes, or attributes of the
        contract."""
        usual = {"precision": "double", "kind": "c2c", "direction": "forward", "instances": 1, "fields": 1}
        wanted = usual | {"platform": "none", "wire": "as-is", "other_work": ""} | terms
        return [
            point
            for point in self.points
            if point.method.variant == variant
            and (shape is None or point.cell.shape == shape)
            and all(_term(point, name) == value for name, value in wanted.items())
        ]

    def simulated(
        self,
        platform: str,
        variant: str,
        shape: tuple[int, ...],
        exchange: str = "",
        direction: str = "forward",
        host_order: str = "row-major",
    ) -> list[Point]:
        """Complex transforms on a simulated machine, on each number of ranks, by rising ranks; of one exchange, or of
        the fastest."""
        found = [
            point
            for point in self.points
            if (point.cell.contract.platform, point.method.variant, point.cell.shape) == (platform, variant, shape)
            and (point.cell.contract.kind, point.cell.contract.direction) == ("c2c", direction)
            and (point.cell.contract.wire, point.cell.contract.fields) == ("as-is", 1)
            and point.cell.place.host_order == host_order
            and exchange in ("", point.method.exchange)
        ]
        return comparable(found, lambda point: point.cell.ranks)


def _term(point: Point, name: str) -> object:
    if name == "ranks":
        return point.cell.ranks
    return point.cell.place.nodes if name == "nodes" else getattr(point.cell.contract, name)


def read_here(archive: Path | None) -> Here:
    """Raises InputError where `archive` is none."""
    return Here(archive, read_campaigns(archive, campaign_names(archive))) if archive else Here()


def comparable(
    points: Sequence[Point],
    count: Callable[[Point], int],
    also: Callable[[Point], Hashable] = lambda _: None,
) -> list[Point]:
    """The fastest at each count (of ranks, of elements), by rising count: of one contract, machine and build, and of
    what `also` tells apart. Takes the group with most counts where there are several, natural layout first."""
    groups = group_by(
        points, lambda one: (one.cell.contract, one.measured[0].machine_hash, one.measured[0].code_hash, also(one))
    )
    chosen = max(
        groups,
        key=lambda group: (len({count(one) for one in group}), group[0].cell.contract.layout == "natural"),
        default=[],
    )
    return [fastest([one for one in chosen if count(one) == value]) for value in sorted({count(one) for one in chosen})]


def on_nodes_of(nodes: int, points: Sequence[Point]) -> list[Point]:
    """The points on as many nodes as the paper's; where there are none, all, and what_text() says so."""
    return [point for point in points if point.cell.place.nodes == nodes] or list(points)


def what_text(point: Point, nodes: int = 0) -> str:
    """128³, 2 ranks, pencil/alltoallv, natural, Imaginary 9000; `nodes`: the paper's, said where ours are others."""
    layout = point.cell.contract.layout
    model = point.measured[0].identity.get("machine", {}).get("cpu_model")
    where = point.cell.place.text()
    if nodes not in (0, point.cell.place.nodes):
        where += f" (there on {nodes:,} nodes)" if nodes > 1 else " (there on 1 node)"
    return ", ".join([shape_text(point.cell.shape), where, point.label, layout, *([str(model)] if model else [])])
