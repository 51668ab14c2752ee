"""Programs that print their times (key 'program' of a suite), and `fourscore foreign check`."""

import json
import pathlib
import re
import subprocess

import pytest
from fourscore_command import BIN, REAL, repository_of, script

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/programs"
SWEEP = '[[sweep]]\nprogram = {program}\nvariant = "{name}"\nshape = {shape}\nranks = 1\n'


@pytest.fixture
def printing(fourscore):
    """A suite of a program that is this shell script."""

    def make(text: str, words: str = '"./mine"', name: str = "mine", shape: str = '"4x3x2"', more: str = "") -> pathlib.Path:
        script(fourscore.folder / "mine", text)
        sweep = SWEEP.format(program=f"[{words}]", name=name, shape=shape)
        return fourscore.suite(f'name = "s"\nlaunches = 2\nrepetitions = 3\n{more}\n{sweep}')

    fourscore.make = make
    return fourscore


def statuses(fourscore) -> list[tuple[str, str]]:
    return [(record["verdict"]["status"], record["verdict"]["reason"]) for record in fourscore.records().values()]


def test_what_it_prints_is_archived_and_shown_and_never_ranked(printing):
    suite = printing.make('echo "$@" >>"$FAKE_LOG"; echo sample_s 0.0001; echo sample_s 0.00011; echo checksum 5e7f', '"./mine", "{shape}", "{extent1}/{ranks}", "{repetitions}", "{}"')
    said = printing("run", suite)
    assert "is not of fourscore's harness" in said.stderr
    assert printing.log.read_text() == "4x3x2 4/1 3 {}\n" * 2
    records = list(printing.records().values())
    assert [record["samples"]["time_s"] for record in records] == [[0.0001, 0.00011]] * 2
    assert all(record["verified_by"] == "nobody" and record["program_said"] == {"checksum": "5e7f", "record_id": record["program_said"]["record_id"]} for record in records)
    assert all({"foreign", "cold"} <= set(record["flags"]) for record in records)
    assert "all as they should be" in printing("verify").stdout
    assert "unverified" in printing("best", "--shape", "4x3x2", "--ranks", "1", code=1).stdout
    printing("report", "-o", "page.html")
    assert "mine" in (printing.folder / "page.html").read_text()
    assert printing.plan(suite)["launches"][0]["done"]


def test_another_program_is_another_campaign(printing):
    suite = printing.make("echo sample_s 0.0001")
    first = printing.json("run", suite)["campaign"]
    printing.make("echo sample_s 0.0001 # anew")
    assert printing.json("run", suite)["campaign"] != first


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("echo nothing", "failed", "what mine printed cannot be used: it printed no sample among 1 line"),
        ("echo sample_s fast", "failed", "line 1, 'sample_s fast': expected sample_s and seconds above 0"),
        ("echo sample_s 1000", "failed", "its runs take 1e+03 s together, and the launch took"),
        ("echo sample_s 0.0001; exit 3", "failed", "status 3"),
        ("echo sample_s 0.0001; kill -SEGV $$", "failed", "signal 11"),
        ("echo sample_s 0.0001; sleep 100", "timeout", "not finished after the time limit"),
        ("echo ranks 7; echo sample_s 0.0001", "failed", "it printed 'ranks 7', asked was 1"),
    ],
)
def test_what_cannot_be_is_failed_and_the_campaign_goes_on(printing, text, status, said):
    printing("run", printing.make(text, more="time_limit_s = 1"), code=1)
    assert len(found := statuses(printing)) == 2
    assert all(one == status and said in reason for one, reason in found), found


@pytest.mark.parametrize(
    ("words", "name", "said"),
    [
        ('"./none"', "mine", "s.toml:6: key 'program': './none' is no program"),
        ('"none-of-path"', "mine", "'none-of-path' is no program in PATH; one of the suite's folder has a slash, as ./none-of-path"),
        ('"./mine", "{shap}"', "mine", "{shap} stands for nothing, did you mean {shape}?; expected one of variant,"),
        ('"./mine", 3', "mine", "key 'program' is 3; expected a string"),
        ('"./mine"', "good", "'good' is a variant of fft_bench's own; expected another name for the program"),
        ('"./mine"', "my bench", "s.toml:7: key 'variant' is 'my bench'; expected a name for the program"),
    ],
)
def test_a_program_that_cannot_be_is_refused_with_its_line(printing, words, name, said):
    assert said in printing("run", printing.make("", words, name), code=2).stderr
    assert not printing.records()


def test_two_programs_of_one_name_are_refused(printing):
    suite = printing.make("echo sample_s 0.0001")
    suite.write_text(suite.read_text() + SWEEP.format(program='["./mine", "-x"]', name="mine", shape='"8x3x2"'))
    assert "'mine' names another program in an earlier table" in printing("run", suite, code=2).stderr


def test_two_builds_are_compared_in_pairs(printing):
    printing.make("echo sample_s 0.00010", shape='["4x3x2", "5x3x2"]', more="max_oversubscription = 0")
    for name, seconds in (("old", "0.00010"), ("new", "0.00013")):
        script(printing.folder / name, f'for i in 1 2 3; do echo "sample_s {seconds}$(($$ % 10))"; done')
    said = printing("compare", "--program", "./old", "./new", "--suite", "s.toml", environment=REAL | {"FOURSCORE_MPIEXEC": printing.environment["FOURSCORE_MPIEXEC"]}, code=1)
    assert "RED" in said.stdout and "mine" in said.stdout
    printing("compare", "--program", "./old", "./mine", "--plugin", "./old", "./mine", code=2)
    assert "--program: ./none is no program" in printing("compare", "--program", "./old", "./none", code=2).stderr


