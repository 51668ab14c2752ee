"""What follows from a paper's own formulas, tables and text agrees with what it prints, but for the numbers that the
files list as inconsistent.

Numbers are compared as ranges. A printed 0.19 stands for 0.185 to 0.20, since some tables round and some cut off."""

import math
from decimal import Decimal

import pytest
from fourscore_analysis.papers import all_papers
from fourscore_analysis.papers.base import meets, nothing
from fourscore_analysis.papers.ranges import Range, exactly, printed, rounded, rounded_or_cut
from fourscore_analysis.records.published import all_published, published

ITEMS = {f"{paper.name}/{item}": each for paper in all_papers().values() for item, each in paper.items.items()}
WITH_FORMULAS = [name for name, each in ITEMS.items() if each.computed is not nothing]


@pytest.mark.parametrize("name", WITH_FORMULAS)
def test_exactly_the_numbers_listed_as_inconsistent_disagree(name):
    paper, item = name.split("/")
    data = printed(paper, item)
    computed = list(ITEMS[name].computed())
    wrong = {}
    for one in computed:
        number = data["rows"][one.row - 1][one.column]
        if not meets(number, one):
            wrong[int(one.row), one.column] = one.value
    assert computed
    listed = {(int(one["row"]), one["column"]): one["computed"] for one in data.get("inconsistent", [])}
    assert set(wrong) == set(listed), wrong
    for place, value in listed.items():
        assert rounded(value).meets(wrong[place]), f"{place}: {value} is not in {wrong[place]}"


def test_no_number_is_called_inconsistent_without_a_formula():
    assert all(f"{item.paper}/{item.item}" in WITH_FORMULAS for item in all_published() if item.inconsistent)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("0.19", 0.185, 0.20), ("30", 29.5, 31), ("79.4e3", 79350, 79500), ("1.600", 1.5995, 1.601)],
)
def test_a_printed_number_stands_for_what_rounds_or_is_cut_off_to_it(text, low, high):
    span = rounded_or_cut(Decimal(text))
    assert (span.low, span.high) == pytest.approx((low, high))
    assert (rounded(Decimal(text)).high, rounded(Decimal(text)).low) == pytest.approx((float(text) * 2 - low, low))


def test_ranges_hold_every_value_that_their_parts_allow():
    one, other = Range(1, 2), Range(3, 5)
    assert one + other == Range(4, 7)
    assert other - one == Range(1, 4)
    assert one * other == Range(3, 10)
    assert one / other == Range(0.2, 2 / 3)
    assert 10 / one == Range(5, 10)
    assert 2**other == Range(8, 32)
    assert one.meets(Range(2, 3))
    assert not one.meets(exactly(2.001))


def test_the_trends_of_table_1_bend_the_lines_of_figure_6_of_czechowski2012_as_its_text_says():
    """Eq. 10 over ten years: (C / R_peak)^(1 - kappa) times beta_link / beta_mem, the logarithm left out."""
    factor = {row["quantity"]: row["ten_year_factor"] for row in published("czechowski2012", "table-1-trends").rows}
    kappas = {
        "3-D torus, bisection": 2 / 3,
        "3-D torus, ideal mapping": 5 / 6,
        "4-D torus, bisection": 3 / 4,
        "5-D torus, bisection": 4 / 5,
    }
    rows = published("czechowski2012", "figure-6").rows
    assert {row["network"] for row in rows} == set(kappas)
    for row in rows:
        nodes = factor["peak_flops_per_s"] / factor["machine_peak_flops_per_s"]
        change = nodes ** (1 - kappas[row["network"]]) * factor["link_bytes_per_s"] / factor["memory_bytes_per_s"]
        assert ("rises" if change > 1 else "falls") == row["mem_over_net_trend"]
    assert sum(row["share_percent"] for row in published("czechowski2012", "figure-4").rows) < 100


