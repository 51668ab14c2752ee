"""Records that agree with the conclusions of gupta1993, and that do not, for test_conclusions_both_ways.py."""

import math

from fourscore_analysis.papers.claims import (
    EQUATIONS,
    MEASURED,
    SIMULATED,
    conclusions_of,
)
from fourscore_analysis.papers.here import Here
from fourscore_papers.gupta1993.conclusions import TESTS
from synthetic import here_told, make_point

CUBE, MESH, CUT_THROUGH = "ncube", "ncube-mesh", "ncube-cut-through"
BINARY, TRANSPOSE = "binary-exchange", "transpose"
XOR = {"schedule": "xor"}


def on(n, ranks, platform=CUBE, variant=BINARY, exchange="none", **changes) -> dict:
    shape = n if isinstance(n, tuple) else (n,)
    return make_point(
        variant,
        exchange,
        shape,
        ranks,
        nodes=ranks,
        precision="single",
        platform=platform,
        **changes,
    )


def real(n, ranks, variant=BINARY, exchange="none", **changes) -> dict:
    shape = n if isinstance(n, tuple) else (n,)
    return make_point(variant, exchange, shape, ranks, nodes=ranks, precision="single", **changes)


def keeping(kind, level: float, sizes: dict[int, float]):
    """Records on 1, and on several ranks that keep the efficiency from 2^size points on, between 2^2 and 2^20."""
    told = [(kind(2**power, 1), 2.0**power) for power in (2, 20)]
    for ranks, size in sizes.items():
        for power in (2, 20):
            e = level + (power - size) / 100
            told.append((kind(2**power, ranks), 2.0**power / ranks / e))
    return told


def speedups(kind, small: float, large: float):
    """Speedups of 1,024 and of 65,536 points on 512 and 1,024 ranks, where 512 have 100."""
    told = []
    for n, gain in ((1024, small), (65536, large)):
        told += [
            (kind(n, 1), 1.0),
            (kind(n, 512), 1 / 100),
            (kind(n, 1024), 1 / (100 * gain)),
        ]
    return told


def on_mesh(n, ranks):
    return on(n, ranks, MESH)


def both_networks(cube: dict[int, float], mesh: dict[int, float]):
    return keeping(on, 0.66, cube) + keeping(on_mesh, 0.66, mesh)


def both_methods(platform: str, times: dict[int, tuple[float, float]]):
    """Times of binary exchange and of transposition on 16 ranks, by points."""
    told = []
    for n, (binary, transposed) in times.items():
        transpose = {"platform": platform, "variant": TRANSPOSE, "exchange": "pairwise", "parameters": XOR}
        told += [(on(n, 1), 1.0), (on(n, 16), binary)]
        told += [(on(n, 1, **transpose), 1.0), (on(n, 16, **transpose), transposed)]
    return told


def by_dimensions(kind, binary: float, by_m: dict[int, float]):
    told = [(kind(4096, 64), binary)]
    for m, seconds in by_m.items():
        told.append(
            (
                kind(
                    4096,
                    64,
                    variant=TRANSPOSE,
                    exchange="alltoallv",
                    parameters={"dimensions": str(m)},
                ),
                seconds,
            )
        )
    return told


def by_radix(kind, ratio: float):
    """Exchanges of radix 4 in pairwise steps over those of radix 2; direct stages send more words."""
    return [
        (kind(4096, 64), {"fft": 1.0, "exchange": 0.5}),
        (kind(4096, 64, parameters={"radix": "4", "stages": "pairwise"}), {"fft": 1.0, "exchange": 0.5 * ratio}),
        (kind(4096, 64, parameters={"radix": "4"}), {"fft": 1.0, "exchange": 0.8}),
    ]


def by_local(kind, serial: tuple[float, float], parallel: tuple[float, float]):
    """Times of radix-2 passes and of the library."""
    return [
        (kind(n, ranks, parameters={"local": local}), times[place])
        for n in (1024, 4096)
        for ranks, times in ((1, serial), (2, parallel))
        for place, local in enumerate(("radix-2", "library"))
    ]


def by_order(kind, ratio: float):
    """T_o of the natural order over that of the transposed one, which is 1 s on 4 ranks."""
    told = []
    for n in (1024, 4096):
        for layout, overhead in (("transposed", 1.0), ("natural", ratio)):
            told += [
                (kind(n, 1, layout=layout), 1.0),
                (kind(n, 4, layout=layout), (1.0 + overhead) / 4),
            ]
    return told


def in_two_dimensions(kind, ratio: float):
    return [(kind(4096, 16), 1.0), (kind((64, 64), 16), ratio)]


def in_pieces(kind, ratio: float):
    return [(kind(4096, 16), 1.0), (kind(4096, 16, parameters={"pieces": "4"}), ratio)]


