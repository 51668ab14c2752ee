"""Files that others may have put there: regular ones of bounded size are read, and nothing is waited for. Files that are
written take no record's place."""

import json
import os
import pathlib
import resource
import subprocess

import pytest
from fourscore_command import BIN, first_record


@pytest.fixture
def places(tmp_path) -> dict[str, pathlib.Path]:
    """What stands under a name, and is no file to read."""
    (folder := tmp_path / "places").mkdir()
    os.mkfifo(folder / "pipe.toml")
    (folder / "endless.toml").symlink_to("/dev/zero")
    with (folder / "sparse.toml").open("wb") as file:
        file.truncate(1 << 40)
    return {name: folder / f"{name}.toml" for name in ("pipe", "endless", "sparse")}


def named(fourscore, place: pathlib.Path) -> dict[str, list[object]]:
    """Commands that are given `place` by its name."""
    bench, point = [str(BIN / "fft_bench")], ["--variant", "serial", "--shape", "4", "--planner", "estimate"]
    folder = place.parent
    return {
        "run SUITE": fourscore.command("run", place, "--dry-run"),
        "run --machine": fourscore.command("run", fourscore.points(), "--dry-run", "--machine", place),
        "history --acknowledged": fourscore.command("history", "--acknowledged", place),
        "import": fourscore.command("import", place),
        "counters show": fourscore.command("counters", "list", "--counter-groups", folder),
        "fft_bench --campaign-json": [*bench, *point, "--campaign-json", place],
        "fft_bench --wisdom": [*bench, *point, "--wisdom", place],
        "fft_bench --qualification": [*bench, *point, "--counters", "perf", "--qualification", place],
    }


@pytest.mark.parametrize("kind", ["pipe", "endless", "sparse"])
def test_what_is_no_regular_file_of_bounded_size_is_refused_and_never_waited_for(measured, places, kind):
    (any_machine := places[kind].parent / "any").mkdir()
    (any_machine / "group.toml").symlink_to(places[kind])
    for what, command in named(measured, places[kind]).items():
        done = subprocess.run(list(map(str, command)), env=measured.environment, capture_output=True, text=True, timeout=60, cwd=measured.folder)
        assert done.returncode in (2, 3) or what == "counters show", (what, done)
        assert what == "counters show" or len(done.stderr) > 20, (what, done)


@pytest.mark.parametrize("kind", ["pipe", "endless", "sparse"])
def test_one_such_file_among_suites_machines_and_job_files_hangs_no_command(measured, places, kind):
    suites, machines = measured.folder / "suites", measured.folder / "machines"
    for folder in (suites, machines):
        folder.mkdir()
        (folder / "spoilt.toml").symlink_to(places[kind])
    (suites / "sound.toml").write_text('name="sound"\n[[sweep]]\nvariant="good"\nshape="4"\nranks=1\n')
    around = {"FOURSCORE_SUITES": str(suites), "FOURSCORE_MACHINES": str(machines)}
    for name in ("job.json", "end.json", "journal.jsonl", "id"):
        job = job_folder(measured)
        (job / name).unlink(missing_ok=True)
        (job / name).symlink_to(places[kind])
        for arguments in (["status", "c"], ["list", "suites"], ["machine", "list"]):
            done = run_to_its_end(measured, *arguments, environment=around)
            assert done.returncode in (0, 2, 3), (name, arguments, done)


def run_to_its_end(fourscore, *arguments, environment=None):
    process = fourscore.start(*arguments, environment=environment or {})
    out, error = process.communicate(timeout=60)
    return subprocess.CompletedProcess(arguments, process.returncode, out, error)


def job_folder(fourscore, **files: str) -> pathlib.Path:
    """A job of campaign c, as `submit` leaves it; `files` by name without suffix."""
    folder = fourscore.archive / "campaigns/c/jobs/0001-1-node"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    point_id = json.loads(first_record(fourscore).read_text())["point_id"]
    job = {"schema": "fourscore.job", "schema_version": 1, "scheduler": "slurm", "nodes": 1, "ranks_per_node": 1, "threads": 1}
    job |= {"time_limit_s": 60, "expected_s": 6, "launches": [[point_id, 0]]}
    content = {
        "job": json.dumps(job),
        "end": json.dumps({"phase": "ended", "end": "completed", "state": "COMPLETED", "reason": "", "nodes": "n1"}),
        "journal": json.dumps({"event": "begin", "job": "7", "time_s": 1.0}) + "\n",
        "id": "7\n",
    }
    names = {"job": "job.json", "end": "end.json", "journal": "journal.jsonl", "id": "id"}
    for key, text in (content | files).items():
        (folder / names[key]).write_text(text)
    return folder


WRONG = [None, True, -1, 1e300, 10**30, "x", [], {}, [[]], {"a": {}}]
KEYS = {"end": ("phase", "end", "state", "reason", "nodes"), "journal": ("event", "job", "time_s", "record", "archived")}


