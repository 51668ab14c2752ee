"""`fourscore compare` of builds and revisions, `run --against` and `gate certify`: what is launched, in which order, and
what follows from it. The builds are fake: a factor of time, and a little noise."""

from __future__ import annotations

import json
import pathlib
import signal
import time

import pytest
from fourscore_command import Fourscore, git, script

HERE = pathlib.Path(__file__).parent
FAKE = HERE.parent / "support" / "fake_bench"


class Builds:
    """Compares fake builds by the suite of two points."""

    def __init__(self, fourscore):
        self.fourscore, self.folder = fourscore, fourscore.folder
        self.suite = fourscore.points(points=2, launches=6)

    def build(self, name: str, factor: float = 1.0, more: str = "") -> pathlib.Path:
        text = f'{more}\nFAKE_FACTOR={factor} FAKE_CODE={name} exec "{FAKE}" "$@"'
        return script(self.fourscore.folder / name, text)

    def compare(self, base, candidate, *more, code: int = 0):
        return self.fourscore("compare", base, candidate, "--suite", self.suite, "--quiet", *more, code=code)

    def comparison(self) -> dict:
        (file,) = self.fourscore.archive.glob("comparisons/*/comparison.json")
        return json.loads(file.read_text())

    def launches(self) -> list[tuple[str, int, str]]:
        """(base or candidate, pair, point) in the order in which they ended."""
        found = []
        for record in map(pathlib.Path, self.fourscore.finished()):
            point, pair = record.stem.split("-")
            found.append((record.parent.name.rpartition("-")[2], int(pair), point))
        return found


@pytest.fixture
def builds(fourscore) -> Builds:
    return Builds(fourscore)


@pytest.fixture(scope="module")
def slowed(tmp_path_factory) -> Builds:
    """Compared: a build and one that is slower by a fifth. `said` is what the command said. To be read alone."""
    builds = Builds(Fourscore(tmp_path_factory.mktemp("slowed")))
    sides = builds.build("before"), builds.build("after", 1.2)
    builds.said = builds.fourscore("compare", *sides, "--suite", builds.suite, code=1)
    return builds


def test_a_slower_build_is_red_and_its_phase_named(slowed):
    assert slowed.said.stdout.startswith("RED: 2 series: 2 regression")
    assert "pack +" in slowed.said.stdout and "fft unchanged" in slowed.said.stdout
    screen, confirm = slowed.comparison()["stages"]
    assert screen["launches"] == 6 and confirm["first_launch"] == 6 and len(confirm["points"]) == 2
    assert "verify" not in slowed.said.stderr and "all as they should be" in slowed.fourscore("verify").stdout


def test_equal_builds_are_green(builds):
    said = builds.compare(builds.build("before"), builds.build("same"), "--pairs", 8)
    assert said.stdout.startswith("GREEN: 2 series: ") and "regression" not in said.stdout


def test_a_faster_build_is_no_failure_and_only_the_points_that_are_selected_are_compared(builds):
    said = builds.compare(builds.build("before"), builds.build("faster", 0.8), "--only", "shape=2x4x4")
    assert said.stdout.startswith("GREEN: 1 series: 1 improvement")
    assert {tuple(record["point"]["shape"]) for record in builds.fourscore.records().values()} == {(2, 4, 4)}


def test_it_predicts_from_earlier_launches_what_it_can_detect_before_the_first_launch(slowed):
    dry = slowed.compare(slowed.build("before"), slowed.build("other"), "--dry-run").stdout
    assert "what it can detect: slowdowns of " in dry
    assert "with up to 160 pairs (80 %); 5 % in 2 of 2 series" in dry


def test_launches_of_a_pair_follow_each_other_and_either_side_may_be_first(slowed):
    launches = slowed.launches()
    pairs = list(zip(launches[::2], launches[1::2], strict=True))
    assert all({first[0], second[0]} == {"base", "candidate"} for first, second in pairs)
    assert all(first[1:] == second[1:] for first, second in pairs)
    assert {first[0] for first, _ in pairs} == {"base", "candidate"}
    rounds = [[first[2] for first, _ in pairs if first[1] == pair] for pair in range(6)]
    assert all(len(set(points)) == 2 for points in rounds) and len({tuple(points) for points in rounds}) == 2
    screen = [pair for (_, pair, _), _ in pairs[:12]]
    assert screen == sorted(screen) and set(screen) == set(range(6))
    assert all(pair >= 6 for (_, pair, _), _ in pairs[12:])


def test_both_sides_plan_with_the_same_wisdom(slowed):
    (file,) = {argv[argv.index("--wisdom") + 1] for argv in slowed.fourscore.finished("argv")}
    assert pathlib.Path(file).parent.parent == slowed.fourscore.archive / "comparisons"


def test_progress_says_which_side_a_launch_is_of(slowed):
    sides = [line.split()[2] for line in slowed.said.stderr.splitlines() if line.startswith("[") and "ok" in line]
    assert set(sides) == {"base:", "candidate:"} and sides.count("base:") == sides.count("candidate:")


