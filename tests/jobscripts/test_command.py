"""The command line itself."""

import os
import re
import resource

import pytest

COMMANDS = "list run status verify counters reindex export report best publish fit predict advise compare history gate".split()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(fourscore, command):
    out = fourscore(command, "--help").stdout
    assert "Examples:" in out and f"fourscore {command}" in out


@pytest.mark.parametrize(
    ("command", "options"),
    [("compare", "--suite --json"), ("gate certify", "--runs --json"), ("history", "--repo --series")],
)
def test_help_shows_the_options_of_both_languages(fourscore, command, options):
    out = fourscore(*command.split(), "--help").stdout
    assert all(f"\n  {option} " in out for option in options.split())


def test_help_fits_a_terminal_of_100_columns(fourscore):
    asked = [[]] + [[name] for name in re.findall(r"^  ([a-z]+) ", fourscore("--help").stdout, re.MULTILINE)]
    assert len(asked) > 20
    asked += [["machine", "check"], ["counters", "qualify"], ["gate", "certify"], ["foreign", "check"], ["laboratory", "up"]]
    wide = {}
    for words in asked:
        lines = fourscore(*words, "--help", environment={"COLUMNS": "100"}).stdout.splitlines()
        # An example that is run by copying it may be longer: it must not be broken.
        wide |= {(*words, line): len(line) for line in lines if len(line) > (100 if line[:12] != "  fourscore " else 120)}
    assert not wide


def test_the_version_has_its_revision_and_day(fourscore):
    said = fourscore("--version").stdout
    assert re.fullmatch(r"fourscore \d+\.\d+\.\d+( \([0-9a-f]{12}, \d{4}-\d\d-\d\d(, changed)?\))?\n", said), said


def test_help_is_a_command_too(fourscore):
    assert fourscore("help").stdout == fourscore("--help").stdout
    assert fourscore("help", "machine", "check").stdout == fourscore("machine", "check", "--help").stdout
    assert fourscore("help", "history").stdout == fourscore("history", "--help").stdout
    assert "'rum' is not a command, did you mean 'run'?" in fourscore("help", "rum", code=2).stderr


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
        (["gate", "chek"], "did you mean 'check'"),
        # Commands that both languages answer, before anything is measured: options of one, and of the other.
        (["compare", "HEAD", "HEAD", "--suit", "smoke"], "fourscore: '--suit' is not an option of `fourscore compare`"),
        (["compare", "HEAD", "HEAD", "--strct"], "did you mean '--strict'"),
        (["compare", "HEAD", "HEAD", "--detect", "1%"], "expected more than the margin"),
        (["gate", "certify", "--runs", "0"], "`fourscore gate certify --help`"),
        (["gate", "accept", "exact", "--baseline", "b.json", "--markdown", "m.md"], "'--markdown' is not an option"),
        (["history", "--repp", "."], "did you mean '--repo'"),
    ],
)
def test_unusable_arguments_end_with_2_and_a_suggestion(fourscore, arguments, words):
    result = fourscore(*arguments, code=2, environment={"FOURSCORE_SUITES": str(suites_with_smoke(fourscore))})
    assert words in result.stderr and result.stdout == ""


PREDICTED = ["--variant", "pencil", "--shape", "4096x4096x4096"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["best", "--shape", "2x4x4"], "--ranks"),
        (["best", "--ranks", "2"], "--shape"),
        (["best", "--shape", "2xfour", "--ranks", "2"], "'2xfour' is not a shape"),
        (["best", "--shape", "2x4x4", "--ranks", "-1"], "'-1' is not a number"),
        (["best", "--shape", "2x4x4", "--ranks", "2", "--precision", "half"], "half"),
        (["best", "--shape", "2x4x4", "--ranks", "2", "--nodes", "3"], "at most as many as --ranks, 2"),
        (["best", "--shape", "2x4x4", "--ranks", "1", "--machine-hash", "nosuch"], "no launch was on a machine 'nosuch'"),
        (["fit", "--model", "nosuch"], "no model 'nosuch'"),
        (["fit", "--given", "latency"], "is not NAME=VALUE"),
        (["fit", "--form", "compute=never"], "form compute cannot be 'never'"),
        (["fit", "nosuch"], "no campaign or suite 'nosuch'"),
        (["fit", "--nosuch"], "--nosuch"),
        (["compare"], "expected BASE and CAND, or --comparison FILE"),
        (["compare", "nosuch", "nosuch"], "'nosuch' is no fft_bench or folder with one, no campaign of"),
        (["compare", "--comparison", "nosuch.json"], "'nosuch.json': No such file"),
        (["compare", "a", "b", "c"], "c"),
        (["predict", "--shape", "4x4x4", "--ranks", "2"], "--variant is missing"),
        (["predict", *PREDICTED, "--machine", "hoper"], "no machine 'hoper'"),
        (["predict", *PREDICTED, "--machine", "hopper"], "does not give all that a prediction takes"),
        (["predict", *PREDICTED, "--ranks", "2", "--given", "latency"], "'latency' is not NAME=VALUE"),
        (["advise", "--shape", "4x4x4"], "--ranks"),
        (["advise", "--shape", "4x4x4", "--ranks", "4:2"], "goes backwards"),
    ],
)
def test_unusable_questions_to_the_analysis_end_with_2_and_say_what_is_wrong(measured, arguments, words):
    result = measured(*arguments, code=2)
    assert words in result.stderr and result.stdout == ""


