"""Records of simulated machines: with their platform, and with the times that a test asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from synthetic.common import digest
from synthetic.transforms import Maker, make_point

ETHERNET = {
    "topology": "star",
    "link_bandwidth_bytes_per_s": 12.5e6,
    "link_latency_s": 80e-6,
}
GEMINI = {
    "topology": "torus",
    "dimensions": 3,
    "link_bandwidth_bytes_per_s": 4.68e9,
    "link_latency_s": 1.05e-7,
    "injection_bandwidth_bytes_per_s": 6e9,
}
OVERHEADS = {"send_overhead_s": 5e-7, "receive_overhead_s": 5e-7}


def simulated_records(
    maker: Maker,
    points: Iterable[dict[str, Any]],
    exchange_s: Callable[[dict[str, Any]], float],
    network: Callable[[dict[str, Any]], dict[str, Any]] | dict[str, Any],
    messages: dict[str, float] | None = None,
) -> list[dict[str, Any]]:
    """One launch of each point, which computes as long as it communicates."""
    found = []
    for point in points:
        rows = [[exchange_s(point)]] * point["ranks"]
        totals = [[2 * seconds for seconds in row] for row in rows]
        record = maker.with_samples(point, 0, totals, {"fft": rows, "exchange": rows}, ["simulated"])
        platform: dict[str, Any] = {"network": network(point) if callable(network) else network}
        if messages:
            platform["messages"] = messages
        identity = record["provenance"]["identity"]
        identity["machine"] = {
            "platform": platform,
            "platform_name": point["platform"],
            "simulator": "SimGrid 3.32.0",
        }
        record["provenance"]["machine_hash"] = digest(identity["machine"])
        found.append(record)
    return found


def latency_points(extents: Sequence[int] = (16, 32), nodes: Sequence[int] = (4, 16)) -> list[dict[str, Any]]:
    """Both methods of haynes2000 on its cluster."""
    methods = (("danielson-lanczos", "none"), ("rods", "pairwise"), ("rods", "p2p"))
    return [
        make_point(variant, exchange, (extent,) * 3, count, nodes=count, platform="ethernet-100mbit")
        for variant, exchange in methods
        for extent in extents
        for count in nodes
    ]


def placement_points(extents: Sequence[int] = (64, 128)) -> list[dict[str, Any]]:
    """Pencils on tori of three and four dimensions, as czechowski2012 compares them."""
    found = []
    for extent in extents:
        look = {"shape": (extent,) * 3, "ranks": 64, "nodes": 64}
        for order in ("random", "row-major", "sub-cube"):
            found.append(make_point("pencil", platform="hopper-gemini", host_order=order, **look))
        found.append(make_point("pencil", platform="hopper-torus-4d", **look))
    return found


def node_points(**changes: Any) -> list[dict[str, Any]]:
    """The methods of lee2018 on 300^3 backward, or what `changes` says."""
    look = {"direction": "backward", "platform": "hdr-fat-tree"} | changes
    methods = (("pencil", "alltoallv"), ("overdecomposed", "none"), ("node", "none"))
    return [
        make_point(variant, exchange, (300,) * 3, nodes, nodes=nodes, **look)
        for variant, exchange in methods
        for nodes in (4, 64)
    ]


def network_of(point: dict[str, Any]) -> dict[str, Any]:
    """What the platform of a point is, as far as a test asks."""
    if point["platform"] in ("ethernet-100mbit", "hdr-fat-tree"):
        return ETHERNET
    return GEMINI | {"dimensions": 4 if point["platform"].endswith("4d") else 3}
