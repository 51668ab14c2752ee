"""Google Benchmark's JSON as a side of a comparison."""

from __future__ import annotations

import json
import pathlib

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.google_benchmark import is_google_benchmark, read_google_benchmark
from fourscore_analysis.records.values import RecordError

CONTEXT = {"host_name": "h", "num_cpus": 2, "mhz_per_cpu": 2600, "caches": [], "executable": "/opt/a/my_bench"}


def entry(name: str, time: float, unit: str = "us", **more) -> dict:
    return {"name": name, "run_name": name, "run_type": "iteration", "real_time": time, "time_unit": unit} | more


def content(*entries: dict, **context) -> dict:
    return {"context": CONTEXT | context, "benchmarks": list(entries)}


def folder(path: pathlib.Path, factor: float, launches: int = 12, **context) -> pathlib.Path:
    """A file for each launch, with two benchmarks of two repetitions."""
    path.mkdir()
    for launch in range(launches):
        wobble = 1 + 0.01 * (launch % 3)
        entries = [
            entry("fft/64", 100 * wobble * factor, repetition_index=0),
            entry("fft/64", 102 * wobble * factor, repetition_index=1),
            entry("fft/128", 1.5 * wobble, "ms", repetition_index=0),
            entry("fft/128", 1.5 * wobble, "ms", repetition_index=1),
            entry("fft/64_mean", 1.0, run_type="aggregate"),
        ]
        (path / f"{launch}.json").write_text(json.dumps(content(*entries, **context)))
    return path


def compare(base, candidate, *more) -> int:
    return main(["compare", str(base), str(candidate), *map(str, more)])


def test_a_benchmark_that_became_slower_is_found_among_those_that_did_not(tmp_path, capsys):
    sides = folder(tmp_path / "a", 1.0), folder(tmp_path / "b", 1.2, executable="/opt/b/my_bench")
    assert compare(*sides, "--json", "-") == 1
    series = {one["benchmark"]: one for one in json.loads(capsys.readouterr().out)["series"]}
    assert series["fft/64"]["verdict"] == "regression"
    assert series["fft/64"]["ratio"] == pytest.approx(1.2)
    assert series["fft/64"]["base_s"] == pytest.approx(101e-6, rel=0.03)
    assert series["fft/128"]["verdict"] == "no change"
    assert series["fft/128"]["launches"] == [12, 12]
    assert compare(*sides) == 1
    said = capsys.readouterr().out
    assert "my_bench" in said
    assert "Launches are not paired" in said


def test_repetitions_of_a_process_are_one_launch_and_entries_of_the_same_index_are_several():
    repetitions = content(entry("a", 1.0, repetition_index=0), entry("a", 3.0, repetition_index=1))
    [run] = read_google_benchmark(repetitions, "f")
    assert run.benchmarks[0].median_s == pytest.approx(2e-6)
    assert not run.benchmarks[0].emulated
    assert run.place == Place(1)
    runs = read_google_benchmark(content(entry("a", 1.0), entry("a", 3.0)), "f", first_launch=5)
    assert [(run.launch, run.benchmarks[0].median_s) for run in runs] == [(5, 1e-6), (6, 3e-6)]
    first_named = read_google_benchmark(content(entry("a", 1.0, repetition_index=0), entry("a", 3.0)), "f")
    assert [run.launch for run in first_named] == [0, 1]


@pytest.mark.parametrize(
    ("data", "is_one"),
    [
        (content(), True),
        (content() | {"schema": "fourscore.run-record"}, False),
        ({"benchmarks": []}, False),
        ({"context": {}}, False),
        ({"schema": "fourscore.run-record", "benchmarks": []}, False),
        (["benchmarks", "context"], False),
    ],
)
def test_its_files_are_told_from_records(data, is_one):
    assert is_google_benchmark(data) is is_one


