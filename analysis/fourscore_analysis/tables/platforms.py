"""A fitted machine as a platform of the simulation (docs/simulation.md)."""

from __future__ import annotations

from collections.abc import Sequence

from fourscore_analysis.models.fit import Fitted
from fourscore_analysis.views.fits import MethodFit

NEEDED = ("flop_rate", "link_bandwidth", "latency")
MEMORY = ("memory_bandwidth", "core_bandwidth")  # the latter where all data were in the cores' caches


def platform_text(found: Sequence[MethodFit]) -> str:
    """TOML: ranks at one switch, by the first fit that knows all that a platform says; "" where none does. A message
    takes two links, so that each has half of the latency."""
    for one in found:
        for tried in one.tried:
            told = {name for name in tried.fitted.values if tried.fitted.origin.get(name) != "undetermined"}
            memory = next((name for name in MEMORY if name in told), "")
            if memory and set(NEEDED) <= told:
                return _text(one.series.method.variant, tried.fitted, memory)
    return ""


def _text(variant: str, fitted: Fitted, memory: str) -> str:
    of = {name: fitted.values[name] for name in (*NEEDED, memory)}
    origins = ", ".join(f"{name} {fitted.origin.get(name, 'fitted')}" for name in of)
    return f"""summary = "fitted to measurements"
source = "fourscore fit: {fitted.model.name} of {variant}, {fitted.launches} launches; {origins}"

[network]
topology = "star"
link_bandwidth_bytes_per_s = {of["link_bandwidth"]:.6g}
link_latency_s = {of["latency"] / 2:.6g}
sharing = "each direction"

[host]
speed_flops_per_s = {of["flop_rate"]:.6g}
memory_bandwidth_bytes_per_s = {of[memory]:.6g}
"""
