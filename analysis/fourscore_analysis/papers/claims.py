"""The conclusions that a paper draws, and what they are worth here: claims.toml of a paper has the sentences, its
conclusions.py a test of each.

A test looks at an archive, or at the paper's equations alone, and returns findings. The verdict follows from these:
it is computed, and never written by hand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from fourscore_analysis.models.machines import read_toml, refuse_unknown
from fourscore_analysis.papers.here import Here
from fourscore_analysis.records.papers import sources
from fourscore_analysis.records.values import InputError, shown

CONFIRMED, REFUTED, UNDECIDED, UNTESTED = "confirmed", "refuted", "undecided", "untested"
VERDICTS = {
    CONFIRMED: "all that speaks to it here agrees with it",
    REFUTED: "all that speaks to it here is against it",
    UNDECIDED: "some of it agrees and some is against it, or the difference is too small to tell",
    UNTESTED: "nothing speaks to it here: the table says what to run, or why it cannot be tested",
}

# What a finding rests on. Emulated launches are none of these: a stand-in says nothing about the hardware.
MEASURED = "measured here"
SIMULATED = "simulated"
EQUATIONS = "by the paper's equations"
PRINTED = "by the paper's own numbers"
EVIDENCE = (MEASURED, SIMULATED, EQUATIONS, PRINTED)

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SUITE = re.compile(r"[a-z0-9.-]+(/[a-z0-9.-]+)*( --size paper)?( --launcher smpi)?")
_KEYS = ("id", "sentence", "section", "suites", "untested")


@dataclass(frozen=True)
class Claim:
    """One conclusion of a paper. `suites`: what to give to `fourscore run` so that the archive can tell; () where the
    equations or the printed numbers do. `untested`: why it cannot be tested here, else ""."""

    id: str
    sentence: str
    section: str
    suites: tuple[str, ...] = ()
    untested: str = ""


@dataclass(frozen=True)
class Finding:
    """What one kind of evidence says of a claim. `holds` is None where it does not tell. `numbers`: one sentence
    without its full stop, with the numbers that decide."""

    evidence: str
    holds: bool | None
    numbers: str

    def __post_init__(self) -> None:
        if self.evidence not in EVIDENCE:
            raise ValueError(f"evidence is {self.evidence!r}; expected one of {', '.join(EVIDENCE)}")


Test = Callable[[Here], Iterable[Finding]]


class Tests(dict[str, Test]):
    """The tests of a paper's claims by the claims' ids; `conclusions.py` names its own TESTS."""

    __test__ = False  # pytest collects no class of this name

    def of(self, claim: str) -> Callable[[Test], Test]:
        """@TESTS.of("the-id-of-a-claim")"""

        if claim in self:
            raise ValueError(f"two tests of the claim {claim!r}")

        def note(test: Test) -> Test:
            self[claim] = test
            return test

        return note


@dataclass(frozen=True)
class Conclusion:
    """A claim with what was found."""

    claim: Claim
    findings: tuple[Finding, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if not self.findings:
            return UNTESTED
        found = {finding.holds for finding in self.findings}
        if found == {True}:
            return CONFIRMED
        return REFUTED if found == {False} else UNDECIDED

    @property
    def said(self) -> str:
        """Simulated: T_mesh / T_torus is 1.60, 1.67. By the paper's equations: ...; ..."""
        by_evidence = groupby(self.findings, key=lambda one: one.evidence)
        sentences = [(evidence, "; ".join(one.numbers for one in found)) for evidence, found in by_evidence]
        return " ".join(f"{evidence.capitalize()}: {said}." for evidence, said in sentences) or self.claim.untested

    @property
    def commands(self) -> tuple[str, ...]:
        """What would bring the evidence of records, where the archive has none."""
        if {MEASURED, SIMULATED} & {finding.evidence for finding in self.findings}:
            return ()
        return tuple(f"fourscore run {suite}" for suite in self.claim.suites)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.claim.id,
            "sentence": self.claim.sentence,
            "section": self.claim.section,
            "verdict": self.verdict,
            "numbers": self.said,
            "findings": [
                {"evidence": one.evidence, "holds": one.holds, "numbers": one.numbers} for one in self.findings
            ],
            "run": list(self.commands),
        }


def conclusions_of(paper: str, here: Here) -> list[Conclusion]:
    """Each claim of the paper, in the order of its file; [] where it has none. Raises InputError for a file that is not
    as docs/published.md has it, and where claims and tests do not fit each other."""
    source = sources()[paper]
    path = source.folder / "claims.toml"
    module = source.part("conclusions")
    if not path.exists() and module is None:
        return []
    claims, tests = read_claims(path), module.TESTS if module else Tests()
    refuse_unless_matched(path, claims, tests)
    return [Conclusion(claim, tuple(tests[claim.id](here)) if claim.id in tests else ()) for claim in claims]


def counts(found: Sequence[Conclusion]) -> dict[str, int]:
    """Claims of each verdict."""
    return dict.fromkeys(VERDICTS, 0) | Counter(one.verdict for one in found)


def read_claims(path: Path) -> list[Claim]:
    """Raises InputError naming the file, the claim and what was expected."""
    data = read_toml(path)
    refuse_unknown(data, ("claim",), str(path))
    found = data.get("claim")
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{path}: claim is {shown(found)}; expected tables, each after a line [[claim]]")
    claims = [_claim(table, f"{path}: claim {number}") for number, table in enumerate(found, 1)]
    for name, count in Counter(claim.id for claim in claims).items():
        if count > 1:
            raise InputError(f"{path}: {count} claims are called {name}")
    return claims


def _claim(table: dict[str, Any], where: str) -> Claim:
    refuse_unknown(table, _KEYS, where)
    texts = {key: table.get(key, "") for key in _KEYS if key != "suites"}
    for key, value in texts.items():
        if not isinstance(value, str) or value != value.strip() or not (value or key == "untested"):
            raise InputError(f"{where}: {key} is {shown(table.get(key))}; expected text")
    if not _ID.fullmatch(texts["id"]):
        raise InputError(f"{where}: id is {shown(texts['id'])}; expected words of a-z and 0-9 with dashes between")
    where = f"{where}, {texts['id']}"
    for key in ("sentence", "untested"):
        if texts[key] and not texts[key].endswith("."):
            raise InputError(f"{where}: {key} is {shown(texts[key])}; expected a sentence with a full stop")
    suites = table.get("suites", [])
    if not isinstance(suites, list) or not all(isinstance(one, str) and _SUITE.fullmatch(one) for one in suites):
        raise InputError(
            f"{where}: suites is {shown(suites)}; expected a list of suites as `fourscore run` takes them, "
            'as "papers/smith26/table-1 --launcher smpi"'
        )
    if suites and texts["untested"]:
        raise InputError(f"{where}: it has suites and is untested; expected one of the two")
    return Claim(**texts, suites=tuple(suites))


def refuse_unless_matched(path: Path, claims: Sequence[Claim], tests: Tests) -> None:
    """Each claim has a test or says why not; each test has a claim."""
    testable = {claim.id for claim in claims if not claim.untested}
    for name in sorted(testable - set(tests)):
        raise InputError(f"{path}: {name} has no test in conclusions.py, and does not say why it is untested")
    for name in sorted(set(tests) - testable):
        raise InputError(f"{path}: conclusions.py tests {name}, which is no claim there, or is untested")
