"""Every key that the suite reader knows, followed to the arguments of the measuring program.

The reader itself says which keys it knows: one that is not followed fails. Settings and keys of a point are followed by
what the record's schema allows, but for those whose values have a rule of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fake_identity import machine_hash
from fourscore_command import option, script


def suite_text(head: str = "", sweep: str = "", component: str | None = None) -> str:
    """One point on one rank but for what is given; a key given in `sweep` is not given twice."""
    fixed = {"variant": '"good"', "shape": '"4x4x4"', "ranks": "1"}
    kept = "".join(f"{key} = {value}\n" for key, value in fixed.items() if not re.search(rf"^{key}\b", sweep, re.M))
    name = "" if re.search(r"^name\b", head, re.M) else 'name = "s"\n'
    launches = "" if re.search(r"^launches\b", head, re.M) else "launches = 1\n"
    table = f"[[sweep]]\n{kept}{sweep}\n" if component is None else f"[[component]]\n{component}\n"
    return f"{name}{launches}{head}\n{table}"


class Run(NamedTuple):
    argvs: list[list[str]]  # in the order in which launches ended
    records: list[dict]  # in the order of names
    campaign: dict


def measured(fourscore, code: int = 0, **tables) -> Run:
    fourscore("run", fourscore.suite(suite_text(**tables)), code=code)
    (campaign,) = fourscore.archive.glob("campaigns/*/campaign.json")
    return Run(fourscore.finished("argv"), list(fourscore.records().values()), json.loads(campaign.read_text()))


ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "results/run-record.schema.json").read_text())["properties"]
SETTINGS = re.findall(r'\.key = "(\w+)"', (ROOT / "core/settings.hpp").read_text())
CORE = json.loads((ROOT / "analysis/fourscore_analysis/records/core.json").read_text())
# (TOML, option, the option's value, where the point of the record has it, what stands there).
OWN_RULE = {
    "variant": ('"slow"', "--variant", "slow", "variant", "slow"),
    "exchange": ('"alltoallw"\nvariant = "moves"', "--exchange", "alltoallw", "exchange", "alltoallw"),
    "local_fft": ('"other"', "--local-fft", "other", "local_fft", "other"),
    "shape": ('"5x6x7"', "--shape", "5x6x7", "shape", [5, 6, 7]),
    "operator": ('"poisson"\ndirection = "convolution"', "--operator", "poisson", "operator", "poisson"),
    "ranks": ("3", None, None, "ranks", 3),
    "grid": ('"1x1"', "--grid", "1x1", "grid", [1, 1]),
    "active_ranks": ("1", "--active-ranks", "1", "active_ranks", 1),
    "field_order": ('"pipelined"\nfields = 2', "--field-order", "pipelined", "field_order", "pipelined"),
    "other_work": ('"2000us"', "--other-work", "2ms", "other_work", "2ms"),
    "parameters": ("{ tile = 8 }", "--parameter", "tile=8", "parameters", {"tile": "8"}),
}


EIGHT = "shape = [" + ", ".join(f'"{n}x4"' for n in range(1, 9)) + "]"
SIZES = 'sizes = ["here", "paper"]\n'
COMPONENT_ALONE = 'program = "alltoall_bench"\nranks = 1'


def shapes(run: Run) -> list[str | None]:
    return [option(argv, "--shape") for argv in run.argvs]


def ranks(run: Run) -> list[int]:
    return sorted(record["point"]["ranks"] for record in run.records)


def tags(run: Run) -> list[list[str]]:
    return [point["tags"] for point in run.campaign["points"]]


# (tables of the suite, what is looked at, what it is expected to be).
TOP: dict[str, tuple[dict, Callable[[Run], object], object]] = {
    "name": (
        {"head": 'name = "other"'},
        lambda run: {run.campaign["suite"], run.campaign["id"][:-9], run.records[0]["campaign"]["suite"]},
        {"other"},
    ),
    "description": ({"head": 'description = "why"'}, lambda run: run.campaign["description"], "why"),
    "launches": (
        {"head": "launches = 4"},
        lambda run: (len(run.argvs), [r["campaign"]["launch"] for r in run.records], run.campaign["launches"]),
        (4, [0, 1, 2, 3], 4),
    ),
    "min_time_s": (
        {"head": "min_time_s = 0.25", "component": COMPONENT_ALONE},
        lambda run: option(run.argvs[0], "--min-time-s"),
        "0.25",
    ),
    "synchronised": (
        {"head": "synchronised = true", "component": COMPONENT_ALONE},
        lambda run: ("--synchronised" in run.argvs[0], run.records[0]["sampling"]["synchronised"]),
        (True, True),
    ),
    # Times of the fake do not vary, so that six launches, the fewest that can tell, are precise.
    "precision": ({"head": "precision = 0.05"}, lambda run: len(run.argvs), 6),
    "most_launches": ({"head": "precision = 0.05\nmost_launches = 4"}, lambda run: len(run.argvs), 4),
    "order": (
        {"head": 'order = "listed"\nlaunches = 2', "sweep": EIGHT},
        lambda run: (shapes(run), run.campaign["order"]),
        ([f"{n}x4" for n in range(1, 9)] * 2, "listed"),
    ),
    "max_oversubscription": (
        {"head": "max_oversubscription = 1.0", "sweep": "ranks = [1, 4096]"},
        lambda run: (ranks(run), run.campaign["dropped_oversubscribed"]),
        ([1], 1),
    ),
    "sweep": ({}, lambda run: len(run.argvs), 1),
    "component": (
        {"component": COMPONENT_ALONE},
        lambda run: (run.argvs[0][0].rsplit("/")[-1], run.records[0]["point"]["component"]),
        ("alltoall_bench", "alltoall_bench"),
    ),
    "sizes": ({"head": SIZES}, lambda run: (run.campaign["size"], run.campaign["suite"]), ("here", "s")),
    "paper": ({"head": 'paper = "lee2018/table-2.1"'}, lambda run: run.campaign["paper"], ["lee2018/table-2.1"]),
    # Tags of the top and of sweeps; test_selection.py selects by them.
    "tags": (
        {
            "head": 'tags = "a"',
            "sweep": 'tags = "b"\nvariant = "good"\nshape = "4"\nranks = [1, 2]\n'
            '[[sweep]]\ntags = ["c", "d"]\nvariant = "good"\nshape = "4"\nranks = 2',
        },
        tags,
        [["a", "b"], ["a", "b", "c", "d"]],
    ),
}
OF_SWEEPS: dict[str, tuple[dict, Callable[[Run], object], object]] = {
    "zip": (
        {"sweep": 'shape = ["4", "8"]\nranks = [1, 2]\nzip = [["shape", "ranks"]]'},
        lambda run: sorted((r["point"]["shape"], r["point"]["ranks"]) for r in run.records),
        [([4], 1), ([8], 2)],
    ),
    "exclude": ({"sweep": "ranks = [1, 2, 3]\nexclude = [{ ranks = [1, 3] }]"}, ranks, [2]),
    "only": ({"sweep": "ranks = [1, 2, 3]\nonly = [{ ranks = [1, 3] }]"}, ranks, [1, 3]),
    "tags": TOP["tags"],
    # test_suite_sizes.py has more of sizes.
    "size": (
        {
            "head": SIZES,
            "sweep": 'size = "here"\nvariant = "good"\nshape = "4"\nranks = 1\n'
            '[[sweep]]\nsize = "paper"\nvariant = "slow"\nshape = "4"\nranks = 1',
        },
        lambda run: [record["point"]["variant"] for record in run.records],
        ["good"],
    ),
}


def check_time_limit_s(fourscore):
    _, records, _ = measured(fourscore, head="time_limit_s = 3", sweep='variant = "hangs"', code=1)
    assert records[0]["verdict"]["status"] == "timeout" and "limit of 3 s" in records[0]["verdict"]["reason"]


def counted(fourscore, head: str) -> list[str]:
    fourscore.skip_unless_counted("callgrind")
    (argv,), _, campaign = measured(fourscore, head='counters = "callgrind"\n' + head)
    assert option(argv, "--counters") == campaign["counters"]["backend"] == "callgrind"
    return argv


def check_counters(fourscore):
    argv = counted(fourscore, "")
    assert "--counter-group" not in argv and "--counter-cache" not in argv


def check_counter_group(fourscore):
    assert option(counted(fourscore, 'counter_group = "MEM"'), "--counter-group") == "MEM"


def check_counter_cache(fourscore):
    assert option(counted(fourscore, 'counter_cache = "1MiB,16,64"'), "--counter-cache") == "1MiB,16,64"


def check_idle_s(fourscore):
    assert option(counted(fourscore, "idle_s = 2.5"), "--idle-s") == "2.5"


def check_counters_of(fourscore):
    """The one of two points with the tag is counted; the other is measured as it is."""
    fourscore.skip_unless_counted("callgrind")
    head = 'counters = "callgrind"\ncounters_of = "counted"\nidle_s = 2.5'
    point = 'variant = "good"\nranks = 1\n'
    sweep = f'{point}shape = "5x6x7"\n[[sweep]]\n{point}tags = "counted"\nshape = "4x6x7"'
    argvs, _, _ = measured(fourscore, head=head, sweep=sweep)
    counted = {option(argv, "--shape"): (option(argv, "--counters"), option(argv, "--idle-s")) for argv in argvs}
    assert counted == {"5x6x7": (None, None), "4x6x7": ("callgrind", "2.5")}


def check_plugin(fourscore):
    """From the suite's folder; each question to the program names it too."""
    (fourscore.folder / "libmine.so").write_text("")
    (argv,), _, _ = measured(fourscore, head='plugin = "libmine.so"')
    assert option(argv, "--plugin") == str(fourscore.folder / "libmine.so")


