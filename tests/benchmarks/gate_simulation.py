"""How often the gate errs: campaigns of 300 series, simulated with five kinds of noise and judged by the rules of
analysis/fourscore_analysis/gate/rules.py themselves. docs/gate.md has the table.

Usage: gate_simulation.py [--campaigns 1000] [--injected 200] [--slower 0.05] [--sigma 0.03] [--archive DIR]
                          [--processes N]

A launch has a logarithm of its time: the noise of the kind, and 5 % more on the candidate's side of a slowed series.
The screen measures every series in 8 pairs, the second stage the chosen ones, and looks at them before its end. The
order is that of `fourscore run --against`: for each pair number each series once, in random order, base first or
candidate first by chance. Noise of the launch differs between series: its standard deviation is 3 % in the middle,
lognormal with a spread of 0.4.

- heavy tails: every tenth launch is disturbed, and takes 20 % longer on average (exponential)
- drift: the machine gets 15 % slower over the campaign, swings by 5 % ten times, and jumps by 10 % once
- bimodal: launches of every fifth series fall into two groups, 12 % apart
- correlated: what the machine does meanwhile is an autoregressive process of launches, 0.98 from one to the next, 5 %
- recorded (--archive): launches of real points follow each other as they did, from a random place on

Prints the share of campaigns that are red though nothing changed, and the share of slowed series that are found.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "analysis"))

from fourscore_analysis.gate.modes import bimodal
from fourscore_analysis.gate.rules import (
    RULES,
    is_decided,
    is_slower,
    least_looks,
    looks_slower,
    of_look,
    pairs_needed,
    settled_noise,
    shares_of,
)
from fourscore_analysis.points.shifts import holm, paired_p_above, paired_shift
from fourscore_analysis.records.archive import campaign_names, read_campaigns

SERIES, SCREEN, SLOWED = 300, 8, 15
SLOWER = 0.05
SIGMA, SPREAD = 0.03, 0.4
KINDS = ("heavy tails", "drift", "bimodal", "correlated")
RECORDED = "recorded"


@dataclass
class Noise:
    """The noise of one campaign. `draw` is asked for pairs in the order in which they are measured."""

    kind: str
    rng: np.random.Generator
    recorded: list[np.ndarray]
    middle: float = SIGMA
    series: int = SERIES

    def __post_init__(self) -> None:
        self.sigma = self.middle * np.exp(self.rng.normal(0, SPREAD, self.series))
        self.two_groups = (np.arange(self.series) % 5 == 0) & (self.kind == "bimodal")
        self.swing, self.jump = self.rng.uniform(0, 2 * np.pi), self.rng.uniform(0, 1)
        self.state = float(self.rng.normal(0, 0.05))
        self.source = self.rng.integers(len(self.recorded), size=self.series) if self.recorded else None

    def draw(self, order: np.ndarray, first: float, last: float) -> np.ndarray:
        """Logarithms of times, [pair][side], of the pairs of series `order`, measured one after the other between the
        parts `first` and `last` of the campaign."""
        count, rng = len(order), self.rng
        if self.kind == RECORDED:
            pairs = np.array([self._recorded(int(self.source[series])) for series in order])
        else:
            pairs = rng.normal(0, 1, (count, 2)) * self.sigma[order, None] + self._machine(count, first, last)
        if self.kind == "heavy tails":
            pairs += (rng.random((count, 2)) < 0.1) * rng.exponential(0.2, (count, 2))
        pairs += self.two_groups[order, None] * 0.12 * (rng.random((count, 2)) < 0.5)
        swapped = rng.random(count) < 0.5  # the candidate first
        return np.where(swapped[:, None], pairs[:, ::-1], pairs)

    def _recorded(self, source: int) -> np.ndarray:
        """Two launches that followed each other."""
        values = self.recorded[source]
        at = int(self.rng.integers(len(values) - 1))
        return values[at : at + 2]

    def _machine(self, count: int, first: float, last: float) -> np.ndarray:
        """What the machine did in the launches of these pairs, one after the other, [pair][side]."""
        when = np.linspace(first, last, 2 * count, endpoint=False)
        if self.kind == "drift":
            state = 0.15 * when + 0.05 * np.sin(20 * np.pi * when + self.swing) + 0.1 * (when > self.jump)
        elif self.kind == "correlated":
            steps = self.rng.normal(0, 0.05 * np.sqrt(1 - 0.98**2), 2 * count)
            state, _ = lfilter([1.0], [1.0, -0.98], steps, zi=[0.98 * self.state])
            self.state = float(state[-1])
        else:
            state = np.zeros(2 * count)
        return state.reshape(count, 2)


@dataclass
class Outcome:
    red: np.ndarray  # [series]
    two_groups: np.ndarray  # [series], that would be red
    pairs: int  # in the second stage
    pairs_of: np.ndarray  # [series], there


def campaign(noise: Noise, slowed: np.ndarray, slower: float = SLOWER) -> Outcome:
    """A screen and a second stage of all series; `slowed` says which candidates are slower, by `slower`."""
    effect = np.log1p(slower) * slowed
    screen = np.empty((noise.series, SCREEN))
    for number in range(SCREEN):
        order = noise.rng.permutation(noise.series)
        pairs = noise.draw(order, 0.5 * number / SCREEN, 0.5 * (number + 1) / SCREEN)
        screen[order, number] = pairs[:, 1] - pairs[:, 0] + effect[order]
    shift = paired_shift(screen)
    chosen = np.flatnonzero(looks_slower(shift))
    settled = settled_noise(shift.standard_error * np.sqrt(SCREEN), np.full(noise.series, SCREEN))
    at_last = of_look(RULES, 1 - RULES.interim_error)
    counts = pairs_needed(settled[chosen] * RULES.safety, max(1, len(chosen)), at_last)
    red, groups = np.zeros(noise.series, dtype=bool), np.zeros(noise.series, dtype=bool)
    if not len(chosen):
        return Outcome(red, groups, 0, np.zeros(noise.series, dtype=int))
    logs = np.full((noise.series, counts.max(), 2), np.nan)
    looks = least_looks(len(chosen))
    reached = counts.copy()
    for number in range(counts.max()):
        if number in looks:
            stop(logs, chosen, counts, reached, looks, number)
        order = noise.rng.permutation(chosen[reached > number])
        at = 0.5 + 0.5 * np.array([number, number + 1]) / counts.max()
        logs[order, number] = noise.draw(order, *at) + np.stack([np.zeros(len(order)), effect[order]], axis=1)
    judge(logs, chosen, counts, reached, looks, red, groups)
    pairs_of = np.zeros(noise.series, dtype=int)
    pairs_of[chosen] = reached
    return Outcome(red, groups, int(reached.sum()), pairs_of)


def stop(
    logs: np.ndarray, chosen: np.ndarray, counts: np.ndarray, reached: np.ndarray, looks: tuple[int, ...], look: int
) -> None:
    """Lowers `reached` to this look where it decides a series."""
    for member in np.flatnonzero(reached > look):
        share = shares_of(looks, int(counts[member])).get(look)
        if share is None:
            continue
        base, candidate = logs[chosen[member], :look].T
        shift = paired_shift(candidate - base)
        if is_decided(shift, share, len(chosen)) and not bimodal(base, candidate, shift.estimate, True):
            reached[member] = look


def judge(
    logs: np.ndarray,
    chosen: np.ndarray,
    counts: np.ndarray,
    reached: np.ndarray,
    looks: tuple[int, ...],
    red: np.ndarray,
    groups: np.ndarray,
) -> None:
    """Fills in which series are red from the launches of the second stage, and which would be so but for their two
    groups. Intervals are worked out only where the corrected p passes: without it nothing is red."""
    p_values, last = np.ones(len(chosen)), np.ones(len(chosen))
    for count in np.unique(counts):
        members = np.flatnonzero(counts == count)
        for look, share in shares_of(looks, int(count)).items():
            there = members[reached[members] >= look]
            sides = logs[chosen[there], :look]
            p_values[there] = np.minimum(p_values[there], paired_p_above(sides[:, :, 1] - sides[:, :, 0]) / share)
            last[there] = share
    corrected = np.array(holm(p_values.tolist()))
    for member in np.flatnonzero(corrected <= RULES.error):
        base, candidate = logs[chosen[member], : reached[member]].T
        shift = paired_shift(candidate - base)
        if is_slower(shift, corrected[member], replace(of_look(RULES, last[member]), error=RULES.error)):
            groups[chosen[member]] = bimodal(base, candidate, shift.estimate, True)
            red[chosen[member]] = not groups[chosen[member]]


def recorded_noise(archive: Path) -> list[np.ndarray]:
    """Logarithms of the times of each point with 20 launches or more, in the order in which they ran."""
    found: dict[tuple, list] = defaultdict(list)
    for one in read_campaigns(archive, campaign_names(archive)):
        for launch in one.launches:
            if launch.status == "ok" and not launch.simulated:
                found[one.name, launch.point_id, launch.code_hash].append((launch.order, np.log(launch.median_s)))
    return [np.array([value for _, value in sorted(launches)]) for launches in found.values() if len(launches) >= 20]


def run(task: tuple[str, int, float, list[np.ndarray], float]) -> tuple[bool, int, int, int, int, float]:
    """The result of one campaign: whether it is red, how many of the slowed series that are in one group were found, of
    how many, how many were said to be in two groups, pairs of the second stage, and of a slowed series there."""
    kind, seed, injected, recorded, sigma = task
    noise = Noise(kind, np.random.default_rng([seed, injected > 0]), recorded, sigma)
    slowed = np.arange(SERIES) % (SERIES // SLOWED) == 1 if injected else np.zeros(SERIES, dtype=bool)
    outcome = campaign(noise, slowed, injected)
    fair = slowed & ~noise.two_groups
    return (
        bool(outcome.red.any()),
        int(outcome.red[fair].sum()),
        int(fair.sum()),
        int(outcome.two_groups.sum()),
        outcome.pairs,
        float(outcome.pairs_of[fair].mean()) if fair.any() else 0.0,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=1000, help="in which nothing changed")
    parser.add_argument("--injected", type=int, default=200, help=f"in which {SLOWED} series are slower")
    parser.add_argument("--slower", type=float, default=SLOWER, help="by which part of their time (default: 0.05)")
    parser.add_argument("--archive", type=Path, help="of campaigns with many launches a point: recorded noise")
    parser.add_argument("--sigma", type=float, default=SIGMA, help="noise of a launch, in the middle of all series")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=[*KINDS, RECORDED])
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    recorded = recorded_noise(options.archive) if options.archive else []
    kinds = [*options.kinds, *([RECORDED] if recorded and RECORDED not in options.kinds else [])]
    if RECORDED in kinds and not recorded:
        parser.error("recorded noise takes --archive DIR with points of 20 launches or more")
    print("| noise | campaigns | red though nothing changed | slowdowns found | pairs a series, second stage ", end="")
    print("| of a slowed one |\n|---|---|---|---|---|---|", flush=True)
    with ProcessPoolExecutor(options.processes) as pool:
        for kind in kinds:
            noise = recorded if kind == RECORDED else []
            tasks = [(kind, seed, 0.0, noise, options.sigma) for seed in range(options.campaigns)]
            quiet = list(pool.map(run, tasks, chunksize=4))
            tasks = [(kind, seed, options.slower, noise, options.sigma) for seed in range(options.injected)]
            slow = list(pool.map(run, tasks, chunksize=4))
            red = sum(one[0] for one in quiet)
            found, fair = sum(one[1] for one in slow), sum(one[2] for one in slow)
            pairs = sum(one[4] for one in quiet) / max(1, len(quiet)) / SERIES
            print(
                f"| {kind} | {len(quiet)} + {len(slow)} | {red} ({100 * red / max(1, len(quiet)):.1f} %) "
                f"| {found} of {fair} ({100 * found / max(1, fair):.1f} %) | {pairs:.1f} "
                f"| {np.mean([one[5] for one in slow]) if slow else 0:.0f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
