"""The index saves reading records, and never says anything else than they do."""

import hashlib
import json
import os
import pathlib
import sqlite3
import time

import pytest
from fourscore_command import first_record


@pytest.fixture
def measured(measured):
    time.sleep(0.2)  # a file that has just been written is not taken for settled
    measured("status")
    return measured


def counts(fourscore) -> dict:
    (campaign,) = fourscore.json("status")
    return campaign["counts"]


def rows(fourscore) -> list[tuple]:
    with sqlite3.connect(fourscore.archive / "index.sqlite") as database:
        return database.execute("SELECT file, stamp, status, brief, sha256 FROM briefs ORDER BY file").fetchall()


def plant(fourscore, sign: bool) -> None:
    """Has the index say of one record that its status is "planted"."""
    file, stamp, _, brief, digest = rows(fourscore)[0]
    changed = json.loads(brief)
    changed["verdict"]["status"] = "planted"
    text = json.dumps(changed)
    if sign:
        digest = hashlib.sha256("\n".join([file, stamp, "planted", text]).encode()).hexdigest()
    with sqlite3.connect(fourscore.archive / "index.sqlite") as database:
        database.execute("UPDATE briefs SET status = ?, brief = ?, sha256 = ? WHERE file = ?", ("planted", text, digest, file))


def test_status_reads_the_index_where_it_is_up_to_date(measured):
    assert len(rows(measured)) == 6
    plant(measured, sign=True)
    assert counts(measured) == {"ok": 5, "planted": 1}
    assert "5 ok, 1 planted" in measured("status").stdout


def test_a_damaged_row_is_not_believed_and_mended(measured):
    before = rows(measured)
    plant(measured, sign=False)
    assert counts(measured) == {"ok": 6}
    assert rows(measured) == before


def wrong(file: pathlib.Path) -> None:
    text = file.read_text().replace('"status": "ok"', '"status": "no"')
    assert len(text) == file.stat().st_size and '"no"' in text
    file.write_text(text)


@pytest.mark.parametrize("keep_mtime", [False, True])
def test_a_record_that_changed_is_read_again(measured, keep_mtime):
    file = first_record(measured)
    before = file.stat()
    wrong(file)
    if keep_mtime:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert counts(measured) == {"ok": 5, "no": 1}


def test_a_record_that_changes_again_and_again_is_always_read_as_it_is(measured):
    """Also within one tick of the file system's clock."""
    file = first_record(measured)
    text = file.read_text()
    for number in range(20):
        status = f"{number:02}"
        file.write_text(text.replace('"status": "ok"', f'"status": "{status}"'))
        assert counts(measured) == {"ok": 5, status: 1}


def test_a_record_that_came_or_went_is_seen(measured):
    file = first_record(measured)
    text = file.read_text()
    file.unlink()
    assert counts(measured) == {"ok": 5}
    file.write_text(text)
    (file.parent / "another.json").write_text(text)
    assert counts(measured) == {"ok": 7}


def lose(index: pathlib.Path) -> None:
    index.unlink()


def overwrite(index: pathlib.Path) -> None:
    index.write_bytes(b"this is no database" * 1000)


def truncate(index: pathlib.Path) -> None:
    index.write_bytes(index.read_bytes()[:5000])


def become_a_fifo(index: pathlib.Path) -> None:
    index.unlink()
    os.mkfifo(index)


def become_old(index: pathlib.Path) -> None:
    with sqlite3.connect(index) as database:
        database.execute("PRAGMA user_version = 3")
        database.execute("DROP TABLE briefs")


@pytest.mark.parametrize("damage", [lose, overwrite, truncate, become_a_fifo, become_old])
def test_a_lost_or_damaged_index_never_gives_a_wrong_answer(measured, damage):
    before = measured("status", "c").stdout
    index = measured.archive / "index.sqlite"
    damage(index)
    for _ in range(2):
        assert measured("status", "c").stdout == before
    if damage is become_a_fifo:
        first_record(measured).unlink()  # so that there is something to index
        assert "no regular file" in measured("run", measured.points(), "--campaign", "c").stderr
    else:
        measured("reindex")
        assert len(measured.index()) == 6 and counts(measured) == {"ok": 6}


def test_no_flipped_bit_of_the_index_changes_what_status_says(measured):
    before = measured("status", "c").stdout
    index = measured.archive / "index.sqlite"
    good = index.read_bytes()
    for position in range(100, len(good), len(good) // 60):
        index.write_bytes(good[:position] + bytes([good[position] ^ 1 << position % 8]) + good[position + 1 :])
        assert measured("status", "c").stdout == before, position


def test_an_index_in_use_is_not_waited_for(measured):
    file = first_record(measured)
    with sqlite3.connect(measured.archive / "index.sqlite", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        wrong(file)
        assert counts(measured) == {"ok": 5, "no": 1}
        other.execute("ROLLBACK")


def test_what_killed_writers_of_the_index_left_is_swept(measured):
    left = [measured.archive / name for name in (".index-4242.sqlite", ".index-4242.sqlite-journal")]
    for file in left:
        file.write_text("half an index")
    measured("reindex")
    assert not any(file.exists() for file in left)
    assert counts(measured) == {"ok": 6}


def test_a_folder_in_the_place_of_the_index_stays_and_nothing_is_left_beside_it(measured):
    index = measured.archive / "index.sqlite"
    index.unlink()
    (index / "inside").mkdir(parents=True)
    assert f"{index}: Is a directory" in measured("reindex", code=3).stderr
    assert (index / "inside").is_dir()
    assert not list(measured.archive.glob(".index-*"))


def test_a_record_that_can_be_read_again_is_in_one_table_only(measured):
    file = first_record(measured)
    text = file.read_text()
    before = len(measured.index())
    file.write_text(text[:100])
    measured("status")
    assert len(measured.index()) == before == 6
    file.write_text(text)
    measured("status")
    assert len(measured.index()) == 6
