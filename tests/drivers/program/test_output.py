"""Output that nobody can store, and files that are none: told, never a success and never a crash."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

MEASURED = ["--variant", "serial", "--shape", "4x4x4", "--planner", "estimate", "--repetitions", "1"]


def programs() -> dict[str, str]:
    folder = Path(os.environ["FOURSCORE_COMPONENT_BIN"])
    return {"fft_bench": os.environ["FOURSCORE_FFT_BENCH"], "memory_bench": str(folder / "memory_bench")}


@pytest.mark.parametrize("name", ["fft_bench", "memory_bench"])
@pytest.mark.parametrize("option", ["--help", "--version", "--list", "--identity"])
def test_an_answer_that_found_no_room_is_no_success(name, option):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([programs()[name], option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert f"{name}: cannot write standard output" in done.stderr


def test_a_summary_that_found_no_room_is_no_success(bench):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([bench.plain, *MEASURED], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "fft_bench: cannot write standard output" in done.stderr


@pytest.mark.parametrize("name", ["fft_bench", "memory_bench"])
def test_a_limit_on_the_size_of_files_is_reported(name, tmp_path):
    with (tmp_path / "answer").open("w") as answer:
        done = subprocess.run(
            [programs()[name], "--list"],
            stdout=answer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        )
    assert done.returncode == 3
    assert f"{name}: cannot write standard output" in done.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot read"), ('{"a":' * 60 + "1" + "}" * 60, "deeper than 50"), ("[]", "does not hold a JSON object")],
)
def test_a_campaign_file_that_is_none_is_named(bench, tmp_path, content, words):
    file = tmp_path / "campaign.json"
    if content is None:
        file.mkdir()
    else:
        file.write_text(content)
    said = bench.refused(*MEASURED, "--campaign-json", str(file), faulty=False)
    assert str(file) in said and words in said
