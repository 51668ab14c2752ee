"""Machine files: what is read, refused and shown, and that the schema refuses the same."""

from __future__ import annotations

import json
import pathlib
import shutil
from collections.abc import Iterator

import jsonschema
import pytest
from fourscore_command import script

tomllib = pytest.importorskip("tomllib", reason="tomllib comes with Python 3.11")

MACHINES = pathlib.Path(__file__).parents[2] / "jobscripts/machines"
EXAMPLES = sorted(MACHINES.glob("*.toml"))
SCHEMA = jsonschema.Draft202012Validator(json.loads((MACHINES / "machine.schema.json").read_text()))

LOCAL = 'name = "m"\n'
NETNS = 'name = "m"\nlauncher = "netns"\n'
SLURM = 'name = "m"\nscheduler = "slurm"\nlauncher = "srun"\n[nodes]\ncount = 4\ncores = 8\n'
TEMPLATE = 'name = "m"\nlauncher = "template"\n[launch]\nline = "mpiexec -n {ranks} {program}"\n'


def line(text: str) -> str:
    """A machine file with this launch line."""
    return f'name = "m"\nlauncher = "template"\n[launch]\nline = {json.dumps(text)}\n'


GOOD = {
    "the least": LOCAL,
    "all keys of a cluster": SLURM
    + 'sockets = 2\ngpus = 0\nmemory_gib = 256\ninterconnect = "fast"\n'
    + '[queue]\npartition = "p"\naccount = "a"\nqos = "q"\nconstraint = "c"\ntime_limit = 7200\nmost_jobs = 3\ndirectives = ["-x"]\n'
    + '[environment]\nmodules = ["gcc"]\nset = { A_1 = "b c", _x = "" }\nsetup = ["ulimit -s unlimited"]\n'
    + '[launch]\nmpi = "pmi2"\noptions = ["--x"]\n'
    + '[files]\narchive = "~/a"\nshared = ["/a", "$HOME", "${HOME}/b"]\n',
    "time limit with days": SLURM + '[queue]\ntime_limit = "1-12:00:00"\n',
    "time limit in a minute": SLURM + '[queue]\ntime_limit = "0:01:00"\n',
    "time limit of a second": SLURM + "[queue]\ntime_limit = 1.5\n",
    "a line": TEMPLATE,
    "a line with all placeholders": line(
        "x -n {ranks} -N {nodes} {ranks_per_node} {threads} {hosts} {placement} {program} y"
    ),
    "a line with quotes and braces": line("x 'a b' \"c d\" {{ {ranks} '{nodes}' \\; {program}"),
    "a line with variables": line("mpiexec -f $PBS_NODEFILE -n ${N}{ranks} {program}"),
    "words for placements": line("x {ranks} -m {placement} {program}")
    + '[launch.placement]\nblock = "b"\ncyclic = "c"\nsocket = "s"\n',
    "price and power": LOCAL + '[cost]\nnode_hour_price = 2\ncurrency = "CHF"\nnode_watts = 650.5\nnode_idle_watts = 0\n',
    "power alone": LOCAL + "[cost]\nnode_watts = 650\n",
    "options of local": LOCAL + '[launch]\noptions = ["--mca", "btl", "tcp"]\n',
}
# What is wrong, the line it stands on, and words of the message.
BAD = {
    "no name": ('description = "x"\n', 1, ["'name' is missing"]),
    "a name of two words": ('name = "a b"\n', 1, ["'name'", "letters, digits and -"]),
    "a name that begins with -": ('name = "-a"\n', 1, ["'name'"]),
    "a name that is a number": ("name = 1\n", 1, ["'name'", "a string"]),
    "an unknown key": (LOCAL + "launhcer = 'local'\n", 2, ["'launhcer'", "did you mean 'launcher'", "allowed:"]),
    "an unknown key of a section": (SLURM + "[queue]\npartiton = 'p'\n", 8, ["'partiton' in [queue]", "did you mean 'partition'"]),
    "a section that is no table": (LOCAL + "nodes = 4\n", 2, ["'nodes'", "a table: [nodes]"]),
    "no nodes": (SLURM.replace("count = 4", "count = 0"), 5, ["'count'", "from 1 to"]),
    "half a core": (SLURM.replace("cores = 8", "cores = 0.5"), 6, ["'cores'", "an integer"]),
    "less than no GPU": (SLURM + "gpus = -1\n", 7, ["'gpus'", "from 0 to"]),
    "memory in words": (SLURM + "memory_gib = 'much'\n", 7, ["'memory_gib'", "a number"]),
    "a scheduler without cores": (SLURM.replace("cores = 8\n", ""), 1, ["'cores' of [nodes] is missing", "scheduler"]),
    "a queue without a scheduler": (LOCAL + "[queue]\npartition = 'p'\n", 2, ["'queue'", "scheduler = \"slurm\""]),
    "an environment without a scheduler": (LOCAL + "[environment]\nmodules = []\n", 2, ["'environment'", "scripts of jobs"]),
    "a time limit of words": (SLURM + "[queue]\ntime_limit = 'long'\n", 8, ["'time_limit'", "02:00:00", "seconds"]),
    "a time limit of minutes and seconds": (SLURM + "[queue]\ntime_limit = '30:00'\n", 8, ["'time_limit'"]),
    "70 minutes in a time limit": (SLURM + "[queue]\ntime_limit = '01:70:00'\n", 8, ["'time_limit'"]),
    "a time limit of nothing": (SLURM + "[queue]\ntime_limit = '00:00:00'\n", 8, ["'time_limit'"]),
    "a time limit of no seconds": (SLURM + "[queue]\ntime_limit = 0\n", 8, ["'time_limit'"]),
    "no jobs at all": (SLURM + "[queue]\nmost_jobs = 0\n", 8, ["'most_jobs'"]),
    "directives in one text": (SLURM + "[queue]\ndirectives = '-x -y'\n", 8, ["'directives'", "a list of strings"]),
    "a directive that is a number": (SLURM + "[queue]\ndirectives = ['-x', 1]\n", 8, ["'directives'", "a list of strings"]),
    "a directive of two lines": (SLURM + '[queue]\ndirectives = ["-x\\n#SBATCH -y"]\n', 8, ["'directives'", "line break"]),
    "a description that writes backwards": (LOCAL + 'description = "a\\u202eb"\n', 2, ["'description'", "control character"]),
    "a variable's name with a blank": (SLURM + "[environment]\nset = { 'A B' = 'x' }\n", 8, ["'set'", "'A B'", "letters, digits and _"]),
    "a variable's name that begins with a digit": (SLURM + "[environment]\nset = { 1A = 'x' }\n", 8, ["'set'"]),
    "a variable that is a number": (SLURM + "[environment]\nset = { A = 1 }\n", 8, ["'set.A'", "a string"]),
    "mpi for local": (LOCAL + "[launch]\nmpi = 'pmix'\n", 3, ["'mpi'", "means nothing to launcher 'local'", "srun"]),
    "a rate for srun": (SLURM + "[launch]\nrate = '100mbit'\n", 8, ["'rate'", "srun", "netns"]),
    "a rate in words": (NETNS + "[launch]\nrate = 'fast'\n", 4, ["'rate' is 'fast'", "as tc(8) has it"]),
    "a rate without a number": (NETNS + "[launch]\nrate = 'mbit'\n", 4, ["'rate'", "as tc(8) has it"]),
    "a rate of no text": (NETNS + "[launch]\nrate = ''\n", 4, ["'rate'", "as tc(8) has it"]),
    "a line for srun": (SLURM + "[launch]\nline = 'x {ranks} {program}'\n", 8, ["'line'", "template"]),
    "options beside a line": (TEMPLATE + "options = ['x']\n", 5, ["'options'", "template"]),
    "template without a line": ('name = "m"\nlauncher = "template"\n', 1, ["'line' of [launch] is missing"]),
    "a line without ranks": (line("mpiexec {program}"), 4, ["'line'", "without {ranks}"]),
    "a line without the program": (line("mpiexec -n {ranks}"), 4, ["'line'", "without {program}"]),
    "a line with an unknown placeholder": (line("x -n {rank} {program}"), 4, ["{rank}", "did you mean {ranks}?"]),
    "a line with ranks in literal braces": (line("x -n {{ranks}} {program}"), 4, ["without {ranks}"]),
    "a line with half a quote": (line("x 'a -n {ranks} {program}"), 4, ["a quote ' does not end"]),
    "a line with a pipe": (line("x -n {ranks} {program} | tee log"), 4, ["'|' is for a shell"]),
    "a line with a command in it": (line("x -n {ranks} -H $(hosts) {program}"), 4, ["$ stands before no name"]),
    "a program within a word": (line("sh -c x{program} {ranks}"), 4, ["{program} is several words"]),
    "a program twice": (line("x {ranks} {program} {program}"), 4, ["more than once"]),
    "a single brace": (line("x {ranks} } {program}"), 4, ["a single }"]),
    "words for placements without a place": (TEMPLATE + "placement = { block = 'b' }\n", 5, ["'placement'", "{placement} in the line"]),
    "a word for an unknown placement": (line("x {ranks} {placement} {program}") + "placement = { blok = 'b' }\n", 5, ["'blok'", "did you mean 'block'"]),
    "several nodes for local": (LOCAL + "[nodes]\ncount = 2\n", 3, ["'count'", "launcher 'local'"]),
    "an archive that is no path": (LOCAL + "[files]\narchive = 'here'\n", 3, ["'archive'", "begins with /"]),
    "another's home": (LOCAL + "[files]\narchive = '~ann/x'\n", 3, ["'archive'", "~/"]),
    "$ without a name": (LOCAL + "[files]\narchive = '/a/$/b'\n", 3, ["'archive'", "name behind $"]),
    "a negative price": (LOCAL + "[cost]\nnode_hour_price = -1\n", 3, ["'node_hour_price' is -1", "a number from 0 to"]),
    "a price in words": (LOCAL + "[cost]\nnode_hour_price = 'much'\n", 3, ["'node_hour_price'", "a number"]),
    "a currency of digits": (LOCAL + "[cost]\nnode_watts = 1\ncurrency = '12'\n", 4, ["'currency'", "letters, as EUR"]),
    "neither price nor power": (LOCAL + "[cost]\ncurrency = 'EUR'\n", 2, ["neither node_hour_price nor node_watts"]),
    "rest without work": (LOCAL + "[cost]\nnode_hour_price = 1\nnode_idle_watts = 5\n", 4, ["'node_idle_watts'", "node_watts beside it"]),
    "shared folders in one text": (LOCAL + "[files]\nshared = '/a'\n", 3, ["'shared'", "a list of strings"]),
}  # fmt: skip
# What only the program knows.
UNKNOWN = {
    "a launcher": (
        'name = "m"\nlauncher = "srn"\n',
        2,
        ["'launcher' is 'srn', did you mean 'srun'?", "local", "template"],
    ),
    "a scheduler": ('name = "m"\nscheduler = "slrum"\n', 2, ["'scheduler' is 'slrum', did you mean 'slurm'?", "pbs"]),
    "a variable that is not set": (
        LOCAL + "[files]\narchive = '/a/$NO_SUCH_DISK/b'\n",
        3,
        ["NO_SUCH_DISK is not set here"],
    ),
    "a rate that no token bucket holds": (NETNS + "[launch]\nrate = '1tbit'\n", 4, ["'rate'", "from 64kbit to 10gbit"]),
    "more sockets than cores": (SLURM + "sockets = 9\n", 7, ["'sockets'", "cores"]),
    "no TOML": ("name =\n", 1, ["not TOML"]),
}


