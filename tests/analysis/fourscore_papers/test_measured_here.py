"""What an archive has measured stands beside the number of the paper that it belongs to."""

import pytest
from fourscore_analysis.papers.here import Here
from fourscore_papers.czechowski2012 import numbers as czechowski2012
from fourscore_papers.eleftheriou2005 import numbers as eleftheriou2005
from fourscore_papers.gupta1993 import numbers as gupta1993
from fourscore_papers.lee2018 import measured as lee2018
from fourscore_papers.lee2018 import numbers as lee2018_numbers
from synthetic import Known, Maker, campaign_of, known_records, line_points, make_point
from synthetic.components import benchmark, component_point, component_record

BEYOND = 2.0**30  # bytes, beyond any cache
KNOWN = Known(t_c=2e-9, t_s=3e-6, t_w=1e-9)


def here_of(records) -> Here:
    return Here(None, [campaign_of(records)])


def timed(points, seconds, launches=3) -> Here:
    return here_of(known_records(Maker(), points, seconds, launches=launches))


def test_speedup_and_break_even_efficiency_of_binary_exchange():
    """t_c / (t_c + t_w) = 2/3, and 8 flops in 2 ns are 4 GFLOP/s."""
    points = line_points((1024, 4096, 65536), (1, 2, 4), ["binary-exchange"])
    here = timed(points, lambda p: KNOWN.time_s("binary-exchange", p["shape"][0], p["ranks"]))
    small, large = gupta1993.figure_2_here(here)
    for one, n in ((small, 1024), (large, 65536)):
        times = [KNOWN.time_s("binary-exchange", n, ranks) for ranks in (1, 4)]
        assert one.value == pytest.approx(times[0] / times[1])
        assert (one.column, one.launches) == ("curve", 3)
        assert "4 ranks" in one.what
    speed, threshold = gupta1993.section_8_here(here)
    assert (speed.column, speed.value) == ("flops_per_s", pytest.approx(4e9))
    assert (threshold.column, threshold.value) == ("break_even_efficiency", pytest.approx(2 / 3))


def test_radix_2_and_words_of_8_bytes_come_first():
    double = [point | {"precision": "double"} for point in line_points((1024, 65536), (1, 2), ["binary-exchange"])]
    radix_2 = [
        point | {"parameters": {"local": "radix-2"}}
        for point in line_points((1024, 65536), (1, 2), ["binary-exchange"])
    ]
    here = timed([*double, *radix_2], lambda p: (2 if p["parameters"] else 1) / p["ranks"])
    assert [family.label for family in gupta1993.lines_here(here)] == [
        "binary-exchange local=radix-2",
        "binary-exchange",
    ]


def test_nothing_is_measured_without_an_archive():
    for paper in (gupta1993, lee2018_numbers):
        for item in paper.PAPER.items.values():
            assert list(item.measured(Here())) == []


def test_table_2_1_of_lee2018_has_ours_by_decomposition_and_direction():
    points = [
        make_point("overdecomposed", "none", (300,) * 3, 2, direction=direction, parameters={"decomposition": cut})
        for direction in ("forward", "backward")
        for cut in ("5x5", "10x10", "20x20")
    ]
    seconds = {"5x5": 0.3, "10x10": 0.1, "20x20": 0.25}
    here = timed(points, lambda p: seconds[p["parameters"]["decomposition"]])
    found = {(one.row, one.column): one.value for one in lee2018.table_2_1_here(here)}
    assert found == {
        (row, f"{direction}_ms"): pytest.approx(value)
        for direction in ("forward", "backward")
        for row, value in ((1, 300), (3, 100), (5, 250))
    }
    share, slower = lee2018.figure_2_3_here(here)
    assert (share.column, share.value) == ("fft_percent", pytest.approx(100))
    assert (slower.column, slower.value) == ("slower_percent", pytest.approx(150))
    smaller = timed([point | {"shape": [64] * 3} for point in points], lambda p: 1.0)
    assert list(lee2018.table_2_1_here(smaller)) == []


