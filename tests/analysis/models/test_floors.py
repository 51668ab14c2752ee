"""Floors of a point against numbers worked out by hand, from made-up components of one machine."""

import math

import pytest
from fourscore_analysis.models.floors import Floors, least_passes
from fourscore_analysis.models.observations import question_of
from fourscore_analysis.points.rates import Rates, last_level_bytes
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.tables.findings import findings
from fourscore_analysis.tables.floors import floor_table
from fourscore_analysis.views.shelf import Shelf
from synthetic import Maker, benchmark, canonical, component_point, component_record, make_point, view_of

MIB = 2.0**20
CUBE = (256, 256, 256)
ELEMENTS = 256**3
SHARE = ELEMENTS * 16 / 2  # bytes of one of two ranks
CACHE = 32 * MIB  # the machine's, shared by all of its 8 cores
ALONE = {"isolate": False}


def timed(seconds: float, variant: str = "slab", exchange: str = "alltoallv", shape=CUBE, ranks: int = 2, **changes):
    """A record whose ranks all take `seconds`."""
    return Maker(**ALONE).timed(make_point(variant, exchange, shape, ranks, **changes), 0, seconds)


def component(program: str, benchmarks: list, ranks: int = 2, launch: int = 0, **parameters: str) -> dict:
    return component_record(Maker(), component_point(program, ranks, **parameters), launch, benchmarks)


def exactly(one: dict, rate: float, amount: str = "bytes") -> dict:
    """`one` at this rate, in the cache or not."""
    one["time_s"] = [one["numbers"][amount] / rate] * 3
    one["rank_s"] = [one["time_s"]]
    return one


def copy(rate: float, kernel: str = "copy", size: float = 2.0**28) -> dict:
    return exactly(benchmark(kernel, size, rate, {"precision": "double"}), rate)


def transform(
    rate: float,
    length: int = 256,
    library: str = "fftw",
    kernel: str = "c2c",
    working_set: float = 262144,
    **labels: str,
) -> dict:
    labels = {"layout": "contiguous", "precision": "double", "library": library} | labels
    numbers = {"length": length, "flops": 5.0 * 16384 * math.log2(length), "working_set_bytes": working_set}
    return exactly(benchmark(kernel, float(length), rate, labels, **numbers), rate, "flops")


def sent(rate: float, message: float, exchange: str = "alltoallv", group: int = 2, parts: str = "transport") -> dict:
    labels = {"exchange": exchange, "communicator": "world", "grid": "1x2", "parts": parts}
    numbers = {"bytes": message * (group - 1), "messages": group - 1, "ranks_in_communicator": group}
    return exactly(benchmark("alltoall", message, rate, labels, **numbers), rate)


def floors_of(*records: dict) -> Floors:
    [one] = view_of(*records).floors
    return one


COMPONENTS = (
    component("memory_bench", [copy(6e9), copy(8e9, "streaming-copy"), copy(99e9, "read"), copy(90e9, size=2.0**14)]),
    component("local_fft_bench", [transform(5e9), transform(4e9, layout="middle"), transform(7e9, length=64)]),
    component("alltoall_bench", [sent(2e9, 32 * MIB), sent(1e9, 32 * MIB, parts="whole"), sent(9e9, MIB)]),
)


def test_memory_is_the_passes_over_what_the_cache_does_not_keep_at_the_fastest_copy():
    one = floors_of(timed(0.5), *COMPONENTS)
    moved = 2 * 2 * (SHARE - CACHE / 2)  # two passes, read and written, each rank with half of the cache
    assert one.passes == 2
    assert one.found["memory"].amount == moved
    assert one.found["memory"].seconds == pytest.approx(moved / 8e9)
    assert [rate.source for rate in one.found["memory"].sources] == ["streaming-copy, 2 cores at once"]


def test_flops_are_credited_at_the_rate_of_each_axis_in_the_cache():
    flops = floors_of(timed(0.5), *COMPONENTS).found["flops"]
    assert flops.amount == pytest.approx(5 * ELEMENTS * 24 / 2)
    assert flops.seconds == pytest.approx(5 * ELEMENTS * 24 / 2 / 5e9)
    mixed = floors_of(timed(0.5, shape=(64, 256, 256)), *COMPONENTS).found["flops"]
    elements = 64 * 256 * 256
    assert mixed.seconds == pytest.approx(5 * elements * 6 / 2 / 7e9 + 5 * elements * 16 / 2 / 5e9)


