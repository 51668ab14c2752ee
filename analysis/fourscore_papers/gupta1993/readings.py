"""Readings of gupta1993: of Table 1's digits, row 11 of Table 2, Section 7, appendix E, and of what bounds Figure 2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction

from fourscore_analysis.papers.base import Search, Tried
from fourscore_analysis.papers.ranges import printed, rows_of

from fourscore_papers.gupta1993 import equations
from fourscore_papers.gupta1993.equations import Machine

NAME = "gupta1993"
ROUND, CUT = ROUND_HALF_UP, ROUND_DOWN
# For each machine, the ratio t_w / t_c and the rule that give most digits of its column.
RATIOS: dict[str, tuple[Fraction, str]] = {
    "M1": (Fraction(1, 5), CUT),
    "M2": (Fraction(128, 100), ROUND),
    "M3": (Fraction(178, 1000), ROUND),
    "M4": (Fraction(300, 28), ROUND),
}
# As the text of section 8 prints them, and from its bandwidths and speeds.
OF_TEXT = {"M1": Fraction(1, 5), "M2": Fraction(128, 100), "M3": Fraction(18, 100), "M4": Fraction(107, 10)}
OF_RATES = {"M1": Fraction(1, 5), "M2": Fraction(32, 25), "M3": Fraction(5, 28), "M4": Fraction(300, 28)}
K_PLACES = 4  # places to which K is cut before it is multiplied: then .548 and 2.99 of M2 are both rounded
START_S = 0.4e-3  # start-up time of a message: Figure 2 needs some tenths of a millisecond


def ratio_text(ratio: Fraction) -> str:
    """0.2; 300/28 where it has no end"""
    decimal = float(ratio)
    return f"{decimal:g}" if Fraction(f"{decimal:g}") == ratio else "30 / 2.8"


def k_of(efficiency: Decimal, places: int | None = None) -> Fraction:
    """K of Eq. 2, exactly, or cut to so many decimals."""
    k = Fraction(efficiency) / (1 - Fraction(efficiency))
    return k if places is None else Fraction(digits_of(k, places, CUT))


def digits_of(value: Fraction, places: int, rule: str) -> Decimal:
    """With so many decimals, exactly rounded or cut."""
    scaled = value * 10**places
    whole = math.floor(scaled + Fraction(1, 2)) if rule == ROUND else math.floor(scaled)
    return Decimal(whole).scaleb(-places)


def agreeing(machine: str, ratio: Fraction, rules: Sequence[str], k_places: int | None = None) -> int:
    """Entries of the machine's column that come out to the last digit, by any of the rules."""
    found = 0
    for row in rows_of(NAME, "table-1"):
        entry = row[f"slope_{machine.lower()}"]
        value = k_of(row["efficiency"], k_places) * ratio
        found += any(digits_of(value, -entry.as_tuple().exponent, rule) == entry for rule in rules)
    return found


def table_1_search() -> Search:
    def tried(name: str, ratios: dict[str, Fraction], rules: Sequence[str], k_places: int | None = None) -> Tried:
        counts = [agreeing(machine, ratio, rules, k_places) for machine, ratio in ratios.items()]
        return Tried(name, (*counts, sum(counts)))

    best = {machine: ratio for machine, (ratio, _) in RATIOS.items()}
    of_each = [agreeing(machine, ratio, [rule], K_PLACES) for machine, (ratio, rule) in RATIOS.items()]
    return Search(
        "Table 1: which digits come out",
        (*RATIOS, "of 40"),
        (),
        (
            tried("ratios as the text prints them, rounded", OF_TEXT, [ROUND]),
            tried("ratios as the text prints them, cut", OF_TEXT, [CUT]),
            tried("ratios from the bandwidths and speeds, rounded", OF_RATES, [ROUND]),
            tried("ratios from the bandwidths and speeds, cut", OF_RATES, [CUT]),
            tried("0.2, 1.28, 0.178, 30 / 2.8, rounded", best, [ROUND]),
            tried("0.2, 1.28, 0.178, 30 / 2.8, cut", best, [CUT]),
            tried(f"the same, rounded, K first cut to {K_PLACES} decimals", best, [ROUND], K_PLACES),
            Tried("the same, M1 cut", (*of_each, sum(of_each))),
            tried("0.2, 1.28, 0.178, 30 / 2.8, each entry rounded or cut", best, [ROUND, CUT]),
        ),
        "With the ratios 0.2, 1.28, 0.178 and 30 / 2.8 and each entry rounded or cut, 39 of the 40 entries have every "
        "printed digit. One rule for each machine gives 38: M1 is cut, the others are rounded after K was cut to four "
        "decimals. Two entries are left. 203 of M4 is 203.57, cut, or 19 times the 10.7 of the text. 0.143 of M2 at "
        "E = 0.1 has no reading: 1.28 / 9 is 0.1422. It needs a ratio of 1.2825 or more, and 0.320 one below 1.284, "
        "0.548 one below 1.281.",
        "None: the last digit of one entry. M3 was computed with 0.178, which the text rounds to 0.18.",
    )


