"""`fourscore machine check`: what a machine file says beside what its nodes are."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from fourscore_command import BIN, script
from processes import wait_for
from slurm_rig import SlurmRig, temporary_folder, unavailable

REAL = {"FOURSCORE_BENCH": str(BIN / "fft_bench"), "FOURSCORE_MPIEXEC": os.environ["FOURSCORE_TEST_MPIEXEC"]}


def machine_file(folder: pathlib.Path, text: str) -> pathlib.Path:
    file = folder / "m.toml"
    file.write_text('name = "m"\n' + text)
    return file


def checked(fourscore, text: str, code: int = 0, **environment: str) -> dict[str, dict]:
    """The findings by key."""
    file = machine_file(fourscore.folder, text)
    result = fourscore.json("machine", "check", file, environment=environment, code=code)
    assert result["agrees"] == (code == 0) == (not [f for f in result["findings"] if f["agreement"] == "differs"])
    return {finding["key"]: finding for finding in result["findings"]}


def this_node() -> dict:
    """What this machine is, as the real fft_bench says."""
    identity = subprocess.run([BIN / "fft_bench", "--identity"], capture_output=True, text=True, check=True).stdout
    return json.loads(identity)["identity"]["machine"]


# Without a scheduler, here.


def test_a_right_file_agrees_and_leaves_nothing(fourscore):
    node = this_node()
    gib = round(node["memory_bytes"] / 2**30)
    text = f"[nodes]\ncores = {node['cores']}\ngpus = {len(node['gpus'])}\nmemory_gib = {gib}\n"
    found = checked(fourscore, text, **REAL)
    assert {
        found[key]["agreement"] for key in ("cores", "gpus", "memory_gib", "launcher local", "fft_bench", "archive")
    } == {"agrees"}
    assert found["launcher local"]["found"].startswith("2 ranks on 1 node: ")
    assert found["sockets"]["agreement"] == "not said" and int(found["sockets"]["found"]) >= 1
    assert not list(fourscore.archive.iterdir())


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("cores = 4097\n", "cores", "4097"),
        ("sockets = 4095\n", "sockets", "4095"),
        ("memory_gib = 0.5\n", "memory_gib", "0.5"),
    ],
)
def test_a_wrong_number_of_a_node_differs(fourscore, text, key, expected):
    found = checked(fourscore, "[nodes]\n" + text, code=1, **REAL)
    assert (found[key]["agreement"], found[key]["expected"]) == ("differs", expected)
    assert [one["key"] for one in found.values() if one["agreement"] == "differs"] == [key]
    text = fourscore("machine", "check", fourscore.folder / "m.toml", environment=REAL, code=1).stdout
    assert f"expected {expected}, found " in text and "Machine m differs from its file in 1 of" in text
    folders = list((fourscore.archive / "machine-checks").iterdir())
    assert len(folders) == 2 and all((folder / "request.json").exists() for folder in folders)
    assert not list(fourscore.archive.glob(".fourscore-mark-*"))


def test_ranks_on_more_nodes_than_asked_for_differ(fourscore):
    found = checked(fourscore, "", code=1, FAKE_HOSTS="n1 n2")
    assert found["launcher local"]["expected"] == "2 ranks on 1 node"
    assert found["launcher local"]["found"] == "2 ranks on 2 nodes: n1, n2"


def test_a_launcher_that_does_not_start_differs_with_its_own_words(fourscore):
    failures = fourscore.folder / "failures"
    failures.mkdir()
    for number in range(2):
        (failures / str(number)).touch()
    found = checked(fourscore, "", code=1, FAKE_MPIRUN_FAILS=str(failures))
    assert "orte_init failed" in found["launcher local"]["found"]
    found = checked(fourscore, "", code=1, FOURSCORE_MPIEXEC="/proc/no/such/mpirun")
    assert "/proc/no/such/mpirun" in found["launcher local"]["found"]


def test_shared_folders_that_are_not_there_differ(fourscore):
    (fourscore.folder / "there").mkdir()
    found = checked(fourscore, f'[files]\nshared = ["{fourscore.folder}/there"]\n')
    assert found["shared"]["agreement"] == "agrees" and not list((fourscore.folder / "there").iterdir())
    found = checked(fourscore, f'[files]\nshared = ["{fourscore.folder}/not-there"]\n', code=1)
    assert found["shared"]["agreement"] == "differs" and not (fourscore.folder / "not-there").exists()


def test_an_archive_that_cannot_be_written_is_an_error_of_the_environment(fourscore):
    (fourscore.folder / "file").write_text("")
    error = fourscore(
        "machine", "check", machine_file(fourscore.folder, ""), "--archive", fourscore.folder / "file/a", code=3
    ).stderr
    assert "file/a" in error


def test_nothing_is_tried_without_the_scheduler(fourscore):
    file = machine_file(fourscore.folder, 'scheduler = "slurm"\nlauncher = "srun"\n[nodes]\ncores = 1\n')
    error = fourscore("machine", "check", file, environment={"PATH": "/proc/nowhere"}, code=3).stderr
    assert "scheduler 'slurm'" in error and "no sbatch" in error and not fourscore.archive.exists()


# On a real Slurm.


class OnSlurm:
    """The command on the login node of a rig, with an archive that the nodes see."""

    def __init__(self, rig: SlurmRig):
        self.rig = rig
        self.folder = rig.folder
        self.archive = rig.folder / "archive"
        for program in ("fourscore", "fft_bench"):
            shutil.copy(BIN / program, rig.folder)
        self.node = this_node()
        self.file = machine_file(rig.folder, self.text())

    def text(self, cores: int | None = None, more: str = "", memory: float = 0) -> str:
        memory = memory or round(self.node["memory_bytes"] / 2**30)
        head = 'scheduler = "slurm"\nlauncher = "srun"\n'
        return f"{head}[nodes]\ncount = 3\ncores = {cores or self.node['cores']}\nmemory_gib = {memory}\n{more}"

    def __call__(self, text: str, *options: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        self.file.write_text('name = "m"\n' + text)
        archive = [] if "--archive" in options else ["--archive", self.archive]
        command = [self.folder / "fourscore", "machine", "check", self.file, *archive, *options]
        result = self.rig.run(command, timeout=240)
        assert result.returncode == code, (
            f"exit {result.returncode}\n{result.stdout}\n{result.stderr}\n{self.rig.logs()}"
        )
        return result

    def findings(self, text: str, *options: object, code: int = 0) -> list[dict]:
        return json.loads(self(text, "--json", *options, code=code).stdout)["findings"]


@pytest.fixture(scope="module")
def slurm():
    if reason := unavailable():
        pytest.skip(reason)
    cores = this_node()["cores"]
    with temporary_folder() as folder, SlurmRig(folder, nodes=3, cpus=cores) as rig:
        yield OnSlurm(rig)


def differing(findings: list[dict]) -> list[dict]:
    return [one for one in findings if one["agreement"] == "differs"]


def test_a_job_of_two_nodes_says_that_a_right_file_agrees(slurm):
    result = slurm(slurm.text(more='[environment]\nset = { MINE = "a b" }\n'))
    assert "Machine m is as its file says." in result.stdout and "differs" not in result.stdout
    for line in ("2: n1, n2", "2 ranks on 2 nodes: n1, n2", "a b", "seen"):
        assert line in result.stdout, result.stdout
    assert "job" in result.stderr and "COMPLETED" in result.stderr
    assert not list(slurm.archive.iterdir())


def test_a_wrong_file_differs_with_the_keys_named(slurm):
    (one,) = differing(slurm.findings(slurm.text(memory=1.5), code=1))
    assert (one["key"], one["expected"]) == ("memory_gib", "1.5")


def test_more_cores_than_a_node_has_differ_with_slurms_words_and_what_there_is(slurm):
    cores = slurm.node["cores"]
    result = json.loads(slurm(slurm.text(cores=cores + 1), "--json", code=1).stdout)
    of_cores = [one for one in result["findings"] if one["key"] == "cores"]
    assert "such a job is refused" in of_cores[0]["found"] and "node" in of_cores[0]["found"]
    assert (of_cores[1]["expected"], of_cores[1]["found"]) == (str(cores + 1), str(cores))
    assert pathlib.Path(result["folder"], "job.sh").exists() and len(result["found"]["nodes"]) == 2


def test_an_archive_that_compute_nodes_do_not_see_differs(slurm):
    archive = f"/tmp/fourscore-not-seen-{os.getpid()}"  # each node has its own /tmp
    (one,) = differing(slurm.findings(slurm.text(), "--archive", archive, code=1))
    shutil.rmtree(archive)
    assert (one["key"], one["expected"]) == ("archive", archive)
    assert "not seen by the nodes" in one["found"] and "FAILED" in one["found"]


def test_a_shared_folder_that_one_node_sees_otherwise_differs(slurm):
    folder = pathlib.Path("/tmp") / f"fourscore-shared-{os.getpid()}"
    folder.mkdir()
    try:
        found = slurm.findings(slurm.text(more=f'[files]\nshared = ["{folder}", "{slurm.folder}"]\n'), code=1)
    finally:
        shutil.rmtree(folder)
    (one,) = differing(found)
    assert (one["key"], one["expected"]) == ("shared", str(folder)) and "n1" in one["found"] and "n2" in one["found"]
    assert [one["expected"] for one in found if one["found"] == "seen"] == [str(slurm.archive), str(slurm.folder)]


def test_what_the_job_says_before_it_fails_is_shown(slurm):
    (one,) = slurm.findings(slurm.text(more='[environment]\nsetup = ["echo a bad day >&2; exit 4"]\n'), code=1)
    assert one["key"] == "job" and "a bad day" in one["found"] and "FAILED" in one["found"]


def test_what_slurm_refuses_is_shown_in_its_words_with_code_2(slurm):
    error = slurm(slurm.text(more='[queue]\npartition = "no-such"\n'), code=2).stderr
    assert "invalid partition" in error.lower()
    assert not list(slurm.archive.glob(".fourscore-mark-*"))


def test_a_job_that_does_not_begin_is_cancelled_when_patience_ends(slurm):
    blocker = slurm.rig.run(
        ["sbatch", "--parsable", "-N3", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 100"]
    ).stdout.strip()
    try:
        error = slurm(slurm.text(), "--patience", "2", code=3).stderr
        assert "PENDING" in error and "was cancelled" in error and "--patience" in error
        assert queued(slurm) == {blocker}
    finally:
        slurm.rig.run(["scancel", blocker])
        slurm.rig.wait_until_idle()


def queued(slurm) -> set[str]:
    return set(slurm.rig.run(["squeue", "--noheader", "--format=%i"]).stdout.split())


@pytest.mark.parametrize("slow_program", ["", "sbatch", "squeue"])
def test_an_interrupt_cancels_the_job(slurm, slow_program, tmp_path):
    """Also where sbatch has not yet said which job it is, and where squeue is asked whether it can ever start."""
    slow = tmp_path
    if slow_program:
        real = shutil.which(slow_program, path=slurm.rig.environment.get("PATH"))
        script(slow / slow_program, f'"{real}" "$@" >"$0.said" && sleep 2 && cat "$0.said"')
    environment = {**slurm.rig.environment, "PATH": f"{slow}:{slurm.rig.environment['PATH']}"}
    blocker = slurm.rig.run(
        ["sbatch", "--parsable", "-N3", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 100"]
    ).stdout.strip()
    try:
        slurm.file.write_text('name = "m"\n' + slurm.text())
        command = [slurm.folder / "fourscore", "machine", "check", slurm.file, "--archive", slurm.archive]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert wait_for(lambda: len(queued(slurm)) == 2)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        assert process.returncode == 130 and queued(slurm) == {blocker}, error
    finally:
        slurm.rig.run(["scancel", blocker])
        slurm.rig.wait_until_idle()
