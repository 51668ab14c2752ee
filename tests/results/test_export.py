"""What `export` writes: where it may, whole or not at all, and the numbers that the records hold."""

import csv
import hashlib
import io
import json
import math
import os
import pathlib
import resource
import statistics

import pytest
from fourscore_command import changed, first_record, signed

FORMATS = ("csv", "jsonl", "benchmark")


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file() and not f.name.startswith("index.")}


def forbidden(fourscore) -> list[pathlib.Path]:
    """Names that an export must not take."""
    record = first_record(fourscore)
    link = fourscore.folder / "link.json"
    link.symlink_to(record)
    elsewhere = fourscore.folder / "elsewhere"
    elsewhere.symlink_to(fourscore.archive / "records")
    fifo = fourscore.folder / "fifo"
    os.mkfifo(fifo)
    return [
        *(record, record.parent / "new.json", fourscore.archive / "records/new.csv", link, elsewhere / "c/new.json"),
        *(fourscore.archive / "campaigns/c/campaign.json", fourscore.archive / "index.sqlite"),
        *(fifo, fourscore.folder, pathlib.Path("/dev/null"), pathlib.Path("/dev/full")),
    ]


@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_replaces_no_record_and_no_device(measured, kind):
    before = contents(measured.archive)
    for name in forbidden(measured):
        error = measured("export", "--format", kind, "-o", name, code=2).stderr
        assert str(name) in error and ("belongs to an archive" in error or "no regular file" in error), error
    assert contents(measured.archive) == before
    assert not pathlib.Path("/dev/null").is_file() and pathlib.Path("/dev/null").is_char_device()


def test_the_records_of_an_archive_that_was_not_named_are_safe_as_well(measured):
    record = first_record(measured)
    before = record.read_bytes()
    others = measured.folder / "others"
    others.mkdir()
    measured("export", "--format", "csv", "--record", record, "-o", record, "--archive", others, code=2)
    assert record.read_bytes() == before


def test_an_export_of_a_record_onto_itself_is_refused(measured):
    file = measured.folder / "out.json"
    file.write_bytes(first_record(measured).read_bytes())
    before = file.read_bytes()
    error = measured("export", "--format", "jsonl", "--record", file, "-o", file, code=2).stderr
    assert "the record that is read" in error and file.read_bytes() == before


@pytest.mark.parametrize("wish", [["--record", "nosuch"], ["--campaign", "nosuch"], ["--format", "chrome-trace"]])
def test_an_export_that_is_refused_leaves_the_file_as_it_was(measured, wish):
    file = measured.folder / "out"
    file.write_text("before")
    measured("export", "--format", "csv", "-o", file, *wish, code=2)
    assert file.read_text() == "before" and sorted(measured.folder.glob(".out*")) == []


@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_is_written_whole_or_not_at_all(measured, kind):
    file = measured.folder / "out"
    file.write_text("before")
    file.chmod(0o640)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # noqa: E731
    error = measured("export", "--format", kind, "-o", file, preexec_fn=limit, code=3).stderr
    assert f"cannot write {file}: File too large" in error
    assert file.read_text() == "before" and sorted(measured.folder.glob(".out*")) == []
    measured("export", "--format", kind, "-o", file)
    assert file.read_text() == measured("export", "--format", kind).stdout
    assert file.stat().st_mode & 0o777 == 0o640 and sorted(measured.folder.glob(".out*")) == []


def test_a_link_is_followed_and_stays(measured):
    target, link = measured.folder / "target", measured.folder / "link"
    target.write_text("before")
    link.symlink_to(target)
    measured("export", "--format", "csv", "-o", link)
    assert link.is_symlink() and target.read_text().startswith("file,")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_full_standard_output_ends_with_3(measured, kind):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w") as full:
        error = measured("export", "--format", kind, stdout=full, code=3).stderr
    assert "cannot write standard output: No space left on device" in error


