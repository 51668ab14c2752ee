""".github: workflows whose steps are scripts of this tree, and forms that GitHub takes. GitHub itself was not asked."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="no PyYAML here")

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = [path for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
# Commands that are no scripts of this tree, each with the reason.
BESIDE_SCRIPTS = {
    "apt-get": "before there is a tree",
    "git": "tells git of the container's user",
    "python3": "pip makes and installs the wheel",
    "gh": "makes the draft of a release, with GitHub's own rights",
}
KEYS_OF_A_FIELD = {"type", "id", "attributes", "validations"}
ATTRIBUTES = {
    "textarea": {"label", "description", "placeholder", "value", "render"},
    "dropdown": {"label", "description", "multiple", "options", "default"},
}


def steps(path: Path) -> list[dict]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def commands(path: Path) -> list[list[str]]:
    """The words of each command that a workflow runs; what GitHub fills in becomes WORD."""
    lines = [line for step in steps(path) for line in step.get("run", "").splitlines()]
    parts = [part for line in lines for part in re.split(r"&&|\|\||;", re.sub(r"\$\{\{.*?\}\}", "WORD", line))]
    return [shlex.split(part) for part in parts]


def test_there_is_a_workflow_for_tests_docs_wheel_and_release():
    assert {path.stem for path in WORKFLOWS} == {"tests", "docs", "wheel", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_started_by_something_and_ends(path):
    content = yaml.safe_load(path.read_text())
    assert content["name"] == path.stem
    assert content[True].keys() <= {"push", "pull_request"}  # YAML 1.1 reads the key `on` as true
    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= job.keys()
        for step in job["steps"]:
            assert len({"run", "uses"} & step.keys()) == 1
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/x@v1"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_the_steps_of_a_workflow_are_scripts_that_know_its_options(path):
    found = commands(path)
    assert any(words[0].startswith("./") for words in found) or path.stem == "wheel"
    for words in found:
        if not words[0].startswith("./"):
            assert words[0] in BESIDE_SCRIPTS
            continue
        help_text = subprocess.run([ROOT / words[0], "--help"], capture_output=True, text=True, check=True).stdout
        for word in {*words[1:2], *(word for word in words if word.startswith("-"))}:  # a subcommand, and the options
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", help_text), word


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_names_in_the_tree_is_there(path):
    named = set(re.findall(r"\./([\w./-]+)", path.read_text())) | set(re.findall(r"\b[A-Z]+\.md\b", path.read_text()))
    assert named
    assert all((ROOT / name).exists() for name in named)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_has_what_github_asks_of_it(path):
    form = yaml.safe_load(path.read_text())
    assert form.keys() == {"name", "description", "labels", "body"}
    assert len(form["body"]) >= 3
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    for field in form["body"]:
        assert {"type", "id", "attributes"} <= field.keys() <= KEYS_OF_A_FIELD
        assert {"label"} <= field["attributes"].keys() <= ATTRIBUTES[field["type"]]
        assert field["type"] != "dropdown" or all(isinstance(one, str) for one in field["attributes"]["options"])
        assert field.get("validations", {"required": True}) == {"required": True}


def test_there_is_a_form_for_bugs_and_one_for_measurements():
    assert [path.stem for path in FORMS] == ["bug", "measurement"]
    assert yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/config.yml").read_text()).keys() <= {"blank_issues_enabled", "contact_links"}
