"""The command line itself."""

import json

import pytest

COMMANDS = ["list", "run", "status", "verify", "counters", "reindex", "export", "report"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(fourscore, command):
    out = fourscore(command, "--help").stdout
    assert "Examples:" in out and f"fourscore {command}" in out


def test_help_lists_every_command(fourscore):
    out = fourscore("--help").stdout
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rum"], "did you mean 'run'"),
        (["run", "smoke", "--archve", "x"], "did you mean '--archive'"),
        (["list", "variantz"], "variants"),
        (["export", "--format", "xml"], "benchmark"),
        (["export"], "--format"),
        (["reindex", "surplus"], "surplus"),
        ([], "fourscore --help"),
        (["run", "smoke", "--launcher", "locl", "--dry-run"], "did you mean 'local'"),
        (["nosuch", "--help"], "'nosuch' is not a command"),
        (["nosuch", "--version"], "'nosuch' is not a command"),
        (["counters", "nosuch", "--help"], "nosuch"),
    ],
)
def test_unusable_arguments_end_with_2_and_a_suggestion(fourscore, arguments, words):
    result = fourscore(*arguments, code=2, environment={"FOURSCORE_SUITES": str(suites_with_smoke(fourscore))})
    assert words in result.stderr and result.stdout == ""


def suites_with_smoke(fourscore):
    fourscore.suite('name="smoke"\n[[sweep]]\nvariant="good"\nshape="4"\nranks=1\n', "smoke.toml")
    return fourscore.folder


@pytest.mark.parametrize("what", ["variants", "exchanges", "components", "suites", "counters", "launchers"])
def test_everything_that_is_listed_is_there_for_machines_too(fourscore, what):
    entries = json.loads(fourscore("list", what, "--json").stdout)
    words = fourscore("list", what).stdout
    assert all(entry["name"] in words and {"available", "reason"} <= entry.keys() for entry in entries)
    assert entries or what == "exchanges"


def test_a_launcher_that_cannot_run_stays_listed_with_its_reason(fourscore):
    out = fourscore("list", "launchers", environment={"FOURSCORE_MPIEXEC": "/nowhere/mpirun"}).stdout
    assert "local" in out and "/nowhere/mpirun" in out


def test_report_without_its_python_ends_with_3_and_says_what_to_do(fourscore):
    fourscore("run", fourscore.points(points=1, launches=1))
    error = fourscore("report", environment={"FOURSCORE_PYTHON": "/nowhere/python"}, code=3).stderr
    assert "/nowhere/python" in error and "jobscripts/setup" in error
