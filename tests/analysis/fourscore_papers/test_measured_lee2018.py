"""What an archive has measured beside the figures of lee2018: threads, messages over time, nodes, GPUs."""

import pytest
from fourscore_analysis.papers.here import Here
from fourscore_analysis.papers.ranges import rows_of
from fourscore_papers.lee2018 import figures, measured, receives
from synthetic import Maker, campaign_of, here_told, make_point

LARGE = (300,) * 3
CHARM, NODE = "overdecomposed", "node"
STYLE = {"style": "charm", "z-to-y": "one-thread"}


def node(nodes: int, threads: int, parameters=STYLE, direction: str = "backward", shape=LARGE, **changes) -> dict:
    where = {"nodes": nodes, "threads": threads, "direction": direction}
    return make_point(NODE, "none", shape, nodes, parameters=dict(parameters), **where, **changes)


def charm(nodes: int, a_node: int) -> dict:
    return make_point(CHARM, "none", LARGE, nodes * a_node, nodes=nodes, direction="backward")


def values(found) -> dict[tuple[int, str], float]:
    return {(one.row, one.column): pytest.approx(one.value) for one in found}


def drawn(name: str, here: Here):
    [plot] = [plot for plot in figures.PLOTS if plot.name == name]
    return plot.draw(here, plot.title)


def lines(axes) -> list[tuple[list[float], list[float]]]:
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines if line.get_marker() == "o"]


def test_threads_gain_more_backward_than_forward():
    told = [
        (node(2, threads, direction=way), seconds)
        for way, of in (("forward", (2.0, 1.6)), ("backward", (2.0, 1.0)))
        for threads, seconds in zip((1, 4), of, strict=True)
    ]
    told.append((node(2, 4, {"style": "charm"}, "forward"), 1.1))
    [one] = measured.figure_3_1_here(here_told(told))
    assert (one.row, one.value, one.launches) == (1, pytest.approx(2.0 / 1.25), 3)
    [axes] = drawn("figure-3.1", here_told(told)).axes
    assert sorted(ys for _, ys in lines(axes)) == [[1100], [2000, 1000], [2000, 1600]]


def with_messages(point: dict, of_workers: dict[tuple[int, int], int]) -> dict:
    """A record whose worker (rank, thread) unpacked so many messages, one each millisecond."""
    record = Maker("told-11111111", "told", repetitions=1).timed(point, 0, 1.0)
    record["timeline"] = {
        "clock": {
            "alignment": "shared clock",
            "offset_s": [0.0] * point["ranks"],
            "uncertainty_s": [0.0] * point["ranks"],
        },
        "room": 20000,
        "rank_start_s": [0.0] * point["ranks"],
        "rank_end_s": [1.0] * point["ranks"],
        "lanes": [
            {
                "rank": rank,
                "lane": lane,
                "dropped": 0,
                "phase": ["fft"] + ["unpack"] * count,
                "begin_s": [0.0] + [0.001 * i for i in range(1, count + 1)],
                "end_s": [0.001] + [0.001 * (i + 1) for i in range(1, count + 1)],
            }
            for (rank, lane), count in of_workers.items()
        ],
    }
    return record