def test_the_two_methods_of_lee2018_are_compared_on_the_most_cores_that_both_have():
    look = {"direction": "backward"}
    points = [make_point("overdecomposed", "none", (300,) * 3, ranks, **look) for ranks in (1, 2, 4)]
    points += [make_point("node", "none", (300,) * 3, 1, threads=threads, **look) for threads in (1, 2)]
    here = timed(points, lambda p: {"overdecomposed": 1.0, "node": 1.3}[p["variant"]] / (p["ranks"] * p["threads"]))
    faster, time = lee2018.figure_3_3_here(here)
    assert (faster.value, time.value) == (pytest.approx(30), pytest.approx(500))


def test_instances_of_lee2018_stand_beside_the_rows_with_as_many_nodes_and_instances():
    look = {"direction": "roundtrip"}
    points = [make_point("node", "none", (100,) * 3, 8, **look)]
    points += [
        make_point("node", "none", (100,) * 3, ranks, instances=many, placement=placement, **look)
        for many, placement, ranks in ((2, "all", 8), (2, "subset", 4), (4, "subset", 8), (4, "all", 2))
    ]
    here = timed(points, lambda p: 0.01 * p["instances"] * p["ranks"])
    found = {
        item: [(one.row, one.value) for one in lee2018.several_here(here, item)]
        for item in ("table-5.1", "table-5.2", "table-5.3")
    }
    assert found == {
        "table-5.1": [(1, pytest.approx(80)), (2, pytest.approx(160))],
        "table-5.2": [(2, pytest.approx(80))],
        "table-5.3": [(2, pytest.approx(320))],
    }


def test_threads_of_a_node_stand_beside_the_rows_with_as_many_nodes_and_threads():
    points = [
        make_point("node", "none", (300,) * 3, 4, threads=threads, direction="backward") for threads in (4, 8, 12)
    ]
    here = timed(points, lambda p: 1 / p["threads"])
    assert [(one.row, one.value) for one in lee2018.table_3_1_here(here)] == [(1, 250), (2, 125)]


def test_curves_join_no_two_builds():
    points = [
        make_point("overdecomposed", "none", (300,) * 3, 2, parameters={"decomposition": cut})
        for cut in ("5x5", "10x10", "20x20")
    ]
    old, new = Maker(revision="aaaaaaa"), Maker(revision="bbbbbbb")
    records = known_records(old, points, lambda p: 1.0, launches=1)
    records += known_records(new, points[:2], lambda p: 0.1, launches=1)
    found = lee2018.decomposed(here_of(records), "forward")
    assert {cut: point.time_s for cut, point in found.items()} == dict.fromkeys(("5x5", "10x10", "20x20"), 1.0)


def on_device(point: dict, seconds: float, phases: dict[str, float], flags=(), device=None) -> dict:
    rows = {phase: [[time] * 3] * point["ranks"] for phase, time in phases.items()}
    record = Maker().with_samples(point, 0, [[seconds] * 3] * point["ranks"], rows)
    record["flags"] = list(flags)
    if device:
        record["cost"]["device"] = {f"{name}_per_rank": [value] * point["ranks"] for name, value in device.items()}
    return record


@pytest.mark.parametrize("flags", [(), ("emulated",)])
def test_copies_of_table_4_1_are_a_gpus_and_never_a_stand_ins(flags):
    point = make_point("overdecomposed", "none", (300,) * 3, 1, direction="roundtrip", parameters={"offload": "rank"})
    work = {"h2d_copies": 6, "h2d_bytes": 1e9, "ffts": 6, "d2h_copies": 6, "d2h_bytes": 1e9}
    times = {"h2d": 0.5, "d2h": 0.4, "fft": 0.1, "pack": 1.0}
    here = here_of([on_device(point, 2.0, times, flags, work)])
    found = {(one.row, one.column): one.value for one in lee2018.table_4_1_here(here)}
    expected = {
        (1, "total_ms"): 500,
        (1, "average_ms"): 500 / 6,
        (1, "operations"): 6,
        (1, "share_percent"): 50,
        (2, "total_ms"): 400,
        (2, "average_ms"): 400 / 6,
        (2, "operations"): 6,
        (2, "share_percent"): 40,
    }
    assert found == ({} if flags else pytest.approx(expected))


