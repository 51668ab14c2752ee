"""Records, folders and campaigns that are not what they should be: named, and the rest is read."""

import copy
import json
import os
import pathlib
import re
import shutil
import socket

import pytest
from fourscore_command import first_record, signed

COMMANDS = (
    ("status",),
    ("status", "c"),
    ("status", "--json"),
    ("verify",),
    ("reindex",),
    *(("export", "--format", kind) for kind in ("csv", "jsonl", "benchmark")),
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def said(fourscore, *command: str) -> str:
    process = fourscore.start(*command)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (0, 1), (command, process.returncode, err)
    return out + err


def findings(fourscore) -> list[str]:
    result = fourscore.json("verify", code=1)
    return [f"{finding['file']}: {finding['problem']}" for finding in result["findings"]]


def full_record() -> dict:
    """A transform's record with everything that the commands read."""
    matrix = [[0.001, 0.002]]
    lane = {"rank": 0, "lane": 0, "dropped": 0, "phase": ["fft"], "begin_s": [0.0], "end_s": [1.0], "piece": [-1]}
    machine = {"cores": 2, "caches": [{"level": 1, "bytes": 32768, "shared_by": 1}]}
    identity = {"machine": machine, "code": {"revision": "r", "build_type": "Release"}}
    moment = {"started_at": "2026-11-21T08:00:00Z", "cpu_mhz": 1.0, "governor": "g", "hosts": ["a"], "load_1min": 0.1}
    return {
        "isolated": [{"name": "fft-1", "phase": "fft", "time_s": [0.001], "rank_s": [[0.001]]}],
        "timeline": {"lanes": [lane]},
        "harness": {"launch_s": 0.1},
        "plan": {"time_s": 0.1},
        "provenance": {"identity": identity, "machine_hash": "m", "code_hash": "c", "identity_hash": "i", "volatile": moment},
        "samples": {"time_s": matrix[0], "warmup_s": [0.1], "rank_total_s": matrix, "rank_phase_s": {"fft": matrix}},
    }


def benchmark_record() -> dict:
    numbers = {"bytes": 8, "flops": 1}
    entry = {"name": "copy/8", "kernel": "copy", "labels": {"stores": "x"}, "numbers": numbers, "iterations": 3}
    times = {"time_s": [0.1], "rank_s": [[0.1]], "in_cache": False, "emulated": False}
    return {"point": {"component": "memory_bench", "ranks": 1, "parameters": {}}, "benchmarks": [entry | times]}


def places(value, path=()):
    """The path of every value within a value."""
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def with_value(record: dict, path: tuple, value) -> dict:
    changed = copy.deepcopy(record)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def test_no_type_of_any_key_stops_a_command_or_is_reported_in_a_librarys_words(measured):
    """Each value of two records replaced by others, in turn: every file is read, or named with the key."""
    template = json.loads(first_record(measured).read_text())
    component = {key: value for key, value in template.items() if key not in ("samples", "point")} | benchmark_record()
    folder = measured.archive / "records/c"
    number = 0
    for record in (template | full_record(), component):
        for path in list(places(record))[1:]:
            for value in ([], {}, "x", -1, 1e300, 2**63, None, True):
                (folder / f"{number:016x}-000.json").write_text(json.dumps(with_value(record, path, value)))
                number += 1
    (folder / "fffffffffffffffe-000.json").write_text(json.dumps(with_value(template, ("point",), [])))
    (folder / "ffffffffffffffff-000.json").write_text(json.dumps(with_value(template, ("point", "threads"), "x")))
    assert number > 500
    for command in (*COMMANDS, ("export", "--format", "chrome-trace")):
        text = said(measured, *command)
        assert "exception" not in text and "type must be" not in text, command
        if command not in (("status",), ("status", "--json")):
            assert re.search(r"fffffffffffffffe-000.json: .*key 'point' is \[\]; expected an object", text), command
            assert re.search(r"ffffffffffffffff-000.json: .*key 'point.threads' is \"x\"; expected an integer", text), command
    (campaign,) = measured.json("status")
    assert campaign["records"] == number + 8 == sum(campaign["counts"].values()) + len(campaign["unreadable"])
    assert campaign["counts"]["ok"] > 100 and len(campaign["unreadable"]) > 100
    lines = measured("export", "--format", "jsonl").stdout.splitlines()
    assert len(lines) == sum(campaign["counts"].values())


def test_a_record_nested_without_end_is_named(measured):
    file = first_record(measured)
    file.write_text(file.read_text().replace('"flags"', '"deep": ' + "[" * 200_000 + "]" * 200_000 + ', "flags"', 1))
    for command in COMMANDS:
        assert said(measured, *command)
    assert any("nested deeper than" in finding for finding in findings(measured))


def special_files(folder: pathlib.Path) -> dict[str, str]:
    """Files named as records that are none: name -> what they should be called."""
    os.mkfifo(folder / "fifo.json")
    (folder / "folder.json").mkdir()
    (folder / "dangling.json").symlink_to("nowhere")
    (folder / "loop.json").symlink_to("loop.json")
    (folder / "device.json").symlink_to("/dev/zero")
    here = pathlib.Path.cwd()
    os.chdir(folder)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket.json")
    finally:
        os.chdir(here)
    return {
        "fifo.json": "a FIFO, not a regular file",
        "folder.json": "a folder, not a regular file",
        "dangling.json": "a link to a file that is not there",
        "loop.json": "Too many levels of symbolic links",
        "device.json": "a device, not a regular file",
        "socket.json": "a socket, not a regular file",
    }


def test_only_regular_files_are_records(measured):
    expected = special_files(measured.archive / "records/c")
    for command in COMMANDS:
        text = said(measured, *command)
        if command != ("status",):
            for name, words in expected.items():
                assert re.search(rf"{name}.*{words}", text.replace("\n", " ")), (command, name)
    assert "6 of 6 records and 6 further, 6 ok, 6 unreadable" in measured("status").stdout
    assert len(measured("export", "--format", "jsonl").stdout.splitlines()) == 6


def test_a_sparse_record_of_a_tebibyte_is_named_and_the_rest_is_read(measured):
    with first_record(measured).open("r+b") as file:
        file.truncate(1 << 40)
    words = f"{first_record(measured).name}.*has 1099511627776 bytes, expected at most 268435456"
    for command in COMMANDS:
        assert command == ("status",) or re.search(words, said(measured, *command).replace("\n", " ")), command
    assert "6 of 6 records, 5 ok, 1 unreadable" in measured("status").stdout
    assert len(measured("export", "--format", "jsonl").stdout.splitlines()) == 5


def become_a_fifo(file: pathlib.Path) -> None:
    file.unlink()
    os.mkfifo(file)


def become_a_link(file: pathlib.Path, target: str) -> None:
    file.unlink()
    file.symlink_to(target)


def link_to_a_fifo(file: pathlib.Path) -> None:
    os.mkfifo(file.parent / "fifo")
    become_a_link(file, "fifo")


def say_otherwise(file: pathlib.Path, **changes) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (become_a_fifo, "a FIFO, not a regular file"),
        (link_to_a_fifo, "a FIFO, not a regular file"),
        (lambda file: become_a_link(file, "/dev/zero"), "a device, not a regular file"),
        (lambda file: become_a_link(file, "nowhere"), "a link to a file that is not there"),
        (lambda file: os.truncate(file, 1 << 40), "has 1099511627776 bytes"),
        (lambda file: file.write_text("{"), "not JSON"),
        (lambda file: say_otherwise(file, schema=1), '"schema" is not "fourscore.campaign"'),
        (lambda file: say_otherwise(file, machine_hash=[]), "key 'machine_hash' is no string"),
        (lambda file: say_otherwise(file, seed="x"), "key 'seed' is no whole number"),
    ],
)
def test_a_campaign_whose_description_cannot_be_read_does_not_go_on(measured, damage, words):
    file = measured.archive / "campaigns/c/campaign.json"
    damage(file)
    for more in ([], ["--dry-run"]):
        process = measured.start("run", measured.points(), "--campaign", "c", *more)
        try:
            error = process.communicate(timeout=60)[1]
        finally:
            process.kill()
        assert process.returncode == 2, error
        assert f"{file} is not a campaign's description: {words}" in error, error
    assert len(measured.finished()) == 6