CASES = [
    *(
        case
        for kind, evidence in ((on, SIMULATED), (real, MEASURED))
        for case in (
            (
                "linear-below-the-threshold",
                evidence,
                keeping(kind, 0.66, {4: 6.0, 64: 10.0}),
                keeping(kind, 0.66, {4: 6.0, 64: 16.0}),
            ),
            (
                "bent-above-the-threshold",
                evidence,
                keeping(kind, 0.87, {4: 6.0, 64: 16.0}),
                keeping(kind, 0.87, {4: 6.0, 64: 10.0}),
            ),
            (
                "small-transforms-saturate",
                evidence,
                speedups(kind, 1.2, 1.8),
                speedups(kind, 1.7, 1.8),
            ),
            (
                "dimensions-between-the-two",
                evidence,
                by_dimensions(kind, 1.0, {2: 1.0, 3: 0.9}),
                by_dimensions(kind, 0.8, {2: 1.0, 3: 0.9}),
            ),
            (
                "higher-radix-communicates-as-much",
                evidence,
                by_radix(kind, 1.02),
                by_radix(kind, 1.5),
            ),
            (
                "ordered-at-most-twice",
                evidence,
                by_order(kind, 2.0),
                by_order(kind, 3.0),
            ),
        )
    ),
    (
        "meshes-do-not-scale",
        SIMULATED,
        both_networks({4: 6.0, 64: 10.0}, {4: 6.0, 64: 14.0}),
        both_networks({4: 6.0, 64: 14.0}, {4: 7.0, 64: 15.0}),
    ),
    (
        "transposition-needs-cut-through",
        SIMULATED,
        both_methods(CUBE, {1024: (1.0, 1.2), 65536: (1.0, 1.0)}),
        both_methods(CUBE, {1024: (1.0, 1.2), 65536: (1.0, 0.9)}),
    ),
    (
        "transposition-wins-large-problems",
        SIMULATED,
        both_methods(CUT_THROUGH, {1024: (1.0, 1.2), 65536: (1.0, 0.8)}),
        both_methods(CUT_THROUGH, {1024: (1.0, 0.9), 65536: (1.0, 0.8)}),
    ),
    (
        "gains-of-serial-code-are-dampened",
        MEASURED,
        by_local(real, (1.0, 0.5), (0.6, 0.4)),
        by_local(real, (1.0, 0.8), (0.6, 0.3)),
    ),
    (
        "two-dimensions-as-one",
        SIMULATED,
        in_two_dimensions(on, 1.04),
        in_two_dimensions(on, 1.3),
    ),
    ("overlap-scales-better", MEASURED, in_pieces(real, 0.9), in_pieces(real, 1.0)),
]


def test_a_speedup_on_few_ranks_does_not_tell_whether_it_saturates():
    told = [(on(n, ranks), 1 / ranks) for n in (1024, 65536) for ranks in (1, 32, 64)]
    assert list(TESTS["small-transforms-saturate"](here_told(told))) == []


OTHERWISE = {
    "linear-below-the-threshold": ("equations.log2_points_for", lambda of, machine, e, p: 3 * math.log2(p)),
    "bent-above-the-threshold": ("equations.log2_points_for", lambda of, machine, e, p: math.log2(p)),
    "meshes-do-not-scale": ("equations.log2_points_for", lambda of, machine, e, p: math.log2(p)),
    "cut-through-does-not-help-a-mesh": ("equations.cut_through_mesh_overhead", lambda *_, **__: 1.0),
    "transposition-needs-cut-through": ("equations.transpose_overhead_store_and_forward", lambda *_: 0.0),
    "transposition-wins-large-problems": ("equations.log2_points_for", lambda of, machine, e, p: 20.0),
    "dimensions-between-the-two": ("equations.m_dimensional_overhead", lambda machine, n, p, m: float(m)),
    "gains-of-serial-code-are-dampened": ("equations.throughput_gain", lambda saved, e: saved),
    "hypercube-cheaper-by-links": ("equations.mesh_links_cost", lambda p: p),
    "mesh-cheaper-by-bisection": ("equations.mesh_bisection_cost", lambda p: p),
    "channels-as-wide-as-root-p": (
        "equations.widened_mesh_overhead",
        lambda _, n, p, power: n * p ** (1 - power),
    ),
    "two-dimensions-as-one": ("equations.two_dimensional_overhead", lambda *_: 1.0),
    "overlap-scales-better": ("equations.slope", lambda t, e: 1.0),
}
ELSEWHERE: set[str] = set()


def test_what_follows_from_the_paper_alone():
    found = {
        (one.claim.id, finding.evidence, finding.holds)
        for one in conclusions_of("gupta1993", Here())
        for finding in one.findings
    }
    assert found == {(name, EQUATIONS, True) for name in OTHERWISE}
