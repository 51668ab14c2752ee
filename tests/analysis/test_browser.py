"""The page in a real browser, at the width of a desk and of a phone."""

import json
import re
from pathlib import Path

import pytest
from conftest import SECONDS, set_width
from fourscore_analysis.cli import main
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from synthetic import make_point
from synthetic.histories import HistoryMaker


@pytest.fixture(scope="module")
def opened(browser, report):
    """The report, opened once: no test minds what another opened, sorted or pointed at. A new width takes seconds, and
    so tests of the same one follow each other."""
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(report.as_uri())
    return browser


def test_the_page_has_no_error_and_asks_for_nothing_but_itself(opened, report):
    assert opened.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    requests = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    # Chromium's own first page asks for much; a request of ours carries our address as its document.
    urls = [request["request"]["url"] for request in requests if request.get("documentURL") == report.as_uri()]
    assert report.as_uri() in urls
    assert [url for url in urls if url != report.as_uri() and not url.startswith("data:")] == []


OPEN_ALL = "document.querySelectorAll('details').forEach(part => part.open = true);"


def test_every_figure_shows_and_its_references_lead_to_something(opened):
    opened.execute_script(OPEN_ALL)
    boxes = opened.execute_script(
        "return [...document.querySelectorAll('svg.plot')].map(one => one.getBBox())"
        ".map(box => [box.width, box.height])"
    )
    assert len(boxes) >= 10
    assert min(min(box) for box in boxes) > 60
    assert (
        opened.execute_script(
            "return [...document.querySelectorAll('use')].filter(use => "
            "!document.getElementById(use.getAttribute('href').slice(1))).length"
        )
        == 0
    )
    names = opened.execute_script("return [...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(names) == len(set(names)) > 20


def test_every_mark_says_its_method_value_launches_and_flags(opened):
    said = opened.execute_script("return [...document.querySelectorAll('.mark > title')].map(one => one.textContent)")
    assert len(said) > 1000
    of_methods = [text for text in said if re.search(r"(slab|pencil)/\w+ · \d+³ · \d+ ranks", text)]
    assert len(of_methods) > 500
    for text in of_methods:
        assert re.search(r"launch", text), text
        assert re.search(r"[\d.]+ (ns|µs|ms|s)\b|no time", text), text
        assert "flags: " in text, text


def test_a_mouse_over_a_mark_shows_what_it_says(opened):
    set_width(opened, 1280)
    mark = opened.execute_script(FIRST_MARK)
    said = opened.execute_script("return arguments[0].querySelector('title').textContent", mark)
    ActionChains(opened).move_to_element(mark).perform()
    tip = opened.find_element(By.ID, "tip")
    assert tip.is_displayed()
    assert opened.execute_script("return arguments[0].textContent", tip) == said
    assert "flags: " in said
    ActionChains(opened).move_to_element(opened.find_element(By.TAG_NAME, "h1")).perform()
    assert not tip.is_displayed()


FIRST_MARK = """
    const mark = [...document.querySelectorAll('svg.plot .mark')].find(one => {
        const box = one.getBoundingClientRect();
        return box.width > 3 && box.height > 3 && one.textContent.includes('flags:')
            && !one.closest('details:not([open])');
    });
    mark.scrollIntoView({block: 'center'});
    return mark;
"""


def column(browser, table: int, name: str) -> list[str]:
    return browser.execute_script(
        "const table = document.querySelectorAll('table')[arguments[0]];"
        "const at = [...table.tHead.rows[0].cells].findIndex(one => one.textContent.trim() === arguments[1]);"
        "return [...table.tBodies[0].rows].map(row => row.cells[at].textContent.trim())",
        table,
        name,
    )


def click_heading(browser, table: int, name: str) -> str:
    """How the column then says that it is sorted."""
    return browser.execute_script(
        "const table = document.querySelectorAll('table')[arguments[0]];"
        "const heading = [...table.tHead.rows[0].cells].find(one => one.textContent.trim() === arguments[1]);"
        "heading.click(); return heading.getAttribute('aria-sort')",
        table,
        name,
    )


def table_with(browser, *names: str) -> int:
    """The longest table with all these headings."""
    return browser.execute_script(
        "const tables = [...document.querySelectorAll('table')], wanted = arguments[0];"
        "const fits = tables.filter(one => one.tHead && !one.closest('#explore') && wanted.every("
        "name => [...one.tHead.rows[0].cells].some(cell => cell.textContent.trim() === name)));"
        "fits.sort((one, other) => other.rows.length - one.rows.length); return tables.indexOf(fits[0])",
        list(names),
    )


def test_a_click_on_a_heading_sorts_by_the_quantity_and_a_second_click_the_other_way(opened):
    table = table_with(opened, "shape", "time", "method", "GFLOP/s")

    def seconds(texts: list[str]) -> list[float]:
        return [float(text.split()[0]) * SECONDS[text.split()[1]] for text in texts]

    before = seconds(column(opened, table, "time"))
    assert len(before) > 10
    assert len({text.split()[1] for text in column(opened, table, "time")}) > 1  # units differ: text would not do
    assert before != sorted(before)
    assert click_heading(opened, table, "time") == "ascending"
    assert seconds(column(opened, table, "time")) == sorted(before)
    assert click_heading(opened, table, "time") == "descending"
    assert seconds(column(opened, table, "time")) == sorted(before, reverse=True)
    click_heading(opened, table, "shape")
    shapes = [int(text.removesuffix("³")) for text in column(opened, table, "shape") if text.endswith("³")]
    assert shapes == sorted(shapes)
    assert len(set(shapes)) > 1
    click_heading(opened, table, "method")
    methods = column(opened, table, "method")
    assert [text.split("/")[0] for text in methods] == sorted(text.split("/")[0] for text in methods)


def test_what_gave_no_time_stands_before_the_results_of_its_campaign(opened):
    lists = opened.find_elements(By.CLASS_NAME, "troubles")
    for one in lists:
        assert opened.execute_script(
            "const listed = arguments[0];"
            "return [...listed.closest('section').querySelectorAll('h3, figure')].every("
            "one => listed.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)",
            one,
        )
    text = " ".join(one.text for one in lists)
    for told in ("failed", "timeout", "wrong", "skipped", "plane-waves: error 0.3", "slab uses at most 8 ranks"):
        assert told in text


def test_the_wall_time_is_shared_out_and_the_bar_is_as_wide_as_its_shares(opened):
    set_width(opened, 1280)
    widths, names = opened.execute_script(
        "const parts = [...document.querySelector('.bar').children];"
        "return [parts.map(one => one.getBoundingClientRect().width), parts.map(one => one.title)]"
    )
    shares = [float(re.search(r"(\d+) %", name).group(1)) for name in names]
    assert [name.split(":")[0] for name in names] == [
        "measuring",
        "planning",
        "checking",
        "launching",
        "writing",
        "between launches",
    ]
    for width, share in zip(widths, shares, strict=True):
        assert width / sum(widths) * 100 == pytest.approx(share, abs=1.5)


@pytest.mark.parametrize("width", [1280, 1100, 360, 400])
def test_the_page_never_scrolls_sideways_and_a_desk_shows_every_column(opened, width):
    set_width(opened, width)
    opened.execute_script(OPEN_ALL)
    assert opened.execute_script("return window.innerWidth") == width
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    wide = opened.execute_script(
        "return [...document.querySelectorAll('body :not(svg *)')].filter(e => "
        "e.getBoundingClientRect().right > innerWidth + 1"
        " && !e.closest('.scroll, figure, pre')).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []
    if width >= 1100:
        cut = opened.execute_script(
            "return [...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)"
            ".map(one => one.scrollWidth + ' of ' + one.clientWidth + ': ' + one.innerText.slice(0, 150))"
        )
        assert cut == []
    assert opened.execute_script("return document.querySelectorAll('.scroll').length") > 20


def test_a_finger_near_a_mark_shows_what_it_says_within_the_screen(opened):
    set_width(opened, 400)
    mark = opened.execute_script(FIRST_MARK)
    box = opened.execute_script("return arguments[0].getBoundingClientRect().toJSON()", mark)
    figure = opened.execute_script("return arguments[0].closest('svg').getBoundingClientRect().toJSON()", mark)
    x, y = box["left"] + box["width"] / 2, box["top"] + box["height"] / 2 + 1
    assert figure["left"] < x < figure["right"]
    point = [{"x": x, "y": y}]
    opened.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    opened.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": point})
    opened.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    tip = opened.find_element(By.ID, "tip")
    WebDriverWait(opened, 5).until(lambda _: tip.is_displayed())
    opened.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert "flags: " in tip.text
    shown = opened.execute_script("return arguments[0].getBoundingClientRect().toJSON()", tip)
    assert shown["left"] >= 0
    assert shown["right"] <= 400


def test_injected_markup_shows_as_text(opened):
    assert (
        opened.execute_script("return document.scripts.length") == 2
    )  # our own: the data of the explorer, and all code
    opened.execute_script("document.querySelectorAll('details').forEach(part => part.open = true)")
    text = opened.execute_script("return document.body.innerText")
    assert text.count("<script>alert(1)</script>") >= 3  # variant, reason, stderr


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> Path:
    """The page of a history of two points, one of which got slower, the other moved to another machine."""
    archive = tmp_path_factory.mktemp("history") / "archive"
    maker = HistoryMaker(archive)
    for variant, more in (("pencil", {}), ("slab", {"cpu": lambda build: "Old" if build < 8 else "New"})):
        slower = 1.3 if variant == "pencil" else 1.0
        point = make_point(variant, "p2p", (8, 8, 8), 2)
        maker.builds(
            point, 16, lambda build, launch, of=slower: 1 + build % 3 / 100 + (of - 1) * (build > 9), 2, **more
        )
    page = archive.parent / "history.html"
    assert main(["history", "--archive", str(archive), "-o", str(page)]) == 0
    return page


def test_a_history_shows_every_series_and_a_click_its_launches_with_their_records(browser, history):
    set_width(browser, 1280)
    browser.get_log("browser")
    browser.get(history.as_uri())
    assert len(browser.find_elements(By.CSS_SELECTOR, ".panel summary svg.plot")) == 2
    browser.find_element(By.CSS_SELECTOR, "#findings ~ .scroll a").click()
    first = browser.find_element(By.ID, "s0")
    WebDriverWait(browser, 5).until(lambda _: first.get_attribute("open"))
    links = first.find_elements(By.CSS_SELECTOR, ".launches td a")
    assert len(links) == 32
    assert "pencil" in first.text
    for link in links:
        record = Path(link.get_attribute("href").removeprefix("file://"))
        assert json.loads(record.read_text())["point"]["variant"] == "pencil"
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_history_fits_the_screen(browser, history, width):
    set_width(browser, width)
    browser.get(history.as_uri())
    browser.execute_script(OPEN_ALL)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