def test_a_launch_whose_record_is_a_link_to_nothing_is_not_run_again(measured):
    file = first_record(measured)
    file.unlink()
    file.symlink_to("nowhere")
    measured("run", measured.points(), "--campaign", "c")
    assert len(measured.finished()) == 6


def test_a_campaign_description_that_is_a_fifo_is_named(measured):
    file = measured.archive / "campaigns/c/campaign.json"
    file.unlink()
    os.mkfifo(file)
    measured("status")
    assert "campaigns/c/campaign.json: unreadable: a FIFO, not a regular file" in findings(measured)


def test_a_link_to_a_record_elsewhere_is_a_record(measured):
    file = first_record(measured)
    elsewhere = measured.folder / "elsewhere.json"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    measured("verify")


@pytest.mark.parametrize(
    ("loses", "words"),
    [
        (lambda archive: shutil.rmtree(archive / "records/c"), ["records/c: this folder", "6 of its records were there and are gone"]),
        (lambda archive: shutil.rmtree(archive / "records"), ["records: unreadable", "records/c: 6 of its records were there"]),
        (lambda archive: first_of(archive).unlink(), ["1 of its records were there and are gone"]),
        (lambda archive: loop(archive / "records/c"), ["records/c: unreadable: Too many levels", "6 of its records were there"]),
        (lambda archive: loop(archive / "records"), ["records: unreadable: Too many levels", "6 of its records were there"]),
        (lambda archive: (archive / "campaigns/c/campaign.json").write_text("{"), ["campaign.json: unreadable"]),
        (lambda archive: reword(archive / "campaigns/c/campaign.json"), ["campaign.json: unreadable: its digest"]),
        (lambda archive: twin(archive), ["has the record_id of records/c/", "not in the campaign's schedule"]),
    ],
)
def test_verify_misses_what_a_campaign_should_have(measured, loses, words):
    loses(measured.archive)
    found = findings(measured)
    assert all(any(word in finding for finding in found) for word in words), found
    assert "as they should be" not in measured("verify", code=1).stdout


