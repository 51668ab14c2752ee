"""`fourscore compare`: sides and options reach the analysis as they were asked, and its exit code comes back."""

import json
import shutil
from xml.etree import ElementTree

import pytest


@pytest.fixture
def sides(measured):
    """The campaign of `measured`, and a copy of it in a folder."""
    copy = measured.folder / "copy"
    shutil.copytree(next((measured.archive / "records").iterdir()), copy)
    return measured, next((measured.archive / "records").iterdir()).name, copy


def test_the_result_comes_in_every_format(sides):
    fourscore, campaign, copy = sides
    files = {kind: fourscore.folder / f"out.{kind}" for kind in ("json", "markdown", "junit", "html")}
    options = [word for kind, file in files.items() for word in (f"--{kind}", file)]
    out = fourscore("compare", campaign, copy, *options).stdout
    assert out.startswith("NOT DECIDED: ")  # two launches of each
    found = json.loads(files["json"].read_text())
    assert (found["schema"], found["exit_code"], found["paired"]) == ("fourscore.gate", 0, False)
    assert files["markdown"].read_text().startswith("**fourscore: NOT DECIDED")
    assert "NOT DECIDED" in files["html"].read_text()
    assert ElementTree.parse(files["junit"]).getroot().get("failures") == "0"
    assert json.loads(fourscore("compare", campaign, copy, "--json", "-").stdout) == found


def test_a_plan_is_passed_on(sides):
    fourscore, campaign, copy = sides
    plan = json.loads(fourscore("compare", campaign, copy, "--plan").stdout)
    assert plan["schema"] == "fourscore.gate-plan"
    assert plan["pairs_needed"].keys() == set(plan["flagged"])


def test_fields_that_may_differ_are_passed_on(sides):
    fourscore, _, copy = sides
    base = fourscore.folder / "base"
    shutil.copytree(copy, base)
    for cores, folder in enumerate((base, copy), 2):
        for file in folder.iterdir():
            provenance = {"machine_hash": str(cores) * 16, "identity": {"machine": {"cores": cores}}}
            file.write_text(json.dumps(json.loads(file.read_text()) | {"provenance": provenance}))
    assert "machine.cores" in fourscore("compare", base, copy, code=2).stderr
    found = fourscore("compare", base, copy, "--allow-different", "machine", "--json", "-")
    assert json.loads(found.stdout)["overrides"] == ["machine.cores: 2 | 3"]


def test_what_is_not_decided_has_a_code_where_that_is_asked_for(sides):
    fourscore, campaign, copy = sides
    for option in ("--strict", "--require-detectable"):
        assert fourscore("compare", campaign, copy, option, code=5).stdout.startswith("NOT DECIDED: ")
    assert "expected more than the margin" in fourscore("compare", campaign, copy, "--detect=1%", code=2).stderr
    said = fourscore("compare", campaign, copy, "--detect=300%").stdout
    assert "could hide a slowdown of more than 300 %" in said
