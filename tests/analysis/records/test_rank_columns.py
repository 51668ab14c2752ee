"""Per-rank values that stand in a file beside the record are read as if they stood in it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fourscore_analysis.records.archive import read_campaigns
from fourscore_analysis.records.briefs import read_briefs
from fourscore_analysis.records.rank_columns import read_rank_columns
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from synthetic.common import canonical, store
from synthetic.transforms import Maker, make_point

RANKS = 70


def take_columns(record: dict, folder) -> dict:
    """The record with its arrays over ranks in a file, as results/README.md has it."""
    samples, cost, plan = record["samples"], record["cost"], record["plan"]
    columns = {"/samples/rank_total_s": samples.pop("rank_total_s"), "/plan/rank_s": plan.pop("rank_s")}
    columns |= {f"/samples/rank_phase_s/{name}": rows for name, rows in samples["rank_phase_s"].items()}
    samples["rank_phase_s"] = {}
    for name in ("bytes_sent_per_rank", "messages_per_rank"):
        columns[f"/cost/{name}"] = cost.pop(name)
    for number, component in enumerate(record.get("isolated", [])):
        columns[f"/isolated/{number}/rank_s"] = component.pop("rank_s")
    arrays = {path: np.asarray(values, dtype="<f8") for path, values in columns.items()}
    rows = np.empty(RANKS, dtype=[(path, "<f8", array.shape[1:]) for path, array in arrays.items()])
    for path, array in arrays.items():
        rows[path] = array
    name = f"{record['record_id']}.ranks.npy"
    np.save(folder / name, rows)
    content = (folder / name).read_bytes()
    record["rank_columns"] = {
        "file": name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "columns": [{"path": path, "shape": list(array.shape[1:])} for path, array in arrays.items()],
    }
    return record


def test_a_record_with_columns_is_read_as_one_without(tmp_path):
    record = Maker().ok(make_point(ranks=RANKS), 0)
    whole = parse_record(canonical(record), "a.json")
    (tmp_path / "records" / record["campaign"]["id"]).mkdir(parents=True)
    store(tmp_path, take_columns(record, tmp_path / "records" / record["campaign"]["id"]))
    [campaign] = read_campaigns(tmp_path, [record["campaign"]["id"]])
    [read] = campaign.launches
    assert whole.phase_s
    assert whole.traffic
    assert whole.components
    for name in ("time_s", "phase_s", "phase_max_s", "traffic", "components", "plan_s", "closure_worst"):
        assert getattr(read, name) == getattr(whole, name), name


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda record, file: file.unlink(), "No such file"),
        (lambda record, file: file.write_bytes(file.read_bytes()[:-8]), "not what the record says"),
        (lambda record, file: record["rank_columns"].update(file="../x.ranks.npy"), "letters, digits"),
        (lambda record, file: record["rank_columns"].update(file=f"{'x' * 200}.ranks.npy"), "letters, digits"),
        (lambda record, file: record["rank_columns"].update(file="a\nb.ranks.npy"), "letters, digits"),
        (lambda record, file: record["rank_columns"].update(file="record.json"), "ends with .ranks.npy"),
        (lambda record, file: record["rank_columns"]["columns"].append({"path": "/plan/x"}), "lacks the column"),
        (lambda record, file: record["rank_columns"].update(file=7), "file"),
        (lambda record, file: record.update(rank_columns=[]), "rank_columns"),
    ],
)
def test_columns_that_are_not_the_records_make_it_unusable(tmp_path, spoil, reason):
    record = take_columns(Maker().ok(make_point(ranks=RANKS), 0), tmp_path)
    spoil(record, tmp_path / record["rank_columns"]["file"])
    with pytest.raises(RecordError, match=reason):
        parse_record(canonical(record), "a.json", tmp_path)


def test_values_that_are_no_numbers_are_null_and_every_rank_is_a_reader(tmp_path):
    rows = np.array([(1.0,), (np.nan,)], dtype=[("/counters/total/a", "<f8")])
    np.save(tmp_path / "c.ranks.npy", rows)
    content = (tmp_path / "c.ranks.npy").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    record = {"rank_columns": {"file": "c.ranks.npy", "sha256": digest, "columns": [{"path": "/counters/total/a"}]}}
    record = json.loads(json.dumps(record | {"counters": {"total": {}}}))
    read_rank_columns(record, lambda name: content)
    assert record["counters"] == {"total": {"a": [1.0, None]}, "readers": [{"rank": 0}, {"rank": 1}]}


def zipped(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.savez(content, array=array)
    return content.getvalue()


def plain(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def with_header(header: str, version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin1")
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + bytes(64)


PATH = "/samples/rank_total_s"
# What NumPy reads as something, or chokes on; its hash is right each time.
FOREIGN = {
    "numbers without names": plain(np.zeros((RANKS, 3))),
    "one number": plain(np.float64(1)),
    "a table": plain(np.zeros((2, RANKS), dtype=[(PATH, "<f8", (3,))])),
    "too few ranks": plain(np.zeros(RANKS - 1, dtype=[(PATH, "<f8", (3,))])),
    "no ranks": plain(np.zeros(0, dtype=[(PATH, "<f8", (3,))])),
    "integers": plain(np.zeros(RANKS, dtype=[(PATH, "<i8", (3,))])),
    "texts": plain(np.zeros(RANKS, dtype=[(PATH, "U5", (3,))])),
    "bytes": plain(np.zeros(RANKS, dtype=[(PATH, "S5")])),
    "complex numbers": plain(np.zeros(RANKS, dtype=[(PATH, "<c16", (3,))])),
    "dates": plain(np.zeros(RANKS, dtype=[(PATH, "<M8[s]", (3,))])),
    "raw bytes": plain(np.zeros(RANKS, dtype=[(PATH, "V8", (3,))])),
    "records in records": plain(np.zeros(RANKS, dtype=[(PATH, [("a", "<f8")])])),
    "big-endian numbers": plain(np.zeros(RANKS, dtype=[(PATH, ">f8", (3,))])),
    "many axes": plain(np.zeros(RANKS, dtype=[(PATH, "<f8", (1,) * 20)])),
    "objects": plain(np.array([{}] * RANKS, dtype=object)),
    "an archive of arrays": zipped(np.zeros(RANKS)),
    "nothing": b"",
    "another file": b"PK\x03\x04" + bytes(100),
    "a header cut off": b"\x93NUMPY\x01\x00\xff",
    "a header that is no literal": with_header("__import__('os').getcwd()\n"),
    "a header of brackets": with_header("(" * 9000 + "\n"),
    "a header with more rows than memory": with_header(
        "{'descr': [('/samples/rank_total_s', '<f8', (3,))], 'fortran_order': False, 'shape': (999999999999999,), }\n"
    ),
    "rows of negative number": with_header(
        "{'descr': [('/samples/rank_total_s', '<f8', (3,))], 'fortran_order': False, 'shape': (-1,), }\n"
    ),
    "a header of Python 2": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (70L,), }\n"),
    "a version to come": with_header("{}", b"\x09\x00"),
}


# What is said of those whose reason is another.
REASONS = {
    "too few ranks": "has 69 rows; expected one for each of 70 ranks",
    "no ranks": "has 0 rows",
    "numbers without names": "no array of one row a rank",
    "a table": "no array of one row a rank",
    "an archive of arrays": "no array of one row a rank",
    "integers": "expected doubles",
    "many axes": "expected doubles",
    "objects": "no array that NumPy reads",
    "a header of Python 2": "no array that NumPy reads (UserWarning)",
}


def foreign_archive(folder, content: bytes) -> None:
    """Two sound records, and one whose columns are this file."""
    maker = Maker()
    for launch in range(2):
        store(folder, maker.ok(make_point(ranks=2), launch))
    record = maker.ok(make_point(ranks=RANKS), 0)
    records = folder / "records" / record["campaign"]["id"]
    record = take_columns(record, records)
    (records / record["rank_columns"]["file"]).write_bytes(content)
    record["rank_columns"] |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    store(folder, record)


@pytest.mark.parametrize("kind", list(FOREIGN))
@pytest.mark.filterwarnings("error")
def test_a_file_whose_hash_is_right_and_that_is_no_array_of_ours_is_left_out_with_its_reason(tmp_path, kind):
    foreign_archive(tmp_path, FOREIGN[kind])
    [campaign] = read_campaigns(tmp_path, ["strong-1a2b3c4d"])
    assert len(campaign.launches) == 2
    [unusable] = campaign.unreadable
    assert ".ranks.npy: " in unusable.reason
    assert REASONS.get(kind, "") in unusable.reason
    assert len(unusable.reason) < 300
    [told] = read_briefs(tmp_path, ["strong-1a2b3c4d"]).unreadable
    assert told.reason == unusable.reason


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("report", "a header of Python 2"),
        ("best", "an archive of arrays"),
        ("fit", "integers"),
        ("history", "a header of Python 2"),
    ],
)
def test_no_command_ends_with_a_traceback_or_a_warning_for_one_foreign_file(tmp_path, command, kind):
    foreign_archive(tmp_path / "archive", FOREIGN[kind])
    more = {"report": ["-o", tmp_path / "r.html"], "best": ["--shape", "64x64x64", "--ranks", "2"]}.get(command, [])
    analysis = Path(__file__).parents[3] / "analysis"
    arguments = [sys.executable, "-P", "-m", "fourscore_analysis", command, "--archive", tmp_path / "archive", *more]
    surroundings = os.environ | {"PYTHONPATH": str(analysis), "MPLBACKEND": "nosuch"}
    done = subprocess.run(
        arguments, env=surroundings, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Warning: " not in done.stderr
    assert str(analysis) not in done.stderr
    assert done.returncode == (1 if command == "fit" else 0), done.stderr
    if command != "fit":
        assert ".ranks.npy: " in done.stderr + done.stdout


@pytest.mark.parametrize(
    "path",
    ["samples", "/" + "/".join("a" * 1 for _ in range(5000)), "/point/shape/0/x", "/samples/time_s/" + "9" * 5000],
)
def test_a_column_for_no_place_of_a_record_makes_it_unusable(tmp_path, path):
    record = take_columns(Maker().ok(make_point(ranks=RANKS), 0), tmp_path)
    content = plain(np.zeros(RANKS, dtype=[(path, "<f8")]))
    (tmp_path / record["rank_columns"]["file"]).write_bytes(content)
    record["rank_columns"] |= {"sha256": hashlib.sha256(content).hexdigest(), "columns": [{"path": path}]}
    with pytest.raises(RecordError) as error:
        parse_record(canonical(record), "a.json", tmp_path)
    assert len(str(error.value)) < 300