def shown(fourscore, text: str) -> dict:
    file = fourscore.folder / "m.toml"
    file.write_text(text)
    return fourscore.json("machine", "show", file)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_meets_the_schema_and_is_read(fourscore, file):
    SCHEMA.validate(tomllib.loads(file.read_text()))
    machine = fourscore.json("machine", "show", file.stem)
    assert machine["name"] == file.stem and machine["file"] == str(file)


def test_there_are_examples_with_and_without_a_scheduler_and_of_every_way_to_launch():
    machines = [tomllib.loads(file.read_text()) for file in EXAMPLES]
    assert {"slurm", "pbs", None} <= {machine.get("scheduler") for machine in machines}
    assert {"local", "srun", "template"} <= {machine.get("launcher") for machine in machines}


@pytest.mark.parametrize("case", GOOD)
def test_what_the_reader_takes_meets_the_schema(fourscore, case):
    SCHEMA.validate(tomllib.loads(GOOD[case]))
    shown(fourscore, GOOD[case])


@pytest.mark.parametrize("case", BAD)
def test_what_the_schema_refuses_is_refused_with_file_line_and_key(fourscore, case):
    text, at, words = BAD[case]
    assert not SCHEMA.is_valid(tomllib.loads(text))
    refused(fourscore, text, at, words)


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_only_the_program_knows_is_refused_with_file_line_and_key(fourscore, case):
    refused(fourscore, *UNKNOWN[case])


