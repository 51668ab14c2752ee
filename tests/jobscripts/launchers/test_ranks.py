"""A launch has the ranks that it was asked for, or it is failed: launchers that start processes which do not know each
other."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess

import pytest
from fourscore_command import BIN, is_open_mpi, script
from laboratories import unavailable

OWN = os.environ["FOURSCORE_TEST_MPIEXEC"]
OTHER, OTHERS_NAME, OWN_NAME = (
    ("mpiexec.mpich", "MPICH", "Open MPI") if is_open_mpi() else ("mpiexec.openmpi", "Open MPI", "MPICH")
)
PROGRAMS = {
    "fft_bench": '[[sweep]]\nvariant = "slab"\nshape = "8x8x8"\nplanner = "estimate"\nranks = 2\n',
    "pairwise_bench": '[[component]]\nprogram = "pairwise_bench"\nranks = 2\nparameters = { sizes = "64" }\n',
}
# Start the program twice, each time as if it were the only one: an mpirun that names itself by another MPI, srun without
# --mpi, and a launch line of a program that is no launcher. Each is called as its launcher calls it.
COPIES = """#!/bin/sh
case $1 in
--version) echo "{says}"; exit 0 ;;
--mpi=list) echo "pmix pmi2"; exit 0 ;;
--help) exit 0 ;;
esac
while [ "${{1#{programs}/}}" = "$1" ]; do shift; done
"$@" & first=$!
"$@"
code=$?
wait $first && exit $code
"""


@pytest.fixture
def real(fourscore):
    """The command with the real programs, and a folder in front of PATH."""
    fourscore.path = fourscore.folder / "path"
    fourscore.path.mkdir()
    fourscore.environment |= {
        "FOURSCORE_BENCH": str(BIN / "fft_bench"),
        "FOURSCORE_COMPONENTS": str(BIN),
        "FOURSCORE_MPIEXEC": OWN,
        "PATH": f"{fourscore.path}:{fourscore.environment['PATH']}",
    }
    return fourscore


def machine_file(fourscore, line: str) -> list[str]:
    file = fourscore.folder / "m.toml"
    file.write_text(
        f'name = "m"\nlauncher = "template"\n[nodes]\ncount = 1\ncores = 2\n[launch]\nline = {json.dumps(line)}\n'
    )
    return ["--machine", str(file)]


def launcher_of_copies(fourscore, launcher: str) -> list[str]:
    """The options with which the launcher starts copies."""
    name = {"local": "mpirun", "netns": "mpirun", "srun": "srun", "template": "starter"}[launcher]
    program = script(fourscore.path / name, COPIES.format(programs=BIN, says="Open MPI" if is_open_mpi() else "HYDRA"))
    if launcher == "template":
        return machine_file(fourscore, f"{program} -n {{ranks}} {{program}}")
    if launcher == "srun":
        fourscore.environment |= {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1"}
    return ["--launcher", launcher, "--mpirun", str(program)]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("launcher", ["local", "netns", "srun", "template"])
def test_processes_that_do_not_know_each_other_are_no_ranks(real, launcher, program):
    if launcher == "netns" and (reason := unavailable()):
        pytest.skip(reason)
    if launcher == "netns" and "sanitizer" in real("list", "counters", "--json").stdout:
        pytest.skip("no leak can be looked for with a sanitizer where processes have numbers of their own")
    options = launcher_of_copies(real, launcher)
    suite = real.suite('name = "s"\nlaunches = 1\nrepetitions = 2\nmin_time_s = 0.001\n' + PROGRAMS[program])
    real("run", suite, *options, code=1)
    (record,) = real.records().values()
    verdict = record["verdict"]
    assert (verdict["status"], record["point"]["ranks"]) == ("failed", 2)
    assert "--ranks 2, but the launcher started 1 rank on 1 node" in verdict["reason"]
    assert f"another MPI than this program's ({OWN_NAME}" in verdict["reason"] and "--mpi=pmix" in verdict["reason"]
    assert not {"samples", "benchmarks"} & record.keys()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("launcher", ["local", "template"])
def test_an_mpirun_of_another_mpi_is_refused_before_the_first_launch(real, launcher, program):
    other = shutil.which(OTHER)
    if other is None:
        pytest.skip(f"no {OTHER} in PATH")
    line = ["--launcher", "local", "--mpirun", other]
    options = line if launcher == "local" else machine_file(real, f"{other} -n {{ranks}} {{program}}")
    error = real("run", real.suite('name = "s"\nlaunches = 1\n' + PROGRAMS[program]), *options, code=3).stderr
    for word in (f"launcher '{launcher}'", program, f"'{other}' is {OTHERS_NAME}'s", f"built with {OWN_NAME}"):
        assert word in error, error
    assert not real.archive.exists()


def test_copies_of_the_real_other_mpirun_fail_too_where_nothing_says_whose_it_is(real):
    other = shutil.which(OTHER)
    if other is None:
        pytest.skip(f"no {OTHER} in PATH")
    starter = script(real.path / "starter", f'exec {other} "$@"')
    suite = real.suite('name = "s"\nlaunches = 1\nrepetitions = 2\n' + PROGRAMS["fft_bench"])
    real("run", suite, *machine_file(real, f"{starter} -n {{ranks}} {{program}}"), code=1)
    (record,) = real.records().values()
    assert record["verdict"]["status"] == "failed" and "--ranks 2, but" in record["verdict"]["reason"]


def test_a_launch_by_hand_may_say_how_many_ranks_it_must_have(tmp_path: pathlib.Path):
    command = [OWN, "-n", "2", BIN / "fft_bench", "--variant", "slab", "--shape", "8x8x8", "--planner", "estimate"]
    command[1:1] = ["--oversubscribe"] if is_open_mpi() else []
    for ranks, code in (("2", 0), ("3", 2)):
        run = subprocess.run([*command, "--ranks", ranks, "--record", tmp_path / f"{ranks}.json"],
                             capture_output=True, text=True)  # fmt: skip
        assert run.returncode == code, run.stderr
        assert (tmp_path / f"{ranks}.json").exists() == (code == 0)
    assert "--ranks 3, but the launcher started 2 ranks" in run.stderr and "another MPI" not in run.stderr
