"""Suites with components alone: launched, resumed, archived and exported as all points are."""

import csv
import io
import json

import pytest
from fake_identity import COMPONENT_CODE, FAKE_COMPONENT, code_hash
from fourscore_command import signed

HEAD = 'name = "c"\nlaunches = 2\nrepetitions = 3\nseed = 7\n'
TWO = HEAD + '[[component]]\nprogram = ["alltoall_bench", "pairwise_bench"]\nranks = [1, 2]\n'


def does(*what: str, ranks: str = "1", head: str = HEAD.replace("launches = 2", "launches = 1")) -> str:
    return head + f'[[component]]\nprogram = "alltoall_bench"\nranks = {ranks}\nparameters = {{ does = {json.dumps(what)} }}\n'


def verdicts(fourscore) -> dict[str, dict]:
    return {r["point"]["parameters"].get("does", ""): r["verdict"] for r in fourscore.records().values()}


def test_every_launch_of_every_component_is_archived_once(fourscore):
    result = fourscore.json("run", fourscore.suite(TWO))
    assert result["counts"] == {"ok": 8} and result["missing"] == 0
    assert len(fourscore.records()) == len(set(fourscore.finished())) == 8
    assert {(r["point"]["component"], r["point"]["ranks"]) for r in fourscore.records().values()} == {
        (program, ranks) for program in ("alltoall_bench", "pairwise_bench") for ranks in (1, 2)
    }
    assert "all as they should be" in fourscore("verify").stdout


def test_a_program_gets_its_parameters_and_the_suites_repetitions(fourscore):
    suite = HEAD + 'min_time_s = 0.25\n[[component]]\nprogram = "alltoall_bench"\nranks = 2\nparameters = { sizes = ["8,16", 32] }\n'
    fourscore("run", fourscore.suite(suite), "--quiet")
    launches = [json.loads(line)["argv"][1:] for line in fourscore.log.read_text().splitlines()]
    assert len(launches) == 4
    place = ("--ranks", "2", "--nodes", "1", "--placement-of-ranks", "block")
    settings = ("--repetitions", "3", "--min-time-s", "0.25")
    assert {tuple(argv[:13]) for argv in launches} == {
        (*place, "--parameter", f"sizes={sizes}", *settings, "--record") for sizes in ("8,16", "32")
    }
    assert "--warmup" not in launches[0] and "--variant" not in launches[0]


def test_synchronised_iterations_are_asked_for_and_what_cannot_be_their_mean_is_found(fourscore):
    suite = TWO.replace("launches = 2", "launches = 1\nsynchronised = true").replace("ranks = [1, 2]", "ranks = 2")
    fourscore("run", fourscore.suite(suite), "--quiet")
    assert all("--synchronised" in json.loads(line)["argv"] for line in fourscore.log.read_text().splitlines())
    fourscore("verify")
    file, record = next(iter(fourscore.records().items()))
    benchmark = record["benchmarks"][0]
    for time, right in [(benchmark["time_s"][0] * 1.5, True), (benchmark["time_s"][0] * 2.5, False), (1e-12, False)]:
        benchmark["time_s"][0] = time
        with open(file, "w") as stream:
            stream.write(signed(record))
        said = fourscore("verify", "--json", code=0 if right else 1).stdout
        assert ("the slowest rank of each iteration takes" in said) is not right


def test_a_second_run_goes_on_where_the_first_ended(fourscore):
    suite = fourscore.suite(TWO)
    assert "5 launches are missing" in fourscore("run", suite, "--max-launches", 3).stderr
    fourscore("run", suite)
    fourscore("run", suite)
    assert len(fourscore.finished()) == len(set(fourscore.finished())) == 8
    planned = fourscore("run", suite, "--dry-run").stdout
    assert planned.count("done") >= 8 and "alltoall_bench, 2 ranks" in planned


def test_components_and_transforms_stand_in_one_suite(fourscore):
    sweep = '[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks = 1\n'
    result = fourscore.json("run", fourscore.suite(TWO + sweep))
    assert result["counts"] == {"ok": 10}
    benchmarks = [p["benchmarks"] for p in result["points"] if "component" in p["point"]]
    assert len(benchmarks) == 4
    assert all([b["name"] for b in of_point] == ["copy/64", "copy/4096"] for of_point in benchmarks)
    assert benchmarks[0][1]["median_s"] == pytest.approx(2 * 4096e-9)
    assert benchmarks[0][1]["bytes_per_s"] == pytest.approx(1e9)
    table = fourscore("status", result["campaign"]).stdout
    assert "alltoall_bench, 2 ranks" in table and "copy/4096" in table and "GB/s" in table and "GFLOP/s" in table


def test_components_alone_need_no_fft_bench(fourscore):
    fourscore("run", fourscore.suite(TWO), environment={"FOURSCORE_BENCH": "/proc/nowhere/fft_bench"})
    assert len(fourscore.records()) == 8


