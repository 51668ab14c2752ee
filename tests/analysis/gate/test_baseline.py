"""Exact numbers held to a baseline: declared ones anywhere, simulated counts where they were counted."""

import json
from xml.etree import ElementTree

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.gate import baseline_outputs
from fourscore_analysis.gate.baseline import Number, Numbers, Point, read_baseline, write_baseline
from fourscore_analysis.gate.baseline import check as checked
from synthetic import BASE, CANDIDATE, Pairs, counted, make_point, store

SERIAL = make_point("serial", "none", (128, 128, 128), 1)
PENCIL = make_point("pencil", "alltoallv", (64, 64, 64), 2)
GREEN, RED, NOTHING = 0, 1, 4


def with_instructions(record: dict, factor: float = 1.0) -> dict:
    """A simulated record that counts the instructions of each phase."""
    record = counted(record, simulated=True)
    counters = record["counters"]
    counters["metrics"].append({"name": "instructions", "unit": "1"})
    for number, (phase, metrics) in enumerate(counters["phases"].items()):
        scale = factor if phase == "fft" else 1.0
        metrics["instructions"] = [1e6 * (number + 1) * scale] * len(counters["readers"])
    return record


@pytest.fixture
def archive(tmp_path):
    """A record of each point of the base, and a baseline of them."""
    pairs = Pairs(tmp_path)
    for point in (SERIAL, PENCIL):
        store(tmp_path, with_instructions(pairs.record(BASE, point, 0)))
    accept = ["gate", "accept", BASE, "--baseline", str(tmp_path / "b.json"), "--archive", str(tmp_path)]
    assert main(accept) == GREEN
    return tmp_path


def check(archive, *arguments) -> tuple[int, dict]:
    file = archive / "checked.json"
    options = ["--baseline", str(archive / "b.json"), "--archive", str(archive), "--json", str(file)]
    code = main(["gate", "check", CANDIDATE, *options, *arguments])
    return code, json.loads(file.read_text())


@pytest.mark.parametrize(("factor", "code"), [(1.0, GREEN), (1.0004, GREEN), (1.001, RED), (0.9, GREEN)])
@pytest.mark.parametrize("point", [SERIAL, PENCIL], ids=["one rank", "two ranks"])
def test_a_phase_that_takes_more_instructions_is_red(archive, capsys, point, factor, code):
    pairs = Pairs(archive)
    for one in (SERIAL, PENCIL):
        store(archive, with_instructions(pairs.record(CANDIDATE, one, 0), factor if one is point else 1.0))
    found_code, found = check(archive)
    changed = {one["number"].split(", cache of")[0] for one in found["changes"]}
    assert changed == ({"instructions in fft"} if abs(factor - 1) > 5e-4 else set())
    assert found_code == code
    if code == RED:
        assert "instructions in fft, cache of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("machine", "cpu_model", "Other 1"),
        ("code", "compiler", "Other 2"),
        ("code", "flags", "-O1"),
        ("code", "libraries", {"libfftw3.so.3": "rebuilt"}),
    ],
)
def test_counts_of_another_processor_or_compiler_are_not_compared_and_all_else_is(archive, capsys, part, key, value):
    pairs = Pairs(archive)
    for point in (SERIAL, PENCIL):
        record = with_instructions(pairs.record(CANDIDATE, point, 0), 5.0)
        record["provenance"]["identity"][part][key] = value
        record["cost"]["messages_per_rank"] = [n + 1 for n in record["cost"]["messages_per_rank"]]
        store(archive, record)
    code, found = check(archive)
    words = {one["change"] for one in found["changes"]}
    assert "elsewhere" in words
    assert not any("instructions" in one["number"] for one in found["changes"])
    assert (code, "more" in words) == (RED, True)  # more messages, which are the same anywhere
    assert f"{part}.{key}" in capsys.readouterr().out


def test_other_libraries_and_revisions_change_no_count(archive):
    pairs = Pairs(archive)
    for point in (SERIAL, PENCIL):
        record = with_instructions(pairs.record(CANDIDATE, point, 0))
        record["provenance"]["identity"]["code"] |= {"revision": "other", "binary_sha256": "other"}
        record["provenance"]["identity"]["code"]["flags"] += " -mno-avx512f"  # what is counted has none, asked or not
        record["provenance"]["identity"]["machine"]["memory_bytes"] = 1
        store(archive, record)
    assert check(archive) == (GREEN, {**check(archive)[1], "changes": []})


def test_points_that_could_not_be_counted_are_said_and_do_not_block(archive, capsys):
    pairs = Pairs(archive)
    store(archive, with_instructions(pairs.record(CANDIDATE, PENCIL, 0)))
    store(archive, pairs.makers[CANDIDATE].ended(SERIAL, 0, "skipped", "counters 'callgrind' are not available here"))
    code, found = check(archive)
    assert (code, [one["change"] for one in found["changes"]]) == (GREEN, ["absent"])
    assert "was not measured: 1 skipped (counters 'callgrind' are not available here)" in capsys.readouterr().out


