"""What a comparison has shown: its headline, its exit codes, and looks that end large effects early."""

import json
import math

import numpy as np
import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.gate.rules import RULES, is_decided, least_looks, of_look, pairs_needed, shares_of
from fourscore_analysis.points.shifts import paired_shift
from synthetic import BASE, CANDIDATE, Pairs, digest, gate_points, make_point, store

GREEN, RED, UNUSABLE, NOT_DECIDED = 0, 1, 2, 5
POINT = make_point("pencil", "alltoallv", (128, 128, 128), 4)
OTHER = make_point("slab", "p2p", (128, 128, 128), 4)


def compare(pairs: Pairs, *arguments) -> tuple[int, dict]:
    file = pairs.archive / "gate.json"
    code = main(["compare", "--archive", str(pairs.archive), *map(str, arguments), "--json", str(file)])
    return code, json.loads(file.read_text())


def test_noise_that_could_hide_a_slowdown_is_not_green(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.3)
    pairs.add(POINT, range(14))
    comparison = pairs.comparison(14)
    code, found = compare(pairs, "--comparison", comparison)
    assert (code, found["state"], found["not_decided"]) == (GREEN, "NOT DECIDED", 1)
    assert capsys.readouterr().out.startswith(
        "NOT DECIDED: 1 series: 1 undecided; 1 could hide a slowdown of more than 5 %"
    )
    limit = math.ceil(100 * found["series"][0]["could_hide"])
    for option in ("--strict", "--require-detectable"):
        code, found = compare(pairs, "--comparison", comparison, option)
        assert (code, found["exit_code"], found["state"]) == (NOT_DECIDED, NOT_DECIDED, "NOT DECIDED")
    # What is asked for is found: the launches exclude a slowdown of so much.
    code, found = compare(pairs, "--comparison", comparison, "--strict", "--detect", f"{limit}%")
    assert (code, found["state"]) == (GREEN, "GREEN")
    code, found = compare(pairs, "--comparison", comparison, "--strict", "--detect", str(limit - 2))
    assert (code, found["state"]) == (NOT_DECIDED, "NOT DECIDED")


def test_an_interval_that_excludes_a_slowdown_by_luck_is_no_power(tmp_path):
    """The candidate looks faster, with so much noise that 5 % more would not have been seen."""
    pairs = Pairs(tmp_path, noise=0.06)
    pairs.add(POINT, range(12), factor=0.95)
    comparison = pairs.comparison(12)
    code, found = compare(pairs, "--comparison", comparison, "--strict")
    [one] = found["series"]
    assert (code, found["state"], one["verdict"]) == (GREEN, "GREEN", "undecided")
    assert one["could_hide"] == max(0, one["interval"][1] - 1) < 0.05 < one["smallest_visible"]
    code, found = compare(pairs, "--comparison", comparison, "--require-detectable")
    assert (code, found["series"][0]["could_hide"]) == (NOT_DECIDED, one["smallest_visible"])


def test_a_series_that_the_candidate_lost_is_not_decided_and_one_that_is_new_is_no_matter(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(14))
    for launch in range(14):
        store(tmp_path, pairs.record(CANDIDATE, OTHER, launch))
    code, found = compare(pairs, BASE, CANDIDATE, "--strict")
    assert (code, found["state"], found["counts"]) == (GREEN, "GREEN", {"missing": 1, "no change": 1})
    lost = Pairs(tmp_path / "lost")
    lost.add(POINT, range(14))
    for launch in range(14):
        store(lost.archive, lost.record(BASE, OTHER, launch))
        store(lost.archive, lost.makers[CANDIDATE].ended(OTHER, launch, "failed", "signal 11"))
    code, found = compare(lost, BASE, CANDIDATE, "--strict")
    assert (code, found["state"]) == (NOT_DECIDED, "NOT DECIDED")
    assert {one["verdict"]: one["could_hide"] for one in found["series"]}["missing"] is None
    assert "1 could hide a slowdown" in capsys.readouterr().out


def test_red_is_red_whatever_is_not_decided(tmp_path):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(14), factor=1.3)
    Pairs(tmp_path, noise=0.4).add(OTHER, range(14))
    code, found = compare(pairs, BASE, CANDIDATE, "--strict")
    assert (code, found["state"]) == (RED, "RED")


@pytest.mark.parametrize("detect", ["2", "2%", "0", "-5", "nan", "soon", "", "1001", "5 percent"])
def test_a_slowdown_that_cannot_be_asked_for_is_refused(tmp_path, capsys, detect):
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a", "b", "--archive", str(tmp_path), f"--detect={detect}"])
    assert "expected more than the margin, 2, up to 1000" in capsys.readouterr().err


def test_the_second_stage_is_planned_for_the_slowdown_that_is_asked_for(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.02)
    pairs.add(POINT, range(8), factor=1.05)
    needed = {}
    for detect in ("4", "5", "10"):
        arguments = ["--comparison", str(pairs.comparison(8)), "--plan", f"--detect={detect}"]
        assert main(["compare", "--archive", str(tmp_path), *arguments]) == 0
        needed[detect] = json.loads(capsys.readouterr().out)["pairs_needed"].get(digest(POINT), 0)
    assert needed["4"] > needed["5"] > needed["10"]


