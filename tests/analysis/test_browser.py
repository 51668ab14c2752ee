"""The page in a real browser, at the width of a desk and of a phone."""

import json
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

NEEDED = (
    "the browser test needs chromium and chromedriver: run jobscripts/setup, or "
    "apt-get install chromium chromium-driver"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
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
    """Of the page itself: a headless window cannot be made as narrow as a phone."""
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.fixture
def opened(browser, report):
    browser.get_log("performance")
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


def test_every_image_shows(opened):
    sizes = opened.execute_async_script(
        "const done = arguments[0];"
        "Promise.all([...document.images].map(image => image.decode())).then("
        "() => done([...document.images].map(image => image.naturalWidth)), error => done(String(error)));"
    )
    assert len(sizes) >= 10
    assert min(sizes) > 100


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_the_page_never_scrolls_sideways(opened, width):
    set_width(opened, width)
    opened.execute_script("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert opened.execute_script("return window.innerWidth") == width
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    wide = opened.execute_script(
        "return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1"
        " && !e.closest('.scroll') && !e.closest('pre')).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []


def test_injected_markup_shows_as_text(opened):
    assert opened.execute_script("return document.scripts.length") == 0
    opened.execute_script("document.querySelectorAll('details').forEach(part => part.open = true)")
    text = opened.execute_script("return document.body.innerText")
    assert text.count("<script>alert(1)</script>") >= 3  # variant, reason, stderr
