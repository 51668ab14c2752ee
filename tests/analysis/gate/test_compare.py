"""fourscore compare: what is red, what is green, who is to blame, and what cannot be judged."""

import json
import re
from xml.etree import ElementTree

import pytest
from fourscore_analysis.cli import main
from synthetic import BASE, CANDIDATE, Pairs, counted, digest, gate_points, make_point, store

GREEN, RED, UNUSABLE, NOTHING = 0, 1, 2, 4
POINT = make_point("pencil", "alltoallv", (128, 128, 128), 4)


def compare(archive, *arguments) -> int:
    return main(["compare", "--archive", str(archive), *map(str, arguments)])


def result(archive, *arguments) -> dict:
    file = archive / "gate.json"
    code = compare(archive, *arguments, "--json", file)
    found = json.loads(file.read_text())
    assert found["exit_code"] == code
    return found


def words(found: dict) -> dict[str, str]:
    return {one["point_id"]: one["verdict"] for one in found["series"]}


def paired(pairs: Pairs, *arguments) -> dict:
    return result(pairs.archive, "--comparison", *arguments)


def test_a_slowed_phase_is_found_and_blamed(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.004)
    for point in gate_points():
        pairs.add(point, range(6), {"pack": 2.2} if point == POINT else {})
    pairs.add(POINT, range(6, 24), {"pack": 2.2})
    found = paired(pairs, pairs.comparison(6, 18, [POINT]))
    assert found["exit_code"] == RED
    assert found["counts"] == {"regression": 1, "no change": 11}
    [red] = [one for one in found["series"] if one["verdict"] == "regression"]
    assert red["title"] == "pencil/alltoallv at 128³, 4 ranks"
    phases = {one["phase"]: one for one in red["phases"]}
    assert phases["pack"]["ratio"] == pytest.approx(2.2, rel=0.02)
    assert red["phases"][0]["phase"] == "pack"
    assert {name for name, one in phases.items() if one["verdict"] == "unchanged"} == {"fft", "exchange", "unpack"}
    text = capsys.readouterr().out
    assert text.startswith("RED: 12 series: 1 regression, 11 no change")
    assert re.search(r"; pack \+1[12]\d % \[1[12]\d, 1[12]\d\]; exchange, fft, unpack unchanged", text)


def test_equal_builds_are_green(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    for point in gate_points():
        pairs.add(point, range(14))
    assert compare(tmp_path, "--comparison", pairs.comparison(14)) == GREEN
    assert "no change" in capsys.readouterr().out


def test_the_verdict_of_a_chosen_series_rests_on_fresh_launches(tmp_path):
    """The screen looked 30 % slower, by chance as it were: the second stage says that nothing changed."""
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(8), factor=1.3)
    pairs.add(POINT, range(8, 28))
    found = paired(pairs, pairs.comparison(8, 20, [POINT]))
    assert (found["exit_code"], words(found)) == (GREEN, {digest(POINT): "no change"})
    assert found["series"][0]["launches"] == [20, 20]


def test_what_was_chosen_and_not_measured_again_is_undecided(tmp_path):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(8), factor=1.3)
    found = paired(pairs, pairs.comparison(8, 20, [POINT]))
    assert (found["exit_code"], words(found)) == (GREEN, {digest(POINT): "undecided"})
    assert "not measured again" in found["series"][0]["reason"]


def test_pairs_take_the_drift_of_the_machine_out(tmp_path):
    """The machine gets 3 % slower with each launch, tenfold the slowdown."""
    pairs = Pairs(tmp_path, noise=0.005, drift=0.03)
    pairs.add(POINT, range(20), factor=1.05)
    found = paired(pairs, pairs.comparison(20))
    assert words(found) == {digest(POINT): "regression"}
    unpaired = result(tmp_path, BASE, CANDIDATE)
    assert words(unpaired) == {digest(POINT): "undecided"}


def test_a_faster_candidate_is_an_improvement_and_green(tmp_path):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(14), {"exchange": 0.6})
    found = paired(pairs, pairs.comparison(14))
    assert (found["exit_code"], words(found)) == (GREEN, {digest(POINT): "improvement"})
    assert found["series"][0]["phases"][0]["phase"] == "exchange"


def test_a_change_within_the_margin_is_no_regression_however_sure(tmp_path):
    pairs = Pairs(tmp_path, noise=0.001)
    pairs.add(POINT, range(40), factor=1.01)
    found = paired(pairs, pairs.comparison(40))
    assert found["series"][0]["corrected_p"] < 1e-6
    assert words(found) == {digest(POINT): "no change"}


