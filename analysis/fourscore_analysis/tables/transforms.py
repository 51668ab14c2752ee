"""Rows of the report's tables, as text: the page only places them."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, field

from fourscore_analysis.points.claims import claim
from fourscore_analysis.points.points import REFERENCE, Comparison, Point
from fourscore_analysis.points.units import (
    bytes_text,
    digits,
    percent_text,
    range_text,
    rate_text,
    ratio_text,
    shape_text,
    time_text,
)
from fourscore_analysis.records.basics import HARNESS_STAGES, STATUSES, Run
from fourscore_analysis.views.view import View


@dataclass
class SummaryRow:
    """The method with the lowest median of one comparison."""

    shape: str
    ranks: int
    method: str
    time: str
    spread: str
    gflops: str
    ratio: str
    exchange: str
    tied: list[str]
    rivals: int
    flags: tuple[str, ...]
    launches: int
    fastest: bool  # may be called so


@dataclass
class PointRow:
    shape: str
    ranks: int
    method: str
    time: str
    spread: str
    interval: str
    gflops: str
    ratio: str
    exchange: str
    launches: str
    flags: tuple[str, ...]
    fastest: bool
    tied: bool
    first: bool  # of its comparison


@dataclass
class ContractTable:
    """Everything that may be ranked together: one contract on one machine with one build."""

    contract: str
    has_reference: bool
    summary: list[SummaryRow] = field(default_factory=list)
    rows: list[PointRow] = field(default_factory=list)

    @property
    def has_intervals(self) -> bool:
        return any(row.interval for row in self.rows)


@dataclass
class Trouble:
    """Launches of a point that gave no time, or lack a part that was to follow it, for one reason."""

    status: str
    point: str
    contract: str
    launches: int
    reason: str
    ending: str
    stderr_tail: str


@dataclass
class MemoryRow:
    shape: str
    ranks: int
    method: str
    contract: str
    local: str
    buffers: str
    workspace: str
    ratio: str
    rss: str
    plan: str
    plan_range: str
    flags: tuple[str, ...]


@dataclass
class ComponentRow:
    shape: str
    ranks: int
    method: str
    contract: str
    phase: str
    inside: str
    alone: str
    ratio: str
    parts: str
    flags: tuple[str, ...]


@dataclass
class ExchangeRow:
    """The exchange phase of a method, and the copy of the same machine."""

    shape: str
    ranks: int
    method: str
    contract: str
    moved: str
    time: str
    rate: str
    copy: str
    over_copy: str
    flags: tuple[str, ...]


WALL_KINDS = {
    "measuring": ("measure_s", "timeline_s", "isolate_s", "count_s"),
    "planning": ("plan_s",),
    "checking": ("verify_s",),
    "launching": ("launch_s", "init_s"),
    "writing": ("write_s",),
}


@dataclass
class WallPart:
    name: str
    time: str
    share: str
    fraction: float


@dataclass
class WallTime:
    """What the wall time of a campaign went to, in the order of WALL_KINDS."""

    total: str
    launches: int
    parts: list[WallPart]


@dataclass
class HarnessRow:
    stage: str
    kind: str
    median: str
    largest: str
    total: str
    share: str


def contract_tables(view: View) -> list[ContractTable]:
    """One table a contract, in each the comparisons in order of size and ranks."""
    tables: dict[str, ContractTable] = {}
    for one in view.comparisons:
        contract = view.contract_of(one)
        table = tables.setdefault(contract, ContractTable(contract, False))
        table.has_reference = table.has_reference or one.reference is not None
        table.summary.append(_summary_row(one))
        table.rows += _point_rows(one)
    return list(tables.values())


def _ratio_text(one: Comparison, point: Point) -> str:
    ratio = one.ratio(point)
    if ratio is None:
        return "–"
    if point is one.reference:
        return "1"
    return ratio_text(ratio)


def _spread_text(point: Point) -> str:
    return range_text(point.time.low, point.time.high) if point.time.count > 1 else "one launch"


def _summary_row(one: Comparison) -> SummaryRow:
    best = one.fastest
    return SummaryRow(
        shape=shape_text(one.cell.shape),
        ranks=one.cell.ranks,
        method=best.label,
        time=time_text(best.time_s),
        spread=_spread_text(best),
        gflops=digits(best.gflops) if best.gflops else "–",
        ratio=_ratio_text(one, best),
        exchange=percent_text(best.exchange_share),
        tied=[point.label for point in one.tied],
        rivals=len(one.ranked) - 1,
        flags=best.flags,
        launches=len(best.measured),
        fastest=claim(one).holds,
    )


def _point_rows(one: Comparison) -> list[PointRow]:
    tied = {id(point) for point in one.tied}
    rows = []
    for position, point in enumerate(one.ranked):
        interval = ""
        if point.time.interval:
            interval = f"{range_text(*point.time.interval)} ({percent_text(point.time.coverage)})"
        launches = ", ".join(f"{count} {status}" for status, count in point.statuses.items() if status != "ok")
        rows.append(
            PointRow(
                shape=shape_text(one.cell.shape),
                ranks=one.cell.ranks,
                method=point.label,
                time=time_text(point.time_s),
                spread=_spread_text(point),
                interval=interval,
                gflops=digits(point.gflops) if point.gflops else "–",
                ratio=_ratio_text(one, point),
                exchange=percent_text(point.exchange_share),
                launches=f"{len(point.measured)}" + (f" + {launches}" if launches else ""),
                flags=point.flags,
                fastest=position == 0,
                tied=id(point) in tied,
                first=position == 0,
            )
        )
    return rows


def status_counts(launches: list[Run]) -> dict[str, int]:
    """How many launches ended how, those that occur."""
    return {status: count for status in STATUSES if (count := sum(launch.status == status for launch in launches))}


def troubles(view: View) -> list[Trouble]:
    """All that gave no result, or not all of it; launches of a point with the same reason together. wrong and failed
    first, launches that only lack a part last."""
    ended: list[tuple[str, str, Run]] = []
    for point in view.points:
        title = f"{point.label} · {shape_text(point.cell.shape)} · {point.cell.ranks} ranks"
        ended += [(title, view.contract_of(point), launch) for launch in point.launches]
    ended += [(run.title, "–", run) for run in view.campaign.components]
    found: dict[tuple, Trouble] = {}
    for title, contract, run in ended:
        if run.status == "ok":
            continue
        key = (run.status, title, contract, run.reason, _ending(run))
        if key in found:
            found[key].launches += 1
            continue
        reason = run.reason or "no reason given"
        found[key] = Trouble(run.status, title, contract, 1, reason, _ending(run), run.stderr_tail)
    return [*sorted(found.values(), key=lambda trouble: STATUSES.index(trouble.status)), *_failed_parts(view)]


def _failed_parts(view: View) -> list[Trouble]:
    found: dict[tuple, Trouble] = {}
    for point in view.points:
        title = f"{point.label} · {shape_text(point.cell.shape)} · {point.cell.ranks} ranks"
        for launch in point.launches:
            for failed in launch.failed_parts:
                status = f"{failed.part}: {failed.status}"
                key = (status, title, view.contract_of(point), failed.reason, _ending(launch))
                if key in found:
                    found[key].launches += 1
                else:
                    contract = view.contract_of(point)
                    found[key] = Trouble(status, title, contract, 1, failed.reason, _ending(launch), launch.stderr_tail)
    return list(found.values())


def _ending(launch: Run) -> str:
    if launch.signal:
        return f"signal {launch.signal}"
    return f"exit status {launch.exit_status}" if launch.exit_status else ""


def memory_rows(view: View) -> list[MemoryRow]:
    rows = []
    for one in view.comparisons:
        for point in one.ranked:
            if point.plan is None and point.memory("local_data_bytes") is None:
                continue
            ratio = point.memory("ratio")
            plan = point.plan
            rows.append(
                MemoryRow(
                    shape=shape_text(one.cell.shape),
                    ranks=one.cell.ranks,
                    method=point.label,
                    contract=view.contract_of(point),
                    local=bytes_text(point.memory("local_data_bytes")),
                    buffers=bytes_text(point.memory("plan_bytes")),
                    workspace=bytes_text(point.memory("workspace_bytes")),
                    ratio=digits(ratio) if ratio is not None else "–",
                    rss=bytes_text(point.memory("peak_rss_bytes")),
                    plan=time_text(plan.median if plan else None),
                    plan_range=range_text(plan.low, plan.high) if plan and plan.count > 1 else "–",
                    flags=point.flags,
                )
            )
    return rows


def component_rows(view: View) -> list[ComponentRow]:
    rows = []
    for one in view.comparisons:
        for point in one.ranked:
            for phase in point.compared_phases:
                names = {part.name for launch in point.measured for part in launch.components if part.phase == phase}
                parts = ", ".join(f"{name} {time_text(point.components[name])}" for name in sorted(names))
                rows.append(
                    ComponentRow(
                        shape=shape_text(one.cell.shape),
                        ranks=one.cell.ranks,
                        method=point.label,
                        contract=view.contract_of(point),
                        phase=phase,
                        inside=time_text(point.phases_max[phase]),
                        alone=time_text(point.alone[phase]),
                        ratio=ratio_text(point.phases_max[phase] / point.alone[phase]),
                        parts=parts,
                        flags=point.flags,
                    )
                )
    return rows


def harness_rows(launches: list[Run]) -> list[HarnessRow]:
    """What measuring cost, by stage: median and largest of a launch, sum over the campaign and its share. Simulated
    launches are left out: what they cost is the simulator's."""
    values: dict[str, list[float]] = defaultdict(list)
    for launch in launches:
        if launch.simulated:
            continue
        for stage, seconds in launch.harness.items():
            values[stage].append(seconds)
    total = sum(sum(times) for times in values.values())
    return [
        HarnessRow(
            stage=stage.removesuffix("_s"),
            kind=next(kind for kind, stages in WALL_KINDS.items() if stage in stages),
            median=time_text(statistics.median(values[stage])),
            largest=time_text(max(values[stage])),
            total=time_text(sum(values[stage])),
            share=percent_text(sum(values[stage]) / total if total else None),
        )
        for stage in HARNESS_STAGES
        if stage in values
    ]