# In the place of every value of a good file. Launchers and schedulers are names that exist.
VALUES = [
    *(0, 1, -1, 2, 3.5, 1e300, 10**6, 10**6 + 1, 2**20 + 1, 2**40, True, "", " ", "x", "1x", "a b", "a\nb", "\x1b[2J", "\u202e"),
    *("local", "srun", "template", "netns", "slurm", "pbs", "~", "~/x", "~x", "/", "/a/$HOME", "${HOME}", "$", "/${", "/$1"),
    *("1:2:3", "00:00:01", "0:00:00", "-1:0:0", "1-0:0:0", "1-0:0", "0-0:0:0", "02:00", "60:60:60", "9999:59:59", "99999:0:0"),
    *("x {ranks} {program}", "{ranks} {program}", "x {ranks}{program}", "x {ranks} '{program}'", "x {{ranks}} {program}"),
    *("x {{{ranks}}} {program}", "x {ranks} {program}}", "x {ranks} {program} '", 'x {ranks} {program} "', "x {ranks} {program} \\"),
    *("x {ranks} {program} '$'", "x {ranks} {program} $", "x {ranks} {program} $A", 'x {ranks} {program} "${A}"', "x {ranks};{program}"),
    *("x '{ranks} ; |' {program}", 'x "{ranks} ; |" {program}', "x {ranks} {placement} {program}", "x {ranks} {{placement}} {program}"),
    *([], ["a"], ["a", 1], ["a\nb"], ["/a"], {}, {"A": "b"}, {"a b": "c"}, {"A": 1}, {"block": "b"}, {"block": 1}),
]  # fmt: skip


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def changed(content: dict) -> Iterator[dict]:
    """The content with another value in the place of one, or without one, of the top or of a section."""
    for key, value in content.items():
        yield {name: one for name, one in content.items() if name != key}
        yield from (content | {key: other} for other in VALUES)
        if isinstance(value, dict):
            yield from (content | {key: other} for other in changed(value))


