"""Tables to put into a paper or a spreadsheet: a row for each measured point of a campaign, as LaTeX or as CSV. Columns
in which no row has a value are left out."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fourscore_analysis.points.claims import claim
from fourscore_analysis.points.keys import point_keys
from fourscore_analysis.points.points import Comparison, Point
from fourscore_analysis.points.units import bytes_text, digits, percent_text, ratio_text, shape_text, time_text
from fourscore_analysis.records.transforms import PHASES
from fourscore_analysis.records.values import printable
from fourscore_analysis.views.view import View


@dataclass(frozen=True)
class Column:
    """A number of a point: in CSV the value itself, in LaTeX with three digits and its unit."""

    name: str  # in CSV, with its unit
    heading: str  # in LaTeX
    value: Callable[[Comparison, Point], Any]  # None where the point has none
    text: Callable[[Any], str] = str


def _of_phase(phase: str) -> Column:
    return Column(f"{phase}_s", phase, lambda _, point: point.phases.get(phase), time_text)


def _of_memory(name: str, heading: str, text: Callable[[Any], str] = bytes_text) -> Column:
    return Column(name, heading, lambda _, point: point.memory(name), text)


def _of_traffic(name: str, heading: str, text: Callable[[Any], str]) -> Column:
    def value(_: Comparison, point: Point) -> float | None:
        return getattr(point.traffic, name) if point.traffic else None

    return Column(name, heading, value, text)


_TIME = Column("time_s", "time", lambda _, point: point.time_s, time_text)
_FLAGS = Column("flags", "flags", lambda _, point: ", ".join(point.flags) or None)

TABLES: dict[str, tuple[Column, ...]] = {
    "times": (
        _TIME,
        Column("low_s", "from", lambda _, point: point.time.low if point.time.count > 1 else None, time_text),
        Column("high_s", "to", lambda _, point: point.time.high if point.time.count > 1 else None, time_text),
        Column("launches", "launches", lambda _, point: point.time.count),
        Column("gflops", "GFLOP/s", lambda _, point: point.gflops, digits),
        Column("time_over_reference", "× fftw-mpi", lambda one, point: one.ratio(point), ratio_text),
        Column("exchange_share", "exchange", lambda _, point: point.exchange_share, percent_text),
        _FLAGS,
    ),
    "phases": (_TIME, *(_of_phase(phase) for phase in PHASES), _FLAGS),
    "memory": (
        _of_memory("local_data_bytes", "data a rank"),
        _of_memory("plan_bytes", "buffers a rank"),
        _of_memory("workspace_bytes", "workspace a rank"),
        _of_memory("ratio", "memory / data", digits),
        _of_memory("peak_rss_bytes", "peak resident"),
        Column("plan_s", "plan time", lambda _, point: point.plan.median if point.plan else None, time_text),
        _FLAGS,
    ),
    "messages": (
        _of_traffic("messages", "messages a rank", "{:g}".format),
        _of_traffic("bytes_sent", "sent a rank", bytes_text),
        _of_traffic("bytes_read_shared", "read from neighbours", bytes_text),
        Column("exchange_s", "exchange phase", lambda _, point: point.phases_max.get("exchange"), time_text),
        _FLAGS,
    ),
}


@dataclass(frozen=True)
class _Filled:
    """The columns of a table that have values, and these: [comparison][point][column]."""

    columns: list[Column]
    values: list[list[list[Any]]]


def _filled(view: View, name: str) -> _Filled:
    """No column where nothing but flags has a value."""
    every = [
        [[column.value(one, point) for column in TABLES[name]] for point in one.ranked] for one in view.comparisons
    ]
    kept = [at for at in range(len(TABLES[name])) if any(row[at] is not None for rows in every for row in rows)]
    if all(TABLES[name][at] is _FLAGS for at in kept):
        kept = []
    return _Filled([TABLES[name][at] for at in kept], [[[row[at] for at in kept] for row in rows] for rows in every])


def exported(view: View, name: str, kind: str) -> str:
    """The table of that name as "latex" or "csv"; "" where the campaign has nothing for it."""
    table = _filled(view, name)
    return KINDS[kind](view, name, table) if table.columns else ""


def _csv(view: View, name: str, table: _Filled) -> str:
    first = view.comparisons[0].ranked[0]
    heads = [
        "campaign",
        "method",
        "setting",
        *point_keys(first.cell, first.method),
        *(one.name for one in table.columns),
    ]
    lines = []
    for one, rows in zip(view.comparisons, table.values, strict=True):
        for point, row in zip(one.ranked, rows, strict=True):
            known = [view.campaign.name, point.label, point.setting, *point_keys(point.cell, point.method).values()]
            lines.append([*known, *row])
    return csv_text(heads, lines)


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(heads)
    lines.writerows([_defused(value) for value in row] for row in rows)
    return text.getvalue()


def _defused(value: Any) -> Any:
    """A spreadsheet takes a text that begins so for a formula, and runs it: results/export.cpp does the same."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _latex(view: View, name: str, table: _Filled) -> str:
    heads = ["shape", "ranks", *(["nodes"] if view.shows_nodes else []), "method"]
    heads += ["contract"] if len(view.contracts) > 1 else []
    kinds = ["l" if head in ("shape", "method", "contract") else "r" for head in heads]
    kinds += ["l" if column is _FLAGS else "r" for column in table.columns]
    terms = view.contract_of(view.comparisons[0]).split(", ")
    remarks = [
        f"{name} of campaign {view.campaign.name}, by fourscore",
        ", ".join(term for term in terms if term in view.common_terms),
    ]
    groups = []
    for one, rows in zip(view.comparisons, table.values, strict=True):
        fastest = one.fastest if _TIME in table.columns and claim(one).holds else None
        groups.append([])
        for point, row in zip(one.ranked, rows, strict=True):
            cells = [_cell(column, value) for column, value in zip(table.columns, row, strict=True)]
            groups[-1].append([*_known(view, point, point is fastest), *cells])
    return latex_table(remarks, [*heads, *(column.heading for column in table.columns)], kinds, groups)


