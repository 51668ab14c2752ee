"""Processes of other processes, by /proc."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 120


def _state(process: Path) -> tuple[str, int] | None:
    """Its letter and the number of its parent; None where it has ended."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1])


def children_of(process: int) -> set[int]:
    """Numbers of those that run."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        state = _state(entry)
        if state and state[1] == process and state[0] != "Z":
            found.add(int(entry.name))
    return found


def alive(process: int) -> bool:
    state = _state(Path("/proc", str(process)))
    return state is not None and state[0] != "Z"


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether it came true in time."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
