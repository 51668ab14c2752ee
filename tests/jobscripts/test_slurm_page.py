"""The commands of docs/slurm.md run as they stand there, on a real Slurm of four nodes."""

from __future__ import annotations

import pathlib
import re

import pytest
from fourscore_command import BIN
from slurm_campaign import RigCampaigns
from slurm_rig import SlurmRig, temporary_folder, unavailable

if no_rig := unavailable():
    pytest.skip(no_rig, allow_module_level=True)

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "slurm.md"
BLOCK = re.compile(r"<!-- tested on a cluster -->\s*\n```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_commands_of_the_page_lead_to_a_report():
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    with temporary_folder() as folder, SlurmRig(folder) as rig:
        real = RigCampaigns(rig)
        real.use_real_bench()
        (real.folder / "mine.toml").write_text(real.machine_file.read_text())
        path = f"{BIN}:{rig.environment['PATH']}"
        bench = {"FOURSCORE_BENCH": real.environment["FOURSCORE_BENCH"]}
        script = "\n".join(["set -euo pipefail", f"cd {real.folder}", *blocks])
        done = rig.run(["bash", "-c", script], timeout=600, env={"PATH": path} | bench)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{rig.logs()}"
        assert (real.folder / "report.html").stat().st_size > 10000
        (status,) = real.json("status")
        # Two exchanges on 1, 2 and 4 nodes, twice each; the first submission took all of them.
        assert (status["records"], status["missing"], status["counts"]) == (12, 0, {"ok": 12})
        assert [job["job_nodes"] for job in status["jobs"]] == [1, 2, 4]
        assert "all as they should be" in done.stdout
