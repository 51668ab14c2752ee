"""Points that can be measured on so many ranks, as fft_bench says without starting them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence

Pair = tuple[str, str]  # a variant and an exchange, or none, or auto: its own
PLANNERS = ("estimate", "measure")  # dtfft measures only


def ask(question: str, lines: str = "") -> str:
    command = [os.environ["FOURSCORE_FFT_BENCH"], question]
    return subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout


def available() -> tuple[dict[str, bool], list[str]]:
    """Variants with whether they take an exchange, and exchanges."""
    listed = json.loads(ask("--list"))
    variants = {entry["name"]: entry["takes_exchange"] for entry in listed["variants"] if entry["available"]}
    return variants, [entry["name"] for entry in listed["exchanges"] if entry["available"]]


def measurable(
    ranks: int, pairs: Iterable[Pair], shapes: Sequence[str]
) -> tuple[dict[Pair, tuple[str, ...]], dict[Pair, str]]:
    """The first planner and shape of each pair that can be measured, as a command line; and why others have none."""
    candidates = [(pair, planner, shape) for pair in pairs for planner in PLANNERS for shape in shapes]
    points = [
        {"variant": variant, "shape": list(map(int, shape.split("x"))), "ranks": ranks, "contract": {"planner": planner}}
        | ({} if exchange == "auto" else {"exchange": exchange})
        for (variant, exchange), planner, shape in candidates
    ]
    fitting: dict[Pair, tuple[str, ...]] = {}
    refused: dict[Pair, str] = {}
    answers = ask("--check-points", "\n".join(map(json.dumps, points))).splitlines()
    for (pair, planner, shape), answer in zip(candidates, map(json.loads, answers), strict=True):
        variant, exchange = pair
        if not answer["supported"]:
            refused.setdefault(pair, answer["reason"])
        elif pair not in fitting:
            named = () if exchange in ("auto", "none") else ("--exchange", exchange)
            fitting[pair] = ("--variant", variant, *named, "--shape", shape, "--planner", planner)
    return fitting, {pair: reason for pair, reason in refused.items() if pair not in fitting}
