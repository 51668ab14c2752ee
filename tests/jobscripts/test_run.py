"""`fourscore run`: launches what is missing, once, and says what happened."""

import json
import os
import signal

import pytest
from fake_identity import machine_hash
from fourscore_command import option
from processes import alive, wait_for


def test_figures_of_merit_are_lines_of_four_words(fourscore):
    said = fourscore("run", fourscore.points('"good", "picky"', points=1), "--fom", "--quiet").stdout
    rows = [line.split(" ") for line in said.splitlines()]
    assert all(len(row) == 4 and row[0] == "fom" for row in rows), said
    (series,) = {row[1] for row in rows if row[1].startswith("good/")}
    found = {key: value for _, name, key, value in rows if name == series}
    assert found["status"] == "ok" and found["verified"] == "yes" and found["launches"] == "2"
    assert float(found["time_s"]) > 0 and float(found["gflops"]) > 0 and found["flags"] == "none"


def test_every_launch_of_every_point_is_archived_once(fourscore):
    suite = fourscore.points(points=3, launches=2)
    result = fourscore.json("run", suite)
    assert result["counts"] == {"ok": 6} and result["missing"] == 0
    assert len(fourscore.records()) == len(set(fourscore.finished())) == len(fourscore.finished()) == 6
    assert "all as they should be" in fourscore("verify").stdout


def test_launches_of_a_point_are_never_back_to_back(fourscore):
    fourscore("run", fourscore.points(points=3, launches=5), "--quiet")
    points = [record.split("/")[-1].split("-")[0] for record in fourscore.finished()]
    assert len(points) == 15
    assert all(a != b for a, b in zip(points, points[1:]))


def test_the_order_is_that_of_the_recorded_seed(fourscore):
    suite = fourscore.points(points=6, launches=2)
    planned = fourscore.plan(suite)
    fourscore("run", suite, "--quiet")
    expected = [f"{launch['point_id']}-{launch['launch']:03}" for launch in planned["launches"]]
    assert [record.split("/")[-1].removesuffix(".json") for record in fourscore.finished()] == expected
    by_order = sorted(fourscore.records().values(), key=lambda record: record["campaign"]["order"])
    assert [f"{r['point_id']}-{r['campaign']['launch']:03}" for r in by_order] == expected
    assert {r["campaign"]["seed"] for r in by_order} == {7}


def test_a_second_run_has_nothing_to_do(fourscore):
    suite = fourscore.points()
    fourscore("run", suite, "--quiet")
    before = fourscore.finished()
    fourscore("run", suite, "--quiet")
    assert fourscore.finished() == before


def test_run_goes_on_where_max_launches_ended(fourscore):
    suite = fourscore.points(points=4, launches=1)
    first = fourscore("run", suite, "--max-launches", 3)
    assert "1 launches are missing" in first.stderr
    fourscore("run", suite)
    assert len(fourscore.finished()) == 4


def test_dry_run_writes_nothing_and_needs_no_mpirun(fourscore):
    out = fourscore("run", fourscore.points(), "--dry-run", "--mpirun", "/proc/nowhere/mpirun").stdout
    assert out.count("launch 0") == 3 and "Nothing was written" in out
    assert not fourscore.archive.exists()


def test_fresh_begins_beside_and_is_then_the_one_that_goes_on(fourscore):
    suite = fourscore.points(points=1, launches=1)
    for expected, options in [(1, []), (2, ["--fresh"]), (2, [])]:
        fourscore("run", suite, *options)
        assert len(fourscore.records()) == expected
    names = sorted(folder.name for folder in (fourscore.archive / "campaigns").iterdir())
    assert names[1] == names[0] + "-2"


def test_a_rebuilt_program_begins_a_new_campaign(fourscore):
    suite = fourscore.points(points=1, launches=1)
    fourscore("run", suite)
    fourscore("run", suite, environment={"FAKE_CODE": "d" * 16})
    assert len(list((fourscore.archive / "campaigns").iterdir())) == 2


