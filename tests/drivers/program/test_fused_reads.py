"""Transforms that read neighbours' memory themselves (exchange shared, reads=fused), checked by the program on every
kind of data, direction and grid."""

from __future__ import annotations

import pytest
from conftest import Bench

POINT = ("--exchange", "shared", "--parameter", "reads=fused", "--shape", "24x18x20", "--planner", "estimate")


@pytest.mark.parametrize("variant, grid, ranks", [("slab", "auto", 3), ("pencil", "2x2", 4)])
@pytest.mark.parametrize("kind", ["c2c", "r2c"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("layout", ["transposed", "natural"])
def test_it_is_right(bench: Bench, variant: str, grid: str, ranks: int, kind: str, direction: str, layout: str) -> None:
    asked = ("--variant", variant, "--grid", grid, "--kind", kind if direction == "forward" else kind[::-1])
    asked += ("--direction", direction) if kind == "c2c" else ()
    record = bench.record(*asked, *POINT, "--layout", layout, "--isolate", ranks=ranks, faulty=False)
    assert (record["point"]["kind"], record["point"]["direction"]) == (kind, direction)
    gathers = [text for text in record["plan"]["local_fft"] if "gathered from" in text]
    if direction == "forward":  # backwards from transposed order planes come last, whose axes are two
        assert gathers
    if gathers:
        assert record["memory"]["workspace_bytes"][0] > 0
        isolated = {part["name"]: part["phase"] for part in record["isolated"]}
        assert {"exchange-1", "fft-1"} <= set(isolated) and "pack-1" not in isolated
