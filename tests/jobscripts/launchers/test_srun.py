"""How srun is asked for ranks, nodes, cores and placement: with a fake one, and with Slurm's own."""

from __future__ import annotations

import json
import pathlib
import shutil

import pytest
from fourscore_command import BIN, is_open_mpi
from slurm_rig import SlurmRig, temporary_folder, unavailable

HERE = pathlib.Path(__file__).parent
FAKE = HERE.parents[1] / "support/fake_srun"


@pytest.fixture
def srun(fourscore):
    """The command in a pretended job of Slurm, with a fake srun."""
    folder = fourscore.folder / "path"
    folder.mkdir()
    (folder / "srun").symlink_to(FAKE)
    fourscore.log_of_srun = fourscore.folder / "srun.log"
    fourscore.environment |= {
        "PATH": f"{folder}:{fourscore.environment['PATH']}",
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "n[1-4]",
        "FAKE_SRUN_PLUGINS": "none pmi2 pmix cray_shasta",
        "FAKE_SRUN_HELP": "      --exact                 use only the resources requested for the step",
        "FAKE_SRUN_LOG": str(fourscore.log_of_srun),
    }
    fourscore.environment.pop("SLURM_PMIX_FENCE", None)
    return fourscore


def machine_file(fourscore, launch: str = "") -> pathlib.Path:
    file = fourscore.folder / "m.toml"
    file.write_text(
        f'name = "m"\nscheduler = "slurm"\nlauncher = "srun"\n[nodes]\ncount = 4\ncores = 4\n[launch]\n{launch}\n'
    )
    return file


def sweep(ranks: int, nodes: int, threads: int = 1, placement: str = "block") -> str:
    return (
        'name = "s"\nlaunches = 1\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\n'
        f'ranks = {ranks}\nnodes = {nodes}\nthreads = {threads}\nplacement_of_ranks = "{placement}"\n'
    )


def launched(fourscore, *point: object, machine: str = "", **options) -> list[str]:
    """The words before the program of the only launch."""
    fourscore.log_of_srun.unlink(missing_ok=True)
    suite = fourscore.suite(sweep(*point))
    fourscore("run", suite, "--machine", machine_file(fourscore, machine), "--fresh", **options)
    (words,) = fourscore.log_of_srun.read_text().splitlines()
    return words.split()


COMMON = ["--mem=0", "--export=ALL", "--kill-on-bad-exit=1"]


@pytest.mark.parametrize(
    ("point", "spread", "binding"),
    [
        ((8, 4), ["--ntasks-per-node=2", "--cpus-per-task=1", "--distribution=block:block,NoPack"], ["--cpu-bind=cores", "--exact"]),
        ((7, 4), ["--cpus-per-task=1", "--distribution=block:block,NoPack"], ["--cpu-bind=cores", "--exact"]),
        ((8, 4, 2), ["--ntasks-per-node=2", "--cpus-per-task=2", "--distribution=block:block,NoPack"], ["--cpu-bind=cores", "--exact"]),
        ((8, 4, 1, "cyclic"), ["--ntasks-per-node=2", "--cpus-per-task=1", "--distribution=cyclic:block"], ["--cpu-bind=cores", "--exact"]),
        ((8, 4, 1, "socket"), ["--ntasks-per-node=2", "--cpus-per-task=1", "--distribution=block:cyclic,NoPack"], ["--cpu-bind=cores"]),
        ((8, 1), ["--ntasks-per-node=8", "--cpus-per-task=1", "--distribution=block:block,NoPack"], ["--overcommit", "--cpu-bind=none"]),
        ((2, 2, 8), ["--ntasks-per-node=1", "--cpus-per-task=8", "--distribution=block:block,NoPack"], ["--overcommit", "--cpu-bind=none"]),
        ((9, 2, 1), ["--cpus-per-task=1", "--distribution=block:block,NoPack"], ["--overcommit", "--cpu-bind=none"]),
    ],
)  # fmt: skip
def test_srun_is_asked_for_nodes_ranks_cores_and_placement(srun, point, spread, binding):
    words = launched(srun, *point, machine='mpi = "pmi2"')
    threads = point[2] if len(point) > 2 else 1
    assert words == [
        "-N",
        str(point[1]),
        "-n",
        str(point[0]),
        *spread,
        *binding,
        *COMMON,
        "--mpi=pmi2",
        f"OMP_NUM_THREADS={threads}",
    ]


def test_options_of_the_machine_file_stand_last(srun):
    words = launched(srun, 4, 2, machine='mpi = "pmi2"\noptions = ["--gpu-bind=none", "--label"]')
    assert words[-4:-1] == ["--mpi=pmi2", "--gpu-bind=none", "--label"]


def test_a_slurm_without_exact_is_not_asked_for_it(srun):
    srun.environment["FAKE_SRUN_HELP"] = "  -n, --ntasks=ntasks"
    assert "--exact" not in launched(srun, 4, 2)


def plugin(fourscore, plugins: str, machine: str = "") -> str:
    words = launched(fourscore, 4, 2, machine=machine, environment={"FAKE_SRUN_PLUGINS": plugins})
    (word,) = [word for word in words if word.startswith("--mpi=")]
    return word.removeprefix("--mpi=")


def test_the_plugin_is_the_machine_files_or_else_fits_the_mpi(srun):
    assert plugin(srun, "none pmix pmi2", machine='mpi = "pmix_v3"') == "pmix_v3"
    assert plugin(srun, "none pmix pmi2 cray_shasta") == ("pmix" if is_open_mpi() else "pmi2")
    assert plugin(srun, "none pmi2") == "pmi2"
    assert plugin(srun, "none pmix_v4") == "pmix_v4"