def test_a_named_campaign_is_not_continued_with_another_program(fourscore):
    suite = fourscore.points(points=1, launches=1)
    fourscore("run", suite, "--campaign", "mine")
    error = fourscore("run", suite, "--campaign", "mine", environment={"FAKE_CODE": "d" * 16}, code=2).stderr
    assert "mine" in error and "program" in error and "--campaign" in error
    assert len(fourscore.records()) == 1


@pytest.mark.parametrize("name", ["../up", "a b", "-x", ".hidden", "a;b"])
def test_a_campaign_name_is_no_path_and_no_option(fourscore, name):
    assert "campaign name" in fourscore("run", fourscore.points(), f"--campaign={name}", code=2).stderr
    assert not fourscore.archive.exists()


def test_an_unsupported_point_is_recorded_as_skipped_without_a_launch(fourscore):
    suite = fourscore.suite('name="s"\nlaunches=2\n[[sweep]]\nvariant="picky"\nshape="4x4x4"\nranks=[1,2]\n')
    result = fourscore.json("run", suite)
    assert result["counts"] == {"ok": 2, "skipped": 1}
    (skipped,) = [r for r in fourscore.records().values() if r["verdict"]["status"] == "skipped"]
    assert skipped["verdict"]["reason"] == "takes one rank" and skipped["point"]["ranks"] == 2
    assert len(fourscore.finished()) == 2
    fourscore("run", suite)
    assert len(fourscore.records()) == 3


def test_a_point_that_fft_bench_refuses_ends_with_2_before_anything_is_written(fourscore):
    error = fourscore("run", fourscore.points('"good", "godo"'), code=2).stderr
    assert "unknown variant 'godo'" in error and "s.toml" in error
    assert not fourscore.archive.exists() and not fourscore.log.exists()


@pytest.mark.parametrize(
    ("variant", "status", "tail"),
    [("aborts", "failed", "aborting on purpose"), ("refuses", "failed", "refused on purpose"), ("forgets", "failed", "")],
)
def test_a_launch_without_a_record_is_archived_with_the_end_of_its_stderr(fourscore, variant, status, tail):
    out = fourscore("run", fourscore.points(f'"{variant}", "good"', points=1, launches=2), code=1).stdout
    bad = [r for r in fourscore.records().values() if r["verdict"]["status"] != "ok"]
    assert [r["verdict"]["status"] for r in bad] == [status] * 2
    assert all(tail in r["verdict"]["stderr_tail"] and r["verdict"]["reason"] for r in bad)
    assert all("samples" not in r and r["provenance"]["code_hash"] for r in bad)
    assert "2 failed, 2 ok" in out
    fourscore("verify")


def test_the_signal_that_ended_a_launch_is_recorded(fourscore):
    fourscore("run", fourscore.points('"aborts"', points=1, launches=1), code=1)
    (record,) = fourscore.records().values()
    assert record["verdict"]["signal"] == signal.SIGABRT


def pids_of(fourscore) -> list[int]:
    return [int(line) for line in fourscore.pids.read_text().split()] if fourscore.pids.exists() else []


def test_a_hanging_launch_is_ended_with_all_its_processes_and_archived_as_timeout(fourscore):
    # It would hang for 1000 s; the call gives up earlier.
    fourscore("run", fourscore.points('"hangs"', points=1, launches=1, more="time_limit_s = 5"), code=1)
    (record,) = fourscore.records().values()
    assert record["verdict"]["status"] == "timeout" and "5 s" in record["verdict"]["reason"]
    assert "hanging on purpose" in record["verdict"]["stderr_tail"]
    pids = pids_of(fourscore)
    assert len(pids) == 2 and not any(map(alive, pids))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_launch_is_ended_and_not_archived(fourscore, number):
    suite = fourscore.points('"hangs"', points=1, launches=1)
    process = fourscore.start("run", suite)
    assert wait_for(lambda: len(pids_of(fourscore)) == 2)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "the same command goes on" in err
    assert not fourscore.records() and not any(map(alive, pids_of(fourscore)))


def test_kill_9_of_the_command_ends_its_launch(fourscore):
    process = fourscore.start("run", fourscore.points('"hangs"', points=1, launches=1))
    assert wait_for(lambda: len(pids_of(fourscore)) == 2)
    process.kill()
    process.communicate()
    assert wait_for(lambda: not any(map(alive, pids_of(fourscore))))


