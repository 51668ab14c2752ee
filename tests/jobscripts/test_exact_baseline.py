"""The gate on this project itself: messages, bytes, memory and plans of its variants and exchanges are those of
exact-baseline.json. Moved on purpose: `fourscore run exact && fourscore gate accept exact --baseline` that file."""

import json
import os
import pathlib

import pytest

HERE = pathlib.Path(__file__).parent
BASELINE = HERE / "exact-baseline.json"
BIN = pathlib.Path(os.environ["FOURSCORE_BIN"])
REAL = {
    "FOURSCORE_BENCH": str(BIN / "fft_bench"),
    "FOURSCORE_COMPONENTS": str(BIN),
    "FOURSCORE_MPIEXEC": os.environ["FOURSCORE_TEST_MPIEXEC"],
}


@pytest.fixture
def exact(fourscore):
    """With a campaign of the suite exact."""
    fourscore.environment |= REAL
    fourscore("run", "exact", "--quiet")
    return fourscore


def spoilt(folder: pathlib.Path, factor: float) -> pathlib.Path:
    """The baseline with the bytes that one variant sends times the factor."""
    content = json.loads(BASELINE.read_text())
    (point,) = (
        point for point in content["points"] if point["title"].startswith("volumetric") and "r2c" not in point["title"]
    )
    point["numbers"]["bytes sent"] = [value * factor for value in point["numbers"]["bytes sent"]]
    file = folder / "spoilt.json"
    file.write_text(json.dumps(content))
    return file


def test_no_exact_number_of_this_project_changed_unnoticed(exact):
    found = json.loads(exact("gate", "check", "exact", "--baseline", BASELINE, "--json", "-").stdout)
    assert found["changes"] == [] and found["counts"]["same"] > 300
    # A change of 0.1 % is seen, and which way it went.
    said = exact("gate", "check", "exact", "--baseline", spoilt(exact.folder, 0.999), code=1).stdout
    assert said.startswith("RED") and "volumetric" in said and "bytes sent at most on a rank" in said
    assert "(+0.1 %)" in said and "fourscore gate accept" in said
    said = exact("gate", "check", "exact", "--baseline", spoilt(exact.folder, 1.001)).stdout
    assert said.startswith("GREEN") and "less" in said
    # What is accepted is then the baseline; the file is the same again.
    mine = exact.folder / "mine.json"
    exact("gate", "accept", "exact", "--baseline", mine)
    assert mine.read_text() == BASELINE.read_text()


def test_without_a_baseline_or_numbers_it_says_so(fourscore):
    fourscore("run", fourscore.points(), "--campaign", "c", "--quiet")
    assert "cannot be read" in fourscore("gate", "check", "c", "--baseline", "none.json", code=2).stderr
    (fourscore.folder / "other.json").write_text("{}")
    assert "is no fourscore.gate-baseline" in fourscore("gate", "check", "c", "--baseline", "other.json", code=2).stderr
    said = fourscore("gate", "check", "c", "--baseline", BASELINE, code=4).stdout
    assert said.startswith("NOTHING MEASURED") and "was not measured" in said
    assert "nothing was measured" in fourscore("gate", "accept", "c", "--baseline", "new.json", code=2).stderr
    assert not (fourscore.folder / "new.json").exists()
