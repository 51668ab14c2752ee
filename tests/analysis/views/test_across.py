"""Columns side by side: ratios known by construction, what may not stand in one, and what is refused."""

from pathlib import Path

import pytest
from fourscore_analysis.records.values import InputError
from fourscore_analysis.tables.across import (
    ALONE,
    CLEAR,
    DOUBTFUL,
    TIED,
    apart_sentences,
    differing_sentences,
    findings,
    floor_lines,
    map_lines,
    phase_lines,
    time_lines,
)
from fourscore_analysis.views.across import MACHINES, MPIS, VERSIONS, across
from synthetic import ETHERNET, Maker, campaign_of, component_records, elsewhere, make_point, simulated_records

LARGE = (256, 256, 256)  # beyond the caches
OTHER = {"cpu_model": "Swift 9"}
THIRD = {"cpu_model": "Third 3"}


def launches(point, scale=1.0, machine=None, count=6, seed=1, **code):
    """Launches of `point`, `scale` times as long: with equal seeds each by exactly so much."""
    maker = Maker(isolate=False, repetitions=3, seed=seed)
    return [elsewhere(maker.ok(point, launch, scale), machine, **code) for launch in range(count)]


def side_by_side(*records, name=MACHINES, base=""):
    return across({Path("archive"): [campaign_of([one for group in records for one in group])]}, name, base)


def test_the_ratio_of_a_scaled_copy_is_its_scale_and_its_interval_holds_it():
    report = side_by_side(
        launches(make_point(shape=LARGE)), launches(make_point(shape=LARGE), 1.25, OTHER, seed=2), base="Imaginary"
    )
    [group] = report.groups
    [row] = group.rows
    base, other = row.sides
    assert [column.title for column in group.columns] == ["Imaginary 9000 @ 2.60GHz, 8 cores", "Swift 9, 8 cores"]
    assert base.ratio is None
    assert other.ratio.value == pytest.approx(1.25, rel=0.03)
    assert other.ratio.interval[0] < 1.25 < other.ratio.interval[1]
    assert other.told
    assert time_lines(group)[0].entries[1].mark == "slower"


def test_launches_of_equal_times_are_not_told_apart():
    report = side_by_side(launches(make_point()), launches(make_point(), 1.0, OTHER, seed=5))
    [row] = report.groups[0].rows
    [other] = [side for side in row.sides if side.ratio]
    assert not other.told
    assert "not told apart in 1" in findings(report)[0]


def test_three_launches_have_a_ratio_and_no_interval():
    report = side_by_side(launches(make_point(), count=3), launches(make_point(), 2.0, OTHER, count=3))
    [row] = report.groups[0].rows
    [other] = [side for side in row.sides if side.ratio]
    assert (other.ratio.interval, other.told) == (None, False)
    assert "no interval" in time_lines(report.groups[0])[0].entries[1].small


def test_points_of_another_contract_or_accuracy_share_no_row():
    points = [make_point(), make_point(wire="single"), make_point(precision="single"), make_point(layout="natural")]
    report = side_by_side(launches(points[0]), *(launches(point, 1.0, OTHER) for point in points))
    [row] = report.groups[0].rows
    assert (row.cell.contract.wire, row.cell.contract.precision, row.cell.contract.layout) == (
        "as-is",
        "double",
        "transposed",
    )
    assert report.groups[0].alone == 3
    assert differing_sentences(report.groups[0])[-1] == "3 points of one column alone are in no row."


def test_simulated_emulated_and_foreign_launches_are_left_out_and_counted():
    point, platform = make_point(), make_point(platform="ethernet-100mbit")
    maker = Maker(isolate=False)
    report = side_by_side(
        launches(point),
        launches(point, 2.0, OTHER),
        simulated_records(maker, [platform], lambda _: 1e-3, ETHERNET),
        [elsewhere(maker.ok(point, 0, flags=[flag]), THIRD) for flag in ("emulated", "foreign", "slowed")],
        [elsewhere(maker.ok(point, 1), {"described_by": "HWLOC_SYNTHETIC"})],
    )
    assert [card.name for card in report.cards] == ["Imaginary 9000 @ 2.60GHz, 8 cores", "Swift 9, 8 cores"]
    said = apart_sentences(report)
    assert [sentence.split()[2] for sentence in said[:-1]] == ["1", "2", "1", "1"]
    assert "1 launch of simulated machines" in said[0]
    assert "2 launches emulated" in said[1]


def test_one_machine_or_none_is_refused_and_says_what_was_left_out():
    with pytest.raises(InputError, match=r"one machine alone has times \(Imaginary 9000 @ 2.60GHz, 8 cores\)"):
        side_by_side(launches(make_point()))
    emulated = [elsewhere(Maker().ok(make_point(), 0, flags=["emulated"]), OTHER)]
    with pytest.raises(InputError, match="left out: 1 launch emulated"):
        side_by_side(launches(make_point()), emulated)
    with pytest.raises(InputError, match="no launch of a real machine has a time"):
        side_by_side(emulated)


def test_the_map_says_who_wins_where_and_a_tie_is_a_tie():
    slab, pencil = make_point("slab", shape=LARGE, ranks=4), make_point("pencil", shape=LARGE, ranks=4)
    report = side_by_side(
        launches(slab, 1.0),
        launches(pencil, 1.5),
        launches(slab, 2.0, OTHER),
        launches(pencil, 1.0, OTHER),
        launches(slab, 1.0, THIRD, seed=3),
        launches(make_point("slab", "p2p", LARGE, 4, parameters={"x": "1"}), 1.0, THIRD, seed=4, count=2),
    )
    [line] = map_lines(report.groups[0])
    here, other, third = line.entries
    assert (here.text, here.mark) == ("slab/alltoallv", CLEAR)
    assert (other.text, other.mark) == ("pencil/alltoallv", CLEAR)
    assert here.small.startswith("pencil/alltoallv takes × 1.")
    assert third.mark == TIED
    assert third.text.startswith("≈ ")


