"""What predicted jobs cost, as text and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fourscore_analysis.models.cost import JobCost, job_cost
from fourscore_analysis.points.units import digits, rate_unit
from fourscore_analysis.views.predictions import Answer


def cost_of(one: Answer, runs: int) -> JobCost | None:
    """None where nothing is predicted, or the machine says neither price nor watts."""
    if one.source.cost is None or one.prediction is None:
        return None
    return job_cost(one.source.cost, one.question.cell.place.nodes, one.prediction.total.seconds, runs)


def cost_json(job: JobCost | None) -> dict[str, Any] | None:
    return job.as_json() if job else None


def cost_text(job: JobCost) -> str:
    """0.356 node-hours, 0.854 EUR, 833 kJ (602 kJ above idle)"""
    parts = [f"{digits(job.node_hours)} node-hours", price_text(job), energy_text(job)]
    return ", ".join(part for part in parts if part)


def price_text(job: JobCost) -> str:
    return "" if job.price is None else f"{digits(job.price)} {job.currency}"


def energy_text(job: JobCost) -> str:
    if job.joules is None:
        return ""
    above = f" ({joule_text(job.joules_above_idle)} above idle)" if job.joules_above_idle is not None else ""
    return joule_text(job.joules) + above


def joule_text(joules: float) -> str:
    unit, name = rate_unit(joules, "J")
    return f"{digits(joules / unit)} {name}"


def runs_text(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs:,} runs"


def cost_line(one: Answer, runs: int) -> list[str]:
    """A line below a prediction; none without a cost."""
    job = cost_of(one, runs)
    return [f"  {runs_text(runs)}, estimated: {cost_text(job)}"] if job else []


def cost_cells(found: Sequence[Answer], runs: int) -> tuple[list[str], list[list[str]]]:
    """Headings, and for each answer its cells; none of both where no machine says what its nodes cost."""
    jobs = [cost_of(one, runs) for one in found]
    priced, powered = (any(getattr(job, name) is not None for job in jobs if job) for name in ("price", "joules"))
    of = "" if runs == 1 else f" of {runs_text(runs)}"
    heads = [*([f"price{of}, estimated"] if priced else []), *([f"energy{of}, estimated"] if powered else [])]
    rows = []
    for job in jobs:
        price, energy = (price_text(job) or "–", energy_text(job) or "–") if job else ("–", "–")
        rows.append([*([price] if priced else []), *([energy] if powered else [])])
    return heads, rows
