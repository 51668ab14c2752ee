"""Records measured outside a campaign, taken into an archive."""

import hashlib
import json
import shutil
import subprocess

import pytest
from fourscore_command import BIN, changed, signed

POINT = ("--variant", "serial", "--planner", "estimate", "--repetitions", "3")


def canonical_hash(value) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def loose(kept, tmp_path):
    """A record measured by itself, as a user does, once for all tests: says where the test's copy of it is."""

    def measure(name, shape="8x8x8"):
        file = kept / f"{shape}-{name}"
        if not file.exists():
            command = [BIN / "fft_bench", *POINT, "--shape", shape, "--record", file]
            subprocess.run(command, check=True, capture_output=True)
        return shutil.copy(file, tmp_path / name)

    return measure


def test_imported_records_are_launches_of_one_campaign_that_every_command_reads(fourscore, loose):
    files = [loose("a.json"), loose("b.json"), loose("c.json", "4x4x4")]
    before = [file.read_bytes() for file in files]
    told = fourscore.json("import", *files, "--vouch")
    assert [file.read_bytes() for file in files] == before
    assert told["campaign"].startswith("imported-") and told["already_there"] == []
    assert [entry["from"] for entry in told["imported"]] == [str(file) for file in files]
    records = [json.loads((fourscore.archive / entry["file"]).read_text()) for entry in told["imported"]]
    assert [record["campaign"]["launch"] for record in records] == [0, 1, 0]
    for file, content, record in zip(files, before, records, strict=True):
        digest = hashlib.sha256(content).hexdigest()
        assert record["campaign"]["imported"] == {"file": file.name, "sha256": digest, "vouched": True}
        asis = json.loads(content)
        assert {key: record[key] for key in asis if key != "sha256"} == {k: v for k, v in asis.items() if k != "sha256"}
    assert "3 records, all as they should be" in fourscore("verify").stdout
    assert f"{told['campaign']}: 3 records, 3 ok" in fourscore("status").stdout
    assert len(fourscore("export", "--format", "jsonl").stdout.splitlines()) == 3
    assert len(fourscore.index()) == 3
    page = fourscore.folder / "page.html"
    fourscore("report", "-o", page)
    assert "serial" in page.read_text()


def test_what_is_there_already_is_imported_once(fourscore, loose):
    first, second = loose("a.json"), loose("b.json")
    assert "1 record imported" in fourscore("import", first, "--campaign", "mine").stdout
    said = fourscore("import", first, second, first, "--campaign", "mine").stdout
    assert said.count(f"{first} is there already") == 2 and "1 record imported into campaign mine" in said
    assert sorted(file.name[-8:] for file in fourscore.archive.glob("records/mine/*.json")) == ["000.json", "001.json"]


def test_nothing_is_imported_if_one_file_is_unusable(fourscore, loose, tmp_path):
    good = loose("good.json")
    changed, cut = tmp_path / "changed.json", tmp_path / "cut.json"
    changed.write_text(good.read_text().replace('"ok"', '"wrong"', 1))
    cut.write_text(good.read_text()[:300])
    error = fourscore("import", good, changed, cut, tmp_path / "none.json", code=2).stderr
    assert "nothing was imported" in error and str(good) not in error
    for file, reason in ((changed, "digest"), (cut, "truncated"), (tmp_path / "none.json", "No such file")):
        [line] = [line for line in error.splitlines() if line.startswith(f"{file}: ")]
        assert reason in line
    assert not fourscore.archive.exists()


def test_a_record_that_verify_would_refuse_is_refused(fourscore, loose):
    file = loose("a.json")
    with changed(file) as record:
        record["point"]["ranks"] = 2
    assert "point_id is" in fourscore("import", file, code=2).stderr


@pytest.mark.parametrize("name", ["", ".", "..", "../../../evil", "/tmp/evil", "a/b", "-x", "a\n", "\x1b[2J", "x" * 200, "\u00e9"])
def test_a_record_id_that_is_no_plain_name_is_refused_and_nothing_is_written(fourscore, loose, name):
    file = loose("a.json")
    with changed(file) as record:
        record["record_id"] = name
    before = sorted(fourscore.folder.rglob("*"))
    error = fourscore("import", file, code=2).stderr
    assert "record_id" in error and "letters, digits, - _ . only" in error
    assert sorted(fourscore.folder.rglob("*")) == before


