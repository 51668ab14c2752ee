"""Local FFT libraries, one in the place of another, as sentences and as a table."""

from __future__ import annotations

import statistics

from fourscore_analysis.points.claims import doubts
from fourscore_analysis.points.libraries import Substitution, substitutions
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import percent_text, ratio_text, shape_text, time_text
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def library_rows(view: View) -> list[Texts]:
    """The usual library's row first, then the others' in the order of their times."""
    rows = []
    for group in group_by(substitutions(view.points), lambda one: id(one.usual)):
        usual = group[0].usual
        rows.append(_row(view, usual, group[0].method, None))
        rows += [_row(view, one.other, one.method, one) for one in sorted(group, key=lambda one: one.other.time_s)]
    return rows


def _row(view: View, point: Point, method: str, one: Substitution | None) -> Texts:
    """A point beside the same one with the usual library; without a ratio in that one's own row."""
    return Texts(
        **of_point(view, point) | {"method": method},
        library=point.method.local_fft,
        time=time_text(point.time_s),
        fft=time_text(point.phases.get("fft")),
        exchange=percent_text(point.exchange_share),
        ratio=ratio_text(one.ratio) if one else "",
        tied=bool(one and not one.told),  # the launches do not tell the two apart
        first=one is None,  # in its method
    )


def library_findings(view: View) -> list[str]:
    """With mkl in the place of fftw, slab/alltoallv takes 0.62 of the time at 128³ on 2 ranks (7.6 ms, not 12.3 ms);
    the exchange is then 41 % of it, not 26 %. One sentence for each library: of the largest problem, and there of the
    method that is fastest with it."""
    sentences = []
    for found in group_by(substitutions(view.points), lambda one: (one.library, one.usual.method.local_fft)):
        main = max(found, key=lambda one: (one.other.cell.elements, one.other.cell.ranks, -one.other.time_s))
        sentences.append(_sentence(main) + _others(found))
    return sentences


def _sentence(one: Substitution) -> str:
    usual, other = one.usual, one.other
    text = (
        f"With {one.library} in the place of {usual.method.local_fft}, {one.method} takes {ratio_text(one.ratio)} of "
        f"the time at {shape_text(other.cell.shape)} on {other.where} ({time_text(other.time_s)}, "
        f"not {time_text(usual.time_s)})"
    )
    if other.exchange_share and usual.exchange_share and "open-breakdown" not in usual.flags + other.flags:
        shares = (percent_text(other.exchange_share), percent_text(usual.exchange_share))
        text += "; the exchange is then {} of it, not {}".format(*shares)
    found = tuple(dict.fromkeys(doubts(usual) + doubts(other)))
    if found:
        return f"{text}. No basis for a claim: {'; '.join(found)}."
    return text + ("." if one.told else "; the launches do not tell the two apart.")


def _others(found: list[Substitution]) -> str:
    """Over all points that have both."""
    if len(found) < 2:
        return ""
    ratios = [one.ratio for one in found]
    low, high = ratio_text(min(ratios)), ratio_text(max(ratios))
    return f" Over {len(found)} points that have both: {low} to {high}, median {ratio_text(statistics.median(ratios))}."
