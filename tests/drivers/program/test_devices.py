"""Variants on a device, as their users meet them: what a record says, what is skipped, and what an error in the middle does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Bench, assert_measured, launched, skip_reason

POINT = ("--variant", "slab-gpu", "--shape", "24x20x18", "--planner", "estimate", "--repetitions", "3")


HOST = (*POINT, "--parameter", "device=host")


def cufft_missing(bench: Bench) -> str:
    """Why there is no cuFFT here."""
    cufft = bench.listed("local_ffts")["cufft"]
    if cufft["available"]:
        pytest.skip("a GPU is here")
    return cufft["reason"]


@launched(2, (*HOST, "--isolate"))
def test_a_record_says_on_what_it_was_computed_and_that_it_was_emulated(record: dict) -> None:
    assert_measured(record)
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


@launched(2, HOST)
def test_a_record_counts_what_was_queued_on_the_device(record: dict) -> None:
    """Slabs on two ranks have two stages, each copied there and back whole."""
    device = record["cost"]["device"]
    assert device["h2d_copies_per_rank"] == device["d2h_copies_per_rank"] == device["ffts_per_rank"] == [2, 2]
    assert sum(device["h2d_bytes_per_rank"]) == sum(device["d2h_bytes_per_rank"]) == 2 * 24 * 20 * 18 * 16


@launched(2, ("--variant", "slab", "--shape", "8x8x8", "--planner", "estimate"))
def test_a_variant_without_a_device_names_none(record: dict) -> None:
    assert "devices" not in record["resolved"]
    assert "device" not in record["cost"]
    assert "emulated" not in record["flags"]
    assert not {"h2d", "d2h"} & set(record["samples"]["rank_phase_s"])


RESIDENT = [(*HOST, "--parameter", "staging=resident", "--direction", way) for way in ("forward", "backward", "roundtrip")]


@launched(2, *((*resident, "--parameter", "messages=device") for resident in RESIDENT))
def test_data_that_stays_on_the_device_is_neither_placed_nor_fetched_while_timed(record: dict) -> None:
    assert_measured(record)
    assert not {"h2d", "d2h"} & set(record["samples"]["rank_phase_s"])
    assert record["verification"]["ok"]


@launched(2, *RESIDENT)
def test_messages_through_the_host_are_fetched_and_placed_while_timed(record: dict) -> None:
    assert_measured(record)
    assert {"h2d", "d2h"} <= set(record["samples"]["rank_phase_s"])


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


@launched(2, (*POINT, "--parameter", "device=cuda"), ("--variant", "slab", *POINT[2:], "--local-fft", "cufft"))
def test_a_point_that_asks_for_a_gpu_is_skipped_without_one(bench: Bench, record: dict) -> None:
    assert cufft_missing(bench) in skip_reason(record)


@pytest.mark.parametrize("variant", [POINT, ("--variant", "node", *POINT[2:], "--parameter", "offload=pencil")])
def test_a_driver_too_old_for_the_runtime_is_a_reason_to_skip(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, variant: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FOURSCORE_STAND_IN", "driver=old")
    reason = bench.skipped(*variant, "--parameter", "device=host", ranks=2, faulty=False)
    assert "no device 'host' can be used: the stand-in's driver is too old" in reason


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
