"""What the report says against what numpy and scipy make of the raw samples of the same records, by other ways."""

import json
import math
import re
from html import unescape

import numpy as np
import pytest
import scipy.stats
from fourscore_analysis.points.points import Point, comparisons
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.tables.transforms import contract_tables
from synthetic import Maker, canonical, counted, make_point, view_of

RANKS, REPETITIONS, LAUNCHES = 4, 7, 9
PHASES = ("fft", "pack", "exchange", "unpack", "other")
VARIANTS = {"slab": 1.0, "pencil": 1.3, "fftw-mpi": 1.6}


def random_records(seed: int, **changes) -> list[dict]:
    """Nine launches of three methods: every rank and repetition of every phase takes another, skewed time."""
    rng, maker, records = np.random.default_rng(seed), Maker(isolate=False), []
    for variant, scale in VARIANTS.items():
        point = make_point(variant, "none" if variant == "fftw-mpi" else "alltoallv", ranks=RANKS, **changes)
        for launch in range(LAUNCHES):
            shape = (len(PHASES), RANKS, REPETITIONS)
            of_phases = scale * 1e-3 * rng.lognormal(0, 0.4, shape) * rng.uniform(0.9, 1.1)
            by_phase = {name: rows.tolist() for name, rows in zip(PHASES, of_phases, strict=True)}
            record = maker.with_samples(point, launch, of_phases.sum(axis=0).tolist(), by_phase)
            record["flags"] = []
            records.append(record)
    return records


def raw_of(records: list[dict], point: Point) -> list[dict]:
    return [record for record in records if record["point"]["variant"] == point.method.variant]


def medians_of(records: list[dict]) -> np.ndarray:
    """For each launch: the median over repetitions of the slowest rank."""
    return np.array([np.median(np.max(record["samples"]["rank_total_s"], axis=0)) for record in records])


def seconds_of(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit]


def test_medians_ranges_and_intervals_are_those_of_numpy_and_scipy():
    records = random_records(1)
    points = view_of(records).points
    assert len(points) == len(VARIANTS)
    for point in points:
        medians = medians_of(raw_of(records, point))
        assert point.time_s == pytest.approx(np.quantile(medians, 0.5), rel=1e-12)
        assert (point.time.low, point.time.high) == pytest.approx((medians.min(), medians.max()), rel=1e-12)
        # By order statistics: the widest tails that together keep under 5 %, from the binomial distribution.
        tail = int(scipy.stats.binom.ppf(0.025, LAUNCHES, 0.5)) - 1
        assert point.time.interval == pytest.approx((np.sort(medians)[tail], np.sort(medians)[-1 - tail]), rel=1e-12)
        assert point.time.coverage == pytest.approx(1 - 2 * scipy.stats.binom.cdf(tail, LAUNCHES, 0.5))
        interval = scipy.stats.quantile_test(medians, q=0.5, p=0.5).confidence_interval(0.95)
        assert point.time.interval == pytest.approx((interval.low, interval.high), rel=1e-12)


def test_the_table_says_what_was_worked_out():
    records = random_records(2)
    [table] = contract_tables(view_of(records))
    expected = {}
    for variant in VARIANTS:
        label = variant if variant == "fftw-mpi" else f"{variant}/alltoallv"
        expected[label] = np.median(medians_of([r for r in records if r["point"]["variant"] == variant]))
    assert [row.method for row in table.rows] == sorted(expected, key=expected.get)
    for row in table.rows:
        time = expected[row.method]
        assert seconds_of(row.time) == pytest.approx(time, rel=6e-3)
        assert float(row.gflops) == pytest.approx(5 * 64**3 * 18 / time / 1e9, rel=6e-3)
        if row.method != "fftw-mpi":
            assert float(row.ratio) == pytest.approx(time / expected["fftw-mpi"], abs=0.006)


def test_phases_are_of_one_rank_the_slowest_and_their_shares_make_one():
    records = random_records(3)
    for point in view_of(records).points:
        launches = []
        for record in raw_of(records, point):
            totals = np.array(record["samples"]["rank_total_s"])
            rows = []
            for repetition in range(REPETITIONS):
                slowest = int(np.argmax(totals[:, repetition]))
                rows.append([record["samples"]["rank_phase_s"][name][slowest][repetition] for name in PHASES])
                assert math.fsum(rows[-1]) == pytest.approx(totals[:, repetition].max(), rel=1e-9)
            launches.append(np.median(rows, axis=0))
        expected = dict(zip(PHASES, np.median(launches, axis=0), strict=True))
        assert point.phases == pytest.approx(expected, rel=1e-12)
        assert sum(point.phases.values()) == pytest.approx(point.time_s, rel=0.15)  # a sum of medians, so not exact
        assert point.exchange_share == pytest.approx(expected["exchange"] / sum(expected.values()))
        assert all(point.phases_max[name] > point.phases[name] for name in PHASES)  # over ranks: not to be added up


