"""Joules of a run with idle power and above it, GFLOP/J and Pareto points, against values worked out by hand."""

import statistics

import pytest
from fourscore_analysis.plots import energy as plot
from fourscore_analysis.points.energy import energy_groups, pareto
from fourscore_analysis.tables.energy import energy_findings, energy_tables
from fourscore_analysis.tables.traffic import traffic_tables, uncounted_rows
from synthetic import Maker, make_point, view_of, with_energy

SHAPE = (64, 64, 64)
CREDITED = 5 * 64**3 * 18


def timed(record: dict, time_s: float) -> dict:
    """The record with this median time."""
    samples = record["samples"]
    scale = time_s / statistics.median(samples["time_s"])
    samples["time_s"] = [one * scale for one in samples["time_s"]]
    samples["rank_total_s"] = [[one * scale for one in rank] for rank in samples["rank_total_s"]]
    samples["rank_phase_s"] = {
        phase: [[one * scale for one in rank] for rank in ranks] for phase, ranks in samples["rank_phase_s"].items()
    }
    return record


def point_of(ranks: int, time_s: float, above_idle_j: float, variant: str = "slab", **changes) -> dict:
    record = Maker(isolate=False).ok(make_point(variant, "p2p", SHAPE, ranks), 0)
    return with_energy(timed(record, time_s), above_idle_j, time_s, **changes)


def test_joules_are_of_all_readers_and_what_no_reader_has_is_left_out():
    record = point_of(2, 0.5, 3.0)
    record["counters"]["readers"] = [{"rank": rank, "scope": "node"} for rank in (0, 1)]
    for key, package in (("with_idle", [5.0, 3.0]), ("total", [2.0, 1.0]), ("idle_per_s", [6.0, 4.0])):
        record["counters"][key] = {"package_j": package, "dram_j": [None, None]}
    [one] = view_of(record).energies
    assert (one.with_idle_j, one.above_idle_j, one.idle_w) == (8.0, 3.0, 10.0)
    assert one.watts == pytest.approx(8.0 / 0.5)
    assert one.gflop_per_j(one.above_idle_j) == pytest.approx(CREDITED / 3.0 / 1e9)
    assert one.time_s == pytest.approx(0.5)


def test_what_one_reader_lacks_is_no_number_and_never_zero():
    record = point_of(2, 0.5, 3.0)
    record["counters"]["readers"] = [{"rank": rank, "scope": "node"} for rank in (0, 1)]
    record["counters"] |= {key: {"package_j": [4.0, None], "dram_j": [1.0, 1.0]} for key in ("total", "idle_per_s")}
    record["counters"]["with_idle"] = {"package_j": [4.0, 4.0], "dram_j": [1.0, 1.0]}
    [one] = view_of(record).energies
    assert one.with_idle_j == 10.0
    assert one.above_idle_j is None
    assert one.idle_w is None
    [table] = energy_tables(view_of(record))
    assert (table.rows[0].above_idle, table.rows[0].per_joule) == ("–", "–")


def test_joules_and_dram_are_summed():
    record = point_of(2, 0.5, 3.0)
    record["counters"]["with_idle"]["dram_j"] = [1.5]
    assert view_of(record).energies[0].with_idle_j == pytest.approx(3.0 + 5.0 + 1.5)


def test_launches_give_their_median():
    maker = Maker(isolate=False)
    point = make_point("slab", "p2p", SHAPE, 2)
    records = [with_energy(maker.ok(point, launch), joules, 0.1) for launch, joules in enumerate((1.0, 9.0, 2.0))]
    [one] = view_of(*records).energies
    assert len(one.launches) == 3
    assert one.above_idle_j == 2.0