def table_2_search() -> Search:
    ratio = float(printed(NAME, "table-2")["setup"]["t_w_over_t_c"])

    def efficiency(log2_points: float, log2_processors: float, of: float = ratio) -> float:
        return 1 / (1 + of * log2_processors / log2_points)

    [row] = [row for row in rows_of(NAME, "table-2") if (row["processors"], row["log2_points"]) == (64, 12)]
    others = tuple(efficiency(12, power) for power in (4, 8))
    needed = (1 / float(row["efficiency"]) - 1) * 12 / 6
    return Search(
        "Table 2: 64 processors, 2^12 points",
        ("p = 16", "p = 64", "p = 256"),
        tuple(
            one["efficiency"]
            for power in (16, 64, 256)
            for one in rows_of(NAME, "table-2")
            if (one["processors"], one["log2_points"]) == (power, 12)
        ),
        (
            Tried("Eqs 1 and 4 as printed, t_s = 0", (others[0], efficiency(12, 6), others[1])),
            Tried(
                f"t_w / t_c = {needed:.2f}, which the entry needs", tuple(efficiency(12, p, needed) for p in (4, 6, 8))
            ),
            Tried("32 processors in the place of 64", (others[0], efficiency(12, 5), others[1])),
            Tried("2^14 points in the place of 2^12", (others[0], efficiency(14, 6), others[1])),
            Tried("2^15 points in the place of 2^12", (others[0], efficiency(15, 6), others[1])),
            Tried("the transpose method, Eq. 11", tuple(1 / (1 + ratio / 12) for _ in range(3))),
        ),
        "29 of the 30 entries follow from the formula. No ratio gives this one with its neighbours. The formula has "
        "0.157, which rounds to 0.16: the printed 0.19 may be that with its last digit upside down.",
        "None: the table is to show that efficiencies on large hypercubes of type M4 are small, and the right number "
        "is smaller than the printed one.",
    )


def crossing(mesh_cost: Callable[[float], float], hypercube: float = 0.5) -> int | None:
    """The first power of two from 4 processors on where a mesh costs no more than `hypercube` times p."""
    sizes = (2**power for power in range(2, 64))
    return next((p for p in sizes if mesh_cost(p) <= hypercube * p * (1 + 1e-12)), None)


def section_7_search() -> Search:
    """Beside the number, the cost for the transpose method over p, of which the section says 2."""
    bisection = equations.mesh_bisection_cost
    return Search(
        "Section 7: from where on a mesh is cheaper by its bisection",
        ("processors", "bisection cost / p, transpose"),
        (rows_of(NAME, "section-7")[0]["processors"], Decimal(2)),
        (
            Tried(
                "as printed: sqrt(p) channels, w = 2 sqrt(p) / log p; transpose w = sqrt(p)", (crossing(bisection), 1.0)
            ),
            Tried("transpose w = 2 sqrt(p), the factor 2 of Eq. 8 as in the other w", (crossing(bisection), 2.0)),
            Tried(
                "2 sqrt(p) channels in the bisection, as of a mesh with wraparound; transpose w = sqrt(p)",
                (crossing(lambda p: 2 * bisection(p)), 2.0),
            ),
            Tried(
                "a mesh at no more than half the cost of the hypercube; transpose w = 2 sqrt(p)",
                (crossing(bisection, 0.25), 2.0),
            ),
            Tried("cost of all links: 8 p sqrt(p) / log p against p log p", (None, None)),
        ),
        "The section's own costs, 2 p / log p and p / 2, are equal at 16 processors. 256 and the cost 2 p of the "
        "transpose method agree together if the bisection has 2 sqrt(p) channels, as that of a mesh with wraparound "
        "has; then the cost is 4 p / log p, and the section prints 2 p / log p. With sqrt(p) channels 256 is where "
        "the mesh costs half as much as the hypercube. For the links of the transpose method the section has "
        "w = sqrt(p) in its text and 8 p sqrt(p) in its result, which is w = 2 sqrt(p).",
        "The conclusion stands, and more strongly: by its bisection a mesh is cheaper for binary exchange from 16 "
        "processors on, not from 256. For the transpose method the hypercube stays cheaper, by 2 or by 4; by the "
        "cost of its links it is cheaper at any size.",
    )