def test_p_values_of_a_comparison_are_corrected_together(tmp_path):
    """By Holm: the least of m is multiplied by m, the next by m - 1, and none is below the one before it."""
    pairs = Pairs(tmp_path, noise=0.02)
    for number, point in enumerate(gate_points()):
        pairs.add(point, range(14), factor=1 + number / 100)
    found = paired(pairs, pairs.comparison(14))["series"]
    assert len(found) == 12
    largest = 0.0
    for left, one in zip(range(12, 0, -1), sorted(found, key=lambda one: one["p"]), strict=True):
        largest = max(largest, min(1.0, left * one["p"]))
        assert one["corrected_p"] == pytest.approx(largest)


def test_too_few_launches_say_how_many_it_takes(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(4), factor=1.2)
    found = paired(pairs, pairs.comparison(4))
    assert (found["exit_code"], words(found)) == (GREEN, {digest(POINT): "undecided"})
    assert found["series"][0]["smallest_visible"] is None
    assert found["series"][0]["pairs_needed"] >= 8
    assert f"it takes {found['series'][0]['pairs_needed']} or more" in capsys.readouterr().out
    one = Pairs(tmp_path / "one")
    one.add(POINT, [0])
    assert "1 pairs of launches; it takes 7 at least" in paired(one, one.comparison(1))["series"][0]["reason"]


def test_an_undecided_series_says_what_could_have_been_seen(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.08)
    pairs.add(POINT, range(14))
    found = paired(pairs, pairs.comparison(14))
    [one] = found["series"]
    assert one["verdict"] == "undecided"
    assert 0.08 < one["smallest_visible"] < 0.5
    assert "would have been seen (80 %)" in capsys.readouterr().out


def test_a_wrong_result_is_red_whatever_the_times(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(14), factor=0.5)
    store(tmp_path, pairs.makers[CANDIDATE].ended(POINT, 14, "wrong", "plane-waves: error 0.3"))
    found = paired(pairs, pairs.comparison(15))
    assert (found["exit_code"], words(found)) == (RED, {digest(POINT): "wrong"})
    assert "candidate: 1 wrong (plane-waves: error 0.3)" in capsys.readouterr().out


def test_a_wrong_result_of_the_base_alone_is_not_the_candidates(tmp_path):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(14))
    store(tmp_path, pairs.makers[BASE].ended(POINT, 14, "wrong", "plane-waves: error 0.3"))
    found = paired(pairs, pairs.comparison(15))
    assert (found["exit_code"], words(found)) == (GREEN, {digest(POINT): "no change"})
    assert "base: 1 wrong" in found["series"][0]["reason"]


@pytest.mark.parametrize(("status", "said"), [("failed", "2 failed (gone)"), ("timeout", "2 timed out (gone)")])
def test_launches_without_a_time_are_said_and_never_time_0(tmp_path, status, said):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(14))
    for launch in (14, 15):
        store(tmp_path, pairs.record(BASE, POINT, launch))
        store(tmp_path, pairs.makers[CANDIDATE].ended(POINT, launch, status, "gone"))
    [one] = paired(pairs, pairs.comparison(16))["series"]
    assert one["verdict"] == "no change"
    assert one["launches"] == [14, 14]
    assert f"candidate: {said}" in one["reason"]


def test_a_series_of_one_side_is_missing(tmp_path):
    other = make_point("slab", "p2p", (128, 128, 128), 4)
    crashed = make_point("slab", "pairwise", (128, 128, 128), 4)
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(14))
    for launch in range(14):
        store(tmp_path, pairs.record(BASE, other, launch))
        store(tmp_path, pairs.record(BASE, crashed, launch))
        store(tmp_path, pairs.makers[CANDIDATE].ended(crashed, launch, "failed", "signal 11"))
    found = paired(pairs, pairs.comparison(14))
    assert found["exit_code"] == GREEN
    assert words(found) == {digest(POINT): "no change", digest(other): "missing", digest(crashed): "missing"}
    reasons = {one["point_id"]: one["reason"] for one in found["series"]}
    assert reasons[digest(other)] == "candidate: no launch"
    assert reasons[digest(crashed)] == "candidate: 14 failed (signal 11)"