def wall_time(launches: list[Run]) -> WallTime | None:
    """All stages of all launches that say how long they took; simulated ones are left out, as in harness_rows."""
    told = [launch for launch in launches if launch.harness and not launch.simulated]
    seconds = {
        kind: sum(launch.harness.get(stage, 0.0) for launch in told for stage in stages)
        for kind, stages in WALL_KINDS.items()
    }
    total = sum(seconds.values())
    if not total:
        return None
    parts = [
        WallPart(kind, time_text(spent), percent_text(spent / total), spent / total)
        for kind, spent in seconds.items()
        if spent
    ]
    return WallTime(time_text(total), len(told), parts)


def exchange_rows(view: View) -> list[ExchangeRow]:
    """Points whose exchange has a time and declares its bytes, in the order of the other tables."""
    rows = []
    for one in view.comparisons:
        for point in one.ranked:
            seconds = point.phases_max.get("exchange", 0.0)
            moved = point.traffic.bytes_sent + point.traffic.bytes_read_shared if point.traffic else 0.0
            if not seconds or not moved:
                continue
            ceiling = view.shelf.copy_ceiling(view, point.measured[0].machine_hash, one.cell.ranks)
            rows.append(
                ExchangeRow(
                    shape=shape_text(one.cell.shape),
                    ranks=one.cell.ranks,
                    method=point.label,
                    contract=view.contract_of(point),
                    moved=bytes_text(moved),
                    time=time_text(seconds),
                    rate=rate_text(moved / seconds, "B/s"),
                    copy=rate_text(ceiling.rate if ceiling else None, "B/s"),
                    over_copy=digits(moved / seconds / ceiling.rate, 2) if ceiling else "–",
                    flags=point.flags,
                )
            )
    return rows


def method_cards(view: View) -> list[tuple[str, str]]:
    """Variants and exchanges of the campaign with their one line and citation."""
    cards: dict[str, str] = {}
    for launch in view.campaign.runs:
        for name, summary in launch.summaries:
            cards.setdefault(name, summary)
    return sorted(cards.items(), key=lambda card: (card[0] != REFERENCE, card[0]))
