"""Every key that the suite reader knows, followed to the arguments of the measuring program.

The reader itself says which keys it knows: a new one without an entry here fails.
"""

from __future__ import annotations

import json
import re

import pytest
from fake_identity import machine_hash


def suite_text(head: str = "", sweep: str = "", component: str | None = None) -> str:
    """One point on one rank but for what is given; a key given in `sweep` is not given twice."""
    fixed = {"variant": '"good"', "shape": '"4x4x4"', "ranks": "1"}
    kept = "".join(f"{key} = {value}\n" for key, value in fixed.items() if not re.search(rf"^{key}\b", sweep, re.M))
    name = "" if re.search(r"^name\b", head, re.M) else 'name = "s"\n'
    launches = "" if re.search(r"^launches\b", head, re.M) else "launches = 1\n"
    table = f"[[sweep]]\n{kept}{sweep}\n" if component is None else f"[[component]]\n{component}\n"
    return f"{name}{launches}{head}\n{table}"


def measured(fourscore, code: int = 0, **tables) -> tuple[list[list[str]], list[dict], dict]:
    """Command lines of the launches in the order in which they ended, records in the order of names, and campaign.json."""
    fourscore("run", fourscore.suite(suite_text(**tables)), code=code)
    argvs = (
        [json.loads(line)["argv"] for line in fourscore.log.read_text().splitlines()] if fourscore.log.exists() else []
    )
    (campaign,) = fourscore.archive.glob("campaigns/*/campaign.json")
    return argvs, list(fourscore.records().values()), json.loads(campaign.read_text())


def option(argv: list[str], name: str) -> str | None:
    return argv[argv.index(name) + 1] if name in argv else None


# Keys at the top whose value reaches the program as an option: (TOML, option, value).
OPTIONS = {
    "repetitions": ("7", "--repetitions", "7"),
    "warmup": ("4", "--warmup", "4"),
    "max_time_s": ("1.5", "--max-time-s", "1.5"),
    "check": ('"spots"', "--check", "spots"),
}
# (TOML that sets it, the flag, TOML that does not).
FLAGS = {
    "isolate": ("true", "--isolate", "false"),
    "phases": ("false", "--no-phases", "true"),
    "timeline": ("true", "--timeline", "false"),
}
# (TOML, option, the option's value, where the point of the record has it, what stands there).
POINT = {
    "variant": ('"slow"', "--variant", "slow", "variant", "slow"),
    "exchange": ('"alltoallw"\nvariant = "moves"', "--exchange", "alltoallw", "exchange", "alltoallw"),
    "local_fft": ('"other"', "--local-fft", "other", "local_fft", "other"),
    "shape": ('"5x6x7"', "--shape", "5x6x7", "shape", [5, 6, 7]),
    "precision": ('"single"', "--precision", "single", "precision", "single"),
    "kind": ('"r2c"', "--kind", "r2c", "kind", "r2c"),
    "direction": ('"backward"', "--direction", "backward", "direction", "backward"),
    "operator": ('"poisson"\ndirection = "convolution"', "--operator", "poisson", "operator", "poisson"),
    "ranks": ("3", None, None, "ranks", 3),
    "grid": ('"1x1"', "--grid", "1x1", "grid", [1, 1]),
    "active_ranks": ("1", "--active-ranks", "1", "active_ranks", 1),
    "threads": ("3", "--threads", "3", "threads", 3),
    "instances": ("2", "--instances", "2", "instances", 2),
    "placement": ('"subset"', "--placement", "subset", "placement", "subset"),
    "fields": ("3", "--fields", "3", "fields", 3),
    "field_order": ('"pipelined"\nfields = 2', "--field-order", "pipelined", "field_order", "pipelined"),
    "other_work": ('"2000us"', "--other-work", "2ms", "other_work", "2ms"),
    "other_work_load": ('"memory"', "--other-work-load", "memory", "other_work_load", "memory"),
    "other_work_place": ('"during"', "--other-work-place", "during", "other_work_place", "during"),
    "layout": ('"natural"', "--layout", "natural", "contract/layout", "natural"),
    "buffers": ('"out-of-place"', "--buffers", "out-of-place", "contract/buffers", "out-of-place"),
    "planner": ('"patient"', "--planner", "patient", "contract/planner", "patient"),
    "wire": ('"single"', "--wire", "single", "wire", "single"),
    "parameters": ("{ tile = 8 }", "--parameter", "tile=8", "parameters", {"tile": "8"}),
}