def test_json_tells_what_was_written(measured):
    broken = first_record(measured)
    broken.write_text("{")
    file = measured.folder / "out.csv"
    told = measured.json("export", "--format", "csv", "-o", file)
    assert told == {
        "format": "csv",
        "output": str(file),
        "records": 5,
        "unreadable": [{"file": f"records/c/{broken.name}", "reason": "not JSON; truncated after 1 bytes?"}],
        "left_out": [],
    }
    assert len(list(csv.DictReader(io.StringIO(file.read_text())))) == 5 * 3


def test_json_without_a_file_is_refused(measured):
    assert "add -o FILE" in measured("export", "--format", "csv", "--json", code=2).stderr


def test_a_line_of_json_is_the_line_that_is_archived(measured):
    """For records that the programs write, whose keys are sorted, the digest is the same too."""
    for file, record in measured.records().items():
        pathlib.Path(file).write_text(canonical(record))
    measured("verify")
    lines = measured("export", "--format", "jsonl").stdout
    assert lines == "".join(file.read_text() for file in sorted(measured.archive.glob("records/c/*.json")))


def canonical(record: dict) -> str:
    """As the programs write it: keys sorted, no spaces."""
    content = {key: value for key, value in record.items() if key != "sha256"}
    line = json.dumps(content, sort_keys=True, separators=(",", ":"))[:-1] + ',"sha256":"'
    return f'{line}{hashlib.sha256(line.encode()).hexdigest()}"}}\n'


CELLS = {
    "=1+1": "'=1+1",
    "@SUM(A1)": "'@SUM(A1)",
    "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0",
    "-1+1": "'-1+1",
    "\t=1": "'\t=1",
    "\r=1": "'\r=1",
    '=HYPERLINK("x","y")': '\'=HYPERLINK("x","y")',
    "-2.5e-3": "-2.5e-3",
    "+7": "+7",
    "a=b": "a=b",
}


def test_no_cell_is_a_formula(fourscore):
    fourscore("run", fourscore.points(points=5), "--campaign", "c", "--quiet")
    for file, text in zip(sorted(fourscore.records()), CELLS, strict=True):
        with changed(pathlib.Path(file)) as record:
            record["verdict"]["reason"] = record["campaign"]["suite"] = text
    out = fourscore.folder / "out.csv"
    fourscore("export", "--format", "csv", "-o", out)
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["reason"] for row in rows[::3]] == [row["suite"] for row in rows[::3]] == list(CELLS.values())


# The numbers, worked out from the samples by other means.

SHAPE, TIMES = (8, 4, 2), [[0.003, 0.001, 0.008], [0.002, 0.009, 0.004]]


def transform(fourscore) -> dict:
    """Two launches of one point on two ranks: a sample is the maximum over ranks."""
    elements = math.prod(SHAPE)
    for (file, record), _ in zip(sorted(fourscore.records().items()), range(2), strict=False):
        launch = record["campaign"]["launch"]
        record["point"].update(shape=list(SHAPE), ranks=2)
        record["credited_flops"] = 5 * elements * math.log2(elements)
        record["samples"] = {"time_s": TIMES[launch], "rank_total_s": [TIMES[launch], [1e-4] * 3]}
        pathlib.Path(file).write_text(signed(record))
    return record