def latex_table(
    remarks: Iterable[str], heads: Sequence[str], kinds: Sequence[str], groups: Iterable[Iterable[Sequence[str]]]
) -> str:
    """Rows in groups, whose cells are LaTeX already; heads and remarks are plain text. `kinds` are l or r."""
    lines = [
        *(f"% {printable(remark)}" for remark in remarks),
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{''.join(kinds)}}}",
        r"\toprule",
        _line([latex_text(head) for head in heads]),
    ]
    rule = r"\midrule"
    for rows in groups:
        lines += [rule, *(_line(row) for row in rows)]
        rule = r"\addlinespace"
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _known(view: View, point: Point, fastest: bool) -> Iterator[str]:
    """Cells that say which point it is; the method in bold where it may be called fastest."""
    place = point.cell.place
    yield latex_text(shape_text(point.cell.shape))
    yield str(place.ranks)
    if view.shows_nodes:
        yield latex_text(place.with_placement(str(place.nodes)))
    label = latex_text(point.label)
    yield rf"\textbf{{{label}}}" if fastest else label
    if len(view.contracts) > 1:
        yield latex_text(view.subtitle(point))


def _cell(column: Column, value: Any) -> str:
    """No line ends between a number and its unit."""
    text = latex_text("–" if value is None else column.text(value))
    return text if isinstance(value, str) else text.replace(" ", "~")


KINDS: dict[str, Callable[[View, str, _Filled], str]] = {"latex": _latex, "csv": _csv}


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


_LATEX = str.maketrans(
    {
        **{one: f"\\{one}" for one in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "–": "--",
        "×": r"$\times$",
        "·": r"$\cdot$",
        "≈": r"$\approx$",
        "µ": r"$\mu$",
        "²": "$^2$",
        "³": "$^3$",
    }
)


def latex_text(text: str) -> str:
    """`text` with nothing in it that LaTeX reads as more than letters."""
    return printable(text).translate(_LATEX)
