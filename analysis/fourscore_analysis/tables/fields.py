"""Several arrays of one shape: which way of transforming them wins where, as sentences and as a table."""

from __future__ import annotations

from collections import Counter

from fourscore_analysis.points.claims import doubts
from fourscore_analysis.points.fields import WAYS, FieldWays, field_ways
from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.units import ratio_text, shape_text, time_text
from fourscore_analysis.tables.row import Texts
from fourscore_analysis.views.view import View

WAY_WORDS = {"together": "together", "in-turn": "in turn", "pipelined": "pipelined"} | {
    way: f"as {way}" for way in WAYS[3:]
}


def field_table(view: View) -> Texts | None:
    found = field_ways(view.points)
    ways = [way for way in WAYS if any(way in one.ways for one in found)]
    return Texts(ways=ways, rows=[_row(view, one, ways) for one in found]) if found else None


def _row(view: View, one: FieldWays, ways: list[str]) -> Texts:
    """One method and number of arrays: a time for each of `ways`, which were measured somewhere."""
    return Texts(
        contract=view.contract_of(one.best),
        shape=shape_text(one.best.cell.shape),
        where=one.best.where,
        method=one.method,
        arrays=one.arrays,
        times=[time_text(one.ways[way].time_s) if way in one.ways else "–" for way in ways],
        fastest=one.fastest,
        tied=one.tied,
        flags=tuple(dict.fromkeys(flag for point in one.ways.values() for flag in point.flags)),
    )


def field_findings(view: View) -> list[str]:
    """3 arrays of 64³ on 4 ranks take slab/alltoallv the shortest together (12.3 ms): in turn they take 1.31 times as
    long, as instances 1.10. One sentence for each number of arrays: of the largest problem, and there of the fastest
    method; and how often which way wins."""
    sentences = []
    for found in group_by(field_ways(view.points), lambda one: one.arrays):
        main = max(found, key=lambda one: (one.best.cell.elements, one.best.cell.ranks, -one.best.time_s))
        sentences.append(_sentence(main) + _wins(found))
    return sentences


def _sentence(one: FieldWays) -> str:
    others = [f"{WAY_WORDS[way]} {ratio_text(one.ratio(way))}" for way in one.ways if way != one.fastest]
    text = (
        f"{one.arrays} arrays of {shape_text(one.best.cell.shape)} on {one.best.where} take {one.method} the shortest "
        f"{WAY_WORDS[one.fastest]} ({time_text(one.best.time_s)}); times that: {', '.join(others)}"
    )
    if found := tuple(dict.fromkeys(doubt for point in one.ways.values() for doubt in doubts(point))):
        return f"{text}. No basis for a claim: {'; '.join(found)}."
    tied = [WAY_WORDS[way] for way in one.tied]
    return f"{text}; the launches do not tell it from {', '.join(tied)}." if tied else f"{text}."


def _wins(found: list[FieldWays]) -> str:
    if len(found) < 2:
        return ""
    decided = Counter(WAY_WORDS[one.fastest] for one in found if not one.tied)
    listed = ", ".join(f"{way} {count}" for way, count in decided.most_common())
    return f" Of {len(found)} such problems and methods the launches show a fastest way in {decided.total()}" + (
        f": {listed}." if listed else "."
    )
