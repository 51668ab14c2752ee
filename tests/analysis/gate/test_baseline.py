"""Exact numbers held to a baseline: declared ones anywhere, simulated counts where they were counted."""

import json

import pytest
from fourscore_analysis.cli import main
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