def test_a_baseline_says_what_its_counts_hold_for(archive):
    content = json.loads((archive / "b.json").read_text())
    assert content["counted_with"]["machine.cpu_model"].startswith("Imaginary")
    assert content["counted_with"]["code.compiler"]
    assert "machine.memory_bytes" not in content["counted_with"]


def measured(**numbers: Number | None) -> Numbers:
    return Numbers([Point("p", "pencil at 64³", numbers)])


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    numbers = Numbers(
        [
            Point("p", "a", {"messages": Number(3, 6), "instructions": Number(100, 150, 5e-4)}),
            Point("q", "b", {"n": None}),
        ],
        {"code.compiler": "gcc 12"},
    )
    assert write_baseline(tmp_path / "b.json", numbers, "ci") == 2
    assert read_baseline(tmp_path / "b.json") == Numbers(numbers.points[:1], numbers.counted_with)


@pytest.mark.parametrize(
    ("before", "after", "word", "said"),
    [
        (Number(4, 8), Number(4, 8), "same", "as before"),
        (Number(4, 8), Number(5, 8), "more", "at most on a rank: 4 to 5 (+25 %)"),
        (Number(4, 8), Number(3, 9), "less", "at most on a rank: 4 to 3 (-25 %)"),
        (Number(4, 8), Number(4, 9), "more", "of all ranks: 8 to 9 (+12.5 %)"),
        (Number(4, 8), Number(4, 6), "less", "of all ranks: 8 to 6 (-25 %)"),
        (Number(0, 0), Number(2, 2), "more", "at most on a rank: 0 to 2"),
        (Number(1000, 2000, 1e-3), Number(1000.9, 2001, 1e-3), "same", "as before"),
        (Number(1000, 2000, 1e-3), Number(1002, 2002, 1e-3), "more", "at most on a rank: 1000 to 1002 (+0.2 %)"),
        (Number(4, 8), None, "varies", "varies from launch to launch"),
        (None, Number(4, 8), "new", "is not in the baseline, and is 4"),
    ],
)
def test_a_number_is_compared_by_the_busiest_rank_and_then_by_the_sum(before, after, word, said):
    found = checked(measured(**({"messages": before} if before else {})), measured(messages=after))
    assert [(one.word, one.name, one.said) for one in found.changes] == [(word, "messages", said)]
    assert found.exit_code == (RED if word == "more" else GREEN)


def test_what_is_worst_comes_first_and_what_was_not_measured_is_no_pass():
    points = {word: Point(word, word, {"n": Number(4, 4)}) for word in ("gone", "grew", "fell", "same")}
    now = [
        Point("same", "same", {"n": Number(4, 4)}),
        Point("fell", "fell", {"n": Number(3, 3)}),
        Point("grew", "grew", {"n": Number(5, 5)}),
        Point("new", "new", {"n": Number(5, 5)}),
        Point("bad", "bad", {}, "1 wrong", wrong=True),
    ]
    found = checked(Numbers([*points.values()]), Numbers(now))
    assert [one.word for one in found.changes] == ["wrong", "more", "absent", "new", "less", "same"]
    assert found.counts == dict.fromkeys(("wrong", "more", "absent", "new", "less", "same"), 1)
    nothing = checked(Numbers([points["gone"]]), Numbers([]))
    assert (nothing.exit_code, [one.said for one in nothing.changes]) == (NOTHING, ["was not measured"])


def test_a_terminal_has_twenty_changes_and_says_how_many_more():
    def grown(count: int) -> str:
        before, after = ({f"n{i:03}": Number(value, value) for i in range(count)} for value in (4, 5))
        return baseline_outputs.text_of(checked(measured(**before), measured(**after)))

    assert "more; --json has all" not in grown(20)
    lines = grown(22).splitlines()
    assert lines[0] == "RED: exact numbers: 22 more"
    assert lines[1] == "  more    pencil at 64³: n000 at most on a rank: 4 to 5 (+25 %)"
    assert lines[20].startswith("  more    pencil at 64³: n019")
    assert lines[21] == "  and 2 more; --json has all"
    assert lines[22] == baseline_outputs.ADVICE


def test_a_case_of_junit_says_each_change_once():
    before = measured(fell=Number(4, 4), less=Number(9, 9), same=Number(1, 1))
    report = baseline_outputs.junit_of(
        checked(before, measured(fell=Number(3, 3), less=Number(8, 8), same=Number(1, 1)))
    )
    case = ElementTree.fromstring(report).find("testcase")
    assert case.find("system-out").text.splitlines() == [
        "less: fell at most on a rank: 4 to 3 (-25 %)",
        "less: less at most on a rank: 9 to 8 (-11.1 %)",
    ]
    report = baseline_outputs.junit_of(checked(measured(n=Number(4, 4)), measured(n=Number(4, 4))))
    assert ElementTree.fromstring(report).find("testcase").find("system-out").text == "1 numbers as before"
