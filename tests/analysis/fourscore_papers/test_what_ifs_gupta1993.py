"""Networks side by side on the page of gupta1993: what each needs, and which width of a mesh's channels is best."""

import math
from pathlib import Path

import pytest
import tomllib
from fourscore_analysis.papers.here import Here
from fourscore_papers.gupta1993 import equations, networks, what_ifs
from fourscore_papers.gupta1993.equations import Machine
from fourscore_papers.gupta1993.isoefficiency import log2_size_kept
from synthetic import Maker, campaign_of, known_records, make_point

PLATFORMS = Path(__file__).parents[3] / "jobscripts" / "platforms"


def platform(name: str) -> dict:
    return tomllib.loads((PLATFORMS / f"{name}.toml").read_text())


@pytest.mark.parametrize(
    ("name", "machine", "links"),
    [("hdr-fat-tree", networks.FAT_TREE, 6), ("slingshot-dragonfly", networks.DRAGONFLY, 5)],
)
def test_hosts_of_today_have_the_constants_of_their_platforms(name, machine, links):
    found = platform(name)
    network, own = found["network"], found["messages"]
    assert machine.t_c_s == pytest.approx(5 / found["host"]["speed_flops_per_s"])
    assert machine.t_w_s == pytest.approx(8 / network["link_bandwidth_bytes_per_s"])
    start_s = own["send_overhead_s"] + own["receive_overhead_s"] + links * network["link_latency_s"]
    assert machine.t_s_s == pytest.approx(start_s)
    if name == "slingshot-dragonfly":
        assert (network["hosts_per_router"], network["routers"]) == (networks.HOSTS, networks.ROUTERS)


def test_the_mesh_of_three_dimensions_has_the_nodes_of_the_other_mesh():
    two, three = platform("ncube-mesh"), platform("ncube-mesh-3d")
    assert (two["network"].pop("dimensions"), three["network"].pop("dimensions")) == (2, 3)
    assert all(three[part] == two[part] for part in ("network", "host", "messages"))


@pytest.mark.parametrize(
    ("processors", "exchanged", "transposed"),
    [(8, 3, 1), (16, 4, 1), (32, 4 + 16, 8), (128, 4 + 3 * 16, 2), (256, 4 + 3 * 16 + 128, 64), (2**20, 52 + 1664, 1)],
)
def test_one_wire_of_a_dragonfly_carries_all_messages_that_want_it(processors, exchanged, transposed):
    """Words alone: hosts of a router, of a group's routers, of all groups; in units of t_w n."""
    machine = Machine(0.0, 1.0)
    assert networks.dragonfly_exchange_overhead(machine, 1.0, processors) == pytest.approx(exchanged)
    assert networks.dragonfly_transpose_overhead(machine, 1.0, processors) == pytest.approx(transposed)
    starts = Machine(0.0, 0.0, 1.0)
    assert networks.dragonfly_exchange_overhead(starts, 1.0, processors) == processors * math.log2(processors)
    assert networks.dragonfly_transpose_overhead(starts, 1.0, processors) == processors**2


def test_the_best_width_of_channels_keeps_the_efficiency_with_the_fewest_points():
    """It comes near the 0.5 of section 7 with many processors."""
    machine = Machine(80e-6, 16e-6)
    for level in (0.66, 0.95):
        best = networks.best_power(machine, level, 2.0**10)

        def points(power, level=level):
            words = equations.log2_points_for(
                lambda *of: equations.widened_mesh_overhead(*of, power), machine, level, 2.0**10
            )
            return max((1 + power) * 10, words)

        assert all(points(step / 20) >= points(best) for step in range(21))
        far = abs(networks.best_power(machine, level, 2.0**400) - 0.5)
        assert far < abs(networks.best_power(machine, level, 2.0**8) - 0.5)
        assert far < 0.05


def test_transposition_gains_by_cut_through_routing_alone_and_only_above_the_threshold():
    needs = {
        level: [log2_size_kept(curve.overhead, what_ifs.machine_of(curve), level, 1024) for curve in networks.ROUTING]
        for level in what_ifs.OF_PAPER
    }
    assert needs[0.66][0] < needs[0.66][2] <= needs[0.66][1]
    assert needs[0.95][2] < needs[0.95][0] <= needs[0.95][1]


def test_simulated_sizes_stand_beside_the_lines_of_their_network():
    points = [
        make_point("binary-exchange", "none", (n,), ranks, nodes=ranks, precision="single", platform="ncube-mesh-3d")
        for n in (256, 65536)
        for ranks in (1, 8)
    ]
    efficiency = {256: 0.5, 65536: 0.9}
    records = known_records(
        Maker(),
        points,
        lambda p: p["shape"][0] / p["ranks"] / (efficiency[p["shape"][0]] if p["ranks"] > 1 else 1),
        launches=1,
    )
    [plot] = [plot for plot in what_ifs.PLOTS if plot.name == "networks"]
    figure = plot.draw(Here(None, [campaign_of(records)]), plot.title)
    found = [
        (line.get_xdata()[0], line.get_ydata()[0])
        for axes in figure.axes
        for line in axes.lines
        if line.get_marker() == "o"
    ]
    assert found == [(8, pytest.approx(8 + (0.66 - 0.5) / 0.4 * 8))]


def test_equal_networks_cost_what_section_7_says():
    cube, plain, wide, _ = what_ifs.equal_cost_networks()
    assert [one[1](64) for one in (cube, plain, wide)] == pytest.approx([64 * 6, 4 * 64, 4 * 64 * 16 / 6])
    assert [one[2](64) for one in (cube, plain, wide)] == pytest.approx([32, 8, 8 * 16 / 6])
    assert what_ifs.speedup(cube[3], 64) == what_ifs.speedup(wide[3], 64) > what_ifs.speedup(plain[3], 64)
