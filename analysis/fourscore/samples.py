"""The samples of launches as columns of one length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fourscore_analysis.points.keys import point_keys
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.transforms import PHASES, Launch

MEASURED = ("repetition", "time_s")  # what differs within a launch, with the phases


def columns_of(campaigns: Sequence[Campaign], phases: bool) -> dict[str, list[Any]]:
    """Each column by its name, as `fourscore export --format csv` calls it: a row for each sample, in the order of
    files and repetitions. A launch without a time has one row, whose times are NaN. With `phases`, columns `fft_s` to
    `other_s` have the seconds of the rank that took longest in that repetition, NaN where a phase does not occur."""
    launches = [(campaign, launch) for campaign in campaigns for launch in campaign.launches]
    names = [*PHASES, *sorted({name for _, launch in launches for name in launch.phase_s} - set(PHASES))]
    columns: dict[str, list[Any]] = {}

    def add(name: str, values: list[Any]) -> None:
        columns.setdefault(name, []).extend(values)

    for campaign, launch in launches:
        count = max(1, len(launch.time_s))
        for name, value in of_launch(campaign, launch).items():
            add(name, [value] * count)
        add("repetition", list(range(len(launch.time_s))) or [None])
        add("time_s", list(launch.time_s) or [math.nan])
        for name in names if phases else ():
            add(f"{name}_s", _phase(launch, name) or [math.nan] * count)
    return columns


def of_launch(campaign: Campaign, launch: Launch) -> dict[str, Any]:
    """What all samples of a launch share: where it stands, the keys of its point, how it ended, who ran it."""
    return {
        "file": launch.file,
        "point_id": launch.point_id,
        "campaign": campaign.name,
        "suite": launch.suite,
        "launch": launch.launch,
        **point_keys(launch.cell, launch.method),
        "elements": launch.cell.elements,
        "credited_flops": launch.cell.credited_flops,
        "status": launch.status,
        "reason": launch.reason,
        "flags": ",".join(launch.flags),
        "verified_by": launch.verified_by if launch.time_s else "",
        "started_at": str(launch.volatile.get("started_at", "")),
        "machine_hash": launch.machine_hash,
        "code_hash": launch.code_hash,
        "identity_hash": launch.identity_hash,
        "revision": str(launch.identity.get("code", {}).get("revision", "")),
        "plan_s": math.nan if launch.plan_s is None else launch.plan_s,
    }


def _phase(launch: Launch, name: str) -> list[float]:
    """By repetition; empty where it does not occur."""
    if launch.sample_phase_s is None or name not in launch.phase_s:
        return []
    return launch.sample_phase_s[list(launch.phase_s).index(name)].tolist()
