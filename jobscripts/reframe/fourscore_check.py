"""A suite of fourscore as a test of ReFrame (https://reframe-hpc.readthedocs.io).

    reframe -C SETTINGS.py -c jobscripts/reframe/fourscore_check.py -r --performance-report \\
        -S FourscoreSuite.suite=smoke

The test's job runs `fourscore run SUITE`. It passes when every launch gave a right result, and has one performance
variable for each point: the median of its launches in seconds, as `fourscore status --json` has it. A reference in a
class of your own that inherits from this one makes it a gate.

Variables, to set by -S: suite (a name or a file), fourscore (the program), machine (a machine file, or its name), nodes
and ranks_per_node (of the job), archive (default: in the test's stage folder), options (further ones of `fourscore
run`, as "--only,variant=slab").
"""

import json
import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_before, sanity_function, variable

SUMMARY = "fourscore.json"
BAD = ("wrong", "failed", "timeout", "unreadable")


def name_of(point):
    """'slab-alltoallv-64x64x64-4r-2n', of a component 'alltoall_bench-4r-2n'."""
    size = f"{point['ranks']}r-{point['nodes']}n"
    if "component" in point:
        return f"{point['component']}-{size}"
    return f"{point['variant']}-{point['exchange']}-{'x'.join(map(str, point['shape']))}-{size}"


def medians_s(summary):
    """Seconds by the name of what was measured; of points with one name all but the first have their id behind it."""
    found = {}

    def add(name, point_id, value):
        found[name if name not in found else f"{name}-{point_id}"] = value

    for point in summary["points"]:
        if "median_s" in point:
            add(name_of(point["point"]), point["point_id"], point["median_s"])
        for benchmark in point.get("benchmarks", []):
            if "median_s" in benchmark:
                add(f"{name_of(point['point'])}-{benchmark['name']}", point["point_id"], benchmark["median_s"])
    return found


def complaints(summary):
    """What of a campaign is not as it should be. A point that is skipped, with its reason, is."""
    said = [f"{count} launches {status}" for status, count in summary["counts"].items() if status in BAD]
    if summary["missing"]:
        said.append(f"{summary['missing']} launches are missing")
    for point in summary["points"]:
        if any(status in BAD for status in point["statuses"]):
            said.append(f"{name_of(point['point'])}: {point.get('reason', '')}")
    if not summary["counts"].get("ok"):
        said.append("nothing was measured")
    return said


@rfm.simple_test
class FourscoreSuite(rfm.RunOnlyRegressionTest):
    descr = "every launch of a suite of fourscore, and the median time of each point"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    suite = variable(str, value="smoke")
    fourscore = variable(str, value="fourscore")
    machine = variable(str, value="")
    nodes = variable(int, value=1)
    ranks_per_node = variable(int, value=1)
    archive = variable(str, value="archive")
    options = variable(typ.List[str], value=[])

    @run_before("run")
    def take_the_job_and_launch_in_it(self):
        """ReFrame asks for the nodes; fourscore starts its programs on them by a launcher of its own."""
        self.num_tasks = self.nodes * self.ranks_per_node
        self.num_tasks_per_node = self.ranks_per_node
        self.job.num_tasks = self.num_tasks
        self.job.num_tasks_per_node = self.num_tasks_per_node
        self.job.launcher = getlauncher("local")()
        self.executable = shlex.quote(self.fourscore)
        machine = ["--machine", self.machine] if self.machine else []
        words = ["run", self.suite, *machine, *self.options, "--archive", self.archive, "--quiet", "--json"]
        self.executable_opts = [*map(shlex.quote, words), ">", SUMMARY]

    def summary(self):
        file = Path(self.stagedir) / SUMMARY
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            return None

    @sanity_function
    def every_launch_is_right(self):
        summary = self.summary()
        if summary is None:
            end = "".join((Path(self.stagedir) / str(self.stderr)).read_text().splitlines(keepends=True)[-5:])
            return sn.assert_true(False, msg=f"fourscore told nothing: {end}")
        return sn.assert_false(complaints(summary), msg="; ".join(complaints(summary)))

    @run_before("performance")
    def one_variable_a_point(self):
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), "s")
            for name, value in medians_s(self.summary() or {"points": []}).items()
        }
