"""What the record of a simulated machine says of its network: what a paper's equations need of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fourscore_analysis.points.points import Point
from fourscore_analysis.records.values import RecordError, amount_of, read, table_of, text_of

STAR = "star"
RINGS = ("torus", "mesh")


@dataclass(frozen=True)
class Network:
    """The network of a platform file (docs/simulation.md), as the record has it."""

    topology: str
    dimensions: int  # if a torus or mesh, else 0
    link_bytes_per_s: float
    link_latency_s: float
    injection_bytes_per_s: float  # from a host into its network; 0 where nothing but the links limits it
    overhead_s: float  # own time of sender and receiver together, for each message

    @property
    def alpha_s(self) -> float | None:
        """Latency of a message between any two hosts, through one switch; None where it depends on the hosts."""
        return 2 * self.link_latency_s + self.overhead_s if self.topology == STAR else None


def network_of(point: Point) -> Network | None:
    """None of a real machine, and where the record does not say all of it."""
    machine = point.measured[0].identity.get("machine", {})
    try:
        platform = read(machine, "platform", table_of)
        return _network(read(platform, "network", table_of), read(platform, "messages", table_of, {}))
    except RecordError:
        return None


def _network(network: dict[str, Any], messages: dict[str, Any]) -> Network | None:
    topology = read(network, "topology", text_of)
    extents = network.get("extents")
    dimensions = len(extents) if isinstance(extents, list) else read(network, "dimensions", amount_of, 0)
    link_bytes_per_s = read(network, "link_bandwidth_bytes_per_s", amount_of)
    overheads = [read(messages, f"{side}_overhead_s", amount_of, 0.0) for side in ("send", "receive")]
    found = Network(
        topology=topology,
        dimensions=int(dimensions) if topology in RINGS else 0,
        link_bytes_per_s=link_bytes_per_s,
        link_latency_s=read(network, "link_latency_s", amount_of),
        injection_bytes_per_s=read(network, "injection_bandwidth_bytes_per_s", amount_of, 0.0),
        overhead_s=sum(overheads),
    )
    return found if link_bytes_per_s > 0 else None
