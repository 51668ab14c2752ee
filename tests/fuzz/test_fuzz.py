"""The command and the programs against input that nobody checked. README.md says how to run this for hours.

FOURSCORE_BIN             folder of the built programs (required)
FOURSCORE_FUZZ_SECONDS    how long each kind of input goes on; without it 40 cases of each run (records: 20, of
                          some four programs each), the same on every machine
FOURSCORE_FUZZ_START      the first seed (default 1; `random` draws one)
FOURSCORE_FUZZ_SEED       this case alone; what a failure prints
FOURSCORE_FUZZ_KEEP       folder of the failing cases (default: fuzz-failures in the current folder)
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import environments
import machine_files
import options
import pytest
import records
import reports
import suite_files
from harness import Place, Step

KINDS: dict[str, Callable[[random.Random, Place], list[Step]]] = {
    "suites": suite_files.steps,
    "machines": machine_files.steps,
    "options": options.steps,
    "records": records.steps,
    "environments": environments.steps,
    "reports": reports.steps,
}
CASES = dict.fromkeys(KINDS, 30) | {"records": 12, "reports": 15}
MOST_FAILURES = 20


def seeds(kind: str) -> Iterator[int]:
    if alone := os.environ.get("FOURSCORE_FUZZ_SEED"):
        yield int(alone)
        return
    start = os.environ.get("FOURSCORE_FUZZ_START", "1")
    seed = random.SystemRandom().randrange(10**9) if start == "random" else int(start)
    seconds = os.environ.get("FOURSCORE_FUZZ_SECONDS")
    if seconds is None:
        yield from range(seed, seed + CASES[kind])
        return
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        yield seed
        seed += 1


def failure_of(kind: str, seed: int, make_place: Callable[[], Place]) -> str | None:
    """What a case broke, where it is kept and how to run it again."""
    place = make_place()
    for step in KINDS[kind](random.Random(f"{kind} {seed}"), place):
        before = place.snapshot()
        outcome = place.run(step)
        broken = place.broken(outcome, before)
        if broken:
            where = Path(os.environ.get("FOURSCORE_FUZZ_KEEP", "fuzz-failures")).absolute() / f"{kind}-{seed}"
            place.keep(where, outcome)
            shown = " ".join(os.fsdecode(word) for word in step.argv)[:300]
            return (
                f"FOURSCORE_FUZZ_SEED={seed}, {kind}: {'; '.join(broken)}\n  {shown!r}\n"
                f"  {outcome.err[-500:].decode(errors='replace').strip()!r}\n  again: {where}/again.sh"
            )
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_no_input_breaks_a_promise(kind: str, make_place: Callable[[], Place]) -> None:
    failures, cases, begin = [], 0, time.monotonic()
    for seed in seeds(kind):
        cases += 1
        failure = failure_of(kind, seed, make_place)
        if failure:
            failures.append(failure)
            print(failure, flush=True)
        if len(failures) >= MOST_FAILURES:
            break
    print(f"{kind}: {cases} cases in {time.monotonic() - begin:.0f} s")
    assert cases > 0
    assert not failures, f"{len(failures)} of {cases} cases\n" + "\n".join(failures)


def test_programs_are_there(programs: Path) -> None:
    for name in ("fourscore", "fft_bench", "memory_bench"):
        assert shutil.which(str(programs / name)), f"{programs / name} is not built"
