"""Records that agree with the conclusions of lee2018, and that do not, for test_conclusions_both_ways.py."""

import pytest
from fourscore_analysis.papers.base import Measured
from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, PRINTED, SIMULATED, UNTESTED, conclusions_of
from fourscore_analysis.papers.here import Here
from fourscore_papers.lee2018 import conclusions
from fourscore_papers.lee2018.conclusions import TESTS
from synthetic import Maker, campaign_of, here_told, make_point

LARGE, SMALL, LARGEST = (300,) * 3, (100,) * 3, (500,) * 3
CHARM, NODE = "overdecomposed", "node"
KNIGHTS = "knl-omni-path"
MACHINES = ((MEASURED, {}), (SIMULATED, {"platform": KNIGHTS}))
STYLE = {"style": "charm", "z-to-y": "one-thread"}


def node(nodes: int, threads: int = 1, shape=LARGE, direction: str = "backward", parameters=STYLE, **changes) -> dict:
    where = {"nodes": nodes, "threads": threads, "direction": direction}
    return make_point(NODE, "none", shape, nodes, parameters=dict(parameters), **where, **changes)


def charm(nodes: int, a_node: int = 1, direction: str = "backward", **changes) -> dict:
    return make_point(CHARM, "none", LARGE, nodes * a_node, nodes=nodes, direction=direction, **changes)


def by_cut(times: dict[str, float], a_node: int = 32):
    return [(charm(4, a_node, parameters={"decomposition": cut}), seconds) for cut, seconds in times.items()]


def shares(coarse: float, fine: float):
    return [
        (charm(4, 32, parameters={"decomposition": cut}), {"fft": share, "exchange": 1 - share})
        for cut, share in (("10x10", coarse), ("20x20", fine))
    ]


def by_thread_count(times: dict[int, float], **platform: str):
    return [(node(4, threads, **platform), seconds) for threads, seconds in times.items()]


def both_ways(forward: float, backward: float):
    """Times with 16 threads where one takes 1 s."""
    return [
        (node(2, threads, direction=way), seconds)
        for way, of in (("forward", forward), ("backward", backward))
        for threads, seconds in ((1, 1.0), (16, of))
    ]


def on_nodes(of_charm: dict[int, float], of_node: dict[int, float], **platform: str):
    a_node = 1 if platform else 16
    told = [(charm(nodes, a_node, **platform), seconds) for nodes, seconds in of_charm.items()]
    return told + [(node(nodes, a_node, **platform), seconds) for nodes, seconds in of_node.items()]


def simulated(of_charm: dict[int, float], of_node: dict[int, float]):
    return on_nodes(of_charm, of_node, platform="hdr-fat-tree")


def threaded(of_charm: dict[int, float], of_node: dict[int, float]):
    """With 16 cores of each simulated node, and segments that are faster, but not what the thesis measured."""
    told = [(charm(nodes, 16, platform=KNIGHTS), seconds) for nodes, seconds in of_charm.items()]
    for parameters, times in ((STYLE, 1.0), ({}, 0.5)):
        told += [
            (node(nodes, 16, parameters=parameters, platform=KNIGHTS), times * seconds)
            for nodes, seconds in of_node.items()
        ]
    return told


def wide_and_narrow(wide: float, narrow: float, **platform: str):
    return [(node(16, 64, **platform), wide), (node(64, 16, **platform), narrow)]


def on_gpu(nodes: int, memory: str, shape=LARGE) -> dict:
    return node(nodes, 4, shape, parameters=STYLE | {"offload": "pencil", "host-memory": memory})


def gpu_gains(one: float, four: float):
    """Times with a GPU where FFTW takes 1 s."""
    on_host = [(node(nodes, 4), 1.0) for nodes in (1, 4)]
    return [*on_host, (on_gpu(1, "pageable"), one), (on_gpu(4, "pageable"), four)]


def memories(pageable: float, pinned: float, managed: float, shape=LARGEST):
    times = {"pageable": pageable, "pinned": pinned, "managed": managed}
    return [(on_gpu(4, memory, shape), seconds) for memory, seconds in times.items()]


def instances(times: dict[int, float], nodes: int = 8):
    return [
        (node(nodes, 24, SMALL, "roundtrip", instances=many, **({"placement": "all"} if many > 1 else {})), seconds)
        for many, seconds in times.items()
    ]


def subsets(times: dict[int, float]):
    return [
        (node(nodes, 24, SMALL, "roundtrip", instances=2, placement="subset"), seconds)
        for nodes, seconds in times.items()
    ]