@pytest.mark.parametrize("name", KEYS)
def test_ill_typed_files_of_a_job_are_reported_in_our_words(measured, name):
    """Each key with a value of each other type; and the file as something else than an object."""
    sound = {"end": {"phase": "ended", "end": "completed"}, "journal": {"event": "begin", "job": "7", "time_s": 1.0}}[name]
    events = ("begin", "launch", "cut", "launched", "end") if name == "journal" else ("",)
    contents = [json.dumps(value) for value in WRONG]
    for value in WRONG:
        lines = [sound | ({"event": event} if event else {}) | {key: value} for event in events for key in KEYS[name]]
        contents += ["\n".join(map(json.dumps, lines))] if name == "journal" else [json.dumps(line) for line in lines]
    for content in contents:
        job_folder(measured, **{name: content})
        done = run_to_its_end(measured, "status", "c")
        assert done.returncode in (0, 2, 3), (content, done)
        assert "json.exception" not in done.stderr, (content, done.stderr)


def taken(fourscore) -> list[pathlib.Path]:
    """Places of an archive, and what is no regular file: no output may stand there."""
    os.mkfifo(fourscore.folder / "pipe")
    (fourscore.folder / "device").symlink_to("/dev/full")
    record = first_record(fourscore)
    (fourscore.folder / "link").symlink_to(record)
    inside = [record, record.parent / "new", fourscore.archive / "campaigns/c/campaign.json", fourscore.archive / "index.sqlite"]
    return [*inside, *(fourscore.folder / name for name in ("pipe", "device", "link"))]


def test_outputs_of_the_programs_take_no_records_place(measured):
    bench = [BIN / "fft_bench", "--variant", "serial", "--shape", "4", "--planner", "estimate", "--repetitions", "2"]
    memory = [BIN / "memory_bench", "--min-time-s", "0.001", "--repetitions", "1", "--parameter", "bytes=4096"]
    writers = {
        "--started": bench,
        "--wisdom": bench,
        "--record": bench,
        "--verified-record": [*bench, "--record", measured.folder / "r.json", "--isolate"],
    } | ({"--benchmark_out": memory} if (BIN / "memory_bench").exists() else {})
    places = taken(measured)
    before = {file: file.read_bytes() for file in measured.archive.rglob("*") if file.is_file()}
    for option, command in writers.items():
        for place in places:
            words = [f"{option}={place}"] if option == "--benchmark_out" else [option, place]
            done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=60, env=measured.environment)
            made = {file: file.read_bytes() for file in measured.archive.rglob("*") if file.is_file()}
            added = made.keys() - before.keys()
            if option in ("--record", "--verified-record"):  # records are made under a new name, here as anywhere
                assert added <= {measured.archive / "records/c/new"}, (option, place)
                for file in added:
                    file.unlink()
            else:
                assert done.returncode == 2 and not added, (option, place, done)
            assert {file: made[file] for file in before} == before, (option, place)
            (measured.folder / "r.json").unlink(missing_ok=True)
    assert (measured.folder / "pipe").is_fifo() and (measured.folder / "device").is_symlink()


def test_a_limit_on_the_size_of_files_is_not_called_a_full_disk(fourscore):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
    error = fourscore("run", fourscore.points(points=1, launches=1), preexec_fn=limit, code=3).stderr
    assert "File too large" in error and "No space" not in error
    assert not list(fourscore.archive.rglob(".probe-*"))


@pytest.mark.parametrize("kib", [60_000, 150_000, 400_000])
@pytest.mark.parametrize("command", [("report",), ("compare", "c", "c"), ("status",), ("verify",)])
def test_a_limit_on_memory_is_reported_and_is_no_verdict(measured, command, kib):
    """With too little of it Python ends with 1 and without a word, or not at all."""
    if any("sanitizer" in one["reason"] for one in measured.json("list", "counters")):
        pytest.skip("a sanitizer maps terabytes")
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10))  # noqa: E731
    process = measured.start(*command, preexec_fn=limit)
    error = process.communicate(timeout=60)[1]
    assert (process.returncode == 3 and "ulimit -v" in error) or (command[0] in ("status", "verify") and process.returncode == 0), error


def test_two_options_that_name_one_file_are_refused(tmp_path):
    names = ("--record", "--verified-record", "--campaign-json", "--started", "--wisdom")
    file = tmp_path / "f"
    for number, one in enumerate(names):
        for other in names[:number]:
            words = [one, file, other, tmp_path / "." / "f", *(["--record", tmp_path / "r"] if "--record" not in (one, other) else [])]
            done = subprocess.run([BIN / "fft_bench", "--variant", "serial", "--shape", "4", *words], capture_output=True, text=True)
            assert done.returncode == 2 and f"both name {file}" in done.stderr, (one, other, done)
    assert list(tmp_path.iterdir()) == []
