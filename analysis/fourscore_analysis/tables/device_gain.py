"""What nodes gain from their devices, as sentences and as a table."""

from __future__ import annotations

from fourscore_analysis.points.claims import doubts
from fourscore_analysis.points.device_gain import DeviceGain, device_gains
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import ratio_text, shape_text, time_text
from fourscore_analysis.tables.row import Texts
from fourscore_analysis.views.view import View


def device_gain_rows(view: View) -> list[Texts]:
    return [_row(view, one) for one in device_gains(view.points)]


def _row(view: View, one: DeviceGain) -> Texts:
    """The fastest use of the devices beside the fastest use of the processors."""
    return Texts(
        shape=shape_text(one.device.cell.shape),
        nodes=one.device.cell.place.nodes,
        device=one.device.label,
        device_where=side_text(one.device),
        device_time=time_text(one.device.time_s),
        processors=one.processors.label,
        processors_where=side_text(one.processors),
        processors_time=time_text(one.processors.time_s),
        ratio=ratio_text(one.ratio),
        tied=not one.told,  # the launches do not tell the two apart
        flags=tuple(dict.fromkeys(one.device.flags + one.processors.flags)),
        contract=view.contract_of(one.device),
    )


def side_text(point: Point) -> str:
    """12 ranks a node; 2 ranks of 6 threads a node"""
    place, threads = point.cell.place, point.cell.contract.threads
    ranks = "1 rank" if place.ranks_per_node == 1 else f"{place.ranks_per_node} ranks"
    return place.with_placement(f"{ranks} of {threads} threads a node" if threads > 1 else f"{ranks} a node")


def device_gain_findings(view: View) -> list[str]:
    """At 2048³ 64 nodes are 1.15 times as fast with their devices as with their processors. One sentence for each
    number of nodes: that of its largest problem."""
    by_nodes = group_by(device_gains(view.points), lambda one: one.device.cell.place.nodes)
    return [_sentence(max(found, key=lambda one: one.device.cell.elements)) for found in by_nodes]


def _sentence(one: DeviceGain) -> str:
    nodes = one.device.cell.place.nodes
    subject, whose = ("one node is", "its") if nodes == 1 else (f"{nodes} nodes are", "their")
    text = (
        f"At {shape_text(one.device.cell.shape)} {subject} {ratio_text(one.ratio)} times as fast with {whose} devices "
        f"as with {whose} processors: {_side(one.device)}, {_side(one.processors)}"
    )
    if found := tuple(dict.fromkeys(doubts(one.device) + doubts(one.processors))):
        return f"{text}. No basis for a claim: {'; '.join(found)}."
    return text + ("." if one.told else "; the launches do not tell the two apart.")


def _side(point: Point) -> str:
    return f"{point.label} takes {time_text(point.time_s)} with {side_text(point)}"