def test_the_times_and_rates_of_a_transform_are_those_of_its_samples(fourscore):
    fourscore("run", fourscore.points(points=1), "--campaign", "c", "--quiet")
    transform(fourscore)
    flops = 5 * 64 * 6  # 5 N log2 N
    rows = list(csv.DictReader(io.StringIO(fourscore("export", "--format", "csv").stdout)))
    assert len(rows) == 6
    for launch in (0, 1):
        mine = [row for row in rows if row["launch"] == str(launch)]
        assert [float(row["time_s"]) for row in mine] == TIMES[launch]
        assert [row["repetition"] for row in mine] == ["0", "1", "2"]
        for row in mine:
            assert float(row["gflops"]) == pytest.approx(flops / statistics.median(TIMES[launch]) / 1e9, rel=1e-12)
            assert float(row["median_s"]) == statistics.median(TIMES[launch])
            assert (float(row["min_s"]), float(row["max_s"])) == (min(TIMES[launch]), max(TIMES[launch]))
            assert (row["shape"], row["dims"], row["ranks"], row["repetitions"]) == ("8x4x2", "3", "2", "3")
    entries = json.loads(fourscore("export", "--format", "benchmark").stdout)["benchmarks"]
    times = [statistics.median(launch) for launch in TIMES]
    assert [entry["real_time"] for entry in entries] == pytest.approx([1e9 * time for time in times], rel=1e-12)
    assert [entry["flops_per_second"] for entry in entries] == pytest.approx([flops / time for time in times], rel=1e-12)
    assert {(entry["time_unit"], entry["iterations"], entry["threads"]) for entry in entries} == {("ns", 3, 2)}
    (campaign,) = fourscore.json("status")
    middle = statistics.median([statistics.median(launch) for launch in TIMES])
    assert campaign["points"][0]["gflops"] == pytest.approx(flops / middle / 1e9, rel=1e-12)


def test_the_columns_are_the_keys_that_they_are_named_after(measured):
    """Every text of the record is another one, so that no column can be taken from another key."""
    file = first_record(measured)
    with changed(file) as record:
        record["point"].update(
            {key: f"the {key}" for key in ("variant", "exchange", "local_fft", "placement", "precision", "kind", "direction")}
        )
        record["point"].update(shape=[1, 4, 4], grid=[3, 5], threads=7, instances=11, parameters={"pieces": "2"})
        record["point"]["contract"].update(layout="the layout", buffers="the buffers", planner="the planner")
        hashes = {key: f"the {key}" for key in ("machine_hash", "code_hash", "identity_hash")}
        code = {"revision": "the revision", "build_type": "Release"}
        record["provenance"] = hashes | {"identity": {"code": code}, "volatile": {"started_at": "the start"}}
        record.update(flags=["one", "two"], plan={"time_s": 0.125})
    row = next(csv.DictReader(io.StringIO(measured("export", "--format", "csv", "--record", file).stdout)))
    named = ("variant", "exchange", "local_fft", "placement", "precision", "kind", "direction", "layout", "buffers", "planner")
    assert {key: row[key] for key in (*named, *hashes)} == {key: f"the {key}" for key in (*named, *hashes)}
    assert row["revision"] == "the revision" and row["started_at"] == "the start" and row["flags"] == "one,two"
    assert (row["grid"], row["threads"], row["instances"], row["plan_s"]) == ("3x5", "7", "11", "0.125")
    (entry,) = {e["name"] for e in json.loads(measured("export", "--format", "benchmark", "--record", file).stdout)["benchmarks"]}
    assert entry == (
        "the variant/the exchange/the local_fft/1x4x4/the precision/the kind/the direction/ranks:1/grid:3x5/threads:7"
        "/instances:11/placement:the placement/the layout/the buffers/the planner/pieces:2"
    )


def test_the_bytes_messages_and_rates_of_a_component_are_those_of_its_benchmarks(measured):
    file = first_record(measured)
    with changed(file) as record:
        del record["samples"]
        times = [0.004, 0.002]
        numbers = {"size_bytes": 4096, "bytes": 3 * 4096, "messages": 3, "flops": 1000}
        benchmark = {"name": "alltoall/4096", "kernel": "alltoall", "labels": {"exchange": "p2p"}, "numbers": numbers}
        record["point"] = {"component": "alltoall_bench", "ranks": 4, "parameters": {"sizes": "4KiB"}}
        record["benchmarks"] = [benchmark | {"iterations": 17, "time_s": times, "rank_s": [times] * 4, "in_cache": False, "emulated": False}]
    rows = list(csv.DictReader(io.StringIO(measured("export", "--format", "csv", "--record", file).stdout)))
    assert [float(row["time_s"]) for row in rows] == times
    assert {(row["benchmark"], row["kernel"], row["iterations"]) for row in rows} == {("alltoall/4096", "alltoall", "17")}
    assert all(json.loads(row["numbers"]) == numbers and json.loads(row["labels"]) == {"exchange": "p2p"} for row in rows)
    entries = json.loads(measured("export", "--format", "benchmark", "--record", file).stdout)["benchmarks"]
    assert [entry["bytes_per_second"] for entry in entries] == pytest.approx([3 * 4096 / 0.003])
    assert [entry["flops_per_second"] for entry in entries] == pytest.approx([1000 / 0.003])
    assert [entry["real_time"] for entry in entries] == pytest.approx([3e6])
    assert {(entry["name"], entry["iterations"]) for entry in entries} == {
        ("alltoall_bench/ranks:4/sizes:4KiB/alltoall/4096", 17)
    }