def test_reader_and_schema_take_and_refuse_the_same_files(fourscore):
    folder = fourscore.folder / "machines"
    folder.mkdir()
    contents = [other for text in GOOD.values() for other in changed(tomllib.loads(text))]
    for number, content in enumerate(contents):
        lines = "".join(f"{key} = {toml(value)}\n" for key, value in content.items())
        (folder / f"m{number}.toml").write_text(lines)
    environment = {"FOURSCORE_MACHINES": str(folder), "PATH": "/proc/nowhere"}
    listed = {entry["name"]: entry for entry in fourscore.json("machine", "list", environment=environment)}
    known = ("'launcher' is '", "'scheduler' is '", "as many as there are cores", "and no more than these")
    taken, differing = 0, []
    for number, content in enumerate(contents):
        entry = listed[f"m{number}"]
        was_read = "launcher" in entry
        taken += was_read
        if was_read != SCHEMA.is_valid(content):
            if was_read or not any(word in entry["reason"] for word in known):
                differing.append((content, entry["reason"] or "taken"))
    assert not differing, f"{len(differing)} of {len(contents)}: {differing[:5]}"
    assert len(contents) > 5000 and 500 < taken < len(contents) - 500, (len(contents), taken)


def refused(fourscore, text: str, at: int, words: list[str]) -> None:
    file = fourscore.folder / "m.toml"
    file.write_text(text)
    for command in (["machine", "show", file], ["run", fourscore.points(), "--machine", file]):
        error = fourscore(*command, code=2).stderr
        assert f"{file}:{at}: " in error and not [word for word in words if word not in error], error
    assert not fourscore.archive.exists()


