"""The validity flags of records: what each means, and what it makes doubtful. core/flags.hpp sets them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    meaning: str
    of_time: bool = True  # the time itself is in doubt; else only how it splits into phases
    usual: bool = True  # explained in every report, not only where it occurs


FLAGS = {
    "oversubscribed": Flag(
        "more ranks times threads than cores: they took turns, and the time says little about the method"
    ),
    "unbound": Flag("ranks were not bound to cores: the system may have moved them"),
    "in-cache": Flag("the data fit into the caches: memory traffic is hidden"),
    "cold": Flag("no warm-up: the first samples pay for empty caches and untouched memory"),
    "clock-suspect": Flag(
        "the system's clock source is a slow or jumping one, or the samples are under 1000 of its ticks"
    ),
    "skewed": Flag(
        "half of the samples or more are shorter than 50 times the skew of their start: much of them is waiting"
    ),
    "heterogeneous": Flag("the nodes differ in machine or settings: the slowest kind decides"),
    "unlike-cores": Flag("ranks of a node ran on cores of several kinds: the slowest kind decides", usual=False),
    "open-breakdown": Flag(
        "the phases do not add up to the total within 2 %: do not trust the breakdown", of_time=False
    ),
    # These two are set by the report: of a point whose launches differ, and where a node was found slow.
    "mixed-launch": Flag("launches of this point were placed or started differently (see provenance)"),
    "slow-node": Flag(
        "launches of this point were on a node that slows its launches down: they are not the code's times", usual=False
    ),
    "simulated": Flag(
        "ran under a simulator. One that counts has no times. The times of a simulated network are in tables and plots "
        "of their own, which name it: nothing of a real machine is compared with them",
        usual=False,
    ),
    "slowed": Flag("a phase was made slower on purpose, to try out the gate: never a time of the method", usual=False),
    "shared-package": Flag(
        "while energy was counted, other processes kept more than a quarter of a core of a node busy: joules, "
        "and times, are not of this job alone",
        usual=False,
    ),
    "foreign": Flag(
        "the word of a program that is not of fourscore's harness, or of an imported file for which nobody vouched: "
        "it is shown, and no ranking, fit or advice takes it",
        usual=False,
    ),
    "emulated": Flag(
        "something stands in for hardware that is not there, and says nothing about it: "
        "copies between host memories for an accelerator, or one machine for several nodes",
        usual=False,
    ),
}


def meanings(found: Iterable[str]) -> dict[str, str]:
    """The meanings of the usual flags, and of the others in `found`."""
    found = set(found)
    known = {name: flag.meaning for name, flag in FLAGS.items() if flag.usual or name in found}
    return known | dict.fromkeys(sorted(found - set(FLAGS)), "not known to this version of the report")


def doubts_of_time(found: Iterable[str]) -> list[str]:
    """The flags that make a time doubtful; a flag that this version does not know may mean anything, so it does."""
    return [flag for flag in found if flag not in FLAGS or FLAGS[flag].of_time]
