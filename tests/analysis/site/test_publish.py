"""fourscore publish: what a site has, what a second run makes anew, and what it refuses."""

from __future__ import annotations

import errno
import json
import re
import shutil
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.records.files import sole_writer
from fourscore_analysis.site import folder as site_folder
from fourscore_analysis.site import pages, writer
from site_links import followed
from synthetic import Maker, make_point, store
from synthetic.histories import HistoryMaker

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "docs/example/archive"
FULL = OSError(errno.ENOSPC, "No space left on device")


def publish(capsys, folder: Path, *archives: Path, code: int = 0, options: tuple[str, ...] = ()):
    """What --json says; or, where it must end with another code, standard error."""
    words = [word for archive in archives for word in ("--archive", str(archive))]
    assert main(["publish", str(folder), *words, "--json", *options]) == code
    told = capsys.readouterr()
    return json.loads(told.out) if code == 0 else told.err


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows_of(folder: Path, kind: str) -> list[dict]:
    return [row for path in sorted((folder / kind).glob("*.json")) for row in json.loads(path.read_text())["rows"]]


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> tuple[Path, Path]:
    """An archive of two machines with two methods, and one of a third problem with a history."""
    folder = tmp_path_factory.mktemp("archives")
    for cpu in ("Imaginary 9000", "Imaginary 9001"):
        maker = Maker(f"strong-{len(cpu):04d}{cpu[-4:]}", "strong", isolate=False)
        for launch in range(3):
            for variant in ("slab", "pencil"):
                point = make_point(variant, shape=(32, 32, 32))
                record = maker.ok(point, launch)
                record["provenance"] = maker.provenance(point, cpu)
                store(folder / "one", record)
    point = make_point("slab", shape=(48, 48, 48), ranks=1)
    HistoryMaker(folder / "other").builds(point, 4, lambda build, launch: 1e-3 * (1 + build + 0.01 * launch))
    return folder / "one", folder / "other"


def test_the_example_becomes_a_site_whose_links_lead_somewhere(tmp_path, capsys):
    done = publish(capsys, tmp_path / "site", EXAMPLE, options=("--licence", "CC-BY-4.0"))
    assert done["records"] == done["read"] == 31
    dead, outside = followed(tmp_path / "site", "*.html")
    assert (dead, outside) == ([], {"data:,"})  # an icon that is none
    kinds = {kind: len([*(tmp_path / "site" / kind).glob("*.html")]) for kind in ("machines", "problems", "methods")}
    assert kinds == {"machines": 1, "problems": 1, "methods": 4}
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "Licence of the data: CC-BY-4.0" in text
        assert re.search(r"Measured 2026-\d\d-\d\d to 2026-\d\d-\d\d", text)
        assert "<script" not in text
        assert not re.search(r'(?:src|href)="(?:https?:|//)', text)
        if page.parent != tmp_path / "site":
            assert page.with_suffix(".json").is_file()
            assert f'href="{page.stem}.json"' in text


def test_a_page_a_machine_a_problem_and_a_method_and_a_history(two, tmp_path, capsys):
    publish(capsys, tmp_path, *two)
    dead, _ = followed(tmp_path, "*.html")
    assert dead == []
    assert len([*(tmp_path / "problems").glob("32x32x32-c2c-double-forward-*.html")]) == 1
    [page] = (tmp_path / "problems").glob("32x32x32-*.html")
    text = page.read_text(encoding="utf-8")
    assert all(word in text for word in ("Imaginary 9000, 8 cores", "Imaginary 9001, 8 cores", "slab", "pencil"))
    [machine] = [page for page in (tmp_path / "machines").glob("*.html") if "Imaginary 9001" in page.read_text()]
    assert "Open MPI v4.1.4" in machine.read_text(encoding="utf-8")
    [series] = json.loads((tmp_path / "history.json").read_text())["series"]
    assert [one["launches"] for one in series["builds"]] == [3, 3, 3, 3]
    history = (tmp_path / "history.html").read_text(encoding="utf-8")
    assert 'class="sparkline"' in history
    assert "3.99" in history or "4.00" in history or "3.97" in history  # the last build over the first