def test_the_exchange_is_what_is_sent_at_the_rate_of_messages_of_its_size():
    one = floors_of(timed(0.5), *COMPONENTS)
    exchange = one.found["exchange"]
    assert exchange.amount == SHARE / 2 == 64 * MIB
    assert exchange.seconds == pytest.approx(SHARE / 2 / 2e9)
    assert exchange.sources[0].source == "alltoallv, messages of 32.0 MiB"
    assert exchange.sources[0].instead == ""  # within a factor of two
    small = floors_of(timed(0.5, shape=(64, 64, 64)), *COMPONENTS).found["exchange"]
    assert small.seconds == pytest.approx(MIB / 9e9)


def test_the_largest_floor_is_named_with_the_ratio():
    one = floors_of(timed(0.5), *COMPONENTS)
    assert one.largest.name == "flops"
    assert one.ratio == pytest.approx(0.5 / (5 * ELEMENTS * 12 / 5e9))
    slow_memory = component("memory_bench", [copy(1e9)])
    one = floors_of(timed(0.5), slow_memory, *COMPONENTS[1:])
    assert one.largest.name == "memory"
    assert one.ratio == pytest.approx(0.5 / (4 * (SHARE - CACHE / 2) / 1e9))


def test_what_read_shared_memory_counts_as_exchanged():
    record = timed(0.5, exchange="shared")
    record["cost"] |= {"bytes_sent_per_rank": [0, 0], "bytes_read_shared_per_rank": [64 * MIB, 32 * MIB]}
    shared = component("alltoall_bench", [sent(4e9, 64 * MIB, "shared"), sent(5e9, 64 * MIB)])
    exchange = floors_of(record, shared).found["exchange"]
    assert (exchange.amount, exchange.seconds) == (64 * MIB, pytest.approx(64 * MIB / 4e9))


def test_a_rate_is_the_median_over_launches():
    runs = [component("memory_bench", [copy(rate)], launch=number) for number, rate in enumerate((1e9, 4e9, 2e9))]
    assert floors_of(timed(0.5), *runs).found["memory"].sources[0].rate == pytest.approx(2e9)


def test_what_stays_in_the_cache_costs_no_memory():
    one = floors_of(timed(0.01, shape=(64, 64, 64)), *COMPONENTS)
    assert one.found["memory"].seconds == 0
    assert one.largest.name == "flops"
    [row] = floor_table(view_of(timed(0.01, shape=(64, 64, 64)), *COMPONENTS)).rows
    assert row.floors[0] == ("0", "in the cache", False)


def passes(variant: str, ranks: int, cache_bytes: float = CACHE, shape=CUBE, **changes) -> int:
    record = timed(1.0, variant, "none" if variant == "serial" else "alltoallv", shape, ranks, **changes)
    return least_passes(question_of(parse_record(canonical(record), "a.json")), cache_bytes)


@pytest.mark.parametrize(
    ("variant", "ranks", "changes", "expected"),
    [
        ("slab", 2, {}, 2),
        ("slab", 2, {"layout": "natural"}, 2),  # the way back to the order computes nothing
        ("slab", 2, {"direction": "roundtrip"}, 2),  # a transform; there are two of them
        ("pencil", 4, {"grid": [2, 2]}, 3),
        ("pencil", 4, {"grid": [1, 4]}, 2),  # one of the exchanges has nobody to exchange with
        ("danielson-lanczos", 8, {}, 4),  # three exchanges with a partner
        ("somebody-elses", 2, {"grid": [1, 1]}, 2),  # every result depends on the data of both ranks
        ("serial", 1, {}, 2),  # 2^24 points, of which the cache holds 2^21
    ],
)
def test_a_rank_passes_over_its_data_before_and_after_each_exchange(variant, ranks, changes, expected):
    assert passes(variant, ranks, **changes) == expected


def test_a_small_cache_takes_more_passes():
    assert passes("serial", 1, cache_bytes=2**24 * 16) == 1
    assert passes("serial", 1, cache_bytes=2**12 * 16) == 2
    assert passes("serial", 1, cache_bytes=2**12 * 16 - 1) == 3
    assert passes("serial", 1, cache_bytes=0) == 1  # not known
    assert passes("slab", 2, cache_bytes=2**6 * 16) == 4