def test_nothing_measured_has_a_code_of_its_own(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    other = make_point("slab", "p2p", (128, 128, 128), 4)
    for launch in range(14):
        store(tmp_path, pairs.record(BASE, POINT, launch))
        store(tmp_path, pairs.record(CANDIDATE, other, launch))
    found = paired(pairs, pairs.comparison(14))
    assert (found["exit_code"], found["counts"]) == (NOTHING, {"missing": 2})
    assert capsys.readouterr().out.startswith("NOTHING MEASURED")


def test_two_groups_of_launches_are_reported_and_never_block(tmp_path):
    pairs = Pairs(tmp_path, noise=0.005)
    for launch in range(24):
        store(tmp_path, pairs.record(BASE, POINT, launch, factor=1.0 if launch % 2 else 1.3))
        store(tmp_path, pairs.record(CANDIDATE, POINT, launch, factor=1.2 if launch % 3 else 1.56))
    found = paired(pairs, pairs.comparison(24))
    assert (found["exit_code"], words(found)) == (GREEN, {digest(POINT): "bimodal"})


def test_a_machine_that_changed_meanwhile_is_not_bimodal(tmp_path):
    """Both launches of a pair are fast, or both are slow."""
    pairs = Pairs(tmp_path, noise=0.005)
    pairs.add(POINT, range(12), factor=1.05)
    for launch in range(12, 24):
        store(tmp_path, pairs.record(BASE, POINT, launch, factor=1.3))
        store(tmp_path, pairs.record(CANDIDATE, POINT, launch, factor=1.3 * 1.05))
    assert words(paired(pairs, pairs.comparison(24))) == {digest(POINT): "regression"}


def test_the_worst_comes_first_in_every_output(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    for number, point in enumerate(gate_points()):
        pairs.add(point, range(14), factor=(1.0, 1.1, 1.4)[number] if number < 3 else 1.0)
    files = {kind: tmp_path / f"gate.{kind}" for kind in ("markdown", "junit")}
    arguments = [word for kind, file in files.items() for word in (f"--{kind}", file)]
    found = paired(pairs, pairs.comparison(14), *arguments)
    assert [one["verdict"] for one in found["series"][:3]] == ["regression", "regression", "no change"]
    assert found["series"][0]["ratio"] > found["series"][1]["ratio"]
    worst = found["series"][0]["title"]
    assert worst in capsys.readouterr().out.splitlines()[1]
    markdown = files["markdown"].read_text().splitlines()
    assert markdown[0].startswith("**fourscore: RED")
    assert worst in markdown[2]
    suite = ElementTree.parse(files["junit"]).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("12", "2", "0")
    assert next(case.get("name") for case in suite if case.find("failure") is not None) == worst


def test_the_screen_says_what_to_measure_again(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.01)
    slow, fast = gate_points()[0], gate_points()[1]
    for point in gate_points():
        pairs.add(point, range(8), factor={digest(slow): 1.1, digest(fast): 0.9}.get(digest(point), 1.0))
    assert compare(tmp_path, "--comparison", pairs.comparison(8), "--plan") == 0
    plan = json.loads(capsys.readouterr().out)
    assert {digest(slow), digest(fast)} <= set(plan["flagged"])
    assert len(plan["flagged"]) < 8
    assert plan["why"][digest(slow)] == "may be slower"
    assert plan["why"][digest(fast)] == "looks faster"
    assert set(plan["pairs_needed"]) == set(plan["flagged"])
    assert all(8 <= count <= 150 for count in plan["pairs_needed"].values())
    assert len(plan["smallest_visible"]) == 12


@pytest.mark.parametrize("benchmark_records", [False, True])
def test_folders_and_archives_are_sides_too(tmp_path, benchmark_records):
    pairs = Pairs(tmp_path / "all")
    pairs.add(POINT, range(12), factor=1.2)
    for side in (BASE, CANDIDATE):
        target = tmp_path / side / ("records/gate" if benchmark_records else "")
        target.mkdir(parents=True)
        for file in (pairs.archive / "records" / side).iterdir():
            (target / file.name).write_bytes(file.read_bytes())
    found = result(tmp_path, tmp_path / BASE, tmp_path / CANDIDATE)
    assert words(found) == {digest(POINT): "regression"}
    assert found["paired"] is False


def test_counts_and_bytes_are_compared_exactly(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    for launch in range(3):
        for side in (BASE, CANDIDATE):
            record = pairs.record(side, POINT, launch)
            record["cost"]["messages_per_rank"] = [6, 6, 6, 6 if side == BASE else 7]
            record["memory"]["workspace_bytes"] = [1e6 if side == BASE else 0.999e6] * 4
            store(tmp_path, record)
    found = result(tmp_path, BASE, CANDIDATE)
    assert found["exit_code"] == RED
    changes = {one["number"]: (one["change"], one["blocks"]) for one in found["exact"]["changed"]}
    assert changes == {"messages": ("more", True), "workspace bytes": ("less", False)}
    text = capsys.readouterr().out
    assert "messages at most on a rank: 6 to 7 (+16.7 %)" in text
    assert "workspace bytes at most on a rank: 1000000 to 999000 (-0.1 %)" in text


def scale_counts(record: dict, factors: dict[str, float]) -> None:
    for phase, factor in factors.items():
        for metric, values in record["counters"]["phases"].get(phase, {}).items():
            record["counters"]["phases"][phase][metric] = [value * factor for value in values]


def test_instructions_of_several_simulated_ranks_are_compared_and_traffic_is_not(tmp_path):
    """Traffic depends on what the exchange, which waits, left in the cache."""
    for number, (side, instructions) in enumerate(((BASE, 100_000.0), (CANDIDATE, 100_100.0))):
        record = counted(Pairs(tmp_path).record(side, POINT, 0), simulated=True)
        scale_counts(record, {"pack": 1.0 + number})
        counters = record["counters"]
        counters["metrics"].append({"name": "instructions", "unit": "1"})
        readers = len(counters["readers"])
        counters["phases"]["pack"]["instructions"] = [instructions] * readers
        counters["phases"]["exchange"]["instructions"] = [instructions * (1 + number)] * readers
        store(tmp_path, record)
    found = result(tmp_path, BASE, CANDIDATE)
    assert found["exit_code"] == RED
    assert [one["number"].split(",")[0] for one in found["exact"]["changed"]] == ["instructions in pack"]


@pytest.mark.parametrize(("factor", "code"), [(1.0, GREEN), (1.0004, GREEN), (1.001, RED), (0.999, GREEN)])
def test_simulated_counts_are_compared_within_their_tolerance(tmp_path, factor, code):
    """They need no time and no repetition; a change of 0.1 % is always found. What waits counts as chance wants."""
    pairs = Pairs(tmp_path)
    for side in (BASE, CANDIDATE):
        record = counted(pairs.record(side, make_point("serial", "none", (128, 128, 128), 1), 0), simulated=True)
        if side == CANDIDATE:
            scale_counts(record, {"fft": factor, "other": 1.5})
        store(tmp_path, record)
    found = result(tmp_path, BASE, CANDIDATE)
    assert found["exit_code"] == code
    assert found["counts"] == {"counted": 1}
    changed = {one["number"].split(",")[0] for one in found["exact"]["changed"]}
    of_fft = {"bytes read from memory in fft", "bytes written to memory in fft"}
    assert changed == (of_fft if abs(factor - 1) > 5e-4 else set())


@pytest.mark.parametrize(("candidate", "word"), [(7698.0, GREEN), (7699.0, RED), (7682.0, GREEN)])
def test_a_few_instructions_more_in_a_short_phase_are_no_change(tmp_path, candidate, word):
    """Addresses decide which branch a copy takes: eight instructions, of whatever a phase has."""
    for side, instructions in ((BASE, 7690.0), (CANDIDATE, candidate)):
        record = counted(Pairs(tmp_path).record(side, POINT, 0), simulated=True)
        counters = record["counters"]
        counters["metrics"].append({"name": "instructions", "unit": "1"})
        counters["phases"]["pack"]["instructions"] = [instructions] * len(counters["readers"])
        store(tmp_path, record)
    assert result(tmp_path, BASE, CANDIDATE)["exit_code"] == word


def test_a_number_that_varies_between_launches_is_not_compared(tmp_path):
    pairs = Pairs(tmp_path)
    for launch in range(3):
        for side in (BASE, CANDIDATE):
            record = pairs.record(side, POINT, launch)
            record["memory"]["plan_bytes"] = [1e6 + launch * (side == BASE)] * 4
            store(tmp_path, record)
    found = result(tmp_path, BASE, CANDIDATE)
    assert found["exit_code"] == GREEN
    assert [(one["number"], one["change"]) for one in found["exact"]["changed"]] == [("plan bytes", "varies")]