@pytest.mark.parametrize("status", ["failed", "timeout", "wrong"])
def test_a_launch_without_a_time_is_an_error_and_never_time_0(measured, status):
    """compare.py knows no errors: it must not find such an entry beside the times of its benchmark."""
    file = first_record(measured)
    with changed(file) as record:
        if status != "wrong":
            del record["samples"]
        record["verdict"].update(status=status, reason="gone")
    entries = json.loads(measured("export", "--format", "benchmark").stdout)["benchmarks"]
    errors = [entry for entry in entries if entry.get("error_occurred")]
    assert [entry["error_message"] for entry in errors] == [f"{status}: gone"]
    assert not {"real_time", "cpu_time"} & set(errors[0])
    times = [entry for entry in entries if not entry.get("error_occurred")]
    assert all(entry["real_time"] > 0 for entry in times)
    assert errors[0]["name"] not in {entry["name"] for entry in times}
    assert {entry["name"] for entry in times if errors[0]["name"].startswith(f"{entry['name']}/{status}:")}


def test_a_timeline_of_a_record_with_parameters_is_exported(measured):
    """Its title names them; that once read freed memory."""
    file = first_record(measured)
    with changed(file) as record:
        record["point"]["parameters"] = {f"parameter-{n}-with-a-long-name": "a value that is long as well" * 4 for n in range(50)}
        lane = {"rank": 0, "lane": 0, "dropped": 0, "phase": ["fft", "exchange"], "begin_s": [0.0, 1.5], "end_s": [1.5, 2.0]}
        record["timeline"] = {"lanes": [lane | {"piece": [-1, 3]}]}
    events = json.loads(measured("export", "--format", "chrome-trace").stdout)["traceEvents"]
    (title,) = [e["args"]["name"] for e in events if e["name"] == "process_name"]
    for key, value in record["point"]["parameters"].items():
        assert f" {key}={value}" in title
    spans = [(e["name"], e["ts"], e["dur"], e.get("args")) for e in events if e["ph"] == "X"]
    assert spans == [("fft", 0, 1.5e6, None), ("exchange", 1.5e6, 0.5e6, {"piece": 3})]


