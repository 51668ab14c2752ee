"""Transforms that read neighbours' memory themselves (exchange shared, reads=fused), checked by the program on every
kind of data, direction and grid."""

from __future__ import annotations

import itertools

import pytest
from conftest import Launch

POINT = ("--exchange", "shared", "--parameter", "reads=fused", "--shape", "24x18x20", "--planner", "estimate", "--isolate")


def launch(grid: tuple[int, tuple[str, ...]], kind: str, direction: str, layout: str) -> Launch:
    ranks, asked = grid
    asked += ("--kind", kind if direction == "forward" else kind[::-1])
    asked += ("--direction", direction) if kind == "c2c" else ()
    return Launch(ranks, (*asked, *POINT, "--layout", layout))


GRIDS = ((3, ("--variant", "slab")), (4, ("--variant", "pencil", "--grid", "2x2")))
CASES = itertools.product(GRIDS, ("c2c", "r2c"), ("forward", "backward"), ("transposed", "natural"))


@pytest.mark.parametrize(
    ("record", "kind", "direction"), [(launch(*case), *case[1:3]) for case in CASES], indirect=["record"]
)
def test_it_is_right(record: dict, kind: str, direction: str) -> None:
    assert record["verdict"]["status"] == "ok", record["verdict"]["reason"]
    assert (record["point"]["kind"], record["point"]["direction"]) == (kind, direction)
    gathers = [text for text in record["plan"]["local_fft"] if "gathered from" in text]
    if direction == "forward":  # backwards from transposed order planes come last, whose axes are two
        assert gathers
    if gathers:
        assert record["memory"]["workspace_bytes"][0] > 0
        isolated = {part["name"]: part["phase"] for part in record["isolated"]}
        assert {"exchange-1", "fft-1"} <= set(isolated) and "pack-1" not in isolated
