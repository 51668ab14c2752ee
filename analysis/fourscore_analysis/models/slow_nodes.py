"""Which nodes slow their launches down, from launches that were placed on nodes by chance.

Two measures. `computing`: the time in which the ranks of a node compute (no rank waits for another there), over that of
the other nodes of the same launch; it takes no second launch. `launches`: the time of launches with the node over that
of launches of the same point without it; it sees a slow network link too, and it takes launches on different nodes.

An effect is a ratio. Its interval is by ranks, without an assumed distribution (points/stats.py: the order statistics
of the median, or the shift of Hodges and Lehmann). All intervals of a campaign hold together with CONFIDENCE: each has
1 - (1 - CONFIDENCE) / tests (Dunn, Multiple comparisons among means, J. Am. Stat. Assoc. 56, 1961). A node is slow only
where its whole interval lies above 1 + MARGIN. Launches with a node that was found slow are then left out, so that none
is blamed for its company."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fourscore_analysis.points.points import Point
from fourscore_analysis.points.stats import Estimate, median_estimate, shift_estimate
from fourscore_analysis.records.transforms import Launch

CONFIDENCE = 0.95  # for all intervals of a campaign together
MARGIN = 0.05
COMPUTING, LAUNCHES = "computing", "launches"
SLOW, ALIKE, UNKNOWN = "slow", "as the others", "cannot tell"
# Their times are not those of a node: of no machine, of a part of one, of ranks that took turns.
UNFIT_FLAGS = {"simulated", "emulated", "oversubscribed", "foreign"}


@dataclass(frozen=True)
class Effect:
    """What one measure says of one node, or of several that no launch tells apart."""

    hosts: tuple[str, ...]
    measure: str
    ratio: float
    interval: tuple[float, float] | None  # None: too few launches
    ratios: tuple[float, ...]  # one a launch with the node, to be drawn
    without: int = 0  # launches that those are compared with

    @property
    def launches(self) -> int:
        """With the node."""
        return len(self.ratios)

    @property
    def verdict(self) -> str:
        if self.interval is None or self.interval[0] <= 1 + MARGIN < self.interval[1]:
            return UNKNOWN
        return SLOW if self.interval[0] > 1 + MARGIN else ALIKE


@dataclass(frozen=True)
class NodeEffects:
    """The effects of a campaign's nodes, the slowest first."""

    effects: tuple[Effect, ...] = ()
    hosts: tuple[str, ...] = ()  # all that launches ran on
    confidence: float = CONFIDENCE  # level of each interval

    @property
    def slow(self) -> frozenset[str]:
        """Host names."""
        return frozenset(host for effect in self.effects if effect.verdict == SLOW for host in effect.hosts)

    @property
    def untold(self) -> tuple[str, ...]:
        """Hosts of which no measure says anything clear."""
        clear = {host for effect in self.effects if effect.verdict != UNKNOWN for host in effect.hosts}
        return tuple(host for host in self.hosts if host not in clear)

    @property
    def least_launches(self) -> int:
        """The launches that an interval of `computing` takes."""
        return math.ceil(math.log2(2 / (1 - self.confidence)))

    def as_json(self) -> dict[str, Any]:
        return {
            "slow": sorted(self.slow),
            "cannot_tell": list(self.untold),
            "margin": MARGIN,
            "confidence_together": CONFIDENCE,
            "confidence_each": self.confidence,
            "effects": [
                {
                    "nodes": list(one.hosts),
                    "measure": one.measure,
                    "ratio": one.ratio,
                    "interval": list(one.interval) if one.interval else None,
                    "launches": one.launches,
                    "compared_with": one.without,
                    "verdict": one.verdict,
                }
                for one in self.effects
            ],
        }


@dataclass
class _Unit:
    """What counts as one: a launch, or all launches of a job that ran on the same nodes throughout."""

    hosts: frozenset[str]
    logs: list[float] = field(default_factory=list)  # logarithms of times; a job's are over the middle of each point

    @property
    def value(self) -> float:
        return statistics.median(self.logs)


def node_effects(points: Iterable[Point]) -> NodeEffects:
    """Empty where all launches ran on one node, or no record names its nodes."""
    usable = [(point, _usable(point)) for point in points]
    hosts = sorted({host for _, launches in usable for launch in launches for host in launch.hosts})
    if len(hosts) < 2:
        return NodeEffects()
    computing = _computing_ratios(launch for _, launches in usable for launch in launches)
    groups = _told_apart(_blocks(usable, frozenset()))
    tests = len(computing) + len(groups)
    if not tests:
        return NodeEffects(hosts=tuple(hosts))
    confidence = 1 - (1 - CONFIDENCE) / tests
    effects = [_computing_effect(host, ratios, confidence) for host, ratios in computing.items()]
    blamed = frozenset(effect.hosts[0] for effect in effects if effect.verdict == SLOW)
    effects += _launch_effects(usable, blamed, confidence)
    return NodeEffects(tuple(sorted(effects, key=lambda one: (-one.ratio, one.hosts))), tuple(hosts), confidence)


