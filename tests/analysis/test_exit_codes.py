"""Exit code 1 is a verdict. Whatever else goes wrong has another code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fourscore_analysis.commands import all_commands
from fourscore_analysis.gate.rates import Rate, Rates, Share, keep_rates, kept_rates, rates_json

ANALYSIS = Path(__file__).parents[2] / "analysis"
START = "import runpy; runpy.run_module('fourscore_analysis', run_name='__main__')"


def run(script: str, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(ANALYSIS)}
    command = [sys.executable, "-P", "-c", script, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    "error", ["ZeroDivisionError('x')", "KeyError('x')", "MemoryError()", "RecursionError('x')", "ValueError('x')"]
)
def test_what_nobody_expected_ends_with_70_and_never_with_1(error):
    ended = run(f"import fourscore_analysis.cli as c\ndef main(): raise {error}\nc.main = main\n{START}", "compare")
    assert ended.returncode == 70
    assert "Traceback" in ended.stderr
    assert "fourscore compare: an error of the program" in ended.stderr


def test_a_package_that_cannot_be_loaded_ends_with_70_too():
    ended = run(f"import sys; sys.modules['fourscore_analysis.cli'] = None\n{START}", "gate")
    assert ended.returncode == 70


@pytest.mark.parametrize("name", list(all_commands()))
def test_no_command_has_a_way_around_that_edge(name):
    """A command that raises in the middle of its work."""
    script = (
        "import argparse, fourscore_analysis.cli as c\n"
        "from dataclasses import replace\n"
        "def fail(_): raise AssertionError\n"
        "def nothing(_): pass\n"
        "found = {name: replace(one, run=fail, add=nothing) for name, one in c.all_commands().items()}\n"
        "c.all_commands = lambda: found\n"
    )
    assert run(script + START, name).returncode == 70


RATES = Rates("ab12", "fft", (Rate(0.0, Share(0, 30), Share(0, 60), Share(0, 0)),))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.update(rates=7),
        lambda data: data["rates"].append(7),
        lambda data: data["rates"][0].update(red=[1, 2]),
        lambda data: data["rates"][0].update(red={"count": "0", "of": 30}),
        lambda data: data["rates"][0].update(red={"count": 31, "of": 30}),
        lambda data: data["rates"][0].update(red={"count": -1, "of": 30}),
        lambda data: data["rates"][0].update(slower_percent=None),
        lambda data: data.update(phase=["fft"]),
        lambda data: data.update(machine_hash={}),
        lambda data: data.pop("rates"),
    ],
)
def test_ill_typed_rates_are_none(tmp_path, spoil):
    file = keep_rates(tmp_path, RATES)
    assert kept_rates(tmp_path, "ab12") == RATES
    data = json.loads(json.dumps(rates_json(RATES)))
    spoil(data)
    file.write_text(json.dumps(data))
    assert kept_rates(tmp_path, "ab12") is None


@pytest.mark.parametrize(
    ("count", "of", "low", "high"), [(0, 30, 0.0, 0.1157), (30, 30, 0.8843, 1.0), (3, 10, 0.0667, 0.6525)]
)
def test_rates_have_intervals_of_95_percent(count, of, low, high):
    """Clopper and Pearson: the rule of 0 of n is 1 - 0.025^(1/n); 3 of 10 is of their tables."""
    assert Share(count, of).interval == pytest.approx((low, high), abs=1e-4)
