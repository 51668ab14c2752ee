"""What gave no time, or lacks a part that was to follow it, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fourscore_analysis.records.basics import STATUSES, Run
from fourscore_analysis.views.view import View


@dataclass
class Trouble:
    """Launches of a point that ended alike, for one reason."""

    status: str
    point: str
    contract: str
    reason: str
    ending: str
    stderr_tail: str
    launches: int = 1


def troubles(view: View) -> list[Trouble]:
    """Launches of a point with the same reason together; wrong and failed first, those that only lack a part last."""
    found: dict[tuple, Trouble] = {}
    ended = sorted(_ended(view), key=lambda one: STATUSES.index(one.status))
    for one in [*ended, *_without_a_part(view)]:
        key = (one.status, one.point, one.contract, one.reason, one.ending)
        if key in found:
            found[key].launches += 1
        else:
            found[key] = one
    return list(found.values())


def _launches(view: View) -> Iterator[tuple[str, str, Run]]:
    """Each with its point and contract in words."""
    for point in view.points:
        title = f"{point.label} · {point.title}"
        for launch in point.launches:
            yield title, view.contract_of(point), launch


def _ended(view: View) -> Iterator[Trouble]:
    components = [(run.title, "–", run) for run in view.campaign.components]
    for title, contract, run in [*_launches(view), *components]:
        if run.status != "ok":
            yield Trouble(run.status, title, contract, run.reason or "no reason given", _ending(run), run.stderr_tail)


def _without_a_part(view: View) -> Iterator[Trouble]:
    for title, contract, launch in _launches(view):
        for part in launch.failed_parts:
            status = f"{part.part}: {part.status}"
            yield Trouble(status, title, contract, part.reason, _ending(launch), launch.stderr_tail)


def _ending(launch: Run) -> str:
    if launch.signal:
        return f"signal {launch.signal}"
    return f"exit status {launch.exit_status}" if launch.exit_status else ""
