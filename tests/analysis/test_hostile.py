"""Whatever lies in an archive or is asked for: one message, never a traceback, and the rest is reported."""

import copy
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.page.report import section_of
from fourscore_analysis.plots import all_plots
from fourscore_analysis.records.archive import Campaign, read_campaigns
from fourscore_analysis.records.transforms import Launch, parse_record
from fourscore_analysis.records.values import RecordError, printable, shown
from fourscore_analysis.views.view import View
from synthetic import Maker, canonical, component_records, counted, make_point, store

ANALYSIS = Path(__file__).parents[2] / "analysis"
HUGE = "9" * 5000


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """An archive of one campaign with two records, and their files' names end in -000 and -001."""
    archive = tmp_path_factory.mktemp("sound") / "archive"
    maker = Maker(isolate=False)
    for launch in range(2):
        store(archive, maker.ok(make_point(), launch))
    return archive


@pytest.fixture
def archive(sound, tmp_path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "archive"))


def folder_of(archive: Path) -> Path:
    return archive / "records" / "strong-1a2b3c4d"


UNDRAWN = """
import sys
from fourscore_analysis.__main__ import guarded_main
from fourscore_analysis.page import figures
figures.all_plots = list
sys.exit(guarded_main())
"""


def run(
    archive: Path, *options: str, environment: dict[str, str] | None = None, drawn: bool = True, **given
) -> subprocess.CompletedProcess:
    """The report in a process of its own, as a user starts it."""
    program = ["-m", "fourscore_analysis"] if drawn else ["-c", UNDRAWN]
    command = [sys.executable, "-P", *program, "report", "--archive", str(archive), *options]
    given = {"capture_output": True, "text": True, "timeout": 120, "cwd": archive.parent} | given
    surroundings = os.environ | {"PYTHONPATH": str(ANALYSIS)} | (environment or {})
    return subprocess.run(command, env=surroundings, check=False, **given)


BROKEN = {
    "an integer beyond 1e308": lambda r: r.replace('"credited_flops":', f'"credited_flops":{"9" * 400},"was":'),
    "an integer of 5000 digits": lambda r: r.replace('"launch":0', f'"launch":{HUGE}'),
    "a number beyond all": lambda r: r.replace('"time_s":[', '"time_s":[1e999,'),
    "a list for a hash": lambda r: r.replace('"machine_hash":"', '"machine_hash":["x"],"was":"'),
    "an object for a hash": lambda r: r.replace('"code_hash":"', '"code_hash":{},"was":"'),
    "a list for a point": lambda r: json.dumps(json.loads(r) | {"point": []}),
    "a text for a count": lambda r: r.replace('"threads":1', '"threads":"x"'),
    "a text for a time": lambda r: json.dumps(json.loads(r) | {"samples": {"time_s": ["1"], "rank_total_s": [["1"]]}}),
    "deep provenance": lambda r: r.replace('"volatile":{', f'"volatile":{{"deep":{"[" * 800}{"]" * 800},'),
    "deeper than any parser": lambda r: r.replace('"volatile":{', f'"volatile":{{"deep":{"[" * 100000}'),
    "half a surrogate pair": lambda r: r.replace('"suite":"strong"', '"suite":"\\ud800"'),
    "a terminal sequence for a name": lambda r: r.replace('"variant":"slab"', '"variant":"\\u001b[2Jslab"'),
    "a list for a part of the identity": lambda r: r.replace('"machine":{', '"machine":[],"was":{'),
}


def test_broken_records_are_named_and_the_rest_is_reported(undrawn, archive, tmp_path, capsys):
    text = next(folder_of(archive).glob("*-000.json")).read_text(encoding="utf-8")
    for what, change in BROKEN.items():
        assert change(text) != text, what
        (folder_of(archive) / f"{what}.json").write_text(change(text), encoding="utf-8")
    assert main(["report", "--archive", str(archive), "-o", str(tmp_path / "r.html"), "--json"]) == 0
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert answer["campaigns"][0]["records"] == {"ok": 2}
    assert {Path(one["file"]).stem for one in answer["unreadable"]} == BROKEN.keys()
    assert max(len(one["reason"]) for one in answer["unreadable"]) < 250
    assert len(told.err.splitlines()) == len(BROKEN)
    assert all(printable(line) == line for line in told.err.split("\n"))