@pytest.mark.parametrize("command", ["best", "fit", "predict --variant pencil", "advise"])
def test_a_question_to_an_archive_that_is_not_there_ends_with_3(fourscore, command):
    words = [] if command == "fit" else ["--shape", "4x4x4", "--ranks", "2"]
    assert "no archive at" in fourscore(*command.split(), *words, "--archive", "nosuch", code=3).stderr


def suites_with_smoke(fourscore):
    fourscore.suite('name="smoke"\n[[sweep]]\nvariant="good"\nshape="4"\nranks=1\n', "smoke.toml")
    return fourscore.folder


@pytest.mark.parametrize("what", ["variants", "exchanges", "components", "suites", "counters", "launchers", "schedulers"])
def test_everything_that_is_listed_is_there_for_machines_too(fourscore, what):
    entries = fourscore.json("list", what)
    words = fourscore("list", what).stdout
    assert all(entry["name"] in words and {"available", "reason"} <= entry.keys() for entry in entries)
    assert entries or what == "exchanges"


def test_suites_that_cannot_be_listed_end_with_3_and_the_systems_words(fourscore):
    folder = fourscore.folder / "suites"
    (folder / "/".join("a" * 40)).mkdir(parents=True)  # each level takes a descriptor
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))  # noqa: E731
    error = fourscore("list", "suites", environment={"FOURSCORE_SUITES": str(folder)}, preexec_fn=few, code=3).stderr
    assert f"the suites in {folder} cannot be listed: Too many open files" in error


def test_a_current_folder_that_was_removed_is_reported_in_our_words(fourscore):
    gone = fourscore.folder / "gone"
    gone.mkdir()

    def leave() -> None:
        os.chdir(gone)
        gone.rmdir()

    error = fourscore("export", "--format", "csv", "--archive", "archive", preexec_fn=leave, code=3).stderr
    assert error == "fourscore: archive: No such file or directory\n"


def test_a_launcher_that_cannot_run_stays_listed_with_its_reason(fourscore):
    out = fourscore("list", "launchers", environment={"FOURSCORE_MPIEXEC": "/proc/nowhere/mpirun"}).stdout
    assert "local" in out and "/proc/nowhere/mpirun" in out


def test_report_without_its_python_ends_with_3_and_says_what_to_do(fourscore):
    fourscore("run", fourscore.points(points=1, launches=1))
    error = fourscore("report", environment={"FOURSCORE_PYTHON": "/proc/nowhere/python"}, code=3).stderr
    assert "/proc/nowhere/python" in error and "jobscripts/setup" in error


@pytest.mark.parametrize("kind", ["a link to itself", "a name too long"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "NAME", "--dry-run"),
        ("run", "s.toml", "--dry-run", "--bench", "NAME"),
        ("export", "--format", "csv", "--record", "NAME"),
        ("status", "--archive", "NAME"),
        ("list", "variants", "--bench", "NAME"),
        ("counters", "list", "--counter-groups", "NAME"),
        ("report", "--archive", "NAME"),
    ],
)
def test_a_name_that_the_file_system_refuses_is_as_good_as_none(fourscore, arguments, kind):
    fourscore.points()
    fourscore.archive.mkdir()
    (fourscore.folder / "loop").symlink_to("loop")
    name = "loop" if kind == "a link to itself" else "x" * 300
    process = fourscore.start(*(name if word == "NAME" else word for word in arguments))
    error = process.communicate(timeout=60)[1]
    assert process.returncode in (2, 3)
    assert name in error
    assert "filesystem error" not in error


@pytest.mark.parametrize("name", ["loop", "x" * 300])
def test_an_archive_that_cannot_be_is_no_obstacle_to_a_dry_run(fourscore, name):
    fourscore.points()
    (fourscore.folder / "loop").symlink_to("loop")
    assert "Nothing was written" in fourscore("run", "s.toml", "--dry-run", "--archive", name).stdout