CASES = [
    (
        "one-pencil-a-core-is-best",
        MEASURED,
        by_cut({"5x5": 0.2, "10x10": 0.1, "30x30": 0.3}),
        by_cut({"5x5": 0.1, "10x10": 0.2, "30x30": 0.3}),
    ),
    ("messages-eat-the-gain-of-small-pencils", MEASURED, shares(0.25, 0.21), shares(0.21, 0.25)),
    *(
        (
            "sixteen-threads-are-best",
            evidence,
            by_thread_count({4: 0.3, 16: 0.1, 32: 0.2}, **platform),
            by_thread_count({4: 0.3, 16: 0.2, 32: 0.1}, **platform),
        )
        for evidence, platform in MACHINES
    ),
    (
        "one-thread-from-z-to-y-holds-the-forward-transform-back",
        MEASURED,
        both_ways(0.5, 0.2),
        both_ways(0.2, 0.2),
    ),
    *(
        case
        for kind, evidence in ((on_nodes, MEASURED), (simulated, SIMULATED), (threaded, SIMULATED))
        for case in (
            ("charm-fft-is-faster-on-few-nodes", evidence, kind({4: 1.0}, {4: 1.61}), kind({4: 1.0}, {4: 1.0})),
            (
                "charm-fft-levels-off-first",
                evidence,
                kind({4: 1.0, 16: 0.5, 64: 0.4}, {4: 1.5, 16: 0.8, 64: 0.3}),
                kind({4: 1.0, 16: 0.5, 64: 0.2}, {4: 1.5, 16: 0.8, 64: 0.5}),
            ),
        )
    ),
    *(
        (
            "many-nodes-with-few-cores-suit-nodefft",
            evidence,
            wide_and_narrow(1.0, 0.19, **platform),
            wide_and_narrow(1.0, 1.2, **platform),
        )
        for evidence, platform in MACHINES
    ),
    ("gpu-gains-less-with-more-nodes", MEASURED, gpu_gains(0.6, 0.8), gpu_gains(0.8, 0.6)),
    ("pageable-memory-is-fastest", MEASURED, memories(1.0, 1.1, 1.3), memories(1.0, 0.9, 1.3)),
    ("pageable-memory-is-fastest", MEASURED, memories(1.0, 1.1, 1.3, LARGE), memories(1.0, 1.1, 0.9, LARGE)),
    (
        "instances-on-all-nodes-wait-for-cores",
        MEASURED,
        instances({1: 0.06, 2: 0.06, 16: 0.17}),
        instances({1: 0.06, 2: 0.12, 16: 0.9}),
    ),
    ("instances-on-subsets-run-at-once", MEASURED, subsets({2: 0.2, 16: 0.06}), subsets({2: 0.2, 16: 0.2})),
]
OTHERWISE: dict[str, tuple] = {}
ELSEWHERE = {"copies-fill-the-gpus-time", "fewer-messages-with-a-pencil-a-node"}


def test_few_cores_do_not_tell_how_many_pencils_are_best():
    told = by_cut({"5x5": 0.1, "10x10": 0.2, "30x30": 0.3}, a_node=2)
    assert MEASURED not in {one.evidence for one in TESTS["one-pencil-a-core-is-best"](here_told(told))}


def measured(claim: str, here: Here) -> list[bool | None]:
    return [one.holds for one in TESTS[claim](here) if one.evidence == MEASURED]


@pytest.mark.parametrize(("fft_s", "holds"), [(0.02, True), (0.5, False)])
def test_copies_are_compared_with_the_transforms_of_a_device(fft_s, holds):
    point = node(4, 4, direction="roundtrip", parameters=STYLE | {"offload": "pencil", "host-memory": "pageable"})
    rows = {name: [[seconds]] * 4 for name, seconds in (("h2d", 0.5), ("d2h", 0.4), ("fft", fft_s))}
    record = Maker("told-11111111", "told", repetitions=1).with_samples(point, 0, [[2.0]] * 4, rows)
    work = {"h2d_copies": 6, "h2d_bytes": 1e9, "ffts": 6, "d2h_copies": 6, "d2h_bytes": 1e9}
    record["cost"]["device"] = {f"{name}_per_rank": [value] * 4 for name, value in work.items()}
    assert measured("copies-fill-the-gpus-time", Here(None, [campaign_of([record])])) == [holds]


@pytest.mark.parametrize(("counts", "holds"), [((94.0, 36.0), True), ((36.0, 94.0), False)])
def test_messages_received_are_those_of_the_timelines(counts, holds, monkeypatch):
    found = [Measured(row, "messages", count, 1, "") for row, count in enumerate(counts, 1)]
    monkeypatch.setattr(conclusions, "figure_3_2_here", lambda here: iter(found))
    assert measured("fewer-messages-with-a-pencil-a-node", Here()) == [holds]


def test_what_follows_from_the_thesis_alone():
    found = {
        (one.claim.id, finding.evidence, finding.holds)
        for one in conclusions_of("lee2018", Here())
        for finding in one.findings
    }
    untested = {one.claim.id for one in conclusions_of("lee2018", Here()) if one.verdict == UNTESTED}
    assert untested == {"charm-fft-levels-off-first", "unlike-openatom"}
    assert {(name, holds) for name, evidence, holds in found if evidence == PRINTED} == {
        (name, True) for name in set(TESTS) - untested
    }
    assert {one for one in found if one[1] != PRINTED} == {("fewer-messages-with-a-pencil-a-node", EQUATIONS, True)}
