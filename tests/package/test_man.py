"""Man pages, which packaging/man makes from --help."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["FOURSCORE_BIN"])


def test_every_command_has_a_page_that_man_shows(tmp_path: Path) -> None:
    for program in ("help2man", "man"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} here")
    made = subprocess.run([ROOT / "packaging/man", BIN, tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 0, made.stderr
    listed = subprocess.run([BIN / "fourscore", "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    commands = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
    pages = {"fourscore", *(f"fourscore-{command}" for command in commands), *(file.name for file in BIN.glob("*_bench"))}
    assert {page.stem for page in tmp_path.glob("*.1")} == pages and len(pages) > 20
    for page in sorted(pages):
        shown = subprocess.run(["man", "-l", tmp_path / f"{page}.1"], capture_output=True, text=True, check=True, timeout=60, env=os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        assert re.search(rf"^NAME\n +{page} +- +\S+", shown.stdout, re.MULTILINE), shown.stdout[:400]
        assert any(words in shown.stdout for words in ("OPTIONS", "options", "--benchmark_"))