def test_there_and_back_is_twice_and_instances_are_each_by_itself():
    once = floors_of(timed(0.5), *COMPONENTS)
    twice = floors_of(timed(0.5, direction="roundtrip"), *COMPONENTS)
    for name in ("memory", "flops"):
        assert twice.found[name].seconds == pytest.approx(2 * once.found[name].seconds)
    # Four of 64^3 fit the cache one after the other, and all of their data do too.
    few = floors_of(timed(0.5, shape=(64, 64, 64), instances=4), *COMPONENTS)
    assert few.found["memory"].seconds == 0
    # Sixteen of 64^3: each fits, all of their data pass once.
    many = floors_of(timed(0.5, shape=(64, 64, 64), instances=16), *COMPONENTS)
    assert many.found["memory"].amount == 2 * (16 * 2 * MIB - CACHE / 2)


def test_real_data_has_half_the_flops_and_half_the_bytes():
    real = floors_of(timed(0.5, kind="r2c"), *COMPONENTS, component("local_fft_bench", [transform(2e9, kernel="r2c")]))
    assert real.found["flops"].amount == pytest.approx(2.5 * ELEMENTS * 12)
    # one axis of real data at its own rate
    assert real.found["flops"].seconds == pytest.approx(2.5 * ELEMENTS * 8 / 5e9 + 2.5 * ELEMENTS * 4 / 2e9)
    assert real.found["memory"].amount == 4 * (SHARE / 2 - CACHE / 2)


def test_threads_of_a_rank_are_cores_at_once():
    runs = [component("memory_bench", [copy(rate)], ranks) for ranks, rate in ((1, 9e9), (2, 8e9), (4, 6e9))]
    runs.append(component("local_fft_bench", [transform(5e9)], 4))
    one = floors_of(timed(0.5, threads=2), *runs)
    assert one.found["memory"].sources[0].rate == pytest.approx(6e9)
    assert one.found["memory"].seconds == pytest.approx(4 * (SHARE - CACHE / 2) / 12e9)
    assert one.found["flops"].seconds == pytest.approx(5 * ELEMENTS * 12 / 10e9)


def test_more_cores_at_once_than_the_point_has_give_no_floor():
    rates = Rates(parse_record(canonical(component("memory_bench", [copy(6e9)], 4)), "a.json") for _ in range(1))
    assert rates.bandwidth(2) is None
    assert rates.bandwidth(4).instead == ""
    assert rates.bandwidth(8).instead == "4 cores at once"


def test_a_transform_beyond_the_caches_is_no_rate_in_cache():
    beyond = component("local_fft_bench", [transform(5e9, working_set=17 * MIB)])  # twice 17 of 32 MiB
    assert "flops" in floors_of(timed(0.5), beyond).lacking
    within = component("local_fft_bench", [transform(5e9, working_set=16 * MIB)])
    assert "flops" not in floors_of(timed(0.5), within).lacking


def test_what_was_measured_in_place_of_something_else_is_said():
    runs = (
        component("memory_bench", [copy(6e9)], 1),
        component("local_fft_bench", [transform(5e9, length=100, library="mkl")]),
        component("alltoall_bench", [sent(2e9, MIB, "p2p"), sent(3e9, MIB, "shared", group=4)]),
    )
    table = floor_table(view_of(timed(0.5, exchange="pairwise"), *runs))
    said = {row.floor: row.instead for row in table.rates}
    assert said["memory"] == "1 core"
    assert said["flops"] == "library mkl, length 100"
    assert said["exchange"] == "p2p, the fastest measured, messages of 1.00 MiB"


def test_messages_between_two_ranks_stand_in_for_an_exchange():
    pair = exactly(benchmark("sendrecv", 64 * MIB, 1, {"phase": "0"}, bytes=64 * MIB, steps=1), 3e9)
    half = exactly(benchmark("pingpong", 64 * MIB, 1, {"phase": "0"}, bytes=64 * MIB, steps=2), 9e9)
    exchange = floors_of(timed(0.5), component("pairwise_bench", [pair, half])).found["exchange"]
    assert exchange.seconds == pytest.approx(64 * MIB / 3e9)
    assert exchange.sources[0].instead == "sendrecv, the fastest measured"


def test_a_library_that_names_no_exchange_is_held_against_the_fastest():
    runs = component("alltoall_bench", [sent(2e9, 64 * MIB, "p2p"), sent(3e9, 64 * MIB, "shared")])
    exchange = floors_of(timed(0.5, "fftw-mpi", "none"), runs).found["exchange"]
    assert exchange.seconds == pytest.approx(64 * MIB / 3e9)


