"""What `fourscore run`, `status` and `export` say of a campaign, against values worked out by hand."""

import csv
import io
import json
import pathlib
import re
import statistics

import pytest

TIMES_MS = {0: [1.0, 2.0, 9.0], 1: [4.0, 6.0, 4.0], 2: [9.0, 5.0, 7.0]}  # by launch: medians 2, 4 and 7
FLOPS = 1e6  # credited


def retime(fourscore, times_ms, variant="good", **changes) -> None:
    """As if the launches of `variant` had taken so long."""
    for file, record in fourscore.records().items():
        if record["point"]["variant"] == variant and record["verdict"]["status"] == "ok":
            times = [1e-3 * ms for ms in times_ms[record["campaign"]["launch"]]]
            record["samples"].update(time_s=times, rank_total_s=[times])
            record.update({"credited_flops": FLOPS} | changes)
            with open(file, "w") as out:
                json.dump(record, out)


def status(fourscore) -> dict:
    (campaign,) = fourscore.json("status", "c")
    return campaign


@pytest.fixture
def rivals(fourscore):
    """Two variants on one point, three launches each; `slow` twice as fast as `good`."""
    fourscore("run", fourscore.points('"good", "slow"', points=1, launches=3), "--campaign", "c", "--quiet")
    retime(fourscore, TIMES_MS)
    retime(fourscore, {launch: [ms / 2 for ms in times] for launch, times in TIMES_MS.items()}, "slow")
    return fourscore


def test_a_point_is_the_median_over_launches_of_their_medians(rivals):
    points = {point["point"]["variant"]: point for point in status(rivals)["points"]}
    good = points["good"]
    assert sorted(good["launch_medians_s"]) == pytest.approx([0.002, 0.004, 0.007])
    assert (good["median_s"], good["min_s"], good["max_s"]) == pytest.approx((0.004, 0.002, 0.007))
    assert good["gflops"] == pytest.approx(FLOPS / 0.004 / 1e9)
    assert points["slow"]["gflops"] == pytest.approx(FLOPS / 0.002 / 1e9)


def test_the_table_shows_the_same_numbers(rivals):
    rows = [line.split() for line in rivals("status", "c").stdout.splitlines() if " ok 3" in line]
    assert [(row[0] == "*", "slow" in row) for row in rows] == [(True, True), (False, False)]
    (good,) = [" ".join(row) for row in rows if "good" in row]
    assert re.search(r" 4(\.0*)? ms 2(\.0*)? ms \.\. 7(\.0*)? ms 0\.25 ok 3\b", good), good


def test_the_fastest_of_a_group_is_the_best(rivals):
    assert {p["point"]["variant"]: p["best"] for p in status(rivals)["points"]} == {"good": False, "slow": True}


def test_times_of_a_simulation_are_never_the_best(rivals):
    retime(rivals, TIMES_MS, "slow", flags=["simulated"])
    retime(rivals, TIMES_MS, "good", flags=["simulated"])
    assert not any(point["best"] for point in status(rivals)["points"])


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("kind", ["c2c", "r2c"]),
        ("direction", ["forward", "backward"]),
        ("planner", ["estimate", "measure"]),
        ("precision", ["double", "single"]),
        ("buffers", ["in-place", "out-of-place"]),
        ("threads", [1, 2]),
        ("instances", [1, 2]),
    ],
)
def test_points_that_differ_in_what_is_asked_are_never_ranked_together(fourscore, key, values):
    suite = fourscore.suite(
        'name="s"\nlaunches=1\n[[sweep]]\nvariant=["good","slow"]\nshape="4x4x4"\nranks=1\n'
        f"{key}={json.dumps(values)}\n"
    )
    fourscore("run", suite, "--campaign", "c", "--quiet")
    groups = {}
    for point in status(fourscore)["points"]:
        asked = point["point"] | point["point"]["contract"]
        groups.setdefault(point["group"], []).append((asked[key], point["best"]))
    assert len(groups) == 2
    for members in groups.values():
        assert len({value for value, _ in members}) == 1 and sum(best for _, best in members) == 1


