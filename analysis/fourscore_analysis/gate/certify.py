"""How often the gate erred in comparisons whose truth is known: a build with itself, and with itself made slower by a
known part of its time in one phase."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fourscore_analysis.gate.rates import Rate, Rates, Share, read_document
from fourscore_analysis.gate.result import Gate, gate_of
from fourscore_analysis.gate.sides import of_comparison
from fourscore_analysis.gate.verdict import REGRESSION, WRONG, Verdict
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import RecordError, each, name_of, number_of, plain_name, read, table_of

SCHEMA = "fourscore.certification"


def measure_rates(archive: Path, file: Path) -> Rates:
    """The rates found by the comparisons that a certification names. Raises InputError."""
    data = read_document(file, SCHEMA)
    try:
        phase, machine = read(data, "phase", name_of), read(data, "machine_hash", plain_name)
        names = [
            (read(one, "name", plain_name), read(one, "slower_percent", number_of))
            for one in read(data, "comparisons", each(table_of))
        ]
    except RecordError as error:
        raise InputError(f"'{file}': {error}") from None
    by_size: dict[float, list[Gate]] = {}
    for name, percent in names:
        compared = of_comparison(archive, archive / "comparisons" / name / "comparison.json", ())
        by_size.setdefault(percent, []).append(gate_of(compared))
    if not by_size:
        raise InputError(f"'{file}': no comparison is finished")
    return Rates(machine, phase, tuple(rate_of(size, by_size[size], phase) for size in sorted(by_size)))


def rate_of(percent: float, gates: Sequence[Gate], phase: str) -> Rate:
    timed = [one for gate in gates for one in gate.verdicts if one.change]
    red = [one for one in timed if one.word == REGRESSION]
    blamed = [one for one in red if (worst := _most_changed(one)) and worst == phase]
    wrong = [one for gate in gates for one in gate.verdicts if one.word == WRONG]
    if wrong:
        raise InputError(f"{wrong[0].series.title}: {wrong[0].reason}: a wrong result certifies nothing")
    return Rate(
        percent,
        Share(sum(any(one.word == REGRESSION for one in gate.verdicts) for gate in gates), len(gates)),
        Share(len(red), len(timed)),
        Share(len(blamed), len(red)),
    )


def _most_changed(one: Verdict) -> str | None:
    """The phase whose seconds grew most."""
    phases = [phase for phase in one.phases if phase.grew_s > 0]
    return max(phases, key=lambda phase: phase.grew_s).phase if phases else None
