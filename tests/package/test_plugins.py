"""The example of each language: the commands of its README, word for word."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "examples/plugins"


def commands_of(readme: Path) -> list[str]:
    block = re.search(r"```sh\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)
    assert block, readme
    return [line for line in block[1].splitlines() if not line.startswith("sudo ")]


@pytest.mark.parametrize("language", sorted(folder.name for folder in PLUGINS.iterdir() if folder.is_dir()))
def test_the_commands_of_the_readme_build_and_measure_it(language: str, tmp_path: Path) -> None:
    if language == "python" and subprocess.run(["/usr/bin/python3", "-c", "import cffi, mpi4py_fft"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mpi4py-fft and cffi for /usr/bin/python3")
    shutil.copytree(PLUGINS / language, tmp_path / "examples/plugins" / language)
    shutil.copytree(ROOT / "drivers/interfaces", tmp_path / "drivers/interfaces")
    launchers = tmp_path / "launchers"
    launchers.mkdir()
    (launchers / "mpirun").symlink_to(os.environ["FOURSCORE_MPIEXEC"])
    environment = os.environ | {"PATH": f"{launchers}:{os.environ['FOURSCORE_BIN']}:{os.environ['PATH']}"}
    said = ""
    for command in commands_of(PLUGINS / language / "README.md"):
        run = subprocess.run(command, shell=True, cwd=tmp_path / "examples/plugins" / language, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
        said = run.stdout
    assert re.search(r"^verified +layouts, ", said, re.M) and re.search(r"^time +median ", said, re.M), said
    assert "WRONG" not in said