def test_pareto_points_are_those_that_no_other_beats_in_time_and_energy():
    # With 10 W at rest: 2 ranks 1 + 10, 4 ranks 3 + 5, 8 ranks 9 + 4, 16 ranks 20 + 4.5 joules.
    view = view_of(point_of(2, 1.0, 1.0), point_of(4, 0.5, 3.0), point_of(8, 0.4, 9.0), point_of(16, 0.45, 20.0))
    [group] = energy_groups(view.energies)
    assert [one.point.cell.ranks for one in pareto(group)] == [8, 4]
    [table] = energy_tables(view)
    assert [(row.ranks, row.pareto) for row in table.rows] == [(8, True), (16, False), (4, True), (2, False)]
    [sentence] = energy_findings(view)
    assert "slab/p2p on 4 ranks takes least, 8.00 J a run with idle power (3.00 J above it" in sentence
    assert "the fastest, slab/p2p on 8 ranks, takes 13.0 J" in sentence
    assert "2 of 4 points are Pareto points: slab/p2p on 8 ranks; slab/p2p on 4 ranks" in sentence


def test_points_of_different_problems_or_counters_never_beat_each_other():
    other = point_of(2, 0.1, 0.1)
    other["counters"]["backend"] = "perf"
    view = view_of(point_of(2, 1.0, 1.0), other)
    assert [[one.source.backend for one in group] for group in energy_groups(view.energies)] == [["powercap"], ["perf"]]


def test_the_plot_has_a_page_where_energies_are_and_none_elsewhere():
    view = view_of(point_of(2, 1.0, 1.0), point_of(4, 0.5, 3.0), point_of(8, 0.4, 9.0))
    [[facet]] = plot.pages(view)
    figure = plot.draw(view, [facet], "x")
    [axes] = figure.axes
    rings = [line for line in axes.lines if line.get_markersize() == 8]
    assert len(rings) == 2
    assert {text.get_text() for text in axes.texts} >= {"2", "4", "8"}
    assert plot.pages(view_of(Maker().ok(make_point(), 0))) == []


def test_a_point_of_energy_is_none_of_memory_traffic():
    view = view_of(point_of(2, 1.0, 1.0))
    assert view.counted == []
    assert traffic_tables(view) == []
    assert uncounted_rows(view) == []


def test_counters_that_did_not_move_are_listed_as_not_counted():
    record = point_of(2, 1.0, 1.0)
    for key in ("with_idle", "total"):
        record["counters"][key] = {"package_j": [None], "dram_j": [None]}
    view = view_of(record)
    assert view.energies == []
    [row] = uncounted_rows(view)
    assert (row.asked, row.reason) == ("powercap ENERGY", "its counters did not move")


def test_shared_and_emulated_counts_are_no_basis_for_a_claim():
    records = [point_of(2, 1.0, 1.0), point_of(4, 0.5, 3.0)]
    records[0]["flags"] += ["shared-package"]
    for record in records:
        record["flags"] += ["emulated"]
    view = view_of(*records)
    assert energy_findings(view)[0].endswith("No basis for a claim: flagged emulated, shared-package.")
    notes = " ".join(note for table in energy_tables(view) for note in table.notes)
    assert "Other processes used a node meanwhile" in notes
    assert "a stand-in that somebody named" in notes


def test_phases_have_joules_where_all_launches_counted_them():
    record = point_of(2, 1.0, 4.0)
    record["counters"]["phases"] = {
        "fft": {"package_j": [3.0], "dram_j": [None]},
        "exchange": {"package_j": [None], "dram_j": [None]},
    }
    [one] = view_of(record).energies
    assert one.phases_j == {"fft": 3.0}
    assert energy_tables(view_of(record))[0].rows[0].phases == "fft 3.00 J"


def test_the_page_and_its_json_have_energies(reported):
    [campaign], text = reported([point_of(2, 1.0, 1.0), point_of(4, 0.5, 3.0)])
    assert [(one["ranks"], one["pareto"]) for one in campaign["energies"]] == [(4, True), (2, False)]
    assert campaign["energies"][0]["joules_with_idle"] == pytest.approx(8.0)
    assert campaign["energies"][0]["joules_above_idle"] == pytest.approx(3.0)
    assert "Energy of a run: powercap ENERGY, all packages of a node read by one rank" in text
