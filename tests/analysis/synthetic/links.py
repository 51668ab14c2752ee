"""What records of a simulated machine say about its links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synthetic.transforms import Maker, make_point

Kind = tuple[str, float, float]  # name, mean, most


def exchange_load(kinds: Sequence[Kind], seconds: float = 1e-4, link: str = "0,0,0 +0") -> dict[str, Any]:
    """One exchange, as the program writes it; 64 links of each kind."""
    return {
        "seconds": seconds,
        "kinds": [{"kind": name, "links": 64, "mean_busy": mean, "most_busy": most} for name, mean, most in kinds],
        "busiest": [{"link": link, "bytes": 1e5, "busy": max(most for _, _, most in kinds)}],
    }


def simulated(maker: Maker, loads: Sequence[dict[str, Any]], variant: str = "pencil", **point: Any) -> dict[str, Any]:
    """A record of 16 ranks on a simulated torus, or what `point` says."""
    whole = {"ranks": 16, "nodes": 16, "platform": "bluegene-l"} | point
    record = maker.ok(make_point(variant, **whole), 0, flags=["simulated"])
    record["link_loads"] = list(loads)
    return record