def test_a_run_against_another_build_is_the_same_comparison(slowed):
    fourscore, base = slowed.fourscore, slowed.folder / "before"
    environment = {"FOURSCORE_BENCH": str(slowed.folder / "after")}
    before = len(fourscore.finished())
    said = fourscore("run", slowed.suite, "--against", base, "--quiet", code=1, environment=environment)
    assert said.stdout == slowed.said.stdout and len(fourscore.finished()) == before
    said = fourscore("run", slowed.suite, "--against", slowed.folder / "none", code=2)
    assert "expected an fft_bench, or a folder with one" in said.stderr
    said = fourscore("run", slowed.suite, "--against", base, "--max-launches", 3, code=2)
    assert "--against excludes" in said.stderr


@pytest.mark.parametrize("broken", ["base", "candidate"])
def test_a_side_that_cannot_start_a_launch_ends_the_comparison(builds, broken):
    """The other side's launches are fine: they say nothing of it."""
    dead = 'case "$*" in *--record*) echo "no such library" >&2; exit 127;; esac'
    sides = [builds.build(side, more=dead if side == broken else "") for side in ("base", "candidate")]
    said = builds.compare(*sides, code=3).stderr
    assert "did not run: the launcher ended with status 127" in said and "no such library" in said
    assert len(builds.fourscore.finished()) <= 4


def test_an_interrupted_comparison_goes_on_and_repeats_nothing(builds):
    sides = builds.build("before", more="sleep 0.1"), builds.build("after", 1.2, more="sleep 0.1")
    builds.suite = builds.fourscore.points(points=1, launches=6)
    process = builds.fourscore.start("compare", *sides, "--suite", builds.suite, "--quiet")
    while len(builds.fourscore.finished()) < 5:
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "goes on" in err
    builds.compare(*sides, code=1)
    finished = builds.fourscore.finished()
    assert len(finished) == len(set(finished)) == len(builds.fourscore.records())
    before = len(finished)
    assert builds.compare(*sides, code=1).stdout.startswith("RED")
    assert len(builds.fourscore.finished()) == before


def test_another_build_of_the_same_name_is_another_comparison(builds):
    base = builds.build("before")
    builds.suite = builds.fourscore.points(points=1)
    builds.compare(base, builds.build("same"), "--pairs", 6)
    builds.compare(base, builds.build("other"), "--pairs", 6)
    assert len(list(builds.fourscore.archive.glob("comparisons/*"))) == 2
    builds.compare(base, builds.build("other"), "--pairs", 6, "--fresh")
    assert len(list(builds.fourscore.archive.glob("comparisons/*"))) == 3


def test_what_only_one_side_can_measure_is_said(builds):
    text = builds.fourscore.points('"good", "picky"', points=1).read_text()
    builds.suite = builds.fourscore.suite(text.replace("ranks = 1", "ranks = 2"))
    said = builds.compare(builds.build("before"), builds.build("same"), "--pairs", 8)
    assert said.stdout.startswith("GREEN: 2 series") and "1 skipped" in said.stdout


def test_a_candidate_that_aborts_has_no_time_and_is_missing(builds):
    base, candidate = builds.build("before"), builds.build("after", more="export FAKE_ABORTS=good")
    said = builds.compare(base, candidate, code=4)
    assert said.stdout.startswith("NOTHING MEASURED") and "signal 6 (Aborted)" in said.stdout


def test_a_large_effect_ends_at_a_look_and_what_is_equal_goes_on(builds):
    """The looks and the pairs of each point stand in comparison.json before the second stage begins."""
    candidate = builds.build("after", more='case "$*" in *1x4x4*) export FAKE_LAUNCH_NOISE=0.1;; esac')
    candidate.write_text(candidate.read_text().replace("FAKE_FACTOR=1.0", "FAKE_FACTOR=1.6"))
    base = builds.build("before", more='case "$*" in *1x4x4*) export FAKE_LAUNCH_NOISE=0.1;; esac')
    said = builds.compare(base, candidate, "--most-pairs", 60, code=1)
    _, confirm = builds.comparison()["stages"]
    (noisy,) = (point for point, pairs in confirm["pairs"].items() if pairs == 60)
    assert confirm["looks"] == [12, 24] and confirm["stopped"][noisy] in (12, 24)
    ends = {point: confirm["stopped"].get(point, pairs) for point, pairs in confirm["pairs"].items()}
    launches = [launch for launch in builds.launches() if launch[1] >= confirm["first_launch"]]
    assert len(launches) == 2 * sum(ends.values())
    assert said.stdout.startswith("RED: 2 series: 2 regression") and f"{ends[noisy]} pairs" in said.stdout
    # It is complete: the same command reads it only.
    before = len(builds.launches())
    assert builds.compare(base, candidate, "--most-pairs", 60, code=1).stdout == said.stdout
    assert len(builds.launches()) == before


