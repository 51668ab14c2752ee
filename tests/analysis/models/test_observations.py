"""What a model is fitted to: launches of one real machine, their phases as models count them, and parameters that
components measured."""

from __future__ import annotations

import pytest
from fourscore_analysis.models.measured import of_components, of_machine
from fourscore_analysis.models.observations import all_series, observed, one_machine, question_of, usable
from fourscore_analysis.records.archive import Campaign, InputError
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.transforms import parse_record
from synthetic import Maker, benchmark, canonical, component_point, component_record, make_point, read_back


def launch_of(phases: dict[str, float] | None = None, number: int = 0, flags=(), cpu: str = "One 1", **point):
    maker, asked = Maker(isolate=False), make_point(**({"ranks": 2} | point))
    record = maker.timed(asked, number, phases or 1.0, flags)
    record["provenance"] = maker.provenance(asked, cpu)
    return parse_record(canonical(record), f"{number}.json")


def test_packing_and_unpacking_are_one_phase_and_what_is_below_a_hundredth_is_none():
    one = observed(launch_of({"fft": 0.6, "pack": 0.2, "unpack": 0.1, "exchange": 0.091, "other": 0.009}))
    assert one.phases == pytest.approx({"fft": 0.6, "shuffle": 0.3, "exchange": 0.091})
    assert one.total_s == pytest.approx(1.0)
    at_the_limit = observed(launch_of({"fft": 0.995, "exchange": 0.005}))
    assert at_the_limit.phases == pytest.approx({"fft": 0.995})


def test_what_has_no_phase_of_the_models_is_a_whole():
    one = observed(launch_of({"other": 2.0}))
    assert one.phases == {"whole": 2.0}


def test_flags_that_make_a_time_doubtful_go_with_it_but_for_the_cache_which_models_know():
    assert observed(launch_of(flags=["in-cache", "unbound", "open-breakdown"])).flags == ("unbound",)


@pytest.mark.parametrize(
    ("grid", "resolved", "expected"),
    [("auto", [2, 4], (2, 4)), ([8, 1], None, (8, 1)), ("auto", None, ()), ("tuned", [4, 2], (4, 2))],
)
def test_a_grid_is_the_one_that_was_asked_for_or_chosen(grid, resolved, expected):
    record = Maker(isolate=False).ok(make_point("pencil", ranks=8, grid=grid), 0)
    record["resolved"] = {"grid": resolved} if resolved else {}
    assert question_of(parse_record(canonical(record), "a.json")).grid == expected


@pytest.mark.parametrize("flag", ["simulated", "emulated", "slowed", "foreign"])
def test_times_of_no_machine_are_not_used(flag):
    good, bad = launch_of(), launch_of(number=1, flags=[flag])
    assert usable([Campaign("c-11111111", "c", [good, bad])]) == [good]


@pytest.mark.parametrize("key", ["exchange", "grid"])
def test_tuned_launches_are_not_fitted(key):
    good, tuned = launch_of(variant="pencil"), launch_of(number=1, variant="pencil", **{key: "tuned"})
    assert usable([Campaign("c-11111111", "c", [good, tuned])]) == [good]


def test_launches_of_two_machines_are_refused_with_what_differs():
    with pytest.raises(InputError, match="nothing in these campaigns has a time"):
        one_machine([])
    one_machine([launch_of(), launch_of(number=1)])
    two = [launch_of(), launch_of(number=1, cpu="Other 2")]
    with pytest.raises(InputError) as refused:
        all_series(two)
    hashes = ", ".join(sorted(one.machine_hash[:8] for one in two))
    assert "launches of 2 machines; a fit is of one. Different are cpu_model: " in str(refused.value)
    assert str(refused.value).endswith(f"Choose one by the beginning of its hash: {hashes}")


def test_each_method_and_contract_is_a_series_with_its_sizes_and_ranks():
    shapes = ((64, 64, 64), (8, 8, 8))
    launches = [launch_of(number=number, shape=shape) for number, shape in enumerate(shapes)]
    launches.append(launch_of(number=2, layout="natural"))
    found = all_series(launches)
    assert sorted(len(one.observations) for one in found) == [1, 2]
    first = next(one for one in found if len(one.observations) == 2)
    assert (first.sizes, first.ranks) == ([(8, 8, 8), (64, 64, 64)], [2])


def component(program: str, *benchmarks: dict, ranks: int = 2, flags=()) -> dict:
    return component_record(Maker(), component_point(program, ranks), 0, list(benchmarks), flags)


def runs_of(*records: dict) -> list:
    return read_back(records)


def messages(alpha_s: float, rate: float) -> list[dict]:
    labels = {"phase": "0"}
    return [benchmark("sendrecv", size, rate, labels, alpha_s, bytes=size, steps=1, flops=size) for size in (2e3, 2e5)]


def test_components_of_the_machine_give_parameters_and_foreign_or_failed_ones_none():
    copy = benchmark("copy", 2.0**28, 8e9, {"precision": "double"})
    device = benchmark("copy", 2.0**28, 5e9, {"direction": "h2d"})
    stand_in = benchmark("copy", 2.0**27, 9e9, {"direction": "h2d"}, emulated=True)
    records = [
        component("memory_bench", copy),
        component("copy_bench", device, stand_in),
        component("pairwise_bench", *messages(1e-6, 4e9)),
    ]
    runs = runs_of(*records)
    found = of_components(runs, runs[0].machine_hash, [Place(1), Place(2)])
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {
            "memory_bandwidth": 8e9,
            "pcie_bandwidth": 2.0**29 / (2.0**29 / 5e9),
            "latency": 1e-6,
            "startup_time": 1e-6,
            "link_bandwidth": 4e9,
            "word_time": 16 / 4e9,
        },
        rel=1e-2,
    )
    assert {name: one.origin for name, one in found.items()}["latency"] == "pairwise_bench"
    assert of_components(runs, "another", [Place(2)]) == {}
    for changes in ({"flags": ["foreign"]}, {"verdict": records[0]["verdict"] | {"status": "failed"}}):
        assert of_components(runs_of(*(record | changes for record in records)), runs[0].machine_hash, [Place(2)]) == {}


@pytest.mark.parametrize(
    ("caches", "private"),
    [
        ([{"bytes": 2**15, "shared_by": 1}, {"bytes": 2**20, "shared_by": 1}, {"bytes": 2**25, "shared_by": 8}], 2**20),
        ([{"bytes": "?", "shared_by": 1}, {"bytes": 2**25, "shared_by": 8}, 7], None),
        ("?", None),
    ],
)
def test_the_private_cache_is_the_largest_that_a_core_has_for_itself(caches, private):
    launch = launch_of()
    launch.identity["machine"] = {"caches": caches}
    found = of_machine([launch])
    assert ({name: one.value for name, one in found.items()} or None) == (
        {"private_cache_bytes": float(private)} if private else None
    )
    assert of_machine([]) == {}
