"""Records that agree with the conclusions of eleftheriou2005, and that do not, for test_conclusions_both_ways.py."""

from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, PRINTED, SIMULATED, conclusions_of
from fourscore_analysis.papers.here import Here
from fourscore_papers.eleftheriou2005 import equations
from synthetic import make_point

TORUS, MESH = "bluegene-l", "bluegene-l-mesh"
LAYERS = ("active", "alltoallv")


def on(platform: str, variant: str, exchange: str, extent: int, nodes: int) -> dict:
    return make_point(variant, exchange, (extent,) * 3, nodes, nodes=nodes, platform=platform)


def real(variant: str, exchange: str, extent: int, nodes: int) -> dict:
    return make_point(variant, exchange, (extent,) * 3, nodes, nodes=nodes, layout="natural")


def speedups(kind, most: float):
    """Times of one node and of 1,024, which are `most` times as fast, for each layer."""
    return [
        (kind("volumetric", layer, 128, nodes), seconds)
        for layer in LAYERS
        for nodes, seconds in ((1, 1.0), (1024, 1 / most))
    ]


def slabs_beside(slabs: str, kind, of_slabs: dict[int, float], of_volumes: dict[int, float]):
    told = [(kind(slabs, "alltoallv", 128, nodes), seconds) for nodes, seconds in of_slabs.items()]
    return told + [(kind("volumetric", "alltoallv", 128, nodes), seconds) for nodes, seconds in of_volumes.items()]


def layers(kind, times: dict[int, tuple[float, float]], extent: int):
    """Seconds of packets and collectives, by nodes."""
    return [
        (kind("volumetric", layer, extent, nodes), both[place])
        for nodes, both in times.items()
        for place, layer in enumerate(LAYERS)
    ]


def kept_apart(seconds: float):
    """Six redistributions, where three take 1 s."""
    six = real("volumetric", "alltoallv", 64, 8) | {"parameters": {"redistributions": "separate"}}
    return [(real("volumetric", "alltoallv", 64, 8), 1.0), (six, seconds)]


def both_networks(ratios: dict[int, float]):
    """T_mesh / T_torus of active packets by extent, on 512 nodes."""
    return [
        (on(platform, "volumetric", "active", extent, 512), extent * factor)
        for extent, ratio in ratios.items()
        for platform, factor in ((MESH, ratio), (TORUS, 1.0))
    ]


def over_the_bound(factors: dict[int, float]):
    bounds = {extent: 2 * equations.bandwidth_time_s(extent, 512, 700e6) for extent in factors}
    return [(on(MESH, "volumetric", "active", extent, 512), one * bounds[extent]) for extent, one in factors.items()]


def simulated(variant, exchange, extent, nodes):
    return on(MESH, variant, exchange, extent, nodes)


def on_torus(variant, exchange, extent, nodes):
    return on(TORUS, variant, exchange, extent, nodes)


ONE_RANK = make_point("volumetric", shape=(128,) * 3, ranks=1, layout="natural")
FFTW = make_point("fftw-mpi", shape=(128,) * 3, ranks=1, layout="natural")
CASES = [
    ("scales-to-1024-nodes", SIMULATED, speedups(simulated, 260), speedups(simulated, 240)),
    ("scales-to-1024-nodes", MEASURED, speedups(real, 260), speedups(real, 240)),
    (
        "slabs-stop-at-the-extent",
        MEASURED,
        slabs_beside("fftw-mpi", real, {128: 1.0, 512: 1.0}, {128: 1.0, 512: 0.5}),
        slabs_beside("fftw-mpi", real, {128: 1.0, 512: 0.5}, {128: 1.0, 512: 0.5}),
    ),
    (
        "volumetric-beats-slabs-on-many-nodes",
        SIMULATED,
        slabs_beside("slab", on_torus, {8: 4.0, 128: 1.0}, {8: 4.0, 1024: 0.5}),
        slabs_beside("slab", on_torus, {8: 4.0, 128: 1.0}, {8: 4.0, 1024: 1.0}),
    ),
    (
        "volumetric-beats-slabs-on-many-nodes",
        MEASURED,
        slabs_beside("fftw-mpi", real, {64: 1.0, 1024: 2.0}, {1024: 0.5}),
        slabs_beside("fftw-mpi", real, {64: 0.4, 1024: 2.0}, {1024: 0.5}),
    ),
    (
        "comparable-with-slabs-to-128-nodes",
        SIMULATED,
        slabs_beside("slab", on_torus, {8: 1.0, 128: 1.0}, {8: 1.2, 128: 0.7, 1024: 0.1}),
        slabs_beside("slab", on_torus, {8: 1.0, 128: 1.0}, {8: 1.2, 128: 0.5}),
    ),
    ("three-redistributions-for-six", MEASURED, kept_apart(1.5), kept_apart(1.0)),
    ("near-fftw-on-one-processor", MEASURED, [(ONE_RANK, 1.4), (FFTW, 1.0)], [(ONE_RANK, 1.6), (FFTW, 1.0)]),
    (
        "communication-bound-on-few-nodes",
        SIMULATED,
        [(on_torus("volumetric", "alltoallv", 128, 8), {"fft": 0.1, "exchange": 0.3})],
        [(on_torus("volumetric", "alltoallv", 128, 8), {"fft": 0.3, "exchange": 0.1})],
    ),
    (
        "layers-comparable-to-256-nodes",
        SIMULATED,
        layers(simulated, {8: (1.0, 0.8), 64: (1.0, 1.4), 512: (1.0, 3.0)}, 64),
        layers(simulated, {8: (1.0, 0.8), 64: (1.0, 1.6)}, 64),
    ),
    (
        "packets-win-at-the-limit",
        SIMULATED,
        layers(simulated, {512: (1.0, 1.3)}, 32),
        layers(simulated, {512: (1.0, 1.05)}, 32),
    ),
    (
        "packets-win-at-the-limit",
        MEASURED,
        layers(real, {512: (1.0, 1.3)}, 32),
        layers(real, {512: (1.3, 1.0)}, 32),
    ),
    (
        "mesh-over-torus-rises",
        SIMULATED,
        both_networks({32: 1.6, 64: 1.67, 128: 1.81}),
        both_networks({32: 1.62, 64: 1.57, 128: 1.53}),
    ),
    (
        "small-messages-miss-the-bound",
        SIMULATED,
        over_the_bound({32: 3.0, 64: 2.0, 128: 1.5}),
        over_the_bound({32: 1.1, 64: 1.2, 128: 1.2}),
    ),
]
OTHERWISE = {
    "all-to-all-alike-in-any-dimension": (
        "equations.average_hops",
        lambda dimensions, extent: dimensions**2 * extent / 4,
    )
}
ELSEWHERE: set[str] = set()


def test_what_follows_from_the_paper_alone():
    """8 and 2 cycles an n log2 n: the all-to-alls take 0.36 and 1.43 times as long as the transforms on 8 nodes."""
    found = {
        (one.claim.id, finding.evidence, finding.holds)
        for one in conclusions_of("eleftheriou2005", Here())
        for finding in one.findings
    }
    assert found == {
        ("slabs-stop-at-the-extent", EQUATIONS, True),
        ("communication-bound-on-few-nodes", EQUATIONS, False),
        ("communication-bound-on-few-nodes", EQUATIONS, True),
        ("all-to-all-alike-in-any-dimension", EQUATIONS, True),
        ("small-messages-miss-the-bound", PRINTED, True),
    }
