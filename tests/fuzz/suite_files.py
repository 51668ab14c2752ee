"""Suites: TOML that is nearly right, wrong in every way that a key has, and no TOML at all."""

from __future__ import annotations

import random

from harness import Place, Step, words_of

INTEGERS = (
    *words_of("""
    0 1 -1 2 3 7 1000 1001 4096 5000 99999 100001 16777216 16777217 2147483647 2147483648 4294967296
    9223372036854775807 -9223372036854775808 9223372036854775808 0x10 0b11 1_0 +1 -0 00
    """),
    "1" * 400,
)
FLOATS = (
    *words_of("""
    nan inf -inf 1e308 -1e308 1e-320 1e400 0.0 -0.0 0.5 1e-9 3.0 60.0
    """),
)
TEXTS = (
    *words_of("""
    "" "cores" "1..cores" "auto" "all" "square" "squre" "none" "4x4x4" "8x8" "16" "0x4x4" "-4x4x4" "4x" "x" "4x4x4x4" "4X4x4"
    "549755814912*ranks" "4*ranksx4*ranksx4*ranks" "*ranks" "1*ranks*ranks" "999999999999*ranksx1x1"
    "9223372036854775807x2x2" "2147483648x2147483648x2147483648" "1x1x1" "99999999999999999999" "double" "single"
    "c2r" "r2c" "backward" "slab" "serial" "pencil" "alltoallv" "estimate" "1x1" "2x1" "0x0" "-1x1"
    "100000x100000" "subset" "natural" "memory_bench" "region_bench" "nosuch" "é" "=1+1" "@SUM(A1)" "../../x" "/"
    "$(id)" "%s%n" "{}" "{:d}" "nan" "inf" "1e400" "true"
    """),
    '" "',
    r'"\u0000"',
    r'"\u001b[31mred"',
    '"a b"',
    "'\\'",
    '"""\nmany\nlines"""',
)
OTHERS = (
    *words_of("""
    true false [] {} [[]] [{}] 1979-05-27 1979-05-27T07:32:00Z 07:32:00 = [ { " ' ] } # truefalse [1,,2]
    1979-13-45
    """),
    "{ a = 1 }",
    "{ ranks = 1 }",
    "",
    "1 2",
    "{ a = 1, a = 2 }",
)


def lines_of(toml: str) -> dict[str, str]:
    """Keys and values as written."""
    return dict(line.split(" = ", 1) for line in toml.split("\n") if line)


TOP = lines_of("""
name = "s"
description = "d"
launches = 2
repetitions = 2
warmup = 0
max_time_s = 1.0
idle_s = 0.5
min_time_s = 0.01
time_limit_s = 10
isolate = false
phases = true
timeline = false
counters = "none"
counter_group = "MEM"
counter_cache = "1MiB,16,64"
wisdom = "none"
order = "listed"
seed = 1
max_oversubscription = 2.0
precision = 0.05
most_launches = 8
retries = { node_failure = 1, out_of_memory = 0 }
sizes = ["here", "paper"]
paper = "lee2018/table-2.1"
tags = ["quick", "nightly"]
size.paper = { launches = 2 }
""")
POINT = lines_of("""
variant = ["serial", "slab"]
exchange = "alltoallv"
local_fft = "fftw"
shape = ["4x4x4", "4*ranksx4x4"]
precision = "double"
kind = "c2c"
direction = "forward"
ranks = [1, 2]
nodes = 1
ranks_per_node = "cores"
placement_of_ranks = ["block", "cyclic"]
grid = "auto"
threads = 1
instances = 1
placement = "all"
layout = "transposed"
buffers = "in-place"
planner = "estimate"
parameters = { pieces = [1, 2] }
zip = [["shape", "ranks"]]
exclude = [{ variant = "slab", ranks = 2 }]
only = [{ precision = "double" }]
size = ["here", "paper"]
tags = "grids"
""")
COMPONENT = lines_of("""
size = "here"
program = "memory_bench"
ranks = 1
parameters = { size = "4KiB" }
zip = [["ranks", "parameters.size"]]
exclude = [{ ranks = 2 }]
only = [{ ranks = 1 }]
tags = "messages"
""")


def literal(draw: random.Random) -> str:
    """A value, seldom of the type that a key wants."""
    kind = draw.randrange(12)
    if kind < 3:
        return draw.choice(INTEGERS)
    if kind < 4:
        return draw.choice(FLOATS)
    if kind < 8:
        return draw.choice(TEXTS)
    if kind < 10:
        return "[" + ", ".join(literal(draw) for _ in range(draw.randrange(4))) + "]"
    if kind < 11:
        return draw.choice(OTHERS)
    return "{ " + draw.choice([*POINT, *TOP, "a", '"é"', "a.b"]) + " = " + literal(draw) + " }"


def misspelt(draw: random.Random, key: str) -> str:
    return draw.choice(
        [
            key[:-1] or "k",
            key + "s",
            key.upper(),
            f'"{key}"',
            f'"{key} "',
            "nosuch",
            '""',
            '"\\u001b[2J"',
            "é",
            key + ".x",
            "a" * 300,
        ]
    )


def table(draw: random.Random, valid: dict[str, str], must: tuple[str, ...], most: int) -> list[list[str]]:
    """Lines of key and value: the keys in `must`, and some of the others."""
    others = [key for key in valid if key not in must]
    chosen = [*must, *draw.sample(others, draw.randrange(min(most, len(others)) + 1))]
    return [[key, valid[key]] for key in chosen]


