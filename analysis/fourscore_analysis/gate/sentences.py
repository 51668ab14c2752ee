"""The verdicts in words, the same in every output."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fourscore_analysis.gate import exact, verdict
from fourscore_analysis.gate.blame import UNCHANGED, UNTESTED, UNTOLD, PhaseChange
from fourscore_analysis.gate.exact import Exact
from fourscore_analysis.gate.rates import sentence_of
from fourscore_analysis.gate.result import NOT_DECIDED, STATES, Gate
from fourscore_analysis.gate.rules import RULES, Rules
from fourscore_analysis.gate.verdict import Change, Verdict
from fourscore_analysis.points.units import time_text

MOST_PHASES = 3


def change_text(ratio: float, interval: tuple[float, float] | None) -> str:
    """+31 % [27, 35]; +2.4 % [1.1, 3.8]"""
    percents = [100 * (value - 1) for value in (ratio, *(interval or ()))]
    places = 0 if abs(percents[0]) >= 9.95 else 1
    texts = [f"{_no_minus_zero(value, places):.{places}f}" for value in percents]
    sign = "" if texts[0].startswith("-") else "+"
    return f"{sign}{texts[0]} %" + (f" [{texts[1]}, {texts[2]}]" if interval else "")


def _no_minus_zero(value: float, places: int) -> float:
    return round(value, places) + 0.0


def share_text(share: float) -> str:
    """5 %; 2.4 %"""
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 9.95 or abs(percent - round(percent)) < 0.05 else f"{percent:.1f} %"


def headline(gate: Gate) -> str:
    """RED: 12 series: 1 regression, 11 no change; 120 exact numbers, none grew"""
    counts = gate.counts
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    blocking = [one for one in gate.exact if one.blocks]
    hiding = ""
    if gate.state == NOT_DECIDED:
        hiding = f"; {len(gate.not_decided)} could hide a slowdown of more than {share_text(gate.rules.effect)}"
    exact_part = (
        f"; {len(blocking)} of {len(gate.exact)} exact numbers grew"
        if blocking
        else f"; {len(gate.exact)} exact numbers, none grew"
        if gate.exact
        else ""
    )
    return f"{STATES[gate.state]}: {len(gate.verdicts)} series: {words or 'none'}{hiding}{exact_part}"


def sentence(one: Verdict, rules: Rules = RULES) -> str:
    """pencil/alltoallv at 128³, 4 ranks: +12 % [9, 15], 1.02 ms to 1.14 ms, margin 2 %, 14 pairs"""
    parts = []
    if one.change:
        parts.append(_change_text(one, one.change))
    if one.word == verdict.UNDECIDED and one.change:
        parts.append(_undecided_text(one, rules))
    if one.reason:
        parts.append(one.reason)
    return f"{one.series.title}: {'; '.join(parts)}"


def _change_text(one: Verdict, change: Change) -> str:
    first, second = change.launches
    launches = f"{first} pairs" if one.series.paired else f"{first} and {second} launches"
    text = f"{change_text(change.ratio, change.interval)}, {time_text(change.base_s)} to "
    text += f"{time_text(change.candidate_s)}, {launches}"
    if one.word == verdict.NO_CHANGE:
        text += f", within {share_text(change.alike_within)}"
    return text


def _undecided_text(one: Verdict, rules: Rules) -> str:
    if one.detectable is None or not math.isfinite(one.detectable):
        return f"so few launches can show nothing; it takes {one.pairs_needed} or more"
    text = f"a slowdown of {share_text(one.detectable)} would have been seen (80 %)"
    if one.pairs_needed is None:
        return text
    many = f"more than {rules.most_pairs}" if one.pairs_needed >= rules.most_pairs else f"about {one.pairs_needed}"
    return f"{text}; {share_text(rules.effect)} takes {many} pairs"


def blame_sentence(one: Verdict) -> str:
    """pack +31 % [27, 35]; exchange unchanged"; "" without phases."""
    changed = [phase for phase in one.phases if phase.word not in (UNCHANGED, UNTESTED)]
    same = sorted(phase.phase for phase in one.phases if phase.word == UNCHANGED)
    parts = [_phase_text(phase) for phase in changed[:MOST_PHASES]]
    if same:
        parts.append(f"{', '.join(same)} unchanged")
    return "; ".join(parts)


def _phase_text(phase: PhaseChange) -> str:
    if phase.ratio is None:
        return f"{phase.phase} {time_text(phase.base_s)} to {time_text(phase.candidate_s)}"
    return f"{phase.phase} {phase_text(phase)}"


def phase_text(phase: PhaseChange) -> str:
    """+31 % [27, 35]"""
    if phase.ratio is None:
        return phase.word
    text = change_text(phase.ratio, phase.interval)
    return f"{text} (not told from none)" if phase.word == UNTOLD else text


def exact_sentence(one: Exact) -> str:
    """slab/p2p at 64³, 4 ranks: messages of the busiest rank 3 to 4 (+33 %)"""
    if one.word in (exact.GONE, exact.NEW):
        said = "is no longer in the record" if one.word == exact.GONE else "is not in the base's record"
        return f"{one.series.title}: {one.name} {said}"
    if one.word == exact.OTHER:
        return f"{one.series.title}: {one.name}: the ranks share them out differently, the sum is the same"
    if one.word == exact.VARIES:
        return f"{one.series.title}: {one.name} vary from launch to launch, so they are not compared"
    ends = (one.base, one.candidate) if one.base != one.candidate else (one.base_sum, one.candidate_sum)
    where = "at most on a rank" if one.base != one.candidate else "of all ranks"
    before, after = (f"{end:.15g}" for end in ends)
    ratio = f" ({_exact_percent(one.ratio)})" if one.ratio else ""
    return f"{one.series.title}: {one.name} {where}: {before} to {after}{ratio}"


def _exact_percent(ratio: float) -> str:
    percent = 100 * (ratio - 1)
    return f"{percent:+.2g} %" if abs(percent) < 1 else f"{percent:+.1f} %"


def notes(gate: Gate) -> list[str]:
    """What a reader must know to believe the verdicts."""
    compared, found = gate.compared, []
    if not compared.paired:
        found.append(
            "Launches are not paired: what the machine did between the two sides is not told from what the code did. "
            "`fourscore run SUITE --against OTHER_BENCH` measures in pairs."
        )
    if compared.overrides:
        found.append(f"Different, and allowed: {'; '.join(compared.overrides)}.")
    if compared.same_build:
        found.append("Both sides are the same build.")
    if compared.code:
        fields = dict.fromkeys(one.field.removeprefix("code.") for one in compared.code)
        found.append(f"The builds differ in {_listed([*fields])}.")
    if gate.certified:
        found.append(sentence_of(gate.certified))
    if count := len(compared.unreadable):
        file = compared.unreadable[0]
        found.append(f"{count} record{'s' if count > 1 else ''} not used: {file.file}: {file.reason}.")
    return found


def _listed(words: Sequence[str], most: int = 8) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")
