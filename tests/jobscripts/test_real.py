"""With the real fft_bench under the real mpirun."""

import csv
import io
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

import pytest
from fourscore_command import BIN, REAL

FAULTY = REAL | {"FOURSCORE_BENCH": str(BIN / "fft_bench_faulty")}


def test_a_small_campaign_end_to_end(fourscore):
    variants = [v["name"] for v in fourscore.json("list", "variants", environment=REAL) if v["available"]]
    assert {"serial", "slab", "pencil"} <= set(variants)
    suite = fourscore.suite(
        f'name = "small"\nlaunches = 1\nrepetitions = 3\nisolate = true\ntime_limit_s = 120\n'
        f'[[sweep]]\nvariant = {json.dumps(variants)}\nshape = "12x10x9"\nranks = [1, 2]\nplanner = "estimate"\n'
    )
    result = fourscore.json("run", suite, environment=REAL)
    assert set(result["counts"]) <= {"ok", "skipped"} and result["counts"]["ok"] >= 10
    assert result["missing"] == 0 and result["harness_s"]["launch"] > 0
    fourscore("verify")
    for record in fourscore.records().values():
        if record["verdict"]["status"] == "ok":
            assert record["point"]["ranks"] == len(record["samples"]["rank_total_s"])
            assert record["provenance"]["identity"]["launch"]["launcher"] == "local"
            assert record["harness"]["launch_s"] > 0
    grown = fourscore.index()
    fourscore("reindex")
    assert fourscore.index() == grown
    planned = fourscore.plan(suite, environment=REAL)
    assert all(launch["done"] for launch in planned["launches"])


def test_a_suite_with_a_tuned_exchange_is_measured_and_summarised_as_such(fourscore):
    suite = fourscore.suite(
        'name = "tuned"\nlaunches = 2\nrepetitions = 2\n[[sweep]]\nvariant = ["pencil", "serial"]\nshape = "12x10x9"\n'
        'ranks = 2\nplanner = "estimate"\nexchange = "tuned"\n'
    )
    result = fourscore.json("run", suite, environment=REAL)
    assert result["counts"] == {"ok": 2, "skipped": 1} and result["harness_s"]["tune"] > 0
    fourscore("verify")
    records = fourscore.records().values()
    assert {record["point"]["exchange"] for record in records} == {"tuned"}
    assert all(record["resolved"]["tuning"]["exchange"] != "tuned" for record in records if "resolved" in record)
    shown = fourscore("status", next(iter(records))["campaign"]["id"]).stdout
    row = next(line.split() for line in shown.splitlines() if " pencil " in line)
    assert "tuned" in row
    best = fourscore("best", "--shape", "12x10x9", "--ranks", "2").stdout
    assert "exchange tuned (" in best


def test_a_rebuilt_library_starts_a_new_campaign(fourscore):
    listed = subprocess.run(["ldd", str(BIN / "fft_bench")], capture_output=True, text=True, check=True).stdout
    found = [line.split()[2] for line in listed.splitlines() if line.strip().startswith("libfftw3.so")]
    if not found:
        pytest.skip("FFTW is not a shared library here")
    library = pathlib.Path(found[0])
    folder = fourscore.folder / "rebuilt"
    folder.mkdir()
    content = library.read_bytes()
    note = content.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16  # its build id of 20 bytes
    (folder / library.name).write_bytes(content[:note] + bytes(20) + content[note + 20 :])
    suite = fourscore.suite('name = "s"\n[[sweep]]\nvariant = "serial"\nshape = "8x8x8"\nranks = 1\n')
    rebuilt = REAL | {"LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    first, again, other = (
        fourscore.plan(suite, environment=environment)["campaign"]
        for environment in (REAL, REAL, rebuilt)
    )
    assert first == again != other


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_wrong_variant_is_archived_as_wrong_without_a_time(fourscore, ranks):
    suite = fourscore.suite(
        f'name="f"\nlaunches=1\nrepetitions=2\n[[sweep]]\nvariant=["wrong-result","wrong-later","naive"]\nshape="8x8x8"\nranks={ranks}\n'
    )
    out = fourscore("run", suite, environment=FAULTY, code=1).stdout
    by_variant = {r["point"]["variant"]: r for r in fourscore.records().values()}
    assert by_variant["naive"]["verdict"]["status"] == "ok"
    for name in ["wrong-result", "wrong-later"]:
        assert by_variant[name]["verdict"]["status"] == "wrong" and "samples" not in by_variant[name]
    assert "2 wrong" in out
    fourscore("verify")


