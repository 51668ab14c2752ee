import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "analysis"), str(Path(__file__).resolve().parent)]
sys.dont_write_bytecode = True

import synthetic  # noqa: E402
from fourscore_analysis.cli import main  # noqa: E402
from fourscore_analysis.page import figures  # noqa: E402


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Path:
    """An archive with every status, flags, hostile text and unreadable files."""
    archive = tmp_path_factory.mktemp("example") / "archive"
    synthetic.example_archive(archive)
    return archive


SVG_ALONE = {".svg": figures.SAVE_OPTIONS[".svg"]}


def draw_report(example: Path, folder: Path) -> Path:
    """The report of `example`; 45 points in the plots of a campaign are enough for every plot."""
    page = folder / "report.html"
    assert main(["report", "--archive", str(example), "-o", str(page), "--plot-points", "45"]) == 0
    return page


@pytest.fixture(scope="session")
def report(example, tmp_path_factory) -> Path:
    return draw_report(example, tmp_path_factory.mktemp("page"))


@pytest.fixture(autouse=True)
def only_svg(monkeypatch):
    """What a test has drawn is drawn once and not three times; `report` above has every kind of picture."""
    monkeypatch.setattr(figures, "SAVE_OPTIONS", SVG_ALONE)