def _usable(point: Point) -> list[Launch]:
    return [launch for launch in point.measured if launch.hosts and not UNFIT_FLAGS.intersection(launch.flags)]


def _computing_ratios(launches: Iterable[Launch]) -> dict[str, list[float]]:
    """By host, one a launch: the computing time of its ranks over the median of the other nodes'."""
    found: dict[str, list[float]] = defaultdict(list)
    for launch in launches:
        seconds = launch.computing_s
        for node, host in enumerate(launch.hosts if len(seconds) > 1 else ()):
            found[host].append(seconds[node] / statistics.median([*seconds[:node], *seconds[node + 1 :]]))
    return dict(found)


def _computing_effect(host: str, ratios: Sequence[float], confidence: float) -> Effect:
    return _effect((host,), COMPUTING, median_estimate([math.log(ratio) for ratio in ratios], confidence), ratios)


def _effect(
    hosts: tuple[str, ...], measure: str, of_log: Estimate, ratios: Sequence[float], without: int = 0
) -> Effect:
    interval = (math.exp(of_log.interval[0]), math.exp(of_log.interval[1])) if of_log.interval else None
    return Effect(hosts, measure, math.exp(of_log.value), interval, tuple(ratios), without)


def _launch_effects(
    usable: Sequence[tuple[Point, list[Launch]]], blamed: frozenset[str], confidence: float
) -> list[Effect]:
    """The effects of the nodes that are `blamed` for something else already, then slow ones one after the other, the
    clearest first and each without the launches of those before; then the rest."""
    blocks = _blocks(usable, frozenset())
    known = [tuple(host for host in hosts if host in blamed) for hosts in _told_apart(blocks)]
    found = [_launch_effect(hosts, blocks, confidence) for hosts in known if hosts]
    while True:
        blocks = _blocks(usable, blamed)
        effects = [_launch_effect(hosts, blocks, confidence) for hosts in _told_apart(blocks)]
        clear = [effect for effect in effects if effect.verdict == SLOW]
        if not clear:
            return found + effects
        found.append(max(clear, key=lambda effect: effect.interval[0]))
        blamed = blamed.union(found[-1].hosts)


def _blocks(usable: Sequence[tuple[Point, list[Launch]]], left_out: frozenset[str]) -> list[list[_Unit]]:
    """Units that may be compared with one another: launches of one point, by themselves or within one job that placed
    them on different nodes; and jobs that ran on the same nodes throughout, each with one value over its points, for
    its launches share what the machine did then."""
    blocks: list[list[_Unit]] = []
    jobs: dict[tuple[str, frozenset[str]], _Unit] = {}
    for _, launches in usable:
        by_job: dict[str, list[_Unit]] = defaultdict(list)
        for launch in launches:
            if not left_out.intersection(launch.hosts):
                job = str(launch.volatile.get("job_id") or "")
                by_job[job].append(_Unit(frozenset(launch.hosts), [math.log(launch.median_s)]))
        whole = {}
        for job, units in by_job.items():
            if not job or len({unit.hosts for unit in units}) > 1:
                blocks.append(units)
            else:
                whole[job, units[0].hosts] = statistics.median(unit.value for unit in units)
        middle = statistics.median(whole.values()) if whole else 0.0
        for key, value in whole.items():
            if len(whole) > 1:
                jobs.setdefault(key, _Unit(key[1])).logs.append(value - middle)
    blocks.append(list(jobs.values()))
    return [block for block in blocks if len({unit.hosts for unit in block}) > 1]


def _told_apart(blocks: Sequence[Sequence[_Unit]]) -> list[tuple[str, ...]]:
    """Hosts that some block has with and without; those that are always together as one."""
    where: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, block in enumerate(blocks):
        everywhere = frozenset.intersection(*(unit.hosts for unit in block))
        for place, unit in enumerate(block):
            for host in unit.hosts - everywhere:
                where[host].append((number, place))
    together: dict[tuple, list[str]] = defaultdict(list)
    for host, places in where.items():
        together[tuple(places)].append(host)
    return sorted(tuple(sorted(hosts)) for hosts in together.values())


def _launch_effect(hosts: tuple[str, ...], blocks: Sequence[Sequence[_Unit]], confidence: float) -> Effect:
    """`hosts` are in some units of a block and not in others."""
    pairs, ratios, without = [], [], 0
    for block in blocks:
        first = [unit.value for unit in block if hosts[0] in unit.hosts]
        second = [unit.value for unit in block if hosts[0] not in unit.hosts]
        if first and second:
            pairs.append((first, second))
            middle = statistics.median(second)
            ratios += [math.exp(value - middle) for value in first]
            without += len(second)
    return _effect(hosts, LAUNCHES, shift_estimate(pairs, confidence), ratios, without)