def test_ranks_that_abort_throw_or_hang_are_archived(fourscore):
    # A busy machine takes seconds to start ranks: only the one that hangs has a limit that is meant to be reached.
    for variants, limit_s in [('"aborts","throws-on-one-rank"', 120), ('"hangs"', 10)]:
        suite = fourscore.suite(
            f'name="f"\nlaunches=1\nrepetitions=2\ntime_limit_s={limit_s}\n'
            f'[[sweep]]\nvariant=[{variants}]\nshape="8x8x8"\nranks=2\n'
        )
        fourscore("run", suite, environment=FAULTY, code=1)
    by_variant = {r["point"]["variant"]: r["verdict"] for r in fourscore.records().values()}
    assert {name: verdict["status"] for name, verdict in by_variant.items()} == {
        "aborts": "failed", "throws-on-one-rank": "failed", "hangs": "timeout"}
    assert all("on purpose" in verdict["stderr_tail"] for verdict in by_variant.values())
    assert "thrown on purpose" in by_variant["throws-on-one-rank"]["reason"]


def test_what_fft_bench_refuses_is_named_with_file_line_and_key(fourscore):
    suite = fourscore.suite(
        'name="r"\n[[sweep]]\nvariant=["slab",\n"pencli"]\nshape="8x8x8"\nranks=2\n'
        '[[sweep]]\nvariant="slab"\nshape="8x8x8"\nranks=2\nexchange="p2q"\n'
        '[[sweep]]\nvariant="pencil"\nshape="8x8x8"\nranks=2\nlocal_fft="fftv"\n'
        '[[sweep]]\nvariant="pencil"\nshape="8x8x8"\nranks=2\nparameters={ tiel = 3 }\n'
    )
    error = fourscore("run", suite, environment=REAL, code=2).stderr
    for line, key in [(4, "variant"), (11, "exchange"), (16, "local_fft"), (21, "parameters.tiel")]:
        assert f"{suite}:{line}: key '{key}': " in error, error


def test_a_launcher_that_cannot_make_its_session_folder_costs_no_record(fourscore):
    suite = fourscore.suite('name="e"\nlaunches=1\n[[sweep]]\nvariant="slab"\nshape="8x8x8"\nranks=2\nplanner="estimate"\n')
    error = fourscore("run", suite, environment=REAL | {"TMPDIR": "/dev/null"}, code=3).stderr
    assert "did not run" in error and not fourscore.records()
    fourscore("run", suite, environment=REAL)
    assert [r["verdict"]["status"] for r in fourscore.records().values()] == ["ok"]


def test_a_suite_with_wisdom_plans_the_second_launch_from_what_the_first_left(fourscore):
    suite = fourscore.suite(
        'name="w"\nlaunches=2\nrepetitions=2\nwisdom="machine"\n[[sweep]]\nvariant="slab"\nshape="16x16x16"\nranks=2\n'
    )
    fourscore("run", suite, environment=REAL)
    plans = {r["campaign"]["launch"]: r["plan"] for r in fourscore.records().values()}
    assert plans[0]["wisdom"] == plans[1]["wisdom"] == "file"
    assert "wisdom_sha256" not in plans[0] and len(plans[1]["wisdom_sha256"]) == 64
    assert plans[0]["local_fft"] == plans[1]["local_fft"] and plans[0]["hash"] == plans[1]["hash"]
    assert [plans[launch]["reused"] for launch in (0, 1)] == [False, True]


