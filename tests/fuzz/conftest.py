"""A good archive, made once by the programs themselves, and a folder for each case."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from harness import Place, is_sanitized  # noqa: E402

SUITE = """name = "base"
launches = 2
repetitions = 3
timeline = true
isolate = true
order = "listed"
seed = 7

[defaults]
planner = "estimate"
ranks = 1

[[sweep]]
variant = "pencil-overlap"
exchange = "p2p"
shape = "8x8x8"
parameters = { pieces = 2 }

[[sweep]]
variant = "slab"
shape = "8x8x8"
instances = 2

[[sweep]]
variant = "slab"
shape = "8" # skipped: slab wants more extents

[[component]]
program = "memory_bench"
ranks = 1
parameters = { size = "4KiB", kernels = "copy" }
"""


@pytest.fixture(scope="session")
def programs() -> Path:
    path = os.environ.get("FOURSCORE_BIN")
    if not path:
        pytest.exit("FOURSCORE_BIN is not set: start these tests with ctest", returncode=3)
    return Path(path).absolute()


@pytest.fixture(scope="session")
def base_environment(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What programs need and nothing of the machine's own: the same everywhere."""
    identity = subprocess.run([programs / "fft_bench", "--identity"], capture_output=True, text=True, check=True).stdout
    mpi = json.loads(identity)["identity"]["code"]["mpi"]
    passed = {name: value for name, value in os.environ.items() if name.startswith(("OMPI_", "HWLOC_", "OCL_", "ASAN_", "LSAN_", "UBSAN_", "LD_", "PYTHONDONT", "PYTHONPYC"))}
    return passed | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}",
        "FOURSCORE_MPIEXEC": str(HERE.parent / "support" / "fake_mpirun"),
        "FAKE_MPIRUN_SAYS": "mpirun (Open MPI) 4.1.4" if mpi.startswith("Open MPI") else "HYDRA build details:",
        "MPLCONFIGDIR": str(tmp_path_factory.mktemp("matplotlib")),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


@pytest.fixture(scope="session")
def archive(programs: Path, base_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    (folder / "base.toml").write_text(SUITE)
    made = subprocess.run(
        [programs / "fourscore", "run", "base.toml", "--campaign", "base", "--archive", "archive", "--quiet"],
        cwd=folder,
        env=base_environment | {"TMPDIR": str(folder), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert made.returncode in (0, 1), made.stderr
    assert len(list(folder.glob("archive/records/base/*.json"))) >= 7, made.stdout + made.stderr
    return folder / "archive"


@pytest.fixture
def make_place(programs: Path, archive: Path, base_environment: dict[str, str], tmp_path: Path) -> Callable[[], Place]:
    limit_memory = not is_sanitized(programs / "fourscore")

    def make() -> Place:
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        return Place(folder, programs, archive, base_environment, limit_memory)

    return make