def check_name(fourscore):
    argvs, records, campaign = measured(fourscore, head='name = "other"')
    assert (
        campaign["suite"] == "other"
        and campaign["id"].startswith("other-")
        and records[0]["campaign"]["suite"] == "other"
    )


def check_description(fourscore):
    assert measured(fourscore, head='description = "why"')[2]["description"] == "why"


def check_launches(fourscore):
    argvs, records, campaign = measured(fourscore, head="launches = 4")
    assert len(argvs) == 4 and [r["campaign"]["launch"] for r in records] == [0, 1, 2, 3] and campaign["launches"] == 4


def check_min_time_s(fourscore):
    argvs, _, _ = measured(fourscore, head="min_time_s = 0.25", component='program = "alltoall_bench"\nranks = 1')
    assert option(argvs[0], "--min-time-s") == "0.25"


def check_synchronised(fourscore):
    argvs, records, _ = measured(
        fourscore, head="synchronised = true", component='program = "alltoall_bench"\nranks = 1'
    )
    assert "--synchronised" in argvs[0] and records[0]["sampling"]["synchronised"] is True


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
        argv = json.loads(fourscore.log.read_text().splitlines()[-1])["argv"]
        assert option(argv, "--wisdom") == (file and str(fourscore.archive / "wisdom" / file))


def check_checked(fourscore):
    argvs, _, _ = measured(fourscore, head='checked = "once"\nlaunches = 3')
    first = option(argvs[0], "--record")
    assert [option(argv, "--checked-by") for argv in argvs] == [None, first, first]
    fourscore("run", fourscore.suite(suite_text(head='checked = "every-launch"\nlaunches = 2'), "every.toml"))
    argvs = [json.loads(line)["argv"] for line in fourscore.log.read_text().splitlines()][3:]
    assert [option(argv, "--checked-by") for argv in argvs] == [None, None]


def check_precision(fourscore):
    """Times of the fake do not vary, so that six launches, the fewest that can tell, are precise."""
    assert len(measured(fourscore, head="precision = 0.05")[0]) == 6


def check_most_launches(fourscore):
    assert len(measured(fourscore, head="precision = 0.05\nmost_launches = 4")[0]) == 4


def check_retries(fourscore):
    """What they do shows in jobs (test_submit.py); here: causes are known by name, and kept with the suite."""
    text = suite_text(head="retries = { node_failure = 2 }")
    assert (
        "did you mean 'node_failure'"
        in fourscore("run", fourscore.suite(text.replace("node_f", "nod_f")), code=2).stderr
    )
    fourscore("run", fourscore.suite(text), "--dry-run")


EIGHT = "shape = [" + ", ".join(f'"{n}x4"' for n in range(1, 9)) + "]"


def order_of(argvs: list[list[str]]) -> list[str | None]:
    return [option(argv, "--shape") for argv in argvs]


def check_order(fourscore):
    argvs, _, campaign = measured(fourscore, head='order = "listed"\nlaunches = 2', sweep=EIGHT)
    assert order_of(argvs) == [f"{n}x4" for n in range(1, 9)] * 2 and campaign["order"] == "listed"


def check_seed(fourscore):
    argvs, _, campaign = measured(fourscore, head="seed = 5", sweep=EIGHT)
    assert campaign["seed"] == 5 and sorted(order_of(argvs)) == [f"{n}x4" for n in range(1, 9)] != order_of(argvs)
    fourscore("run", fourscore.folder / "s.toml", "--fresh")
    again = [json.loads(line)["argv"] for line in fourscore.log.read_text().splitlines()][8:]
    assert order_of(again) == order_of(argvs)
    other = fourscore.suite(suite_text(head="seed = 6", sweep=EIGHT), "other.toml")
    fourscore("run", other)
    others = [json.loads(line)["argv"] for line in fourscore.log.read_text().splitlines()][16:]
    assert order_of(others) != order_of(argvs)


