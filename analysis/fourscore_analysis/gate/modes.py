"""Whether launches fall into two groups, as where a process gets fast or slow pages by chance. A median then says
little: which group had more launches decides it. Such a series is reported, and never blocks."""

from __future__ import annotations

import math

import numpy as np

LEAST_LAUNCHES = 12
LEAST_SHARE = 0.2  # share of the launches in the smaller group, and at least three: fewer are outliers
LEAST_FACTOR = 1.02  # between the groups
LEAST_APART = 0.1  # share of the pairs whose launches fell into different groups


def _split(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best split into two groups: the share of the variance that is left within them, and the distance of their
    means (Engelman and Hartigan, Percentage points of a test for clusters, J. Am. Stat. Assoc. 64, 1969).
    [...][launch] to [...]."""
    count = values.shape[-1]
    ordered = np.sort(values, axis=-1)
    ordered = ordered - ordered.mean(axis=-1, keepdims=True)
    least = max(3, math.ceil(LEAST_SHARE * count))
    below = np.arange(least, count - least + 1)
    sums = np.cumsum(ordered, axis=-1)[..., below - 1]
    between = sums**2 * (1 / below + 1 / (count - below))
    best = between.argmax(axis=-1)
    total = (ordered**2).sum(axis=-1)
    left = 1 - between.max(axis=-1) / np.where(total > 0, total, 1.0)
    sizes = below[best]
    chosen = np.take_along_axis(sums, best[..., None], axis=-1)[..., 0]
    return np.where(total > 0, left, 1.0), -chosen * count / (sizes * (count - sizes))


def in_two_groups(logs: np.ndarray) -> np.ndarray:
    """Whether logarithms of times, [...][launch], fall into two groups at least 2 % apart. The limit for the
    variance that is left is what normal, exponential and uniform launches go below once in 1,000 times."""
    values = np.asarray(logs, dtype=float)
    count = values.shape[-1]
    if count < LEAST_LAUNCHES:
        return np.zeros(values.shape[:-1], dtype=bool)
    left, apart = _split(values)
    return (left < 0.16 - 1.55 / count) & (apart > math.log(LEAST_FACTOR))


def bimodal(base: np.ndarray, candidate: np.ndarray, shift: np.ndarray, paired: bool) -> np.ndarray:
    """Whether launches of either side, or of both after the `shift` between them is taken out, fall into two groups.
    Pairs must fall apart too: where both launches of each pair are in the same group, the machine changed meanwhile,
    which pairs take out. [...][launch]; `shift` [...]."""
    level = np.asarray(shift)[..., None]
    together = np.concatenate([base, candidate - level], axis=-1)
    found = in_two_groups(base) | in_two_groups(candidate) | in_two_groups(together)
    if not paired:
        return found
    _, apart = _split(together) if together.shape[-1] >= LEAST_LAUNCHES else (None, np.zeros_like(level[..., 0]))
    across = np.abs(candidate - base - level) > apart[..., None] / 2
    return found & (across.mean(axis=-1) >= LEAST_APART)
