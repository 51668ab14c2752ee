"""How a launch is started and bound, what becomes of one that does not start, and measuring again what failed."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest
from fake_identity import COMPONENT_CODE, FAKE_COMPONENT, code_hash, machine_hash
from fourscore_command import script


def test_the_record_of_a_launch_that_failed_names_machine_and_code(fourscore):
    fourscore("run", fourscore.points('"aborts"', points=1, launches=1), code=1)
    (record,) = fourscore.records().values()
    asked = json.loads(subprocess.run([fourscore.environment["FOURSCORE_BENCH"], "--identity"], env=fourscore.environment,
                                      capture_output=True, check=True).stdout)  # fmt: skip
    identity = record["provenance"]["identity"]
    assert (identity["machine"], identity["code"]) == (asked["identity"]["machine"], asked["identity"]["code"])
    assert identity["launch"]["launcher"] == "local"


def failing_launcher(fourscore, launches: int) -> dict[str, str]:
    """An environment in which so many launches fail before the program runs."""
    folder = fourscore.folder / "failures"
    folder.mkdir(exist_ok=True)
    for number in range(launches):
        (folder / str(number)).touch()
    return {"FAKE_MPIRUN_FAILS": str(folder)}


def test_a_launch_that_the_launcher_does_not_start_is_not_archived_and_ends_with_3(fourscore):
    suite = fourscore.points(points=3, launches=2)
    result = fourscore("run", suite, environment=failing_launcher(fourscore, 1), code=3)
    assert "did not run" in result.stderr and "orte_init failed" in result.stderr and "status 213" in result.stderr
    assert "1 launches are missing" in result.stderr
    records = fourscore.records().values()
    assert [r["verdict"]["status"] for r in records] == ["ok"] * 5, "the others are measured all the same"
    fourscore("run", suite)
    assert len(fourscore.records()) == 6
    assert not list(fourscore.archive.glob("campaigns/*/staging/*"))


def test_nothing_is_launched_after_three_launches_in_a_row_that_do_not_start(fourscore):
    suite = fourscore.points(points=6, launches=1)
    environment = failing_launcher(fourscore, 6)
    fourscore("run", suite, environment=environment, code=3)
    assert len(os.listdir(environment["FAKE_MPIRUN_FAILS"])) == 3 and not fourscore.records()


def test_a_program_that_ends_before_mpi_runs_did_not_start(fourscore):
    error = fourscore("run", fourscore.points('"dies-early"', points=1, launches=1), code=3).stderr
    assert "cannot even start" in error and not fourscore.records()


def statuses(fourscore) -> list[str]:
    return sorted(r["verdict"]["status"] for r in fourscore.records().values())


def test_retry_measures_what_failed_again_and_keeps_the_old_record(fourscore):
    suite = fourscore.points('"good", "slow"', points=1, launches=2)
    fourscore("run", suite, environment={"FAKE_ABORTS": "slow"}, code=1)
    before = fourscore.records()
    assert statuses(fourscore) == ["failed", "failed", "ok", "ok"]
    fourscore("run", suite, code=1)
    assert fourscore.records() == before, "without --retry what failed is done"

    planned = fourscore.plan(suite, "--retry", "failed")
    assert sum(not launch["done"] for launch in planned["launches"]) == 2 and fourscore.records() == before
    result = fourscore.json("run", suite, "--retry", "failed")
    assert result["counts"] == {"ok": 4, "superseded": 2}
    records = fourscore.records()
    assert {file: records[file] for file in before} == before
    retries = [record["campaign"] for file, record in records.items() if file not in before]
    assert sorted((r["launch"], r["retry_of"]) for r in retries) == [(2, 0), (3, 1)]
    assert "all as they should be" in fourscore("verify").stdout
    assert "4 of 4 records, 4 ok, 2 superseded" in fourscore("status").stdout

    fourscore("run", suite, "--retry", "failed")
    assert fourscore.records() == records, "nothing is left to retry"


def test_a_retry_that_fails_again_is_what_the_next_one_stands_in_for(fourscore):
    suite = fourscore.points('"slow"', points=1, launches=1)
    aborts = {"FAKE_ABORTS": "slow"}
    fourscore("run", suite, environment=aborts, code=1)
    fourscore("run", suite, "--retry", "failed", environment=aborts, code=1)
    assert "1 of 1 records, 1 failed, 1 superseded" in fourscore("status").stdout
    fourscore("run", suite, "--retry", "failed,timeout")
    stamps = [record["campaign"] for record in fourscore.records().values()]
    assert [(s["launch"], s.get("retry_of")) for s in stamps] == [(0, None), (1, 0), (2, 1)]


def test_retry_of_timeouts_leaves_what_failed(fourscore):
    suite = fourscore.points('"slow"', points=1, launches=1)
    fourscore("run", suite, environment={"FAKE_ABORTS": "slow"}, code=1)
    fourscore("run", suite, "--retry", "timeout", code=1)
    assert statuses(fourscore) == ["failed"]
    assert "failed" in fourscore("run", suite, "--retry", "skipped", code=2).stderr


def test_a_retry_passes_over_points_that_have_no_record(fourscore):
    suite = fourscore.points('"slow"', points=3, launches=1)
    fourscore("run", suite, environment={"FAKE_ABORTS": "slow"}, code=1)
    for file, text in [(pathlib.Path(file), json.dumps(record)) for file, record in fourscore.records().items()]:
        file.unlink()
        planned = fourscore.plan(suite, "--retry", "failed")
        assert sum(launch["launch"] == 1 for launch in planned["launches"]) == 2, planned
        file.write_text(text)


def launch_options(fourscore, ranks, threads, cores: int, says: str | None = None) -> list[str]:
    """What mpirun was started with, point by point, on so many cores (of those that this process may use)."""
    log = fourscore.folder / "mpirun.log"
    log.unlink(missing_ok=True)
    suite = fourscore.suite(
        'name="b"\nlaunches=1\norder="listed"\n[[sweep]]\nvariant="good"\nshape="4x4x4"\n'
        f"ranks={ranks}\nthreads={threads}\n"
    )
    own = sorted(os.sched_getaffinity(0))
    if len(own) < cores:
        pytest.skip(f"{cores} cores are needed, {len(own)} may be used")
    environment = {"FAKE_MPIRUN_LOG": str(log)} | ({"FAKE_MPIRUN_SAYS": says} if says else {})
    fourscore("run", suite, "--fresh", environment=environment, preexec_fn=lambda: os.sched_setaffinity(0, own[:cores]))
    return [line.replace("--allow-run-as-root ", "") for line in log.read_text().splitlines()]


def test_ranks_of_open_mpi_are_bound_to_cores_where_they_fit_and_free_where_not(fourscore):
    assert launch_options(fourscore, [1, 2], [1, 2], cores=2) == [
        "--bind-to core --map-by core -n 1 OMP_NUM_THREADS=1",
        "--bind-to core --map-by slot:PE=2 -n 1 OMP_NUM_THREADS=2",
        "--bind-to core --map-by core -n 2 OMP_NUM_THREADS=1",
        "--oversubscribe --bind-to none -n 2 OMP_NUM_THREADS=2",
    ]
    assert launch_options(fourscore, 2, 1, cores=1) == ["--oversubscribe --bind-to none -n 2 OMP_NUM_THREADS=1"]


def test_ranks_of_mpich_are_bound_to_cores_where_they_fit_and_free_where_not(fourscore):
    assert launch_options(fourscore, [1, 2], [1, 2], cores=2, says="HYDRA build details") == [
        "-bind-to core -n 1 OMP_NUM_THREADS=1",
        "-bind-to core:2 -n 1 OMP_NUM_THREADS=2",
        "-bind-to core -n 2 OMP_NUM_THREADS=1",
        "-bind-to none -n 2 OMP_NUM_THREADS=2",
    ]


def campaigns(fourscore) -> dict[str, dict]:
    return {f.parent.name: json.loads(f.read_text()) for f in fourscore.archive.glob("campaigns/*/campaign.json")}


def test_another_machine_begins_a_new_campaign_and_the_first_one_goes_on_with_its_own(fourscore):
    suite = fourscore.points(points=2, launches=1)
    fourscore("run", suite, "--max-launches", 1)
    other = {"FAKE_MACHINE": "n" * 16}
    fourscore("run", suite, environment=other)
    mine, others = machine_hash(), machine_hash("n" * 16)
    assert {c["machine_hash"] for c in campaigns(fourscore).values()} == {mine, others}
    by_machine = {c["machine_hash"]: name for name, c in campaigns(fourscore).items()}
    count = lambda name: len(list((fourscore.archive / "records" / name).iterdir()))  # noqa: E731
    assert count(by_machine[mine]) == 1 and count(by_machine[others]) == 2
    fourscore("run", suite)
    assert count(by_machine[mine]) == 2 and count(by_machine[others]) == 2 and len(campaigns(fourscore)) == 2


def test_a_named_campaign_is_not_continued_on_another_machine(fourscore):
    suite = fourscore.points(points=2, launches=1)
    fourscore("run", suite, "--campaign", "mine", "--max-launches", 1)
    error = fourscore("run", suite, "--campaign", "mine", environment={"FAKE_MACHINE": "n" * 16}, code=2).stderr
    assert "machine" in error and machine_hash() in error and machine_hash("n" * 16) in error
    assert len(fourscore.records()) == 1


def test_a_campaign_keeps_the_identity_that_each_of_its_programs_gave(fourscore):
    suite = fourscore.suite(
        'name="s"\nlaunches=1\n[[sweep]]\nvariant="good"\nshape="4"\nranks=1\n'
        '[[component]]\nprogram="alltoall_bench"\nranks=1\n'
    )
    fourscore("run", suite)
    (campaign,) = campaigns(fourscore).values()
    assert {name: (i["machine_hash"], i["code_hash"]) for name, i in campaign["identities"].items()} == {
        "fft_bench": (machine_hash(), code_hash()),
        "alltoall_bench": (machine_hash(), code_hash(COMPONENT_CODE, FAKE_COMPONENT)),
    }
    assert campaign["machine_hash"] == machine_hash()


def test_a_link_in_place_of_the_staging_folder_is_not_followed(fourscore):
    suite = fourscore.points(points=1, launches=1)
    fourscore("run", suite, "--campaign", "c")
    precious = fourscore.folder / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years")
    staging = fourscore.archive / "campaigns/c/staging"
    staging.rmdir()
    staging.symlink_to(precious)
    error = fourscore("run", suite, "--campaign", "c", code=3).stderr
    assert str(staging) in error and "link" in error
    assert (precious / "thesis.tex").read_text() == "years"


@pytest.mark.parametrize(
    ("end", "words"),
    [("exit 7", "ended with status 7"), ("exit 1", "ended with status 1"), ("kill -9 $$", "ended with signal 9")],
)
def test_a_launch_that_ends_badly_after_its_record_is_reported_with_its_last_words(fourscore, end, words):
    fake, words_of_mpi = fourscore.environment["FOURSCORE_BENCH"], "MPI_Finalize: no such luck\\n-----\\n"
    after = f'case "$*" in *--record*) printf "{words_of_mpi}" >&2; {end} ;; esac'
    bench = script(fourscore.folder / "bench", f'"{fake}" "$@" || exit\n{after}')
    said = fourscore("run", fourscore.points(points=1, launches=1), environment={"FOURSCORE_BENCH": str(bench)}).stderr
    assert f"the record is complete, but the launch then {words}: MPI_Finalize: no such luck" in said
    assert [record["verdict"]["status"] for record in fourscore.records().values()] == ["ok"]


@pytest.mark.parametrize(("variant", "words"), [("aborts", "signal 6 (Aborted): aborting on purpose")])
def test_the_reason_of_a_failure_has_the_last_line_of_what_did_not_speak_itself(fourscore, variant, words):
    fourscore("run", fourscore.points(f'"{variant}"', points=1, launches=1), code=1)
    (record,) = fourscore.records().values()
    assert words in record["verdict"]["reason"]
