"""Per-rank values that stand in a file beside the record are read as if they stood in it."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from fourscore_analysis.records.archive import read_campaigns
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