def check_wisdom(fourscore):
    (argv,), _, campaign = measured(fourscore)
    assert option(argv, "--wisdom") == str(fourscore.archive / "campaigns" / campaign["id"] / "wisdom.txt")
    of_machine = f"{machine_hash()}.txt"
    for n, (word, file) in enumerate([("true", of_machine), ('"machine"', of_machine), ('"none"', None)]):
        fourscore("run", fourscore.suite(suite_text(head=f"wisdom = {word}"), f"{n}.toml"))
        argv = fourscore.finished("argv")[-1]
        assert option(argv, "--wisdom") == (file and str(fourscore.archive / "wisdom" / file))


def check_checked(fourscore):
    argvs, _, _ = measured(fourscore, head='checked = "once"\nlaunches = 3')
    first = option(argvs[0], "--record")
    assert [option(argv, "--checked-by") for argv in argvs] == [None, first, first]
    fourscore("run", fourscore.suite(suite_text(head='checked = "every-launch"\nlaunches = 2'), "every.toml"))
    assert [option(argv, "--checked-by") for argv in fourscore.finished("argv")[3:]] == [None, None]


def check_retries(fourscore):
    """What they do shows in jobs (test_submit.py); here: causes are known by name, and kept with the suite."""
    text = suite_text(head="retries = { node_failure = 2 }")
    assert (
        "did you mean 'node_failure'"
        in fourscore("run", fourscore.suite(text.replace("node_f", "nod_f")), code=2).stderr
    )
    fourscore("run", fourscore.suite(text), "--dry-run")