def test_campaigns_of_suites_and_their_records_are_left_alone(measured, loose):
    error = measured("import", loose("a.json"), "--campaign", "c", code=2).stderr
    assert "campaign c has a suite's schedule" in error
    taken = next(measured.archive.glob("records/c/*.json"))
    assert "it is a record of campaign c" in measured("import", taken, code=2).stderr
    assert "campaign name '../c'" in measured("import", taken, "--campaign", "../c", code=2).stderr


def test_records_of_two_builds_are_one_campaign_only_when_asked(fourscore, loose):
    mine, other = loose("a.json"), loose("b.json")
    with changed(other) as record:
        provenance = record["provenance"]
        provenance["identity"]["code"]["revision"] = "another"
        for part, name in (("code", "code_hash"), (None, "identity_hash")):
            value = provenance["identity"][part] if part else provenance["identity"]
            provenance[name] = canonical_hash(value)
    assert "of 2 machines or builds" in fourscore("import", mine, other, code=2).stderr
    assert "2 records imported" in fourscore("import", mine, other, "--campaign", "both").stdout


def test_records_of_many_ranks_keep_their_columns(fourscore, loose, tmp_path):
    record = json.loads(loose("a.json").read_text())
    samples, ranks = record["samples"], 70
    record["point"] |= {"ranks": ranks, "nodes": 2, "ranks_per_node": ranks // 2}
    record["point_id"] = canonical_hash(record["point"])
    samples["time_is"] = "longest rank"
    samples["rank_total_s"] = samples["rank_total_s"] * ranks
    samples["time_s"] = samples["rank_total_s"][0]
    samples["rank_phase_s"] = {name: rows * ranks for name, rows in samples["rank_phase_s"].items()}
    for part in ("plan", "cost", "memory", "counters"):
        record.pop(part)
    file = tmp_path / "many.json"
    file.write_text(signed(record))
    fourscore("import", file, "--campaign", "many")
    [stored] = fourscore.archive.glob("records/many/*.json")
    columns = json.loads(stored.read_text())["rank_columns"]["file"]
    assert (stored.parent / columns).is_file()
    assert "1 records, all as they should be" in fourscore("verify").stdout
    spoilt_columns_are_found(fourscore, stored)


def spoilt_columns_are_found(fourscore, stored):
    """Whatever the record says of its columns: a finding in our words."""
    whole = json.loads(stored.read_text())
    first = whole["rank_columns"]["columns"][0]
    spoilt = [
        *({"file": name} for name in ("../x.ranks.npy", "a\n.ranks.npy", "x.json", "", 7, None)),
        *({"columns": [first | {"path": path}]} for path in ("", "samples", "/samples/time_s", "/~2", "/isolated/99999999/rank_s", "/record_id")),
        *({"columns": [first | {"shape": shape}]} for shape in ([], [0], [-1], [1 << 62, 1 << 62], ["3"], "3", [[3]], 3.5)),
        *({"columns": columns} for columns in ([], {}, [7], None, [first] * 1000)),
    ]
    for change in spoilt:
        record = whole | {"rank_columns": whole["rank_columns"] | change}
        stored.write_text(signed(record))
        told = fourscore.json("verify", code=1)
        [finding, *_] = [one for one in told["findings"] if one["file"].endswith(stored.name)]
        assert "json.exception" not in json.dumps(told), (change, told)
        assert "columns" in finding["problem"] or "header" in finding["problem"], (change, finding)


def faster(text: str) -> str:
    """The record with times of a hundredth, its digest as it was."""
    record = json.loads(text)
    samples = record["samples"]
    for name in ("time_s", "start_skew_s"):
        samples[name] = [time / 100 for time in samples[name]]
    samples["rank_total_s"] = [[time / 100 for time in row] for row in samples["rank_total_s"]]
    del samples["rank_phase_s"], samples["closure"]
    return json.dumps(record)


# Each is an edit that keeps what a reader of JSON sees as a digest, or takes it away.
EDITS = {
    "edited": lambda text: faster(text),
    "laid out anew": lambda text: json.dumps(json.loads(text), indent=2),
    "edited, and its digest moved to the front": lambda text: json.dumps(
        {"sha256": json.loads(text)["sha256"]} | json.loads(faster(text)), separators=(",", ":")
    ),
    "without a digest": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "sha256"}),
    "a line more": lambda text: text + "\n",
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_that_is_not_as_its_program_wrote_it_is_refused(fourscore, loose, edit):
    file = loose("a.json")
    file.write_text(EDITS[edit](file.read_text()))
    for vouch in ([], ["--vouch"]):
        error = fourscore("import", file, *vouch, code=2).stderr
        assert "nothing was imported" in error and 'digest "sha256"' in error, error
    assert not fourscore.archive.exists()


