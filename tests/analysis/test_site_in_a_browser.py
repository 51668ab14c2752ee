"""A site in a real browser, from its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import set_width
from fourscore_analysis.cli import main

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/example/archive"


@pytest.fixture(scope="module")
def site(example, tmp_path_factory) -> Path:
    """The project's own example, and the archive with hostile text."""
    folder = tmp_path_factory.mktemp("published") / "site"
    assert main(["publish", str(folder), "--archive", str(EXAMPLE), "--archive", str(example)]) == 0
    return folder


def pages_of(site: Path) -> list[Path]:
    """One of each kind, the largest."""
    largest = [max((site / kind).glob("*.html"), key=lambda page: page.stat().st_size) for kind in
               ("machines", "problems", "methods")]  # fmt: skip
    return [site / "index.html", site / "problems.html", site / "history.html", *largest]


def test_pages_have_no_error_load_nothing_from_elsewhere_and_fit_the_screen(browser, site):
    """At both widths, light and dark; markup in records shows as text."""
    browser.get_log("browser")
    for page in pages_of(site):
        for width, scheme in ((420, "dark"), (1280, "light")):
            scheme_of_page = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme_of_page)
            set_width(browser, width)
            browser.get_log("performance")
            browser.get(page.as_uri())
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, page
            paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert paper == ("rgb(20, 24, 28)" if scheme == "dark" else "rgb(255, 255, 255)")
            events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
            requests = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
            sent = [one["request"]["url"] for one in requests if one.get("documentURL") == page.as_uri()]
            assert page.as_uri() in sent
            assert [url for url in sent if not url.startswith((site.as_uri(), "data:"))] == []
    assert browser.get_log("browser") == []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_link_leads_from_the_front_to_a_problem_and_its_data(browser, site):
    browser.get((site / "index.html").as_uri())
    links = [one.get_attribute("href") for one in browser.find_elements("css selector", ".card a")]
    [problem] = [link for link in links if "/problems/192x128x128-" in link]
    browser.get(problem)
    assert browser.find_element("tag name", "h1").text == "192×128×128, double, c2c, forward"
    assert len(browser.find_elements("css selector", "tr.fastest, table.points tbody tr td")) > 10
    data = browser.find_element("link text", "JSON").get_attribute("href")
    rows = json.loads(Path(data.removeprefix("file://")).read_text())["rows"]
    assert {row["shape"][0] for row in rows} == {192}
