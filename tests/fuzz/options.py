"""Command lines: every option that `--help` shows, with values that no one expects."""

from __future__ import annotations

import functools
import os
import random
import re
import stat
import subprocess

from harness import Place, Step, words_of

NUMBERS = (
    *words_of("""
    nan -nan inf -inf -1 0 -0 1 2 1e308 -1e308 1e-320 1e400 0x10 1e3 1.5 1,5 +1 99999999999999999999
    9223372036854775807 9223372036854775808 -9223372036854775808 4294967296 2147483648 18446744073709551615
    18446744073709551616 1_000 ٣ ∞ 1;2 true
    """),
    "1" * 400,
    " 1",
    "1 ",
    "1\n",
)
TEXTS = (
    *words_of("""
    - -- = a=b a= =b é {} {0} %s%n --help --nosuch 4x4x4 0x0 -1x1 2x2 99999x99999x99999 4x auto none double r2c
    c2r backward natural out-of-place estimate subset pencil slab nosuch alltoallv callgrind fake MEM 1MiB,0,0
    1MiB,-1 0 99999999999999999999GiB csv jsonl smoke strong local variants suites base pieces=0
    """),
    "",
    " ",
    "\n",
    "x" * 5000,
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
)
PATHS = (
    *words_of("""
    . .. / ../guard/file ../guard/link ../guard ../guard/record.json nosuch/file file folder /proc/nonexistent/x
    deep.json dangling loop /proc/self/mem é - fifo null full
    """),
    "x" * 300,
    "a/" * 2000 + "x",
    "a\nb",
)
WORDS = (*NUMBERS, *TEXTS, *PATHS)
# These may replace a file that is there.
OUTPUTS = ("-o", "--output", "--plots", "--wisdom", "--archive", "--started", "--suggest", "--save-machine")

FLAGS_OF_GOOGLE_BENCHMARK = (
    *words_of("""
    --benchmark_filter --benchmark_repetitions --benchmark_min_time --benchmark_format --benchmark_out
    --benchmark_out_format --benchmark_color --benchmark_list_tests --benchmark_counters_tabular
    --benchmark_time_unit --benchmark_nosuch --benchmark_report_aggregates_only
    --benchmark_display_aggregates_only --benchmark_enable_random_interleaving --benchmark_
    """),
)
# What makes each component small, so that a case that measures takes milliseconds.
COMPONENTS = {
    "memory_bench": ["--parameter", "size=4KiB", "--parameter", "kernels=copy"],
    "local_fft_bench": ["--parameter", "lengths=16", "--parameter", "points=256", "--parameter", "planner=estimate"],
    "local_transpose_bench": words_of("--parameter shape=4x4x4 --parameter permutations=zyx --parameter kernels=permute"),
    "copy_bench": ["--parameter", "size=4KiB", "--parameter", "memory=pinned"],
    "alltoall_bench": ["--parameter", "exchange=alltoallv", "--parameter", "shape=4x4x4"],
    "pairwise_bench": [],
}
# Open MPI keeps files of a session in TMPDIR, and not all of them go when a program ends early.
WRITES_WITH_MPI = ("work", "tmp")
# A cache, which commands that read bring up to date.
INDEX = tuple(f"work/fourscore-archive/index.sqlite{end}" for end in ("", "-wal", "-shm", "-journal"))
SUBCOMMANDS = (
    *(["run"], ["list"], ["status"], ["verify"], ["reindex"], ["export"], ["report"], ["best"], ["counters"]),
    *(["predict"], ["advise"], ["publish"]),
    *(["counters", "list"], ["counters", "show"], ["counters", "qualify"], []),
    *(["machine"], ["machine", "list"], ["machine", "show"]),
)


@functools.cache
def options_of(program: str, *command: str) -> tuple[tuple[str, bool], ...]:
    """Names of the options in the help, and whether they take a value."""
    text = subprocess.run([program, *command, "--help"], capture_output=True, text=True, timeout=60, check=False).stdout
    found = re.findall(
        r"^ +(?:-\w, *)?(--[\w-]+)(?:,--[\w-]+)*( +(?:TEXT|INT|UINT|FLOAT|[A-Z][A-Z\[\],]+))?", text, re.M
    )
    return tuple((name, bool(value)) for name, value in found)


def option(draw: random.Random, known: tuple[tuple[str, bool], ...]) -> list[str]:
    name, takes_value = draw.choice(known)
    if draw.random() < 0.05:
        name = draw.choice([name + "x", name[:-1], name.upper(), name.replace("--", "-"), name + "="])
    if not takes_value:
        return [name] if draw.random() < 0.9 else [f"{name}={draw.choice(WORDS)}"]
    value = draw.choice(NUMBERS) if draw.random() < 0.4 else draw.choice(WORDS)
    if name.rstrip("=") in OUTPUTS and value.startswith(("/", "..")):
        value = draw.choice(["fifo", "null", "full", "folder", "dangling", "loop", "nosuch/file", "file"])
    if name.rstrip("=") == "--min-time-s" and value.strip() in ("1", "2", "1e3", "1.5", "+1"):
        value = "nan"  # those would be done as asked, for minutes
    kind = draw.randrange(10)
    if kind == 0:
        return [name]
    return [f"{name}={value}"] if kind < 4 else [name, value]