def test_an_error_is_a_failed_launch_and_never_a_time():
    data = content(entry("a", 1.0), entry("a", 0.0, error_occurred=True, error_message="no memory"))
    ok, failed = read_google_benchmark(data, "f")
    assert (ok.status, failed.status, failed.reason) == ("ok", "failed", "no memory")
    assert failed.benchmarks == ()
    assert failed.without_time == "a"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"real_time": 0.0}, "failed (no time: real_time: expected seconds, found a time that is not positive: 0.0)"),
        ({"real_time": -1.0}, "found a time that is not positive: -1.0"),
        ({"real_time": "1"}, "no time: real_time: expected a number, found '1'"),
        ({"time_unit": "fortnights"}, "time_unit is 'fortnights', expected ns, us, ms, s"),
        ({"real_time": float("nan")}, "no time: 'real_time' is nan"),
        ({"bytes_per_second": float("nan")}, "no time: 'bytes_per_second' is nan"),
        ({"rate": float("inf")}, "no time: 'rate' is inf"),
        ({"rate": float("-inf")}, "no time: 'rate' is -inf"),
        ({"skipped": True, "skip_message": "no device"}, "skipped (no device)"),
        ({"skipped": True}, "skipped (skipped by the program)"),
        ({"error_occurred": True, "error_message": "no memory"}, "failed (no memory)"),
        ({"error_occurred": True}, "failed (error_occurred)"),
        ({"error_occurred": 1}, "error_occurred: expected true or false, found 1"),
    ],
)
@pytest.mark.parametrize("spoilt", [1, 12])
def test_an_entry_without_a_time_is_left_out_and_named_beside_its_series(tmp_path, capsys, bad, said, spoilt):
    base, candidate = folder(tmp_path / "a", 1.0), folder(tmp_path / "b", 1.0)
    for launch in range(spoilt):
        file = candidate / f"{launch}.json"
        data = json.loads(file.read_text())
        data["benchmarks"] = [
            one | bad if one["name"] == "fft/64" else one
            for one in data["benchmarks"]
            if one.get("repetition_index") != 1
        ]
        file.write_text(json.dumps(data))
    assert compare(base, candidate, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    series = {one["benchmark"]: one for one in found["series"]}
    assert found["unreadable"] == []
    assert series["fft/128"]["launches"] == [12, 12]
    assert series["fft/128"]["reason"] == ""
    assert f"candidate: {spoilt} " in series["fft/64"]["reason"]
    assert said in series["fft/64"]["reason"]
    if spoilt == 12:
        assert series["fft/64"]["verdict"] == "missing"
    else:
        assert series["fft/64"]["launches"] == [12, 11]


def test_a_file_of_aggregates_alone_says_so(tmp_path, capsys):
    means = content(entry("a_mean", 1.0, run_type="aggregate"), entry("a_median", 1.0, run_type="aggregate"))
    with pytest.raises(RecordError, match="aggregates alone"):
        read_google_benchmark(means, "f")
    base, file = folder(tmp_path / "a", 1.0), tmp_path / "means.json"
    file.write_text(json.dumps(means))
    assert compare(base, file) == 2
    assert "holds aggregates alone (mean, median), no times of launches" in capsys.readouterr().err


def test_a_series_has_no_ranks_that_the_file_does_not_name(tmp_path, capsys):
    base = folder(tmp_path / "a", 1.0)
    candidate = folder(tmp_path / "b", 1.0)
    assert compare(base, candidate, "--json", "-") == 0
    titles = [one["title"] for one in json.loads(capsys.readouterr().out)["series"]]
    assert sorted(titles) == ["my_bench, fft/128", "my_bench, fft/64"]


def test_builds_that_are_not_known_are_not_called_the_same(tmp_path, capsys):
    assert compare(folder(tmp_path / "a", 1.0), folder(tmp_path / "b", 1.0)) == 0
    assert "same build" not in capsys.readouterr().out


def test_other_machines_are_refused(tmp_path, capsys):
    sides = folder(tmp_path / "a", 1.0), folder(tmp_path / "b", 1.0, num_cpus=64)
    assert compare(*sides) == 2
    assert "machine.num_cpus: 2 | 64" in capsys.readouterr().err
    assert compare(*sides, "--allow-different", "machine.num_cpus") == 0
