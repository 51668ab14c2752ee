"""What one explores in a report, in a real browser: filters, a table, a chart and a point's details."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from conftest import SECONDS, set_width
from fourscore_analysis.cli import main
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from synthetic import Maker, make_point, many_points, store


def scheme(browser, name: str) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]}
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Points on two counts of ranks under two contracts, and one that failed, whose name is markup."""
    archive = tmp_path_factory.mktemp("explored") / "archive"
    maker = Maker("many-55555555", "many", seed=5)
    points = list(many_points(112))
    for launch in range(2):
        for point in points:
            store(archive, maker.ok(point, launch))
    hostile = make_point("<script>alert(1)</script>", "alltoallv", (16, 16, 16), 2)
    store(archive, maker.ended(hostile, 0, "failed", "<script>alert(1)</script>"))
    page = archive.parent / "report.html"
    assert main(["report", "--archive", str(archive), "-o", str(page), "--plot-points", "7"]) == 0
    return page


@pytest.fixture
def explorer(browser, report):
    """The report as one opens it, at the width of a desk."""
    set_width(browser, 1280)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(report.as_uri())
    return browser


def shown_counts(browser) -> tuple[int, int, int]:
    """Points that are said to be shown, rows of the table when it has them all, points of the chart."""
    count = int(re.match(r"(\d+) of", browser.find_element(By.ID, "explore-count").text).group(1))
    more = browser.find_element(By.ID, "explore-more")
    if more.is_displayed():
        browser.execute_script("arguments[0].click()", more)
    rows = browser.find_elements(By.CSS_SELECTOR, "#explore-rows tr")
    drawn = browser.find_element(By.ID, "explore-drawn").text
    return count, len(rows), int(re.match(r"(\d+) point", drawn).group(1))


def choose(browser, facet: str, value: str) -> None:
    browser.execute_script(
        "const group = [...document.querySelectorAll('#explore fieldset')].find("
        "one => one.querySelector('legend').textContent === arguments[0]);"
        "[...group.querySelectorAll('label')].find(one => one.textContent.trim().startsWith(arguments[1] + ' '))"
        ".querySelector('input').click()",
        facet,
        value,
    )


def test_filters_change_the_table_and_the_chart_and_the_address_restores_them(explorer, report):
    every = shown_counts(explorer)
    assert every[0] == every[1] > every[2] > 100  # some points have no time
    choose(explorer, "variant", "slab")
    choose(explorer, "ranks", "2")
    some = shown_counts(explorer)
    assert some[0] == some[1] < every[0]
    assert 0 < some[2] < every[2]
    methods = explorer.execute_script(
        "return [...document.querySelectorAll('#explore-rows tr')].map(row => row.cells[0].textContent)"
    )
    assert {name.split("/")[0].split(" ")[0] for name in methods} == {"slab"}
    explorer.find_element(By.ID, "explore-find").send_keys("shared")
    fewer = shown_counts(explorer)
    assert 0 < fewer[0] < some[0]
    address = explorer.current_url
    assert "variant=slab" in address
    assert "q=shared" in address
    explorer.get("about:blank")
    explorer.get(address)
    assert shown_counts(explorer) == fewer
    explorer.find_element(By.ID, "explore-clear").click()
    assert shown_counts(explorer) == every
    assert explorer.get_log("browser") == []


def test_a_heading_of_the_explored_table_sorts_all_points(explorer):
    def times() -> list[float]:
        shown_counts(explorer)
        said = explorer.execute_script(
            "const heads = [...document.querySelectorAll('#explore-head th')];"
            "const at = heads.findIndex(one => one.textContent === 'time');"
            "return [...document.querySelectorAll('#explore-rows tr')].map(row => row.cells[at].textContent)"
        )
        return [float(text.split()[0]) * SECONDS[text.split()[1]] for text in said if " " in text]

    [heading] = [one for one in explorer.find_elements(By.CSS_SELECTOR, "#explore-head button") if one.text == "time"]
    heading.click()
    assert times() == sorted(times())
    heading.click()
    assert times() == sorted(times(), reverse=True)
    assert len(set(times())) > 50


