"""Pages as axe sees them, which knows the rules for screen readers, keyboards and contrast (WCAG 2.1): no violation, at
the width of a desktop and of a telephone, in light and in dark."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

import pytest
from conftest import set_width
from fourscore_analysis.cli import main
from selenium.webdriver.common.by import By
from synthetic import Maker, elsewhere, make_point, store, weak_points

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs/example/archive"
axe = pytest.importorskip("axe_core_python", reason="no axe_core_python here")
AXE = (importlib.resources.files(axe) / "axe.min.js").read_text(encoding="utf-8")
# To say where all is well would take longer than to find that it is.
RUN = """const done = arguments[2]; axe.run(arguments[0], {resultTypes: ["violations"], ...arguments[1]}).then(
  found => done(found.violations.map(one => one.id + ": " + one.nodes[0].html.slice(0, 200))),
  error => done([String(error)]));"""


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    page = tmp_path_factory.mktemp("report") / "report.html"
    assert main(["report", "--archive", str(EXAMPLE), "-o", str(page)]) == 0
    return page


def pages_of_machines(folder: Path) -> list[Path]:
    """The page of two machines, and a site of both archives."""
    archives, page = [], folder / "machines.html"
    for name, scale, machine in (("ours", 1.0, {}), ("theirs", 0.7, {"cpu_model": "Other 72"})):
        maker = Maker(f"{name}-11111111", isolate=False, repetitions=2, seed=len(name))
        for point in [make_point("slab", shape=(128, 128, 256), ranks=2), *weak_points()]:
            for launch in range(5):
                store(folder / name, elsewhere(maker.ok(point, launch, scale), machine))
        archives += ["--archive", str(folder / name)]
    assert main(["report", *archives, "--across", "machines", "-o", str(page)]) == 0
    site = folder / "site"
    assert main(["publish", str(site), *archives]) == 0
    return [page, site / "index.html", site / "history.html", *(next((site / kind).glob("*.html")) for kind in
            ("machines", "problems", "methods"))]  # fmt: skip


# What depends on colours and on the width; a second look at the rest would find the same.
OF_LOOKS = {"runOnly": ["color-contrast", "link-in-text-block", "scrollable-region-focusable"]}


def violations(browser, options: dict | None = None, within: str = "html") -> list[str]:
    browser.execute_script(AXE)
    return browser.execute_async_script(RUN, within, options or {})


def test_axe_finds_no_violation(browser, tmp_path, report):
    browser.set_script_timeout(120)
    for page in [report, *pages_of_machines(tmp_path)]:
        for width, scheme, rules in ((1280, "light", {}), (420, "dark", OF_LOOKS)):
            wanted = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
            set_width(browser, width)
            browser.get(page.as_uri())
            assert violations(browser, rules) == [], (page.name, width, scheme)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_axe_finds_what_is_planted(browser, tmp_path):
    page = tmp_path / "planted.html"
    page.write_text("<html lang=en><title>x</title><main><h1>x</h1><p style='color:#999'>pale</p><img src='data:,'>")
    browser.get(page.as_uri())
    assert {one.partition(":")[0] for one in violations(browser)} >= {"color-contrast", "image-alt"}
    assert {one.partition(":")[0] for one in violations(browser, OF_LOOKS)} == {"color-contrast"}


def test_the_details_of_a_point_are_accessible_too(browser, report):
    set_width(browser, 1280)
    browser.get(report.as_uri())
    browser.find_element(By.CSS_SELECTOR, "#explore-rows .opens").click()
    assert browser.find_element(By.ID, "explore-point").is_displayed()
    assert violations(browser, within="#explore-point") == []
