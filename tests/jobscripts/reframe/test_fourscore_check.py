"""The ReFrame test of jobscripts/reframe, run by ReFrame itself: on this machine, and as a job of a real Slurm."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest
from fourscore_command import BIN
from slurm_campaign import RigCampaigns
from slurm_rig import SlurmRig, temporary_folder, unavailable

REFRAME = pathlib.Path(sys.executable).parent / "reframe"
CHECK = pathlib.Path(__file__).parents[3] / "jobscripts" / "reframe" / "fourscore_check.py"
if not REFRAME.exists():
    pytest.skip(
        "no reframe: jobscripts/setup --for test takes it from the Python package index", allow_module_level=True
    )

SETTINGS = """\
site_configuration = {{
    "systems": [{{
        "name": "tested", "descr": "tested", "hostnames": [".*"], "modules_system": "nomod",
        "partitions": [{{
            "name": "one", "scheduler": "{scheduler}", "launcher": "local", "environs": ["builtin"], "max_jobs": 1,
        }}],
    }}],
    "environments": [{{"name": "builtin", "cc": "cc", "cxx": "", "ftn": ""}}],
}}
"""
SUITE = """\
name = "small"
launches = 2
repetitions = 2

[[sweep]]
variant = "slab"
exchange = ["alltoallv", "pairwise"]
shape = "16x12x8"
planner = "estimate"
{size}
"""


def run_check(folder, environment: dict[str, str], scheduler: str, suite, **variables: object) -> tuple[int, dict, str]:
    """Exit code, what its report says of the one test case, and what it printed."""
    settings = folder / "settings.py"
    settings.write_text(SETTINGS.format(scheduler=scheduler))
    report = folder / "report.json"
    said = {"suite": suite, "fourscore": BIN / "fourscore"} | variables
    words = [word for name, value in said.items() for word in ("-S", f"FourscoreSuite.{name}={value}")]
    places = ["--prefix", folder / "prefix", "--report-file", report]
    done = subprocess.run(
        [REFRAME, "-C", settings, "-c", CHECK, *places, "--nocolor", "--run", *words],
        env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    text = done.stdout + done.stderr
    assert report.exists(), text
    ((case,),) = [run["testcases"] for run in json.loads(report.read_text())["runs"]]
    return done.returncode, case, text


def values_of(case: dict) -> dict[str, tuple[float, str]]:
    return {name.split(":")[-1]: (said[0], said[4]) for name, said in case["perfvalues"].items()}


def medians_of(archive: pathlib.Path, environment: dict[str, str]) -> dict[str, float]:
    shown = subprocess.run(
        [BIN / "fourscore", "status", "--archive", archive, "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (campaign,) = json.loads(shown.stdout)
    return {point["point"]["exchange"]: point["median_s"] for point in campaign["points"]}


def test_each_point_is_a_performance_variable_on_this_machine(fourscore, tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
    suite = fourscore.suite(SUITE.format(size="ranks = 2"))
    archive = tmp_path / "results"
    status, case, text = run_check(tmp_path, environment, "local", suite, archive=archive)
    assert status == 0, text
    assert case["result"] == "pass"
    medians = medians_of(archive, environment)
    expected = {f"slab-{exchange}-16x12x8-2r-1n": (value, "s") for exchange, value in medians.items()}
    assert len(expected) == 2
    assert values_of(case) == expected


def test_a_launch_that_fails_fails_the_test_and_names_its_point(fourscore, tmp_path):
    environment = fourscore.environment | {"PATH": os.environ["PATH"]}
    suite = fourscore.points(variants='"good", "aborts"', points=1, launches=1)
    status, case, text = run_check(tmp_path, environment, "local", suite)
    assert status != 0
    assert case["result"] == "fail"
    assert "aborts-none-1x4x4-1r-1n" in text
    assert "1 launches failed" in text


def test_it_measures_on_the_nodes_of_its_slurm_job():
    if reason := unavailable():
        pytest.skip(reason)
    with temporary_folder() as folder, SlurmRig(folder, nodes=2) as rig:
        real = RigCampaigns(rig)
        real.use_real_bench()
        suite = real.suite(SUITE.format(size="nodes = 2\nranks_per_node = 2"))
        archive = real.folder / "results"
        variables = {"archive": archive, "machine": real.machine_file, "nodes": 2, "ranks_per_node": 2}
        # Without accounting ReFrame asks squeue alone.
        status, case, text = run_check(real.folder, real.environment, "squeue", suite, **variables)
        assert status == 0, text + rig.logs()
        assert case["job_nodelist"] == ["n1", "n2"]
        medians = medians_of(archive, real.environment)
        assert values_of(case) == {f"slab-{name}-16x12x8-4r-2n": (value, "s") for name, value in medians.items()}
        for file in archive.glob("records/*/*.json"):
            assert json.loads(file.read_text())["provenance"]["identity"]["launch"]["nodes"] == 2
