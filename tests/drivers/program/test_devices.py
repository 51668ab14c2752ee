"""Variants on a device, as their users meet them: what a record says, what is skipped, and what an error in the middle does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Bench

POINT = ("--variant", "slab-gpu", "--shape", "24x20x18", "--planner", "estimate", "--repetitions", "3")


def measured(bench: Bench, *more: str) -> dict:
    return bench.measured(*POINT, "--parameter", "device=host", *more, ranks=2, faulty=False)


def cufft_missing(bench: Bench) -> str:
    """Why there is no cuFFT here."""
    cufft = bench.listed("local_ffts")["cufft"]
    if cufft["available"]:
        pytest.skip("a GPU is here")
    return cufft["reason"]


def test_a_record_says_on_what_it_was_computed_and_that_it_was_emulated(bench: Bench) -> None:
    record = measured(bench, "--isolate")
    assert "emulated" in record["flags"]
    assert record["point"]["local_fft"] == "fftw"
    [devices] = record["resolved"]["devices"]
    assert devices["ranks"] == 2
    assert devices["device"]["backend"] == "host" and devices["device"]["emulated"]
    assert devices["device"]["ranks_on_it"] == 1
    assert {"fft", "h2d", "d2h", "exchange"} <= set(record["samples"]["rank_phase_s"])
    assert {"h2d-1", "fft-1", "d2h-1", "exchange-1", "h2d-2"} <= {entry["name"] for entry in record["isolated"]}


def test_a_record_has_what_the_driver_tells_of_a_gpu(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """From NVML, loaded at run time; a library of the tests' own stands at its name."""
    before = os.environ.get("LD_LIBRARY_PATH", "")
    monkeypatch.setenv("LD_LIBRARY_PATH", os.environ["FOURSCORE_FAKE_NVML"] + (":" + before if before else ""))
    [entry] = bench.record(*POINT, "--parameter", "device=fake-gpu", ranks=2)["resolved"]["devices"]
    assert entry["device"]["identity"] == {
        "model": "fake GPU",
        "numa_node": 0,
        "driver": "999.12.03",
        "ecc": True,
        "pcie_generation": 5,
        "pcie_width": 16,
    }
    assert entry["device"]["versions"] == {"driver_api": "13.0", "runtime": "13.0", "cufft": "12.0.0"}
    distances = Path("/sys/devices/system/node/node0/distance")
    if distances.exists():
        assert entry["device"]["numa_distance"] >= 10
    state = {"sm_clock_mhz": 1410, "memory_clock_mhz": 1215, "pcie_generation": 1, "pcie_width": 8}
    assert entry["state_before"] | state == entry["state_before"]
    assert entry["state_after"] | state == entry["state_after"]
    for rises in ("power_w", "temperature_c"):
        assert entry["state_after"][rises] > entry["state_before"][rises]


def test_a_record_counts_what_was_queued_on_the_device(bench: Bench) -> None:
    """Slabs on two ranks have two stages, each copied there and back whole."""
    device = measured(bench)["cost"]["device"]
    assert device["h2d_copies_per_rank"] == device["d2h_copies_per_rank"] == device["ffts_per_rank"] == [2, 2]
    assert sum(device["h2d_bytes_per_rank"]) == sum(device["d2h_bytes_per_rank"]) == 2 * 24 * 20 * 18 * 16


def test_a_variant_without_a_device_names_none(bench: Bench) -> None:
    record = bench.record("--variant", "slab", "--shape", "8x8x8", "--planner", "estimate", ranks=2, faulty=False)
    assert "devices" not in record["resolved"]
    assert "device" not in record["cost"]
    assert "emulated" not in record["flags"]
    assert not {"h2d", "d2h"} & set(record["samples"]["rank_phase_s"])


@pytest.mark.parametrize("direction", ["forward", "backward", "roundtrip"])
def test_data_that_stays_on_the_device_is_neither_placed_nor_fetched_while_timed(bench: Bench, direction: str) -> None:
    more = ("--parameter", "staging=resident", "--direction", direction)
    record = measured(bench, *more, "--parameter", "messages=device")
    assert not {"h2d", "d2h"} & set(record["samples"]["rank_phase_s"])
    assert record["verification"]["ok"]
    through_host = measured(bench, *more)
    assert {"h2d", "d2h"} <= set(through_host["samples"]["rank_phase_s"])


@pytest.mark.parametrize(
    ("faults", "more", "expected"),
    [
        ("devices=0", (), "no device 'host' is on this node"),
        ("devices=1", (), "expected share-device=yes"),
        ("memory=5000", (), "not enough memory on the device"),
        ("managed=no", ("--parameter", "host-memory=managed"), "no managed memory"),
    ],
)
def test_what_the_device_lacks_is_a_reason_to_skip(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, faults: str, more: tuple[str, ...], expected: str
) -> None:
    monkeypatch.setenv("FOURSCORE_STAND_IN", faults)
    assert expected in bench.skipped(*POINT, "--parameter", "device=host", *more, ranks=2, faulty=False)


def test_a_point_that_asks_for_a_gpu_is_skipped_without_one(bench: Bench) -> None:
    missing = cufft_missing(bench)
    assert missing in bench.skipped(*POINT, "--parameter", "device=cuda", ranks=2, faulty=False)


@pytest.mark.parametrize("variant", [POINT, ("--variant", "node", *POINT[2:], "--parameter", "offload=pencil")])
def test_a_driver_too_old_for_the_runtime_is_a_reason_to_skip(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, variant: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FOURSCORE_STAND_IN", "driver=old")
    reason = bench.skipped(*variant, "--parameter", "device=host", ranks=2, faulty=False)
    assert "no device 'host' can be used: the stand-in's driver is too old" in reason


def test_a_local_library_on_a_gpu_says_why_it_cannot_be_used(bench: Bench) -> None:
    missing = cufft_missing(bench)
    assert missing in bench.skipped("--variant", "slab", *POINT[2:], "--local-fft", "cufft", ranks=2, faulty=False)


def test_an_error_in_the_middle_ends_the_launch_with_the_devices_text(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURSCORE_STAND_IN", "fail-at=40")
    run = bench(*POINT, "--parameter", "device=host", ranks=2, faulty=False)
    assert run.returncode != 0
    assert "the stand-in failed at a" in run.stderr


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("staging=nowhere",), "staging"),
        (("pieces=0", "staging=streamed"), "pieces"),
        (("device=abacus",), "device"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(bench: Bench, more: tuple[str, ...], expected: str) -> None:
    options = [option for value in more for option in ("--parameter", value)]
    assert expected in bench.refused(*POINT, *options, ranks=2, faulty=False)
