"""Every printed number of every paper is judged once, and the verdicts are those worked out by hand."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from fourscore_analysis.papers import all_papers
from fourscore_analysis.papers.base import (
    DIFFERS,
    GIVEN,
    ROUNDING,
    THERE,
    WITHIN,
    Computed,
    Item,
    Number,
    counts,
    judge,
    within_text,
)
from fourscore_analysis.papers.here import Here
from fourscore_analysis.papers.ranges import Range, exactly
from fourscore_analysis.records.papers import sources
from fourscore_analysis.tables.papers import value_text
from fourscore_papers.czechowski2012 import readings

PAPERS = all_papers()
# How many numbers of each paper are judged, without conditions and given numbers: a number moved to either shows here.
JUDGED = {"czechowski2012": 61, "eleftheriou2005": 65, "haynes2000": 9, "gupta1993": 142, "lee2018": 155}


def cells(paper: str) -> Counter:
    """(item, row, column) of everything that the files print, read without the package."""
    found: Counter = Counter()
    for path in (sources()[paper].folder / "published").glob("*.json"):
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            found.update(
                (path.stem, row["row"], name) for name, value in row.items() if name != "row" and value is not None
            )
    return found


@pytest.mark.parametrize("name", PAPERS)
def test_every_printed_value_is_judged_once_or_is_a_condition_of_its_row(name):
    judged = judge(PAPERS[name], Here())
    found = Counter((one.item.item, number.row, number.column) for one in judged for number in one.numbers)
    conditions = Counter(
        (one.item.item, row["row"], column)
        for one in judged
        for row in one.item.rows
        for column in one.conditions
        if row.get(column) is not None
    )
    assert set(found.values()) == {1}
    assert found + conditions == cells(name)


@pytest.mark.parametrize("name", PAPERS)
def test_each_row_of_an_item_is_told_apart_by_its_conditions(name):
    """Conditions are what says which row it is: with them alone no two rows are the same."""
    for one in judge(PAPERS[name], Here()):
        rows = [tuple(str(row.get(column)) for column in one.conditions) for row in one.item.rows]
        if len(rows) > 1 and name in JUDGED:
            assert len(set(rows)) == len(rows), one.item.item


@pytest.mark.parametrize("name", JUDGED)
def test_no_number_is_put_among_the_given_in_silence(name):
    found = counts(judge(PAPERS[name], Here()))
    assert sum(found.values()) - found[GIVEN] == JUDGED[name]


def test_a_number_computed_of_a_cell_that_prints_nothing_is_an_error():
    paper = PAPERS["haynes2000"]
    for column in ("nodes", "alpha_beta_s"):  # a condition, and no column at all
        wrong = Item(("machine", "nodes"), computed=lambda column=column: [Computed(1, column, exactly(1))])
        with pytest.raises(ValueError, match=f"haynes2000/section-5: row 1, {column}"):
            judge(replace(paper, items={"section-5": wrong}), Here())
    with pytest.raises(ValueError, match=r"section-99\.json"):
        judge(replace(paper, items={"section-99": Item()}), Here())


@pytest.mark.parametrize(
    ("printed", "computed", "bound", "kind", "verdict"),
    [
        ("2.8", Range(2.84, 2.84), "", ROUNDING, "agrees within rounding"),
        ("0.19", Range(0.199, 0.2), "", ROUNDING, "agrees within rounding"),  # cut off
        ("350e3", Range(364e3, 364e3), "", WITHIN, "agrees within 4 %"),
        ("2.8", Range(34.4, 34.6), "", DIFFERS, "differs: because"),
        ("1", Range(0.1, 0.1), "below", ROUNDING, "agrees within rounding"),
        ("1", Range(1.01, 1.01), "below", DIFFERS, "differs: because"),
        ("250", Range(251, 251), "above", ROUNDING, "agrees within rounding"),
    ],
)
def test_a_verdict_follows_from_the_printed_digits(printed, computed, bound, kind, verdict):
    one = Computed(1, "a", computed, "", bound)
    number = Number("p", "i", 1, "a", Decimal(printed), computed=(one,), why="because")
    assert (number.kind, number.verdict) == (kind, verdict)


def test_the_formula_that_agrees_least_is_shown():
    computed = tuple(Computed(1, "a", exactly(value), str(value)) for value in (2.0, 8.0, 2.1))
    number = Number("p", "i", 1, "a", Decimal("2.0"), computed=computed)
    assert (number.ours.formula, number.kind) == ("8.0", DIFFERS)
    assert number.difference == pytest.approx(3)


def test_words_agree_or_differ():
    same, other = (Number("p", "i", 1, "a", "rises", computed=(Computed(1, "a", word),)) for word in ("rises", "falls"))
    assert (same.kind, other.kind, other.difference) == (ROUNDING, DIFFERS, None)
    assert Number("p", "i", 1, "a", "rises").kind == THERE


def test_a_difference_is_never_said_smaller_than_it_is():
    assert [within_text(off) for off in (0.001, 0.041, -0.05, 0.0999)] == [
        f"agrees within {percent} %" for percent in (1, 5, 5, 10)
    ]


def number(paper: str, item: str, row: int, column: str) -> Number:
    [found] = [
        each
        for one in judge(PAPERS[paper], Here())
        if one.item.item == item
        for each in one.numbers
        if (each.row, each.column) == (row, column)
    ]
    return found


def test_figure_5_of_czechowski2012_by_hand():
    """4 EF/s of GPUs with 515 x 59 GF/s; 21000^3 words of 16 bytes; 218 GB/s and 144 x 9.7 GB/s a node."""
    nodes = 4e18 / (515e9 * 59)
    network_s = 2 * 21000**3 * 16 / (nodes ** (2 / 3) * 218e9)
    memory_s = 3 * 6.3 * 21000**3 * 16 / (nodes * 144e9 * 9.7)
    assert (nodes, network_s, memory_s) == pytest.approx((131644, 0.5253, 0.01523), rel=1e-3)
    ratio = number("czechowski2012", "figure-5", 1, "net_over_mem")
    assert ratio.as_json()["computed"] == pytest.approx(network_s / memory_s, rel=1e-3)
    assert (ratio.kind, ratio.reading_kind) == (DIFFERS, WITHIN)
    # The bandwidth of 2010, and two loads and two stores more for each element.
    found_s = (3 * 6.3 + 4) * 21000**3 * 16 / (nodes * 144e9)
    assert ratio.as_json()["other_reading"] == pytest.approx(network_s / found_s, rel=1e-3)
    assert number("czechowski2012", "figure-5", 4, "max_s").kind == ROUNDING
    speed = number("czechowski2012", "section-6", 1, "fft_flops_per_s")
    assert (speed.kind, speed.reading_kind) == (DIFFERS, ROUNDING)
    assert speed.as_json()["other_reading"] == pytest.approx(2.83e15, rel=2e-3)


def test_every_number_of_figure_5_agrees_within_5_percent_under_the_reading_that_was_found():
    [figure] = [one for one in judge(PAPERS["czechowski2012"], Here()) if one.item.item == "figure-5"]
    assert {each.column for each in figure.numbers if each.reading} == {
        "net_over_mem", "speedup_over_gpu", "nodes", "peak_flops_per_s", "nodes_over_gpu"
    }  # fmt: skip
    for each in figure.numbers:
        found = each.reading or each.ours
        if found and each.kind != GIVEN:
            assert replace(each, computed=(found,), reading=None).kind in (ROUNDING, WITHIN)
            off = replace(each, computed=(found,), reading=None).difference
            assert replace(each, computed=(found,)).kind == ROUNDING or abs(off) < 0.05, each.column


def test_figure_6_of_czechowski2012_needs_a_memory_bandwidth_that_grows():
    """So the reading of Fig. 5 is of Fig. 5 alone: with the bandwidth of 2010 the line of the 3-D torus would rise."""
    assert number("czechowski2012", "figure-6", 1, "mem_over_net_trend").kind == ROUNDING
    grown = 9.7
    before = 3 * 6.3 / 2 * 10 / 21.3 * (4e15 / 50.4e9) ** (-1 / 3)
    after = 3 * 6.3 / 2 * 218 / (21.3 * grown) * (4e18 / (50.4e9 * 59)) ** (-1 / 3)
    assert after < before < after * grown


def test_table_1_of_eleftheriou2005_has_a_quarter_of_the_cycles_of_its_text():
    """3 x 128^2 transforms of 8 x 128 x 7 cycles at 700 MHz on 512 nodes are 983 us."""
    seconds = 3 * 128**2 * 8 * 128 * 7 / 512 / 700e6
    one = number("eleftheriou2005", "table-1", 7, "non_bandwidth_s")
    assert one.as_json()["computed"] == pytest.approx(seconds)
    assert one.as_json()["other_reading"] == pytest.approx(seconds / 4)
    assert (one.kind, one.reading_kind) == (DIFFERS, ROUNDING)
    assert number("eleftheriou2005", "table-1", 7, "torus_s").reading_kind == ROUNDING
    assert number("eleftheriou2005", "table-1", 7, "bandwidth_s").kind == ROUNDING


def test_table_1_of_gupta1993_to_every_printed_digit():
    """Digits as they are printed: .2 K cut, the others rounded after K was cut to four decimals; 0.143 and 203 stay."""
    ways = {"m1": (0.2, math.floor), "m2": (1.28, round), "m3": (0.178, round), "m4": (30 / 2.8, round)}
    text = (sources()["gupta1993"].folder / "published/table-1.json").read_text(encoding="utf-8")
    other = []
    for line in text.splitlines():
        for machine, (ratio, rule) in ways.items():
            found = re.search(rf'"efficiency": ([\d.]+),.*"slope_{machine}": ([\d.]+)', line)
            if found is None:
                continue
            places = len(found[2].partition(".")[2])
            k = math.floor(float(found[1]) / (1 - float(found[1])) * 1e4 + 1e-6) / 1e4
            digits = f"{rule(k * ratio * 10**places + 1e-9) / 10**places:.{places}f}"
            if digits != found[2]:
                other.append((float(found[1]), machine, digits, found[2]))
    assert other == [(0.1, "m2", "0.142", "0.143"), (0.95, "m4", "204", "203")]
    assert number("gupta1993", "table-1", 10, "slope_m4").kind == ROUNDING  # 203.57, cut
    assert number("gupta1993", "table-1", 1, "slope_m2").kind == WITHIN
    [table] = [one for one in PAPERS["gupta1993"].searches() if one.title.startswith("Table 1")]
    assert [tried.values[-1] for tried in table.tried][-2:] == [38, 39]


def test_the_numbers_of_gupta1993_that_differ_by_hand():
    """1 / (1 + 10.7 x 6 / 12); 2 p / log p = p / 2 at log p = 4; (t_w - t_c) / t_c = 1 of Example 2."""
    one = number("gupta1993", "table-2", 11, "efficiency")
    assert (one.kind, one.as_json()["computed"]) == (DIFFERS, pytest.approx(1 / 6.35, rel=5e-3))
    one = number("gupta1993", "section-7", 1, "processors")
    assert (one.kind, one.as_json()["computed"], one.reading_kind) == (DIFFERS, 16, ROUNDING)
    for column, value in (("threshold_efficiency", 0.5), ("p_exponent", 9)):
        one = number("gupta1993", "appendix-e", 1, column)
        assert (one.kind, one.reading_kind) == (DIFFERS, ROUNDING)
        assert one.as_json()["computed"] == pytest.approx(value)
    judged = [each for one in judge(PAPERS["gupta1993"], Here()) for each in one.numbers]
    assert sum(each.kind == DIFFERS for each in judged) == 4


def test_figure_2_of_gupta1993_saturates_with_a_start_up_time_alone():
    """1,024 points: W = 80 us 1024 10; T_o = t_s 1024 10 + 16 us 1024 10 on 1,024 processors."""
    w = 80e-6 * 1024 * 10
    [search] = [one for one in PAPERS["gupta1993"].searches() if one.title.startswith("Figure 2")]
    for tried, t_s in zip(search.tried, (0, 1e-4, 4e-4, 1e-3), strict=True):
        assert tried.values[1] == pytest.approx(1024 / (1 + (t_s * 10240 + 16e-6 * 10240) / w))
    assert number("gupta1993", "figure-2", 1, "curve").reading_kind == ROUNDING
    assert number("gupta1993", "figure-2", 2, "curve").kind == ROUNDING


def test_the_numbers_of_lee2018_that_differ_by_hand():
    """400 / 128 pencils; 8 x 64 cores; 128.97 / 21.495 copies; 61 x 1.59 ms; 20 and 6 messages a pencil."""
    for item, row, column, value, reading in (
        ("figure-2.3", 1, "chares_per_core", 3.125, 4),
        ("figure-3.4", 1, "cores", 512, 1024),
        ("table-4.1", 2, "operations", 6, None),
        ("table-4.1", 6, "operations", 1, 2),
    ):
        one = number("lee2018", item, row, column)
        assert one.kind == DIFFERS
        assert one.as_json()["computed"] == pytest.approx(value, rel=1e-3)
        assert one.as_json()["other_reading"] == (reading if reading is None else pytest.approx(reading))
    assert number("lee2018", "section-5.2.2", 4, "completion_ms").reading_kind == ROUNDING
    assert number("lee2018", "figure-3.2", 1, "messages").reading.value == exactly(3 * 2 * 20 * 100 / 128)
    assert number("lee2018", "figure-3.2", 2, "messages").reading.value == exactly(3 * 2 * 6)
    judged = [each for one in judge(PAPERS["lee2018"], Here()) for each in one.numbers]
    assert sum(each.kind == DIFFERS for each in judged) == 4


def test_the_searches_show_the_equations_as_printed_first_and_as_many_values_as_columns():
    for paper in PAPERS.values():
        for search in paper.searches():
            assert {len(tried.values) for tried in search.tried} == {len(search.columns)}
            assert len(search.printed) in (0, len(search.columns))
            assert search.found
            assert search.meaning


def test_no_single_change_and_no_other_pair_comes_as_near_to_figure_5_as_the_reading_that_was_found():
    near = [(miss, found) for miss, found in readings.search(2) if miss < 0.09]
    assert [(found.still, found.shuffle) for _, found in near] == [(readings.FOUND.still, True)]
    assert near[0][0] == pytest.approx(readings.miss(readings.outcome(readings.FOUND)))
    assert readings.miss(readings.outcome(readings.AS_PRINTED)) > 1
    assert [found for miss, found in readings.search(1) if miss < 0.2] == []


def test_the_text_says_how_many_combinations_are_searched():
    combinations = math.prod(len(values) for values in readings.CHANGES.values())
    [search] = [one for one in PAPERS["czechowski2012"].searches() if one.title.startswith("Figure 5")]
    assert f"{combinations:,} combinations" in search.found


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (Decimal("4E+18"), "peak_flops_per_s", "4 Eflop/s"),
        (Decimal("79.4E+3"), "nodes", "79,400"),
        (Decimal("0.000136"), "mesh_s", "136 µs"),
        (Decimal("2.08E-10"), "non_bandwidth_per_n3_log2_n_s", "208 ps"),
        (Decimal("0.08"), "of_peak_percent", "0.08 %"),
        (Decimal("2E+3"), "alpha_beta_bytes", "2 kB"),
        (34.49, "net_over_mem", "34.5"),
        (162241.0, "nodes", "162,000"),
        (Decimal("1.600"), "mesh_over_torus", "1.600"),
        ("rises", "mem_over_net_trend", "rises"),
    ],
)
def test_a_number_is_shown_with_its_unit_and_the_digits_that_are_printed(value, column, text):
    assert value_text(value, column) == text