def traced(cores: int = 128) -> Here:
    cut = {"decomposition": "10x10"}
    ranks = cores
    many = [make_point(CHARM, "none", LARGE, ranks, direction=way, parameters=cut) for way in ("forward", "backward")]
    few = [node(cores // 16, 16, {"style": "charm"}, way) for way in ("forward", "backward")]
    records = [with_messages(point, {(0, 0): 90, (1, 0): 15, (2, 0): 17}) for point in many]
    records += [with_messages(point, {(0, 0): 1, (0, 1): 5, (1, 0): 2, (1, 1): 4}) for point in few]
    return Here(None, [campaign_of(records)])


def test_messages_received_are_counted_in_timelines():
    """Six transforms: of Charm-FFT the mean of all but the first worker, of Charm-NodeFFT all of a node together."""
    here = traced()
    assert values(receives.figure_3_2_here(here)) == {(1, "messages"): 6 * 16, (2, "messages"): 6 * 6}
    assert list(receives.figure_3_2_here(traced(64))) == []
    of_charm, of_node = drawn("figure-3.2", here).axes
    steps = [line.get_ydata()[-1] for line in of_charm.lines if line.get_drawstyle() == "steps-post"]
    assert sorted(steps) == [15, 17, 90]
    assert max(line.get_ydata()[-1] for line in of_node.lines if line.get_drawstyle() == "steps-post") == 5


def test_nodes_of_64_and_of_16_cores_stand_beside_figures_3_4_and_3_5():
    told = [(charm(8, 64), 0.03), (node(16, 64), 0.1), (node(32, 64), 0.16), (node(64, 16), 0.019), (node(2, 8), 0.5)]
    here = here_told(told)
    assert values(measured.figure_3_4_here(here)) == {(1, "backward_low_ms"): 30, (2, "longer_percent"): 60}
    assert values(measured.figure_3_5_here(here)) == {(2, "shorter_percent"): 81}
    above, below = drawn("figures-3.4-3.5", here).axes
    assert sorted(lines(above)) == [([8], [30]), ([16, 32], [100, 160])]
    assert lines(below) == [([64], [19])]


def test_simulated_nodes_are_hollow_in_figures_3_4_and_3_5():
    told = [(node(nodes, 16, platform="hdr-fat-tree"), 1 / nodes) for nodes in (4, 8)]
    above, below = drawn("figures-3.4-3.5", here_told(told)).axes
    [line] = [line for line in below.lines if line.get_marker() == "o"]
    assert (list(line.get_xdata()), line.get_markerfacecolor()) == ([4, 8], "white")
    assert lines(above) == []


def on_gpu(nodes: int, memory: str) -> dict:
    return node(nodes, 4, STYLE | {"offload": "pencil", "host-memory": memory})


def gpus(**times: float) -> list:
    """Seconds on one node by kind of memory and `fftw`, half of it on two."""
    points = {name: (lambda nodes, name=name: on_gpu(nodes, name)) for name in ("pageable", "pinned", "managed")}
    points["fftw"] = lambda nodes: node(nodes, 4)
    return [(points[name](nodes), seconds / nodes) for name, seconds in times.items() for nodes in (1, 2)]


def test_gpus_stand_beside_figures_4_1_and_4_2():
    here = here_told(gpus(fftw=1.0, pageable=0.6, pinned=0.7, managed=0.9))
    assert values(measured.figure_4_1_here(here)) == {(1, "shorter_percent"): 40}
    assert values(measured.figure_4_2_here(here)) == {(1, "curve"): 1, (2, "curve"): 0.7 / 0.6, (3, "curve"): 1.5}
    [axes] = drawn("figures-4", here).axes
    assert len(lines(axes)) == 4


def test_processors_alone_and_stand_ins_are_no_gpu():
    alone = here_told(gpus(fftw=1.0))
    emulated = here_told(gpus(fftw=1.0, pageable=0.6), flags=["emulated"])
    for here in (alone, emulated):
        assert list(measured.figure_4_1_here(here)) == []
        [axes] = drawn("figures-4", here).axes
        assert lines(axes) == []


def test_transforms_of_each_axis_stand_beside_rows_4_to_6_of_table_4_1():
    point = node(4, 4, STYLE | {"offload": "pencil", "host-memory": "pageable"}, "roundtrip")
    phases = {"h2d": 0.5, "d2h": 0.4, "fft": 0.1}
    record = Maker("told-11111111", "told", repetitions=1).timed(point, 0, phases)
    work = {"h2d_copies": 6, "h2d_bytes": 1e9, "ffts": 6, "d2h_copies": 6, "d2h_bytes": 1e9}
    record["cost"]["device"] = {f"{name}_per_rank": [value] * 4 for name, value in work.items()}
    forward = {"fft-1": 0.01, "fft-2": 0.02, "fft-3": 0.03}
    backward = {f"backward {name}": seconds for name, seconds in forward.items()}
    record["isolated"] = [
        {
            "name": name,
            "phase": "fft",
            "rank_s": [[seconds]] * 4,
            "rank_samples_s": [[[seconds]]] * 4,
            "time_s": [seconds],
        }
        for name, seconds in (forward | backward).items()
    ]
    found = values(measured.table_4_1_here(Here(None, [campaign_of([record])])))
    assert {key: found[key] for key in found if key[1] == "operations"} == {
        (row, "operations"): count for row, count in ((1, 6), (2, 6), (4, 2), (5, 2), (6, 2))
    }
    assert [found[row, "total_ms"] for row in (1, 4, 5, 6)] == [500, 40, 40, 40]
    assert found[4, "share_percent"] == 4


def test_one_instance_has_the_means_of_both_ways_beside_table_5_1():
    point = make_point(NODE, "none", (100,) * 3, 8, nodes=8, direction="roundtrip")
    maker = Maker("told-11111111", "told", repetitions=2)
    record = maker.with_samples(point, 0, [[0.06, 0.08]] * 8, {"fft": [[0.06, 0.08]] * 8})
    record["samples"]["forward_s"] = [0.05, 0.06]
    found = values(measured.several_here(Here(None, [campaign_of([record])]), "table-5.1"))
    assert found[1, "forward_ms"] == 55
    assert found[1, "backward_ms"] == 15
    del record["samples"]["forward_s"]
    without = values(measured.several_here(Here(None, [campaign_of([record])]), "table-5.1"))
    assert set(without) == {(1, "completion_ms")}


def test_each_of_the_26_printed_means_has_ours_beside_it():
    there, whole = [0.04, 0.06], [0.05, 0.07]
    for item, means in (("table-5.1", 12), ("table-5.2", 8), ("table-5.3", 6)):
        records = []
        for row in rows_of("lee2018", item):
            nodes, many = int(row["nodes"]), int(row["instances"])
            placement = "all" if item == "table-5.1" else "subset"
            changes = {"direction": "roundtrip", "instances": many, "placement": placement}
            point = make_point(NODE, "none", (100,) * 3, nodes, nodes=nodes, **changes)
            maker = Maker("told-11111111", "told", repetitions=2)
            record = maker.with_samples(point, 0, [whole] * nodes, {"fft": [whole] * nodes})
            record["samples"]["forward_s"] = there
            if many > 1:
                record["samples"] |= {"instance_forward_s": [there] * many, "instance_time_s": [whole] * many}
            records.append(record)
        found = values(measured.several_here(Here(None, [campaign_of(records)]), item))
        assert sum(column != "completion_ms" for _, column in found) == means
        for row in range(1, len(records) + 1):
            assert (found[row, "forward_ms"], found[row, "backward_ms"]) == (50, 10)
