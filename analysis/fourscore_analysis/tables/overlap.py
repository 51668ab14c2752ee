"""Other work beside transforms, as a table."""

from __future__ import annotations

from fourscore_analysis.points.overlap import Overlap, overlaps, without_work
from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.points.units import percent_text, time_text
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def overlap_rows(view: View) -> list[Texts]:
    return [_row(view, one) for one in overlaps(view.points)]


def _row(view: View, one: Overlap) -> Texts:
    """A point with other work beside the same one without."""
    contract = one.both.cell.contract
    return Texts(
        **of_point(view, one.both) | {"contract": ", ".join(contract_terms(without_work(contract)))},
        load=contract.other_work_load or "compute",
        place=contract.other_work_place or "between",
        work=time_text(one.work_s),
        alone=time_text(one.alone.time_s),
        exchange=time_text(one.alone.phases.get("exchange")),
        together=time_text(one.both.time_s),
        won=time_text(one.won_s) if one.won_s >= 0 else f"-{time_text(-one.won_s)}",
        efficiency="" if one.efficiency is None else percent_text(one.efficiency),
        tied=not one.told,  # the launches do not tell both from the sum
    )
