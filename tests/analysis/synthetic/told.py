"""An archive with the times that a test asks for, as the tests of papers' claims read one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from synthetic.common import campaign_of
from synthetic.simulations import network_of
from synthetic.transforms import Maker

Told = tuple[dict[str, Any], float | dict[str, float]]


def told_records(told: Iterable[Told], launches: int = 3, flags: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Each point takes so many seconds, all of it `fft`, or so many seconds of each phase. Alone a phase takes what
    Maker.isolated says. A point on a platform is simulated, and launched once."""
    maker = Maker("told-11111111", "told", repetitions=1)
    found = []
    for point, times in told:
        simulated = "platform" in point
        for launch in range(1 if simulated else launches):
            record = maker.timed(point, launch, times)
            record["flags"] += [*(["simulated"] if simulated else []), *flags]
            if simulated:
                record["provenance"]["identity"]["machine"] = {
                    "platform": {"network": network_of(point)},
                    "platform_name": point["platform"],
                    "simulator": "SimGrid 3.32.0",
                }
            found.append(record)
    return found


def launches_alike(
    point: dict[str, Any], times: float | dict[str, float], count: int = 6, flags: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Launches that take so many seconds, or so many of each phase, and from one to the next a thousandth more: noise
    that is the same for every point."""
    maker = Maker("told-11111111", "told", repetitions=1)
    found = []
    for launch in range(count):
        noise = 1 + 0.001 * launch
        noisy = {name: one * noise for name, one in times.items()} if isinstance(times, dict) else times * noise
        found.append(maker.timed(point, launch, noisy, flags))
    return found


def here_told(told: Iterable[Told], launches: int = 3, flags: Iterable[str] = ()) -> Any:
    """The same as an archive beside a paper's numbers; ranks of the variants for GPUs compute on one."""
    from fourscore_analysis.papers.here import Here

    campaign = campaign_of(told_records(told, launches, flags))
    for launch in campaign.launches:
        if launch.method.variant.endswith("-gpu"):
            launch.device_models = ("Imaginary GPU",)
    return Here(None, [campaign])


def holds_of(test: Any, evidence: str, told: Iterable[Told], flags: Iterable[str] = ()) -> list[bool | None]:
    """What the test of a claim finds by that evidence: in such an archive, whether the conclusion holds."""
    return [one.holds for one in test(here_told(told, flags=flags)) if one.evidence == evidence]
