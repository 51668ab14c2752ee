"""fourscore predict --equal-time: how many nodes of one machine take as long as those of another; and --weak."""

import json
from dataclasses import replace

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.models.machines import machine_of
from fourscore_analysis.papers.ranges import rows_of
from fourscore_analysis.views.equal_time import equal_time, side_on
from fourscore_analysis.views.fits import Choice
from fourscore_analysis.views.predictions import Wanted
from fourscore_papers.czechowski2012 import equations
from fourscore_papers.czechowski2012.numbers import KAPPAS, memory_over_network
from fourscore_papers.czechowski2012.readings import AS_PRINTED, Reading, outcome

CPU, GPU = "czechowski2012-cpu-2020", "czechowski2012-gpu-2020"
OF_FIGURE_5 = ("--variant", "pencil", "--shape", "21000x21000x21000", "--equal-time", GPU, CPU)


def predicted(capsys, *arguments: str, code: int = 0):
    assert main(["predict", "--archive", "none", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def seconds(side: dict) -> float:
    return side["prediction"]["total"]["seconds"]


def test_the_three_cpu_like_machines_of_figure_5(capsys):
    """CPU-1 has the peak, CPU-2 the sum of both times, CPU-3 the larger. The model counts Eq. 8, and whole grids."""
    paper = outcome(Reading("with Eq. 8", shuffle=True))
    found = predicted(capsys, *OF_FIGURE_5)
    given, [other] = found["given"], found["machines"]
    cpu_1, cpu_2 = other["of_equal_peak"], other["as_fast"]
    assert cpu_1["nodes"] == round(135_000 * 30e12 / 3e12)
    assert seconds(given) / seconds(cpu_1) == pytest.approx(paper.cpu_1_speedup, rel=0.03)
    assert cpu_2["nodes"] == pytest.approx(paper.cpu_2_nodes, rel=0.03)
    assert seconds(cpu_2) <= seconds(given)
    cpu_3 = other["as_fast_overlapped"]
    assert cpu_3["nodes"] == pytest.approx(paper.cpu_3_nodes, rel=0.03)
    asked = predicted(capsys, *OF_FIGURE_5, "--form", "overlap=perfect")
    assert asked["machines"][0]["as_fast"]["nodes"] == cpu_3["nodes"]
    assert asked["machines"][0]["as_fast_overlapped"] is None
    assert asked["given_overlapped"] is None


def test_figure_5_as_printed_comes_out_of_one_command(capsys):
    """162,000 and 132,000 nodes by Eqs 2 and 5: docs/published.md. 4 Eflop/s are 131,644 GPUs, of which 362 x 363 fill
    a grid; local transpositions (Eq. 8) are not in the figure."""
    paper = outcome(AS_PRINTED)
    ranks = 362 * 363
    assert ranks == pytest.approx(paper.gpu_nodes, rel=2e-3)
    found = predicted(capsys, *OF_FIGURE_5, "--ranks", str(ranks), "--form", "transposes=none")
    [other] = found["machines"]
    assert [round(other[key]["nodes"], -3) for key in ("as_fast", "as_fast_overlapped")] == [162_000, 132_000]
    assert [round(nodes, -3) for nodes in (paper.cpu_2_nodes, paper.cpu_3_nodes)] == [162_000, 132_000]
    assert "shuffle" not in found["given"]["prediction"]["phases"]
    assert main(["predict", "--archive", "none", *OF_FIGURE_5, "--ranks", str(ranks), "--form", "transposes=none"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(f"{CPU}, as fast, both overlapped  131768" in line for line in lines)


@pytest.mark.parametrize("shape", [(4096,) * 3, (21000,) * 3])
def test_one_node_less_is_slower(shape):
    wanted = Wanted(shape, Choice(model="", variant="pencil"))
    given, machine = side_on(machine_of(GPU), wanted, 100), machine_of(CPU)
    found = equal_time(given, machine, wanted).fewest
    fewer = side_on(replace(machine, nodes=found.nodes - 1), wanted)
    assert found.seconds <= given.seconds < fewer.seconds


def test_a_machine_that_is_never_as_fast_says_what_comes_nearest(capsys, tmp_path):
    slow = tmp_path / "slow.toml"
    text = 'name = "slow"\nnodes = 8\n[parameters]\nflop_rate = { value = 1, unit = "Mflop/s" }\n'
    text += 'memory_constant = { value = 6.3, unit = "1" }\nmemory_bandwidth = { value = 1, unit = "MB/s" }\n'
    text += 'cache_bytes = { value = 1, unit = "MB" }\nlink_bandwidth = { value = 1, unit = "MB/s" }\n'
    text += '[forms]\nlengths = "paper"\nmemory = "paper"\nmessages = "paper"\n'
    slow.write_text(text)
    asked = ("--variant", "pencil", "--shape", "64x64x64", "--equal-time", GPU, str(slow))
    [other] = predicted(capsys, *asked, code=1)["machines"]
    assert other["as_fast"] is None
    assert other["reason"].startswith("no number of nodes of slow is as fast; 4096 nodes come nearest")
    assert main(["predict", *asked]) == 1
    assert "no number of nodes of slow is as fast; 4096 nodes come nearest: " in capsys.readouterr().out
    more = ("--equal-time", str(slow), str(slow), "--ranks", "16", "--variant", "pencil")
    assert main(["predict", *more, "--shape", "64x64x64"]) == 0
    out = capsys.readouterr().out
    assert "slow, as fast" in out
    assert "slow has 8 nodes, fewer than this takes" in out


@pytest.mark.parametrize(
    ("form", "network"), [("bisection", "3-D torus, bisection"), ("ideal", "3-D torus, ideal mapping")]
)
def test_weak_scaling_over_the_years_is_figure_6(capsys, form, network):
    asked = ("--variant", "pencil", "--shape", "4096x4096x4096", "--project", "czechowski2012", "--years", "2010:2020")
    found = predicted(capsys, *asked, "--weak", "--form", f"network={form}")["years"]
    assert found[0]["shape"] == [4096] * 3
    grown = (found[-1]["shape"][0] / 4096) ** 3
    assert grown == pytest.approx(found[-1]["nodes"] / machine_of("czechowski2012-cpu-2010").nodes, rel=1e-3)
    for year, one in ((0.0, found[0]), (10.0, found[-1])):
        expected = memory_over_network(year, KAPPAS[network], equations.EXCHANGES)
        assert one["memory_over_network"] == pytest.approx(expected, rel=0.02)
    trend = {row["network"]: row["mem_over_net_trend"] for row in rows_of("czechowski2012", "figure-6")}[network]
    assert (found[-1]["memory_over_network"] > found[0]["memory_over_network"]) == (trend == "rises")
    strong = predicted(capsys, *asked)["years"]
    assert {tuple(year["shape"]) for year in strong} == {(4096,) * 3}
    assert main(["predict", *asked, "--weak"]) == 0
    out = capsys.readouterr().out
    assert "pencil, 4096³ in 2010, as many elements a node: " in out
    assert "10614³" in out