def test_the_map_marks_what_is_in_the_cache_and_what_is_alone():
    report = side_by_side(
        launches(make_point("slab")),
        launches(make_point("pencil"), 2.0),
        launches(make_point("slab"), 1.0, OTHER),
    )
    here, other = map_lines(report.groups[0])[0].entries
    assert (here.mark, here.flags) == (DOUBTFUL, ("in-cache",))
    assert "in doubt: flagged in-cache" in here.small
    assert other.mark == ALONE


def test_a_host_whose_identity_changed_counts_as_two_machines_and_is_named():
    report = side_by_side(launches(make_point()), launches(make_point(), 1.1, {"memory_bytes": 2**36}))
    assert len(report.groups[0].columns) == 2
    assert apart_sentences(report) == [
        "archive describes host node-a in several ways, since it changed or two hosts have its name. It counts as "
        "several machines: memory 23.3 GiB (6 launches), 64.0 GiB (6 launches)."
    ]


def test_the_newest_build_of_a_machine_counts_and_the_others_are_counted():
    old = launches(make_point(), 3.0, compiler="GNU 9")
    new = launches(make_point(), 1.0)
    for launch in new:
        launch["provenance"]["volatile"]["started_at"] = "2026-12-01T00:00:00.000Z"
    report = side_by_side(old, new, launches(make_point(), 1.0, OTHER))
    column = report.groups[0].columns[0]
    assert column.older == 6
    assert column.view.campaign.launches[0].identity["code"]["compiler"] == "GNU 12.2.0"
    assert "6 launches of earlier builds are left out" in " ".join(differing_sentences(report.groups[0]))


def test_versions_and_mpis_of_one_machine_are_columns_of_the_same_tables():
    point = make_point(shape=LARGE)
    newer = launches(point, 0.8, fftw="fftw-3.4.0")
    versions = side_by_side(launches(point), newer, launches(point, 1.0, OTHER), name=VERSIONS, base="3.3.10")
    [group] = versions.groups
    assert group.machine == "Imaginary 9000 @ 2.60GHz, 8 cores"
    assert sorted(column.title for column in group.columns) == ["fftw-3.3.10-sse2-avx", "fftw-3.4.0"]
    [side] = [side for side in group.rows[0].sides if side.ratio]
    assert (side.point.setting, side.told) == ("fftw-3.4.0", True)
    assert versions.single == ["Swift 9, 8 cores"]
    mpis = side_by_side(launches(point), launches(point, 0.8, mpi="MPICH 4.2, ofi", compiler="GNU 13"), name=MPIS)
    assert {column.title for column in mpis.groups[0].columns} == {"Open MPI v4.1.4", "MPICH 4.2"}
    assert "also differ in: compiler" in differing_sentences(mpis.groups[0])[0]
    with pytest.raises(InputError, match="no machine was measured with two MPIs"):
        side_by_side(launches(point), launches(point, 1.0, OTHER), name=MPIS)


def test_the_base_is_what_is_asked_for_else_the_machine_of_most_points():
    records = launches(make_point()), launches(make_point(), 1.0, OTHER), launches(make_point("pencil"), 1.0, OTHER)
    assert side_by_side(*records).groups[0].base == 1
    digest = records[0][0]["provenance"]["machine_hash"]
    for asked in ("imaginary", "Imaginary 9000 @ 2.60GHz, 8 cores", digest[:8]):
        assert side_by_side(*records, base=asked).groups[0].base == 0
    with pytest.raises(InputError, match="no machine 'Cray' for --base; expected one of: Imaginary"):
        side_by_side(*records, base="Cray")
    with pytest.raises(InputError, match="is not one machine but 2"):
        side_by_side(*records, base="8 cores")


def test_each_machine_is_held_against_its_own_floors():
    point = make_point(shape=LARGE)
    components = list(component_records(Maker(isolate=False), 1))
    report = side_by_side(launches(point), components, launches(point, 2.0, OTHER))
    [line] = floor_lines(report.groups[0])
    here, other = line.entries
    assert here.text.endswith(" %")
    assert (other.text, other.small) == ("–", "not measured")


def test_phases_stand_side_by_side_with_their_shares():
    lines = phase_lines(side_by_side(launches(make_point()), launches(make_point(), 2.0, OTHER)).groups[0])
    assert [line.what[1] for line in lines] == ["fft", "pack", "exchange", "unpack", "other"]
    assert all(entry.small.endswith(" %") for line in lines for entry in line.entries)


def test_a_record_in_two_archives_counts_once_and_equal_names_are_no_rounds():
    records = [*launches(make_point()), *launches(make_point(), 1.2, OTHER)]
    report = across({Path("a"): [campaign_of(records)], Path("b"): [campaign_of(records)]}, MACHINES)
    assert [side.point.time.count for side in report.groups[0].rows[0].sides] == [6, 6]
    assert {launch.file[:2] for launch in report.groups[0].columns[0].view.campaign.launches} == {"a/"}


def test_scaling_joins_each_machines_points_of_one_method():
    points = [make_point("slab", shape=LARGE, ranks=ranks) for ranks in (1, 2, 4)]
    records = [launches(point, scale, machine) for point in points for scale, machine in ((1, None), (2, OTHER))]
    [group] = side_by_side(*records).groups
    [lines] = group.scaling("ranks", weak=False)
    assert [number for number, _ in lines] == [0, 1]
    assert all(series.counts == [1, 2, 4] for _, series in lines)
    assert group.scaling("nodes", weak=False) == []
