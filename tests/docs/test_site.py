"""docs/site/build: every document is a page, every link of the built site leads somewhere, and the headers are there."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/contract"), str(ROOT / "tests/support")]
from links import markdown_files  # noqa: E402
from site_links import followed  # noqa: E402

BUILD = ROOT / "docs/site/build"


def build(*words: str, code: int = 0, **environment: str) -> str:
    run = subprocess.run([BUILD, *words], env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False)
    if run.returncode == 3:
        pytest.skip(run.stderr.strip().splitlines()[0])
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A version, beside older ones."""
    folder = tmp_path_factory.mktemp("site")
    for version in ("0.10.0", "0.9.0"):
        (folder / version).mkdir()
        (folder / version / "index.html").touch()
    build("--output", str(folder), "--version", "main")
    return folder / "main"


def page_of(site: Path, document: Path) -> Path:
    folder = document.parent if document.stem == "README" else document.with_suffix("")
    return site / folder / "index.html"


def test_every_document_is_a_page(site):
    documents = [path.relative_to(ROOT) for path in markdown_files(ROOT)]
    assert len(documents) > 50
    assert [str(one) for one in documents if not page_of(site, one).is_file()] == []


def test_every_link_of_the_site_leads_somewhere(site):
    assert len([*site.rglob("index.html")]) > 100
    dead, outside = followed(site, "index.html")
    assert dead == []
    assert outside  # the papers' addresses are links, too


def test_a_page_loads_nothing_from_outside(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<(?:script|img|iframe)[^>]*src=\"https?:[^\"]*|<link[^>]*rel=\"stylesheet\"[^>]*href=\"https?:[^\"]*", text) == []


def test_the_questions_are_the_contents(site):
    contents = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    questions = re.findall(r"^\| (.*\?) \| \[[^]]*\]\((.*?)\)", contents, re.M)
    assert len(questions) > 30
    for question, document in questions:
        name, _, place = document.partition("#")
        page = page_of(site, (ROOT / "docs" / name).resolve().relative_to(ROOT)).read_text(encoding="utf-8")
        if place:  # a part of a page whose title is another question
            assert f'id="{place}"' in page, question
        else:
            assert question.replace("`", "") in html.unescape(re.search(r"<title>(.*?)</title>", page)[1])
    front = (site / "index.html").read_text(encoding="utf-8")
    assert all(heading in front for heading in [*re.findall(r"^## (.*)", contents, re.M), "Installed headers"])


def test_the_search_knows_pages_and_headers_but_no_shown_source(site):
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"] for entry in index["docs"]}
    assert {"docs/gate/", "api/interfaces/#exchangespec", "api/interfaces/#fourscore_execute"} <= places
    assert not any(place.endswith((".cpp/", ".toml/")) for place in places)


def test_what_is_installed_is_in_the_reference(site):
    text = (site / "api/interfaces/index.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2 id=\"[^\"]*\">(.*?)<", text)
    installed = sorted(path.name for path in (ROOT / "drivers/interfaces").iterdir() if path.suffix in (".h", ".hpp"))
    assert sorted(heading.removeprefix("interfaces/") for heading in headings) == installed
    assert "From and to are decompositions of the same shape" in text  # a comment above a declaration
    assert "taken_" not in text  # a private member
    assert not (site / "api/program").exists()  # not installed


def test_lists_within_lists_are_indented_as_markdown_has_it():
    """GitHub takes two spaces, and most other readers take four."""
    wrong = [f"{path.relative_to(ROOT)}: {line}" for path in markdown_files(ROOT) for line in re.findall(r"^ {1,3}[-*] .*", path.read_text(encoding="utf-8"), re.M)]
    assert wrong == []


def test_versions_stand_beside_each_other(site):
    listed = json.loads((site.parent / "versions.json").read_text(encoding="utf-8"))
    assert [(one["version"], one["aliases"]) for one in listed] == [("0.10.0", ["latest"]), ("0.9.0", []), ("main", [])]
    assert "url=0.10.0/" in (site.parent / "index.html").read_text(encoding="utf-8")
    assert '"provider": "mike"' in (site / "index.html").read_text(encoding="utf-8").replace('":"', '": "')


def test_the_site_is_the_folder_where_no_version_is_named(tmp_path):
    assert build("--output", str(tmp_path), FOURSCORE_MKDOCS_PYTHON="echo").splitlines() == [
        f"-m mkdocs build --strict -f {ROOT}/docs/site/mkdocs.yml --site-dir {tmp_path}",
        f"docs/site/build: 0 pages in {tmp_path}",
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_version_that_is_no_name_is_refused(tmp_path):
    assert "--version is '../x'" in build("--output", str(tmp_path), "--version", "../x", code=2)
    assert list(tmp_path.iterdir()) == []
