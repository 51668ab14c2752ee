"""Launches of transforms as Hatchet's GraphFrames, and as one Thicket: a tree of the transform and its phases each,
with all that a record says of the point as metadata. Hatchet and Thicket (llnl-hatchet, llnl-thicket) are the user's to
install; `literals` takes neither.

    from fourscore_analysis.adapters.hatchet import thicket
    found = thicket("fourscore-archive", ["strong-1a2b3c4d"])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.archive import InputError, read_campaigns, select_campaigns
from fourscore_analysis.records.transforms import Launch

ROOT = "transform"


def literals(archive: str | Path, campaigns: Sequence[str] = ()) -> Iterator[tuple[list[dict], dict[str, Any]]]:
    """For each launch that is ok: Hatchet's literal of its tree, and its metadata. Times in seconds: "time (inc)" of
    the transform is the launch's median, "time" of a phase that of the slowest rank. Raises InputError for a campaign
    that is not there."""
    folder = Path(archive)
    for campaign in read_campaigns(folder, select_campaigns(folder, campaigns)):
        for launch in campaign.launches:
            if launch.status == "ok" and not launch.simulated:
                yield literal(launch), metadata(launch, campaign.name)


def literal(launch: Launch) -> list[dict]:
    phases = [_node(name, seconds, seconds) for name, seconds in launch.phase_s.items() if seconds > 0]
    own_s = max(0.0, launch.median_s - sum(launch.phase_s.values()))
    return [_node(ROOT, own_s, launch.median_s) | {"children": phases}]


def _node(name: str, time_s: float, inclusive_s: float) -> dict:
    return {
        "frame": {"name": name, "type": "region"},
        "metrics": {"time": time_s, "time (inc)": inclusive_s},
    }


def metadata(launch: Launch, campaign: str) -> dict[str, Any]:
    """What tells launches apart: for group-by and filter."""
    method, cell = launch.method, launch.cell
    return {
        "campaign": campaign,
        "file": launch.file,
        "point_id": launch.point_id,
        "launch": launch.launch,
        "variant": method.variant,
        "exchange": method.exchange,
        "shape": shape_text(cell.shape),
        "contract": ", ".join(contract_terms(cell.contract)),
        "ranks": launch.place.ranks,
        "nodes": launch.place.nodes,
        "flags": ", ".join(launch.flags),
        "machine_hash": launch.machine_hash,
        "code_hash": launch.code_hash,
    }


def graph_frames(archive: str | Path, campaigns: Sequence[str] = ()) -> list:
    """One hatchet.GraphFrame a launch, with its metadata. Raises ImportError without Hatchet."""
    from hatchet import GraphFrame

    frames = []
    for tree, known in literals(archive, campaigns):
        frame = GraphFrame.from_literal(tree)
        frame.metadata = known
        frames.append(frame)
    return frames


def thicket(archive: str | Path, campaigns: Sequence[str] = ()):
    """One thicket.Thicket of all launches. Raises ImportError without Thicket, InputError without a launch."""
    from thicket import Thicket

    frames = graph_frames(archive, campaigns)
    if not frames:
        raise InputError(f"'{archive}' has no launch that is ok")
    members = [Thicket.thicketize_graphframe(frame, frame.metadata["file"]) for frame in frames]
    return Thicket.concat_thickets(thickets=members, axis="index", calltree="union")
