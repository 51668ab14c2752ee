"""The nodes of a Slurm on the hosts of a laboratory: jobs on a network of a chosen rate (slurm_rig.py --rate)."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import laboratories
import pytest
import slurm_rig
from fourscore_command import BIN, is_open_mpi

if reason := laboratories.unavailable() or slurm_rig.unavailable():
    pytest.skip(reason, allow_module_level=True)

BENCH = BIN / "fft_bench"
RATE = 40e6


def test_ranks_on_nodes_of_a_shaped_slurm_send_at_its_rate():
    point = ["--variant", "slab", "--shape", "64x64x64", "--planner", "estimate", "--repetitions", "2"]
    traces = laboratories.Traces()
    with slurm_rig.temporary_folder() as folder:
        program = pathlib.Path(folder) / "fft_bench"
        shutil.copy(BENCH, program)
        record = pathlib.Path(folder) / "record.json"
        step = ["srun", "-N", "2", "-n", "2", f"--mpi={'pmix' if is_open_mpi() else 'pmi2'}", program, *point]
        rig = [sys.executable, slurm_rig.__file__, "--nodes", "2", "--rate", f"{RATE / 1e6:.0f}mbit", "--"]
        run = subprocess.run(
            [*rig, *step, "--record", record],
            env=os.environ | traces.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200,
        )  # fmt: skip
        assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
        measured = json.loads(record.read_text())
    assert measured["provenance"]["volatile"]["hosts"] == ["n1", "n2"]
    assert measured["provenance"]["identity"]["machine"]["interconnect"] == ["netns TCP, 40mbit (tbf)"]
    assert "emulated" in measured["flags"]
    sent_bits = 8 * max(measured["cost"]["bytes_sent_per_rank"])
    assert min(measured["samples"]["time_s"]) > 0.9 * sent_bits / RATE
    traces.wait_until_gone()
