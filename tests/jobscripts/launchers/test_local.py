"""mpirun on this machine: which launches it cannot start, and what a machine file adds."""

from __future__ import annotations

import pytest


def suite(fourscore, ranks: int, nodes: int = 1, placement: str = "block"):
    return fourscore.suite(
        'name = "s"\nlaunches = 1\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\n'
        f'ranks = {ranks}\nnodes = {nodes}\nplacement_of_ranks = "{placement}"\n'
    )


def machine_file(fourscore, text: str):
    file = fourscore.folder / "m.toml"
    file.write_text('name = "m"\n' + text)
    return file


@pytest.fixture
def log(fourscore):
    log = fourscore.folder / "mpirun.log"
    fourscore.environment["FAKE_MPIRUN_LOG"] = str(log)
    return log


def test_several_nodes_are_refused_with_the_launchers_that_could(fourscore, log):
    error = fourscore("run", suite(fourscore, 4, 2), code=2).stderr
    assert "good" in error and "4 ranks" in error and "2 nodes: launcher 'local'" in error
    assert "'srun' would, but not here: " in error and "template" not in error
    assert not log.exists() and not fourscore.records()


JOBS = {
    "Slurm": {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_NUM_NODES": "2"},
    "PBS": {"PBS_JOBID": "7.server"},
    "one whose scheduler is not known": {"SLURM_NNODES": "2"},
}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("nodes", [1, 2])
def test_a_job_of_several_nodes_is_not_oversubscribed_on_one(fourscore, log, job, nodes):
    environment = {name: value.replace("2", str(nodes)).replace("1-1", "1") for name, value in JOBS[job].items()}
    if job == "PBS":
        file = fourscore.folder / "nodefile"
        file.write_text("".join(f"n{node}\n" * 4 for node in range(1, nodes + 1)))
        environment["PBS_NODEFILE"] = str(file)
    result = fourscore("run", suite(fourscore, 2), environment=environment, code=3 if nodes == 2 else 0)
    assert ("this job has 2 nodes" in result.stderr and "--launcher srun" in result.stderr) == (nodes == 2)
    assert log.exists() == (nodes == 1)


def words(fourscore, log, says: str, machine: str = "", **point) -> str:
    log.unlink(missing_ok=True)
    options = ["--machine", machine_file(fourscore, "[nodes]\ncores = 4\n" + machine)]
    fourscore("run", suite(fourscore, **point), *options, "--fresh", environment={"FAKE_MPIRUN_SAYS": says})
    return log.read_text().replace("--allow-run-as-root ", "").split(" -n ")[0]


OPEN_MPI, HYDRA = "mpirun (Open MPI) 4.1.4", "HYDRA build details:"


def test_ranks_go_to_sockets_in_turn_where_they_are_asked_to(fourscore, log):
    assert (
        words(fourscore, log, OPEN_MPI, ranks=4, placement="socket")
        == "--bind-to core --map-by socket --rank-by socket"
    )
    assert words(fourscore, log, HYDRA, ranks=4, placement="socket") == "-bind-to core -map-by socket"
    error = fourscore("run", suite(fourscore, 5, 1, "socket"), "--machine", fourscore.folder / "m.toml", code=2).stderr
    assert "5 ranks of 1 threads are more than the 4 cores" in error


def test_cyclic_on_one_node_is_block(fourscore, log):
    assert words(fourscore, log, OPEN_MPI, ranks=4, placement="cyclic") == "--bind-to core --map-by core"


def test_options_of_the_machine_file_are_mpiruns(fourscore, log):
    options = '[launch]\noptions = ["--mca", "btl", "tcp,self"]\n'
    assert words(fourscore, log, OPEN_MPI, options, ranks=2).endswith(" --mca btl tcp,self")


def test_the_command_lines_launcher_stands_in_for_the_machine_files(fourscore, log):
    machine = machine_file(fourscore, 'launcher = "template"\n[launch]\nline = "no-such-program {ranks} {program}"\n')
    fourscore("run", suite(fourscore, 2), "--machine", machine, "--launcher", "local")
    assert log.exists()