def test_nothing_is_launched_without_a_plugin_that_fits(srun):
    error = srun(
        "run",
        srun.suite(sweep(4, 2)),
        "--machine",
        machine_file(srun),
        environment={"FAKE_SRUN_PLUGINS": "none openmpi"},
        code=3,
    ).stderr
    assert "srun --mpi=list" in error and 'mpi = "..."' in error and not srun.log_of_srun.exists()


def test_pmix_gets_the_fence_that_does_not_crash_unless_the_user_chose_one(srun):
    assert "SLURM_PMIX_FENCE=ring" in launched(srun, 4, 2, machine='mpi = "pmix"')
    chosen = launched(srun, 4, 2, machine='mpi = "pmix"', environment={"SLURM_PMIX_FENCE": "tree"})
    assert "SLURM_PMIX_FENCE=tree" in chosen and "SLURM_PMIX_FENCE=ring" not in chosen
    assert not [word for word in launched(srun, 4, 2, machine='mpi = "pmi2"') if word.startswith("SLURM_PMIX_FENCE")]


def test_outside_a_job_srun_is_not_used(srun):
    del srun.environment["SLURM_JOB_ID"], srun.environment["SLURM_JOB_NODELIST"]
    error = srun("run", srun.suite(sweep(4, 2)), "--machine", machine_file(srun), code=3).stderr
    assert "launcher 'srun'" in error and "no job of Slurm" in error and "salloc" in error
    assert not srun.log_of_srun.exists()


def test_ranks_that_fit_no_core_are_not_placed_by_socket(srun):
    error = srun("run", srun.suite(sweep(8, 1, 1, "socket")), "--machine", machine_file(srun), code=2).stderr
    assert "8 ranks of 1 threads are more than 4 cores" in error and not srun.log_of_srun.exists()


def test_more_nodes_than_the_job_has_are_refused_before_anything_is_launched(srun):
    srun.environment["SLURM_JOB_NODELIST"] = "n[1-2]"
    error = srun("run", srun.suite(sweep(4, 4)), "--machine", machine_file(srun), code=2).stderr
    assert "4 ranks" in error and "4 nodes" in error and "this job has 2 nodes" in error
    assert not srun.log_of_srun.exists()


# On a real Slurm.


@pytest.fixture(scope="module")
def rig():
    if reason := unavailable():
        pytest.skip(reason)
    with temporary_folder() as folder, SlurmRig(folder, nodes=3) as rig:
        programs = rig.folder / "bin"
        programs.mkdir()
        for program in ("fourscore", "fft_bench"):
            shutil.copy(BIN / program, programs)
        yield rig


def in_a_job(rig: SlurmRig, nodes: int, *words: object) -> str:
    """What a command prints in a job of so many nodes."""
    out = rig.folder / "out"
    script = rig.folder / "job.sh"
    script.write_text("#!/bin/sh\n" + " ".join(map(str, words)) + "\n")
    job = rig.run(["sbatch", "--wait", "-N", nodes, "-o", out, "--chdir", rig.folder, script], timeout=240)
    text = out.read_text()
    assert job.returncode == 0, text + job.stderr
    return text


def test_records_of_a_campaign_on_several_nodes_say_that_they_ran_there(rig):
    (rig.folder / "m.toml").write_text(
        'name = "rig"\nscheduler = "slurm"\nlauncher = "srun"\n[nodes]\ncount = 3\ncores = 2\n'
    )
    (rig.folder / "s.toml").write_text(
        'name = "s"\nlaunches = 1\nrepetitions = 2\norder = "listed"\n'
        '[defaults]\nvariant = "slab"\nshape = "12x12x12"\nplanner = "estimate"\n'
        "[[sweep]]\nranks_per_node = 2\nnodes = [1, 3]\n"
        '[[sweep]]\nranks = 5\nnodes = 3\nplacement_of_ranks = ["block", "cyclic"]\n'
    )
    command = [rig.folder / "bin/fourscore", "run", "s.toml", "--machine", "m.toml", "--archive", "archive", "--quiet"]
    text = in_a_job(rig, 3, *command)
    records = [json.loads(file.read_text()) for file in sorted((rig.folder / "archive").glob("records/*/*.json"))]
    assert [record["verdict"]["status"] for record in records] == ["ok"] * 4, text
    places = {
        (record["point"]["ranks"], record["point"].get("nodes", 1), record["point"].get("placement_of_ranks", "block"))
        for record in records
    }
    assert places == {(2, 1, "block"), (6, 3, "block"), (5, 3, "block"), (5, 3, "cyclic")}
    for record in records:
        launch = record["provenance"]["identity"]["launch"]
        assert (launch["launcher"], launch["nodes"]) == ("srun", record["point"].get("nodes", 1))
        assert len(record["provenance"]["volatile"]["hosts"]) == launch["nodes"]


def test_the_local_launcher_refuses_a_job_of_several_nodes_and_names_one_that_does_not(rig):
    run = f"{rig.folder}/bin/fourscore run s2.toml --launcher local --archive archive2 --quiet; echo code $?"
    (rig.folder / "s2.toml").write_text(
        'name = "s"\nlaunches = 1\n[[sweep]]\nvariant = "slab"\nshape = "8x8x8"\nranks = 2\n'
    )
    text = in_a_job(rig, 2, run)
    assert "code 3" in text and "this job has 2 nodes" in text and "--launcher srun" in text
    assert not list((rig.folder / "archive2").glob("records/*/*"))
    assert "code 0" in in_a_job(rig, 1, run)