def test_wisdom_that_is_cut_off_costs_a_campaign_no_launch_and_is_reported_once(fourscore):
    suite = fourscore.suite(
        'name="w"\nlaunches=3\nrepetitions=2\n[[sweep]]\nvariant="slab"\nshape="16x16x16"\nranks=2\n'
    )
    fourscore("run", suite, "--max-launches", "1", environment=REAL)
    (wisdom,) = fourscore.archive.glob("campaigns/*/wisdom.txt")
    wisdom.write_text(wisdom.read_text()[:500])
    error = fourscore("run", suite, environment=REAL).stderr
    assert f"wisdom file {wisdom}: its section" in error, error
    plans = {r["campaign"]["launch"]: r["plan"] for r in fourscore.records().values()}
    assert [plans[launch]["reused"] for launch in range(3)] == [False, False, True]
    assert [launch for launch in plans if "wisdom_ignored" in plans[launch]] == [1]


def test_timelines_of_a_suite_are_exported_as_perfetto_reads_them(fourscore):
    """The format: "Trace Event Format" of the Chromium project, JSON object form, complete and metadata events."""
    suite = fourscore.suite(
        'name="t"\nlaunches=1\nrepetitions=2\ntimeline=true\n'
        '[[sweep]]\nvariant=["serial","pencil"]\nshape="16x12x10"\nranks=[1,2]\nplanner="estimate"\n'
    )
    fourscore("run", suite, environment=REAL)
    records = {stem.split("/")[-1]: r for stem, r in fourscore.records().items() if r["verdict"]["status"] == "ok"}
    assert all("timeline" in r and len(r["samples"]["time_s"]) == 2 for r in records.values())
    fourscore("verify")
    trace = json.loads(fourscore("export", "--format", "chrome-trace").stdout)
    ranks = sum(r["point"]["ranks"] for r in records.values())
    assert {event["pid"] for event in trace["traceEvents"]} == set(range(ranks))

    name, record = next((n, r) for n, r in records.items() if r["point"]["variant"] == "pencil" and r["point"]["ranks"] == 2)
    file = fourscore.folder / "trace.json"
    fourscore("export", "--format", "chrome-trace", "--record", name, "-o", file)
    events = json.loads(file.read_text())["traceEvents"]
    complete = [event for event in events if event["ph"] == "X"]
    metadata = [event for event in events if event["ph"] == "M"]
    assert len(complete) + len(metadata) == len(events)
    assert {(e["name"], e["pid"]) for e in metadata} >= {(n, rank) for n in ("process_name", "thread_name") for rank in (0, 1)}
    assert all(isinstance(e["args"]["name"], str) for e in metadata if e["name"].endswith("_name"))
    for event in complete:
        assert {"name", "cat", "ph", "ts", "dur", "pid", "tid"} <= event.keys()
        assert event["ts"] >= 0 and event["dur"] > 0 and event["pid"] in (0, 1) and event["tid"] == 0
    for lane in record["timeline"]["lanes"]:
        mine = [e for e in complete if e["pid"] == lane["rank"]]
        assert [e["name"] for e in mine] == lane["phase"]
        assert [e["ts"] for e in mine] == pytest.approx([1e6 * begin for begin in lane["begin_s"]])
        assert [e["ts"] + e["dur"] for e in mine] == pytest.approx([1e6 * end for end in lane["end_s"]])


def test_no_flipped_bit_of_a_real_record_goes_unnoticed(fourscore):
    """An alltoallv pencil with parameters, timeline and components; also its trace, which names the parameters."""
    suite = fourscore.suite(
        'name = "f"\nlaunches = 1\nrepetitions = 3\nisolate = true\ntimeline = true\n[[sweep]]\nvariant = "pencil-overlap"\n'
        'exchange = "p2p"\nshape = "8x8x8"\nranks = 2\nplanner = "estimate"\nparameters = { pieces = 2 }\n'
    )
    fourscore("run", suite, "--campaign", "f", "--quiet", environment=REAL)
    assert fourscore.json("verify") == {"records": 1, "without_digest": 0, "findings": [], "unfinished": []}
    events = json.loads(fourscore("export", "--format", "chrome-trace").stdout)["traceEvents"]
    assert any("pieces=2 8x8x8, 2 ranks" in event["args"].get("name", "") for event in events if event["ph"] == "M")
    (file,) = fourscore.archive.glob("records/f/*.json")
    good = file.read_bytes()
    chosen = random.Random(9).sample(range(8 * len(good)), 600)
    for number, position in enumerate(chosen):
        byte, bit = divmod(position, 8)
        flipped = good[:byte] + bytes([good[byte] ^ 1 << bit]) + good[byte + 1 :]
        (file.parent / f"flipped-{number:03}.json").write_bytes(flipped)
    findings = fourscore.json("verify", code=1)["findings"]
    # Their names and ids are wrong as well, and do not count.
    found = {pathlib.Path(f["file"]).stem for f in findings if "digest" in f["problem"] or "unreadable" in f["problem"]}
    assert found == {f"flipped-{number:03}" for number in range(600)}


