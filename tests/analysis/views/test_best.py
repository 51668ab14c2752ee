"""`fourscore best`: what was fastest is read off the records, with its evidence, and nothing is extrapolated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.records.archive import Campaign, InputError
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.tables.best import best_json, best_text
from fourscore_analysis.views.best import Question, find
from synthetic import CLUSTER, Maker, canonical, digest, make_point, store

SHAPE = (64, 64, 64)
AGES = (1.0, 1.1, 1.2, 1.3, 1.4)  # seconds: launches of one point


def timed(point: dict[str, Any], launch: int, seconds: float, maker: Maker | None = None) -> dict[str, Any]:
    return (maker or Maker(isolate=False)).timed(point, launch, seconds, [])


def launches(seconds_of: dict[str, float], maker: Maker | None = None, **changes: Any) -> list[dict[str, Any]]:
    """Five launches of each variant, AGES times its seconds."""
    return [
        timed(make_point(variant, "p2p", SHAPE, 2, **changes), launch, seconds * age, maker)
        for variant, seconds in seconds_of.items()
        for launch, age in enumerate(AGES)
    ]


def campaign(records: list[dict[str, Any]], name: str = "hand-00000000") -> Campaign:
    parsed = [parse_record(canonical(record), f"records/{name}/{n}.json") for n, record in enumerate(records)]
    return Campaign(name, "hand", parsed)


def ask(records: list[dict[str, Any]], **question: Any):
    return find([campaign(records)], Question(**{"shape": SHAPE, "ranks": 2} | question))


def test_the_fastest_is_shown_with_its_median_interval_launches_and_records():
    [answer] = best_json(ask(launches({"slab": 1.0, "pencil": 2.0, "volumetric": 4.0})))["answers"]
    best = answer["best"]
    assert (best["variant"], best["exchange"], best["resolved_grid"], best["parameters"]) == ("slab", "p2p", "1x2", {})
    assert (best["median_s"], best["range_s"], best["launches"]) == (1.2, [1.0, 1.4], 5)
    assert best["interval_s"] == [1.0, 1.4]
    assert best["interval_coverage"] == pytest.approx(1 - 2 / 32)
    assert best["records"] == [f"records/hand-00000000/{number}.json" for number in range(5)]
    assert answer["claim"] == {"clear": True, "reasons": []}
    assert answer["methods_compared"] == 3


def test_the_runner_up_is_the_next_and_its_ratio_has_the_interval_of_all_pairs():
    [answer] = best_json(ask(launches({"slab": 1.0, "pencil": 2.0})))["answers"]
    pairs = sorted(2 * a / b for a in AGES for b in AGES)
    assert answer["runner_up"]["variant"] == "pencil"
    assert answer["runner_up"]["ratio"] == pytest.approx(pairs[12])
    assert answer["runner_up"]["ratio_interval"] == pytest.approx([pairs[2], pairs[22]])  # P(U <= 2) = 4 / 252
    text = best_text(ask(launches({"slab": 1.0, "pencil": 2.0})))
    assert f"95 % interval {pairs[2]:.2f} to {pairs[22]:.2f}" in text


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        (launches({"slab": 1.0, "pencil": 1.2}), "the launches do not tell it from pencil/p2p"),
        (launches({"slab": 1.0}), "no other method was measured"),
        (launches({"slab": 1.0, "pencil": 2.0})[:9][1:], "4 launches, a claim takes 5"),
        ([one | {"flags": ["oversubscribed"]} for one in launches({"slab": 1.0, "pencil": 2.0})], "flagged oversub"),
    ],
)
def test_what_stands_in_the_way_of_a_claim_is_said(records, reason):
    found = ask(records)
    [answer] = best_json(found)["answers"]
    assert not answer["claim"]["clear"]
    assert any(reason in one for one in answer["claim"]["reasons"])
    assert "\n  lowest " in best_text(found)
    assert f"not clear: {reason}" in best_text(found)


def test_beside_a_doubtful_time_stands_the_fastest_that_is_sound():
    records = launches({"slab": 1.0, "pencil": 2.0, "volumetric": 4.0})
    for record in records[:5]:
        record["flags"] = ["clock-suspect"]
    found = ask(records)
    [answer] = best_json(found)["answers"]
    assert (answer["best"]["variant"], answer["sound"]["variant"]) == ("slab", "pencil")
    assert answer["best"]["flags"] == ["clock-suspect"]
    assert "pencil/p2p, 2.40 s" in best_text(found).split("\n  sound")[1].split("\n")[0]


def test_launches_of_several_campaigns_are_one_point():
    records = launches({"slab": 1.0, "pencil": 2.0})
    found = find([campaign(records[:3], "a"), campaign(records[3:], "b")], Question(SHAPE, 2))
    [answer] = best_json(found)["answers"]
    assert answer["best"]["launches"] == 5
    assert {path.split("/")[1] for path in answer["best"]["records"]} == {"a", "b"}


def test_what_is_not_asked_for_is_answered_apart_and_what_is_asked_for_alone():
    changes = ({}, {"precision": "single"}, {"layout": "natural"}, {"kind": "r2c"}, {"direction": "backward"})
    records = [record for change in changes for record in launches({"slab": 1.0, "pencil": 2.0}, **change)]
    assert len(ask(records).answers) == len(changes)
    for name, value in (("precision", "single"), ("layout", "natural"), ("kind", "r2c"), ("direction", "backward")):
        [answer] = ask(records, **{name: value}).answers
        assert getattr(answer.best.cell.contract, name) == value


def test_other_nodes_are_other_answers():
    maker = Maker(isolate=False, hosts=CLUSTER)
    records = [record for nodes in (1, 2) for record in launches({"slab": nodes, "pencil": 5.0}, maker, nodes=nodes)]
    assert [answer.comparison.where for answer in ask(records).answers] == ["2 ranks on 1 node", "2 ranks on 2 nodes"]
    [answer] = ask(records, nodes=2).answers
    assert (answer.best.cell.place.nodes, answer.best.time_s) == (2, 2.4)


def test_each_machine_answers_with_its_newest_build_and_names_the_older():
    old, new = Maker(isolate=False, revision="aaaaaaa"), Maker(isolate=False, revision="bbbbbbb", order=1000)
    records = launches({"slab": 1.0, "pencil": 2.0, "rods": 3.0}, old) + launches({"slab": 4.0, "pencil": 2.0}, new)
    other = launches({"pencil": 0.5}, Maker(isolate=False, order=2000))
    for record in other:
        machine = record["provenance"]["identity"]["machine"] | {"cpu_model": "Another"}
        record["provenance"]["identity"]["machine"] = machine
        record["provenance"]["machine_hash"] = digest(machine)
    answers = best_json(ask(records + other))["answers"]
    assert [answer["machine"]["cpu_model"] for answer in answers] == ["Another", "Imaginary 9000 @ 2.60GHz"]
    assert (answers[1]["code"]["revision"], answers[1]["best"]["variant"]) == ("bbbbbbb", "pencil")
    [older] = answers[1]["older_builds"]
    assert (older["code_hash"], older["methods"]) == (records[0]["provenance"]["code_hash"], 3)
    assert f"{older['code_hash']} (3 methods)" in best_text(ask(records + other))
    for answer in answers:
        [alone] = ask(records + other, machine_hash=answer["machine_hash"][:6]).answers
        assert alone.newest.machine_hash == answer["machine_hash"]
    with pytest.raises(InputError, match=f"no launch was on a machine 'zz'; there are: .*{answers[0]['machine_hash']}"):
        ask(records + other, machine_hash="zz")


def test_a_point_on_a_slow_node_is_no_basis_for_a_claim():
    maker = Maker(isolate=False, repetitions=3, hosts=CLUSTER, slow={"n3": 1.5})
    points = [make_point(variant, "p2p", SHAPE, 8, nodes=4) for variant in ("slab", "pencil")]
    found = ask([maker.ok(point, launch) for launch in range(12) for point in points], ranks=8)
    [answer] = found.answers
    assert "slow-node" in answer.best.flags
    assert not answer.claim.holds


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ({"ranks": 4}, "64³ on 2 ranks: 2 methods"),
        ({"shape": (60, 64, 64)}, "64³ on 2 ranks: 2 methods"),
        ({"precision": "single"}, "64³ on 2 ranks, precision double: 2 methods"),
        ({"shape": (128, 128, 128), "ranks": 8}, "256³ on 8 ranks: 1 method"),
        ({"shape": (4096,)}, "64³ on 2 ranks: 2 methods"),
    ],
)
def test_what_was_not_measured_is_not_guessed_and_the_nearest_is_named(question, first):
    records = [*launches({"slab": 1.0, "pencil": 2.0}), timed(make_point("slab", "p2p", (256,) * 3, 8), 0, 9.0)]
    found = ask(records, **question)
    assert found.answers == []
    lines = best_text(found).splitlines()
    assert lines[0].startswith("No time was measured for ")
    assert lines[2].strip() == first
    answer = best_json(found)
    assert (answer["found"], answer["answers"]) == (False, [])
    assert len(answer["nearest"]) == 2


def test_points_without_a_time_say_why():
    ended = Maker().ended(make_point("slab", "p2p", SHAPE, 2), 0, "skipped", "slab wants more planes")
    found = ask([ended, timed(make_point("slab", "p2p", SHAPE, 4), 0, 1.0)])
    assert "slab/p2p is skipped there: slab wants more planes" in best_text(found)
    assert best_json(found)["without_a_time"][0]["statuses"] == {"skipped": 1}


def test_times_of_a_simulation_are_none():
    record = timed(make_point("slab", "p2p", SHAPE, 2), 0, 1.0) | {"flags": ["simulated"]}
    assert "No time of any transform is in the archive." in best_text(ask([record]))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    for record in launches({"slab": 1.0, "pencil": 2.0}):
        store(tmp_path / "archive", record)
    return tmp_path / "archive"


def test_what_was_tuned_is_shown_with_what_the_launches_chose():
    records = launches({"slab": 1.0}, grid="tuned")
    for number, record in enumerate(records):
        record["point"]["exchange"] = "tuned"
        chosen = {"exchange": "shared" if number else "p2p", "grid": [2, 1]}
        record["resolved"] = {"grid": [2, 1], "tuning": chosen | {"candidates": []}}
    assert "slab, exchange tuned (p2p, shared), grid tuned (2x1)," in best_text(ask(records))


def run(archive: Path, *arguments: str) -> int:
    return main(["best", "--archive", str(archive), *arguments])


def test_the_command_answers_with_0_and_for_what_was_not_measured_with_1(archive, capsys):
    assert run(archive, "--shape", "64x64x64", "--ranks", "2") == 0
    assert "fastest    slab, exchange p2p, grid 1x2 (by auto), local FFT fftw" in capsys.readouterr().out
    assert run(archive, "--shape", "64x64x64", "--ranks", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["answers"][0]["best"]["variant"] == "slab"
    assert run(archive, "--shape", "64x64x64", "--ranks", "3", "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["found"], answer["nearest"][0]["ranks"]) == (False, 2)


def test_c2r_is_r2c_backward(tmp_path, capsys):
    for record in launches({"slab": 1.0}, kind="r2c", direction="backward"):
        store(tmp_path, record)
    assert run(tmp_path, "--shape", "64x64x64", "--ranks", "2", "--kind", "c2r") == 0
    assert run(tmp_path, "--shape", "64x64x64", "--ranks", "2", "--kind", "c2r", "--direction", "forward") == 2
    assert "--kind c2r is r2c backward" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--shape", "64x0", "--ranks", "2"], "'64x0' is not a shape"),
        (["--shape", "1x2x3x4", "--ranks", "2"], "is not a shape: 1 to 3 extents"),
        (["--shape", "9" * 19 + "x64", "--ranks", "2"], "more elements"),
        (["--shape", "64", "--ranks", "0"], "'0' is not a number from 1 to"),
        (["--shape", "64", "--ranks", "9" * 400], "is not a number from 1 to"),
        (["--shape", "64", "--ranks", "2", "--nodes", "3"], "--nodes is 3; expected at most as many as --ranks, 2"),
        (["--shape", "64", "--ranks", "2", "--precision", "half"], "invalid choice"),
        (["--shape", "64"], "--ranks"),
    ],
)
def test_unusable_questions_end_with_2_and_what_is_expected(archive, capsys, arguments, reason):
    try:
        code = run(archive, *arguments)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    told = capsys.readouterr()
    assert reason in told.err
    assert told.out == ""


def test_files_that_cannot_be_used_are_named_and_the_others_answer(archive, capsys):
    (next((archive / "records").iterdir()) / "0-000.json").write_text("{")
    assert run(archive, "--shape", "64x64x64", "--ranks", "2", "--json") == 0
    told = capsys.readouterr()
    assert "0-000.json is not used" in told.err
    assert json.loads(told.out)["unreadable"][0]["file"].endswith("0-000.json")


def test_text_of_records_reaches_a_terminal_escaped(tmp_path, capsys):
    record = timed(make_point("slab", "p2p", SHAPE, 2), 0, 1.0)
    record["provenance"]["identity"]["machine"]["cpu_model"] = "\x1b[2Jevil"
    store(tmp_path, record)
    assert run(tmp_path, "--shape", "64x64x64", "--ranks", "2") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "evil" in out