@pytest.mark.parametrize(("setting", "words"), [("warmup = 0", "warmup is 0"), ("phases = false", "phases is false")])
def test_a_suite_whose_phases_cannot_be_slowed_is_not_certified(builds, setting, words):
    builds.suite = builds.fourscore.points(points=1, launches=6, more=setting)
    certify = ["gate", "certify", "--suite", builds.suite, "--runs", 1, "--slower", "20", "--quiet"]
    for more in ([], ["--dry-run"]):
        said = builds.fourscore(*certify, *more, "--bench", builds.build("before"), code=2).stderr
        assert words in said and str(builds.suite) in said
    assert not builds.fourscore.finished()
    builds.compare(builds.build("before"), builds.build("same"), "--pairs", 6)  # which slows nothing down


def test_a_dry_run_says_how_much_it_would_measure_and_writes_nothing(builds):
    said = builds.compare(builds.build("before"), builds.build("same"), "--dry-run").stdout
    assert "6 pairs of each, 24 launches are missing: at most" in said
    assert "what it can detect: not known before the screen" in said
    assert not builds.fourscore.archive.exists()


CMAKE = """cmake_minimum_required(VERSION 3.18)
project(fake LANGUAGES NONE)
add_custom_target(fft_bench ALL COMMAND {command})
"""
COPY = "${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/program ${CMAKE_BINARY_DIR}/bin/fft_bench"


@pytest.fixture
def repository(builds) -> pathlib.Path:
    """Revisions v-before, v-after (slower), v-broken (does not compile) and v-odd (does not configure)."""
    folder = builds.fourscore.folder / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    builds.fourscore.environment["XDG_CACHE_HOME"] = str(builds.fourscore.folder / "cache")
    for name, factor, command in (
        ("before", 1, COPY),
        ("after", 1.2, COPY),
        ("broken", 1, "echo no such luck && false"),
    ):
        (folder / "CMakeLists.txt").write_text(CMAKE.format(command=command))
        script(folder / "program", builds.build(name, factor).read_text())
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", name)
        git(folder, "tag", f"v-{name}")
    (folder / "CMakeLists.txt").write_text("message(FATAL_ERROR odd)\n")
    git(folder, "commit", "-qam", "odd")
    git(folder, "tag", "v-odd")
    return folder


def test_revisions_are_built_once_and_compared(builds, repository):
    builds.suite = builds.fourscore.points(points=1, launches=6)
    said = builds.compare("v-before", "v-after", "--repo", repository, code=1)
    assert said.stdout.startswith("RED") and said.stderr.count("building ") == 2
    commit = git(repository, "rev-parse", "--short=7", "v-after")
    assert builds.comparison()["candidate"]["label"] == f"v-after ({commit})"
    assert "building" not in builds.compare("v-before", "v-after", "--repo", repository, code=1).stderr
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("revision", "words"),
    [
        ("v-broken", ["revision 'v-broken' does not build", "cmake --build failed", "no such luck"]),
        ("v-odd", ["revision 'v-odd' does not build", "cmake (configure) failed", "odd"]),
        ("nowhere", ["'nowhere' is no fft_bench", "no revision of the repository"]),
    ],
)
def test_a_revision_that_cannot_be_built_is_named_with_the_step(builds, repository, revision, words):
    said = builds.compare("v-before", revision, "--repo", repository, code=2).stderr
    assert all(word in said for word in words), said
    assert not builds.fourscore.archive.exists()


def test_two_sides_of_different_kinds_and_too_few_pairs_are_refused(builds):
    base = builds.build("before")
    builds.fourscore("run", builds.suite, "--campaign", "c", "--quiet")
    assert "expected two of a kind" in builds.compare(base, "c", code=2).stderr
    assert "--pairs" in builds.compare(base, base, "--pairs", 5, code=2).stderr
    suite = builds.fourscore.suite('name = "s"\n[[component]]\nprogram = "alltoall_bench"\nranks = 1\n')
    builds.suite = suite
    assert "components alone" in builds.compare(base, base, code=2).stderr


def test_certification_measures_how_often_the_gate_errs_and_later_reports_say_so(builds):
    build = builds.build("before")
    builds.suite = builds.fourscore.points(points=1, launches=6)
    certify = ["gate", "certify", "--suite", builds.suite, "--runs", 2, "--slower", "20", "--phase", "pack", "--quiet"]
    said = builds.fourscore(*certify, "--bench", build)
    table = {line.split("  ")[1]: line for line in said.stdout.splitlines()[2:]}
    assert "0 of 2" in table["the same"] and table["20 % slower"].count("2 of 2") == 3
    slowed = builds.fourscore.finished("argv")
    slowed = [argv for argv in slowed if "--slow-down" in argv]
    assert {argv[argv.index("--slow-down") + 1] for argv in slowed} == {"pack=0.2"}
    assert all(
        "-20-percent-" in argv[argv.index("--record") + 1] and "-candidate/" in argv[argv.index("--record") + 1]
        for argv in slowed
    )
    launches = len(builds.fourscore.finished())
    assert builds.fourscore(*certify, "--bench", build).stdout == said.stdout
    assert len(builds.fourscore.finished()) == launches
    file = min(builds.fourscore.archive.glob("comparisons/*-20-percent-*/comparison.json"))
    compared = builds.fourscore("compare", "--comparison", file, code=1).stdout
    assert "Certified on this machine: a build compared with itself was red in 0 of 2" in compared
