"""Google Benchmark's JSON as a side of a comparison."""

from __future__ import annotations

import json
import pathlib

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.records.google_benchmark import read_google_benchmark
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
    runs = read_google_benchmark(content(entry("a", 1.0), entry("a", 3.0)), "f", first_launch=5)
    assert [(run.launch, run.benchmarks[0].median_s) for run in runs] == [(5, 1e-6), (6, 3e-6)]


def test_an_error_is_a_failed_launch_and_never_a_time():
    data = content(entry("a", 1.0), entry("a", 0.0, error_occurred=True, error_message="no memory"))
    ok, failed = read_google_benchmark(data, "f")
    assert (ok.status, failed.status, failed.reason) == ("ok", "failed", "a: no memory")
    assert failed.benchmarks == ()


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (entry("a", 0.0), "a: "),
        (entry("a", -1.0), "a: "),
        (entry("a", 1.0, "fortnights"), "time_unit is 'fortnights', expected ns, us, ms, s"),
        ({"name": "a"}, "real_time"),
    ],
)
def test_what_is_no_time_is_refused_by_name(bad, words):
    with pytest.raises(RecordError, match=words):
        read_google_benchmark(content(bad), "f")


def test_other_machines_are_refused(tmp_path, capsys):
    sides = folder(tmp_path / "a", 1.0), folder(tmp_path / "b", 1.0, num_cpus=64)
    assert compare(*sides) == 2
    assert "machine.num_cpus: 2 | 64" in capsys.readouterr().err
    assert compare(*sides, "--allow-different", "machine.num_cpus") == 0
