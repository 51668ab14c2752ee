"""A comparison with all that is said of it: what the outputs print, and the exit code."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from fourscore_analysis.gate.exact import SAME, Exact, compare_exact
from fourscore_analysis.gate.rates import Rates, rates_json
from fourscore_analysis.gate.rules import RULES, Rules
from fourscore_analysis.gate.sides import Compared
from fourscore_analysis.gate.verdict import COUNTED, NOT_COMPARABLE, WORST_FIRST, Verdict, judge

SCHEMA, SCHEMA_VERSION = "fourscore.gate", 1
GREEN, RED, NOTHING_MEASURED, NOT_DECIDED = 0, 1, 4, 5  # exit codes; 2 is unusable input
STATES = {GREEN: "GREEN", RED: "RED", NOTHING_MEASURED: "NOTHING MEASURED", NOT_DECIDED: "NOT DECIDED"}


@dataclass
class Gate:
    compared: Compared
    verdicts: list[Verdict]
    exact: list[Exact]
    rules: Rules = RULES
    certified: Rates | None = None  # how often the gate errs on this machine, where that was measured
    strict: bool = False  # what is not decided has an exit code of its own
    require_detectable: bool = False  # decided is what could have shown the effect, not what happens to exclude it

    @property
    def measured(self) -> bool:
        """Whether any series has both sides: times, or counts where neither side has a time."""
        return any(
            verdict.word == COUNTED or (verdict.series.has_times and verdict.word != NOT_COMPARABLE)
            for verdict in self.verdicts
        )

    @property
    def red(self) -> bool:
        return any(verdict.blocks for verdict in self.verdicts) or any(one.blocks for one in self.exact)

    @cached_property
    def not_decided(self) -> list[Verdict]:
        """Series that could hide a slowdown of more than the effect that must be found."""
        limit = self.rules.effect * (1 + 1e-9)
        return [one for one in self.verdicts if one.could_hide(self.require_detectable) > limit]

    @property
    def state(self) -> int:
        """What was shown."""
        if self.red:
            return RED
        if not self.measured:
            return NOTHING_MEASURED
        return NOT_DECIDED if self.not_decided else GREEN

    @property
    def exit_code(self) -> int:
        lenient = not (self.strict or self.require_detectable)
        return GREEN if self.state == NOT_DECIDED and lenient else self.state

    @property
    def counts(self) -> dict[str, int]:
        """Series by verdict, worst first."""
        found = Counter(verdict.word for verdict in self.verdicts)
        return {word: found[word] for word in WORST_FIRST if found[word]}

    @property
    def changed(self) -> list[Exact]:
        return [one for one in self.exact if one.word != SAME]

    def as_json(self) -> dict[str, Any]:
        compared = self.compared
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "name": compared.name,
            "state": STATES[self.state],
            "exit_code": self.exit_code,
            "base": {"name": compared.base.name, "label": compared.base.label, "builds": compared.base.hashes("code")},
            "candidate": {
                "name": compared.candidate.name,
                "label": compared.candidate.label,
                "builds": compared.candidate.hashes("code"),
            },
            "paired": compared.paired,
            "stages": [asdict(stage) for stage in compared.stages],
            "overrides": compared.overrides,
            "code_differences": [asdict(one) for one in compared.code],
            "rules": asdict(self.rules),
            "certified": rates_json(self.certified) if self.certified else None,
            "counts": self.counts,
            "not_decided": len(self.not_decided),
            "series": [_verdict_json(verdict, self.require_detectable) for verdict in self.verdicts],
            "exact": {
                "compared": len(self.exact),
                "changed": [_exact_json(one) for one in self.changed],
            },
            "unreadable": [asdict(file) for file in compared.unreadable],
        }


def gate_of(compared: Compared, rules: Rules = RULES) -> Gate:
    return Gate(compared, judge(compared.series, compared.two_stages, rules), compare_exact(compared.series), rules)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _verdict_json(verdict: Verdict, by_power: bool) -> dict[str, Any]:
    series, change = verdict.series, verdict.change
    found: dict[str, Any] = {
        "point_id": series.point_id,
        "benchmark": series.key[3],
        "title": series.title,
        "verdict": verdict.word,
        "reason": verdict.reason,
        "stage": "confirm" if series.chosen else "screen",
        "smallest_visible": _finite(verdict.detectable),
        "could_hide": _finite(verdict.could_hide(by_power)),
        "pairs_needed": verdict.pairs_needed,
    }
    if change:
        found |= {
            "ratio": change.ratio,
            "interval": list(change.interval) if change.interval else None,
            "p": change.p,
            "corrected_p": change.corrected_p,
            "margin": change.margin,
            "base_s": change.base_s,
            "candidate_s": change.candidate_s,
            "launches": list(change.launches),
        }
    if verdict.phases:
        found["phases"] = [
            {
                "phase": phase.phase,
                "verdict": phase.word,
                "ratio": phase.ratio,
                "interval": list(phase.interval) if phase.interval else None,
                "corrected_p": phase.corrected_p,
                "base_s": phase.base_s,
                "candidate_s": phase.candidate_s,
            }
            for phase in verdict.phases
        ]
    return found


def _exact_json(one: Exact) -> dict[str, Any]:
    return {
        "point_id": one.series.point_id,
        "title": one.series.title,
        "number": one.name,
        "change": one.word,
        "blocks": one.blocks,
        "base": one.base,
        "candidate": one.candidate,
        "base_sum": one.base_sum,
        "candidate_sum": one.candidate_sum,
        "tolerance": one.tolerance,
    }
