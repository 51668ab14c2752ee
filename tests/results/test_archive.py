"""The archive under bad luck, its index, and what is exported from it."""

import contextlib
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

import pytest
from fourscore_command import changed, first_record


def truncate(file: pathlib.Path) -> None:
    file.write_text(file.read_text()[:200])


def make_newer(file: pathlib.Path) -> None:
    with changed(file) as record:
        record["schema_version"] = 99


@pytest.mark.parametrize(("damage", "reason"), [(truncate, "truncated"), (make_newer, "newer"), (lambda f: f.write_text(""), "empty")])
def test_an_unreadable_record_is_named_and_the_rest_is_read(measured, damage, reason):
    file = first_record(measured)
    damage(file)
    name = str(file.relative_to(measured.archive))
    result = measured("reindex")
    assert name in result.stderr and reason in result.stderr and "5 records" in result.stdout
    rows = measured.index()
    assert len(rows) == 6 and rows[-1][0] == name and reason in rows[-1][1]
    verify = measured("verify", code=1)
    assert name in verify.stdout and reason in verify.stdout
    export = measured("export", "--format", "jsonl")
    assert name in export.stderr and len(export.stdout.splitlines()) == 5
    assert "1 unreadable" in measured("status").stdout
    before = file.read_text()
    measured("run", measured.points(), "--campaign", "c")
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r["samples"]["time_s"].__setitem__(1, 0.5), "maximum over ranks"),
        (lambda r: r.update(provenance={"identity": {"a": 1}, "identity_hash": "0" * 16}), "identity_hash"),
        (lambda r: r.update(campaign=3), "campaign"),
        (lambda r: r.update(verdict=3), "key 'verdict' is 3; expected an object"),
        (lambda r: r["samples"].update(rank_phase_s=3), "rank_phase_s"),
    ],
)
def test_verify_finds_what_is_off(measured, change, words):
    """What else it finds: verify_test.cpp."""
    with changed(first_record(measured)) as record:
        change(record)
    result = measured.json("verify", code=1)
    assert result["records"] == 6 and any(words in finding["problem"] for finding in result["findings"])


README = pathlib.Path(__file__).parents[2] / "results/README.md"
EXAMPLE = pathlib.Path(__file__).parents[2] / "docs/example/archive"


def test_the_recipe_of_point_ids_is_that_of_the_archive(measured):
    """On one node and on several, and of records of an earlier version."""
    (recipe,) = re.findall(r"```python\n(def point_id.*?)```", README.read_text(), re.DOTALL)
    names = {"json": json, "hashlib": hashlib}
    exec(recipe, names)
    records = [json.loads(file.read_text()) for file in sorted(EXAMPLE.glob("records/*/*.json"))]
    records += measured.records().values()
    assert len(records) > 30
    for record in records:
        assert names["point_id"](record["point"]) == record["point_id"]
    on_two = records[-1]["point"] | {"nodes": 2, "ranks_per_node": 1, "ranks": 2}
    file = first_record(measured)
    with changed(file) as record:
        record.update(point=on_two, point_id=names["point_id"](on_two))
    assert "point_id" not in measured("verify", code=1).stdout


def test_records_of_the_example_stay_as_they_are_and_readable(fourscore, tmp_path):
    """They are of schema version 2, and were written once."""
    assert {json.loads(file.read_text())["schema_version"] for file in EXAMPLE.glob("records/*/*.json")} == {2}
    digest = hashlib.sha256()
    for file in sorted(EXAMPLE.rglob("*.json")):
        digest.update(file.relative_to(EXAMPLE).as_posix().encode() + b"\0" + file.read_bytes())
    assert digest.hexdigest() == "51ffb50a51e6aa3c4e620381ad9676249c8d42dbd1e11152a477583b481b18d7"
    copy = shutil.copytree(EXAMPLE, tmp_path / "copy")
    assert "all as they should be" in fourscore("verify", "--archive", copy).stdout


