"""What all schedulers promise, with stand-ins for their programs."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess

import pytest
from schedulers import FakeScheduler, fails

SUBMIT = {"slurm": "sbatch", "pbs": "qsub"}
STATES = {"slurm": "squeue", "pbs": "qstat"}
CANCEL = {"slurm": "scancel", "pbs": "qdel"}
ID = {"slurm": "7", "pbs": "7.pbs"}
AWAY = {
    "slurm": "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n",
    "pbs": "qsub: cannot connect to server pbs (errno=111)\n",
}
REFUSAL = {
    "slurm": "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
    "pbs": "qsub: Unknown queue\n",
}
ENDED = {
    "slurm": "scancel: error: Kill job error on job id 7: Invalid job id specified\n",
    "pbs": "qdel: Unknown Job Id 7.pbs\n",
}
FOREIGN = {
    "slurm": "scancel: error: Kill job error on job id 7: Access/permission denied\n",
    "pbs": "qdel: Unauthorized Request  7.pbs\n",
}


@pytest.fixture(params=["slurm", "pbs"])
def fake(request, tmp_path) -> FakeScheduler:
    scheduler = FakeScheduler(request.param, tmp_path / "fake")
    for program in ("squeue", "qstat"):
        scheduler.answers(program, ("", "", 0))
    return scheduler


@pytest.fixture
def script(tmp_path) -> pathlib.Path:
    file = tmp_path / "job.sh"
    file.write_text("#!/bin/bash\ntrue\n")
    return file


def run_script(text: str, folder: pathlib.Path) -> subprocess.CompletedProcess:
    """As a scheduler runs it; a use of a variable that is not set is an error."""
    file = folder / "script"
    file.write_text(text)
    return subprocess.run(["bash", "-u", file], cwd=folder, capture_output=True, text=True, check=False, timeout=30)


def test_it_can_be_used_where_its_programs_are(fake):
    assert fake.reason() == ""


def test_it_says_which_of_its_programs_are_missing_and_what_to_do(fake):
    (fake.programs / SUBMIT[fake.name]).unlink()
    assert f"no {SUBMIT[fake.name]} in PATH" in fake.reason()
    assert "login node" in fake.reason()


def test_a_job_that_it_refuses_is_unusable_input_in_its_own_words(fake, script):
    fake.answers(SUBMIT[fake.name], ("", REFUSAL[fake.name], 1))
    with fails(2, REFUSAL[fake.name].strip(), str(script)):
        fake.submit(script)
    assert len(fake.calls(SUBMIT[fake.name])) == 1


def test_it_is_asked_again_while_it_does_not_answer_and_the_job_is_submitted_once(fake, script):
    away = ("", AWAY[fake.name], 1)
    fake.answers(SUBMIT[fake.name], away, away, (f"{ID[fake.name]}\n", "", 0))
    assert fake.submit(script) == ID[fake.name]
    assert len(fake.calls(SUBMIT[fake.name])) == 3
    assert fake.said.count("does not answer") == 2
    assert AWAY[fake.name].strip() in fake.said
    assert "asking again in 2 s" in fake.said


@pytest.mark.parametrize("question", ["submit", "states", "cancel"])
def test_when_patience_ends_the_environment_has_failed(fake, script, question):
    for program in (SUBMIT, STATES, CANCEL):
        fake.answers(program[fake.name], ("", AWAY[fake.name], 1))
    with fails(3, "does not answer", "FOURSCORE_SCHEDULER_PATIENCE"):
        fake.ask(question, script if question == "submit" else ID[fake.name], FOURSCORE_SCHEDULER_PATIENCE="0")


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "3s"])
def test_a_patience_that_is_no_number_is_named(fake, script, value):
    with fails(2, f"FOURSCORE_SCHEDULER_PATIENCE is '{value}'; expected a number of seconds"):
        fake.submit(script, FOURSCORE_SCHEDULER_PATIENCE=value)


def test_an_interrupt_ends_the_waiting(fake, script):
    fake.answers(SUBMIT[fake.name], ("", AWAY[fake.name], 1))
    process = fake.start("submit", script, FOURSCORE_SCHEDULER_PATIENCE="1000")
    while "does not answer" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130


def test_a_job_that_has_ended_is_cancelled_without_an_error(fake):
    fake.answers(CANCEL[fake.name], ("", ENDED[fake.name], 1))
    fake.cancel(ID[fake.name])


def test_a_job_that_may_not_be_cancelled_is_an_error_in_the_schedulers_words(fake):
    fake.answers(CANCEL[fake.name], ("", FOREIGN[fake.name], 1))
    with fails(3, FOREIGN[fake.name].strip()):
        fake.cancel(ID[fake.name])


def test_many_jobs_are_asked_for_and_cancelled_at_once(fake):
    jobs = [ID[fake.name].replace("7", str(n)) for n in range(1, 501)]
    fake.answers("sacct", ("", "Slurm accounting storage is disabled\n", 1))
    fake.answers(CANCEL[fake.name], ("", "", 0))
    states = fake.states(*jobs)
    assert len(states) == 500
    assert len(fake.calls()) == 2  # one for jobs that live, one for jobs that it has forgotten
    fake.cancel(*jobs)
    assert [call["argv"] for call in fake.calls(CANCEL[fake.name])] == [jobs]


def test_no_jobs_are_not_asked_for(fake):
    assert fake.states() == {}
    fake.cancel()
    assert fake.calls() == []


def test_there_is_no_allocation_outside_a_job(fake):
    assert fake.allocation() is None


def test_a_script_runs_the_commands_in_the_environment_of_the_machine_file(fake, tmp_path):
    values = [["PLAIN", "x"], ["SPACES", "a  b"], ["SHELL_CHARACTERS", '$HOME `id` "q" it\'s \\ !'], ["EMPTY", ""]]
    machine = {"environment": values, "setup": ["FROM_SETUP=1", "export FROM_SETUP"]}
    show = "import json, os; print(json.dumps({k: os.environ[k] for k in os.environ}))"
    text = fake.script(machine, folder=str(tmp_path), commands=[f"python3 -c '{show}'"])
    result = run_script(text, tmp_path)
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert {name: seen[name] for name, _ in values} == dict(values)
    assert seen["FROM_SETUP"] == "1"


def test_a_module_that_cannot_be_loaded_ends_the_job(fake, tmp_path):
    machine = {"modules": ["openmpi/5.0 beta"], "setup": ["echo set up"]}
    text = fake.script(machine, commands=["echo ran"])
    assert "module load 'openmpi/5.0 beta' || exit 3\n" in text
    # A login shell: it is what defines `module` on a cluster.
    assert text.startswith("#!/bin/bash -l\n")
    result = run_script(text, tmp_path)
    assert result.returncode == 3
    assert result.stdout == ""


def test_a_script_says_how_it_is_submitted_by_hand(fake):
    text = fake.script({"name": "cluster"}, name="strong, 4 nodes")
    assert text.splitlines()[1] == f"# strong, 4 nodes, on machine cluster. By hand: {SUBMIT[fake.name]} THIS_FILE"


@pytest.mark.parametrize("field", ["folder", "log"])
def test_a_text_of_two_lines_adds_no_line_to_a_script(fake, field, tmp_path):
    if fake.name == "pbs" and field == "folder":  # a line of shell, which holds any name in quotes
        folder = tmp_path / "a\nb"
        folder.mkdir()
        result = run_script(fake.script(folder=str(folder), commands=["pwd"]), tmp_path)
        assert result.stdout == f"{folder}\n"
        return
    with fails(2, "expected one line"):
        fake.script(**{field: "/a\n#SBATCH --array=1-9"})


def test_only_a_job_of_the_user_answers_to_the_environment(fake):
    assert fake.allocation(SLURM_JOB_ID="", SLURM_JOB_NODELIST="n1", PBS_JOBID="", PBS_NODEFILE="/proc/nowhere") is None


def test_the_command_lists_schedulers_with_what_is_missing(fake):
    command = [os.environ["FOURSCORE_BIN"] + "/fourscore", "list", "schedulers", "--json"]
    out = subprocess.run(command, env=fake.environment, capture_output=True, text=True, check=True, timeout=60).stdout
    listed = {entry["name"]: entry for entry in json.loads(out)}
    assert {name for name, entry in listed.items() if entry["available"]} == {fake.name}
    (other,) = listed.keys() - {fake.name}
    assert (
        f"no {', '.join(['sbatch', 'squeue', 'scancel'] if other == 'slurm' else ['qsub', 'qstat', 'qdel'])}"
        in (listed[other]["reason"])
    )
