#!/usr/bin/env python3
"""How many steps of 5 % `fourscore history` finds in made-up histories of 500 builds, and how many changes that are none.

Usage: change_point_rates.py [--histories N] [--noise PERCENT] [--json]

For each kind of noise: the share of steps found within 3 builds (one to four a history, up or down, ten builds or more
apart), false changes in 1,000 values of histories of 500, 60 and 12 builds in which nothing changes, and seconds a
history of 500. Kinds, all of the same standard deviation: normal; heavy tails (Student's t with 3 degrees of freedom);
two modes by chance; values of which each remembers half of the one before. The last is no independent noise: nothing is
promised for it. Exit code 1 when one of the first three misses 95 % or has more than one false change in 1,000 values.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))
from fourscore_analysis.gate.change_points import segment  # noqa: E402

STEP = math.log(1.05)
LENGTH, LEAST_APART, NEAR = 500, 10, 3
LEAST_FOUND, MOST_FALSE = 0.95, 1.0
PROMISED = ("normal", "heavy tails", "two modes")

Noise = Callable[[np.random.Generator, int], np.ndarray]


def correlated(generator: np.random.Generator, length: int) -> np.ndarray:
    values = generator.normal(0, math.sqrt(1 - 0.5**2), length)
    for at in range(1, length):
        values[at] += 0.5 * values[at - 1]
    return values


NOISES: dict[str, Noise] = {
    "normal": lambda generator, length: generator.normal(0, 1, length),
    "heavy tails": lambda generator, length: generator.standard_t(3, length) / math.sqrt(3),
    "two modes": lambda generator, length: generator.choice([-1.0, 1.0], length) + generator.normal(0, 0.1, length),
    "correlated": correlated,
}


def places_of_steps(generator: np.random.Generator) -> np.ndarray:
    while True:
        places = np.sort(generator.choice(np.arange(LEAST_APART, LENGTH), generator.integers(1, 5), replace=False))
        if np.all(np.diff(np.concatenate([[0], places, [LENGTH]])) >= LEAST_APART):
            return places


def share_found(noise: Noise, scale: float, histories: int) -> tuple[float, int, float]:
    """The share of the steps that was found, how many there were, and seconds per history."""
    generator, found, there, begin = np.random.default_rng(1), 0, 0, time.monotonic()
    for seed in range(histories):
        values = scale * noise(generator, LENGTH)
        places = places_of_steps(generator)
        for place in places:
            values[place:] += STEP * generator.choice([-1, 1])
        changes = np.array([*(one.index for one in segment(values, seed).changes), -LENGTH])
        found += sum(int(np.min(np.abs(changes - place)) <= NEAR) for place in places)
        there += len(places)
    return found / there, there, (time.monotonic() - begin) / histories


def false_in_1000(noise: Noise, length: int, values: int) -> float:
    generator, false = np.random.default_rng(2), 0
    for seed in range(values // length):
        false += len(segment(noise(generator, length), seed).changes)
    return 1000 * false / (values // length * length)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=500, help="of 500 builds, of each kind (default: 500)")
    parser.add_argument("--noise", type=float, default=2.0, metavar="PERCENT", help="standard deviation of a value (default: 2)")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    if options.histories < 1 or not options.noise > 0:
        parser.error("--histories must be 1 or more, --noise more than 0")
    results = {}
    for name, noise in NOISES.items():
        found, steps, seconds = share_found(noise, options.noise / 100, options.histories)
        values = LENGTH * options.histories
        false = {length: false_in_1000(noise, length, min(values, 100_000)) for length in (500, 60, 12)}
        results[name] = {"found": found, "steps": steps, "false_in_1000": false, "seconds": seconds}
        if not options.json:
            rates = ", ".join(f"{rate:.2f}" for rate in false.values())
            print(f"{name:12} {100 * found:.1f} % of {steps} steps; false in 1,000: {rates}; {seconds:.2f} s a history")
    if options.json:
        print(json.dumps(results))
    return int(
        any(
            results[name]["found"] < LEAST_FOUND or max(results[name]["false_in_1000"].values()) > MOST_FALSE
            for name in PROMISED
        )
    )


if __name__ == "__main__":
    sys.exit(main())