@pytest.mark.parametrize(
    ("changes", "line", "words"),
    [
        (('"alltoall_bench"', '"alltoall_bensh"'), 6, ["'program'", "alltoall_bensh", "did you mean 'alltoall_bench'"]),
        (("sizes =", "sises ="), 8, ["'parameters.sises'", "no parameter 'sises'", "it has: does, sizes"]),
        (('"good"', '"goood"'), 8, ["'parameters.does'", "'goood'", "allowed: good"]),
        (("ranks = 1", "ranks = 0"), 7, ["'ranks'", "at least 1"]),
        (("ranks = 1", "rank = 1"), 7, ["'rank'", "did you mean 'ranks'", "[[component]]"]),
        (('program = "alltoall_bench"', "parameters.x = 1"), 5, ["'program' is missing in [[component]]"]),
        (("ranks = 1", 'shape = "4x4"'), 7, ["'shape'", "[[component]]", "program"]),
        (("ranks = 1", 'ranks = 1\nexclude = [{ variant = "slab" }]'), 8, ["'variant'", "exclude"]),
        (("[[component]]", "[component]"), 5, ["'component'", "[[component]]"]),
        (("repetitions = 3", "min_time_s = 0"), 3, ["'min_time_s'", "number from"]),
    ],
)
def test_unusable_components_are_refused_with_file_line_and_key(fourscore, changes, line, words):
    text = HEAD + '[[component]]\nprogram = "alltoall_bench"\nranks = 1\nparameters = { does = "good", sizes = "8" }\n'
    assert changes[0] in text
    if changes[1].startswith("parameters.x"):
        text = text.replace("parameters = { does", "exclude = [{ ranks = 2 }]\n# { does")
        changes = ('program = "alltoall_bench"\n', "")
    suite = fourscore.suite(text.replace(*changes))
    error = fourscore("run", suite, code=2).stderr
    assert f"{suite}:{line}:" in error
    for word in words:
        assert word in error
    assert not fourscore.archive.exists()


def test_counters_of_components_alone_are_refused(fourscore):
    error = fourscore("run", fourscore.suite(TWO), "--counters", "perf", code=2).stderr
    assert "'perf'" in error and "no [[sweep]]" in error
    assert "no [[sweep]]" in fourscore("run", fourscore.suite('counters = "callgrind"\n' + TWO), code=2).stderr
    assert not fourscore.archive.exists()


def test_launches_that_go_wrong_are_archived_with_their_reason(fourscore):
    fourscore("run", fourscore.suite(does("aborts", "refuses", "forgets", "wrong", "good")), code=1)
    found = verdicts(fourscore)
    assert {name: verdict["status"] for name, verdict in found.items()} == {
        "aborts": "failed", "refuses": "failed", "forgets": "failed", "wrong": "wrong", "good": "ok"}  # fmt: skip
    assert "signal 6" in found["aborts"]["reason"] and "aborting on purpose" in found["aborts"]["stderr_tail"]
    assert found["refuses"]["reason"].endswith(": refused on purpose")
    fourscore("verify")
    failed = next(r for r in fourscore.records().values() if r["point"]["parameters"]["does"] == "aborts")
    assert failed["point"]["component"] == "alltoall_bench" and failed["provenance"]["code_hash"] == code_hash(COMPONENT_CODE, FAKE_COMPONENT)


def test_a_component_that_hangs_is_ended_at_the_time_limit(fourscore):
    text = does("hangs").replace("seed = 7", "seed = 7\ntime_limit_s = 5")
    fourscore("run", fourscore.suite(text), code=1)
    assert verdicts(fourscore)["hangs"]["status"] == "timeout" and "time limit" in verdicts(fourscore)["hangs"]["reason"]


def test_what_a_program_cannot_measure_is_skipped_without_a_launch(fourscore):
    fourscore("run", fourscore.suite(does("picky", ranks="[1, 2]")))
    by_ranks = {r["point"]["ranks"]: r["verdict"] for r in fourscore.records().values()}
    assert by_ranks[1]["status"] == "skipped" and by_ranks[1]["reason"] == "one rank has no partner"
    assert by_ranks[2]["status"] == "ok" and len(fourscore.finished()) == 1


def test_a_program_that_is_not_built_is_listed_and_skipped_with_the_reason(fourscore):
    (fourscore.components / "pairwise_bench").unlink()
    listed = {entry["name"]: entry for entry in fourscore.json("list", "components")}
    assert {"alltoall_bench", "pairwise_bench"} <= listed.keys()
    assert listed["alltoall_bench"]["available"] and not listed["pairwise_bench"]["available"]
    assert "Google Benchmark" in listed["pairwise_bench"]["reason"]
    words = fourscore("list", "components").stdout
    assert "cannot run here: it is not in" in words and "a fake of alltoall_bench" in words and "does=" in words
    fourscore("run", fourscore.suite(TWO))
    statuses = {(r["point"]["component"], r["verdict"]["status"]) for r in fourscore.records().values()}
    assert statuses == {("alltoall_bench", "ok"), ("pairwise_bench", "skipped")}
    fourscore("verify")