def lines_of(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_extra_p_gets_the_total_and_each_phase_of_every_launch(measured):
    lines = lines_of(measured("export", "--format", "extra-p").stdout)
    records = [record for record in measured.records().values() if record["verdict"]["status"] == "ok"]
    totals = [line for line in lines if "->" not in line["callpath"]]
    assert sorted(line["value"] for line in totals) == pytest.approx(
        sorted(statistics.median(record["samples"]["time_s"]) for record in records)
    )
    assert {(line["params"]["ranks"], line["params"]["elements"]) for line in totals} == {
        (record["point"]["ranks"], math.prod(record["point"]["shape"])) for record in records
    }
    assert len({line["callpath"] for line in totals}) == 1, "shape and ranks are parameters, not names"
    phases = [line for line in lines if "->" in line["callpath"]]
    assert len(phases) == sum(len(record["samples"].get("rank_phase_s", {})) for record in records)
    for record in records:
        for phase, of_ranks in record["samples"].get("rank_phase_s", {}).items():
            slowest = statistics.median(max(times) for times in zip(*of_ranks, strict=True))
            assert any(line["callpath"].endswith(f"->{phase}") and line["value"] == slowest for line in phases)


def rank_times(record: dict, ranks: int, phases: dict[str, float]) -> str:
    """The record on so many ranks, each repetition with these phases."""
    count = len(record["samples"]["time_s"])
    record["point"]["ranks"] = ranks
    record["samples"]["rank_phase_s"] = {name: [[value] * count] * ranks for name, value in phases.items()}
    return json.dumps(record)


def extra_p_files(fourscore, of_ranks: dict[int, dict[str, float]]) -> list:
    """Options that name a record for each count of ranks."""
    record, files = json.loads(first_record(fourscore).read_text()), []
    for ranks, phases in of_ranks.items():
        file = fourscore.folder / f"{ranks}.json"
        file.write_text(signed(json.loads(rank_times(record, ranks, phases))))
        files += ["--record", file]
    return files


@pytest.mark.parametrize(
    ("of_ranks", "kept", "said"),
    [
        # On one rank there is no exchange.
        ({1: {"fft": 1.0}, 2: {"fft": 0.5, "exchange": 0.1}, 4: {"fft": 0.25, "exchange": 0.1}}, {"", "->fft"},
         "1 of 3 series are left out: Extra-P wants the same points in all, 3 here; the first, "),
        ({2: {"fft": 0.5, "exchange": 0.1}, 4: {"fft": 0.25, "exchange": 0.1}}, {"", "->fft", "->exchange"}, ""),
        # A clock that stood still, or was set back.
        ({2: {"fft": 0.0}, 4: {"fft": -1e-9}}, {""}, "2 times are left out, which are 0 or less"),
        ({2: {"fft": 0.0}, 4: {"fft": 0.25}}, {""}, "->fft, lacks ranks 2, elements "),
    ],
)
def test_extra_p_gets_series_of_the_same_points_and_no_time_of_which_is_0(measured, of_ranks, kept, said):
    files = extra_p_files(measured, of_ranks)
    result = measured("export", "--format", "extra-p", *files)
    points: dict[str, set] = {}
    for line in lines_of(result.stdout):
        assert line["value"] > 0
        points.setdefault(line["callpath"], set()).add(tuple(sorted(line["params"].items())))
    [whole] = [path for path in points if "->" not in path]
    assert {path.removeprefix(whole) for path in points} == kept
    assert len({frozenset(of_path) for of_path in points.values()}) == 1, "as Extra-P's own validate_experiment wants it"
    assert said in result.stderr and bool(result.stderr) == bool(said)
    written = measured("export", "--format", "extra-p", *files, "--json", "-o", measured.folder / "out").stdout
    assert json.loads(written)["left_out"] == [line for line in result.stderr.splitlines() if "left out" in line]


def test_extra_p_gets_nothing_where_no_time_is_positive(measured):
    record = json.loads(first_record(measured).read_text())
    record["samples"]["time_s"] = [0.0] * len(record["samples"]["time_s"])
    record["samples"].pop("rank_phase_s", None)
    file = measured.folder / "zero.json"
    file.write_text(signed(record))
    assert "none of 1 records has a time that is positive" in measured("export", "--format", "extra-p", "--record", file, code=2).stderr


def test_csv_has_the_phases_of_the_slowest_rank_of_each_repetition(measured):
    record = json.loads(first_record(measured).read_text())
    record["point"]["ranks"] = 2
    record["samples"] = {
        "time_s": [5.0, 2.0, 9.0],
        "rank_total_s": [[5.0, 1.0, 9.0], [4.0, 2.0, 1.0]],  # slowest rank: 0, 1, 0
        "rank_phase_s": {"fft": [[3.0, 0.4, 2.0], [1.0, 0.5, 0.6]], "exchange": [[2.0, 0.6, 7.0], [3.0, 1.5, 0.4]]},
    }
    file = measured.folder / "one.json"
    file.write_text(signed(record))
    rows = list(csv.DictReader(io.StringIO(measured("export", "--format", "csv", "--record", file).stdout)))
    assert [(row["fft_s"], row["exchange_s"], row["pack_s"]) for row in rows] == [("3.0", "2.0", ""), ("0.5", "1.5", ""), ("2.0", "7.0", "")]
    assert all(float(row["time_s"]) == float(row["fft_s"]) + float(row["exchange_s"]) for row in rows)
    assert list(rows[0])[-11:] == [*(f"{phase}_s" for phase in ("fft", "pack", "exchange", "unpack", "twiddle", "combine")), "h2d_s", "d2h_s", "product_s", "work_s", "other_s"]
    assert all(None not in row and None not in row.values() for row in rows), "as many cells as names"


def test_csv_lines_without_phases_have_as_many_cells(measured):
    record = json.loads(first_record(measured).read_text())
    for part in ("rank_phase_s", "rank_total_s"):
        record["samples"].pop(part, None)
    without = record | {"samples": {}}
    for number, one in enumerate((record, without)):
        (measured.folder / f"{number}.json").write_text(signed(one))
    files = [word for number in (0, 1) for word in ("--record", measured.folder / f"{number}.json")]
    lines = list(csv.reader(io.StringIO(measured("export", "--format", "csv", *files).stdout)))
    assert len(lines) > 2 and len({len(line) for line in lines}) == 1
    assert all(line[-9:] == [""] * 9 for line in lines[1:])


def test_otava_gets_a_row_a_build_and_a_column_a_series(measured):
    rows = list(csv.DictReader(io.StringIO(measured("export", "--format", "otava-csv").stdout)))
    records = [record for record in measured.records().values() if record["verdict"]["status"] == "ok"]
    [row] = rows
    series = {name: value for name, value in row.items() if name not in ("time", "revision", "code_hash")}
    assert len(series) == len({record["point_id"] for record in records})
    by_point = {}
    for record in records:
        by_point.setdefault(record["point_id"], []).append(statistics.median(record["samples"]["time_s"]))
    assert sorted(map(float, series.values())) == pytest.approx(sorted(map(statistics.median, by_point.values())))


def test_rows_for_otava_follow_the_first_launch_of_their_build(measured):
    """Not the names of the revisions, not those of the builds: what came later stands below."""
    file = first_record(measured)
    record = json.loads(file.read_text())
    builds = [("ffff", "2222", "2026-01-01"), ("1111", "eeee", "2026-01-02"), ("8888", "0000", "2026-01-03")]
    folder = measured.folder / "records"
    folder.mkdir()
    for number, (revision, code, day) in enumerate(reversed(builds)):
        identity = {"identity": {"code": {"revision": revision}}, "code_hash": code, "machine_hash": "m" * 16}
        for launch, hour in enumerate(("23", "07")):
            record["provenance"] = identity | {"volatile": {"started_at": f"{day}T{hour}:00:00Z"}}
            record["record_id"] = f"{number}{launch}"
            (folder / f"{number}{launch}.json").write_text(signed(record))
    files = [word for one in sorted(folder.iterdir()) for word in ("--record", one)]
    rows = csv.DictReader(io.StringIO(measured("export", "--format", "otava-csv", *files).stdout))
    found = [(row["revision"], row["code_hash"], row["time"]) for row in rows]
    assert found == [(revision, code, f"{day}T07:00:00Z") for revision, code, day in builds]


@pytest.mark.parametrize("kind", ["extra-p", "otava-csv"])
def test_records_without_times_make_no_model_and_no_history(fourscore, kind):
    fourscore("run", fourscore.suite('name = "s"\nlaunches = 1\n[[sweep]]\nvariant = "aborts"\nshape = "4"\nranks = 1\n'), code=1)
    said = fourscore("export", "--format", kind, "-o", fourscore.folder / "out", code=2).stderr
    assert "none of 1 records is of a transform and has a time" in said
    assert not (fourscore.folder / "out").exists()
