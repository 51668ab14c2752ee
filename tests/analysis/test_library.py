"""`import fourscore`: samples are those of the records, tables and figures those of a report, errors say what to do."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import fourscore
import matplotlib as mpl
import pytest
from fourscore.samples import columns_of
from fourscore_analysis.records.archive import read_campaigns, select_campaigns
from fourscore_analysis.records.transforms import PHASES
from synthetic import Maker, make_point, store

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs/example/archive"


@pytest.fixture(scope="module")
def columns(example):
    names = ["strong-1a2b3c4d", "papers-55555555", "nodes-aaaaaaaa"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return columns_of(read_campaigns(example, names), phases=True)


def rows_by_file(columns):
    found = {}
    for at, file in enumerate(columns["file"]):
        found.setdefault(file, []).append({name: values[at] for name, values in columns.items()})
    return found


def test_samples_are_those_of_the_records(example, columns):
    """As many, and with the same sum, in each record; its phases are those of its slowest rank."""
    assert len({len(values) for values in columns.values()}) == 1
    found, with_phases = rows_by_file(columns), 0
    assert len(found) > 100
    for file, rows in found.items():
        record = json.loads((example / file).read_bytes())
        times = record.get("samples", {}).get("time_s", [])
        if not times:
            assert [math.isnan(row["time_s"]) for row in rows] == [True], file
            continue
        assert [row["time_s"] for row in rows] == times
        assert sum(row["time_s"] for row in rows) == sum(times)
        assert [row["repetition"] for row in rows] == list(range(len(times)))
        totals, phases = record["samples"]["rank_total_s"], record["samples"]["rank_phase_s"]
        for repetition, row in enumerate(rows):
            slowest = max(range(len(totals)), key=lambda rank: (totals[rank][repetition], -rank))
            for phase in PHASES:
                seconds = phases[phase][slowest][repetition] if phase in phases else None
                assert row[f"{phase}_s"] == seconds or (seconds is None and math.isnan(row[f"{phase}_s"]))
                with_phases += seconds is not None
    assert with_phases > 1000


def test_a_row_says_which_point_it_is_of(columns):
    for file, rows in rows_by_file(columns).items():
        assert file.split("/")[1] == rows[0]["campaign"]
        assert math.prod(map(int, rows[0]["shape"].split("x"))) == rows[0]["elements"]
    assert all(len(columns[name][0]) == 16 for name in ("point_id", "machine_hash", "code_hash"))
    assert {"failed", "ok", "skipped"} <= set(columns["status"])
    assert any("oversubscribed" in flags.split(",") for flags in columns["flags"])


def test_columns_end_with_the_time_where_no_phases_are_asked_for():
    archive = fourscore.open(EXAMPLE)
    found = columns_of(read_campaigns(EXAMPLE, archive.campaigns), phases=False)
    assert list(found)[-2:] == ["repetition", "time_s"]


@pytest.mark.parametrize(("method", "module"), [("frame", "pandas"), ("to_xarray", "xarray")])
def test_a_missing_package_is_named_with_what_installs_it(method, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"this takes {module}: pip install 'fourscore\[frame\]'"):
        getattr(fourscore.open(EXAMPLE), method)()


def test_opening_an_archive_loads_neither_drawing_nor_pandas():
    program = f"import sys, fourscore; fourscore.open({str(EXAMPLE)!r}); print(*sys.modules)"
    path = {"PYTHONPATH": str(ROOT / "analysis")}
    said = subprocess.run([sys.executable, "-c", program], env=os.environ | path, capture_output=True, check=True)
    loaded = set(said.stdout.decode().split())
    assert "numpy" in loaded
    assert not loaded & {"matplotlib", "pandas", "xarray", "scipy", "jinja2"}


def test_what_is_no_archive_is_named(tmp_path):
    for folder, reason in ((tmp_path, "it has no folder 'records'"), (tmp_path / "gone", "no such folder")):
        with pytest.raises(fourscore.InputError, match=f"'{folder}'.*{reason}"):
            fourscore.open(folder)


def newer(archive: Path, launches: int) -> None:
    """An archive whose first launch is of a schema that nobody knows yet."""
    for launch in range(launches):
        record = Maker("a-11111111", "a").ok(make_point(), launch)
        store(archive, record | ({"schema_version": 99} if launch == 0 else {}))


def test_an_archive_of_a_newer_schema_says_so(tmp_path):
    newer(tmp_path, 1)
    with pytest.raises(fourscore.InputError, match=r"no readable record in 'a-11111111'; .*version 99 is newer than 3"):
        fourscore.open(tmp_path).table("times")


def test_records_of_a_newer_schema_are_warned_of_and_the_others_count(tmp_path):
    newer(tmp_path, 3)
    archive = fourscore.open(tmp_path)
    with pytest.warns(UserWarning, match=r"000\.json is not used: schema version 99 is newer"):
        text = archive.table("times", kind="csv")
    assert ",2," in text.splitlines()[1]
    assert [file.file[-8:] for file in archive.unreadable] == ["000.json"]


def test_a_figure_is_as_wide_as_asked_and_leaves_the_style_alone():
    before = dict(mpl.rcParams)
    archive = fourscore.open(EXAMPLE)
    figure = archive.figure("phases", width="column")
    assert figure.get_figwidth() == pytest.approx(3.4)
    assert archive.figure("phases").get_figwidth() == pytest.approx(4.8)
    assert dict(mpl.rcParams) == before
    content = io.BytesIO()
    figure.savefig(content, format="pdf")
    assert content.getvalue().startswith(b"%PDF")
    assert "Where the time goes · example-46629e60" in [text.get_text() for text in figure.texts]
    bare = archive.figure("phases", heading="")
    assert bare.get_figheight() < archive.figure("phases").get_figheight()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda one: one.figure("phasen"), "no plot of example-46629e60 is called 'phasen'; expected one of .*phases"),
        (lambda one: one.figure("phases", page=2), "has no page 2, but 1 to 1"),
        (lambda one: one.figure("phases", width="wide"), "'wide' is not the width of a figure; expected column"),
        (lambda one: one.table("time"), "no table is called 'time'; expected one of times, phases, memory, messages"),
        (lambda one: one.table("times", kind="html"), "no kind of table is called 'html'; expected one of latex, csv"),
        (lambda one: one.table("times", "exampel"), "did you mean 'example'"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(ask, said):
    with pytest.raises(fourscore.InputError, match=said):
        ask(fourscore.open(EXAMPLE))


def test_one_of_several_campaigns_must_be_named(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "archive")
    for folder in ("records", "campaigns"):
        copy = tmp_path / "archive" / folder
        shutil.copytree(copy / "example-46629e60", copy / "other-46629e60")
    archive = fourscore.open(tmp_path / "archive")
    with pytest.raises(
        fourscore.InputError, match="several campaigns; expected one of example-46629e60, other-46629e60"
    ):
        archive.table("times")
    assert "% times of campaign other-46629e60" in archive.table("times", "other-46629e60")


def test_campaigns_of_a_report_are_found_by_their_suite():
    assert select_campaigns(EXAMPLE, ["example"]) == ["example-46629e60"]
    assert fourscore.open(EXAMPLE).table("times", "example") == fourscore.open(EXAMPLE).table("times")