def test_reindex_gives_the_content_of_the_index_that_grew(measured):
    grown = measured.index()
    assert len(grown) == 6
    (measured.archive / "index.sqlite").unlink()
    measured("reindex")
    assert measured.index() == grown
    median = grown[0][[c[1] for c in columns(measured)].index("median_s")]
    assert median == 0.002


def columns(fourscore):
    import sqlite3

    with sqlite3.connect(fourscore.archive / "index.sqlite") as database:
        return database.execute("PRAGMA table_info(records)").fetchall()


def test_every_record_of_a_large_campaign_is_indexed(measured):
    template = json.loads(first_record(measured).read_text())
    template["padding"] = [0.012345678901 + 1e-9 * i for i in range(550)]
    text = json.dumps(template)
    assert 11000 < len(text) < 13000  # as real ones
    folder = measured.archive / "records/many"
    folder.mkdir()
    for i in range(1000):
        (folder / f"{i:016x}-000.json").write_text(text)
    assert measured.json("reindex")["records"] == 1006
    assert len(measured.index()) == 1006


def test_the_benchmark_of_the_archive_runs(fourscore):
    script = pathlib.Path(__file__).parents[1] / "benchmarks/archive_speed.py"
    program = fourscore.command()[0]
    command = [sys.executable, script, "--records", "30", "--repetitions", "1", "--fourscore", program, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=300)
    assert run.returncode in (0, 1), run.stderr  # 1: a busy machine
    answer = json.loads(run.stdout)
    assert answer["records"] == 30 and all(len(times) == 1 and times[0] > 0 for times in answer["times_s"].values())
    assert answer["times_s"].keys() == answer["targets_s"].keys() == {"reindex", "status", "status without index", "report"}


def test_campaigns_that_are_not_there_are_refused_with_the_nearest(measured):
    assert "did you mean 'c'" in measured("status", "cc", code=2).stderr
    assert "no archive" in measured("status", "--archive", "nowhere", code=3).stderr


def test_an_archive_below_a_file_is_not_writable(fourscore):
    (fourscore.folder / "file").write_text("")
    error = fourscore("run", fourscore.points(), "--archive", fourscore.folder / "file/archive", code=3).stderr
    assert "cannot be written" in error and "file/archive" in error
    assert not fourscore.log.exists()


@contextlib.contextmanager
def mounted(folder: pathlib.Path, *options: str):
    """A mount where this user may make one, else None."""
    done = os.geteuid() == 0 and subprocess.run(["mount", *options, str(folder)], capture_output=True).returncode == 0
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", str(folder)], check=True)


def test_a_read_only_archive_is_not_writable(measured):
    suite = measured.points(points=5)
    before = measured.finished()
    with mounted(measured.archive, "--bind", str(measured.archive)) as bound:
        if bound:
            subprocess.run(["mount", "-o", "remount,bind,ro", str(measured.archive)], check=True)
        else:
            for folder in measured.archive.rglob("*"):
                folder.chmod(0o555 if folder.is_dir() else 0o444)
        error = measured("run", suite, "--campaign", "d", code=3).stderr
        assert "cannot be written" in error and measured.finished() == before
        assert len(measured("export", "--format", "jsonl").stdout.splitlines()) == 6
        if not bound:
            for folder in measured.archive.rglob("*"):
                folder.chmod(0o755)


def test_a_full_disk_ends_with_3_and_nothing_is_lost(fourscore):
    suite = fourscore.points(points=20, launches=1)
    environment = {"FAKE_PADDING": "200000"}
    fourscore.archive.mkdir()
    with mounted(fourscore.archive, "-t", "tmpfs", "-o", "size=3m", "tmpfs") as bound:
        if bound:
            error = fourscore("run", suite, environment=environment, code=3).stderr
            assert "No space left" in error
            stored = fourscore.records()
            assert 0 < len(stored) < 20
            assert set(stored) == set(fourscore.finished())
            subprocess.run(["mount", "-o", "remount,size=16m", str(fourscore.archive)], check=True)
            fourscore("run", suite, environment=environment)
            assert len(fourscore.records()) == 20
            assert all(fourscore.records()[file] == record for file, record in stored.items())
            fourscore("verify")
        else:
            # Without the right to mount: a limit on the size of files is met in the same places.
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
            assert "too large" in fourscore("run", suite, preexec_fn=limit, code=3).stderr
            assert not fourscore.records()
            fourscore("run", suite)
            assert len(fourscore.records()) == 20