def test_fft_bench_understands_every_point_of_the_shipped_suites(fourscore):
    """A name that is none, or a parameter that no variant reads, would end a campaign before it begins."""
    suites = [suite["name"] for suite in fourscore.json("list", "suites")]
    assert {"variants", "papers/haynes2000/crossover", "papers/czechowski2012/figure-2"} <= set(suites)
    for name in suites:
        if fourscore.why_not_counted(*fourscore.counters_of(name)):
            continue
        planned = fourscore.plan(name, environment=REAL)
        known = ("Google Benchmark", "are not available here")
        assert planned["launches"] or all(any(word in s["reason"] for word in known) for s in planned["skipped"]), name


def test_fft_bench_refuses_exactly_what_predictions_take_for_impossible():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis"))
    from fourscore_analysis.models.grids import reason_against
    from fourscore_analysis.models.work import ON_DEVICE, VARIANTS

    shapes = [[64, 64, 64], [8, 16, 32], [7, 9, 11], [12, 64], [4096], [1000]]
    points = [
        {"variant": variant, "shape": shape, "ranks": ranks, "kind": kind}
        for variant in (*VARIANTS, *ON_DEVICE)
        for shape in shapes
        for ranks in (1, 2, 3, 6, 8, 16, 30, 64, 100, 256)
        for kind in ("c2c", "r2c")
    ]
    asked = "\n".join(json.dumps(point) for point in points)
    said = subprocess.run([BIN / "fft_bench", "--check-points"], input=asked, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    assert len(answers) == len(points)
    for point, answer in zip(points, answers, strict=True):
        reason = reason_against(point["variant"], point["shape"], point["kind"], point["ranks"])
        assert (reason is None) == answer["supported"], (point, reason, answer["reason"])
    assert {answer["supported"] for answer in answers} == {True, False}


@pytest.mark.skipif(not (BIN / "pairwise_bench").exists(), reason="Google Benchmark is not here")
def test_components_alone_are_measured_verified_and_exported(fourscore):
    suite = fourscore.suite(
        'name = "c"\nlaunches = 2\nrepetitions = 3\nmin_time_s = 0.001\n'
        '[[component]]\nprogram = "pairwise_bench"\nranks = [1, 2]\nparameters = { sizes = "8,1KiB" }\n'
        '[[component]]\nprogram = "alltoall_bench"\nranks = 2\n'
        'parameters = { exchange = "p2p,mpi-alltoall", communicator = ["row", "world"], sizes = "64" }\n'
    )
    result = fourscore.json("run", suite, environment=REAL)
    assert result["counts"] == {"ok": 6, "skipped": 1}
    fourscore("verify")
    ok = [r for r in fourscore.records().values() if r["verdict"]["status"] == "ok"]
    assert all(len(b["time_s"]) == 3 and len(b["rank_s"]) == 2 for r in ok for b in r["benchmarks"])
    assert all(r["sampling"]["min_time_s"] == 0.001 and r["harness"]["launch_s"] > 0 for r in ok)
    lines = fourscore("export", "--format", "csv").stdout.splitlines()
    assert len(lines) == 1 + 1 + 2 * 3 * (4 + 2 + 2)
    planned = fourscore.plan(suite, environment=REAL)
    assert len(planned["launches"]) == 6 and all(launch["done"] for launch in planned["launches"])


@pytest.mark.skipif(not (BIN / "memory_bench").exists(), reason="Google Benchmark is not here")
@pytest.mark.parametrize("synchronised", [False, True])
def test_what_is_reported_of_components_follows_from_their_raw_times(fourscore, synchronised):
    suite = fourscore.suite(
        f'name = "c"\nlaunches = 3\nrepetitions = 3\nmin_time_s = 0.001\nsynchronised = {str(synchronised).lower()}\n'
        '[[component]]\nprogram = "memory_bench"\nranks = 2\nparameters = { size = "16KiB", kernels = "copy,triad" }\n'
        '[[component]]\nprogram = "local_fft_bench"\nranks = 1\n'
        'parameters = { lengths = "64", points = 4096, layouts = "contiguous,middle", planner = "estimate" }\n'
    )
    result = fourscore.json("run", suite, environment=REAL)
    fourscore("verify")
    raw: dict[tuple[str, str], list[tuple[dict, list[float]]]] = {}
    for record in fourscore.records().values():
        assert record["sampling"]["synchronised"] is synchronised
        for entry in record["benchmarks"]:
            assert (entry["labels"].get("timing") == "synchronised") is synchronised
            raw.setdefault((record["point"]["component"], entry["name"]), []).append((entry["numbers"], entry["time_s"]))
    assert len(raw) == 5 and all(len(launches) == 3 for launches in raw.values())

    table = fourscore("status", result["campaign"]).stdout
    reported = {(p["point"]["component"], b["name"]): b for p in result["points"] for b in p["benchmarks"]}
    exported = json.loads(fourscore("export", "--format", "benchmark").stdout)["benchmarks"]
    rows = list(csv.DictReader(io.StringIO(fourscore("export", "--format", "csv").stdout)))
    assert reported.keys() == raw.keys()
    for (program, name), launches in raw.items():
        numbers = launches[0][0]
        medians = [statistics.median(times) for _, times in launches]
        middle = statistics.median(medians)
        one = reported[program, name]
        assert sorted(one["launch_medians_s"]) == pytest.approx(sorted(medians))
        assert (one["median_s"], one["min_s"], one["max_s"]) == pytest.approx((middle, min(medians), max(medians)))
        assert one["bytes_per_s"] == pytest.approx(numbers["bytes"] / middle)
        if program == "local_fft_bench":
            assert one["gflops"] == pytest.approx(numbers["flops"] / middle / 1e9)
        line = next(line for line in table.splitlines() if line.split()[:1] == [name])
        amount, unit = (numbers["flops"], "GFLOP/s") if "flops" in numbers else (numbers["bytes"], "GB/s")
        assert f"{amount / middle / 1e9:.3g} {unit}" in line
        times = sorted(time for _, of_launch in launches for time in of_launch)
        entries = [e for e in exported if e["run_name"].startswith(program + "/") and e["run_name"].endswith("/" + name)]
        assert sorted(e["real_time"] for e in entries) == pytest.approx([1e9 * time for time in sorted(medians)])
        for entry in entries:
            assert entry["bytes_per_second"] == pytest.approx(numbers["bytes"] / entry["real_time"] * 1e9)
            if "flops" in numbers:
                assert entry["flops_per_second"] == pytest.approx(numbers["flops"] / entry["real_time"] * 1e9)
        mine = [row for row in rows if (row["component"], row["benchmark"]) == (program, name)]
        assert sorted(float(row["time_s"]) for row in mine) == pytest.approx(times)


@pytest.mark.parametrize(("what", "name"), [("variants", "pencil-overlap"), ("exchanges", "p2p-pipelined")])
def test_real_entries_are_listed_with_their_parameters(fourscore, what, name):
    lines = fourscore("list", what, environment=REAL).stdout.splitlines()
    (number,) = (number for number, line in enumerate(lines) if line.startswith(f"{name} "))
    assert "pieces=4  pieces that an exchange goes in" in lines[number + 1]


def test_real_component_programs_are_listed_with_their_parameters(fourscore):
    listed = {e["name"]: e for e in fourscore.json("list", "components", environment=REAL)}
    assert {"alltoall_bench", "memory_bench", "pairwise_bench"} <= listed.keys() and "region_bench" not in listed
    for entry in listed.values():
        if entry["available"]:
            assert entry["summary"] and all(p["name"] and p["summary"] for p in entry["parameters"])
        else:
            assert entry["reason"]
