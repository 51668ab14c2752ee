"""Rows of the tables of counted energy, and the same in words."""

from __future__ import annotations

from fourscore_analysis.points.energy import EnergyPoint, energy_groups, pareto
from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.units import digits, shape_text, time_text
from fourscore_analysis.records.traffic import Source
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def energy_tables(view: View) -> list[Texts]:
    """All that one source counted in each."""
    by_source = group_by(energy_groups(view.energies), lambda group: group[0].source)
    return [_table(view, groups) for groups in by_source]


def _table(view: View, groups: list[list[EnergyPoint]]) -> Texts:
    rows, notes = [], []
    for group in groups:
        best = pareto(group)
        for one in group:
            rows.append(_row(view, one, any(one is other for other in best), one is group[0]))
            notes += _notes(one)
    return Texts(source=_source_text(groups[0][0].source), notes=list(dict.fromkeys(notes)), rows=rows)


def _source_text(source: Source) -> str:
    what = {"node": "all packages of a node", "socket": "the package of a socket"}.get(source.scope, source.scope)
    return f"{source.backend} {source.group}, {what} read by one rank"


def _notes(one: EnergyPoint) -> list[str]:
    found = []
    flags = {flag for launch in one.launches for flag in launch.flags}
    if "emulated" in flags:
        found.append("Some of these joules are of a stand-in that somebody named, not of this machine")
    if "shared-package" in flags:
        found.append("Other processes used a node meanwhile (flag shared-package): their joules are among these")
    if one.refused:
        found.append("Phases without joules are shorter than the counter tells; the records say by how much")
    return found


def _row(view: View, one: EnergyPoint, best: bool, first: bool) -> Texts:
    """GFLOP/J are above idle but where they are with idle power. `first`: of its problem."""
    return Texts(
        **of_point(view, one.point)
        | {"flags": tuple(sorted({flag for launch in one.launches for flag in launch.flags}))},
        above_idle=_text(one.above_idle_j, "J"),
        with_idle=_text(one.with_idle_j, "J"),
        idle=_text(one.idle_w, "W"),
        watts=_text(one.watts, "W"),
        per_joule=_text(one.gflop_per_j(one.above_idle_j)),
        per_joule_with_idle=_text(one.gflop_per_j(one.with_idle_j)),
        phases=", ".join(f"{phase} {_text(spent, 'J')}" for phase, spent in one.phases_j.items()) or "–",
        runs=one.runs,
        time=time_text(one.time_s),
        pareto=best,
        first=first,
    )


def _text(value: float | None, unit: str = "") -> str:
    return "–" if value is None else f"{digits(value)} {unit}".strip()


def energy_findings(view: View) -> list[str]:
    """The largest problem of which several points were counted: who takes least energy, who least time, and which
    points no other beats in both."""
    groups = [group for group in energy_groups(view.energies) if len(group) > 1]
    if not groups:
        return []
    group = groups[0]
    best = pareto(group)
    fastest, thriftiest = best[0], best[-1]
    text = (
        f"Energy at {shape_text(group[0].point.cell.shape)} ({group[0].source.backend}): {_where(thriftiest)} takes "
        f"least, {_text(thriftiest.with_idle_j, 'J')} a run with idle power ({_text(thriftiest.above_idle_j, 'J')} "
        f"above it, {_text(thriftiest.gflop_per_j(thriftiest.with_idle_j))} GFLOP/J) in {time_text(thriftiest.time_s)}"
    )
    if fastest is thriftiest:
        return [f"{text}; it is also the fastest of {len(group)} points.{_doubt(group)}"]
    text += (
        f"; the fastest, {_where(fastest)}, takes {_text(fastest.with_idle_j, 'J')} in {time_text(fastest.time_s)}. "
        f"{len(best)} of {len(group)} points are Pareto points: {'; '.join(_where(one) for one in best)}"
    )
    return [f"{text}.{_doubt(group)}"]


def _where(one: EnergyPoint) -> str:
    return f"{one.point.label} on {one.point.where}"


def _doubt(group: list[EnergyPoint]) -> str:
    flags = {flag for one in group for launch in one.launches for flag in launch.flags}
    doubts = [flag for flag in ("emulated", "shared-package") if flag in flags]
    return f" No basis for a claim: flagged {', '.join(doubts)}." if doubts else ""