def check_seed(fourscore):
    run = measured(fourscore, head="seed = 5", sweep=EIGHT)
    assert run.campaign["seed"] == 5 and sorted(shapes(run)) == [f"{n}x4" for n in range(1, 9)] != shapes(run)
    fourscore("run", fourscore.folder / "s.toml", "--fresh")
    fourscore("run", fourscore.suite(suite_text(head="seed = 6", sweep=EIGHT), "other.toml"))
    argvs = fourscore.finished("argv")
    again, other = (shapes(run._replace(argvs=argvs[begin : begin + 8])) for begin in (8, 16))
    assert again == shapes(run) != other


def check_defaults(fourscore):
    text = suite_text().replace("[[sweep]]", '[defaults]\nprecision = "single"\n[[sweep]]')
    fourscore("run", fourscore.suite(text))
    (record,) = fourscore.records().values()
    assert record["point"]["precision"] == "single"


def check_size(fourscore):
    text = suite_text(head=SIZES) + "[size.here]\nlaunches = 2\n"
    fourscore("run", fourscore.suite(text))
    assert len(fourscore.records()) == 2


def look_check(tables: dict, look: Callable[[Run], object], expected: object):
    def check(fourscore):
        assert look(measured(fourscore, **tables)) == expected

    return check


def values_of(form: dict[str, Any]) -> list[Any]:
    """Some that the schema allows, more than one: at most one of them is the default."""
    kinds = {"boolean": [True, False], "integer": [2, 3], "number": [1.5, 2.5], "#/$defs/count": [2, 3]}
    return form.get("enum") or kinds.get(form.get("type", form.get("$ref")), ["one", "two"])