def words(draw: random.Random, known: tuple[tuple[str, bool], ...], base: list[str]) -> list[str]:
    """`base` with some options more, some of them in the place of one of its own."""
    chosen = [option(draw, known) for _ in range(draw.choice([1, 1, 1, 2, 3]))] if known else []
    # CLI11 refuses an option that is given twice, and would look no further.
    names = {given[0].split("=")[0] for given in chosen if given}
    kept, at = [], 0
    while at < len(base):
        pair = 2 if at + 1 < len(base) and not base[at + 1].startswith("--") and base[at].startswith("--") else 1
        if base[at] not in names or base[at] == "--parameter":
            kept += base[at : at + pair]
        at += pair
    line = [*kept, *(word for given in chosen for word in given)]
    if draw.random() < 0.1:
        line.insert(draw.randrange(len(line) + 1), draw.choice(WORDS))
    if draw.random() < 0.03 and line:
        line.pop(draw.randrange(len(line)))
    return [word.replace("\0", "") for word in line]


def surroundings(place: Place) -> None:
    """What the values of PATHS name."""
    (place.work / "file").write_text("not a record\n")
    (place.work / "folder").mkdir()
    (place.work / "deep.json").write_text('{"a":' * 100000 + "1" + "}" * 100000)
    (place.work / "dangling").symlink_to("nowhere")
    (place.work / "loop").symlink_to("loop")
    os.mkfifo(place.work / "fifo")
    for name, minor in (("null", 3), ("full", 7)):
        try:  # nodes of our own: a defect must not cost the machine its /dev/null
            os.mknod(place.work / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        except PermissionError:
            (place.work / name).symlink_to(f"/dev/{name}")


def drivers(draw: random.Random, place: Place) -> Step:
    program = place.program("fft_bench")
    base = words_of("--variant serial --shape 4x4x4 --planner estimate --repetitions 1 --warmup 0 --max-time-s 0.01")
    if draw.random() < 0.2:
        base = [draw.choice(["--list", "--identity", "--check-points"])]
    line = words(draw, options_of(program), base)
    return Step(
        [program, *line],
        writes=WRITES_WITH_MPI,
        stdin=draw.choice(
            [b"", b"{}\n", b"[]", b'{"variant":3}\n', b"\xff\n", b'{"variant":"slab","shape":[4,4,4],"ranks":2}\n']
        ),
    )


def counter_bench(draw: random.Random, place: Place) -> Step:
    program = place.program("counter_bench")
    return Step([program, *words(draw, options_of(program), ["--counters", draw.choice(["nosuch", "none"])])])


def component(draw: random.Random, place: Place) -> Step:
    name = draw.choice([name for name in COMPONENTS if os.access(place.program(name), os.X_OK)])
    program = place.program(name)
    base = [*COMPONENTS[name], "--repetitions", "1", "--min-time-s", "0.0001"]
    if draw.random() < 0.4:
        flag = draw.choice(FLAGS_OF_GOOGLE_BENCHMARK)
        line = [*base, flag if draw.random() < 0.2 else f"{flag}={draw.choice(WORDS)}"]
    elif draw.random() < 0.3:
        parameters = re.findall(r"^  (\w+) +", parameters_help(program), re.M) or ["size"]
        line = [*base, "--parameter", f"{draw.choice(parameters)}={draw.choice(WORDS)}"]
    else:
        line = words(draw, options_of(program), base)
    return Step([program, *line], writes=WRITES_WITH_MPI)


@functools.cache
def parameters_help(program: str) -> str:
    return subprocess.run(
        [program, "--help"], capture_output=True, text=True, timeout=60, check=False
    ).stdout.partition("Parameters")[2]


def command(draw: random.Random, place: Place) -> Step:
    program = place.program("fourscore")
    chosen = draw.choice(SUBCOMMANDS)
    base = {
        "run": ["base.toml", "--dry-run"],
        "list": [draw.choice(["variants", "suites", "launchers", "counters", "components"])],
        "export": ["--format", draw.choice(["csv", "jsonl", "benchmark", "chrome-trace"])],
        "report": ["--archive", "nosuch"],
        "publish": ["site", "--archive", "nosuch"],
        "best": ["--archive", "nosuch", "--shape", "4x4x4", "--ranks", "2"],
        "predict": ["--archive", "nosuch", "--variant", "slab", "--shape", "4x4x4", "--ranks", "2"],
        "advise": ["--archive", "nosuch", "--shape", "4x4x4", "--ranks", "2,4"],
        "counters": [],
    }.get(chosen[0] if chosen else "", [])
    if chosen == ["counters", "show"]:
        base = ["MEM"]
    if chosen == ["machine", "show"]:
        base = [draw.choice(["workstation", "cpu-cluster", "cpu-clutser"])]
    if chosen == ["counters", "qualify"]:
        base = ["--counters", "nosuch"]
    line = words(draw, options_of(program, *chosen), base)
    if chosen == ["run"] and "--dry-run" not in line:
        line.append("--dry-run")
    if chosen[-1:] == ["qualify"]:  # a backend that exists would count for minutes
        line = [word for word in line if word not in ("callgrind", "perf")] + ["--counters", "nosuch"]
    if draw.random() < 0.03:
        line = [word for word in line if word.isascii()] + [draw.choice(WORDS)]
    writes = ("work",) if chosen and chosen[0] in ("export", "report", "reindex", "predict", "advise", "publish") else INDEX
    return Step([program, *chosen, *line], writes=writes, escapes=True)


def steps(draw: random.Random, place: Place) -> list[Step]:
    surroundings(place)
    kind = draw.randrange(10)
    if kind < 5:
        place.copy_archive()
        return [command(draw, place)]
    return [(drivers if kind < 7 else counter_bench if kind < 8 else component)(draw, place)]
