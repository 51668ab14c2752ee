"""Device opencl as its users meet it: what a record says of it, and which lengths it refuses."""

from __future__ import annotations

import pytest
from conftest import Bench, skip_reason

DEVICE = ("--parameter", "device=opencl", "--parameter", "share-device=yes")
POINT = ("--planner", "estimate", "--repetitions", "2", *DEVICE)


@pytest.fixture(autouse=True)
def drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests are kept from the drivers of OpenCL."""
    monkeypatch.setenv("OCL_ICD_VENDORS", "")


@pytest.fixture(autouse=True)
def clfft(bench: Bench) -> None:
    if not (entry := bench.listed("local_ffts")["clfft"])["available"]:
        pytest.skip(entry["reason"])


@pytest.fixture
def record(bench: Bench):
    """Measures a point on device opencl, on one rank or more."""
    return lambda *options, ranks=1: bench.record(*options, *POINT, ranks=ranks, faulty=False)


@pytest.mark.parametrize("kind", ["c2c", "r2c"])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_serial_gpu_is_verified_and_says_on_what_it_ran(record, kind: str, precision: str) -> None:
    result = record("--variant", "serial-gpu", "--shape", "24x20x18", "--kind", kind, "--precision", precision)
    assert result["verification"]["ok"]
    assert result["point"]["local_fft"] == "clfft"
    [entry] = result["resolved"]["devices"]
    assert entry["device"]["backend"] == "opencl"
    assert set(entry["device"]["versions"]) == {"opencl_platform", "clfft"}
    assert {"model", "vendor", "driver", "opencl", "memory_bytes", "compute_units"} == set(entry["device"]["identity"])
    assert entry["device"]["emulated"] == ("emulated" in result["flags"])
    assert {"fft", "h2d", "d2h"} <= set(result["samples"]["rank_phase_s"])


def test_a_pencil_and_an_offloaded_one_are_verified(record) -> None:
    assert record("--variant", "pencil-gpu", "--shape", "12x10x8", "--grid", "1x2", ranks=2)["verification"]["ok"]
    overdecomposed = ("--variant", "overdecomposed", "--parameter", "offload=pencil")
    assert record(*overdecomposed, "--shape", "12x10x8", ranks=2)["verification"]["ok"]


@pytest.mark.parametrize("staging", ["copy", "resident", "streamed"])
def test_two_ranks_share_a_device_in_every_staging(record, staging: str) -> None:
    more = ("--exchange", "p2p", "--parameter", f"staging={staging}")
    result = record("--variant", "slab-gpu", "--shape", "24x20x18", *more, ranks=2)
    assert result["verification"]["ok"]
    assert result["resolved"]["devices"][0]["device"]["ranks_on_it"] == 2


def test_a_local_library_on_opencl_computes_for_any_variant(bench: Bench) -> None:
    bench.measured("--variant", "pencil", "--shape", "12x10x8", "--local-fft", "clfft", ranks=2, faulty=False)


def test_a_length_that_clfft_does_not_have_is_a_reason_to_skip(record) -> None:
    result = record("--variant", "serial-gpu", "--shape", "8x34x8")
    assert "length 34" in skip_reason(result)


def test_messages_from_the_device_are_skipped(record) -> None:
    more = ("--exchange", "p2p", "--parameter", "staging=resident", "--parameter", "messages=device")
    assert skip_reason(record("--variant", "slab-gpu", "--shape", "8x8x8", *more, ranks=2))
