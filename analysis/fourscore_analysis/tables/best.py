"""The answer to the tuner's question, as text and for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fourscore_analysis.points.apart import RATIO_CONFIDENCE
from fourscore_analysis.points.points import Point, contract_terms
from fourscore_analysis.points.units import digits, percent_text, range_text, ratio_text, shape_text, time_text
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import TUNED
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.records.values import printable
from fourscore_analysis.tables.points import cell_json, place_json, point_json, records_of, resolved_grid
from fourscore_analysis.views.best import Answer, Found, Nearest, Question

MOST_UNTIMED = 3
DIGEST_DIGITS = 12  # digits of a revision in text; JSON has all of it


def best_text(found: Found) -> str:
    """Answers one below the other, or what there is in their place."""
    blocks = [_answer_text(answer) for answer in found.answers] or [_nothing_text(found)]
    if found.foreign:
        launches = "1 launch is" if found.foreign == 1 else f"{found.foreign} launches are"
        blocks.append(f"{launches} left out as unverified: flagged foreign, the word of a program or a file alone.")
    return "\n\n".join(blocks)


def best_json(found: Found) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "question": _question_json(found.question),
        "found": bool(found.answers),
        "answers": [_answer_json(one) for one in found.answers],
        "foreign_left_out": found.foreign,
        "without_a_time": [
            {"method": point.label, "statuses": point.statuses, "reason": point.launches[-1].reason}
            for point in found.untimed
        ],
    }
    if not found.answers:
        answer["nearest"] = [_nearest_json(one) for one in found.nearest]
    return answer


def asked_text(question: Question) -> str:
    """128³ on 8 ranks on 2 nodes, double, c2c"""
    place = Place(question.ranks, question.nodes or 1).text(question.nodes is not None)
    return ", ".join([f"{shape_text(question.shape)} on {place}", *question.terms.values()])


def _answer_text(answer: Answer) -> str:
    best, launch = answer.best, answer.newest
    head = f"{shape_text(best.cell.shape)} on {best.where}: {', '.join(contract_terms(best.cell.contract))}"
    if "emulated" in best.flags:
        head += ", emulated"
    rows = [
        ("fastest" if answer.claim.holds else "lowest", _method_text(best)),
        ("time", _time_text(best)),
        ("claim", _claim_text(answer)),
        ("runner-up", _runner_up_text(answer)),
    ]
    if answer.soundest:
        rows.append(("sound", f"{answer.soundest.label}, {_time_text(answer.soundest)}: the fastest without a doubt"))
    rows += [
        ("flags", ", ".join(best.flags) or "none"),
        ("measured", _day_text(launch)),
        ("machine", _identity_text(launch.machine_hash, launch.identity.get("machine", {}), ("cpu_model",))),
        ("code", _identity_text(launch.code_hash, launch.identity.get("code", {}), ("revision", "compiler", "mpi"))),
    ]
    if answer.older:
        older = ", ".join(f"{one.code_hash} ({one.methods} methods)" for one in answer.older[:3])
        rows.append(("older", f"builds that also measured this: {older}"))
    first, *others = records_of(best)
    rows.append(("records", first + (f" and {len(others)} more" if others else "")))
    return "\n".join([head, *(f"  {name:<10} {text}" for name, text in rows)])


def _tuned_to(chosen: Iterable[str]) -> str:
    """tuned (p2p, shared): what the launches chose."""
    return f"tuned ({', '.join(sorted(set(filter(None, chosen))))})"


def _method_text(point: Point) -> str:
    """pencil, exchange p2p, grid 2x4 (by auto), local FFT fftw, decomposition=4x4"""
    method, resolved = point.method, resolved_grid(point)
    grid = f"{resolved} (by auto)" if method.grid == "auto" and resolved else method.grid
    if method.grid == TUNED:
        grid = _tuned_to(launch.resolved_grid for launch in point.measured)
    exchange = method.exchange
    if exchange == TUNED:
        exchange = _tuned_to(launch.tuned_exchange for launch in point.measured)
    parts = [
        method.variant,
        f"exchange {exchange}",
        f"grid {grid}",
        f"local FFT {method.local_fft}" if method.local_fft else "",
        f"instances placed {method.placement}" if method.placement else "",
        f"fields {method.field_order}" if method.field_order else "",
        f"active ranks {method.active_ranks}" if method.active_ranks else "",
        method.parameters,
    ]
    return ", ".join(part for part in parts if part)


def _time_text(point: Point) -> str:
    """12.3 ms (interval of the median 12.1–12.6 ms, 94 %; 5 launches 12.0–12.8 ms; 8.12 GFLOP/s)"""
    time, said = point.time, []
    if time.interval:
        said.append(f"interval of the median {range_text(*time.interval)}, {percent_text(time.coverage)}")
    said.append("one launch" if time.count == 1 else f"{time.count} launches {range_text(time.low, time.high)}")
    if point.gflops:
        said.append(f"{digits(point.gflops)} GFLOP/s")
    return f"{time_text(time.median)} ({'; '.join(said)})"


def _claim_text(answer: Answer) -> str:
    others = len(answer.comparison.ranked) - 1
    if answer.claim.holds:
        methods = "the one other method" if others == 1 else f"all {others} other methods"
        return f"clear: the launches show {methods} to be slower"
    return f"not clear: {'; '.join(claim_reasons(answer))}"


def claim_reasons(answer: Answer) -> list[str]:
    """What stands in the way of a claim; [] where it holds."""
    reasons = list(answer.claim.doubts)
    if names := [point.label for point in answer.claim.tied]:
        others = f" and {len(names) - 2} more" if len(names) > 2 else ""
        reasons.append(f"the launches do not tell it from {', '.join(names[:2])}{others}")
    if len(answer.comparison.ranked) == 1:
        reasons.append("no other method was measured")
    return reasons


def _runner_up_text(answer: Answer) -> str:
    point, ratio = answer.runner_up, answer.ratio
    if point is None or ratio is None:
        return "none"
    text = f"{point.label}, {time_text(point.time_s)}; {ratio_text(ratio.value)} times as long"
    if ratio.interval:
        low, high = ratio.interval
        text += f" ({percent_text(RATIO_CONFIDENCE)} interval {ratio_text(low)} to {ratio_text(high)})"
    return text + (f"; flagged {', '.join(point.flags)}" if point.flags else "")


def _identity_text(digest: str, fields: dict[str, Any], names: Iterable[str]) -> str:
    """1c8fadab51911c9f (5b52673367be; GNU 12.2.0; Open MPI v4.1.4)"""
    said = {name: str(fields[name]).split(",")[0] for name in names if fields.get(name)}
    if "revision" in said:
        said["revision"] = said["revision"][:DIGEST_DIGITS]
    return (digest or "unknown") + (f" ({'; '.join(said.values())})" if said else "")


def _day_text(launch: Launch) -> str:
    """2026-11-20 08:00 UTC, of the last launch"""
    started = str(launch.volatile.get("started_at", ""))
    return f"last {printable(started[:16]).replace('T', ' ')} UTC" if started else "when is not known"


def _nothing_text(found: Found) -> str:
    asked = asked_text(found.question)
    lines = [f"No time was measured for {asked}."]
    for point in found.untimed[:MOST_UNTIMED]:
        last = point.launches[-1]
        lines.append(f"  {point.label} is {last.status} there: {last.reason or 'no reason given'}")
    if len(found.untimed) > MOST_UNTIMED:
        lines.append(f"  and {len(found.untimed) - MOST_UNTIMED} more methods without a time")
    if found.nearest:
        lines.append("Nearest that was measured (nothing is extrapolated from it):")
        lines += [f"  {_nearest_text(one, found.names_nodes)}" for one in found.nearest]
    else:
        lines.append("No time of any transform is in the archive.")
    return "\n".join(lines)


def _nearest_text(one: Nearest, names_nodes: bool) -> str:
    other = f", {', '.join(one.others)}" if one.others else ""
    methods = "1 method" if one.methods == 1 else f"{one.methods} methods"
    return f"{shape_text(one.shape)} on {one.place.text(names_nodes)}{other}: {methods}"


def _question_json(question: Question) -> dict[str, Any]:
    asked = {"shape": list(question.shape), "ranks": question.ranks, "nodes": question.nodes, **question.terms}
    return asked | {"machine_hash": question.machine_hash or None}


def _nearest_json(one: Nearest) -> dict[str, Any]:
    return {"shape": list(one.shape), **place_json(one.place), "other_terms": one.others, "methods": one.methods}


def _answer_json(answer: Answer) -> dict[str, Any]:
    launch, ratio = answer.newest, answer.ratio
    runner_up = None
    if answer.runner_up is not None and ratio is not None:
        runner_up = point_json(answer.runner_up) | {
            "ratio": ratio.value,
            "ratio_interval": list(ratio.interval) if ratio.interval else None,
            "ratio_confidence": RATIO_CONFIDENCE,
        }
    return {
        **cell_json(answer.best.cell),
        "best": point_json(answer.best),
        "runner_up": runner_up,
        "sound": point_json(answer.soundest) if answer.soundest else None,
        "claim": {"clear": answer.claim.holds, "reasons": claim_reasons(answer)},
        "methods_compared": len(answer.comparison.ranked),
        "machine_hash": launch.machine_hash,
        "machine": launch.identity.get("machine", {}),
        "code_hash": launch.code_hash,
        "code": launch.identity.get("code", {}),
        "last_started_at": launch.volatile.get("started_at"),
        "older_builds": [{"code_hash": one.code_hash, "methods": one.methods} for one in answer.older],
    }
