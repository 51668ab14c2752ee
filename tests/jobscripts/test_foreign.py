"""A program that is not of fourscore's harness: what it says of itself is kept beside what fourscore saw, and never
ranked."""

from __future__ import annotations

import os
import pathlib

import pytest
from fourscore_command import script

HERE = pathlib.Path(__file__).parent
SUPPORT = HERE.parent / "support"
FAKE = (SUPPORT / "fake_bench").read_text().replace("\nfrom fake_identity", f"\nsys.path.insert(0, '{SUPPORT}')\nfrom fake_identity")
MARK = "# fourscore-harness: this program samples, verifies and flags by fourscore's own code\n"
SUITE = (
    'name = "s"\nlaunches = 3\nrepetitions = 3\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks = {ranks}\n'
    'threads = {threads}\n'
)


@pytest.fixture
def foreign(fourscore):
    """The command with a program that speaks as fft_bench does, and has not the harness's mark."""

    def make(old: str = "", new: str = "") -> pathlib.Path:
        assert MARK in FAKE and old in FAKE
        file = script(fourscore.folder / "my_bench", FAKE.replace(MARK, "").replace(old, new, 1))
        fourscore.environment["FOURSCORE_BENCH"] = str(file)
        return file

    fourscore.make = make
    make()
    return fourscore


def run(fourscore, ranks: int = 1, threads: int = 1, code: int = 0):
    return fourscore("run", fourscore.suite(SUITE.format(ranks=ranks, threads=threads)), "--fresh", code=code)


def test_its_records_are_marked_and_the_command_says_so(foreign):
    said = run(foreign)
    assert "fft_bench is not of fourscore's harness" in said.stderr
    records = list(foreign.records().values())
    assert len(records) == 3 and all("foreign" in record["flags"] for record in records)
    assert all(record["program_said"]["flags"] == [] for record in records)
    assert all(record["record_id"] != record["program_said"]["record_id"] for record in records)
    assert "all as they should be" in foreign("verify").stdout
    assert not list(foreign.archive.glob("campaigns/*/staging/*"))
    foreign("report", "-o", "page.html")
    assert "foreign" in (foreign.folder / "page.html").read_text()


def test_the_table_behind_a_run_marks_none_of_them_as_the_best(foreign):
    suite = foreign.points('"good", "slow"', points=1, launches=1)
    ours = {"FOURSCORE_BENCH": str(SUPPORT / "fake_bench")}
    for environment, best in (({}, 0), (ours, 1)):
        said = foreign.json("run", suite, "--fresh", environment=environment)
        assert sum(point["best"] for point in said["points"]) == best


@pytest.mark.parametrize(
    "lie",
    [
        'answer["identity"]["code"] = {}; answer["code_hash"] = "44136fa355b3678a"',
        'answer["program"] = "/proc/nowhere/fft_bench"',
        'del answer["program"]',
    ],
)
def test_the_mark_counts_only_in_the_file_that_has_the_hash(foreign, lie):
    mine = foreign.make("print(json.dumps(identity()))", f"answer = identity(); {lie}; print(json.dumps(answer))")
    mine.write_text(mine.read_text().replace("import json\n", f"import json\n{MARK}", 1))
    run(foreign)
    assert all("foreign" in record["flags"] for record in foreign.records().values())


def test_a_script_around_a_program_of_the_harness_is_of_the_harness(foreign):
    script = foreign.folder / "my_bench"
    script.write_text(f'#!/bin/sh\nexec "{SUPPORT / "fake_bench"}" "$@"\n')
    run(foreign)
    records = foreign.records().values()
    assert records and not any("foreign" in record["flags"] or "program_said" in record for record in records)


CORES = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("ranks", "threads", "oversubscribed"), [(1, 1, False), (CORES + 1, 1, True), (1, CORES + 1, True)]
)
def test_its_flags_follow_from_what_fourscore_saw(foreign, ranks, threads, oversubscribed):
    run(foreign, ranks, threads)
    for record in foreign.records().values():
        # In the caches: where the system says how large they are.
        assert {*record["flags"], "in-cache"} == {"foreign", "cold", "in-cache"} | ({"oversubscribed"} if oversubscribed else set())


LIES = {
    "another number of ranks": ("ranks, nodes = launched()[1],", "ranks, nodes = 1,", ["ranks is 1, asked was 2"]),
    "another problem": ('int(n) for n in given["shape"]', '2 * int(n) for n in given["shape"]', ["shape is 8x8x8, asked was 4x4x4"]),
    "more time than there was": ("times = [0.001 *", "times = [1000.0 *", ["its runs take", "and the launch took"]),
    "rows of fewer ranks": ('[times] * point["ranks"]}', "[times]}", ["has 1 ranks, the point has 2"]),
    "no status that there is": ('"status": "ok"', '"status": "verified"', ["verified"]),
    "no record at all": ("file.write(signed(record))", 'file.write("times: fast\\n")', ["not JSON"]),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_record_that_cannot_be_of_the_launch_makes_it_failed(foreign, lie):
    old, new, words = LIES[lie]
    foreign.make(old, new)
    run(foreign, ranks=2, code=1)
    records = list(foreign.records().values())
    assert len(records) == 3
    for record in records:
        assert record["verdict"]["status"] == "failed" and "samples" not in record
        assert not [word for word in words if word not in record["verdict"]["reason"]], record["verdict"]["reason"]
    assert "all as they should be" in foreign("verify").stdout


def test_it_is_never_ranked_nor_fitted_beside_a_program_of_the_harness(foreign):
    """Less time than the other, by its own word."""
    foreign.environment |= {"FAKE_FACTOR": "0.7", "FAKE_CODE": "theirs"}
    run(foreign)
    assert "nothing in these campaigns has a time" in foreign("fit", code=2).stderr
    foreign.environment |= {"FAKE_FACTOR": "1", "FAKE_CODE": "ours"}
    foreign.environment["FOURSCORE_BENCH"] = str(SUPPORT / "fake_bench")
    run(foreign)
    found = foreign.json("best", "--shape", "4x4x4", "--ranks", "1")
    (answer,) = found["answers"]
    assert answer["best"]["median_s"] > 0.0008 and found["foreign_left_out"] == 3
