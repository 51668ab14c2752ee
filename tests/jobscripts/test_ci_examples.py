"""jobscripts/ci: what the examples run is there, and their commands of the gate work. GitHub and GitLab were not asked."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "jobscripts" / "ci"
ROOT = FOLDER.parents[1]
YAML = sorted(FOLDER.glob("*.yml"))


def commands(file: pathlib.Path) -> list[str]:
    """Lines that call fourscore."""
    return re.findall(r"^ *- (?:run: )?(fourscore .*)$", file.read_text(), re.MULTILINE)


@pytest.mark.parametrize("file", YAML, ids=lambda file: file.name)
def test_an_example_is_yaml_with_an_exact_and_a_timed_job(file):
    yaml = pytest.importorskip("yaml", reason="no PyYAML here")
    content = yaml.safe_load(file.read_text())
    jobs = content.get("jobs", content)
    assert {"exact", "times"} <= jobs.keys()


@pytest.mark.parametrize("file", YAML, ids=lambda file: file.name)
def test_what_an_example_names_in_the_repository_is_there(file):
    text = file.read_text()
    named = re.findall(r"(?:\./)?((?:jobscripts|tests|docs)/[\w./-]+)", text)
    wanted = set() if file.stem == "your-library" else {"tests/jobscripts/exact-baseline.json"}
    assert {"jobscripts/setup"} | wanted <= set(named)
    assert all((ROOT / name).exists() for name in named)


@pytest.mark.parametrize("file", YAML, ids=lambda file: file.name)
def test_the_gates_commands_of_an_example_are_understood(fourscore, file):
    """Each with --help behind: an option that there is not ends with code 2 before that."""
    found = commands(file)
    assert len(found) == 3
    for line in found:
        words = shlex.split(re.sub(r"\$\{\{.*?\}\}|\"?\$\w+\"?", "HEAD", line))[1:]
        fourscore(*words, "--help")
        fourscore(*words, "--no-such-option", code=2)


def test_the_nightly_script_is_a_script_and_wants_a_machine():
    script = FOLDER / "nightly-slurm"
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    run = subprocess.run([script], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "usage: nightly-slurm MACHINE" in run.stderr


def test_the_nightly_scripts_commands_are_understood(fourscore):
    text = (FOLDER / "nightly-slurm").read_text()
    found = re.findall(r"^ *fourscore (submit|history) (.*)$", text, re.MULTILINE)
    assert [name for name, _ in found] == ["submit", "history"]
    for name, line in found:
        fourscore(name, *re.sub(r"\"\$\w+\"", "NAME", line).split(), "--help")
