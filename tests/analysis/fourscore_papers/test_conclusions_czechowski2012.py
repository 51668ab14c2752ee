"""Records that agree with the conclusions of czechowski2012, and that do not, for test_conclusions_both_ways.py."""

from types import SimpleNamespace

import pytest
from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, SIMULATED, conclusions_of
from fourscore_analysis.papers.here import Here
from fourscore_papers.czechowski2012.conclusions import TESTS
from synthetic import Maker, campaign_of, constant_points, counted, here_told, line_bytes, make_point


def pencil(extent: int = 128, nodes: int = 4, **look) -> dict:
    return make_point("pencil", shape=(extent,) * 3, ranks=4, nodes=nodes, **look)


def gpu(extent: int = 128, variant: str = "pencil-gpu", **parameters: str) -> dict:
    return make_point(variant, shape=(extent,) * 3, ranks=4, nodes=4, parameters={"staging": "copy"} | parameters)


def parts(fft: float, exchange: float, pack: float = 0.0, copies: float = 0.0) -> dict[str, float]:
    phases = {"fft": fft, "exchange": exchange, "pack": pack, "h2d": copies / 2, "d2h": copies / 2}
    return {name: seconds for name, seconds in phases.items() if seconds}


def growing(computation: float) -> list:
    """Computation takes the time of the exchange, and at twice the extent so many times that."""
    return [(pencil(64), parts(1.0, 1.0)), (pencil(128), parts(8 * computation, 8.0))]


def gains(*seconds: float) -> list:
    """Times of the processors, where the devices take 1 s, at rising extents."""
    told = [(pencil(64 * 2**number), one) for number, one in enumerate(seconds)]
    return told + [(gpu(64 * 2**number), 1.0) for number in range(len(seconds))]


def placements(gain: float) -> list:
    look = {"platform": "hopper-gemini", "shape": (64,) * 3, "ranks": 64, "nodes": 64}
    return [
        (make_point("pencil", host_order=order, **look), {"fft": 1.0, "exchange": seconds})
        for order, seconds in (("row-major", 1.0), ("sub-cube", 1 / gain))
    ]


SIMULATOR = {"platform": "hopper-gemini"}


def narrowed(seconds: float, **look: str) -> list:
    return [(pencil(**look), parts(1, 2)), (pencil(**look, wire="single"), parts(seconds, 2 * seconds))]


def staged(resident: float) -> list:
    return [(gpu(), 1.0), (gpu(staging="resident"), resident)]


CASES = [
    ("communication-dominates", MEASURED, [(pencil(), parts(1, 2))], [(pencil(), parts(2, 1))]),
    ("computation-grows-faster", MEASURED, growing(1.5), growing(0.9)),
    # Alone an FFT takes 0.95 of its time.
    ("computation-has-an-overhead", MEASURED, [(pencil(), parts(1, 1, 0.5))], [(pencil(), parts(1, 1, 0.1))]),
    ("transpose-costs-as-an-fft", MEASURED, [(pencil(), parts(1, 1, 0.8))], [(pencil(), parts(1, 1, 0.3))]),
    ("transpose-costs-as-an-fft", MEASURED, [(gpu(), parts(1, 1, 0.8, 1))], [(gpu(), parts(1, 1, 0.3, 1))]),
    ("gpus-gain-little", MEASURED, gains(1.1, 1.2), gains(1.1, 1.6)),
    ("gpus-gain-little", MEASURED, gains(1.2), gains(0.9)),
    ("copies-cost-a-quarter", MEASURED, [(gpu(), parts(1, 2, copies=1))], [(gpu(), parts(1, 10, copies=1))]),
    ("copies-are-no-lasting-barrier", MEASURED, staged(0.7), staged(1.0)),
    ("compression-is-the-way-forward", MEASURED, narrowed(0.7), narrowed(1.0)),
    ("compression-is-the-way-forward", SIMULATED, narrowed(0.6, **SIMULATOR), narrowed(0.95, **SIMULATOR)),
    ("ideal-mapping-gains", SIMULATED, placements(1.9), placements(1.2)),
]


