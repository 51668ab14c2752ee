"""The example page of the documents is what its records give today."""

import re
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path

from fourscore_analysis.cli import main

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE, PAGE = "docs/example/archive", "docs/example/report.html"
COMMAND = f"fourscore report --archive {ARCHIVE} -o {PAGE}"


class Text(HTMLParser):
    """What a page says, tables, findings, what marks say, titles of figures and the data that are explored, without how
    it is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.drawn = False  # within a script or a style

    def handle_starttag(self, tag, attrs) -> None:
        self.drawn = tag in ("script", "style") and ("type", "application/json") not in attrs
        self.said += [value for name, value in attrs if name in ("aria-label", "title") and value]

    def handle_endtag(self, tag) -> None:
        self.drawn = False

    def handle_data(self, data: str) -> None:
        if data.strip() and not self.drawn:
            self.said.append(" ".join(data.split()))


def said_by(page: Path) -> list[str]:
    text = Text()
    text.feed(page.read_text(encoding="utf-8"))
    places = r"(?<=PDF) in .*-plots(?=\.)|^{\"records\":\"[^\"]*\""  # which differ with the place of the page
    return [re.sub(places, "", one) for one in text.said]


def test_the_example_page_is_what_its_records_give(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    again = tmp_path / "report.html"
    assert main(["report", "--archive", ARCHIVE, "-o", str(again)]) == 0
    committed, made = said_by(ROOT / PAGE), said_by(again)
    assert len(committed) > 500
    differ = [(old, new) for old, new in zip_longest(committed, made) if old != new]
    assert not differ, f"{PAGE} says {differ[0][0]!r}, its records now give {differ[0][1]!r}: run {COMMAND}"


def test_the_example_of_best_is_what_its_records_give(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/reading-a-report.md").read_text(encoding="utf-8")
    [(command, shown)] = re.findall(r"```sh\nfourscore (best .*)\n```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert main(command.split()) == 0
    assert capsys.readouterr().out == shown


def test_the_example_names_no_private_machine():
    records = [*(ROOT / ARCHIVE).rglob("*.json")]
    assert len(records) > 12
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert not re.search(r'"/|/home/|/root/|/tmp/', text), record
        for hosts in re.findall(r'"hosts":\[([^]]*)\]', text):
            assert set(hosts.split(",")) == {'"workstation"'}, record
    assert sum(path.stat().st_size for path in records) < 600_000
