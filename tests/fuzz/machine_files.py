"""Machine files that nobody checked: shown, listed, used by a dry run, tried out where they name no scheduler."""

from __future__ import annotations

import random

from harness import Place, Step
from suite_files import spoil_bytes

# Sections with their keys and a good value of each.
SECTIONS = {
    "": {"name": '"m"', "description": '"one line"', "scheduler": '"slurm"', "launcher": '"srun"'},
    "[nodes]": {"count": "4", "cores": "8", "sockets": "2", "gpus": "0", "memory_gib": "256", "interconnect": '"fast"'},
    "[queue]": {"partition": '"p"', "time_limit": '"02:00:00"', "most_jobs": "3", "directives": '["--exclusive"]'},
    "[environment]": {"modules": '["gcc"]', "set": '{ A = "b" }', "setup": '["ulimit -s unlimited"]'},
    "[launch]": {
        "mpi": '"pmix"',
        "options": '["--label"]',
        "line": '"mpiexec -n {ranks} {program}"',
        "placement": '{ block = "b", cyclic = "c" }',
        "rate": '"100mbit"',
    },
    "[files]": {"archive": '"~/a"', "shared": '["/a", "$HOME"]'},
}
VALUES = [
    *("0", "-1", "1", "3.5", "1e400", "-inf", "nan", "9223372036854775807", "99999999999999999999", "true"),
    *("2026-01-01", '""', '" "', '"\\u0000"', '"\\u001b[2J"', '"\\u009b2J"', '"\\u202e"', '"a\\nb"', '"é"', "'\\'"),
    *('"local"', '"template"', '"netns"', '"pbs"', '"srun"', '"relative"', '"$(touch pwned)"', '"; touch pwned #"'),
    *('"~"', '"~x/y"', '"/"', '"$"', '"${"', '"$NO_SUCH"', '"${HOME}/x"', '"x {ranks} `touch pwned` {program}"'),
    *('"1:2:3"', '"-1:00:00"', '"0-0:0:0"', '"999999:00:00"', '"1-"', '"::"', '"02:00"', '"9999-99:99:99"'),
    *('"{ranks} {program}"', '"x {ranks} {program} {"', '"x {{ranks}} {program}"', '"\'{ranks} {program}"'),
    *('"' + "{ranks}" * 2000 + ' {program}"', '"' + "x " * 5000 + '{ranks} {program}"', "[" * 200 + "]" * 200),
    *("[]", "{}", "[1]", '["a", 1]', '["", "\\u001b"]', "[[]]", "{ a = 1 }", '{ "A B" = "c" }', '{ block = "" }'),
]  # fmt: skip


def text_of(draw: random.Random) -> str:
    """A file of some sections and keys, of which some are spoiled."""
    text = ""
    for section, keys in SECTIONS.items():
        if section and draw.random() < 0.5:
            continue
        text += section + "\n"
        for key, good in keys.items():
            kind = draw.randrange(20)
            if kind < 8 and key != "name":
                continue
            name = key + "x" if kind == 8 else key
            text += f"{name} = {draw.choice(VALUES) if kind in (9, 10, 11) else good}\n"
    if draw.random() < 0.05:
        text += "a" + ".b" * draw.choice([10, 30, 50000]) + " = 1\n"
    return text


def steps(draw: random.Random, place: Place) -> list[Step]:
    content = text_of(draw).encode()
    if draw.random() < 0.15:
        content = spoil_bytes(draw, content)
    folder = place.work / "machines"
    folder.mkdir()
    name = draw.choice(["m.toml", "m.toml", "m.toml", "a b.toml", "é.toml", "-m.toml"])
    (folder / name).write_bytes(content)
    program = place.program("fourscore")
    more = ["--json"] if draw.random() < 0.4 else []
    kind = draw.randrange(10)
    if kind == 0:
        return [
            Step([program, "machine", "list", *more], frozenset({0}), environment={"FOURSCORE_MACHINES": str(folder)})
        ]
    if kind == 1:
        line = [program, "run", "smoke", "--dry-run", "--machine", f"machines/{name}", "--archive", "nosuch", *more]
        return [Step(line, frozenset({0, 2}))]
    if kind == 2:  # nothing answers for a scheduler here; without one it is this machine that is looked at
        line = [program, "machine", "check", f"machines/{name}", "--archive", "archive", "--patience", "1", *more]
        return [Step(line, writes=("work", "tmp", "home"), environment={"PATH": "/proc/nowhere"})]
    return [Step([program, "machine", "show", f"machines/{name}", *more], frozenset({0, 2}))]