def test_two_runs_of_one_campaign_at_once_are_refused(fourscore):
    suite = fourscore.points('"slow"', points=5, launches=1)
    slow = {"FAKE_SLOW_S": "1.5"}
    first = fourscore.start("run", suite, environment=slow)
    assert wait_for(lambda: fourscore.finished())
    error = fourscore("run", suite, environment=slow, code=2).stderr
    assert f"process {first.pid}" in error
    first.communicate(timeout=120)
    assert first.returncode == 0 and len(fourscore.finished()) == 5


def test_kills_at_random_moments_lose_nothing_and_repeat_nothing(fourscore):
    import random

    random.seed(4)
    suite = fourscore.points('"slow", "good"', points=8, launches=2)
    environment = {"FAKE_SLOW_S": "0.02"}
    archived: dict[str, dict] = {}
    kills = 0
    for number in range(200):
        process = fourscore.start("run", suite, "--quiet", environment=environment)
        try:
            process.communicate(timeout=random.uniform(0.05, 0.9 + 0.05 * number))  # longer on a slow machine
        except Exception:
            process.kill()
            process.communicate()
            kills += 1
        records = fourscore.records()
        for file, record in archived.items():
            assert records[file] == record, "an archived record changed or went"
        archived = records
        if process.returncode == 0:
            break
    assert process.returncode == 0 and kills >= 2
    assert len(archived) == 32
    finished = fourscore.finished()
    # A kill may fall between a launch's record and its line in the log; no launch has two lines.
    assert len(finished) == len(set(finished)) and set(finished) <= set(archived)
    assert len(finished) >= len(archived) - kills
    assert "all as they should be" in fourscore("verify").stdout
    left = [f.name for f in fourscore.archive.rglob("*") if f.name.endswith(".tmp")]
    assert left == [] and not list(fourscore.archive.glob("campaigns/*/staging/*"))
    incremental = fourscore.index()
    fourscore("reindex")
    assert fourscore.index() == incremental


def test_suite_values_reach_no_shell(fourscore):
    evil = "$(touch made); touch made2 `touch made3` ' \" & | > made4 *"
    suite = fourscore.suite(
        'name="s"\nlaunches=1\n[[sweep]]\nvariant="good"\nshape="4x4x4"\nranks=1\n'
        f"parameters = {{ evil = [{json.dumps(evil)}] }}\n"
    )
    fourscore("run", suite)
    (line,) = fourscore.log.read_text().splitlines()
    assert f"evil={evil}" in json.loads(line)["argv"]
    (record,) = fourscore.records().values()
    assert record["point"]["parameters"] == {"evil": evil}
    assert not list(fourscore.folder.glob("made*"))
    error = fourscore("run", fourscore.points(json.dumps("$(touch made)")), code=2).stderr
    assert "$(touch made)" in error and not list(fourscore.folder.glob("made*"))


def test_mpirun_missing_ends_with_3_and_says_what_to_install(fourscore):
    error = fourscore("run", fourscore.points(), "--mpirun", "/proc/nowhere/mpirun", code=3).stderr
    assert "/proc/nowhere/mpirun" in error and "apt install" in error
    assert not fourscore.archive.exists()


def test_fft_bench_missing_ends_with_3(fourscore):
    error = fourscore("run", fourscore.points(), "--bench", "/proc/nowhere/fft_bench", code=3).stderr
    assert "/proc/nowhere/fft_bench" in error and not fourscore.archive.exists()


def test_an_index_that_cannot_be_written_costs_no_record(fourscore):
    fourscore.archive.mkdir()
    (fourscore.archive / "index.sqlite").write_text("this is no database, and long enough to be seen as none" * 100)
    result = fourscore("run", fourscore.points())
    assert "warning" in result.stderr and "reindex" in result.stderr
    assert len(fourscore.records()) == 6
    fourscore("reindex")
    assert len(fourscore.index()) == 6


def test_progress_is_plain_lines_when_not_on_a_terminal(fourscore):
    err = fourscore("run", fourscore.points(points=2, launches=1)).stderr
    assert err.startswith("[1/2] ok") and "[2/2] ok" in err and "\r" not in err


