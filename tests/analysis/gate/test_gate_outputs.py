"""A comparison as Markdown, JUnit and a page: a table, the pairs one by one, and links that lead to their records."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from fourscore_analysis.cli import main
from synthetic import BASE, CANDIDATE, Pairs, gate_points, make_point, store

HOSTILE = "</script><img src=x onerror=alert(1)>|`*"
VOID = {"meta", "link", "br", "img", "circle", "line", "rect", "path"}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Pairs:
    found = Pairs(tmp_path_factory.mktemp("pairs") / "archive", noise=0.01)
    for number, point in enumerate(gate_points()[:5]):
        found.add(point, range(14), factor=(1.3, 0.7, 1.0, 1.0, 1.0)[number])
    Pairs(found.archive, noise=0.3).add(make_point(HOSTILE, "p2p", (64, 64, 64), 2), range(14))
    return found


@pytest.fixture(scope="module", params=["pairs", "sides"])
def outputs(pairs, request) -> dict[str, Path]:
    folder = pairs.archive.parent / f"out of {request.param}"
    folder.mkdir()
    files = {kind: folder / f"gate.{kind}" for kind in ("markdown", "junit", "html", "json")}
    sides = ["--comparison", str(pairs.comparison(14))] if request.param == "pairs" else [BASE, CANDIDATE]
    options = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]
    assert main(["compare", "--archive", str(pairs.archive), *sides, *options]) == 1
    return files | {"kind": Path(request.param)}


class Page(HTMLParser):
    """Ids, links and elements; raises for one that is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.elements, self.open = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.elements.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def is_record(file: Path) -> bool:
    return json.loads(file.read_text())["schema"] == "fourscore.run-record"


def test_markdown_has_a_table_the_pairs_and_links_to_records(outputs):
    text = outputs["markdown"].read_text()
    rows = [re.split(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("| ")]
    assert {len(row) for row in rows[:8]} == {10}
    assert [row[1].strip() for row in rows[:3]] == ["verdict", "---", "regression"]
    assert "slab/alltoallv at 64³, 4 ranks" in rows[2][2]
    marks = re.findall(r"\|([ .:*#]{60})\|", text)
    assert marks
    assert all(set(line) - {" "} for line in marks)
    links = re.findall(r"\]\(([^)]+)\)", text)
    if outputs["kind"].name == "pairs":
        assert len(links) >= 6
    assert all(is_record(outputs["markdown"].parent / unquote(link)) for link in links)
    assert "<img" not in text.replace("\\<img", "")


def test_phases_in_a_table_add_up_to_the_time_that_is_shown(outputs):
    found = json.loads(outputs["json"].read_text())
    for series in found["series"]:
        for side in ("base_s", "candidate_s") if "phases" in series else ():
            assert sum(phase[side] for phase in series["phases"]) == pytest.approx(series[side])
    text = outputs["markdown"].read_text()
    assert text.count("| all | ") == sum("phases" in series for series in found["series"]) == 2


def test_junit_has_the_table_and_the_pairs(outputs):
    suite = ElementTree.parse(outputs["junit"]).getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    assert {one.get("name"): one.get("value") for one in suite.find("properties")}["state"] == "RED"
    summary = suite.find("system-out").text
    assert "could hide" in summary
    assert all(case.get("name") in summary for case in suite.findall("testcase"))
    [failed] = [case for case in suite.findall("testcase") if case.find("failure") is not None]
    assert failed.find("failure").get("message").startswith(f"regression: {failed.get('name')}: +30 % [")
    for case in suite.findall("testcase"):
        if case.find("failure") is None and case.find("skipped") is None:
            assert case.find("system-out").text.startswith(f"{case.get('name')}: ")
    details = failed.find("system-out").text
    assert re.search(r"\|[ .:*#]{60}\|", details)
    if outputs["kind"].name == "pairs":
        files = re.findall(r"\S+\.json", details)
        assert len(files) == 6
        assert all(is_record(Path(file)) for file in files)


def test_the_page_shows_every_launch_and_each_dot_leads_to_its_record(outputs):
    text = outputs["html"].read_text()
    page = Page(text)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    records = [link for link in page.links if not link.startswith("#")]
    assert all(is_record(outputs["html"].parent / unquote(link)) for link in records)
    series = json.loads(outputs["json"].read_text())["series"]
    dots = sum(sum(one["launches"][: 1 if outputs["kind"].name == "pairs" else 2]) for one in series)
    assert text.count("<circle ") == dots == (6 if outputs["kind"].name == "pairs" else 12) * 14
    assert page.elements.count("svg") == 6
    assert "img" not in page.elements
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_what_is_not_decided_fails_where_it_has_an_exit_code(tmp_path):
    pairs = Pairs(tmp_path, noise=0.3)
    pairs.add(make_point("pencil", "p2p", (64, 64, 64), 2), range(14))
    junit = tmp_path / "gate.xml"
    arguments = ["compare", "--archive", str(tmp_path), BASE, CANDIDATE, "--junit", str(junit)]
    assert main(arguments) == 0
    root = ElementTree.parse(junit).getroot()
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")
    assert main([*arguments, "--strict"]) == 5
    root = ElementTree.parse(junit).getroot()
    assert (root.get("failures"), root.get("skipped")) == ("1", "0")
    assert {one.get("name"): one.get("value") for one in root.find("properties")}["state"] == "NOT DECIDED"


def test_exact_numbers_held_to_a_baseline_are_reported_to_a_ci_too(tmp_path):
    pairs = Pairs(tmp_path)
    for point in gate_points()[:3]:
        pairs.add(point, [0])
    baseline, files = tmp_path / "b.json", {kind: tmp_path / f"check.{kind}" for kind in ("markdown", "junit")}
    options = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]
    assert main(["gate", "accept", BASE, "--baseline", str(baseline), "--archive", str(tmp_path)]) == 0
    check = ["gate", "check", CANDIDATE, "--baseline", str(baseline), "--archive", str(tmp_path), *options]
    assert main(check) == 0
    root = ElementTree.parse(files["junit"]).getroot()
    assert [root.get(key) for key in ("tests", "failures", "skipped", "errors")] == ["3", "0", "0", "0"]
    assert files["markdown"].read_text().startswith("**fourscore: GREEN: exact numbers: 12 same**")
    more = pairs.record(CANDIDATE, gate_points()[0], 1)
    for file in (tmp_path / "records" / CANDIDATE).glob(f"{more['point_id']}-*"):
        file.unlink()
    more["cost"]["messages_per_rank"] = [value + 1 for value in more["cost"]["messages_per_rank"]]
    store(tmp_path, more)
    for file in (tmp_path / "records" / CANDIDATE).iterdir():
        if json.loads(file.read_text())["point"] == gate_points()[1]:
            file.unlink()
    assert main(check) == 1
    root = ElementTree.parse(files["junit"]).getroot()
    assert [root.get(key) for key in ("tests", "failures", "skipped", "errors")] == ["3", "1", "1", "0"]
    [failure] = root.iter("failure")
    assert failure.get("message").startswith("more: messages at most on a rank: ")
    markdown = files["markdown"].read_text()
    assert "| more | slab/alltoallv at 64³, 4 ranks" in markdown
    assert "was not measured" in markdown