def test_nothing_new_makes_nothing_anew(two, tmp_path, capsys):
    publish(capsys, tmp_path, *two)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    done = publish(capsys, tmp_path, *two)
    assert (done["read"], done["made"], done["removed"]) == (0, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_new_archive_adds_and_leaves_the_pages_that_it_does_not_touch(two, tmp_path, capsys):
    one, other = two
    publish(capsys, tmp_path, one)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("problems/*")}
    addresses = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.html")}
    done = publish(capsys, tmp_path, other)  # the first is not named again, and stays
    assert done["read"] == 12
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert addresses < {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.html")}
    together = tmp_path / "together"
    publish(capsys, together, one, other)
    apart = files_of(tmp_path)
    assert {name: apart[name] for name in files_of(together) if name != "site.json"} == {
        name: content for name, content in files_of(together).items() if name != "site.json"
    }


def test_a_copied_archive_is_read_again_and_changes_no_page(two, tmp_path, capsys):
    publish(capsys, tmp_path / "site", two[0])
    before = files_of(tmp_path / "site")
    shutil.copytree(two[0], tmp_path / "copy")
    done = publish(capsys, tmp_path / "site", tmp_path / "copy")
    assert done["read"] == 12
    after = files_of(tmp_path / "site")
    assert {name for name in after if after[name] != before[name]} == {"site.json"}


def test_parts_of_one_campaign_join_and_a_record_with_two_contents_is_refused(two, tmp_path, capsys):
    for part in ("a", "b"):
        shutil.copytree(two[1], tmp_path / part)
    records = sorted((tmp_path / "a/records").rglob("*.json"))
    for record in records[::2]:
        record.unlink()
    for record in records[1::2]:
        (tmp_path / "b" / record.relative_to(tmp_path / "a")).unlink()
    done = publish(capsys, tmp_path / "site", tmp_path / "a", tmp_path / "b")
    assert done["records"] == 12
    path = next((tmp_path / "a/records").rglob("*.json"))
    shutil.copy(path, tmp_path / "b" / path.relative_to(tmp_path / "a"))
    text = path.read_text().replace('"status":"ok"', '"status":"wrong"')
    path.write_text(text)
    error = publish(capsys, tmp_path / "new", tmp_path / "a", tmp_path / "b", code=2)
    assert "two archives disagree" in error
    assert path.name in error
    assert not (tmp_path / "new").exists()
    (tmp_path / "made").mkdir()
    publish(capsys, tmp_path / "made", tmp_path / "a", tmp_path / "b", code=2)
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize("fails_at", [0, 1, 5, 12])
def test_a_run_that_is_cut_off_leaves_what_the_next_one_mends(two, tmp_path, capsys, monkeypatch, fails_at):
    """While files are renamed: the one place where a site is neither old nor new."""
    one, other = two
    publish(capsys, tmp_path / "site", one)
    renamed, replace = [], Path.replace

    def cut_off(path: Path, target: Path) -> Path:
        if site_folder.STAGING in path.parts and site_folder.STAGING not in Path(target).parts:
            if len(renamed) == fails_at:
                raise SystemExit(137)
            renamed.append(target)
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", cut_off)
        patch.setattr(site_folder.SiteFolder, "drop_staged", lambda self: None)  # as where the kernel ends it
        with pytest.raises(SystemExit):
            main(["publish", str(tmp_path / "site"), "--archive", str(other)])
    assert (tmp_path / "site" / site_folder.STAGING).exists()
    capsys.readouterr()
    publish(capsys, tmp_path / "site", one, other)
    publish(capsys, tmp_path / "clean", one, other)
    assert files_of(tmp_path / "site").keys() == files_of(tmp_path / "clean").keys()
    mended, clean = files_of(tmp_path / "site"), files_of(tmp_path / "clean")
    assert {name for name in clean if mended[name] != clean[name]} <= {"site.json"}


def test_a_full_disk_leaves_the_site_as_it_was(two, tmp_path, capsys, monkeypatch):
    one, other = two
    publish(capsys, tmp_path, one)
    before = files_of(tmp_path)
    write, written = site_folder.write_whole, []

    def full(path: Path, content: str | bytes, **how: bool) -> None:
        written.append(path)
        if len(written) == 4:
            raise OSError(FULL.errno, FULL.strerror, str(path))
        write(path, content, **how)

    monkeypatch.setattr(site_folder, "write_whole", full)
    error = publish(capsys, tmp_path, other, code=3)
    assert "cannot write" in error
    assert "No space left on device" in error
    assert files_of(tmp_path) == before


def test_a_page_that_another_hand_changed_is_made_again(two, tmp_path, capsys):
    publish(capsys, tmp_path, two[0])
    before = files_of(tmp_path)
    (tmp_path / "index.html").write_text("mine")
    next((tmp_path / "methods").glob("*.html")).unlink()
    assert publish(capsys, tmp_path, two[0])["made"] == 2
    assert files_of(tmp_path) == before


def test_what_a_campaign_no_longer_has_leaves_the_site(two, tmp_path, capsys):
    publish(capsys, tmp_path, *two)
    for path in (tmp_path / "data/campaigns").glob("nightly-*.json"):
        path.unlink()
    assert publish(capsys, tmp_path, two[0])["removed"] > 4
    assert not [*(tmp_path / "problems").glob("48x48x48-*")]
    dead, _ = followed(tmp_path, "*.html")
    assert dead == []


def test_only_a_new_or_empty_folder_or_a_site_is_written_to(two, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("precious")
    assert "it is not empty, and has no site.json" in publish(capsys, tmp_path / "mine", two[0], code=2)
    assert files_of(tmp_path / "mine") == {"thesis.tex": b"precious"}
    for content in ("{", '{"schema":"other"}', '{"schema":"fourscore.site","schema_version":99}', "[]"):
        (tmp_path / "mine/site.json").write_text(content)
        assert "none of fourscore" in publish(capsys, tmp_path / "mine", two[0], code=2)
    (tmp_path / "file").write_text("x")
    assert publish(capsys, tmp_path / "file", two[0], code=2)
    records = shutil.copytree(two[0], tmp_path / "archive") / "records"
    assert "among the records of an archive" in publish(capsys, records / "site", tmp_path / "archive", code=2)
    assert not (records / "site").exists()
    assert "no such folder" in publish(capsys, tmp_path / "new", tmp_path / "nosuch", code=3)
    assert not (tmp_path / "new").exists()


def test_a_second_publisher_of_one_site_is_refused(two, tmp_path, capsys):
    publish(capsys, tmp_path, two[0])
    with sole_writer(tmp_path):
        assert "another process writes" in publish(capsys, tmp_path, two[0], code=2)
    publish(capsys, tmp_path, two[0])


def test_a_data_file_that_is_none_is_named(two, tmp_path, capsys):
    publish(capsys, tmp_path, two[0])
    (tmp_path / "data/campaigns/x.json").write_text('{"schema":"fourscore.published-campaign"}')
    error = publish(capsys, tmp_path, two[0], code=2)
    assert "x.json' is no campaign of the site" in error


def test_newer_records_are_told_and_left_out(two, tmp_path, capsys):
    archive = shutil.copytree(two[1], tmp_path / "archive")
    path = next((archive / "records").rglob("*.json"))
    path.write_text(path.read_text().replace('"schema_version":3', '"schema_version":4'))
    for _ in range(2):  # also where it is not read again
        done = publish(capsys, tmp_path / "site", archive)
        assert (done["records"], len(done["unreadable"])) == (11, 1)
        assert "newer than 3" in done["unreadable"][0]["reason"]
    assert "1 file could not be used" in (tmp_path / "site/index.html").read_text()
    for path in (archive / "records").rglob("*.json"):
        path.write_text(path.read_text().replace('"schema_version":3', '"schema_version":4'))
    assert "newer than 3" in publish(capsys, tmp_path / "none", archive, code=2)


def test_what_may_not_be_compared_shares_no_ranking(tmp_path, capsys):
    """Real, emulated, simulated and foreign; other contracts, accuracies, machines and builds: each is alone."""
    archive = tmp_path / "archive"
    kinds = {
        "real": ({}, [], {}),
        "emulated": ({"parameters": {"offload": "pencil"}}, ["emulated"], {}),
        "simulated": ({"platform": "torus"}, ["simulated"], {}),
        "foreign": ({"exchange": "p2p"}, ["foreign"], {}),
        "natural": ({"layout": "natural"}, [], {}),
        "wire": ({"wire": "single"}, [], {}),
        "cpu": ({"exchange": "pairwise"}, [], {"cpu": "Another 1"}),
    }
    for number, (name, (changes, flags, more)) in enumerate(kinds.items()):
        maker = Maker(f"{name}-{number:08x}", name, isolate=False)
        point = make_point("slab", **{"exchange": "alltoallv"} | changes)
        for launch in range(3):
            record = maker.ok(point, launch)
            record["flags"] = flags
            record["provenance"] = maker.provenance(point, more.get("cpu", "Imaginary 9000"))
            store(archive, record)
    publish(capsys, tmp_path / "site", archive)
    rows = rows_of(tmp_path / "site", "problems")
    assert len(rows) == len(kinds)
    assert {row["verdict"] for row in rows} == {"alone", "not ranked"}
    assert sorted(row["rank"] or 0 for row in rows) == [0] + [1] * (len(kinds) - 1)
    [page] = (tmp_path / "site/problems").glob("*.html")
    text = page.read_text(encoding="utf-8")
    for mark in ("emulated", "simulated", "foreign"):
        assert f'<span class="flag strong">{mark}</span>' in text


def test_licence_is_kept_and_changed_on_every_page(two, tmp_path, capsys):
    publish(capsys, tmp_path, two[0])
    assert "Licence of the data: not stated" in (tmp_path / "index.html").read_text()
    publish(capsys, tmp_path, two[0], options=("--licence", "CC0-1.0"))
    publish(capsys, tmp_path, two[0])
    pages_of = [*tmp_path.rglob("*.html")]
    assert all("Licence of the data: CC0-1.0" in page.read_text() for page in pages_of)
    with pytest.raises(SystemExit) as ended:
        main(["publish", str(tmp_path), "--licence", "a\nb"])
    assert ended.value.code == 2


def test_parquet_is_beside_each_page_where_pyarrow_is(two, tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet", reason="no pyarrow here")
    assert publish(capsys, tmp_path, *two)["parquet"]
    [path] = (tmp_path / "problems").glob("32x32x32-*.parquet")
    table = parquet.read_table(path)
    rows = json.loads(path.with_suffix(".json").read_text())["rows"]
    assert table.column("median_s").to_pylist() == [row["median_s"] for row in rows]
    assert set(table.column_names) == {key for row in rows for key in row}
    dead, _ = followed(tmp_path, "*.html")
    assert dead == []


def test_a_page_says_that_pyarrow_was_not_there(two, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("fourscore_analysis.site.publish.importlib.util.find_spec", lambda name: None)
    assert not publish(capsys, tmp_path, two[0])["parquet"]
    assert "no Parquet: made without pyarrow" in next((tmp_path / "problems").glob("*.html")).read_text()
    assert main(["publish", str(tmp_path), "--archive", str(two[0])]) == 0
    assert "no pyarrow" in capsys.readouterr().out


def test_all_cores_make_the_same_pages_as_one(two, tmp_path, capsys, monkeypatch):
    publish(capsys, tmp_path / "one", *two)
    monkeypatch.setattr(writer, "SERIAL_BELOW", 1)
    monkeypatch.setattr(writer, "available_cores", lambda: 2)
    publish(capsys, tmp_path / "all", *two)
    assert files_of(tmp_path / "all") == files_of(tmp_path / "one")


def test_a_changed_program_makes_every_page_anew(two, tmp_path, capsys, monkeypatch):
    first = publish(capsys, tmp_path, two[0])
    monkeypatch.setattr(pages, "program_digest", lambda: "another")
    again = publish(capsys, tmp_path, two[0])
    assert again["read"] == 0
    assert again["made"] == first["made"] - 2  # the campaigns' data stays