def check_max_oversubscription(fourscore):
    _, records, campaign = measured(fourscore, head="max_oversubscription = 1.0", sweep="ranks = [1, 4096]")
    assert [r["point"]["ranks"] for r in records] == [1] and campaign["dropped_oversubscribed"] == 1


def check_defaults(fourscore):
    text = suite_text().replace("[[sweep]]", '[defaults]\nprecision = "single"\n[[sweep]]')
    fourscore("run", fourscore.suite(text))
    (record,) = fourscore.records().values()
    assert record["point"]["precision"] == "single"


def check_sweep(fourscore):
    assert len(measured(fourscore)[0]) == 1


def check_component(fourscore):
    argvs, records, _ = measured(fourscore, component='program = "alltoall_bench"\nranks = 1')
    assert argvs[0][0].endswith("/alltoall_bench") and records[0]["point"]["component"] == "alltoall_bench"


SIZES = 'sizes = ["here", "paper"]\n'


def check_sizes(fourscore):
    campaign = measured(fourscore, head=SIZES)[2]
    assert campaign["size"] == "here" and campaign["suite"] == "s"


def check_size(fourscore):
    """The size of a sweep: test_suite_sizes.py has the others."""
    point = 'variant = "{}"\nshape = "4"\nranks = 1\n'
    sweep = f'size = "here"\n{point.format("good")}[[sweep]]\nsize = "paper"\n{point.format("slow")}'
    _, records, _ = measured(fourscore, head=SIZES, sweep=sweep)
    assert [record["point"]["variant"] for record in records] == ["good"]


def check_size_tables(fourscore):
    text = suite_text(head=SIZES) + "[size.here]\nlaunches = 2\n"
    fourscore("run", fourscore.suite(text))
    assert len(fourscore.records()) == 2


def check_paper(fourscore):
    assert measured(fourscore, head='paper = "lee2018/table-2.1"')[2]["paper"] == ["lee2018/table-2.1"]


def tags_of_points(fourscore, **tables) -> list[list[str]]:
    return [point["tags"] for point in measured(fourscore, head='tags = "a"', **tables)[2]["points"]]


def check_tags(fourscore):
    """Tags of the top and of sweeps; test_selection.py selects by them."""
    point = 'variant = "good"\nshape = "4"\nranks = {}'
    sweeps = f'tags = "b"\n{point.format("[1, 2]")}\n[[sweep]]\ntags = ["c", "d"]\n{point.format("2")}'
    assert tags_of_points(fourscore, sweep=sweeps) == [["a", "b"], ["a", "b", "c", "d"]]


def check_tags_of_component(fourscore):
    component = 'tags = ["b"]\nprogram = "alltoall_bench"\nranks = 1'
    assert tags_of_points(fourscore, component=component) == [["a", "b"]]


def check_zip(fourscore):
    _, records, _ = measured(fourscore, sweep='shape = ["4", "8"]\nranks = [1, 2]\nzip = [["shape", "ranks"]]')
    assert sorted((r["point"]["shape"], r["point"]["ranks"]) for r in records) == [([4], 1), ([8], 2)]


def check_exclude(fourscore):
    _, records, _ = measured(fourscore, sweep="ranks = [1, 2, 3]\nexclude = [{ ranks = [1, 3] }]")
    assert [r["point"]["ranks"] for r in records] == [2]


def check_only(fourscore):
    _, records, _ = measured(fourscore, sweep="ranks = [1, 2, 3]\nonly = [{ ranks = [1, 3] }]")
    assert sorted(r["point"]["ranks"] for r in records) == [1, 3]


def check_option(key):
    def check(fourscore):
        text, name, value = OPTIONS[key]
        (argv,), _, _ = measured(fourscore, head=f"{key} = {text}")
        assert option(argv, name) == value

    return check


def check_flag(key):
    def check(fourscore):
        text, flag, otherwise = FLAGS[key]
        fourscore("run", fourscore.suite(suite_text(head=f"{key} = {text}")))
        fourscore("run", fourscore.suite(suite_text(head=f"{key} = {otherwise}"), "other.toml"))
        with_it, without = [json.loads(line)["argv"] for line in fourscore.log.read_text().splitlines()]
        assert flag in with_it and flag not in without

    return check


