"""The papers' pages in words: numbers with their units, rows of tables, and the summary."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from fourscore_analysis.papers.base import (
    DIFFERS,
    GIVEN,
    KINDS,
    ROUNDING,
    THERE,
    WITHIN,
    Computed,
    Judged,
    Number,
    Paper,
    Search,
    counts,
    middle,
    within_text,
)
from fourscore_analysis.papers.claims import CONFIRMED, REFUTED, UNDECIDED, UNTESTED, Conclusion
from fourscore_analysis.papers.claims import counts as claim_counts
from fourscore_analysis.papers.here import Here
from fourscore_analysis.points.units import digits
from fourscore_analysis.tables.row import Texts

# The end of a column's name, its unit, and whether the unit takes prefixes. The longest end first.
UNITS = (
    ("_bytes_per_s", "B/s", True),
    ("_flops_per_s", "flop/s", True),
    ("_bytes", "B", True),
    ("_percent", "%", False),
    ("_years", "years", False),
    ("_hz", "Hz", True),
    ("_ms", "ms", False),
    ("_us", "µs", False),
    ("_s", "s", True),
)
PREFIXES = (
    (1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"),
    (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"),
)  # fmt: skip
LEAST_OFF = 1e-9  # a relative difference below it is of the arithmetic
NAMES = {
    "a": "A",
    "t_w_over_t_c": "t_w / t_c",
    "p_exponent": "exponent of p",
    "log2_points": "log2 n",
    "log2_processors": "log2 p",
    "slope_m1": "log n / log p, M1",
    "slope_m2": "log n / log p, M2",
    "slope_m3": "log n / log p, M3",
    "slope_m4": "log n / log p, M4",
    "chares": "chares, all states",
    "chares_per_core": "chares of a state on a core",
    "hops_over_p": "hops over p",
    "net_over_mem": "T_net / T_mem",
    "mem_over_net_trend": "T_mem / T_net from 2010 to 2020",
    "mem_over_net_below": "T_mem / T_net, below",
    "mesh_over_torus": "T_mesh / T_torus",
    "network_over_gpu": "T_net over that of GPU",
    "nodes_over_gpu": "nodes over those of GPU",
    "speedup_over_gpu": "times as fast as GPU",
    "of_peak_percent": "of peak",
    "alpha_beta_bytes": "alpha × beta",
    "max_s": "max(T_mem, T_net)",
    "non_bandwidth_per_n3_log2_n_s": "T_non-bandwidth / (N³ log2 N)",
    "bandwidth_per_n3_s": "T_bandwidth / N³",
    "mesh_s": "T_mesh",
    "torus_s": "T_torus",
    "non_bandwidth_s": "T_non-bandwidth",
    "bandwidth_s": "T_bandwidth",
}


def unit_of(column: str) -> tuple[str, bool]:
    """Unit of a column of printed numbers, and whether it takes prefixes."""
    return next(((unit, prefixed) for end, unit, prefixed in UNITS if f"_{column}".endswith(end)), ("", False))


def column_text(column: str) -> str:
    """What the column is of, without its unit."""
    if column in NAMES:
        return NAMES[column]
    end = next((end for end, _, _ in UNITS if column.endswith(end)), "")
    return column.removesuffix(end).replace("_", " ")


def value_text(value: float | Decimal | str, column: str, significant: int = 3) -> str:
    """4 Eflop/s; 79,400; 8.76 µs; of a printed number as many digits as it has."""
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        significant = max(1, len(value.as_tuple().digits))
    unit, prefixed = unit_of(column)
    number = float(value)
    size, prefix = 1.0, ""
    if prefixed and number:
        size, prefix = next((one for one in PREFIXES if abs(number) >= one[0] * 0.99999), PREFIXES[-1])
    shown = _digits(number / size, significant)
    return f"{shown} {prefix}{unit}".rstrip()


def _digits(number: float, significant: int) -> str:
    """With thousands parted: 79,400."""
    text = digits(number, significant)
    whole, _, rest = text.partition(".")
    return f"{int(whole):,}" + (f".{rest}" if rest else "") if abs(number) >= 1000 else text


def computed_text(computed: Computed | None, column: str, printed: Decimal | str) -> str:
    """With three digits, or as many as are printed."""
    if computed is None:
        return ""
    if isinstance(computed.value, str):
        return computed.value
    value = middle(computed.value)
    if not unit_of(column)[0] and value == round(value) and abs(value) < 1e6:
        return f"{round(value):,}"
    significant = max(3, len(printed.as_tuple().digits)) if isinstance(printed, Decimal) else 3
    return value_text(value, column, significant)


def difference_text(off: float | None) -> str:
    """+4 %; ×12 where that says more."""
    if off is None:
        return ""
    if abs(off) < LEAST_OFF:
        return "0 %"
    if off > 2:
        return f"× {digits(off + 1, 2)}"
    return f"{100 * off:+.2g} %" if abs(off) < 0.1 else f"{100 * off:+.0f} %"


def measured_text(number: Number) -> str:
    """6.1, -3 % (3 launches; 128³, 2 ranks, ...): the difference is to the printed number."""
    return "; ".join(
        ", ".join(filter(None, [value_text(one.value, number.column), difference_text(number.off(one))]))
        + f" ({one.launches} launch{'es' if one.launches > 1 else ''}; {one.what})"
        for one in number.measured
    )


def condition_text(judged: Judged, row: int) -> str:
    """CPU, 2020; model, 128×128×128"""
    found = judged.item.rows[row - 1]
    texts = []
    for column in judged.conditions:
        value = found.get(column)
        if value is None:
            continue
        if isinstance(value, list):
            texts.append("×".join(map(str, value)))
        elif isinstance(value, str):
            texts.append(value)
        elif column in ("year", "row"):
            texts.append(str(value))
        else:
            texts.append(_number_text(value, column))
    return ", ".join(texts)


def _number_text(value: float | bool, column: str) -> str:
    """16 nodes, with the digits that it has; measured, or not measured."""
    if isinstance(value, bool):
        return column_text(column) if value else f"not {column_text(column)}"
    shown = value_text(Decimal(str(value)).normalize(), column)
    return shown if unit_of(column)[0] else f"{shown} {column_text(column)}"


def rows_of(judged: Judged) -> list[Texts]:
    return [_row(judged, number) for number in judged.numbers]


def _row(judged: Judged, number: Number) -> Texts:
    """One number on the page. `first`: in its row."""
    first = next(one for one in judged.numbers if one.row == number.row) is number
    ours, column = number.ours, number.column
    return Texts(
        where=condition_text(judged, number.row),
        quantity=column_text(column),
        printed=value_text(number.printed, column),
        computed=computed_text(ours, column, number.printed),
        formula=ours.formula if ours else "",
        difference=difference_text(number.difference) if ours and not ours.bound else "",
        other=computed_text(number.reading, column, number.printed),
        other_formula=number.reading.formula if number.reading else "",
        other_verdict=_other_verdict(number),
        measured=measured_text(number),
        verdict=number.verdict,
        kind=number.kind,
        first=first,
    )


def _other_verdict(number: Number) -> str:
    if number.reading is None:
        return ""
    if number.reading_kind == WITHIN:
        return within_text(_off(number, number.reading))
    return KINDS[number.reading_kind]


def _off(number: Number, computed: Computed) -> float:
    return (
        Number(number.paper, number.item, number.row, number.column, number.printed, computed=(computed,)).difference
        or 0.0
    )


def summary(paper: Paper, judged: Sequence[Judged], here: Here) -> list[str]:
    """Sentences: how many numbers of each verdict, and how many have ours beside them."""
    found = counts(judged)
    compared = found[ROUNDING] + found[WITHIN] + found[DIFFERS]
    total = compared + found[THERE]
    numbers = [number for one in judged for number in one.numbers]
    said = [
        f"{total} printed numbers in {len(judged)} items. The equations give {compared} of them: "
        f"{found[ROUNDING]} agree within rounding, {found[WITHIN]} {KINDS[WITHIN].replace('agrees', 'agree')}, "
        f"{found[DIFFERS]} differ. {found[THERE]} were measured there, and no equation gives them."
    ]
    if found[GIVEN]:
        said[0] += f" {found[GIVEN]} more are given: the equations start from them."
    settled = sum(number.reading_kind in (ROUNDING, WITHIN) for number in numbers if number.kind == DIFFERS)
    if found[DIFFERS]:
        said.append(
            f"{settled} of the {found[DIFFERS]} that differ agree under another reading of the equations, "
            "which stands beside the one as printed."
        )
    ours = sum(bool(number.measured) for number in numbers)
    if here.archive is None:
        said.append("No archive was read: ours are from the equations alone.")
    else:
        said.append(f"{ours} have a measurement of the archive beside them.")
    return said


def claims_summary(claims: Sequence[Conclusion]) -> list[str]:
    """One sentence with how many conclusions of the paper have each verdict; none without claims."""
    if not claims:
        return []
    found = claim_counts(claims)
    return [
        f"{len(claims)} conclusions of the paper: {found[CONFIRMED]} confirmed, {found[REFUTED]} refuted, "
        f"{found[UNDECIDED]} undecided, {found[UNTESTED]} untested."
    ]


NEAR = 0.05


def search_table(search: Search) -> Texts:
    """The readings that were tried, and each value with whether it is near the printed."""
    tried = []
    for one in search.tried:
        values = []
        for index, value in enumerate(one.values):
            near = bool(search.printed) and value is not None and _near(value, float(search.printed[index]))
            values.append((_tried_text(value), near))
        tried.append((one.reading, values))
    printed = [_digits(float(value), _figures(value)) for value in search.printed]
    return Texts(search=search, printed=printed, tried=tried)


def _tried_text(value: float | None) -> str:
    """Counts whole, other numbers with three digits."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else _digits(value, 3)


def _near(value: float, printed: float) -> bool:
    return abs(value / printed - 1) <= NEAR


def _figures(value: Decimal) -> int:
    return len(value.normalize().as_tuple().digits)
