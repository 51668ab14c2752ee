"""Reading an archive: what cannot be used is named, the rest is used."""

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.records import transforms
from fourscore_analysis.records.archive import InputError, read_campaigns, select_campaigns
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from jsonschema import Draft202012Validator
from synthetic import Maker, canonical, fill, make_point, store, weak_points


def test_the_made_up_records_follow_the_schema(example):
    schema = json.loads((Path(__file__).parents[3] / "results/run-record.schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    statuses = set()
    for path in sorted((example / "records/strong-1a2b3c4d").glob("*-000.json")):
        if not path.name.startswith("00000000000000"):  # those are broken on purpose
            record = json.loads(path.read_text(encoding="utf-8"))
            assert [error.message for error in validator.iter_errors(record)] == []
            statuses.add(record["verdict"]["status"])
    assert statuses == {"ok", "wrong", "failed", "timeout", "skipped"}
    algorithms = sorted((example / "records/algorithms-66666666").glob("*-000.json"))
    records = (json.loads(path.read_text(encoding="utf-8")) for path in algorithms)
    traced = next(record for record in records if record["point"]["instances"] == 1)
    assert [error.message for error in validator.iter_errors(traced)] == []
    for campaign in ("components-88888888", "traffic-77777777", "fft-constant-99999999"):
        for path in sorted((example / f"records/{campaign}").glob("*-000.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            assert [error.message for error in validator.iter_errors(record)] == [], path


def test_python_m_says_what_it_can_do():
    """And the module can be imported without running, which is how `fourscore report` looks whether it is there."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3] / "analysis")}
    for arguments in (["-c", "import fourscore_analysis.__main__"], ["-m", "fourscore_analysis", "report", "--help"]):
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert "Examples:" in done.stdout


def whole() -> dict:
    return Maker().ok(make_point(), 0)


def test_a_launch_that_failed_and_was_measured_again_is_no_result_of_the_campaign(tmp_path):
    maker, point = Maker(), make_point()
    again = maker.ok(point, 2)
    again["campaign"]["retry_of"] = 1
    records = [maker.ok(point, 0), maker.ended(point, 1, "failed", "aborted"), again]
    other = make_point(variant="pencil")
    records += [maker.ended(other, 0, "failed", "aborted"), maker.ended(other, 1, "timeout", "slow")]
    for record in records:
        store(tmp_path, record)
    (campaign,) = read_campaigns(tmp_path, [records[0]["campaign"]["id"]])
    kept = sorted((run.method.variant, run.launch, run.status) for run in campaign.launches)
    first = again["point"]["variant"]
    assert kept == sorted([(first, 0, "ok"), (first, 2, "ok"), ("pencil", 0, "failed"), ("pencil", 1, "timeout")])


def test_the_newest_campaign_of_each_suite_is_the_default(example):
    newest = [
        "algorithms-66666666",
        "breakdown-33333333",
        "components-88888888",
        "czechowski2012-simulated-abababab",
        "device-dede1111",
        "energy-66666666",
        "fft-constant-99999999",
        "grids-cccccccc",
        "haynes2000-simulated-abababab",
        "lee2018-simulated-abababab",
        "nodes-aaaaaaaa",
        "offload-eeeeeeee",
        "papers-55555555",
        "peers-44444444",
        "simulated-ffffffff",
        "sizes-7a7a7a7a",
        "strong-1a2b3c4d",
        "traffic-77777777",
        "weak-22222222",
        "weak-nodes-bbbbbbbb",
        "wires-9a9a9a9a",
    ]
    assert select_campaigns(example, []) == newest


def test_a_suite_means_its_newest_campaign_and_a_campaign_itself(example):
    assert select_campaigns(example, ["strong"]) == ["strong-1a2b3c4d"]
    assert select_campaigns(example, ["strong-00000001", "weak"]) == ["strong-00000001", "weak-22222222"]


def test_a_report_of_one_campaign_opens_no_record_of_another(undrawn, tmp_path, monkeypatch):
    archive = tmp_path / "archive"
    points = list(weak_points())[:2]
    for suite, name in (("strong", "strong-1a2b3c4d"), ("strong", "strong-5e6f7a8b"), ("weak", "weak-22222222")):
        maker = Maker(name, suite)
        for point in points:
            store(archive, maker.ok(point, 0))
    opened = []

    def remembered(path: Path, *more) -> bytes:
        opened.append(path.parent.name)
        return regular_content(path, *more)

    monkeypatch.setattr(transforms, "regular_content", remembered)
    assert main(["report", "--archive", str(archive), "-o", str(tmp_path / "report.html"), "strong-5e6f7a8b"]) == 0
    assert opened == ["strong-5e6f7a8b"] * len(points)


def test_an_unknown_campaign_names_the_nearest(example):
    with pytest.raises(InputError, match="did you mean 'strong-1a2b3c4d'"):
        select_campaigns(example, ["strong-1a2b3c4e"])
    with pytest.raises(InputError, match=r"no campaign or suite 'zzz'.*there are: algorithms-66666666"):
        select_campaigns(example, ["zzz"])


@pytest.mark.parametrize(("status", "chosen"), [("failed", "one-22222222"), ("skipped", "one-11111111")])
def test_a_campaign_began_when_its_last_record_that_says_so_began(tmp_path, status, chosen):
    """One of the newer campaign failed last and says nothing of when; what was skipped never began."""
    for name, hour in (("one-11111111", 8), ("one-22222222", 9)):
        maker = Maker(name, "one", started=datetime(2026, 11, 20, hour, tzinfo=timezone.utc))
        fill(tmp_path, maker, [make_point()], launches=1)
    last = maker.ended(make_point("pencil"), 1, status, "gone")
    last.get("provenance", {}).pop("volatile", None)
    file = store(tmp_path, last)
    os.utime(file, (2e9, 2e9))
    assert select_campaigns(tmp_path, ["one"]) == [chosen]


def test_eight_campaigns_are_named_where_there_are_many(tmp_path):
    for number in range(9):
        fill(tmp_path, Maker(f"suite{number}-11111111", f"suite{number}"), [make_point()], launches=1)
    with pytest.raises(InputError) as refused:
        select_campaigns(tmp_path, ["zzz"])
    assert str(refused.value).endswith(f"there are: {', '.join(f'suite{number}-11111111' for number in range(8))}")


def test_many_processes_read_the_same_as_one(tmp_path):
    for launch in range(60):
        fill(tmp_path, Maker("weak-22222222", "weak", seed=launch), list(weak_points())[:4], 1)
        for path in (tmp_path / "records/weak-22222222").glob("*-000.json"):
            path.rename(path.with_name(path.name.replace("-000", f"-1{launch:02d}")))
    [one] = read_campaigns(tmp_path, ["weak-22222222"], workers=1)
    [many] = read_campaigns(tmp_path, ["weak-22222222"], workers=2)
    assert len(one.launches) == 240
    assert one == many


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text[:-200], "truncated"),
        (lambda text: "", "truncated"),
        (lambda text: text.replace('"schema_version":3', '"schema_version":4'), "newer than 3"),
        (lambda text: text.replace('"schema_version":3', '"schema_version":"1"'), "expected 1 to 3"),
        (lambda text: "[1, 2]", "not a record"),
        (lambda text: "{]", "not JSON"),
        (lambda text: text.replace('"status":"ok"', '"status":"fine"'), "none of ok, wrong"),
        (lambda text: text.replace('"ranks":2', '"ranks":0'), "ranks: expected 1 or more, found 0"),
        (lambda text: text.replace('"shape":[64,64,64]', '"shape":[64,0,64]'), "positive extents"),
        (lambda text: text.replace('"shape":[64,64,64]', '"shape":"64"'), "shape: expected a list"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(change, reason):
    text = canonical(whole())
    assert change(text) != text
    with pytest.raises(RecordError, match=reason):
        parse_record(change(text), "a.json")


def test_samples_that_disagree_are_refused():
    record = whole()
    record["samples"]["rank_phase_s"]["fft"][1].pop()
    with pytest.raises(RecordError, match=r"rank_phase_s: fft: its lists differ in length"):
        parse_record(canonical(record), "a.json")
    record = whole()
    record["samples"]["time_s"].append(1.0)
    with pytest.raises(RecordError, match="disagree"):
        parse_record(canonical(record), "a.json")
    record = whole()
    record["samples"]["time_s"][0] = float("nan")
    with pytest.raises(RecordError, match="NaN"):
        parse_record(json.dumps(record), "a.json")
    del (record := whole())["samples"]
    with pytest.raises(RecordError, match="lacks the key 'samples'"):
        parse_record(canonical(record), "a.json")


def test_a_record_without_phases_or_isolated_parts_is_used():
    record = whole()
    record["samples"]["rank_phase_s"] = {}
    del record["isolated"], record["plan"], record["memory"], record["harness"], record["cards"]
    launch = parse_record(canonical(record), "a.json")
    assert launch.median_s > 0
    assert launch.phase_s == {}


@pytest.mark.parametrize("prepare", ["missing", "file", "no-records", "empty"])
def test_an_archive_is_missing_or_holds_nothing(tmp_path, capsys, prepare):
    archive = tmp_path / "archive"
    if prepare == "file":
        archive.write_text("x")
    elif prepare == "no-records":
        archive.mkdir()
    elif prepare == "empty":
        (archive / "records/strong-1").mkdir(parents=True)
    page = tmp_path / "report.html"
    assert main(["report", "--archive", str(archive), "-o", str(page)]) == (3 if prepare in ("missing", "file") else 2)
    message = capsys.readouterr().err
    assert str(archive) in message
    assert message.count("\n") == 1
    assert not page.exists()


def test_a_campaign_without_any_readable_record_is_unusable_input(tmp_path, capsys):
    store(tmp_path, whole()).write_text("{")
    assert main(["report", "--archive", str(tmp_path), "-o", str(tmp_path / "report.html")]) == 2
    assert "no readable record in" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_unusable_input(tmp_path, capsys):
    store(tmp_path, whole())
    for page in (tmp_path / "nowhere" / "report.html", tmp_path):
        assert main(["report", "--archive", str(tmp_path), "-o", str(page)]) == 2
        assert str(page) in capsys.readouterr().err


def test_a_skipped_point_counts_once_among_the_planned_records(tmp_path):
    maker = Maker()
    store(tmp_path, maker.ended(make_point(ranks=16), 0, "skipped", "too many ranks"))
    store(tmp_path, maker.ok(make_point(), 0))
    plan = tmp_path / "campaigns" / maker.campaign / "campaign.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(json.dumps({"points": [{}, {}], "launches": 3}))
    [campaign] = read_campaigns(tmp_path, [maker.campaign])
    assert campaign.planned_records == 4


def test_the_environment_names_the_archive(undrawn, tmp_path, monkeypatch):
    store(tmp_path / "elsewhere", whole())
    monkeypatch.setenv("FOURSCORE_ARCHIVE", str(tmp_path / "elsewhere"))
    assert main(["report", "-o", str(tmp_path / "report.html")]) == 0
