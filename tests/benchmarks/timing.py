"""What the scripts here that time `fourscore` have in common."""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "analysis"), str(ROOT / "tests" / "support")]

Spent = tuple[float, float]  # seconds by the clock, and of all processors


def options_of(doc: str, counts: dict[str, tuple[int, int]], programs: str = "fourscore") -> argparse.Namespace:
    """--NAME for each count, given with its default and its least value; where the programs are; how often; --json."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    for name, (default, _) in counts.items():
        parser.add_argument(
            f"--{name}",
            type=int,
            default=default,
            help=f"(default: {default}, as the target has it)",
        )
    place = str(ROOT / "build/release/bin" / ("" if programs == "programs" else programs))
    parser.add_argument(f"--{programs}", default=place, metavar="PATH", help=f"(default: {place})")
    parser.add_argument("--repetitions", type=int, default=3, help="of each command (default: 3)")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    for name, (_, least) in {**counts, "repetitions": (3, 1)}.items():
        if getattr(options, name) < least:
            parser.error(f"--{name} must be {least} or more")
    return options


def processor_s() -> float:
    """What all programs took that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spent_on(*command: str | Path, says: tuple[int, ...] = (0,)) -> Spent:
    """Ends this program with exit code 3 where the command ends with another exit code than it may."""
    begin, before = time.monotonic(), processor_s()
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    spent = time.monotonic() - begin, processor_s() - before
    if run.returncode not in says:
        print(
            f"{' '.join(map(str, command[:2]))} ended with {run.returncode}:\n{run.stderr}",
            file=sys.stderr,
        )
        sys.exit(3)
    return spent


def told(spent: dict[str, list[Spent]]) -> dict:
    """The two arguments of tell() for commands that were timed by spent_on()."""
    return {
        "times_s": {name: [one[0] for one in of] for name, of in spent.items()},
        "processor_s": {name: [one[1] for one in of] for name, of in spent.items()},
    }


def tell(
    facts: dict,
    targets_s: dict,
    as_json: bool,
    times_s: dict,
    processor_s: dict | None = None,
) -> int:
    """Prints the times of each command, a key of `times_s`. Returns 1 when a median misses its target."""
    medians = {name: statistics.median(times) for name, times in times_s.items()}
    if as_json:
        more = {"processor_s": processor_s} if processor_s else {}
        print(json.dumps(facts | {"times_s": times_s, "targets_s": targets_s} | more))
    else:
        shown = ", ".join(f"{name} {value}" for name, value in facts.items())
        print(f"{shown}; load of the last minute {os.getloadavg()[0]:.1f}")
        for name, times in times_s.items():
            shown = ", ".join(f"{value:.2f}" for value in times)
            busy = f"; {statistics.median(processor_s[name]):.2f} s of processors" if processor_s else ""
            print(f"{name:22} median {medians[name]:.2f} s ({shown}), target {targets_s[name]:.0f} s{busy}")
    return int(any(medians[name] > targets_s[name] for name in medians))
