"""Launch lines of machine files: what they start, and which launches they cannot."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
from fourscore_command import script

MPIEXEC = os.environ["FOURSCORE_TEST_MPIEXEC"]
# Runs the program once and writes down its own arguments, and what the program's environment says.
STARTER = """#!/bin/sh
words=
while [ "$1" != env ]; do words="$words[$1]"; [ "$1" != -n ] || FAKE_RANKS=$2; shift; done
echo "$words $2 $3" >>"$STARTER_LOG"
export FAKE_RANKS
exec "$@"
"""


@pytest.fixture
def template(fourscore):
    """The command with a program `starter` in PATH."""
    folder = fourscore.folder / "path"
    folder.mkdir()
    script(folder / "starter", STARTER)
    fourscore.log_of_starter = fourscore.folder / "starter.log"
    fourscore.environment |= {
        "PATH": f"{folder}:{fourscore.environment['PATH']}",
        "STARTER_LOG": str(fourscore.log_of_starter),
        "FOURSCORE_INTERCONNECT": "",
    }
    return fourscore


def machine_file(fourscore, line: str, more: str = "", nodes: str = "") -> pathlib.Path:
    file = fourscore.folder / "m.toml"
    file.write_text(
        f'name = "m"\nlauncher = "template"\n[nodes]\ncount = 8\ncores = 4\n{nodes}\n[launch]\nline = {json.dumps(line)}\n{more}\n'
    )
    return file


def run(
    fourscore, machine: pathlib.Path, ranks: int, nodes: int = 1, threads: int = 1, placement: str = "block", **options
):
    suite = fourscore.suite(
        'name = "s"\nlaunches = 1\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\n'
        f'ranks = {ranks}\nnodes = {nodes}\nthreads = {threads}\nplacement_of_ranks = "{placement}"\n'
    )
    fourscore.log_of_starter.unlink(missing_ok=True)
    return fourscore("run", suite, "--machine", machine, "--fresh", **options)


def started(fourscore) -> str:
    """The record of the only launch."""
    (line,) = fourscore.log_of_starter.read_text().splitlines()
    return line


ALL = "starter -n {ranks} -N {nodes} --ppn={ranks_per_node} -d {threads} -m {placement} {program}"


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ((8, 4, 2), "[-n][8][-N][4][--ppn=2][-d][2][-m][block] OMP_NUM_THREADS=2"),
        ((7, 4, 1), "[-n][7][-N][4][--ppn=2][-d][1][-m][block] OMP_NUM_THREADS=1"),
        ((8, 4, 1, "cyclic"), "[-n][8][-N][4][--ppn=2][-d][1][-m][cyclic] OMP_NUM_THREADS=1"),
        ((3, 1, 1, "cyclic"), "[-n][3][-N][1][--ppn=3][-d][1][-m][block] OMP_NUM_THREADS=1"),
    ],
)
def test_the_line_is_filled_in_for_each_launch(template, point, words):
    run(template, machine_file(template, ALL), *point)
    assert started(template).startswith(words)
    (record,) = template.records().values()
    assert record["verdict"]["status"] == "ok"


def test_placements_have_the_words_of_the_machine_file(template):
    machine = machine_file(template, ALL, 'placement = { block = "packed", cyclic = "rr" }')
    for placement, word in (("block", "packed"), ("cyclic", "rr")):
        run(template, machine, 8, 4, 1, placement)
        assert f"[-m][{word}]" in started(template)
    error = run(template, machine, 8, 4, 1, "socket", code=2).stderr
    assert "no word for socket" in error and "key 'socket' of placement in [launch]" in error


def test_the_interconnect_reaches_ranks_whatever_the_launcher_passes_on(template):
    run(template, machine_file(template, ALL, nodes='interconnect = "fast"'), 2)
    assert started(template).endswith("OMP_NUM_THREADS=1 FOURSCORE_INTERCONNECT=fast")


@pytest.mark.parametrize(
    ("line", "point", "words"),
    [
        ("starter -n {ranks} {program}", (2, 2), ["neither {nodes}, {ranks_per_node} nor {hosts}", "2 nodes"]),
        ("starter -n {ranks} -N {nodes} {program}", (2, 1, 2), ["no {threads}", "2 threads a rank"]),
        ("starter -n {ranks} -N {nodes} {program}", (4, 2, 1, "cyclic"), ["no {placement}", "cyclic"]),
        (
            "starter -n {ranks} --ppn {ranks_per_node} {program}",
            (9, 4),
            ["9 ranks fill fewer than 4 nodes with 3 on each"],
        ),
        (ALL, (2, 1, 1, "socket"), ["no word for socket"]),
    ],
)
def test_what_the_line_cannot_say_is_refused_before_anything_is_launched(template, line, point, words):
    error = run(template, machine_file(template, line), *point, code=2).stderr
    assert not [word for word in words if word not in error], error
    assert "good" in error and f"{point[1]} node" in error, "the point and its nodes are named"
    assert not template.log_of_starter.exists() and not template.records()


def test_the_first_refused_point_ends_the_run_also_where_others_could_be_launched(template):
    machine = machine_file(template, "starter -n {ranks} {program}")
    suite = template.suite(
        'name = "s"\nlaunches = 1\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks_per_node = 1\nnodes = [1, 2]\n'
    )
    error = template("run", suite, "--machine", machine, code=2).stderr
    assert "2 ranks" in error and "2 nodes" in error and not template.records()
    template("run", suite, "--machine", machine, "--only", "nodes=1")
    assert len(template.records()) == 1
    assert len(json.loads(template("run", suite, "--machine", machine, "--dry-run", "--json").stdout)["launches"]) == 2


def test_hosts_are_those_of_the_job(template):
    machine = machine_file(template, "starter --hosts {hosts} -n {ranks} {program}")
    error = run(template, machine, 2, 2, code=3).stderr
    assert "{hosts}" in error and "a job's" in error
    template.environment |= {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[3-5]"}
    run(template, machine, 2, 2)
    assert started(template).startswith("[--hosts][n3,n4][-n][2] ")


def test_a_variable_that_is_not_set_is_reported_before_anything_is_launched(template):
    machine = machine_file(template, "starter -f $NO_SUCH_NODEFILE -n {ranks} {program}")
    error = run(template, machine, 2, code=3).stderr
    assert "launcher 'template'" in error and "NO_SUCH_NODEFILE" in error and not template.records()
    run(template, machine, 2, environment={"NO_SUCH_NODEFILE": "a file"})
    assert started(template).startswith("[-f][a file][-n][2] ")


def test_there_is_no_line_without_a_machine_file(template):
    error = template("run", template.points(), "--launcher", "template", code=2).stderr
    assert "launcher 'template'" in error and "machine file" in error and "'local' would do: --launcher local" in error


def test_a_program_that_is_not_there_is_named(template):
    error = run(template, machine_file(template, "no-such-starter -n {ranks} {program}"), 1, code=3).stderr
    assert "no-such-starter cannot be started" in error


def test_the_real_mpirun_is_started_by_a_line(template):
    line = f"{MPIEXEC} -n {{ranks}} {{program}}"
    point = 'variant = "slab"\nshape = "8x8x8"\nranks = 2\nplanner = "estimate"\n'
    suite = template.suite('name = "s"\nlaunches = 1\nrepetitions = 2\n[[sweep]]\n' + point)
    bench = {"FOURSCORE_BENCH": os.environ["FOURSCORE_BIN"] + "/fft_bench"}
    template("run", suite, "--machine", machine_file(template, line), environment=bench)
    (record,) = template.records().values()
    assert record["verdict"]["status"] == "ok" and record["point"]["ranks"] == 2
    assert record["provenance"]["identity"]["launch"]["launcher"] == "template"