@pytest.mark.parametrize(("library_s", "holds"), [(1.5, True), (1.7, False)])
def test_the_all_to_alls_of_p3dfft_are_those_of_pencils_alone(library_s, holds):
    """Alone the exchange takes 0.8 of its 1 s."""
    library = make_point("p3dfft", "none", (128,) * 3, 4, nodes=4)
    found = list(TESTS["communication-dominates"](here_told([(library, library_s), (pencil(), parts(1, 1))])))
    assert found[-1].holds == holds
    assert "of the time of P3DFFT (128³, 4 ranks on 4 nodes, p3dfft" in found[-1].numbers


def test_one_node_says_nothing_of_the_network():
    here = here_told([(pencil(nodes=1), parts(1, 3))])
    assert {one.evidence for one in TESTS["communication-dominates"](here)} == {EQUATIONS}


@pytest.mark.parametrize(("a", "holds"), [(6.0, True), (4.3, False)])
def test_the_constant_a_is_that_of_a_simulated_cache(a, holds):
    maker = Maker("a-11111111", "a", isolate=False)
    records = [counted(maker.ok(point, 0), phase_bytes=line_bytes(point, a)) for point in constant_points()]
    [found] = TESTS["a-is-6-3"](Here(None, [campaign_of(records)]))
    assert (found.evidence, found.holds) == (SIMULATED, holds)
    assert f"A is {a:.2f} with a cache of 65,536 words" in found.numbers


def test_what_follows_from_the_equations_alone():
    """By hand in test_equations_czechowski2012.py and test_verdicts.py; two readings may disagree."""
    found = [
        (one.claim.id, *(finding.holds for finding in one.findings))
        for one in conclusions_of("czechowski2012", Here())
        if one.findings
    ]
    assert found == [
        ("communication-dominates", True),
        ("computation-grows-faster", False),  # log_Z n is below 1
        ("gpus-gain-little", True),
        ("copies-cost-a-quarter", True),
        ("weak-nodes-win", True),
        ("fraction-of-peak-falls", True, True),
        ("cpu-like-machine-wins", True, True),
        ("cpu-like-machines-communicate-less", False, True),  # CPU-3 as printed has all of its time in the network
        ("equal-peak-costs-more", True, True),
        ("equal-time-costs-less", True, True),
        ("more-dimensions-help-energy", True),
        ("flops-are-negligible", True),
        ("memory-could-dominate", True, False),
        ("topology-bends-the-trend", True),
        ("ideal-mapping-gains", True),
        ("four-dimensions-are-balanced", True),
        ("stacked-memory-keeps-balance", True),
    ]


OTHERWISE = {
    "weak-nodes-win": ("equations.nodes_of", lambda peak, flops: 1e5),
    "fraction-of-peak-falls": ("PEAK_FLOPS_PER_S", 4e17),
    "cpu-like-machine-wins": ("outcome", lambda reading: SimpleNamespace(cpu_1_speedup=0.9)),
    "equal-peak-costs-more": (
        "outcome",
        lambda reading: SimpleNamespace(cpu_1_nodes=9.0, gpu_nodes=1.0, cpu_1_speedup=4.0),
    ),
    "equal-time-costs-less": (
        "outcome",
        lambda reading: SimpleNamespace(
            cpu_1_nodes=10.0, gpu_nodes=1.0, cpu_1_speedup=4.0, cpu_2_nodes=6.0, cpu_2_peak_flops_per_s=2e18
        ),
    ),
    "more-dimensions-help-energy": ("memory_over_network", lambda year, *_: 1 - year / 100),
    "flops-are-negligible": ("equations.flops_time_s", lambda *_: 0.1),
    "topology-bends-the-trend": ("memory_over_network", lambda year, *_: 1 - year / 100),
    "four-dimensions-are-balanced": ("memory_over_network", lambda year, kappa, _: 1 + year * kappa),
    "stacked-memory-keeps-balance": ("trends", lambda: {"peak_flops_per_s": 30.0, "cores": 40.7}),
}
OF_READINGS = {"cpu-like-machines-communicate-less", "memory-could-dominate"}  # each says yes to one and no to one
ELSEWHERE = OF_READINGS | {"a-is-6-3"}
