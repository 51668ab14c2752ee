"""Each test of a conclusion of haynes2000 says yes to records that agree and no to records that do not."""

import math

import pytest
from fourscore_analysis.papers.claims import MEASURED, SIMULATED, UNTESTED, conclusions_of
from fourscore_analysis.papers.here import Here
from fourscore_papers.haynes2000.conclusions import TESTS
from synthetic import ETHERNET, Maker, campaign_of, here_told, latency_points, make_point, simulated_records

ALPHA_S, BETA = 160e-6, 12.5e6
NEW, OLD = "danielson-lanczos", "rods"


def pair(real: bool, extent: int, nodes: int, ratio: float) -> list:
    """Both methods, the new one `ratio` times as long as the traditional one with each exchange."""
    where = {} if real else {"platform": "ethernet-100mbit"}
    methods = [(NEW, "none", ratio)] + [(OLD, exchange, 1.0) for exchange in ("pairwise", "p2p")]
    return [
        (make_point(variant, exchange, (extent,) * 3, nodes, nodes=nodes, **where), {"fft": 0.1, "exchange": seconds})
        for variant, exchange, seconds in methods
    ]


def told(real: bool, ratios: dict[tuple[int, int], float]) -> list:
    return [one for (extent, nodes), ratio in ratios.items() for one in pair(real, extent, nodes, ratio)]


# The claim, and the new method's time over the traditional one's by extent and nodes: agreeing, and not.
CASES = [
    ("wins-on-many-processors", {(16, 4): 1.2, (16, 16): 0.5, (32, 16): 0.9}, {(16, 4): 0.5, (16, 16): 1.2}),
    ("wins-on-small-grids", {(16, 16): 0.5, (32, 16): 0.9}, {(16, 16): 0.9, (32, 16): 0.5}),
    ("useful-for-electronic-structure", {(64, 64): 0.9}, {(64, 64): 1.1}),
]


@pytest.mark.parametrize(("claim", "agree", "disagree"), CASES)
@pytest.mark.parametrize(("real", "evidence", "findings"), [(True, MEASURED, 1), (False, SIMULATED, 2)])
def test_records_confirm_or_refute_a_conclusion(claim, agree, disagree, real, evidence, findings):
    """Simulated both with messages one after the other and with all at once."""
    for ratios, holds in ((agree, True), (disagree, False)):
        found = [one for one in TESTS[claim](here_told(told(real, ratios))) if one.evidence == evidence]
        assert [one.holds for one in found] == [holds] * findings, found


def test_grids_that_disagree_leave_it_undecided():
    found = TESTS["wins-on-many-processors"](here_told(told(True, {(16, 16): 0.5, (64, 16): 1.5})))
    assert [one.holds for one in found if one.evidence == MEASURED] == [None]


def test_emulated_launches_say_nothing_of_a_conclusion():
    for claim, agree, _ in CASES:
        found = TESTS[claim](here_told(told(True, agree), flags=["emulated"]))
        assert MEASURED not in {one.evidence for one in found}, claim


def network_seconds(slower: float = 1.0):
    """Eqs 4 and 5 on the simulated cluster; with p2p the messages of an all-to-all have one latency together."""

    def seconds(point) -> float:
        nodes, grid_bytes = point["ranks"], 16 * math.prod(point["shape"])
        if point["variant"] == NEW:
            return slower * math.log2(nodes) * (ALPHA_S + grid_bytes / BETA / nodes)
        latencies = nodes - 1 if point["exchange"] == "pairwise" else 1
        return slower * 2 * (latencies * ALPHA_S + (nodes - 1) * grid_bytes / BETA / nodes**2)

    return seconds


def on_network(slower: float = 1.0, messages: float | None = None) -> Here:
    """`messages`: of the new method, each as large as in the paper."""
    records = simulated_records(Maker("a-11111111", "a"), latency_points(), network_seconds(slower), ETHERNET)
    for record in records:
        point, cost = record["point"], record["cost"]
        nodes, grid_bytes = point["ranks"], 16 * math.prod(point["shape"])
        new = point["variant"] == NEW
        sent = (messages or math.log2(nodes)) if new else 2 * (nodes - 1)
        cost["messages_per_rank"] = [sent] * nodes
        cost["bytes_sent_per_rank"] = [sent * grid_bytes / nodes ** (1 if new else 2)] * nodes
    return Here(None, [campaign_of(records)])


def simulated(claim: str, here: Here) -> list[bool | None]:
    return [one.holds for one in TESTS[claim](here) if one.evidence == SIMULATED]


def test_equations_hold_for_messages_one_after_the_other_alone():
    assert simulated("equation-4-holds", on_network()) == [True, False]
    assert simulated("equation-5-holds", on_network()) == [True]
    assert simulated("equation-4-holds", on_network(1.2)) == [False, False]
    assert simulated("equation-5-holds", on_network(1.2)) == [False]


@pytest.mark.parametrize(("seconds", "holds"), [(0.8, True), (1.2, False)])
def test_one_sided_messages_are_held_against_two_sided_ones_of_the_smallest_cube(seconds, holds):
    told = []
    for extent, one_sided in ((8, seconds), (64, 5.0)):
        for messages, time_s in (("one-sided", one_sided), ("two-sided", 1.0)):
            point = make_point(NEW, "none", (extent,) * 3, 16, nodes=16, parameters={"messages": messages})
            told.append((point, {"fft": 0.1, "exchange": time_s}))
    [found] = TESTS["lower-level-messages-have-less-latency"](here_told(told))
    assert (found.evidence, found.holds) == (MEASURED, holds)
    assert list(TESTS["lower-level-messages-have-less-latency"](here_told(told[:1]))) == []


def test_messages_and_bytes_are_those_that_the_records_count():
    assert simulated("fewer-messages", on_network()) == [True]
    assert simulated("more-bytes", on_network()) == [True]
    assert simulated("fewer-messages", on_network(messages=30)) == [False]
    assert simulated("more-bytes", on_network(messages=0.5)) == [False]


OTHERWISE = {
    "fewer-messages": ("equations.new_messages", lambda nodes: 1e3),
    "more-bytes": ("equations.new_packet_bytes", lambda elements, nodes: 1.0),
    "wins-on-many-processors": ("equations.new", lambda elements, nodes, product: 1e9),
    "wins-on-small-grids": ("equations.new", lambda elements, nodes, product: 1.0),
    "useful-for-electronic-structure": ("equations.new", lambda elements, nodes, product: 1e9),
    "crossover-by-latency-and-bandwidth": ("equations.new_time_s", lambda elements, nodes, alpha_s, beta: 1.0),
    "clusters-rather-than-supercomputers": ("equations.crossover_elements", lambda nodes, product: 1 / product),
}
ELSEWHERE = {"equation-4-holds", "equation-5-holds", "lower-level-messages-have-less-latency"}


def test_what_needs_records_or_cannot_be_tested_is_untested_without():
    found = {one.claim.id for one in conclusions_of("haynes2000", Here()) if one.verdict == UNTESTED}
    lower = "lower-level-messages-have-less-latency"
    assert found == {"equation-4-holds", "equation-5-holds", "two-kilobytes-on-ethernet", "as-many-flops", lower}