def check_place(text, key, expected):
    """Where ranks go. That takes a launcher of several nodes, so nothing is launched."""

    def check(fourscore):
        for table in ({"sweep": text}, {"component": f'program = "alltoall_bench"\n{text}'}):
            file = fourscore.suite(suite_text(**table))
            (launch,) = json.loads(fourscore("run", file, "--dry-run", "--json").stdout)["launches"]
            assert launch["point"][key] == expected

    return check


def point_on_a_platform(text, key, expected):
    """On a simulated machine: nothing is launched, since that takes another build."""

    def check(fourscore):
        sweep = f'ranks = 4\nnodes = 4\nplanner = "estimate"\nplatform = "bluegene-l"{text}'
        (launch,) = json.loads(fourscore("run", fourscore.suite(suite_text(sweep=sweep)), "--dry-run", "--json").stdout)[
            "launches"
        ]
        assert launch["point"][key] == expected

    return check


PLACE = {
    "nodes": check_place("ranks = 4\nnodes = 2", "ranks_per_node", 2),
    "ranks_per_node": check_place("ranks = 6\nranks_per_node = 3", "nodes", 2),
    "placement_of_ranks": check_place(
        'ranks = 4\nnodes = 2\nplacement_of_ranks = "cyclic"', "placement_of_ranks", "cyclic"
    ),
    "platform": point_on_a_platform("", "platform", "bluegene-l"),
    "host_order": point_on_a_platform('\nhost_order = "random"', "host_order", "random"),
}


def check_point(key):
    def check(fourscore):
        text, name, value, place, there = POINT[key]
        (argv,), (record,), campaign = measured(fourscore, sweep=f"{key} = {text}")
        if name is not None:
            assert option(argv, name) == value
        assert campaign["points"][0]["point"] == record["point"], "fft_bench was asked for the point of the campaign"
        found = record["point"]
        for part in place.split("/"):
            found = found[part]
        assert found == there

    return check


HEADER = {key.removeprefix("check_"): check for key, check in list(globals().items()) if key.startswith("check_")}
HEADER = {
    key: check
    for key, check in HEADER.items()
    if key not in ("option", "flag", "place", "point", "zip", "exclude", "only", "tags_of_component")
}
HEADER["size"] = HEADER.pop("size_tables")
HEADER |= {key: check_option(key) for key in OPTIONS} | {key: check_flag(key) for key in FLAGS}
SWEEP = {key: check_point(key) for key in POINT} | {"zip": check_zip, "exclude": check_exclude, "only": check_only}


def measure_by_a_program(fourscore):
    mine = fourscore.folder / "mine"
    mine.write_text("#!/bin/sh\necho sample_s 0.00001\n")
    mine.chmod(0o755)
    _, (record,), campaign = measured(fourscore, sweep='program = ["./mine"]\nvariant = "mine"')
    assert record["samples"]["time_s"] == [0.00001] and "mine" in campaign["identities"]


SWEEP["program"] = measure_by_a_program
SWEEP["size"] = check_size
SWEEP["tags"] = check_tags
SWEEP |= PLACE


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
    "tags": check_tags_of_component,
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
    file = fourscore.suite(suite_text(head=head, sweep=sweep))
    plan = json.loads(fourscore("run", file, "--dry-run", "--json").stdout)
    return [launch["point"] for launch in plan["launches"]], plan["skipped"]


EVERY_VARIANT = {"good", "slow", "aborts", "hangs", "refuses", "forgets", "picky", "moves", "dies-early"}
EVERY_EXCHANGE = ["alltoallv", "alltoallw", "p2p"]


def test_all_variants_are_those_that_the_program_lists(fourscore):
    launched, skipped = planned(fourscore, 'variant = "all"\nranks = 2')
    assert {point["variant"] for point in launched} == EVERY_VARIANT - {"picky"}
    assert [(point["point"]["variant"], point["reason"]) for point in skipped] == [("picky", "takes one rank")]