def spoil(draw: random.Random, lines: list[list[str]]) -> None:
    if not lines:
        return
    line = draw.choice(lines)
    kind = draw.randrange(8)
    if kind < 5:
        line[1] = literal(draw)
    elif kind == 5:
        line[0] = misspelt(draw, line[0])
    elif kind == 6:
        lines.remove(line)
    else:
        lines.append(list(line))


def structured(draw: random.Random) -> str:
    top = table(draw, TOP, ("name",), 5)
    top = [line for line in top if line[0] not in ("counters", "counter_group", "counter_cache") or draw.random() < 0.3]
    sections = [("", top)]
    for _ in range(draw.choice([0, 1, 1, 1, 2])):
        sections.append(("[[sweep]]", table(draw, POINT, ("variant", "shape", "ranks", "planner"), 4)))
    if draw.random() < 0.3:
        sections.append(("[[component]]", table(draw, COMPONENT, ("program", "ranks"), 3)))
    if draw.random() < 0.3:
        sections.append(
            (
                "[defaults]",
                table(
                    draw, {"precision": '"double"', "planner": '"estimate"', "ranks": "1", "shape": '"4x4x4"'}, (), 3
                ),
            )
        )
    for _ in range(draw.choice([0, 1, 1, 1, 2, 3])):
        spoil(draw, draw.choice(sections)[1])
    if draw.random() < 0.05:
        draw.shuffle(sections)
    return "".join(f"{head}\n" + "".join(f"{key} = {value}\n" for key, value in lines) for head, lines in sections)


def product(draw: random.Random) -> str:
    """Many axes with many values, and little or nothing that is left of them."""
    each = draw.choice([2, 10, 100, 1000, 20000])
    axes = draw.randrange(1, 6)
    value = draw.choice(["{}", '"{}"', "1"])
    lines = [f"n{axis} = [{', '.join(value.format(n) for n in range(each))}]" for axis in range(axes)]
    end = draw.choice(
        ['exclude = [{ variant = "serial" }]', "only = [{ ranks = 2 }]", "", "max_oversubscription = 0.1"]
    )
    top = end if end.startswith("max_") else ""
    shapes = '"4x4x4"' if draw.random() < 0.5 else "[" + ", ".join(f'"{n + 1}x4x4"' for n in range(each)) + "]"
    launches = draw.choice([1, 1000])
    sweep = f'variant = "serial"\nshape = {shapes}\nranks = 1\nplanner = "estimate"\n{"" if top else end}'
    parameters = "\n".join(lines)
    return f'name = "s"\nlaunches = {launches}\n{top}\n[[sweep]]\n{sweep}\n[sweep.parameters]\n{parameters}\n'


def deep(draw: random.Random) -> str:
    depth = draw.choice([10, 200, 5000, 60000])
    kind = draw.randrange(7)
    if kind == 0:
        return ".".join("a" * depth) + " = 1\n"
    if kind == 1:
        return "[" + ".".join("a" * depth) + "]\n"
    if kind == 2:
        return "name = " + "[" * depth + "]" * draw.choice([0, depth]) + "\n"
    if kind == 3:
        return "name = " + "{ a = " * depth + "1" + " }" * draw.choice([0, depth]) + "\n"
    if kind == 4:
        return 'name = "' + "a" * (depth * 20) + '"\n[[sweep]]\nvariant = "serial"\nshape = "4x4x4"\nranks = 1\n'
    if kind == 5:
        return "#" * depth + "\n" * depth
    return "[[sweep]]\n" * depth


def spoil_bytes(draw: random.Random, text: bytes) -> bytes:
    kind = draw.randrange(8)
    at = draw.randrange(len(text) + 1)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + bytes(draw.randrange(256) for _ in range(draw.randrange(1, 6))) + text[at:]
    if kind == 2:
        return text[:at] + text[at + draw.randrange(1, 20) :]
    if kind == 3:
        return draw.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\xed\xa0\x80"]) + text
    if kind == 4:
        return text.replace(b"\n", draw.choice([b"\r\n", b"\r", b"", b"\x00", b"\x0b"]))
    if kind == 5:
        return draw.choice(
            [b"", b"\n", b"\x00" * 1000, bytes(draw.randrange(256) for _ in range(300)), b"\xff" * 100000]
        )
    if kind == 6 and text:
        return text[:at] + bytes([text[at - 1] ^ (1 << draw.randrange(8))]) + text[at + 1 :]
    return text * draw.choice([2, 50])


def steps(draw: random.Random, place: Place) -> list[Step]:
    kind = draw.randrange(20)
    text = product(draw) if kind == 0 else deep(draw) if kind == 1 else structured(draw)
    content = text.encode("utf-8")
    if kind == 2 or draw.random() < 0.1:
        content = spoil_bytes(draw, content)
    folder = place.work / "suites"
    folder.mkdir()
    name = draw.choice(["s.toml", "s.toml", "s.toml", "a b.toml", "é.toml", "-s.toml", "s"])
    (folder / name).write_bytes(content)
    # A suite's own text is at fault, never the environment: 0 or 2.
    codes = frozenset({0, 2})
    if draw.random() < 0.1:
        more = ["--json"] if draw.random() < 0.5 else []
        return [
            Step(
                [place.program("fourscore"), "list", "suites", *more],
                frozenset({0}),
                environment={"FOURSCORE_SUITES": str(folder)},
            )
        ]
    more = draw.sample(["--json", "--quiet", "--fresh"], draw.randrange(3))
    return [Step([place.program("fourscore"), "run", f"suites/{name}", "--dry-run", *more], codes)]
