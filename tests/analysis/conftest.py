import gc
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

# As in fourscore_analysis/__main__.py: threads of small matrices take the cores of the tests beside.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "analysis"), str(Path(__file__).resolve().parent)]
sys.dont_write_bytecode = True
gc.set_threshold(100_000)  # nearly none, as in __main__.py: most objects live as long as what made them

import synthetic  # noqa: E402
from fourscore_analysis.cli import main  # noqa: E402
from fourscore_analysis.page import figures  # noqa: E402


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Path:
    """An archive with every status, flags, hostile text and unreadable files."""
    archive = tmp_path_factory.mktemp("example") / "archive"
    synthetic.example_archive(archive)
    return archive


@pytest.fixture(scope="session", autouse=True)
def svg_alone():
    """What a test has drawn is drawn once and not three times. Gives what is drawn otherwise."""
    kinds = figures.SAVE_OPTIONS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "SAVE_OPTIONS", {".svg": kinds[".svg"]})
        yield kinds


@pytest.fixture
def every_kind_of_picture(svg_alone, monkeypatch):
    monkeypatch.setattr(figures, "SAVE_OPTIONS", svg_alone)


PAGES_OF_A_PLOT = 2


@pytest.fixture(scope="session")
def report(example, tmp_path_factory) -> Path:
    """The report of `example`; 35 points in the plots of a campaign are enough for every plot. Each plot is drawn until
    it has two pages: the other 130 would look the same, and take two thirds of the time."""
    drawn, every_page = Counter(), figures.plots_of

    def first_pages(view):
        chosen = []
        for plot, pages in every_page(view):
            room = max(0, PAGES_OF_A_PLOT - drawn[plot.name])
            if room and pages:
                chosen.append((plot, pages[:room]))
                drawn[plot.name] += len(pages[:room])
        return chosen

    page = tmp_path_factory.mktemp("page") / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "plots_of", first_pages)
        assert main(["report", "--archive", str(example), "-o", str(page), "--plot-points", "35"]) == 0
    return page


@pytest.fixture
def undrawn(monkeypatch):
    """Reports have no plots: for what they say, which takes a tenth of the time."""
    monkeypatch.setattr(figures, "all_plots", list)


@pytest.fixture
def reported(undrawn, tmp_path, capsys):
    """A function that stores records, and gives what their report prints of each campaign as JSON, and its page."""

    def report(records: Iterable[dict], *options: str) -> tuple[list[dict], str]:
        for record in records:
            synthetic.store(tmp_path, record)
        page = tmp_path / "report.html"
        assert main(["report", "--archive", str(tmp_path), "-o", str(page), "--json", *options]) == 0
        return json.loads(capsys.readouterr().out)["campaigns"], page.read_text(encoding="utf-8")

    return report


SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
NEEDED = (
    "the browser test needs chromium and chromedriver: run jobscripts/setup, or "
    "apt-get install chromium chromium-driver"
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    from selenium import webdriver  # which other tests need not have
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.fail(NEEDED)
    options = Options()
    options.binary_location = chromium
    home = tmp_path_factory.mktemp("browser")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={home}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = webdriver.Chrome(options=options, service=Service(driver))
    yield session
    session.quit()


def set_width(browser, width: int) -> None:
    """Sets the width of the page itself: a headless window cannot be made as narrow as a phone."""
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