def test_all_may_stand_among_others_in_conditions_and_in_zip(fourscore):
    launched, _ = planned(fourscore, 'variant = ["good", "all"]\nexclude = [{ variant = ["slow", "hangs"] }]')
    assert sorted(point["variant"] for point in launched) == sorted(EVERY_VARIANT - {"slow", "hangs"})
    launched, _ = planned(
        fourscore, 'variant = "moves"\nexchange = "all"\nonly = [{ variant = "all", exchange = "p2p" }]'
    )
    assert [point["exchange"] for point in launched] == ["p2p"]
    zipped = 'variant = "moves"\nexchange = "all"\nshape = ["4", "5", "6"]\nzip = [["exchange", "shape"]]'
    launched, _ = planned(fourscore, zipped)
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


def test_a_default_exchange_is_met_by_conditions(fourscore):
    launched, _ = planned(fourscore, 'variant = ["good", "moves"]\nexclude = [{ exchange = "p2p" }]')
    assert [point["variant"] for point in launched] == ["good"]


def grids(points: list[dict]) -> list:
    return sorted(((point["variant"], point["ranks"], point["grid"]) for point in points), key=str)


def test_square_and_all_grids_are_those_of_the_ranks(fourscore):
    launched, skipped = planned(fourscore, 'variant = "moves"\nranks = [4, 6]\ngrid = "square"')
    assert grids(launched) == [("moves", 4, [2, 2]), ("moves", 6, [3, 2])] and not skipped
    launched, skipped = planned(fourscore, 'variant = "moves"\nranks = [1, 4]\ngrid = "all"')
    assert grids(launched) == [("moves", 1, [1, 1]), *(("moves", 4, grid) for grid in ([1, 4], [2, 2], [4, 1]))]
    assert not skipped


def test_a_tuned_exchange_and_grid_are_asked_for_as_they_are(fourscore):
    argvs, records, _ = measured(fourscore, sweep='variant = "moves"\nexchange = "tuned"\ngrid = ["tuned", "auto"]\n')
    assert sorted((option(argv, "--exchange"), option(argv, "--grid")) for argv in argvs) == [
        ("tuned", "auto"), ("tuned", "tuned"),
    ]  # fmt: skip
    assert sorted(record["point"]["grid"] for record in records) == ["auto", "tuned"]
    shown = fourscore("status", records[0]["campaign"]["id"]).stdout
    assert "moves grid tuned" in " ".join(shown.split())


def test_equal_grids_fall_together(fourscore):
    launched, _ = planned(fourscore, 'variant = "moves"\nranks = 4\ngrid = ["square", "2x2", "all", "auto"]')
    assert grids(launched) == [*(("moves", 4, grid) for grid in ("auto", [1, 4], [2, 2], [4, 1]))]


def test_words_leave_the_grid_to_a_variant_that_has_only_one(fourscore):
    launched, _ = planned(fourscore, 'variant = "good"\nranks = 4\ngrid = ["auto", "square", "all"]')
    assert grids(launched) == [("good", 4, "auto")]


def test_conditions_meet_the_grids_that_a_word_stands_for(fourscore):
    launched, _ = planned(fourscore, 'variant = "moves"\nranks = 4\ngrid = "all"\nexclude = [{ grid = "2x2" }]')
    assert grids(launched) == [("moves", 4, [1, 4]), ("moves", 4, [4, 1])]


def test_a_grid_of_words_may_be_the_default(fourscore):
    text = suite_text(sweep='variant = "moves"\nranks = 4').replace(
        "[[sweep]]", '[defaults]\ngrid = "square"\n[[sweep]]'
    )
    plan = json.loads(fourscore("run", fourscore.suite(text), "--dry-run", "--json").stdout)
    assert plan["launches"][0]["point"]["grid"] == [2, 2]


def test_a_grid_that_does_not_fit_the_ranks_is_skipped_and_the_others_are_measured(fourscore):
    _, records, _ = measured(fourscore, sweep='variant = "moves"\nranks = [4, 6]\ngrid = "2x3"')
    verdicts = {record["point"]["ranks"]: record["verdict"] for record in records}
    assert {ranks: verdict["status"] for ranks, verdict in verdicts.items()} == {4: "skipped", 6: "ok"}
    assert verdicts[4]["reason"] == "the grid does not fit"