def test_another_component_program_begins_another_campaign(fourscore):
    sweep = '[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks = 1\n'
    for text in (TWO, TWO + sweep):
        before = len(list((fourscore.archive / "campaigns").glob("*")))
        suite = fourscore.suite(text)
        fourscore("run", suite, "--quiet")
        fourscore("run", suite, "--quiet", environment={"FAKE_COMPONENT_CODE": "f" * 16})
        fourscore("run", suite, "--quiet")
        assert len(list((fourscore.archive / "campaigns").iterdir())) == before + 2


def test_the_index_has_a_column_for_the_component_and_can_be_rebuilt(fourscore):
    import sqlite3

    fourscore("run", fourscore.suite(TWO), "--quiet")
    with sqlite3.connect(fourscore.archive / "index.sqlite") as database:
        rows = database.execute("SELECT component, ranks, variant, status, median_s FROM records").fetchall()
    assert sorted(set(rows)) == [
        (program, ranks, None, "ok", None) for program in ("alltoall_bench", "pairwise_bench") for ranks in (1, 2)
    ]
    grown = fourscore.index()
    fourscore("reindex")
    assert fourscore.index() == grown


def test_csv_has_a_line_per_repetition_of_each_benchmark(fourscore):
    fourscore("run", fourscore.suite(does("good", "aborts")), "--quiet", code=1)
    rows = list(csv.DictReader(io.StringIO(fourscore("export", "--format", "csv").stdout)))
    assert all(None not in row and None not in row.values() for row in rows)  # as many fields as the header has
    good = [row for row in rows if row["status"] == "ok"]
    assert [(row["benchmark"], row["repetition"]) for row in good] == [
        (f"copy/{size}", str(i)) for size in (64, 4096) for i in range(3)
    ]
    assert json.loads(good[0]["labels"]) == {"stores": "streaming"}
    assert json.loads(good[-1]["numbers"])["bytes"] == 8192 and float(good[-1]["time_s"]) == pytest.approx(3 * 4096e-9)
    failed = [row for row in rows if row["status"] == "failed"]
    assert len(failed) == 1 and failed[0]["benchmark"] == failed[0]["time_s"] == ""


def test_benchmark_json_has_an_entry_for_each_benchmark(fourscore):
    fourscore("run", fourscore.suite(TWO), "--quiet")
    content = json.loads(fourscore("export", "--format", "benchmark").stdout)
    names = {entry["run_name"] for entry in content["benchmarks"]}
    assert "alltoall_bench/ranks:2/copy/4096" in names and len(names) == 8
    entries = [entry for entry in content["benchmarks"] if entry["run_name"] == "alltoall_bench/ranks:2/copy/4096"]
    assert [entry["repetition_index"] for entry in entries] == [0, 1] and entries[0]["repetitions"] == 2  # launches
    assert [entry["real_time"] for entry in entries] == pytest.approx([8192] * 2)
    assert entries[0]["bytes_per_second"] == pytest.approx(1e9) and entries[0]["iterations"] == 10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.pop("benchmarks"), "no benchmarks"),
        (lambda r: r.update(benchmarks=[]), "is empty"),
        (lambda r: r["verdict"].update(status="wrong", reason="x"), "only a verified result has a time"),
        (lambda r: r["benchmarks"][0].update(name="copy/4096"), "there twice"),
        (lambda r: r["benchmarks"][1]["time_s"].__setitem__(0, 7.0), "maximum over ranks"),
        (lambda r: r["benchmarks"][1]["rank_s"].append([1, 2, 3]), "2 ranks"),
        (lambda r: r["benchmarks"][0]["time_s"].append(1.0), "without 4 numbers"),
        (lambda r: r["benchmarks"][0].update(iterations=0), "iterations' is 0; expected an integer from 1"),
        (lambda r: r.update(samples={"time_s": [1.0]}), "does not belong"),
    ],
)
def test_verify_finds_what_is_off_in_a_component_record(fourscore, change, words):
    text = TWO.replace("launches = 2", "launches = 1").replace("ranks = [1, 2]", "ranks = 1")
    fourscore("run", fourscore.suite(text), "--quiet")
    file = next(iter(fourscore.records()))
    record = json.loads(open(file).read())
    change(record)
    with open(file, "w") as stream:
        json.dump(record, stream)
    findings = fourscore.json("verify", code=1)["findings"]
    assert any(words in finding["problem"] for finding in findings), findings
