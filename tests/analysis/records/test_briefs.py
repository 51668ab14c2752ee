"""What the history takes of each record: from the index where that is of the file as it is now, else from the file."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest
from fourscore_analysis.records.briefs import Briefs, brief_of, read_briefs
from fourscore_analysis.records.values import RecordError
from synthetic import Maker, benchmark, component_point, component_record, make_point, store

CAMPAIGN = "strong-1a2b3c4d"


def stamp_of(file: Path) -> str:
    now = file.stat()
    return f"{now.st_size} {now.st_ino} {now.st_mtime_ns} {now.st_ctime_ns}"


def indexed(archive: Path, files: list[Path], status: str = "ok", **changes: str) -> None:
    """An index of these files, as results/index.cpp writes it, with some columns changed."""
    with sqlite3.connect(archive / "index.sqlite") as database:
        database.execute("CREATE TABLE IF NOT EXISTS briefs (file, stamp, status, brief, sha256)")
        for path in files:
            file, stamp, brief = path.relative_to(archive).as_posix(), stamp_of(path), path.read_text()
            digest = hashlib.sha256(f"{file}\n{stamp}\n{status}\n{brief}".encode()).hexdigest()
            row = {"file": file, "stamp": stamp, "status": status, "brief": brief, "sha256": digest} | changes
            database.execute("INSERT INTO briefs VALUES (:file, :stamp, :status, :brief, :sha256)", row)
    database.close()


@pytest.fixture
def archive(tmp_path) -> Path:
    maker = Maker(isolate=False)
    for launch in range(3):
        store(tmp_path, maker.ok(make_point(), launch))
    return tmp_path


def files_of(archive: Path) -> list[Path]:
    return sorted((archive / "records" / CAMPAIGN).iterdir())


def read_all(archive: Path) -> Briefs:
    return read_briefs(archive, [CAMPAIGN], workers=1)


def test_what_the_index_has_is_not_read_again(archive):
    without = read_all(archive)
    assert without.from_index == 0
    indexed(archive, files_of(archive)[:2])
    found = read_all(archive)
    assert (found.from_index, found.launches) == (2, without.launches)
    assert [one.launch for one in found.launches] == [0, 1, 2]
    assert {one.campaign for one in found.launches} == {CAMPAIGN}


@pytest.mark.parametrize("stamp", ["0", "~"])
def test_a_file_that_changed_since_is_read(archive, stamp):
    """Whether its stamp sorts before or behind."""
    file = files_of(archive)[0]
    text = file.read_text()
    brief = json.dumps(json.loads(text) | {"point_id": "of the index"})
    name = file.relative_to(archive).as_posix()
    digest = hashlib.sha256(f"{name}\n{stamp}\nok\n{brief}".encode()).hexdigest()
    indexed(archive, [file], stamp=stamp, brief=brief, sha256=digest)
    assert (read_all(archive).from_index, read_all(archive).launches[0].point_id != "of the index") == (0, True)


@pytest.mark.parametrize("digest", ["", "0" * 64, "f" * 64])
def test_a_row_whose_digest_is_not_its_own_is_not_used(archive, digest):
    indexed(archive, files_of(archive), sha256=digest)
    assert read_all(archive).from_index == 0


def test_a_row_that_is_no_brief_is_not_used_and_the_record_says_what_is_wrong(archive):
    file = files_of(archive)[1]
    record = json.loads(file.read_text())
    del record["samples"]
    file.write_text(json.dumps(record))
    indexed(archive, [file])
    found = read_all(archive)
    assert found.from_index == 0
    assert [(one.file, one.reason) for one in found.unreadable] == [
        (file.relative_to(archive).as_posix(), "lacks the key 'samples'")
    ]
    assert [one.launch for one in found.launches] == [0, 2]
    (archive / "index.sqlite").write_text("no database")
    assert len(read_all(archive).launches) == 2


def test_an_index_of_a_file_that_is_gone_adds_nothing(archive):
    files = files_of(archive)
    indexed(archive, files)
    files[0].unlink()
    assert [one.launch for one in read_all(archive).launches] == [1, 2]


def test_a_launch_that_failed_and_was_measured_again_is_left_out(archive):
    maker = Maker(isolate=False, seed=5)
    store(archive, maker.ended(make_point("pencil"), 0, "failed", "gone"))
    assert [one.status for one in read_all(archive).launches].count("failed") == 1
    again = maker.ok(make_point("pencil"), 1)
    again["campaign"]["retry_of"] = 0
    store(archive, again)
    assert [one.status for one in read_all(archive).launches] == ["ok"] * 4


def test_a_component_has_a_time_for_each_benchmark_that_is_no_stand_in():
    copies = [
        benchmark("copy", 2.0**28, rate, {"precision": precision}, emulated=emulated)
        for rate, precision, emulated in ((8e9, "double", False), (4e9, "single", True))
    ]
    record = component_record(Maker(), component_point("memory_bench", 1), 0, copies)
    times = brief_of(record, "a.json").times
    assert list(times) == [copies[0]["name"]]
    [spread] = times.values()
    seconds = 2.0**29 / 8e9
    assert (spread.median_s, spread.low_s, spread.high_s) == pytest.approx((seconds, 0.99 * seconds, 1.02 * seconds))


def test_only_launches_that_ended_well_have_times():
    record = Maker(isolate=False).ok(make_point(), 0)
    assert list(brief_of(record, "a.json").times) == [""]
    record["verdict"]["status"] = "wrong"
    assert brief_of(record, "a.json").times == {}
    record["verdict"]["status"] = "fine"
    with pytest.raises(RecordError, match="status: 'fine' is none of ok, "):
        brief_of(record, "a.json")