def test_only_regular_files_are_read_and_others_are_named(undrawn, archive, tmp_path, capsys):
    folder = folder_of(archive)
    os.mkfifo(folder / "pipe.json")
    (folder / "dangling.json").symlink_to("nowhere")
    (folder / "device.json").symlink_to("/dev/zero")
    (folder / "folder.json").mkdir()
    (folder / "loop.json").symlink_to("loop.json")
    assert main(["report", "--archive", str(archive), "-o", str(tmp_path / "r.html"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["campaigns"][0]["records"] == {"ok": 2}
    reasons = {Path(one["file"]).stem: one["reason"] for one in answer["unreadable"]}
    assert reasons.keys() == {"pipe", "dangling", "device", "folder", "loop"}
    assert {reasons[name] for name in ("pipe", "device", "folder")} == {"no regular file"}
    assert reasons["dangling"] == "No such file or directory"


def test_a_sparse_record_of_a_tebibyte_is_named_and_the_rest_is_read(undrawn, archive, tmp_path, capsys):
    with (folder_of(archive) / "huge.json").open("wb") as file:
        file.truncate(1 << 40)
    assert main(["report", "--archive", str(archive), "-o", str(tmp_path / "r.html"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["campaigns"][0]["records"] == {"ok": 2}
    assert [one["reason"] for one in answer["unreadable"]] == ["has 1099511627776 bytes, expected at most 268435456"]


def test_a_link_to_a_record_is_read(archive, tmp_path):
    path = next(folder_of(archive).glob("*-000.json"))
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    [campaign] = read_campaigns(archive, ["strong-1a2b3c4d"])
    assert len(campaign.launches) == 2


def test_a_campaign_without_a_readable_record_is_named_beside_the_others(undrawn, archive, tmp_path, capsys):
    broken = archive / "records" / "weak-22222222"
    broken.mkdir()
    (broken / "a.json").write_text("{")
    assert main(["report", "--archive", str(archive), "-o", str(tmp_path / "r.html"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["campaign"] for one in answer["campaigns"]] == ["strong-1a2b3c4d"]
    assert [one["file"] for one in answer["unreadable"]] == ["records/weak-22222222/a.json"]
    assert "records/weak-22222222/a.json" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert main(["report", "--archive", str(archive), "weak-22222222", "-o", str(tmp_path / "r.html")]) == 2


PLANS = ("[" * 100_000, f'{{"points":[],"launches":{HUGE}}}', '{"points":5,"launches":3}', "[]", "\x00", "")


@pytest.mark.parametrize("content", PLANS)
def test_a_campaign_file_of_any_content_hides_no_record(archive, content):
    folder = archive / "campaigns" / "strong-1a2b3c4d"
    folder.mkdir(parents=True)
    (folder / "campaign.json").write_text(content)
    [campaign] = read_campaigns(archive, ["strong-1a2b3c4d"])
    assert len(campaign.launches) == 2
    assert campaign.planned_records is None


def test_names_that_are_not_utf_8_are_shown_escaped(archive, tmp_path):
    folder = folder_of(archive).rename(archive / "records" / os.fsdecode(b"str\xffng"))
    (folder / os.fsdecode(b"\xfe.json")).write_text("{")
    done = run(archive, "-o", os.fsdecode(b"r\xff.html"))
    assert done.returncode == 0, done.stderr
    assert "str\\udcffng" in done.stdout
    assert "\\udcfe.json is not used: truncated" in done.stderr
    page = (tmp_path / os.fsdecode(b"r\xff.html")).read_text(encoding="utf-8")
    assert "str\\udcffng" in page


def test_an_ascii_terminal_and_a_full_output_give_no_traceback(archive):
    done = run(archive, environment={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}, drawn=False)
    assert done.returncode == 0, done.stderr
    assert "64\\xb3 on 2 ranks" in done.stdout
    done = run(archive, "--json", environment={"PYTHONIOENCODING": "ascii"}, drawn=False)
    assert json.loads(done.stdout)["campaigns"]
    with Path("/dev/full").open("w") as full:
        done = run(archive, drawn=False, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert done.stderr == "fourscore report: cannot write: No space left on device\n"


def test_terminal_sequences_of_records_and_names_are_escaped(archive, tmp_path):
    bell = "\x1b]0;owned\x07"
    record = Maker(isolate=False).ok(make_point("pencil"), 0)
    record["counters"] = {"backend": "perf", "group": "MEM", "simulated": False, "unavailable": f"no {bell} counters"}
    record["flags"] = ["simulated"]
    record["campaign"] |= {"id": "esc-11111111", "suite": "esc"}
    store(archive, record)
    (archive / "records" / "esc-11111111").rename(archive / "records" / f"esc{bell}")
    shutil.rmtree(folder_of(archive))  # nothing asks for it
    (archive / "records" / f"esc{bell}" / f"{bell}.json").write_text("{")
    for options in ([], ["--json"], [f"none{bell}"]):
        done = run(archive, *options, drawn=options == [])
        assert done.returncode == (2 if options and options[0].startswith("none") else 0), done.stderr
        assert "owned" in done.stdout + done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "options", [["-o", ""], ["--plots", ""], ["--archive", ""], ["-o", "."], ["-o", ".."], ["-o", "/"]]
)
def test_a_path_that_is_none_ends_with_2(archive, monkeypatch, capsys, options):
    monkeypatch.chdir(archive.parent)
    try:
        code = main(["report", "--archive", str(archive), *options])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert len(capsys.readouterr().err.splitlines()[-1]) < 200


@pytest.mark.parametrize("name", ["x" * 300 + ".html", "a/" * 3000 + "r.html", "archive/records/r.html/x"])
def test_a_page_that_cannot_be_written_ends_with_2_or_3(archive, monkeypatch, capsys, name):
    monkeypatch.chdir(archive.parent)
    assert main(["report", "--archive", str(archive), "-o", name]) in (2, 3)
    assert "cannot write" in capsys.readouterr().err


def test_a_report_never_replaces_a_record(archive, tmp_path, capsys):
    path = next(folder_of(archive).glob("*-000.json"))
    before = {file.name: file.read_bytes() for file in folder_of(archive).iterdir()}
    other = tmp_path / "other"
    shutil.copytree(archive, other)
    (other / "campaigns").mkdir()
    (tmp_path / "link").symlink_to(folder_of(archive))
    for page in (path, folder_of(archive) / "new.html", tmp_path / "link" / path.name, other / "records" / "r.html"):
        assert main(["report", "--archive", str(archive), "-o", str(page)]) == 2
        assert "among the records of an archive" in capsys.readouterr().err
    for plots in (folder_of(archive), tmp_path / "link", other / "records" / "plots"):
        assert main(["report", "--archive", str(archive), "-o", str(tmp_path / "r.html"), "--plots", str(plots)]) == 2
        assert "among the records of an archive" in capsys.readouterr().err
    assert before == {file.name: file.read_bytes() for file in folder_of(archive).iterdir()}
    assert not (other / "records" / "plots").exists()


def test_pages_and_plots_are_written_into_regular_files_alone(archive, tmp_path, capsys):
    """A device node would be replaced by a page, and writing into a pipe never ends."""
    to = ["report", "--archive", str(archive), "-o"]
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "full").symlink_to("/dev/full")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("pipe", "full", "dangling"):
        assert main([*to, str(tmp_path / name), "--plots", str(tmp_path / "p")]) == 2
        assert "no regular file" in capsys.readouterr().err
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "full").readlink() == Path("/dev/full")
    plots = tmp_path / "plots"
    plots.mkdir()
    os.mkfifo(plots / "strong-1a2b3c4d-samples.svg")
    (plots / "strong-1a2b3c4d-phases.svg").mkdir()
    assert main([*to, str(tmp_path / "r.html"), "--plots", str(plots)]) == 2
    assert "strong-1a2b3c4d-" in capsys.readouterr().err
    assert (plots / "strong-1a2b3c4d-samples.svg").is_fifo()
    assert not (tmp_path / "r.html").exists()
    (tmp_path / "file").write_text("x")
    assert (
        main(["report", "--archive", str(archive), "-o", str(tmp_path / "r.html"), "--plots", str(tmp_path / "file")])
        == 2
    )


def test_what_links_to_a_file_is_left_as_it_is_and_nothing_stays_beside_the_page(archive, tmp_path):
    """Plots through a link would otherwise be written into what it points to."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    plots = tmp_path / "plots"
    plots.mkdir()
    (plots / "strong-1a2b3c4d-samples.svg").symlink_to(precious)
    (tmp_path / "r.html").symlink_to(precious)
    assert main(["report", "--archive", str(archive), "-o", str(tmp_path / "r.html"), "--plots", str(plots)]) == 0
    assert precious.read_text() == "precious"
    assert [path.name for folder in (tmp_path, plots) for path in folder.iterdir() if path.name.startswith(".")] == []


def places(value, path=()):
    """Every place in a record, as the keys that lead to it."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


HOSTILE = [
    None, True, -1, 0, 1, 2**63, 10**18, 1.5, -0.5, 0.0, 1e-310, 1e-16, 1e29, 1e308, float("1e999"), "", "x", "-1",
    "\x1b[31m", "$\\frac{", "é" * 2000, [], {}, [[]], [1], ["x"], [None], [[1.0], [1.0, 2.0]], {"a": 1}, {"": {}},
]  # fmt: skip


def test_no_value_at_any_place_of_a_record_stops_the_report():
    """It is refused as unreadable, or what is left can be worked out: tables, findings, and the pages of plots."""
    random.seed(20)
    maker = Maker(timeline=True)
    kinds = [
        maker.ok(make_point(), 0),
        maker.ok(make_point(instances=2, parameters={"pieces": "2"}), 1),
        counted(maker.ok(make_point("serial", "none", (2**17,), 1), 0), simulated=False),
        counted(maker.ok(make_point("serial", "none", (2**18,), 1), 0)),
        maker.ended(make_point(), 2, "failed", "signal 9", signal=9),
        *component_records(Maker("strong-1a2b3c4d", "strong")),
    ]
    by_kind = [list(places(record)) for record in kinds]
    sound, plots = parse_record(canonical(kinds[0]), "b.json"), all_plots()
    refused = used = longest = 0
    for _ in range(800):
        number = random.randrange(len(kinds))
        record = copy.deepcopy(kinds[number])
        *above, key = random.choice(by_kind[number])
        place = record
        for step in above:
            place = place[step]
        if random.random() < 0.1 and isinstance(place, dict):
            del place[key]
        else:
            place[key] = random.choice(HOSTILE)
        text = json.dumps(record).replace("Infinity", "1e999")
        try:
            run = parse_record(text, "a.json")
        except RecordError as error:
            longest = max(longest, len(str(error)))
            refused += 1
            continue
        used += 1
        check_reportable(run, sound, plots, (*above, key), place.get(key) if isinstance(place, dict) else place)
    assert min(refused, used) > 150
    assert longest < 250


def check_reportable(run, beside, plots, path, value) -> None:
    campaign = Campaign("hand-00000000", "hand", [beside])
    (campaign.launches if isinstance(run, Launch) else campaign.components).append(run)
    view = View(campaign, 0)
    try:
        section_of(view)
        for plot in plots:
            list(plot.pages(view))
    except Exception as error:
        raise AssertionError(f"{path} = {shown(value)}: {error!r}") from error
