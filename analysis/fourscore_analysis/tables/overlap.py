"""Other work beside transforms, as a table."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.points.overlap import overlaps, without_work
from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.points.units import percent_text, shape_text, time_text
from fourscore_analysis.views.view import View


@dataclass
class OverlapRow:
    """A point with other work beside the same one without."""

    contract: str
    shape: str
    where: str
    method: str
    load: str
    place: str
    work: str
    alone: str
    exchange: str
    together: str
    won: str  # "-" before it: both together take longer than one after the other
    efficiency: str
    tied: bool  # the launches do not tell both from the sum
    flags: tuple[str, ...]


def overlap_rows(view: View) -> list[OverlapRow]:
    rows = []
    for one in overlaps(view.points):
        contract = one.both.cell.contract
        rows.append(
            OverlapRow(
                contract=", ".join(contract_terms(without_work(contract))),
                shape=shape_text(one.both.cell.shape),
                where=one.both.where,
                method=one.both.label,
                load=contract.other_work_load or "compute",
                place=contract.other_work_place or "between",
                work=time_text(one.work_s),
                alone=time_text(one.alone.time_s),
                exchange=time_text(one.alone.phases.get("exchange")),
                together=time_text(one.both.time_s),
                won=time_text(one.won_s) if one.won_s >= 0 else f"-{time_text(-one.won_s)}",
                efficiency="" if one.efficiency is None else percent_text(one.efficiency),
                tied=not one.told,
                flags=one.both.flags,
            )
        )
    return rows
