"""What overviews say of a campaign, small enough to be kept: so a page that did not change needs no launches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.site.addresses import machine_address, method_address, method_title, problem_address, problem_of
from fourscore_analysis.site.campaign_data import CampaignData, started_at
from fourscore_analysis.site.contents import build_title, machine_title

MOST_REVISIONS = 50  # a campaign has one program, and seldom more


@dataclass(frozen=True)
class Subject:
    """What a page is about."""

    address: str
    title: str


def subjects_of(launch: Launch) -> list[Subject]:
    """The pages that a measured launch stands on."""
    problem = problem_of(launch.cell)
    found = [
        Subject(problem_address(problem), problem.title),
        Subject(method_address(launch.method), method_title(launch.method)),
    ]
    if launch.machine_hash:
        found.append(Subject(machine_address(launch.machine_hash), machine_title(launch)))
    return found


def about_campaign(data: CampaignData) -> dict[str, Any]:
    measured = [one for one in data.launches if one.status == "ok"]
    subjects = Counter(subject for one in measured for subject in subjects_of(one))
    starts = sorted(start for one in data.launches if (start := started_at(one)))
    return {
        "suite": data.suite,
        "records": len(data.launches) + data.components,
        "statuses": dict(Counter(one.status for one in data.launches)),
        "first": starts[0] if starts else "",
        "newest": starts[-1] if starts else "",
        "revisions": sorted({build_title(one) for one in measured})[:MOST_REVISIONS],
        "unreadable": [[one.file, one.reason] for one in data.unreadable],
        "subjects": {
            one.address: [one.title, count] for one, count in sorted(subjects.items(), key=lambda item: item[0].address)
        },
    }
