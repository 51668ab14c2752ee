"""Archives that travel: one made of several, and one as one file."""

import hashlib
import io
import json
import os
import pathlib
import shutil
import tarfile

import pytest
from fourscore_command import changed, signed

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs/example/archive"
ENDINGS = [".tar.zst", ".tar.gz", ".tgz", ".tar"]


def files_of(archive):
    """What travels, by name."""
    left = ("index.sqlite", "index.lock", "origins.json")
    return {
        str(file.relative_to(archive)): file.read_bytes()
        for file in sorted(archive.rglob("*"))
        if file.is_file() and file.name not in left and "lock" not in file.name and "staging" not in file.parts
    }


@pytest.fixture
def two(measured, tmp_path):
    """A campaign of the command and the example, which are of two machines."""
    return measured.archive, shutil.copytree(EXAMPLE, tmp_path / "example")


# ---- merge


def test_a_merged_archive_holds_the_bytes_of_both(measured, two, tmp_path):
    a, b = two
    said = measured.json("archive", "merge", a, b, "-o", tmp_path / "both")
    assert [(one["records"], one["copied"]) for one in said["sources"]] == [(6, 6), (31, 31)]
    assert said["kept"] == []
    assert files_of(tmp_path / "both") == files_of(a) | files_of(b)
    assert "37 records, all as they should be" in measured("verify", "--archive", tmp_path / "both").stdout
    assert "example-46629e60" in measured("status", "--archive", tmp_path / "both").stdout


def test_both_origins_are_kept_through_further_merges(measured, two, tmp_path):
    a, b = two
    measured("archive", "merge", a, b, "-o", tmp_path / "both")
    measured("archive", "merge", tmp_path / "both", b, "-o", tmp_path / "again")
    origins = json.loads((tmp_path / "again/origins.json").read_text())["origins"]
    assert [(one["name"], one["records"]) for one in origins[:2]] == [(a.name, 6), ("example", 31)]
    assert origins[1]["campaigns"] == ["example-46629e60"]


def test_a_merge_goes_on_where_it_was_cut_off(measured, two, tmp_path):
    a, b = two
    both = tmp_path / "both"
    measured("archive", "merge", a, b, "-o", both)
    for file in sorted(both.glob("records/*/*.json"))[::2]:
        file.unlink()
    said = measured.json("archive", "merge", a, b, "-o", both)
    assert sum(one["copied"] for one in said["sources"]) == 19
    assert files_of(both) == files_of(a) | files_of(b)


def test_one_name_with_two_contents_is_refused_and_nothing_is_written(measured, tmp_path):
    a, b = measured.archive, shutil.copytree(measured.archive, tmp_path / "other")
    file = next(b.glob("records/*/*.json"))
    record = json.loads(file.read_text()) | {"record_id": "0" * 32}
    file.write_text(signed(record))
    error = measured("archive", "merge", a, b, "-o", tmp_path / "both", code=2).stderr
    name = file.relative_to(b)
    assert f"nothing was merged:\n{a / name} and {b / name} have one name and two contents" in error
    assert not (tmp_path / "both").exists()


def test_a_record_id_in_two_places_is_refused(measured, tmp_path):
    b = shutil.copytree(measured.archive, tmp_path / "other")
    [folder] = b.glob("records/*")
    folder.rename(folder.parent / "renamed")
    error = measured("archive", "merge", measured.archive, b, "-o", tmp_path / "both", code=2).stderr
    assert error.count("has the record_id of records/") == 6