def test_show_fills_in_what_the_file_leaves_out(fourscore):
    assert shown(fourscore, LOCAL) == {
        "name": "m",
        "file": str(fourscore.folder / "m.toml"),
        "description": "",
        "scheduler": None,
        "launcher": "local",
        "nodes": {"count": 1, "cores": None, "sockets": None, "gpus": 0, "memory_gib": None, "interconnect": None},
        "launch": {"options": []},
        "files": {"archive": None, "shared": []},
    }
    machine = shown(fourscore, GOOD["all keys of a cluster"])
    assert machine["queue"]["time_limit"] == "02:00:00"
    assert machine["environment"]["set"] == {"A_1": "b c", "_x": ""}
    assert shown(fourscore, GOOD["time limit with days"])["queue"]["time_limit"] == "36:00:00"


def test_home_and_variables_in_paths_are_filled_in(fourscore):
    files = shown(fourscore, LOCAL + '[files]\narchive = "~/a"\nshared = ["~", "$HOME/b", "/x${HOME}y"]\n')["files"]
    home = fourscore.environment["HOME"]
    assert files == {"archive": f"{home}/a", "shared": [home, f"{home}/b", f"/x{home}y"]}


@pytest.mark.parametrize("case", GOOD)
def test_what_show_prints_is_a_machine_file_of_the_same_meaning(fourscore, case):
    machine = shown(fourscore, GOOD[case])
    text = fourscore("machine", "show", fourscore.folder / "m.toml").stdout
    SCHEMA.validate(tomllib.loads(text))
    assert shown(fourscore, text) == machine


def test_show_file_prints_the_file_itself(fourscore):
    printed = fourscore("machine", "show", "cpu-cluster", "--file").stdout
    assert printed == (MACHINES / "cpu-cluster.toml").read_text()


def test_a_name_is_found_in_ones_own_folder_before_those_that_came_with_fourscore(fourscore):
    mine = fourscore.folder / "mine"
    mine.mkdir()
    shutil.copy(MACHINES / "workstation.toml", mine / "desk.toml")
    (mine / "cpu-cluster.toml").write_text(LOCAL)
    fourscore.environment["FOURSCORE_MACHINES"] = str(mine)
    listed = {entry["name"]: entry for entry in fourscore.json("machine", "list")}
    assert {"desk", "cpu-cluster", "gpu-cluster", "workstation"} <= listed.keys()
    assert listed["cpu-cluster"]["file"] == str(mine / "cpu-cluster.toml")
    assert listed["workstation"]["file"] == str(MACHINES / "workstation.toml")
    assert fourscore.json("machine", "show", "desk")["name"] == "workstation"


def test_the_folder_of_the_home_counts_where_none_is_named(fourscore):
    folder = fourscore.folder / ".config/fourscore/machines"
    folder.mkdir(parents=True)
    (folder / "desk.toml").write_text(LOCAL)
    environment = {"HOME": str(fourscore.folder), "FOURSCORE_MACHINES": ""}
    assert fourscore("machine", "show", "desk", environment=environment).stdout.startswith(f"# {folder}/desk.toml\n")


def test_a_name_that_is_not_there_is_reported_with_the_nearest(fourscore):
    error = fourscore("machine", "show", "cpu-clutser", code=2).stderr
    assert "no machine 'cpu-clutser'" in error and "did you mean 'cpu-cluster'?" in error and "workstation" in error
    environment = {"FOURSCORE_MACHINES": str(fourscore.folder / "nowhere")}
    assert "FOURSCORE_MACHINES" in fourscore("machine", "list", environment=environment, code=2).stderr