def test_the_second_stage_takes_pairs_for_more_noise_than_the_screen_saw(tmp_path, capsys):
    """So few pairs know their own noise badly: half as much again is planned for (RULES.safety)."""
    pairs = Pairs(tmp_path, noise=0.03)
    pairs.add(POINT, range(8), factor=1.05)
    comparison = str(pairs.comparison(8))
    assert main(["compare", "--archive", str(tmp_path), "--comparison", comparison, "--plan"]) == 0
    plan = json.loads(capsys.readouterr().out)
    logs = []
    for launch in range(8):
        files = [tmp_path / "records" / side / f"{digest(POINT)}-{launch:03}.json" for side in (BASE, CANDIDATE)]
        times = [np.median(json.loads(file.read_text())["samples"]["time_s"]) for file in files]
        logs.append(math.log(times[1] / times[0]))
    noise = float(paired_shift(logs).standard_error) * math.sqrt(8)
    at_last = of_look(RULES, 1 - RULES.interim_error)
    expected = int(pairs_needed(np.array(1.5 * noise), 1, at_last))
    assert plan["pairs_needed"] == {digest(POINT): expected}
    assert expected > int(pairs_needed(np.array(1.2 * noise), 1, at_last))


def test_shares_of_the_looks_are_the_error():
    for tests in (1, 12, 300):
        looks = least_looks(tests)
        assert len(looks) == RULES.interim_looks
        for pairs in (8, 20, 40, 160):
            shares = shares_of(looks, pairs)
            assert sum(shares.values()) <= 1 + 1e-12
            assert list(shares) == sorted(shares)
            assert list(shares)[-1] == pairs
            assert all(look <= 0.8 * pairs for look in list(shares)[:-1])
        assert shares_of(looks, 8) == {8: 1.0}


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "uniform"])
def test_however_often_it_looks_what_is_equal_passes_as_seldom_as_it_says(draw):
    """The p-value of a series over all looks, at a level that is met often enough to count."""
    rng = np.random.default_rng(8)
    share = 0.05
    looks = {15: share, 30: share, 60: 1 - 2 * share}
    values = getattr(rng, draw)(size=(6000, 60)) - (0.5 if draw == "uniform" else 0.0)
    p = np.min([paired_shift(values[:, :look]).p_above() / share for look, share in looks.items()], axis=0)
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p <= level) <= level + 3 * math.sqrt(level / 6000)
    assert np.mean(p <= 0.2) > 0.1  # and not for naught


def test_a_look_ends_what_is_large_and_nothing_else():
    rng = np.random.default_rng(9)
    first = least_looks(12)[0]
    share = shares_of(least_looks(12), 60)[first]
    ended = {
        effect: np.mean(
            [is_decided(paired_shift(rng.normal(math.log1p(effect), 0.05, first)), share, 12) for _ in range(200)]
        )
        for effect in (0.0, 0.05, 0.5, -0.4)
    }
    assert ended[0.0] == 0
    assert ended[0.05] < 0.05
    assert min(ended[0.5], ended[-0.4]) == 1


def staged(pairs: Pairs, stopped: dict | None = None, looks=(15, 30), planned: int = 60):
    """A comparison with a second stage of POINT and OTHER."""
    points = [digest(POINT), digest(OTHER)]
    stages = [
        {"name": "screen", "first_launch": 0, "launches": 6},
        {"name": "confirm", "first_launch": 6, "launches": planned, "points": points}
        | {"pairs": dict.fromkeys(points, planned), "looks": list(looks), "stopped": stopped or {}},
    ]
    return pairs.comparison(6, stages=stages)


def test_the_plan_names_what_a_look_ends(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.03)
    pairs.add(POINT, range(21), factor=1.5)
    pairs.add(OTHER, range(21))
    assert main(["compare", "--archive", str(tmp_path), "--comparison", str(staged(pairs)), "--plan"]) == 0
    assert json.loads(capsys.readouterr().out)["decided"] == {digest(POINT): 15}


def test_a_series_that_was_ended_is_judged_by_its_pairs_up_to_there(tmp_path):
    pairs = Pairs(tmp_path, noise=0.03)
    pairs.add(POINT, range(21), factor=1.5)
    pairs.add(POINT, range(21, 30), factor=0.5)  # as a launch that was under way when it was ended
    pairs.add(OTHER, range(66))
    code, found = compare(pairs, "--comparison", staged(pairs, {digest(POINT): 15}))
    series = {one["point_id"]: one for one in found["series"]}
    assert (code, series[digest(POINT)]["verdict"], series[digest(OTHER)]["verdict"]) == (
        RED,
        "regression",
        "no change",
    )
    assert series[digest(POINT)]["launches"] == [15, 15]
    assert series[digest(OTHER)]["launches"] == [60, 60]
    # All signs speak for it: 2^-15, over the share of the look, for two series.
    assert series[digest(POINT)]["p"] == pytest.approx(2.0**-15 / 0.05)
    assert series[digest(POINT)]["corrected_p"] == pytest.approx(2 * 2.0**-15 / 0.05)