def test_a_key_or_a_click_opens_a_point_with_its_records_and_its_command(explorer, report):
    chart = explorer.find_element(By.ID, "explore-chart")
    chart.send_keys(Keys.ARROW_RIGHT)
    tip = explorer.find_element(By.CLASS_NAME, "chart-tip")
    assert re.search(r"min .*, median .*, max .*\nlaunches: ", tip.text)
    assert explorer.find_element(By.ID, "explore-said").get_attribute("textContent") == tip.text
    chart.send_keys(Keys.ENTER)
    dialog = explorer.find_element(By.ID, "explore-point")
    assert dialog.is_displayed()
    assert tip.get_attribute("textContent").split("\n")[0] in dialog.text
    for part in ("Phases of the slowest rank", "Samples", "mpirun -n "):
        assert part in dialog.text
    links = dialog.find_elements(By.CSS_SELECTOR, "li a")
    assert links
    for link in links:
        record = json.loads(Path(unquote(link.get_attribute("href").removeprefix("file://"))).read_text())
        assert record["point_id"] in link.text
    address = explorer.current_url
    dialog.send_keys(Keys.ESCAPE)
    assert not dialog.is_displayed()
    assert "open=" not in explorer.current_url
    explorer.get("about:blank")
    explorer.get(address)
    dialog = explorer.find_element(By.ID, "explore-point")
    assert dialog.is_displayed()
    assert [link.text for link in dialog.find_elements(By.CSS_SELECTOR, "li a")]
    dialog.send_keys(Keys.ESCAPE)
    opens = explorer.find_elements(By.CSS_SELECTOR, "#explore-rows .opens")[3]
    opens.click()
    assert opens.text in dialog.find_element(By.TAG_NAME, "h2").text
    assert explorer.get_log("browser") == []


def test_the_chart_zooms_by_dragging_keys_and_buttons_and_goes_back(explorer):
    chart = explorer.find_element(By.ID, "explore-chart")
    explorer.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    over = chart.find_element(By.CLASS_NAME, "u-over")

    def zoomed() -> list[float] | None:
        found = re.search(r"zoom=([\d.e%C-]+)", explorer.current_url)
        return [float(one) for one in found.group(1).split("%2C")] if found else None

    assert zoomed() is None
    ActionChains(explorer).move_to_element_with_offset(over, -100, -60).click_and_hold().move_by_offset(
        160, 110
    ).release().perform()
    dragged = zoomed()
    assert dragged
    chart.send_keys("+")
    keyed = zoomed()
    assert dragged[0] < keyed[0] < keyed[1] < dragged[1]
    assert dragged[2] < keyed[2] < keyed[3] < dragged[3]
    explorer.find_element(By.ID, "explore-out").click()
    assert zoomed() == pytest.approx(dragged, rel=1e-3)
    explorer.find_element(By.ID, "explore-reset").click()
    assert zoomed() is None


COLOURS = """
    const colour = one => getComputedStyle(one);
    const plot = document.querySelector('svg.plot');
    return [colour(plot).backgroundColor, colour(plot.querySelector('path')).fill, colour(plot).fill];
"""


def test_figures_and_the_chart_follow_dark_mode(explorer):
    light = explorer.execute_script(COLOURS)
    pixels = "return document.querySelector('#explore-chart canvas').toDataURL()"
    drawn = explorer.execute_script(pixels)
    scheme(explorer, "dark")
    try:
        dark = explorer.execute_script(COLOURS)
        WebDriverWait(explorer, 10).until(lambda _: explorer.execute_script(pixels) != drawn)
    finally:
        scheme(explorer, "light")
    assert light[:2] == ["rgb(255, 255, 255)"] * 2
    assert dark[0] == dark[1] != light[0]
    assert sum(map(int, re.findall(r"\d+", dark[0]))) < 120 < 600 < sum(map(int, re.findall(r"\d+", dark[2])))


def test_on_a_phone_letters_of_figures_keep_their_size(explorer):
    set_width(explorer, 420)
    widths = explorer.execute_script(
        "return [...document.querySelectorAll('figure svg.plot')].map(one => one.getBoundingClientRect().width)"
        ".filter(width => width)"
    )
    assert min(widths) >= 461  # at which a letter of 6.6 points has 8.8 pixels
    assert explorer.execute_script("return document.documentElement.scrollWidth") <= 420
    assert explorer.execute_script("return document.querySelector('figure').tabIndex") == 0


def test_text_of_records_is_text_in_the_explorer(explorer):
    explorer.find_element(By.ID, "explore-find").send_keys("<script>alert(1)")
    count, rows, _ = shown_counts(explorer)
    assert count == rows > 0
    explorer.find_elements(By.CSS_SELECTOR, "#explore-rows .opens")[0].click()
    assert "<script>alert(1)</script>" in explorer.find_element(By.ID, "explore-point").text
    assert explorer.execute_script("return document.scripts.length") == 2