def option_of(key: str) -> str:
    return "--" + key.replace("_", "-")


def require_said(found: list[Any], values: list[Any]) -> None:
    """Each value, but nothing in the place of the default."""
    assert set(found) - {None} <= set(values) and len(set(found)) == len(values) == len(found)


def setting_check(key: str):
    values = values_of(SCHEMA["sampling"]["properties"][key])

    def check(fourscore):
        for value in values:
            fourscore("run", fourscore.suite(suite_text(head=f"{key} = {json.dumps(value)}"), f"{value}.toml"))
        argvs = fourscore.finished("argv")
        if values == [True, False]:
            flags = [[flag for flag in (option_of(key), option_of(f"no_{key}")) if flag in argv] for argv in argvs]
            assert flags in ([[option_of(key)], []], [[], [option_of(f"no_{key}")]])
        else:
            require_said([option(argv, option_of(key)) for argv in argvs], list(map(str, values)))

    return check


def place_check(key: str, expected: object, *tables: dict):
    """Where ranks go. That takes a launcher of several nodes, or another build, so nothing is launched."""

    def check(fourscore):
        for table in tables:
            (launch,) = fourscore.plan(fourscore.suite(suite_text(**table)))["launches"]
            assert launch["point"][key] == expected

    return check


def both(text: str) -> list[dict]:
    return [{"sweep": text}, {"component": f'program = "alltoall_bench"\n{text}'}]


SIMULATED = 'ranks = 4\nnodes = 4\nplanner = "estimate"\nplatform = "bluegene-l"\n'
PLACE = {
    "nodes": place_check("ranks_per_node", 2, *both("ranks = 4\nnodes = 2")),
    "ranks_per_node": place_check("nodes", 2, *both("ranks = 6\nranks_per_node = 3")),
    "placement_of_ranks": place_check(
        "placement_of_ranks", "cyclic", *both('ranks = 4\nnodes = 2\nplacement_of_ranks = "cyclic"')
    ),
    "platform": place_check("platform", "bluegene-l", {"sweep": SIMULATED}),
    "host_order": place_check("host_order", "random", {"sweep": SIMULATED + 'host_order = "random"'}),
}


def at(table: dict[str, Any], path: str) -> Any:
    for part in path.strip("/").split("/"):
        table = table.get(part, {})
    return table if table != {} else None


def measured_as_asked(fourscore, sweep: str) -> Run:
    run = measured(fourscore, sweep=sweep)
    asked, done = (
        sorted(json.dumps(one["point"], sort_keys=True) for one in ones)
        for ones in (run.campaign["points"], run.records)
    )
    assert asked == done, "fft_bench was asked for the points of the campaign"
    return run


def own_check(key: str):
    def check(fourscore):
        text, name, value, place, there = OWN_RULE[key]
        (argv,), (record,), _ = measured_as_asked(fourscore, f"{key} = {text}")
        assert (name is None or option(argv, name) == value) and at(record["point"], place) == there

    return check


def point_check(key: str, path: str):
    def check(fourscore):
        values = values_of(at(SCHEMA["point"]["else"], path.replace("/", "/properties/")))
        argvs, records, _ = measured_as_asked(fourscore, f"{key} = {json.dumps(values)}")
        require_said([option(argv, option_of(key)) for argv in argvs], list(map(str, values)))
        require_said([at(record["point"], path) for record in records], values)

    return check


HEADER = {key.removeprefix("check_"): check for key, check in list(globals().items()) if key.startswith("check_")}
HEADER |= {key: look_check(*row) for key, row in TOP.items()}
HEADER |= {key: setting_check(key) for key in SETTINGS if key not in HEADER}


def measure_by_a_program(fourscore):
    script(fourscore.folder / "mine", "echo sample_s 0.00001")
    _, (record,), campaign = measured(fourscore, sweep='program = ["./mine"]\nvariant = "mine"')
    assert record["samples"]["time_s"] == [0.00001] and "mine" in campaign["identities"]