def test_a_series_in_two_groups_is_not_ended(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.005)
    for launch in range(21):
        store(tmp_path, pairs.record(BASE, POINT, launch, factor=1.0 if launch % 2 else 1.3))
        store(tmp_path, pairs.record(CANDIDATE, POINT, launch, factor=2.0 if launch % 3 else 2.6))
    pairs.add(OTHER, range(21))
    assert main(["compare", "--archive", str(tmp_path), "--comparison", str(staged(pairs)), "--plan"]) == 0
    assert json.loads(capsys.readouterr().out)["decided"] == {}


def test_noise_of_sides_that_are_not_paired_is_that_of_both(tmp_path):
    """With 60 launches of the base and 6 of the candidate, a series needs as many pairs as with 11 of each."""
    pairs = Pairs(tmp_path, noise=0.05)
    for launch in range(60):
        store(tmp_path, pairs.record(BASE, POINT, launch))
    for launch in range(6):
        store(tmp_path, pairs.record(CANDIDATE, POINT, launch))
    _, few = compare(pairs, BASE, CANDIDATE)
    code, other = compare(pairs, CANDIDATE, BASE)
    assert code == GREEN
    one, two = few["series"][0], other["series"][0]
    assert one["launches"] == two["launches"][::-1] == [60, 6]
    assert one["pairs_needed"] == two["pairs_needed"]
    assert 40 < one["pairs_needed"] < 130  # two sides have 5 % of noise each: a pair has 7 %


@pytest.mark.parametrize("paired", [True, False])
def test_times_that_are_shown_have_the_ratio_that_is_said(tmp_path, paired):
    """A machine that changes from pair to pair: medians of the sides are of other launches than the pairs."""
    rng = np.random.default_rng(3)
    pairs = Pairs(tmp_path, noise=0.01)
    for launch in range(30):
        level = float(np.exp(rng.normal(0, 1.0)))
        store(tmp_path, pairs.record(BASE, POINT, launch, factor=level))
        store(tmp_path, pairs.record(CANDIDATE, POINT, launch, {"pack": 3.0}, factor=level * 1.25))
    _, found = compare(pairs, *(["--comparison", pairs.comparison(30)] if paired else [BASE, CANDIDATE]))
    [one] = found["series"]
    assert one["candidate_s"] / one["base_s"] == pytest.approx(one["ratio"])
    if paired:
        assert one["verdict"] == "regression"
        for side in ("base_s", "candidate_s"):
            assert sum(phase[side] for phase in one["phases"]) == pytest.approx(one[side])
        assert {phase["phase"]: phase["verdict"] for phase in one["phases"]}["pack"] == "slower"


def test_a_p_value_of_a_phase_is_multiplied_by_the_number_of_phases(tmp_path):
    pairs = Pairs(tmp_path, noise=0.0)
    for launch in range(12):
        wobble = {"pack": 1.5, "fft": 1 + 0.02 * (-1) ** launch * (launch + 1) / 12, "exchange": 1.4, "unpack": 1.6}
        store(tmp_path, pairs.record(BASE, POINT, launch))
        store(tmp_path, pairs.record(CANDIDATE, POINT, launch, wobble))
    _, found = compare(pairs, "--comparison", pairs.comparison(12))
    corrected = sorted(one["corrected_p"] for one in found["series"][0]["phases"] if one["ratio"] is not None)
    least = 2 * 2.0**-12
    tested = len(corrected)
    assert tested == 4
    # Three phases are slower in all pairs: 4, 3 and 2 times the least p there is, and none below the one before it.
    assert corrected[:3] == pytest.approx([4 * least] * 3)
    assert corrected[3] > 0.05


@pytest.mark.parametrize(("launches", "p", "word"), [(7, 4 * 2 / 2**7, "cannot tell"), (8, 4 * 2 / 2**8, "slower")])
def test_a_phase_is_blamed_only_where_its_corrected_p_passes(tmp_path, launches, p, word):
    """Four phases are slower in all pairs, so every interval lies above 0."""
    pairs = Pairs(tmp_path, noise=0.0)
    for launch in range(launches):
        store(tmp_path, pairs.record(BASE, POINT, launch))
        store(
            tmp_path, pairs.record(CANDIDATE, POINT, launch, dict.fromkeys(("pack", "fft", "exchange", "unpack"), 1.5))
        )
    _, found = compare(pairs, "--comparison", pairs.comparison(launches))
    phases = [one for one in found["series"][0]["phases"] if one["ratio"] is not None]
    assert [(one["verdict"], one["corrected_p"]) for one in phases] == [(word, pytest.approx(p))] * 4


def test_all_points_are_decided_or_named(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    for point in gate_points():
        pairs.add(point, range(14))
    code, found = compare(pairs, "--comparison", pairs.comparison(14), "--strict")
    assert (code, found["state"], found["not_decided"]) == (GREEN, "GREEN", 0)
    assert capsys.readouterr().out.startswith("GREEN: 12 series: ")