def test_list_says_why_one_cannot_be_used_here(fourscore):
    (fourscore.folder / "bad.toml").write_text("nme = 'x'\n")
    (fourscore.folder / "line.toml").write_text(line("no-such-mpiexec -n {ranks} -f $NO_SUCH_NODEFILE {program}"))
    environment = {"FOURSCORE_MACHINES": str(fourscore.folder), "PATH": "/proc/nowhere", "PBS_JOBID": ""}
    text = fourscore("machine", "list", environment=environment).stdout
    entries = fourscore.json("machine", "list", environment=environment)
    listed = {entry["name"]: entry for entry in entries}
    assert "unknown key 'nme'" in listed["bad"]["reason"] and "unknown key 'nme'" in text
    assert "no sbatch" in listed["cpu-cluster"]["reason"] and "no qsub" in listed["pbs-pals"]["reason"]
    assert "NO_SUCH_NODEFILE" in listed["line"]["reason"] and not listed["line"]["available"]
    assert listed["workstation"]["available"] and listed["cpu-cluster"]["nodes"] == 64
    assert "(scheduler slurm, launcher srun, 64 nodes)" in text


def planned(fourscore, suite: str, *options: object) -> list[dict]:
    result = fourscore("run", fourscore.suite(suite), "--dry-run", "--json", *options)
    return [launch["point"] for launch in json.loads(result.stdout)["launches"]]


SIZES = 'name = "s"\nlaunches = 1\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\n'


def test_a_suite_is_expanded_for_the_machines_cores_and_nodes(fourscore):
    (fourscore.folder / "m.toml").write_text(SLURM)
    points = planned(
        fourscore, SIZES + 'ranks_per_node = "cores"\nnodes = "1..nodes"\n', "--machine", fourscore.folder / "m.toml"
    )
    assert sorted((point.get("nodes", 1), point["ranks"]) for point in points) == [(1, 8), (2, 16), (4, 32)]
    fourscore.environment["FOURSCORE_MACHINE"] = str(fourscore.folder / "m.toml")
    assert len(planned(fourscore, SIZES + 'ranks_per_node = "cores"\nnodes = "1..nodes"\n')) == 3


def test_the_machine_files_archive_is_the_default_of_every_command(fourscore):
    (fourscore.folder / "m.toml").write_text(LOCAL + f'[files]\narchive = "{fourscore.folder}/of-machine"\n')
    environment = {"FOURSCORE_ARCHIVE": "", "FOURSCORE_MACHINE": str(fourscore.folder / "m.toml")}
    fourscore("run", fourscore.points(points=1, launches=1), environment=environment)
    assert list((fourscore.folder / "of-machine/records").iterdir())
    assert "1 of 1 records" in fourscore("status", environment=environment).stdout
    asked = fourscore.folder / "asked"
    fourscore("run", fourscore.points(points=1, launches=1), "--archive", asked, environment=environment)
    assert list((asked / "records").iterdir())


def test_what_the_machine_file_says_of_the_interconnect_reaches_the_program_unless_the_environment_says_it(fourscore):
    (fourscore.folder / "m.toml").write_text(LOCAL + '[nodes]\ninterconnect = "two tins and a string"\n')
    seen = fourscore.folder / "seen"
    text = f'echo "$FOURSCORE_INTERCONNECT" >>"{seen}"\nexec "{fourscore.environment["FOURSCORE_BENCH"]}" "$@"'
    program = script(fourscore.folder / "bench", text)
    suite = fourscore.points(points=1, launches=1)
    for said in ("", "wireless"):
        seen.unlink(missing_ok=True)
        environment = {"FOURSCORE_BENCH": str(program)} | ({"FOURSCORE_INTERCONNECT": said} if said else {})
        fourscore("run", suite, "--machine", fourscore.folder / "m.toml", "--fresh", environment=environment)
        assert set(seen.read_text().splitlines()) == {said or "two tins and a string"}, "asked or launched"