SWEEP = {key: own_check(key) for key in OWN_RULE} | {key: look_check(*row) for key, row in OF_SWEEPS.items()}
SWEEP |= {"program": measure_by_a_program} | PLACE
SWEEP |= {key: point_check(key, one["path"]) for key, one in CORE["point_keys"].items() if key not in SWEEP}


def component_check(table: str, does: dict, head: str = ""):
    def check(fourscore):
        _, records, _ = measured(fourscore, head=head, component=table)
        got = {
            (r["point"]["component"], r["point"]["ranks"], *sorted(r["point"]["parameters"].items())) for r in records
        }
        assert got == does

    return check


BOTH = 'program = ["alltoall_bench", "pairwise_bench"]\n'
COMPONENT = {
    "program": component_check(BOTH + "ranks = 1", {("alltoall_bench", 1), ("pairwise_bench", 1)}),
    "ranks": component_check(
        'program = "alltoall_bench"\nranks = [1, 2]', {("alltoall_bench", 1), ("alltoall_bench", 2)}
    ),
    "parameters": component_check(
        'program = "alltoall_bench"\nranks = 1\nparameters = { sizes = "64" }', {("alltoall_bench", 1, ("sizes", "64"))}
    ),
    "zip": component_check(
        BOTH + 'ranks = [1, 2]\nzip = [["program", "ranks"]]', {("alltoall_bench", 1), ("pairwise_bench", 2)}
    ),
    "exclude": component_check(BOTH + 'ranks = 1\nexclude = [{ program = "alltoall_bench" }]', {("pairwise_bench", 1)}),
    "only": component_check(BOTH + 'ranks = 1\nonly = [{ program = "alltoall_bench" }]', {("alltoall_bench", 1)}),
    "size": component_check(
        'program = "alltoall_bench"\nranks = 1\n[[component]]\nsize = "paper"\nprogram = "pairwise_bench"\nranks = 1',
        {("alltoall_bench", 1)},
        head=SIZES,
    ),
    "tags": look_check({"head": 'tags = "a"', "component": f'tags = ["b"]\n{COMPONENT_ALONE}'}, tags, [["a", "b"]]),
} | PLACE

KNOWN = {
    "the suite": (HEADER, "no_such_key = 1\n" + suite_text()),
    "[[sweep]]": (SWEEP, suite_text(sweep="no_such_key = 1")),
    "[defaults]": (SWEEP, "\n[defaults]\nno_such_key = 1\n".join(suite_text().split("\n\n", 1))),
    "[[component]]": (COMPONENT, suite_text(component="no_such_key = 1")),
    "[size.here]": (HEADER, suite_text(head=SIZES) + "[size.here]\nno_such_key = 1\n"),
}


@pytest.mark.parametrize("table", KNOWN)
def test_every_key_that_the_reader_knows_is_followed_here(fourscore, table):
    checks, text = KNOWN[table]
    error = fourscore("run", fourscore.suite(text), code=2).stderr
    assert f"unknown key 'no_such_key' in {table}" in error
    known = set(error.split("allowed: ")[1].strip().split(", "))
    assert known <= checks.keys() and len(known) > 4
    if table not in ("[defaults]", "[size.here]"):  # which have some of the keys of a sweep, and of the top
        assert known == checks.keys()


@pytest.mark.parametrize("key", HEADER)
def test_a_key_at_the_top_does_what_it_says(fourscore, key):
    HEADER[key](fourscore)


@pytest.mark.parametrize("key", SWEEP)
def test_a_key_of_a_sweep_does_what_it_says(fourscore, key):
    SWEEP[key](fourscore)


@pytest.mark.parametrize("key", COMPONENT)
def test_a_key_of_a_component_does_what_it_says(fourscore, key):
    COMPONENT[key](fourscore)


def planned(fourscore, sweep: str, head: str = "") -> tuple[list[dict], list[dict]]:
    """Points that would be launched, and those that would be skipped."""
    plan = fourscore.plan(fourscore.suite(suite_text(head=head, sweep=sweep)))
    return [launch["point"] for launch in plan["launches"]], plan["skipped"]