def first_of(archive: pathlib.Path) -> pathlib.Path:
    return sorted(archive.glob("records/c/*.json"))[0]


def loop(folder: pathlib.Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(folder.name)


def reword(file: pathlib.Path) -> None:
    file.write_text(file.read_text().replace('"launches":2', '"launches":3'))


def twin(archive: pathlib.Path) -> None:
    """A second launch that is a copy of the first, made out to be the third."""
    record = json.loads(first_of(archive).read_text())
    record["campaign"]["launch"] = 2
    (archive / f"records/c/{record['point_id']}-002.json").write_text(signed(record))


def test_an_unfinished_campaign_is_told_from_one_that_lost_records(fourscore):
    fourscore("run", fourscore.points(), "--campaign", "c", "--quiet", "--max-launches", "4")
    said = fourscore("verify").stdout
    assert "c: 2 of its 6 records are not there yet" in said and "as they should be" not in said
    assert fourscore.json("verify")["unfinished"] == [{"campaign": "c", "missing": 2, "of": 6}]
    first_record(fourscore).unlink()
    told = fourscore.json("verify", code=1)
    assert told["unfinished"] == [{"campaign": "c", "missing": 2, "of": 6}] and len(told["findings"]) == 1
    fourscore("reindex")
    assert "c: 3 of its 6 records are not there yet" in fourscore("verify").stdout
    fourscore("run", fourscore.points(), "--campaign", "c", "--quiet")
    assert "all as they should be" in fourscore("verify").stdout


@pytest.mark.parametrize("of_the_index", [False, True])
def test_a_deleted_folder_of_records_is_found_without_an_index_too(measured, of_the_index):
    shutil.rmtree(measured.archive / "records/c")
    if of_the_index:
        (measured.archive / "index.sqlite").unlink()
    assert any("records/c: this folder of the campaign is gone" in finding for finding in findings(measured))
    (measured.archive / "records/c").mkdir()
    assert "as they should be" not in measured("verify", code=0 if of_the_index else 1).stdout


@pytest.mark.parametrize("change", [("0.002", "0.003"), ('"exit_status": 0', '"exit_status": 4'), ('"sha256"', '"sha255"')])
def test_verify_finds_a_value_that_was_changed(measured, change):
    file = first_record(measured)
    before = file.read_text()
    file.write_text(before.replace(*change))
    assert file.read_text() != before
    assert any(f"{file.name}: its digest" in finding for finding in findings(measured))
    file.write_text(json.dumps(json.loads(before)))  # the same values, written anew
    assert any(f"{file.name}: its digest" in finding for finding in findings(measured))


def test_records_without_a_digest_are_read_and_counted(measured):
    for file, record in measured.records().items():
        del record["sha256"]
        pathlib.Path(file).write_text(json.dumps(record))
    assert measured.json("verify") == {"records": 6, "without_digest": 6, "findings": [], "unfinished": []}
    assert "6 of them have no digest" in measured("verify").stdout
    assert "6 ok" in measured("status").stdout
    assert all("sha256" not in json.loads(line) for line in measured("export", "--format", "jsonl").stdout.splitlines())


def test_what_the_command_itself_writes_has_a_digest(fourscore):
    fourscore("run", fourscore.points('"aborts", "hangs"', points=1, launches=1, more="time_limit_s = 1"), "--quiet", code=1)
    fourscore("run", fourscore.points('"picky"', points=1, launches=1).rename(fourscore.folder / "p.toml"), "--quiet")
    statuses = {r["verdict"]["status"] for r in fourscore.records().values() if len(r["sha256"]) == 64}
    assert {"failed", "timeout"} <= statuses
    assert fourscore.json("verify")["without_digest"] == 0


def test_nothing_in_a_record_moves_the_cursor(measured):
    evil = "\x1b[2J\x1b]0;title\x07\r\x9b31m\u202egnp.exe\x7f"
    for number, file in enumerate(sorted(measured.archive.glob("records/c/*.json"))):
        record = json.loads(file.read_text())
        record["flags"] = [evil]
        record["harness"] = {f"{evil}_s": 1.0}
        record["point"].update(exchange=evil, parameters={evil: evil}, precision=evil)
        if number % 2:
            del record["samples"]
            record["verdict"].update(status=evil, reason=evil)
        file.write_text(json.dumps(record))
    component = json.loads(first_record(measured).read_text()) | benchmark_record()
    component["point"]["component"] = component["point"]["parameters"]["x"] = component["benchmarks"][0]["name"] = evil
    component["point_id"] = evil
    del component["samples"]
    (measured.archive / f"records/c/{evil.replace('/', '')}.json").write_text(json.dumps(component))
    first_record(measured).write_text(json.dumps({"schema": "fourscore.run-record", "schema_version": 1, "point_id": [evil]}))
    (measured.archive / f"records/{evil}").mkdir()
    (measured.archive / f"records/{evil}/x.json").write_text("{")
    for command in (("status",), ("status", "c"), ("verify",), ("reindex",), ("export", "--format", "benchmark", "-o", "x")):
        text = said(measured, *command)
        assert not CONTROL.search(text), (command, CONTROL.search(text))
        assert command[0] == "export" or "\\x1b[2J" in text, command
