"""What records of every kind have: how one ended, on which machine, with which build, and how its values are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

STATUSES = ("ok", "wrong", "failed", "timeout", "skipped")
HARNESS_STAGES = (
    "launch_s",
    "init_s",
    "plan_s",
    "verify_s",
    "measure_s",
    "timeline_s",
    "isolate_s",
    "count_s",
    "write_s",
)


class RecordError(ValueError):
    """A file that cannot be used as a record; the message is the reason, without the file's name."""


@dataclass(slots=True, kw_only=True)
class Run:
    """One launch of one program: what its record says whatever was measured. Times in seconds."""

    file: str
    suite: str
    point_id: str
    launch: int
    order: int
    status: str
    reason: str = ""
    exit_status: int | None = None
    signal: int | None = None
    stderr_tail: str = ""
    flags: tuple[str, ...] = ()
    harness: dict[str, float] = field(default_factory=dict)
    summaries: tuple[tuple[str, str], ...] = ()  # (name, "summary [citation]") of the cards
    machine_hash: str = ""
    code_hash: str = ""
    launch_hash: str = ""
    identity_hash: str = ""
    volatile: dict[str, Any] = field(default_factory=dict)
    identity: dict[str, Any] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        """Whether the program ran under a simulator: its times are of no machine."""
        return "simulated" in self.flags


def run_values(data: dict[str, Any], file: str) -> dict[str, Any]:
    """The arguments of a Run. Raises KeyError, TypeError or RecordError."""
    verdict, campaign = data["verdict"], data["campaign"]
    status = verdict["status"]
    if status not in STATUSES:
        raise RecordError(f"status {status!r} is none of {', '.join(STATUSES)}")
    provenance, harness = data.get("provenance", {}), data.get("harness", {})
    return {
        "file": file,
        "suite": text_of(campaign["suite"]),
        "point_id": text_of(data["point_id"]),
        "launch": int(campaign["launch"]),
        "order": int(campaign.get("order", 0)),
        "status": status,
        "reason": text_of(verdict.get("reason", "")),
        "exit_status": verdict.get("exit_status"),
        "signal": verdict.get("signal"),
        "stderr_tail": text_of(verdict.get("stderr_tail", "")),
        "flags": tuple(text_of(flag) for flag in data.get("flags", ())),
        "harness": {stage: float(harness[stage]) for stage in HARNESS_STAGES if stage in harness},
        "summaries": _summaries(data.get("cards", {})),
        "machine_hash": provenance.get("machine_hash", ""),
        "code_hash": provenance.get("code_hash", ""),
        "launch_hash": provenance.get("launch_hash", ""),
        "identity_hash": provenance.get("identity_hash", ""),
        "volatile": dict(provenance.get("volatile", {})),
        "identity": dict(provenance.get("identity", {})),
    }


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {value!r}")
    return value


def median_of(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two. Raises ValueError without values."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        raise ValueError("no samples")
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def _summaries(cards: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    found = []
    for card in cards.values():
        if card.get("summary"):
            citation = f" [{card['citation']}]" if card.get("citation") else ""
            found.append((text_of(card["name"]), f"{card['summary']}{citation}"))
    return tuple(found)
