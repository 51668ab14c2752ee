"""What records of every kind have: how one ended, on which machine, with which build, and how its values are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.values import (
    RecordError,
    amount_of,
    count_of,
    each,
    entries,
    integer_of,
    name_of,
    one_of,
    parse_json,
    plain_table_of,
    read,
    table_of,
    text_of,
)

CORE: dict[str, Any] = parse_json(regular_content(Path(__file__).with_name("core.json")))  # tables of core
STATUSES, VERIFIERS, HARNESS_STAGES = CORE["statuses"], CORE["verified_by"], CORE["harness_stages"]
_STATUS, _VERIFIER = one_of(STATUSES), one_of(VERIFIERS)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """How many ranks, on how many nodes, and how they follow each other there. What was measured at another place is
    another point."""

    ranks: int
    nodes: int = 1
    placement: str = "block"  # how ranks are placed: block, cyclic, socket or irregular
    platform: str = "none"  # the simulated machine
    host_order: str = "row-major"  # which of its hosts the nodes are

    @property
    def plain(self) -> bool:
        """One node, rank after rank: what goes without saying."""
        return self.nodes == 1 and self.placement == "block" and self.platform == "none"

    @property
    def ranks_per_node(self) -> int:
        """On the node that has most of them."""
        return -(-self.ranks // self.nodes)

    def text(self, name_nodes: bool = False) -> str:
        """8 ranks; 8 ranks on 2 nodes, cyclic. One node is named with `name_nodes`: where others have more."""
        text = "1 rank" if self.ranks == 1 else f"{self.ranks} ranks"
        if self.nodes > 1 or name_nodes:
            text += " on 1 node" if self.nodes == 1 else f" on {self.nodes} nodes"
        return self.with_placement(text)

    def with_placement(self, text: str) -> str:
        """`text`, and how the ranks follow each other where that is not as usual: 2, cyclic."""
        if self.placement != "block":
            text += f", {self.placement}"
        if self.platform != "none":
            text += f", simulated {self.platform}"
        return text if self.host_order == "row-major" else f"{text}, {self.host_order}"


@dataclass(slots=True, kw_only=True)
class Run:
    """One launch of one program: what its record says whatever was measured. Times in seconds."""

    file: str
    place: Place
    suite: str
    point_id: str
    launch: int
    order: int
    retry_of: int | None = None  # the launch of this point that this one stands in for
    status: str
    reason: str = ""
    exit_status: int | None = None
    signal: int | None = None
    stderr_tail: str = ""
    flags: tuple[str, ...] = ()
    verified_by: str = "harness"  # or program, by its own word, or nobody
    harness: dict[str, float] = field(default_factory=dict)
    summaries: tuple[tuple[str, str], ...] = ()  # (name, "summary [citation]") of the cards
    machine_hash: str = ""
    code_hash: str = ""
    launch_hash: str = ""
    identity_hash: str = ""
    volatile: dict[str, Any] = field(default_factory=dict)
    identity: dict[str, Any] = field(default_factory=dict)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host names by node; () where the record does not name each node, as in version 1, or gives two the same name,
        as where one node pretended to be several."""
        hosts = self.volatile.get("hosts")
        if not isinstance(hosts, list) or len(hosts) != self.place.nodes:
            return ()
        names = tuple(host for host in hosts if isinstance(host, str) and host and host.isprintable())
        return names if len(set(names)) == self.place.nodes else ()

    @property
    def simulated(self) -> bool:
        """Whether the program ran under a simulator: its times are of no machine."""
        return "simulated" in self.flags

    @property
    def foreign(self) -> bool:
        """Whether it is the word of a program or a file alone: nothing is ranked or fitted by it."""
        return self.verified_by != "harness" or "foreign" in self.flags


def run_values(data: dict[str, Any], file: str) -> dict[str, Any]:
    """The arguments of a Run. Raises RecordError."""
    point = read(data, "point", table_of)
    verdict, campaign = read(data, "verdict", table_of), read(data, "campaign", table_of)
    provenance, harness = read(data, "provenance", table_of, {}), read(data, "harness", table_of, {})
    identity = read(provenance, "identity", _identity, {})
    flags = read(data, "flags", each(name_of), ())
    return {
        "file": file,
        "place": _place(point, identity.get("launch", {})),
        "suite": read(campaign, "suite", name_of),
        "point_id": read(data, "point_id", name_of),
        "launch": read(campaign, "launch", integer_of),
        "order": read(campaign, "order", integer_of, 0),
        "retry_of": read(campaign, "retry_of", integer_of, None),
        "status": read(verdict, "status", _STATUS),
        "reason": read(verdict, "reason", text_of, ""),
        "exit_status": read(verdict, "exit_status", integer_of, None),
        "signal": read(verdict, "signal", integer_of, None),
        "stderr_tail": read(verdict, "stderr_tail", text_of, ""),
        "flags": flags,
        # Records from before the key was there say it by the flag.
        "verified_by": read(data, "verified_by", _VERIFIER, "program" if "foreign" in flags else "harness"),
        "harness": {stage: read(harness, stage, amount_of) for stage in HARNESS_STAGES if stage in harness},
        "summaries": _summaries(read(data, "cards", entries(_card), {})),
        "machine_hash": read(provenance, "machine_hash", name_of, ""),
        "code_hash": read(provenance, "code_hash", name_of, ""),
        "launch_hash": read(provenance, "launch_hash", name_of, ""),
        "identity_hash": read(provenance, "identity_hash", name_of, ""),
        "volatile": read(provenance, "volatile", plain_table_of, {}),
        "identity": identity,
    }