def test_two_campaigns_of_one_name_are_refused(measured, tmp_path):
    b = shutil.copytree(measured.archive, tmp_path / "other")
    [file] = b.glob("campaigns/*/campaign.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"seed": 8}))
    assert "campaign.json have one name and two contents" in measured("archive", "merge", measured.archive, b, "-o", tmp_path / "c", code=2).stderr


def test_plans_of_two_archives_do_not_stand_in_the_way(measured, tmp_path):
    b = shutil.copytree(measured.archive, tmp_path / "other")
    for archive, text in ((measured.archive, "a"), (b, "b")):
        (archive / "wisdom").mkdir(exist_ok=True)
        (archive / "wisdom/0123456789abcdef.txt").write_text(text)
    said = measured("archive", "merge", measured.archive, b, "-o", tmp_path / "both").stdout
    assert "wisdom/0123456789abcdef.txt differs and stays as the first archive has it" in said
    assert (tmp_path / "both/wisdom/0123456789abcdef.txt").read_text() == "a"


@pytest.mark.parametrize("damage", ["truncated", "changed"])
def test_what_cannot_be_trusted_is_not_merged(measured, tmp_path, damage):
    b = shutil.copytree(EXAMPLE, tmp_path / "other")
    file = next(b.glob("records/*/*.json"))
    text = file.read_text()
    file.write_text(text[:100] if damage == "truncated" else text.replace('"ranks":1', '"ranks":2', 1).replace('"ranks":2', '"ranks":3', 1))
    error = measured("archive", "merge", measured.archive, b, "-o", tmp_path / "both", code=2).stderr
    assert f"nothing was merged:\n{file}: " in error
    assert not (tmp_path / "both").exists()


def newer(archive):
    """Makes one of its records that of a later schema; the file."""
    file = next(archive.glob("records/*/*.json"))
    file.write_text(signed(json.loads(file.read_text()) | {"schema_version": 4}))
    return file


@pytest.mark.parametrize("words", [["merge", EXAMPLE], ["scrub"]], ids=lambda words: words[0])
def test_a_record_of_a_newer_schema_is_named_and_nothing_is_written(measured, tmp_path, words):
    file, (command, *others) = newer(measured.archive), words
    given = [measured.archive, *others] if others else []
    error = measured("archive", command, *given, "-o", tmp_path / "target", code=2).stderr
    assert f"{file.relative_to(measured.archive)}: schema version 4 is newer than this program's 3" in error
    assert not (tmp_path / "target").exists()


def test_what_is_no_archive_is_not_merged(measured, tmp_path):
    error = measured("archive", "merge", tmp_path / "none", "-o", tmp_path / "both", code=(2, 3)).stderr
    assert str(tmp_path / "none") in error


# ---- pack and unpack


def test_a_pack_carries_records_of_a_newer_schema_as_they_are(measured, tmp_path):
    newer(measured.archive)
    measured("archive", "pack", "-o", tmp_path / "pack.tar")
    measured("archive", "unpack", tmp_path / "pack.tar", "-o", tmp_path / "out")
    assert files_of(tmp_path / "out") == files_of(measured.archive)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_packed_archive_comes_out_as_it_went_in(measured, tmp_path, ending):
    pack = tmp_path / f"pack{ending}"
    assert "6 records" in measured("archive", "pack", "-o", pack).stdout
    said = measured.json("archive", "unpack", pack, "-o", tmp_path / "out")
    assert (said["records"], said["files"]) == (6, len(files_of(measured.archive)))
    assert files_of(tmp_path / "out") == files_of(measured.archive)
    assert "6 records, all as they should be" in measured("verify", "--archive", tmp_path / "out").stdout


def test_one_archive_is_always_packed_to_the_same_bytes(measured, tmp_path):
    for name in ("a.tar.gz", "b.tar.gz"):
        measured("archive", "pack", "-o", tmp_path / name)
        for file in measured.archive.rglob("*"):
            os.utime(file, (1, 1))
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()


def test_neither_locks_nor_the_index_are_packed(measured, tmp_path):
    [campaign] = measured.archive.glob("campaigns/*")
    for name in ("staging/half.json", "jobs/job.sh", "lock", "host.lock"):
        (campaign / name).parent.mkdir(exist_ok=True)
        (campaign / name).write_text("here")
    measured("archive", "pack", "-o", tmp_path / "a.tar")
    with tarfile.open(tmp_path / "a.tar") as pack:
        names = pack.getnames()
    assert names[0] == "archive/manifest.json"
    assert {name.split("/")[1] for name in names[1:]} == {"records", "campaigns"}
    assert not any(word in name for name in names for word in ("staging", "jobs", "lock", "sqlite"))


def test_an_unknown_ending_and_a_file_in_the_archive_are_refused(measured, tmp_path):
    error = measured("archive", "pack", "-o", tmp_path / "a.zip", code=2).stderr
    assert "expected an ending .tar.zst, .tar.gz, .tgz or .tar" in error
    [campaign] = measured.archive.glob("campaigns/*")
    measured("archive", "pack", "-o", campaign / "a.tar", code=2)
    assert not (campaign / "a.tar").exists()


def test_nothing_is_unpacked_over_what_is_there(measured, tmp_path):
    measured("archive", "pack", "-o", tmp_path / "a.tar")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("mine")
    assert "is there already" in measured("archive", "unpack", tmp_path / "a.tar", "-o", tmp_path / "out", code=2).stderr
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["mine"]


RECORD = "records/c/0123456789abcdef-000.json"


def entry(name, text=b"{}", /, **values):
    info = tarfile.TarInfo(f"archive/{name}")
    info.size = len(text)
    for key, value in values.items():
        setattr(info, key, value)
    return info, text


def manifest(files, **values):
    listed = {name: {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()} for name, text in files.items()}
    content = {"schema": "fourscore.pack", "schema_version": 1, "files": listed} | values
    return entry("manifest.json", json.dumps(content).encode())


def outside(name):
    return [manifest({}), entry(name)]


HOSTILE = {
    "up": (outside("../../evil.json"), "which is no file of an archive"),
    "up-within": (outside("records/../../evil.json"), "which is no file of an archive"),
    "absolute": ([manifest({}), entry("x", name="/etc/evil.json")], "which is no file of an archive"),
    "hidden": (outside("records/c/.hidden.json"), "which is no file of an archive"),
    "lock": (outside("campaigns/c/lock"), "which is no file of an archive"),
    "listed-outside": ([manifest({"../evil.json": b"{}"})], "lists '../evil.json', which is no file of an archive"),
    "link": ([manifest({RECORD: b""}), entry(RECORD, b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")], "is no regular file"),
    "hard-link": ([manifest({RECORD: b""}), entry(RECORD, b"", type=tarfile.LNKTYPE, linkname="archive/manifest.json")], "is no regular file"),
    "fifo": ([manifest({RECORD: b""}), entry(RECORD, b"", type=tarfile.FIFOTYPE)], "is no regular file"),
    "device": ([manifest({RECORD: b""}), entry(RECORD, b"", type=tarfile.CHRTYPE)], "is no regular file"),
    "not-listed": (outside(RECORD), f"its manifest has no {RECORD}, or it is there twice"),
    "twice": ([manifest({RECORD: b"{}"}), entry(RECORD), entry(RECORD)], "or it is there twice"),
    "changed": ([manifest({RECORD: b"[]"}), entry(RECORD)], "has another content than its manifest says"),
    "missing": ([manifest({RECORD: b"{}"})], f"1 of what its manifest lists is missing, as {RECORD}"),
    "newer": ([manifest({}, schema_version=2)], "its schema_version is 2, this fourscore reads 1"),
    "other": ([manifest({}, schema="other")], "its manifest is not of schema fourscore.pack"),
    "no-manifest": ([entry(RECORD)], "it does not begin with archive/manifest.json"),
    "bad-manifest": ([entry("manifest.json", b"{")], "its manifest cannot be read"),
    "nothing": ([], "it does not begin with archive/manifest.json"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_pack_writes_nothing(fourscore, tmp_path, case):
    entries, reason = HOSTILE[case]
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as pack:
        for info, text in entries:
            pack.addfile(info, io.BytesIO(text))
    (tmp_path / "deep/er").mkdir(parents=True)
    error = fourscore("archive", "unpack", tmp_path / "a.tar.gz", "-o", tmp_path / "deep/er/out", code=2).stderr
    assert f"{tmp_path / 'a.tar.gz'} is no pack of an archive: " in error
    assert reason in error
    assert list((tmp_path / "deep").rglob("*")) == [tmp_path / "deep/er"]
    assert not list(tmp_path.rglob("evil*"))


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_truncated_pack_writes_nothing(measured, tmp_path, keep):
    measured("archive", "pack", "-o", tmp_path / "a.tar.gz")
    text = (tmp_path / "a.tar.gz").read_bytes()
    (tmp_path / "b.tar.gz").write_bytes(text[: int(keep * len(text))])
    measured("archive", "unpack", tmp_path / "b.tar.gz", "-o", tmp_path / "out", code=2)
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize("text", [b"", b"neither a tar nor compressed", b"#!/bin/sh\n"])
def test_a_file_that_is_no_pack_is_refused(fourscore, tmp_path, text):
    (tmp_path / "a.tar").write_bytes(text)
    assert "is no pack of an archive" in fourscore("archive", "unpack", tmp_path / "a.tar", "-o", tmp_path / "out", code=2).stderr


def test_a_full_disk_leaves_no_half_pack(measured, tmp_path):
    error = measured("archive", "pack", "-o", tmp_path / "a.tar", code=3, preexec_fn=smallest_files).stderr
    assert "File too large" in error
    assert not list(tmp_path.glob("*a.tar*"))


def smallest_files():
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


# ---- scrub

SECRETS = ["node17", "node17.example.org", "carol", "/users/carol/fft/run", "/data/project-x/carol", "471108154711", "acme"]


@pytest.fixture
def private(measured):
    """The records of an archive hold what its machine calls private, in every text that others may see."""
    for number, file in enumerate(sorted(measured.archive.glob("records/*/*.json"))):
        with changed(file) as record:
            volatile = record["provenance"]["volatile"]
            volatile |= {"hosts": ["node17.example.org"], "job_id": "471108154711" if number == 0 else ""}
            record["verdict"] |= {"stderr_tail": "node17: cannot open /users/carol/fft/run/input, (/usr/lib/libm.so.6) of acme's carol; node170 is fine"}
    [file] = measured.archive.glob("campaigns/*/campaign.json")
    campaign = json.loads(file.read_text()) | {"description": "below /data/project-x/carol/out.json"}
    file.write_text(signed(campaign))
    return measured


def test_nothing_private_is_left_and_what_was_removed_is_listed(private, tmp_path):
    said = json.loads(private("archive", "scrub", "-o", tmp_path / "public", "--word", "acme", "--json").stdout)
    assert (said["records"], said["changed"]) == (6, 6)
    [bench] = [path for path in said["removed"]["paths"] if path.endswith("/fake_bench")]  # campaign.json says who measured
    assert said["removed"]["paths"].pop(bench) == "removed/fake_bench"
    assert said["removed"] == {
        "hosts": {"node17": "host-1", "node17.example.org": "host-1"},
        "jobs": {"471108154711": "job-1"},
        "paths": {"/users/carol/fft/run/input": "removed/input", "/data/project-x/carol/out.json": "removed/out.json"},
        "users": {"carol": "user-1"},
        "words": {"acme": "removed"},
    }
    for file in (tmp_path / "public").rglob("*.json"):
        for secret in SECRETS:
            assert secret not in file.read_text().replace("node170", ""), file
    assert "6 records, all as they should be" in private("verify", "--archive", tmp_path / "public").stdout


def test_a_scrubbed_record_says_so_and_keeps_its_numbers(private, tmp_path):
    private("archive", "scrub", "-o", tmp_path / "public", "--word", "acme")
    for file in sorted(private.archive.glob("records/*/*.json")):
        before = json.loads(file.read_text())
        after = json.loads((tmp_path / "public" / file.relative_to(private.archive)).read_text())
        rules = ["hosts", "jobs", "paths", "users", "words"] if before["provenance"]["volatile"]["job_id"] else ["hosts", "paths", "users", "words"]
        assert after["scrubbed"] == {"rules": rules, "sha256": before["sha256"]}
        assert after["verdict"]["stderr_tail"] == "host-1: cannot open removed/input, (/usr/lib/libm.so.6) of removed's user-1; node170 is fine"
        for key in ("record_id", "point_id", "point", "samples"):
            assert after.get(key) == before.get(key)
        assert after["provenance"]["identity"] == before["provenance"]["identity"]


def test_an_archive_without_anything_private_stays_as_it_is(measured, tmp_path):
    for file in measured.archive.glob("records/*/*.json"):
        with changed(file) as record:
            record["provenance"]["volatile"] |= {"hosts": ["localhost"], "job_id": ""}
    said = measured("archive", "scrub", "-o", tmp_path / "public").stdout
    assert "6 records, 0 of them changed" in said
    records = {name: text for name, text in files_of(measured.archive).items() if name.startswith("records/")}
    assert records.items() <= files_of(tmp_path / "public").items()


def test_what_an_id_is_made_of_is_not_scrubbed_but_refused(measured, tmp_path):
    file = next(measured.archive.glob("records/*/*.json"))
    with changed(file) as record:
        record["point"]["parameters"] = {"map": "/users/carol/map.txt"}
    error = measured("archive", "scrub", "-o", tmp_path / "public", code=2).stderr
    assert "nothing was written, since ids are made of what is private:" in error
    assert f"{file.relative_to(measured.archive)}: /point holds '/users/carol/map.txt' (paths)" in error
    assert not (tmp_path / "public").exists()


def test_a_damaged_record_is_not_passed_on(measured, tmp_path):
    file = next(measured.archive.glob("records/*/*.json"))
    file.write_text(file.read_text().replace('"status"', '"statu5"', 1))
    error = measured("archive", "scrub", "-o", tmp_path / "public", code=2).stderr
    assert str(file.relative_to(measured.archive)) in error
    assert not (tmp_path / "public").exists()


def test_a_scrubbed_archive_and_its_origin_are_not_merged(private, tmp_path):
    private("archive", "scrub", "-o", tmp_path / "public")
    error = private("archive", "merge", private.archive, tmp_path / "public", "-o", tmp_path / "both", code=2).stderr
    assert "have one name and two contents" in error
