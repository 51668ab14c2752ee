"""One reader: regular files of bounded size, whatever stands under the name."""

import os
import threading
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.values import RecordError
from synthetic import Maker, make_point, store

LONG = ("kpagecount", "self/pagemap")  # hundreds of megabytes: the first test alone reads them


@pytest.fixture
def places(tmp_path) -> dict[str, Path]:
    """What stands under a name, and is no file to read."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    kernel = ("kmsg", "kcore", "kpagecount", "self/mem", "self/pagemap", "sys/kernel/ns_last_pid", "self/attr/current")
    places = {name: tmp_path / name for name in ("pipe", "folder", "loop", "sparse", "missing")}
    places |= {name: Path("/dev") / name for name in ("zero", "full", "tty")}
    places |= {name: Path("/proc") / name for name in kernel if (Path("/proc") / name).exists()}
    return places | {"null": tmp_path / "a\0b"}


def within(seconds: float, function, *arguments):
    """What the function gives or throws; fails where it does not end."""
    ended: list = []

    def call():
        try:
            ended.append(function(*arguments))
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    assert ended, f"{arguments} has not ended after {seconds} s"
    return ended[0]


def test_what_is_no_regular_file_of_bounded_size_is_refused_and_never_waited_for(places):
    for name, path in places.items():
        content = within(20, regular_content, path)
        if isinstance(content, bytes):  # a file of the kernel that has an end
            assert path.is_relative_to("/proc"), name
        else:
            assert isinstance(content, RecordError), name


def test_each_option_that_names_a_file_to_read_refuses_what_is_none(places, tmp_path, capsys):
    archive = tmp_path / "archive"
    for launch in range(2):
        store(archive, Maker(isolate=False).ok(make_point(), launch))
    readers = {
        "history --context": ["history", "-o", str(tmp_path / "h.html"), "--context"],
        "compare --comparison": ["compare", "--comparison"],
        "compare BASE": ["compare", "strong-1a2b3c4d"],
        "gate --baseline": ["gate check", "strong-1a2b3c4d", "--baseline"],
        "gate --certification": ["gate certify", "--certification"],
        "predict --machine": ["predict", "--variant", "slab", "--shape", "64", "--ranks", "2", "--machine"],
    }
    for what, words in readers.items():
        for name, path in places.items():
            if name in ("null", "folder", *LONG):  # no word of a command line; a folder may be a side
                continue
            command = [*words[0].split(), "--archive", str(archive), *words[1:], str(path)]
            assert within(30, main, command) == 2, (what, name, capsys.readouterr())
            assert len(capsys.readouterr().err) > 10, (what, name)
