"""Runs the commands that README.md, suites/README.md and docs/ show in blocks marked <!-- tested -->, in a temporary folder.

Usage: readme_commands.py FOLDER_OF_PROGRAMS MPIEXEC MARKDOWN...
Each block is one bash script (set -euo pipefail); the folder stands first in PATH, and mpirun is MPIEXEC. Exits 1 when a block fails or none is marked.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"<!-- tested -->\s*\n```(?:sh|bash)\n(.*?)^```", re.S | re.M)


def main(arguments: list[str]) -> int:
    programs, mpiexec, *documents = arguments
    with tempfile.TemporaryDirectory() as first:
        # The mpirun in PATH may be that of another MPI than the programs were built with.
        mpirun = Path(first, "mpirun")
        mpirun.write_text(f'#!/bin/sh\nexec {shlex.quote(mpiexec)} "$@"\n')
        mpirun.chmod(0o755)
        return run_blocks(documents, {**os.environ, "PATH": f"{first}:{programs}:{os.environ['PATH']}"})


def run_blocks(documents: list[str], environment: dict[str, str]) -> int:
    count = 0
    for document in documents:
        for block in BLOCK.findall(Path(document).read_text(encoding="utf-8")):
            count += 1
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, env=environment,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode != 0:
                print(f"{document}: exit status {done.returncode} of\n{block}\n{done.stdout}")
                return 1
    print(f"{count} blocks of commands ran")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