def _place(point: dict[str, Any], launch: dict[str, Any]) -> Place:
    """The point's place; records before version 3 have it, as seen, in `launch` of their identity, or not at all."""
    ranks = read(point, "ranks", count_of)
    if "nodes" in point:
        place = Place(
            ranks,
            read(point, "nodes", count_of),
            read(point, "placement_of_ranks", name_of, "block"),
            read(point, "platform", name_of, "none"),
            read(point, "host_order", name_of, "row-major"),
        )
    else:
        seen = launch.get("placement_of_ranks", "block")
        placement = seen if seen in ("block", "cyclic") else "irregular"
        place = Place(ranks, read(launch, "nodes", count_of, 1), placement)
    if place.nodes > ranks:
        raise RecordError(f"nodes is {place.nodes}, expected at most as many as ranks, {ranks}")
    if (said := read(point, "ranks_per_node", count_of, place.ranks_per_node)) != place.ranks_per_node:
        raise RecordError(f"ranks_per_node is {said}, expected {place.ranks_per_node}, as follows from the others")
    return place


def _identity(value: Any) -> dict[str, dict[str, Any]]:
    """Parts by name, each an object."""
    return {part: read(value, part, plain_table_of) for part in table_of(value)}


def check_slowest(time_s: Sequence[float], of_ranks: np.ndarray, synchronised: bool = False) -> None:
    """Raises RecordError unless each time is that of the slowest rank in `of_ranks`, [rank][repetition]. Where
    iterations were synchronised it is the mean of each iteration's slowest: at most the sum over ranks."""
    if of_ranks.shape[1] != len(time_s):
        raise RecordError(f"samples disagree in size: {len(time_s)} times, {of_ranks.shape[1]} of each rank")
    if synchronised:
        low, high = of_ranks.max(axis=0) * (1 - 1e-6), of_ranks.sum(axis=0) * (1 + 1e-6)
        if np.any(np.asarray(time_s) < low) or np.any(np.asarray(time_s) > high):
            raise RecordError("samples disagree: a time is not between the slowest rank's and the sum over ranks")
    elif not _all_close(of_ranks.max(axis=0), np.asarray(time_s)):
        raise RecordError("samples disagree: a time is not that of the slowest rank")


def _all_close(found: np.ndarray, expected: np.ndarray) -> bool:
    """numpy.allclose of finite numbers, without what it does for others: it is asked several times a record."""
    return bool((np.abs(found - expected) <= 1e-12 + 1e-6 * np.abs(expected)).all())


def check_spans(
    time_s: Sequence[float], of_ranks: np.ndarray, start_skew_s: Sequence[float], uncertainty_s: float
) -> None:
    """Raises RecordError unless each time, from the first start to the last end, is no less than the slowest rank's in
    `of_ranks`, [rank][repetition], and no more than that and the skew of the start."""
    if not of_ranks.shape[1] == len(time_s) == len(start_skew_s):
        raise RecordError(
            f"samples disagree in size: {len(time_s)} times, {of_ranks.shape[1]} of each rank, "
            f"{len(start_skew_s)} skews"
        )
    longest, clock = of_ranks.max(axis=0), 2 * uncertainty_s + 1e-9
    if np.any(np.asarray(time_s) < longest - clock) or np.any(np.asarray(time_s) > longest + start_skew_s + clock):
        raise RecordError("samples disagree: a time is not that of the slowest rank and the skew of the start")


def median_of(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two. Raises ValueError without values."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        raise ValueError("no samples")
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def _card(value: Any) -> dict[str, str]:
    card = table_of(value)
    return {key: read(card, key, text_of) for key in ("name", "summary", "citation") if key in card}


def _summaries(cards: dict[str, dict[str, str]]) -> tuple[tuple[str, str], ...]:
    found = []
    for card in cards.values():
        if card.get("summary"):
            citation = f" [{card['citation']}]" if card.get("citation") else ""
            found.append((read(card, "name", text_of), f"{card['summary']}{citation}"))
    return tuple(found)
