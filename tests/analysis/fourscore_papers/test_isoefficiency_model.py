"""The machine that measured times speak of, and the curve that it gives."""

import math

import pytest
from fourscore_analysis.isoefficiency.points import families
from fourscore_analysis.points.points import group_points
from fourscore_papers.gupta1993 import equations as gupta1993
from fourscore_papers.gupta1993 import numbers
from fourscore_papers.gupta1993.isoefficiency import fitted, log2_size_kept, machine_of, overhead_of
from synthetic import Known, Maker, campaign_of, known_records, line_points, make_point

KNOWN = Known(t_c=2e-9, t_s=3e-6, t_w=1.2e-9)


def family_of(variant: str, ranks=(1, 2, 4, 8, 16), known: Known = KNOWN, noise: float = 0.0, sizes=range(8, 22, 2)):
    def time_s(point):
        return known.time_s(point["variant"], point["shape"][0], point["ranks"])

    points = line_points([2**power for power in sizes], ranks, [variant])
    records = known_records(Maker(), points, time_s, noise=noise)
    [family], _ = families(group_points(campaign_of(records)))
    return family


@pytest.mark.parametrize("variant", ["binary-exchange", "transpose"])
@pytest.mark.parametrize("ranks", [(1, 2), (1, 2, 4, 8, 16)])
def test_the_constants_of_an_archive_are_found_again(variant, ranks):
    machine = machine_of(family_of(variant, ranks))
    assert (machine.t_c_s, machine.t_s_s, machine.t_w_s) == pytest.approx((KNOWN.t_c, KNOWN.t_s, KNOWN.t_w), rel=1e-6)


def test_noise_of_one_percent_moves_them_little():
    machine = machine_of(family_of("binary-exchange", noise=0.01))
    assert machine.t_c_s == pytest.approx(KNOWN.t_c, rel=0.02)
    assert machine.t_w_s == pytest.approx(KNOWN.t_w, rel=0.15)
    assert machine.t_s_s == pytest.approx(KNOWN.t_s, rel=0.15)


def test_a_speedup_beyond_the_ranks_makes_no_negative_constant():
    machine = machine_of(family_of("binary-exchange", known=Known(2e-9, 0.0, -1e-9)))
    assert (machine.t_s_s, machine.t_w_s) == (0, 0)


def test_one_size_tells_no_constants():
    assert fitted(family_of("binary-exchange", sizes=[12])) is None


def test_the_models_curve_keeps_the_efficiency_and_gives_every_rank_something_to_do():
    machine = gupta1993.Machine(KNOWN.t_c, KNOWN.t_w, KNOWN.t_s)
    for variant, least in (("binary-exchange", 1), ("transpose", 2)):
        overhead = overhead_of(family_of(variant))
        for ranks in (2, 16, 64):
            size = log2_size_kept(overhead, machine, 0.66, ranks)
            e = gupta1993.efficiency(overhead.of(machine, 2**size, ranks), gupta1993.work(machine, 2**size))
            assert e == pytest.approx(0.66) or size == least * math.log2(ranks)
        quick = gupta1993.Machine(KNOWN.t_c, 0.1 * KNOWN.t_w)
        assert log2_size_kept(overhead, quick, 0.5, 2**16) == least * 16
    assert log2_size_kept(overhead_of(family_of("binary-exchange")), numbers.ncube1(), 0.66, 64) == 6  # without t_s


def overhead_of_point(*arguments, **changes):
    records = [Maker().ok(make_point(*arguments, ranks=ranks, **changes), 0) for ranks in (1, 4)]
    [family], _ = families(group_points(campaign_of(records)))
    return overhead_of(family)


def test_each_method_has_the_overhead_that_the_paper_gives_it():
    machine = gupta1993.Machine(1.0, 2.0, 3.0)
    two = overhead_of_point("binary-exchange", "none", (64, 64))
    assert two.of(machine, 4096, 4) == gupta1993.two_dimensional_overhead(machine, 4096, 4)
    three = overhead_of_point("transpose", "alltoallv", (4096,), parameters={"dimensions": "3"})
    assert three.of(machine, 4096, 4) == gupta1993.m_dimensional_overhead(machine, 4096, 4, 3)
    assert three.concurrency == 1.5
    assert overhead_of_point("slab", "alltoallv", (64, 64, 64)) is None
    assert overhead_of_point("binary-exchange", "none", (64, 64, 64)) is None