def test_progress_is_a_bar_on_a_terminal(fourscore):
    import pty

    controller, terminal = pty.openpty()
    process = fourscore.start("run", fourscore.points(points=2, launches=1), stderr=terminal)
    process.communicate(timeout=120)
    os.close(terminal)
    shown = os.read(controller, 65536).decode()
    assert process.returncode == 0 and "\r\x1b[K[..........]"[:6] in shown and "0/2" in shown


def test_unlike_contracts_are_never_ranked_together(fourscore):
    suite = fourscore.suite(
        'name="s"\nlaunches=1\n[[sweep]]\nvariant=["good","slow"]\nshape="4x4x4"\nranks=1\nlayout=["natural","transposed"]\n'
    )
    result = fourscore.json("run", suite)
    groups = {}
    for point in result["points"]:
        groups.setdefault(point["group"], []).append(point)
    assert len(groups) == 2
    for points in groups.values():
        assert len({p["point"]["contract"]["layout"] for p in points}) == 1
        assert sum(p["best"] for p in points) == 1


def test_the_suites_counters_reach_fft_bench_and_the_command_line_overrules_them(fourscore):
    suite = fourscore.points(points=1, launches=1, more='counters = "perf"\ncounter_group = "SOFTWARE"')
    listed = fourscore.json("list", "counters")
    available = {entry["name"]: entry["available"] for entry in listed}
    assert available["none"] is True and {"callgrind", "perf"} <= set(available)
    assert all(entry["available"] or entry["reason"] for entry in listed)
    if available["perf"]:
        fourscore("run", suite)
        argv = fourscore.finished("argv")[-1]
        assert (option(argv, "--counters"), option(argv, "--counter-group")) == ("perf", "SOFTWARE")
        assert "--counter-cache" not in argv and "--qualification" not in argv
    if available["callgrind"]:
        fourscore("run", suite, "--counters", "callgrind", "--counter-cache", "1MiB")
        argv = fourscore.finished("argv")[-1]
        assert (option(argv, "--counters"), option(argv, "--counter-cache")) == ("callgrind", "1MiB")
        assert "--counter-group" not in argv, "a group belongs to the counters it was chosen with"
    fourscore("run", suite, "--counters", "none")
    assert "--counters" not in fourscore.finished("argv")[-1]
    # Each choice is a campaign of its own.
    assert len(list((fourscore.archive / "campaigns").iterdir())) == 1 + available["perf"] + available["callgrind"]


def test_a_qualification_in_the_archive_reaches_fft_bench(fourscore):
    file = fourscore.archive / "qualifications" / (machine_hash() + "-callgrind-MEM.json")
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    fourscore.skip_unless_counted("callgrind")
    fourscore("run", fourscore.points(points=1, launches=1, more='counters = "callgrind"'))
    assert option(fourscore.finished("argv")[-1], "--qualification") == str(file)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--counters", "calgrind"], ["'calgrind' is unknown", "callgrind"]),
        (["--counter-cache", "1MiB"], ["want counters"]),
        (["--counters", "perf", "--counter-cache", "1MiB"], ["simulate no cache"]),
        (["--counters", "callgrind", "--counter-cache", "1MiB,7"], ["1MiB,7", "expected SIZE"]),
        (["--counters", "callgrind", "--counter-group", "MEN"], ["MEN"]),
    ],
)
def test_counters_that_cannot_be_are_refused_before_anything_is_launched(fourscore, options, words):
    fourscore.skip_unless_counted(*{"callgrind"}.intersection(options))
    err = fourscore("run", fourscore.points(points=1, launches=1), *options, code=2).stderr
    assert all(word in err for word in words), err
    assert not fourscore.log.exists()


def test_counters_that_this_machine_lacks_end_with_3_and_the_reason(fourscore):
    suite = fourscore.points(points=1, launches=1, more='counters = "callgrind"')
    err = fourscore("run", suite, code=3, environment={"FAKE_NO_COUNTERS": "no valgrind in PATH"}).stderr
    assert "counters 'callgrind' are not available here: no valgrind in PATH" in err
    assert not fourscore.log.exists()