def test_closure_is_the_largest_gap_between_a_ranks_phases_and_its_total():
    """The report has the drivers' own number; both are to be those of the raw samples."""
    record = random_records(4)[0]
    totals = np.array(record["samples"]["rank_total_s"]) * 1.01
    record["samples"]["rank_total_s"], record["samples"]["time_s"] = totals.tolist(), totals.max(axis=0).tolist()
    gap = np.abs(np.sum(list(record["samples"]["rank_phase_s"].values()), axis=0) / totals - 1).max()
    record["samples"]["closure"]["worst"] = gap
    assert parse_record(canonical(record), "a.json").closure_worst == pytest.approx(0.01 / 1.01)
    record["samples"]["closure"]["worst"] = 0.0
    with pytest.raises(RecordError, match="closure"):
        parse_record(canonical(record), "a.json")


@pytest.mark.parametrize(("kind", "factor"), [("c2c", 5.0), ("r2c", 2.5)])
@pytest.mark.parametrize("instances", [1, 3])
def test_gflops_are_credited_by_kind_and_instances(kind, factor, instances):
    [*records] = random_records(5, kind=kind, instances=instances, shape=(60, 48, 50))
    for point in view_of(records).points:
        time = np.median(medians_of(raw_of(records, point)))
        n = 60 * 48 * 50
        assert point.gflops == pytest.approx(instances * factor * n * np.log2(n) / time / 1e9, rel=1e-9)


@pytest.mark.parametrize("factor", [0.5, 2.0, 1.001, 0.0])
def test_a_record_that_credits_other_flops_is_no_record(factor):
    record = random_records(6)[0]
    record["credited_flops"] *= factor
    with pytest.raises(RecordError, match="credited_flops"):
        parse_record(canonical(record), "a.json")


def test_a_sample_is_the_time_of_the_slowest_rank_or_the_record_is_refused():
    record = random_records(7)[0]
    launch = parse_record(canonical(record), "a.json")
    assert launch.time_s == pytest.approx(np.max(record["samples"]["rank_total_s"], axis=0))
    for wrong in (np.min, np.mean, np.median):
        record["samples"]["time_s"] = wrong(record["samples"]["rank_total_s"], axis=0).tolist()
        with pytest.raises(RecordError, match="slowest rank"):
            parse_record(canonical(record), "a.json")


def test_bytes_over_the_least_are_those_of_all_readers_over_all_ranks():
    rng, maker = np.random.default_rng(8), Maker(isolate=False)
    bytes_of = {name: rng.uniform(1e6, 1e7, RANKS).tolist() for name in ("fft", "pack", "exchange", "unpack")}
    record = counted(maker.ok(make_point(ranks=RANKS), 0), simulated=False, phase_bytes=bytes_of)
    least = record["cost"]["least_bytes_per_rank"] = {name: rng.uniform(1e6, 1e7, RANKS).tolist() for name in bytes_of}
    [one] = view_of([record]).counted
    for name in bytes_of:
        assert one.over_least(name) == pytest.approx(np.sum(bytes_of[name]) / np.sum(least[name]))
    assert one.total_over_least == pytest.approx(np.sum(list(bytes_of.values())) / np.sum(list(least.values())))


UNLIKE = (
    {"kind": "r2c"}, {"precision": "single"}, {"direction": "backward"}, {"layout": "natural"}, {"threads": 2},
    {"buffers": "out-of-place"}, {"planner": "patient"}, {"normalisation": "unitary"}, {"instances": 2},
)  # fmt: skip


@pytest.mark.parametrize("change", UNLIKE, ids=lambda change: next(iter(change)))
def test_what_differs_in_the_contract_is_never_ranked_together(change):
    """Each alone: two campaigns' worth of points that differ in nothing else."""
    records = random_records(9) + random_records(10, **change)
    view = view_of(records)
    found = comparisons(view.points)
    assert [len(one.ranked) for one in found] == [len(VARIANTS)] * 2
    tables = contract_tables(view)
    assert len(tables) == len({table.contract for table in tables}) == 2
    assert [len(table.rows) for table in tables] == [len(VARIANTS)] * 2
    for one in found:
        for point in one.ranked:
            assert one.reference.cell == point.cell


def test_no_time_of_a_simulation_or_a_stand_in_is_ranked_on_the_page(reported):
    """`emulated` concerns components alone; there it has curves of its own, see test_components."""
    times = {"slab": 3.0, "pencil": 2.0, "volumetric": 1.0}
    maker = Maker(isolate=False)
    flags = {"volumetric": ["simulated"]}
    _, text = reported(maker.timed(make_point(one), 0, times[one], flags.get(one, [])) for one in times)
    page = unescape(text.replace("<wbr>", ""))
    [summary] = re.findall(r"<h3>Lowest median: .*?</table>", page, re.DOTALL)
    assert "pencil/alltoallv" in summary
    assert "volumetric" not in "".join(re.findall(r"<table>.*?</table>", page.split('<h2 id="flags"')[0], re.DOTALL))
    assert json.dumps("1.00 s") not in page
