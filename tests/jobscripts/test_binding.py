"""What `fourscore run` makes of ranks and threads: cores to each rank, OMP_NUM_THREADS, and flags where it cannot."""

import json
import os
import pathlib

import pytest
from fourscore_command import BIN, REAL

MPIEXEC = {"FOURSCORE_MPIEXEC": REAL["FOURSCORE_MPIEXEC"]}
TOPOLOGIES = pathlib.Path(__file__).parents[1] / "core/data/topologies"
HEAD = 'name = "b"\nlaunches = 1\nrepetitions = 2\nmin_time_s = 0.001\n'
OPEN_MPI, HYDRA = "mpirun (Open MPI) 4.1.4", "HYDRA build details:"


def siblings(unit: int) -> str:
    file = pathlib.Path(f"/sys/devices/system/cpu/cpu{unit}/topology/thread_siblings_list")
    return file.read_text().strip() if file.exists() else str(unit)


def cores_of(units: list[int]) -> set[str]:
    return {siblings(unit) for unit in units}


def numbers(ranges: str) -> list[int]:
    """The numbers in "0-3,8", as results/README.md has it."""
    bounds = [[int(end) for end in part.split("-")] for part in ranges.split(",")]
    return [number for ends in bounds for number in range(ends[0], ends[-1] + 1)]


CORES = len(cores_of(sorted(os.sched_getaffinity(0))))
needs_two = pytest.mark.skipif(CORES < 2, reason="one core: nothing can be bound apart")


def sweep(ranks: int, threads: int) -> str:
    return HEAD + f'[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks = {ranks}\nthreads = {threads}\n'


def component(ranks: int, threads: int) -> str:
    table = f'[[component]]\nprogram = "alltoall_bench"\nranks = {ranks}\n'
    return HEAD + table + (f"parameters = {{ threads = {threads} }}\n" if threads > 1 else "")


def kind_of(version: str, binding: str) -> str:
    """How Open MPI and MPICH are asked for `binding`: none, core, or so many cores a rank."""
    if version == HYDRA:
        return f"-bind-to {'core:' + binding if binding.isdigit() else binding}"
    if binding == "none":
        return "--oversubscribe --bind-to none"
    return f"--bind-to core --map-by {'slot:PE=' + binding if binding.isdigit() else 'core'}"


@pytest.mark.parametrize("suite_of", [sweep, component])
@pytest.mark.parametrize("version", [OPEN_MPI, HYDRA])
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 2), (2, 1), (2, 4096)])
def test_the_launcher_is_asked_for_as_many_cores_as_a_rank_has_threads(fourscore, suite_of, version, ranks, threads):
    log = fourscore.folder / "mpirun"
    fourscore("run", fourscore.suite(suite_of(ranks, threads)), "--quiet",
              environment={"FAKE_MPIRUN_SAYS": version, "FAKE_MPIRUN_LOG": str(log)})  # fmt: skip
    binding = "none" if ranks * threads > CORES else "core" if threads == 1 else str(threads)
    words = log.read_text().replace("--allow-run-as-root ", "").strip()
    assert words == f"{kind_of(version, binding)} -n {ranks} OMP_NUM_THREADS={threads}"


@pytest.mark.parametrize(
    ("version", "asked"),
    [(OPEN_MPI, "--bind-to hwthread --map-by hwthread --use-hwthread-cpus"), (HYDRA, "-bind-to hwthread")],
)
def test_ranks_are_bound_to_units_where_hwloc_knows_no_cores(fourscore, version, asked):
    """Some virtual machines are so; mpirun ends when it is asked for cores."""
    log = fourscore.folder / "mpirun"
    machine = {"HWLOC_XMLFILE": str(TOPOLOGIES / "no-cores.xml"), "HWLOC_THISSYSTEM": "1"}
    said = {"FAKE_MPIRUN_SAYS": version, "FAKE_MPIRUN_LOG": str(log)}
    fourscore("run", fourscore.suite(sweep(1, 1)), "--quiet", environment=machine | said)
    assert f"{asked} -n 1" in log.read_text()
    fourscore("run", fourscore.suite(sweep(1, 1).replace("4x4x4", "4x4x5")), "--quiet", environment=machine | MPIEXEC)


@pytest.mark.parametrize("suite_of", [sweep, component])
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_ranks_get_cores_of_their_own_from_the_real_launcher(fourscore, suite_of, ranks, threads):
    log = fourscore.folder / "bound"
    fourscore("run", fourscore.suite(suite_of(ranks, threads)), "--quiet", environment=MPIEXEC | {"FAKE_BOUND": str(log)})
    bound = sorted((json.loads(line) for line in log.read_text().splitlines()), key=lambda mine: mine["rank"])
    assert [mine["rank"] for mine in bound] == list(range(ranks))
    assert {mine["omp"] for mine in bound} == {str(threads)}
    cores = [cores_of(mine["units"]) for mine in bound]
    if ranks * threads > CORES:
        assert all(len(mine) == CORES for mine in cores), "what does not fit is not bound"
        return
    assert all(len(mine) == threads for mine in cores), bound
    assert len(set.union(*cores)) == ranks * threads, "no core has two ranks"


def test_a_suites_limit_of_oversubscription_counts_the_threads_of_components(fourscore):
    suite = fourscore.suite("max_oversubscription = 1.0\n" + component(CORES, 1) + component(CORES, 2).removeprefix(HEAD))
    planned = fourscore.plan(suite)
    assert [launch["point"].get("parameters", {}) for launch in planned["launches"]] == [{}]


def real_records(fourscore, threads: int, ranks: int) -> list[dict]:
    text = HEAD + (
        f'[[component]]\nprogram = "local_fft_bench"\nranks = {ranks}\n'
        f'parameters = {{ threads = {threads}, lengths = "64", points = 4096, layouts = "contiguous", planner = "estimate" }}\n'
        f'[[sweep]]\nvariant = "slab"\nshape = "16x16x16"\nranks = {ranks}\nthreads = {threads}\nplanner = "estimate"\n'
    )
    fourscore("run", fourscore.suite(text), "--quiet", environment=REAL)
    records = list(fourscore.records().values())
    assert len(records) == 2 and all(record["verdict"]["status"] == "ok" for record in records), records
    return records


@needs_two
@pytest.mark.skipif(not (BIN / "local_fft_bench").exists(), reason="Google Benchmark is not here")
@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (1, 2)])
def test_records_say_what_the_ranks_were_bound_to_and_nothing_is_flagged(fourscore, ranks, threads):
    for record in real_records(fourscore, threads, ranks):
        launch = record["provenance"]["identity"]["launch"]
        assert launch["threads"] == threads
        assert record["provenance"]["volatile"]["environment"]["OMP_NUM_THREADS"] == str(threads)
        cores = [cores_of(numbers(units)) for units in launch["core_maps"][0]["cores"]]
        assert [len(mine) for mine in cores] == [threads] * ranks
        assert len(set.union(*cores)) == ranks * threads
        assert not {"oversubscribed", "unbound"} & set(record["flags"])


@needs_two
@pytest.mark.skipif(not (BIN / "local_fft_bench").exists(), reason="Google Benchmark is not here")
def test_more_threads_than_cores_are_flagged_of_components_as_of_transforms(fourscore):
    for record in real_records(fourscore, CORES, 2):
        assert record["provenance"]["identity"]["launch"]["threads"] == CORES
        assert "oversubscribed" in record["flags"]
