"""What a command writes goes beside its name, is synced and then renamed; never into records, a device or a FIFO."""

import argparse
import os
import resource
import stat
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.commands import all_commands
from fourscore_analysis.records.files import write_whole
from fourscore_analysis.records.values import InputError
from synthetic import Maker, make_point, store

CAMPAIGN = "strong-1a2b3c4d"
POINT = ["--shape", "64x64x64", "--ranks", "4"]
# What each option that names a file to write stands beside.
WRITERS = {
    ("report", "--output"): [],
    ("history", "--output"): [],
    ("history", "--json"): [],
    ("fit", "--suggest"): [CAMPAIGN],
    ("fit", "--platform"): [CAMPAIGN],
    ("advise", "--suggest"): POINT,
    ("predict", "--save-machine"): [*POINT, "--variant", "slab"],
    ("predict", "--output"): [
        *POINT,
        "--variant",
        "slab",
        "--machine",
        "frontier",
        "--project",
        "czechowski2012",
        "--years",
        "2010:2020",
    ],
    ("predict", "--csv"): [*POINT, "--variant", "slab", "--machine", "frontier"],
    ("compare", "--json"): [CAMPAIGN, CAMPAIGN],
    ("compare", "--markdown"): [CAMPAIGN, CAMPAIGN],
    ("compare", "--junit"): [CAMPAIGN, CAMPAIGN],
    ("compare", "--html"): [CAMPAIGN, CAMPAIGN],
    ("gate check", "--json"): [CAMPAIGN, "--baseline", "baseline.json"],
    ("gate check", "--markdown"): [CAMPAIGN, "--baseline", "baseline.json"],
    ("gate check", "--junit"): [CAMPAIGN, "--baseline", "baseline.json"],
    ("gate accept", "--baseline"): [CAMPAIGN],
    ("gate certify", "--json"): [],
}

REASONS = (
    "among the records of an archive",
    "no regular file",
    "expected a name that ends with one of .svg",
)


@pytest.fixture
def archive(tmp_path) -> Path:
    archive = tmp_path / "archive"
    for launch in range(2):
        store(archive, Maker(isolate=False).ok(make_point(), launch))
    return archive


def test_every_option_that_writes_is_tried_here():
    commands = argparse.ArgumentParser().add_subparsers()
    for name, command in all_commands().items():
        command.add(commands.add_parser(name))
    writing = set(writing_options(commands))
    assert writing | {("gate accept", "--baseline")} == WRITERS.keys()


def writing_options(commands, above=""):
    for name, command in commands.choices.items():
        for action in command._actions:
            takes_file = action.metavar == "FILE" and action.help is not argparse.SUPPRESS
            if takes_file and ("write" in action.help or action.dest == "output"):
                yield above + name, action.option_strings[-1]
            if action.dest == "what":
                yield from writing_options(action, f"{name} ")


@pytest.mark.parametrize("writer", WRITERS, ids=" ".join)
def test_what_is_no_place_for_output_is_refused_and_left_as_it_is(archive, tmp_path, capsys, writer):
    record = next((archive / "records" / CAMPAIGN).glob("*-000.json"))
    before = record.read_bytes()
    os.mkfifo(tmp_path / "pipe.svg")
    (tmp_path / "full.svg").symlink_to("/dev/full")
    (tmp_path / "out.svg").symlink_to(record)
    command, option = writer
    places = [record, record.parent / "new.svg", *(tmp_path / f"{name}.svg" for name in ("pipe", "full", "out"))]
    for place in places:
        arguments = [*command.split(), "--archive", str(archive), *WRITERS[writer], option, str(place)]
        assert main(arguments) == 2, place
        said = capsys.readouterr().err
        assert any(reason in said for reason in REASONS), said
    assert record.read_bytes() == before
    assert not (record.parent / "new.svg").exists()
    assert stat.S_ISFIFO((tmp_path / "pipe.svg").stat().st_mode)
    assert (tmp_path / "full.svg").readlink() == Path("/dev/full")


def test_two_outputs_of_one_name_and_one_of_an_input_are_refused(archive, tmp_path, capsys):
    base, out = tmp_path / "base.json", tmp_path / "out"
    base.write_text("{}")
    compare = ["compare", "--archive", str(archive), str(base), CAMPAIGN]
    assert main([*compare, "--json", str(base)]) == 2
    assert "what is read and --json both name" in capsys.readouterr().err
    assert main([*compare, "--json", str(out), "--junit", str(tmp_path / "archive" / ".." / "out")]) == 2
    assert "--json and --junit both name" in capsys.readouterr().err
    assert base.read_text() == "{}"


def test_the_writer_itself_refuses_records(archive, tmp_path):
    (archive / "campaigns").mkdir()
    (tmp_path / "link").symlink_to(archive / "records")
    for place in (archive / "records" / "new", tmp_path / "link" / "new"):
        with pytest.raises(InputError, match="among the records"):
            write_whole(place, "x")


def test_a_file_keeps_its_content_where_the_disk_is_full_and_its_mode_where_not(tmp_path):
    file = tmp_path / "baseline.json"
    file.write_text("old")
    file.chmod(0o640)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # stops a write in the middle, as a full disk does
    try:
        with pytest.raises(OSError, match="File too large") as failed:
            write_whole(file, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert failed.value.filename == str(file)
    assert file.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["baseline.json"]
    write_whole(file, "new")
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