EVERY_VARIANT = {"good", "slow", "aborts", "hangs", "refuses", "forgets", "picky", "moves", "dies-early"}
EVERY_EXCHANGE = ["alltoallv", "alltoallw", "p2p"]


def test_all_variants_are_those_that_the_program_lists(fourscore):
    launched, skipped = planned(fourscore, 'variant = "all"\nranks = 2')
    assert {point["variant"] for point in launched} == EVERY_VARIANT - {"picky"}
    assert [(point["point"]["variant"], point["reason"]) for point in skipped] == [("picky", "takes one rank")]


def test_all_may_stand_in_conditions_and_in_zip(fourscore):
    sweep = 'variant = "moves"\nexchange = "all"\n'
    launched, _ = planned(fourscore, sweep + 'only = [{ variant = "all", exchange = "p2p" }]')
    assert [point["exchange"] for point in launched] == ["p2p"]
    launched, _ = planned(fourscore, sweep + 'shape = ["4", "5", "6"]\nzip = [["exchange", "shape"]]')
    assert sorted((p["exchange"], p["shape"]) for p in launched) == list(
        zip(EVERY_EXCHANGE, ([4], [5], [6]), strict=True)
    )


def test_all_exchanges_fall_together_where_a_variant_takes_none(fourscore):
    launched, skipped = planned(fourscore, 'variant = ["moves", "good"]\nexchange = "all"')
    got = sorted((point["variant"], point["exchange"]) for point in launched)
    assert got == [("good", "none"), *(("moves", name) for name in EVERY_EXCHANGE)] and not skipped


def test_all_local_libraries_are_those_that_the_program_lists(fourscore):
    launched, skipped = planned(fourscore, 'variant = "good"\nlocal_fft = "all"')
    assert sorted(point["local_fft"] for point in launched) == ["fftw", "other"] and not skipped
    launched, _ = planned(fourscore, 'variant = "good"\nlocal_fft = "all"\nexclude = [{ local_fft = "fftw" }]')
    assert [point["local_fft"] for point in launched] == ["other"]


def test_a_point_without_exchange_has_the_variants_default(fourscore):
    """Named or not, it is one point."""
    same = 'variant = "moves"\nshape = "4x4x4"\nranks = 1\n'
    sweep = f'{same}[[sweep]]\n{same}exchange = "p2p"'
    (argv,), (record,), _ = measured(fourscore, sweep=sweep)
    assert option(argv, "--exchange") == record["point"]["exchange"] == "p2p"


def test_a_tuned_exchange_and_grid_are_asked_for_as_they_are(fourscore):
    argvs, records, _ = measured(fourscore, sweep='variant = "moves"\nexchange = "tuned"\ngrid = ["tuned", "auto"]\n')
    assert sorted((option(argv, "--exchange"), option(argv, "--grid")) for argv in argvs) == [
        ("tuned", "auto"), ("tuned", "tuned"),
    ]  # fmt: skip
    assert sorted(record["point"]["grid"] for record in records) == ["auto", "tuned"]
    shown = fourscore("status", records[0]["campaign"]["id"]).stdout
    assert "moves grid tuned" in " ".join(shown.split())


def test_a_grid_of_words_is_that_of_the_variant_and_may_be_the_default(fourscore):
    """Which grids words stand for: suite_test.cpp."""
    sweep = 'variant = ["moves", "good"]\nranks = 4'
    text = suite_text(sweep=sweep).replace("[[sweep]]", '[defaults]\ngrid = "square"\n[[sweep]]')
    points = [launch["point"] for launch in fourscore.plan(fourscore.suite(text))["launches"]]
    assert {point["variant"]: point["grid"] for point in points} == {"moves": [2, 2], "good": "auto"}


def test_a_grid_that_does_not_fit_the_ranks_is_skipped_and_the_others_are_measured(fourscore):
    _, records, _ = measured(fourscore, sweep='variant = "moves"\nranks = [4, 6]\ngrid = "2x3"')
    verdicts = {record["point"]["ranks"]: record["verdict"] for record in records}
    assert {ranks: verdict["status"] for ranks, verdict in verdicts.items()} == {4: "skipped", 6: "ok"}
    assert verdicts[4]["reason"] == "the grid does not fit"