def test_the_bound_of_eleftheriou2005_is_equal_for_lines_planes_and_volumes():
    rows = published("eleftheriou2005", "hardware-limits").rows
    assert len({row["hops_over_p"] / row["links"] for row in rows}) == 1
    table = published("eleftheriou2005", "table-1").rows
    assert max(row["mesh_over_torus"] for row in table if row["layer"] != "model") == table[2]["mesh_over_torus"] > 1.8
    assert table[2]["shape"] == [128, 128, 128]


def test_the_curves_of_gupta1993_are_straight_below_the_break_even_efficiency():
    break_even = published("gupta1993", "section-8").rows[1]["break_even_efficiency"]
    for row in published("gupta1993", "figure-3").rows:
        assert (row["curve"] == "nearly linear") == (row["efficiency"] < break_even)


def test_the_exponents_of_gupta1993_have_reversed_bits_and_are_counted_in_its_table_4():
    rows = published("gupta1993", "table-3").rows
    assert {(row["iteration"], row["index"]) for row in rows} == {(step, i) for step in range(3) for i in range(8)}
    for row in rows:
        bits = f"{row['index']:03b}"[: row["iteration"] + 1]
        assert row["exponent_bits"] == bits[::-1].ljust(3, "0")
    for row in published("gupta1993", "table-4").rows:
        share = 8 // row["processors"]
        counts = [[0] * 3 for _ in range(row["processors"])]
        for rank, count in enumerate(counts):
            seen: set[str] = set()
            for step in range(3):
                own = {
                    one["exponent_bits"]
                    for one in rows
                    if one["iteration"] == step and rank * share <= one["index"] < (rank + 1) * share
                }
                count[step] = len(own - seen)
                seen |= own
        most = max(counts, key=sum)
        assert most == [row[f"iteration_{step}_factors"] for step in range(3)]
        assert sum(most) == row["factors"]


def test_the_crossover_of_haynes2000_depends_on_latency_and_bandwidth_by_their_product_alone():
    """Eqs. 4 and 5 are latencies (alpha + packet / beta); their ratio keeps when alpha beta does."""
    rows = published("haynes2000", "equations-4-and-5").rows

    def value(formula: str, **names: float) -> float:
        return eval(formula, {"__builtins__": {}, "log2": math.log2}, names)

    size = {"n": 64.0**3, "u": 16.0}
    for nodes in (2, 64, 1024):
        one, other = ({"P": nodes, "alpha": alpha, "beta": 2e3 / alpha, **size} for alpha in (1e-5, 2e-4))
        for row in rows:
            packet, latencies = (value(row[f"{name}_formula"], **one) for name in ("packet_bytes", "latencies"))
            expected = latencies * (one["alpha"] + packet / one["beta"])
            assert value(row["time_s_formula"], **one) == pytest.approx(expected)
        traditional, new = (row["time_s_formula"] for row in rows)
        assert value(new, **one) / value(traditional, **one) == pytest.approx(
            value(new, **other) / value(traditional, **other)
        )
    many = rows[0]["many_nodes_time_s_formula"]
    assert value(many, **one) == pytest.approx(value(rows[0]["time_s_formula"], **one), rel=2e-3)


def test_the_tables_of_lee2018_have_their_best_rows_where_its_text_says():
    """Section 2.2.1: 10x10; 3.3.2: 16 threads whatever the nodes; 4.2.1: the default allocation."""
    table = published("lee2018", "table-2.1")
    assert min(table.rows, key=lambda row: row["backward_ms"])["decomposition"] == "10x10"
    table = published("lee2018", "table-3.1")
    for nodes in (4, 8, 16):
        rows = [row for row in table.rows if row["nodes"] == nodes]
        assert min(rows, key=lambda row: row["backward_ms"])["threads"] == 16
    assert min(published("lee2018", "table-4.2").rows, key=lambda row: row["backward_s"])["allocation"] == "default"