def test_an_exchange_that_was_measured_with_its_packing_says_so():
    whole = sent(2e9, 64 * MIB, parts="whole")
    assert floors_of(timed(0.5), component("alltoall_bench", [whole])).found["exchange"].sources[0].instead == (
        "with its packing"
    )
    slower = sent(1e9, 64 * MIB, "mpi-alltoallv", parts="whole")
    one = floors_of(timed(0.5, "fftw-mpi", "none"), component("alltoall_bench", [slower]))
    assert one.found["exchange"].sources[0].instead == "mpi-alltoallv, the fastest measured"


def test_exchanges_of_other_places_do_not_count():
    run = parse_record(canonical(component("alltoall_bench", [sent(2e9, MIB, group=4)], 4)), "a.json")
    assert Rates([run]).exchange(Place(2), "alltoallv", 2, MIB) is None
    assert Rates([run]).exchange(Place(4), "alltoallv", 2, MIB).instead == "among 4 ranks"


def test_components_of_another_machine_do_not_count():
    other = component("memory_bench", [copy(6e9)])
    other["provenance"]["machine_hash"] = "another"
    assert set(floors_of(timed(0.5), other).lacking) == {"memory", "flops", "exchange"}


def test_components_of_another_campaign_count():
    view, components = view_of(timed(0.5)), view_of(*COMPONENTS)
    view.shelf = Shelf([view, components])
    [one] = view.floors
    assert not one.lacking


def test_a_rank_on_its_own_exchanges_nothing():
    record = timed(0.5, "serial", "none", ranks=1)
    record["cost"] |= {"bytes_sent_per_rank": [0], "messages_per_rank": [0]}
    assert floors_of(record, *COMPONENTS).found["exchange"].seconds == 0


@pytest.mark.parametrize(
    ("machine", "cores", "expected"),
    [
        (
            {
                "cores": 8,
                "caches": [{"level": 3, "bytes": 32, "shared_by": 8}, {"level": 2, "bytes": 1, "shared_by": 1}],
            },
            8,
            32,
        ),
        ({"cores": 8, "caches": [{"level": 3, "bytes": 32, "shared_by": 4}]}, 8, 64),
        ({"cores": 8, "caches": [{"level": 3, "bytes": 32, "shared_by": 4}]}, 1, 32),
        ({"cores": 8, "caches": "?"}, 1, 0),
        ({"caches": [{"level": 3, "bytes": "32", "shared_by": 4}, 7]}, 1, 0),
        ({"caches": [{"level": 3, "bytes": 10**400, "shared_by": 4}]}, 1, 0),
        ({}, 1, 0),
    ],
)
def test_the_last_level_is_that_of_the_cores_that_are_busy(machine, cores, expected):
    assert last_level_bytes(machine, cores) == expected


def test_the_report_says_how_far_the_best_is_and_which_floor_is_the_largest(reported):
    [campaign], text = reported([timed(0.5), *COMPONENTS])
    [one] = campaign["floors"]
    assert one["largest"] == "flops"
    assert one["time_over_largest"] == pytest.approx(0.5 / (5 * ELEMENTS * 12 / 5e9))
    assert "It takes 2.48 times the largest floor, flops (201 ms)." in campaign["findings"][0]
    assert "How far from the machine's floors (1 point)" in text
    assert "<strong>2.48</strong>" in text
    assert "Floors that are not known" not in text


def test_what_was_not_measured_is_named_with_the_command_that_measures_it(reported):
    view = view_of(timed(0.5), *COMPONENTS[:1])
    [one] = view.floors
    assert list(one.lacking) == ["flops", "exchange"]
    assert one.lacking["flops"] == (
        "mpirun -n 2 local_fft_bench --parameter lengths=256 --parameter points=4096 --parameter library=fftw "
        "--parameter kind=c2c --parameter precision=double --record local_fft_bench.json"
    )
    assert "floor that was measured (not flops and exchange), memory" in findings(view)[0]
    _, text = reported([timed(0.5), *COMPONENTS[:1]])
    assert "Floors that are not known: flops, exchange" in text
    assert "mpirun -n 2 local_fft_bench --parameter lengths=256" in text.replace("<wbr>", "")


def test_a_campaign_without_times_has_no_floors():
    assert floor_table(view_of(*COMPONENTS)) is None
    lone = floor_table(view_of(timed(0.5)))
    assert (lone.rows, lone.lacking) == ([], ["memory", "flops", "exchange"])
    assert findings(view_of(timed(0.5)))[0].count("floor") == 0