@pytest.mark.parametrize("part", ["machine", "code", "launch", "identity"])
def test_a_hash_that_is_not_that_of_what_it_names_is_refused(fourscore, loose, part):
    file = loose("a.json")
    with changed(file) as record:
        record["provenance"][f"{part}_hash"] = "0123456789abcdef"
    error = fourscore("import", file, "--vouch", code=2).stderr
    assert f'{part}_hash is "0123456789abcdef", its {part}\'s is "' in error


def test_a_record_that_nobody_vouches_for_is_foreign_and_never_ranked(fourscore, loose):
    forged = loose("forged.json")
    record = json.loads(forged.read_text()) | {"record_id": "0" * 32, "flags": []}
    forged.write_text(signed(record))
    said = fourscore("import", forged, "--campaign", "theirs").stdout
    assert "flagged foreign" in said
    asked = ("best", "--shape", "8x8x8", "--ranks", "1", "--json")
    assert json.loads(fourscore(*asked, code=1).stdout)["foreign_left_out"] == 1
    fourscore("import", *[loose(f"{number}.json") for number in range(3)], "--vouch", "--campaign", "mine")
    (theirs,), mine = ([json.loads(file.read_text()) for file in fourscore.archive.glob(f"records/{name}/*.json")]
                       for name in ("theirs", "mine"))  # fmt: skip
    assert "foreign" in theirs["flags"] and theirs["campaign"]["imported"]["vouched"] is False
    assert all("foreign" not in record["flags"] for record in mine)
    (answer,) = json.loads(fourscore(*asked).stdout)["answers"]
    assert answer["best"]["launches"] == 3 and not [f for f in answer["best"]["records"] if "theirs" in f]
    assert "1 launch is left out as unverified: flagged foreign" in fourscore(*asked[:-1]).stdout
    assert "all as they should be" in fourscore("verify").stdout


def test_flags_follow_from_the_content_whatever_the_file_says(fourscore, loose):
    file = loose("a.json")
    with changed(file) as record:
        record["sampling"]["warmup"] = 0
        record["flags"] = []
    fourscore("import", file, "--vouch")
    [stored] = fourscore.archive.glob("records/*/*.json")
    with changed(stored) as imported:
        assert {"cold", "in-cache"} <= set(imported["flags"]) and "foreign" not in imported["flags"]
        imported["flags"] = []
    assert "it is not flagged cold, which follows from what it holds" in fourscore("verify", code=1).stdout


def test_imports_at_once_of_one_point_are_all_its_launches(fourscore, loose):
    files = [loose(f"{number}.json") for number in range(6)]
    imports = [fourscore.start("import", *batch, "--campaign", "c", "--vouch") for batch in
               (files[:2], files[2:4], files[3:5], files[5:], files[:3])]  # fmt: skip
    for process in imports:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    records = [json.loads(file.read_text()) for file in sorted(fourscore.archive.glob("records/c/*.json"))]
    assert [record["campaign"]["launch"] for record in records] == list(range(6))
    assert len({record["record_id"] for record in records}) == 6
    assert "6 records, all as they should be" in fourscore("verify").stdout