def test_a_campaign_knows_how_many_records_it_will_have(fourscore):
    suite = fourscore.suite('name="s"\nlaunches=2\n[[sweep]]\nvariant="picky"\nshape="4x4x4"\nranks=[1,2]\n')
    fourscore("run", suite, "--campaign", "c", "--quiet")
    found = status(fourscore)
    assert (found["records"], found["expected"], found["counts"]) == (3, 3, {"ok": 2, "skipped": 1})
    assert "3 of 3 records, 2 ok, 1 skipped" in fourscore("status").stdout


def test_the_csv_holds_each_sample_with_the_numbers_of_its_launch(rivals):
    rows = [r for r in csv.DictReader(io.StringIO(rivals("export", "--format", "csv").stdout)) if r["variant"] == "good"]
    assert len(rows) == 3 * 3
    for row in rows:
        times = [1e-3 * ms for ms in TIMES_MS[int(row["launch"])]]
        assert float(row["time_s"]) == pytest.approx(times[int(row["repetition"])])
        said = [float(row[name]) for name in ("min_s", "median_s", "max_s", "gflops")]
        middle = sorted(times)[1]
        assert said == pytest.approx([min(times), middle, max(times), FLOPS / middle / 1e9])
        assert row["repetitions"] == "3"


def test_the_csv_names_what_was_asked(fourscore):
    suite = fourscore.suite(
        'name="s"\nlaunches=1\n[[sweep]]\nvariant="good"\nshape="4x4x4"\nranks=1\nkind="r2c"\ndirection="backward"\n'
        'precision="single"\nlayout="natural"\nbuffers="out-of-place"\nplanner="patient"\nthreads=3\n'
    )
    fourscore("run", suite, "--quiet")
    row = next(csv.DictReader(io.StringIO(fourscore("export", "--format", "csv").stdout)))
    names = ("kind", "direction", "precision", "layout", "buffers", "planner", "threads", "ranks", "shape", "status")
    expected = ("r2c", "backward", "single", "natural", "out-of-place", "patient", "3", "1", "4x4x4", "ok")
    assert tuple(row[name] for name in names) == expected
    assert "/r2c/backward/" in fourscore("export", "--format", "benchmark").stdout


def test_the_benchmark_export_has_nanoseconds_and_flops_a_second(rivals):
    entries = json.loads(rivals("export", "--format", "benchmark").stdout)["benchmarks"]
    good = [entry for entry in entries if entry["name"].startswith("good/")]
    times = sorted(1e-3 * statistics.median(launch) for launch in TIMES_MS.values())
    assert sorted(entry["real_time"] for entry in good) == pytest.approx([1e9 * time for time in times])
    assert all(entry["time_unit"] == "ns" for entry in good)
    for entry in good:
        assert entry["flops_per_second"] == pytest.approx(FLOPS / (1e-9 * entry["real_time"]))


def test_status_counts_the_points_that_are_done_and_those_with_a_failed_launch(fourscore):
    suite = fourscore.points('"good", "aborts", "hangs", "slow"', points=1, launches=1, more="time_limit_s = 5")
    fourscore("run", suite, environment={"FAKE_SLOW_S": "0"}, code=1)
    records = fourscore.records()
    pathlib.Path(next(file for file, one in records.items() if one["point"]["variant"] == "slow")).unlink()
    (wrong,) = [pathlib.Path(file) for file, one in records.items() if one["point"]["variant"] == "good"]
    (campaign,) = fourscore.json("status")
    assert campaign["points_done"] == {"of": 4, "done": 3, "failed": 2}, "aborts and hangs"
    record = json.loads(wrong.read_text())
    record["verdict"] = {"status": "wrong", "reason": "element 3"}
    wrong.write_text(json.dumps(record))
    (campaign,) = fourscore.json("status")
    assert campaign["points_done"] == {"of": 4, "done": 3, "failed": 3}


def test_records_that_credit_no_flops_have_no_rate(rivals):
    for file, record in rivals.records().items():
        del record["credited_flops"]
        pathlib.Path(file).write_text(json.dumps(record))
    assert {point["gflops"] for point in status(rivals)["points"]} == {0}
