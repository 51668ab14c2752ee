"""Messages made smaller, as sentences and as a table: time and error side by side."""

from __future__ import annotations

from fourscore_analysis.points.claims import doubts
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import bytes_text, error_text, ratio_text, shape_text, time_text
from fourscore_analysis.points.wires import Narrowing, narrowings
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def wire_rows(view: View) -> list[Texts]:
    """The row with whole messages first, then those with smaller ones."""
    rows = []
    for group in group_by(narrowings(view.points), lambda one: id(one.whole)):
        rows.append(_row(view, group[0].whole, None))
        rows += [_row(view, one.narrowed, one) for one in group]
    return rows


def _row(view: View, point: Point, one: Narrowing | None) -> Texts:
    """A point with one kind of messages; without a ratio in the row of whole messages."""
    return Texts(
        **of_point(view, point),
        wire=point.cell.contract.wire_text,
        sent=bytes_text(point.traffic.bytes_sent) if point.traffic else "",
        time=time_text(point.time_s),
        ratio=ratio_text(one.ratio) if one else "",
        tied=bool(one and not one.told),  # the launches do not tell the two apart
        error=error_text(point.error),
        first=one is None,  # in its method
    )


def wire_findings(view: View) -> list[str]:
    """With messages of single precision pencil/alltoallv takes 0.71 of the time at 128³ on 4 ranks (7.6 ms, not 10.7
    ms), and its error is 6.1e-08, not 1.1e-15. One sentence for each kind of messages: of the largest problem, and
    there of the method that gains most."""
    found = group_by(narrowings(view.points), lambda one: one.wire)
    return [
        _sentence(max(group, key=lambda one: (one.whole.cell.elements, one.whole.cell.ranks, -one.ratio)))
        for group in found
    ]


def _sentence(one: Narrowing) -> str:
    whole, narrowed = one.whole, one.narrowed
    text = (
        f"With wire {one.wire} {narrowed.label} takes {ratio_text(one.ratio)} of the time at "
        f"{shape_text(narrowed.cell.shape)} on {narrowed.where} ({time_text(narrowed.time_s)}, not "
        f"{time_text(whole.time_s)}), and its error is {error_text(narrowed.error)}, not {error_text(whole.error)}"
    )
    if found := tuple(dict.fromkeys(doubts(whole) + doubts(narrowed))):
        return f"{text}. No basis for a claim: {'; '.join(found)}."
    return text + ("." if one.told else "; the launches do not tell the two times apart.")