def test_kinds_of_memory_stand_beside_the_rows_of_table_4_2():
    def node(seconds: float, **parameters: str) -> dict:
        point = make_point("node", "none", (500,) * 3, 4, parameters=parameters)
        return on_device(point, seconds, {"fft": seconds})

    records = [
        node(4.0),
        node(1.0, offload="pencil", **{"host-memory": "pageable"}),
        node(2.0, offload="pencil"),  # pinned is the default
        node(3.0, offload="pencil", **{"host-memory": "managed"}),
    ]
    found = {(one.row, one.column): one.value for one in lee2018.table_4_2_here(here_of(records))}
    assert found == {
        (1, "forward_s"): pytest.approx(4),
        (2, "forward_s"): pytest.approx(1),
        (3, "forward_s"): pytest.approx(2),
        (4, "forward_s"): pytest.approx(3),
    }


def test_shares_and_gain_of_digpufft_are_of_pencils_with_copies_on_gpus():
    def pencil(variant: str, seconds: float, extent: int, flags=(), **parameters: str) -> dict:
        point = make_point(variant, "alltoallv", (extent,) * 3, 2, parameters=parameters)
        of_gpu = {"h2d": 0.15 * seconds, "d2h": 0.1 * seconds} if variant == "pencil-gpu" else {}
        rest = {"fft": 0.2 * seconds, "pack": 0.05 * seconds, "unpack": 0.05 * seconds}
        exchange = seconds - sum(rest.values()) - sum(of_gpu.values())
        work = {"h2d_copies": 2, "h2d_bytes": 1e9, "ffts": 3, "d2h_copies": 2, "d2h_bytes": 1e9} if of_gpu else None
        return on_device(point, seconds, {**rest, **of_gpu, "exchange": exchange}, flags, work)

    records = [
        pencil("pencil", 1.2, 128),
        pencil("pencil", 1.1, 256),
        pencil("pencil-gpu", 1.0, 128),
        pencil("pencil-gpu", 1.0, 256, staging="copy"),
        pencil("pencil-gpu", 0.1, 256, staging="resident"),
        pencil("pencil-gpu", 0.2, 256, flags=["emulated"], staging="copy"),
    ]
    here = here_of(records)
    low, high = czechowski2012.figure_3_here(here)
    assert (low.column, low.value) == ("gain_low_percent", pytest.approx(10))
    assert (high.column, high.value) == ("gain_high_percent", pytest.approx(20))
    found = [(one.row, one.value, one.what.rpartition(" ")[2]) for one in czechowski2012.figure_4_here(here)]
    assert found == [
        (1, pytest.approx(20), "CPU"),
        (2, pytest.approx(10), "CPU"),
        (1, pytest.approx(20), "GPU"),
        (2, pytest.approx(10), "GPU"),
        (3, pytest.approx(25), "GPU"),
    ]
    emulated = here_of([pencil("pencil-gpu", 1.0, 128, flags=["emulated"])])
    assert list(czechowski2012.figure_4_here(emulated)) == []


def kernel_of_64(library: str, rate: float, flags=()):
    """A launch in which the multiply-adds reach 10 GFLOP/s."""
    fft = {"layout": "contiguous", "precision": "double", "library": library}
    benchmarks = [
        benchmark("c2c", BEYOND, rate, fft, length=64, flops=1e9),
        benchmark("c2c", BEYOND, 9.9e9, fft | {"layout": "slowest"}, length=128, flops=1e9),
        benchmark("multiply-add", BEYOND, 10e9, {"precision": "double"}, flops=1e9),
        benchmark("multiply-add", BEYOND, 5e9, {"precision": "single"}, flops=1e9),
    ]
    return component_record(Maker(), component_point("local_fft_bench", library=library), 0, benchmarks, flags)


def test_the_efficiency_of_the_best_kernel_stands_beside_that_of_blue_gene():
    slow, fast = kernel_of_64("fftw", 2e9), kernel_of_64("mkl", 4e9)
    [one] = eleftheriou2005.efficiency_here(here_of([slow, fast]))
    assert (one.row, one.column, one.launches) == (1, "efficiency_above_percent", 1)
    assert one.value == pytest.approx(40)
    assert one.what.startswith("mkl, 64 points")


def test_no_efficiency_without_a_peak_or_of_a_simulated_machine():
    simulated = kernel_of_64("mkl", 4e9, ("simulated",))
    without = kernel_of_64("mkl", 4e9)
    without["benchmarks"] = [one for one in without["benchmarks"] if one["kernel"] == "c2c"]
    assert list(eleftheriou2005.efficiency_here(here_of([simulated, without]))) == []
