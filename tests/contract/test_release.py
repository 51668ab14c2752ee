"""tests/release: what a person runs before a release, on a small copy of what it reads."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/contract"))
import metadata  # noqa: E402


def git(tree: Path, *words: str) -> None:
    subprocess.run(["git", "-C", tree, "-c", "user.name=n", "-c", "user.email=n@example.org", *words], check=True, capture_output=True)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture()
def tree(tmp_path: Path) -> Path:
    """A tree that may be released: version 7.8.9 of 2030-01-02."""
    tree = tmp_path / "tree"
    metadata.copy(ROOT, tree)
    (tree / "tests/contract").mkdir(parents=True)
    for name in ("tests/release", "tests/contract/checker.py", "tests/contract/metadata.py"):
        shutil.copy2(ROOT / name, tree / name)
    version = metadata.versions(tree)[0][1]
    for name, _ in metadata.versions(tree):
        edit(tree / name, version, "7.8.9")
    text = metadata.read(tree, "CITATION.cff")
    lines = [line for line in text.splitlines() if not line.startswith("date-released")]
    (tree / "CITATION.cff").write_text("\n".join([*lines, "date-released: 2030-01-02", ""]), encoding="utf-8")
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n## [7.8.9] - 2030-01-02\n\n- One line.\n\n## [0.0.1]\n", encoding="utf-8")
    git(tree, "init", "--quiet", "--initial-branch", "main")
    commit(tree)
    return tree


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "All of it")


def release(tree: Path, *words: str, code: int) -> str:
    run = subprocess.run([tree / "tests/release", *words], capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_a_tree_that_may_be_released_is_called_so_and_the_next_step_named(tree):
    said = release(tree, "check", code=0)
    assert said.count("\nok ") == 5
    assert "NO " not in said
    assert "7.8.9 of 2030-01-02" in said
    assert "tests/fresh" in said
    assert "git tag -a v7.8.9" in said
    assert "repository-code in CITATION.cff is yours to fill in" in said


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("codemeta.json", '"version": "7.8.9"', '"version": "7.8.8"', "codemeta.json: version 7.8.8; CMakeLists.txt has 7.8.9"),
        ("CITATION.cff", "2030-01-02", "2030-01-03", "7.8.9 is of '2030-01-02'; date-released of CITATION.cff is '2030-01-03'"),
        ("CHANGELOG.md", "[7.8.9]", "[7.8.8]", "no section [7.8.9]"),
        ("CHANGELOG.md", " - 2030-01-02", "", "[7.8.9] has no date"),
        ("CHANGELOG.md", "- One line.\n", "", "[7.8.9] has no text"),
        ("CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n\n- Not yet.\n", "1 lines under [Unreleased]"),
    ],
)
def test_what_differs_is_named(tree, file, old, new, expected):
    edit(tree / file, old, new)
    commit(tree)
    assert expected in release(tree, "check", code=1)


def test_what_is_not_committed_is_named(tree):
    (tree / "left.txt").touch()
    assert "?? left.txt" in release(tree, "check", code=1)


def test_a_tag_of_another_commit_is_named(tree):
    git(tree, "tag", "v7.8.9")
    assert "ok  the tag is free, or of this commit" in release(tree, "check", code=0)
    (tree / "more.txt").touch()
    commit(tree)
    assert "v7.8.9 is another commit" in release(tree, "check", code=1)


def test_archives_that_differ_are_named(tree):
    (tree / ".git/info/attributes").write_text("codemeta.json export-ignore\n")
    assert "of a clone" in release(tree, "check", code=1)


def test_the_archive_is_one_file_with_its_digest(tree, tmp_path):
    assert "fourscore-7.8.9.tar.gz" in release(tree, "archive", str(tmp_path / "dist"), code=0)
    content = (tmp_path / "dist/fourscore-7.8.9.tar.gz").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert (tmp_path / "dist/fourscore-7.8.9.tar.gz.sha256").read_text() == f"{digest}  fourscore-7.8.9.tar.gz\n"
    assert f"SHA-256 {digest}" in release(tree, "check", code=0)


def test_the_notes_are_the_section_of_the_version(tree):
    assert release(tree, "notes", code=0) == "- One line.\n"


def test_other_arguments_and_other_folders_are_refused(tree):
    assert "Usage" in release(tree, code=2)
    assert "Usage" in release(tree, "chek", code=2)
    assert "Usage" in release(tree, "--help", code=0)
    shutil.rmtree(tree / ".git")
    assert "not a git repository" in release(tree, "check", code=2)