def test_csv_quotes_what_needs_it(fourscore):
    suite = fourscore.suite(
        'name="s"\nlaunches=1\n[[sweep]]\nvariant="good"\nshape="4x4x4"\nranks=1\nparameters = { a = "x,\\"y\\"\\n" }\n'
    )
    fourscore("run", suite)
    rows = list(csv.DictReader(io.StringIO(fourscore("export", "--format", "csv").stdout, newline="")))
    assert {json.loads(row["parameters"])["a"] for row in rows} == {'x,"y"\n'}


def test_benchmark_json_has_one_entry_a_launch(measured):
    file = measured.folder / "b.json"
    measured("export", "--format", "benchmark", "--campaign", "c", "-o", file)
    content = json.loads(file.read_text())
    assert content["context"]["executable"]
    by_name = {}
    for entry in content["benchmarks"]:
        assert entry["run_type"] == "iteration" and entry["time_unit"] == "ns" and entry["repetitions"] == 2
        by_name.setdefault(entry["run_name"], []).append(entry)
    assert len(by_name) == 3
    for entries in by_name.values():
        assert [entry["repetition_index"] for entry in entries] == [0, 1]
        assert [entry["real_time"] for entry in entries] == pytest.approx([2e6] * 2)


def test_a_trace_of_records_without_a_timeline_is_refused(measured):
    for options in ([], ["--record", first_record(measured)], ["--record", first_record(measured).stem]):
        error = measured("export", "--format", "chrome-trace", *options, code=2).stderr
        assert "timeline = true" in error and "--timeline" in error


def test_one_record_can_be_exported_by_any_of_its_names(measured):
    file = first_record(measured)
    names = [file, file.relative_to(measured.archive), file.name, file.stem]
    found = {measured("export", "--format", "jsonl", "--record", name).stdout for name in names}
    assert len(found) == 1 and json.loads(found.pop()) == json.loads(file.read_text())
    assert "no record 'nosuch'" in measured("export", "--format", "jsonl", "--record", "nosuch", code=2).stderr


# Debian's place for it (package libbenchmark-tools).
COMPARE = shutil.which("compare.py") or "/usr/share/benchmark/compare.py"


@pytest.mark.skipif(not pathlib.Path(COMPARE).exists(), reason="compare.py is not here (Debian: libbenchmark-tools)")
def test_google_benchmarks_own_compare_reads_the_export(measured):
    before, after, compared = (measured.folder / name for name in ("before.json", "after.json", "compared.json"))
    measured("export", "--format", "benchmark", "-o", before)
    slower = json.loads(before.read_text())
    for entry in slower["benchmarks"]:
        entry["real_time"] *= 1.5
    after.write_text(json.dumps(slower))
    command = [sys.executable, COMPARE, "--no-color", "-d", str(compared), "benchmarks", str(before), str(after)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found = {one["name"]: one for one in json.loads(compared.read_text())}
    names = {entry["run_name"] for entry in slower["benchmarks"]}
    assert names <= found.keys(), "the names are found again in both files"
    for name in names:
        runs = found[name]["measurements"]
        assert [run["real_time"] for run in runs] == pytest.approx([2e6] * 2)
        assert [run["time"] for run in runs] == pytest.approx([0.5] * 2)
        assert found[name]["time_unit"] == "ns"
        assert found[name]["utest"]["nr_of_repetitions"] == 2, "launches are independent, their repetitions are not"


def test_an_export_that_cannot_be_written_ends_with_3(measured):
    error = measured("export", "--format", "csv", "-o", "/proc/nowhere/x.csv", code=3).stderr
    assert "cannot write /proc/nowhere/x.csv: No such file" in error
