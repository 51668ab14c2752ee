"""The gate on this project itself: messages, bytes, memory and plans of its variants and exchanges are those of
exact-baseline.json. Moved on purpose: `fourscore run exact && fourscore gate accept exact --baseline` that file."""

import json
import pathlib

import pytest
from fourscore_command import REAL, Fourscore

HERE = pathlib.Path(__file__).parent
BASELINE = HERE / "exact-baseline.json"


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """With a campaign of the suite exact, to be read alone."""
    fourscore = Fourscore(tmp_path_factory.mktemp("exact"))
    fourscore.environment |= REAL
    fourscore("run", "exact", "--launches-per-job", 100, "--quiet")
    return fourscore


def spoilt(folder: pathlib.Path, factor: float) -> pathlib.Path:
    """The baseline with the bytes that one variant sends times the factor."""
    content = json.loads(BASELINE.read_text())
    (point,) = (
        point
        for point in content["points"]
        if point["title"].startswith("volumetric") and "3 ranks" in point["title"] and "r2c" not in point["title"]
    )
    point["numbers"]["bytes sent"] = [value * factor for value in point["numbers"]["bytes sent"]]
    file = folder / "spoilt.json"
    file.write_text(json.dumps(content))
    return file


def is_count(name: str) -> bool:
    return name.startswith("instructions in ")


def ranks_of(point: dict) -> int:
    return int(point["title"].split(" rank")[0].split()[-1])


def declared(file: pathlib.Path) -> list[dict]:
    """Points of a baseline without what a simulation counted."""
    points = json.loads(file.read_text())["points"]
    for point in points:
        point["numbers"] = {name: values for name, values in point["numbers"].items() if not is_count(name)}
    return points


def why_uncounted(fourscore) -> str:
    """Why the programs here count nothing; empty where they do."""
    backends = fourscore.json("list", "counters")
    return next(one["reason"] for one in backends if one["name"] == "callgrind")


def test_no_exact_number_of_this_project_changed_unnoticed(exact):
    found = json.loads(exact("gate", "check", "exact", "--baseline", BASELINE, "--json", "-").stdout)
    assert found["counts"]["same"] > 300
    counted = [point for point in json.loads(BASELINE.read_text())["points"] if any(map(is_count, point["numbers"]))]
    assert {ranks_of(point) for point in counted} in (set(), {1, 2})
    missing = why_uncounted(exact)
    if missing:  # the counted points alone are missing, and say so
        assert [one["change"] for one in found["changes"]] == ["absent"] * len(counted)
        assert all("counters 'callgrind' are not available here" in one["said"] for one in found["changes"])
    else:  # those of another processor or compiler are not compared
        assert {one["change"] for one in found["changes"]} <= {"elsewhere" if counted else "new"}
    # A change of 0.1 % is seen, and which way it went.
    said = exact("gate", "check", "exact", "--baseline", spoilt(exact.folder, 0.999), code=1).stdout
    assert said.startswith("RED") and "volumetric" in said and "bytes sent at most on a rank" in said
    assert "(+0.1 %)" in said and "fourscore gate accept" in said
    said = exact("gate", "check", "exact", "--baseline", spoilt(exact.folder, 1.001)).stdout
    assert said.startswith("GREEN") and "less" in said
    # What is accepted is then the baseline.
    mine = exact.folder / "mine.json"
    exact("gate", "accept", "exact", "--baseline", mine)
    if not missing and not found["changes"]:  # counts differ in the last digits, as the gate allows
        assert [point["point_id"] for point in declared(mine)] == [point["point_id"] for point in declared(BASELINE)]
    here = {point["point_id"]: point for point in declared(mine)}
    uncounted = {point["point_id"] for point in counted} if missing else set()
    assert all(here[point["point_id"]] == point for point in declared(BASELINE) if point["point_id"] not in uncounted)


@pytest.mark.parametrize(("ranks", "phase"), [(1, "fft"), (2, "pack")])
def test_more_instructions_in_one_phase_fail_the_check(exact, ranks, phase):
    """No message, no byte and no plan differs: the baseline alone says that a loop took one in a hundred less."""
    if reason := why_uncounted(exact):
        pytest.skip(reason)
    baseline = exact.folder / f"{phase}.json"
    exact("gate", "accept", "exact", "--baseline", baseline)
    assert exact("gate", "check", "exact", "--baseline", baseline).stdout.startswith("GREEN")
    content = json.loads(baseline.read_text())
    (point,) = (
        point
        for point in content["points"]
        if point["title"].startswith("slab") and ranks_of(point) == ranks and any(map(is_count, point["numbers"]))
    )
    (name,) = (name for name in point["numbers"] if name.startswith(f"instructions in {phase}"))
    *counts, tolerance = point["numbers"][name]
    point["numbers"][name] = [*(0.99 * count for count in counts), tolerance]
    baseline.write_text(json.dumps(content))
    said = exact("gate", "check", "exact", "--baseline", baseline, code=1).stdout
    more = [line for line in said.splitlines() if line.startswith("  more")]
    assert said.startswith("RED") and more and all(f"instructions in {phase}" in line for line in more), said


def test_it_says_so_without_a_baseline_or_numbers(fourscore):
    fourscore("run", fourscore.points(), "--campaign", "c", "--quiet")
    assert "cannot be read" in fourscore("gate", "check", "c", "--baseline", "none.json", code=2).stderr
    (fourscore.folder / "other.json").write_text("{}")
    assert "is no fourscore.gate-baseline" in fourscore("gate", "check", "c", "--baseline", "other.json", code=2).stderr
    said = fourscore("gate", "check", "c", "--baseline", BASELINE, code=4).stdout
    assert said.startswith("NOTHING MEASURED") and "was not measured" in said
    fourscore("run", fourscore.points(variants='"aborts"'), "--campaign", "d", "--quiet", code=1)
    assert "nothing was measured" in fourscore("gate", "accept", "d", "--baseline", "new.json", code=2).stderr
    assert not (fourscore.folder / "new.json").exists()