def appendix_e_search() -> Search:
    """t over t_c, for Example 2: t_w = 2 t_c."""
    [row] = rows_of(NAME, "appendix-e")
    level = float(row["efficiency"])

    def tried(name: str, t: float) -> Tried:
        return Tried(name, (equations.threshold(t), equations.slope(t, level)))

    return Search(
        "Appendix E: Example 2 with overlapped communication",
        ("threshold", "exponent at E = 0.9"),
        (row["threshold_efficiency"], row["p_exponent"]),
        (
            tried("as printed: (t_w - t_c) / t_c, t_w = 2 t_c", 1.0),
            tried("(t_w - t_c) / t_w, t_w = 2 t_c", 0.5),
            tried("(t_w - t_c) / t_c, t_w = 1.5 t_c", 0.5),
            tried("(t_w - t_c) / (2 t_c): a step computes two outputs for each word", 0.5),
            tried("t_w / t_c without overlap, t_w = 2 t_c", 2.0),
        ),
        "Both numbers need one ratio, 0.5. The formula that stands beside them has t_c below the line and gives 1. "
        "With t_w below the line, or with t_w = 1.5 t_c in the place of the 2 t_c of Example 2, both come out. So it "
        "is one slip, not two.",
        "The conclusion stands: overlap makes the method more scalable, and the form of the function stays. The gain "
        "is smaller than printed: the threshold rises from 0.33 to 0.50, not to 0.67, and at E = 0.9 the exponent "
        "falls from 18 to 9, not to 4.5.",
    )


def figure_2_search() -> Search:
    setup = printed(NAME, "figure-2")["setup"]

    def speedup(points: int, processors: int, t_s_s: float) -> float:
        machine = Machine(float(setup["t_c_us"]) * 1e-6, float(setup["t_w_us"]) * 1e-6, t_s_s)
        overhead = equations.hypercube_overhead(machine, points, processors)
        return processors * equations.efficiency(overhead, equations.work(machine, points))

    starts = (0.0, 0.1e-3, START_S, 1e-3)
    return Search(
        "Figure 2: what makes the small transform saturate",
        ("speedup on 256, n = 1,024", "on 1,024, n = 1,024", "on 256, n = 65,536", "on 1,024, n = 65,536"),
        (),
        tuple(
            Tried(f"t_s = {1e3 * t_s:g} ms", tuple(speedup(n, p, t_s) for n in (1024, 65536) for p in (256, 1024)))
            for t_s in starts
        ),
        "The paper prints no t_s, and its Tables 1 and 2 leave it out. Without it the speedup of 1,024 points on 1,024 "
        "processors would be 853, and nothing would saturate. With some tenths of a millisecond the small transform "
        "does, and that of 65,536 points stays nearly linear, as the text says of its figure.",
        "Tables 1 and 2 are of large problems only. Where n is not much larger than p, start-up time decides.",
    )


def searches() -> tuple[Search, ...]:
    return (table_1_search(), table_2_search(), section_7_search(), appendix_e_search(), figure_2_search())


REMARKS = (
    "The text before Eq. 1 prints the speedup as W / T_o; Eq. 1 itself has W / T_p.",
    "Appendix B leaves the factor 2 of Eq. 8 out of all its measures for a mesh: the serial fraction and the overhead "
    "function beyond 1 are twice as large by Eq. 8. For the scaled speedup and for the measure of Nussbaum and Agarwal "
    "it prints the hypercube's formula for the mesh too, beside the sentence that the mesh's is much worse; by Eq. 8 "
    "they have 2 t_w sqrt(p) / log p in the place of t_w. The comparison of the two networks stands.",
    "The twiddle factors' overhead t'_c (n + p log p) leaves out - 2 p of p h(n, p) - n, which is small.",
    "Appendix C ends with 'much worse than that for the ordered case' and means the unordered one. Its overhead of a "
    "two-dimensional transform on a mesh lacks the factor p.",
    "Appendix E prints 2 K (t_w - t_c) sqrt(p) as the exponent of 2 on a mesh, which lacks '/ t_c': an exponent has no "
    "unit, and with t_w in the place of t_w - t_c it should be that of Eq. 10.",
    "Section 7 widens the channels of a mesh by sqrt(p) / 2, and wants sqrt(p) / 4 elements in a step to fill them. It "
    "does not say why half as many as the channel is wide. Its O(p^1.5 log p) stands by either.",
)