def test_two_revisions_are_built_and_compared(printing):
    printing.make("", shape='"4x3x2"')
    loop = "#!/bin/sh\nfor i in 1 2 3; do echo sample_s 0.00010$(($$ % 10)); done # "
    repository = repository_of(printing.folder / "repository", "mine", loop + "first", loop + "second")
    words = ("compare", "HEAD~1", "HEAD", "--repo", repository, "--build", "true", "--artifact", "mine", "--suite", "s.toml")
    environment = {"XDG_CACHE_HOME": str(printing.folder / "cache"), "FOURSCORE_BENCH": REAL["FOURSCORE_BENCH"]}
    said = printing(*words, environment=environment, code=(0, 1))
    assert re.search(r"^(GREEN|NOT DECIDED): 1 series: 1 (no change|undecided)", said.stdout), said.stdout
    assert "differ in binary_sha256, files.mine" in said.stdout


@pytest.mark.parametrize("command", [[str(EXAMPLES / "numpy_bench")], ["python3", str(EXAMPLES / "printing_bench.py"), "{shape}", "{repetitions}"]])
def test_the_examples_lack_nothing(fourscore, command):
    said = fourscore("foreign", "check", "--", *command, environment=REAL)
    assert "missing" not in said.stdout and "ok       a launch: 3 samples, verified by" in said.stdout
    assert not list(fourscore.folder.glob("fourscore-archive"))


@pytest.mark.parametrize(
    ("change", "step", "expected"),
    [
        ('"variants": [ENTRY', '"--list"', '"variants": [{"name": "mine"'),
        ("    check_points()\nelse", '"--check-points"', 'one line {"supported": true'),
        ('"code": code', '"--identity"', '"code": {"binary_sha256"'),
        ('"time_s": times', '"a launch"', "a record that can be used"),
        ('"shape": shape', '"a launch"', "a record that can be used"),
        ('file.write', '"a launch"', "a record that can be used"),
    ],
)
def test_a_program_that_lacks_something_is_told_the_first_step(fourscore, change, step, expected):
    text = (EXAMPLES / "numpy_bench").read_text()
    wrong = {
        "    check_points()\nelse": "    pass\nelse",
        "file.write": "",
    }.get(change, change.replace('": ', 'x": ', 1))
    if change == "file.write":
        change, wrong = 'with open(asked["record"], "x") as file:', 'with open("/dev/null", "w") as file:'
    assert change in text
    program = script(fourscore.folder / "mine", text.replace(change, wrong))
    said = fourscore.json("foreign", "check", program, environment=REAL, code=1)
    assert not said["ok"] and said["steps"][-1]["step"] == json.loads(step) and not said["steps"][-1]["ok"]
    assert expected in said["steps"][-1]["expected"] and said["steps"][-1]["found"]


def test_the_writing_example_is_measured_and_the_harness_sets_its_flags(fourscore):
    """It sets no flag itself, and is small: what fourscore sees decides."""
    suite = fourscore.suite('name="s"\nlaunches=1\nrepetitions=3\n[[sweep]]\nvariant="numpy-fft"\nshape="8x8x8"\nranks=1\n')
    fourscore("run", suite, environment=REAL | {"FOURSCORE_BENCH": str(EXAMPLES / "numpy_bench")})
    (record,) = fourscore.records().values()
    assert record["verified_by"] == "program" and {"foreign", "in-cache"} <= set(record["flags"])
    assert record["credited_flops"] == pytest.approx(5 * 512 * 9)
    seen = json.loads(subprocess.run([BIN / "fft_bench", "--identity"], check=True, capture_output=True, timeout=60).stdout)
    assert record["provenance"]["machine_hash"] == seen["machine_hash"]
    fourscore("verify")
    said = fourscore("best", "--shape", "8x8x8", "--ranks", "1", code=1).stdout
    assert "1 launch is left out as unverified" in said and "fastest" not in said


def test_another_revision_of_one_build_is_another_campaign(printing):
    suite = printing.make("echo sample_s 0.00001")
    named = [printing.json("run", suite, "--revision", revision)["campaign"] for revision in "aab"]
    assert named[0] == named[1] != named[2]
    said = printing("run", suite, "--revision", "c", "--campaign", named[0], code=2).stderr
    assert "was begun with another revision (a, now c)" in said


def test_history_orders_what_was_measured_by_the_revisions_of_its_own_repository(printing):
    for number in range(12):
        seconds = "0.00010" if number < 6 else "0.00013"
        suite = printing.make(f"for i in 1 2 3; do echo sample_s {seconds}$(($$ % 10)); done # {number}")
        printing("run", suite, "--revision", f"{number:02}" + 38 * "a", "--quiet")
    answer = json.loads(printing("history", "-o", "page.html", "--json", "-").stdout)
    (series,) = answer["series"]
    assert [build["revision"][:2] for build in series["builds"]] == [f"{number:02}" for number in range(12)]
    (finding,) = series["findings"]
    assert (finding["before"]["revision"][:2], finding["after"]["revision"][:2]) == ("05", "06")
