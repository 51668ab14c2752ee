"""What a command loads before it has work: NumPy takes 0.1 s of a core, SciPy 0.2 to 0.7, Matplotlib 0.4."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ANALYSIS = Path(__file__).parents[3] / "analysis"
EVERY_COMMAND = "from fourscore_analysis import cli; cli.all_commands()"
COMPARE = "from fourscore_analysis.gate import baseline, beforehand, certify, outputs, planning, rates, result, sides"
MODELS = "from fourscore_analysis.views import advice, best, fits, predictions"


@pytest.mark.parametrize(("loads", "expected"), [(EVERY_COMMAND, []), (f"{COMPARE}\n{MODELS}", ["numpy"])])
def test_nothing_slow_is_loaded_before_it_is_needed(loads, expected):
    said = f"{loads}\nimport sys; print(*[name for name in ('numpy', 'scipy', 'matplotlib') if name in sys.modules])"
    environment = os.environ | {"PYTHONPATH": str(ANALYSIS)}
    done = subprocess.run([sys.executable, "-c", said], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected
