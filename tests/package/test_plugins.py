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


def needs_mpi4py_fft() -> None:
    if subprocess.run(["/usr/bin/python3", "-c", "import cffi, mpi4py_fft"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mpi4py-fft and cffi for /usr/bin/python3")


def environment_in(tmp_path: Path) -> dict[str, str]:
    """With the sources that examples name, and the programs of this build and of its MPI first in PATH."""
    shutil.copytree(PLUGINS, tmp_path / "examples/plugins")
    shutil.copytree(ROOT / "drivers/interfaces", tmp_path / "drivers/interfaces")
    launchers = tmp_path / "launchers"
    launchers.mkdir()
    (launchers / "mpirun").symlink_to(os.environ["FOURSCORE_MPIEXEC"])
    return os.environ | {"PATH": f"{launchers}:{os.environ['FOURSCORE_BIN']}:{os.environ['PATH']}"}


def commands_of(readme: Path) -> list[str]:
    block = re.search(r"```sh\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)
    assert block, readme
    return [line for line in block[1].splitlines() if not line.startswith("sudo ")]


@pytest.mark.parametrize("language", sorted(folder.name for folder in PLUGINS.iterdir() if folder.is_dir()))
def test_the_commands_of_the_readme_build_and_measure_it(language: str, tmp_path: Path) -> None:
    if language == "python":
        needs_mpi4py_fft()
    environment = environment_in(tmp_path)
    said = ""
    for command in commands_of(PLUGINS / language / "README.md"):
        run = subprocess.run(command, shell=True, cwd=tmp_path / "examples/plugins" / language, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
        said = run.stdout
    assert re.search(r"^verified +layouts, ", said, re.M) and re.search(r"^time +median ", said, re.M), said
    assert "WRONG" not in said


def test_the_three_are_measured_beside_ours_in_one_report(tmp_path: Path) -> None:
    """The commands of docs/your-library.md but for those that build fourscore, with one launch."""
    needs_mpi4py_fft()
    page = (ROOT / "docs/your-library.md").read_text(encoding="utf-8")
    [block] = [block for block in re.findall(r"```sh\n(.*?)```", page, re.S) if "libraries.toml" in block]
    lines = [line for line in block.splitlines() if not line.startswith(("./jobscripts/quickstart", "export PATH"))]
    script = "\n".join(lines).replace("launches = 5", "launches = 1")
    assert "launches = 1" in script
    environment = environment_in(tmp_path) | {"FOURSCORE_MPIEXEC": os.environ["FOURSCORE_MPIEXEC"]}
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"^Records: 6 ok$", run.stdout, re.M), run.stdout
    report = (tmp_path / "libraries.html").read_text(encoding="utf-8")
    assert all(name in report for name in ("c-slab", "fortran-slab", "mpi4py-fft-slab", "mpi4py-fft-pencil", "pencil", "fftw-mpi"))
