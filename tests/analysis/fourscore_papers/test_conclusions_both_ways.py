"""Each test of a paper's conclusion says yes to records that agree and no to records that do not."""

from importlib import import_module

import pytest
from fourscore_analysis.papers.claims import EQUATIONS, MEASURED
from fourscore_analysis.papers.here import Here
from synthetic import holds_of

NAMES = ("czechowski2012", "eleftheriou2005", "gupta1993", "haynes2000", "lee2018")
TESTS = {name: import_module(f"fourscore_papers.{name}.conclusions").TESTS for name in NAMES}
PAPERS = {name: import_module(f"test_conclusions_{name}") for name in NAMES}
# A claim, what the finding rests on, and records that agree with it and records that do not. Those of haynes2000 are
# made of ratios, and tried beside them.
CASES = [(name, *case) for name, paper in PAPERS.items() if name != "haynes2000" for case in paper.CASES]
# What would have to be otherwise for the equations to refute a claim: a name in conclusions.py, and its value.
OTHERWISE = [(name, claim, *other) for name, paper in PAPERS.items() for claim, other in paper.OTHERWISE.items()]


@pytest.mark.parametrize(("name", "claim", "evidence", "agree", "disagree"), CASES)
def test_records_confirm_or_refute_a_conclusion(name, claim, evidence, agree, disagree):
    assert holds_of(TESTS[name][claim], evidence, agree) == [True]
    assert holds_of(TESTS[name][claim], evidence, disagree) == [False]


def test_emulated_launches_say_nothing_of_a_conclusion():
    for name, claim, evidence, agree, _ in CASES:
        if evidence == MEASURED:
            assert holds_of(TESTS[name][claim], MEASURED, agree, ["emulated"]) == [], claim


@pytest.mark.parametrize(("name", "claim", "what", "other"), OTHERWISE)
def test_other_equations_would_refute_a_conclusion(name, claim, what, other, monkeypatch):
    def by_equations() -> set[bool | None]:
        return {one.holds for one in TESTS[name][claim](Here()) if one.evidence == EQUATIONS}

    assert by_equations() == {True}
    monkeypatch.setattr(f"fourscore_papers.{name}.conclusions.{what}", other)
    assert by_equations() == {False}


@pytest.mark.parametrize("name", NAMES)
def test_every_test_of_a_conclusion_is_tried_both_ways(name):
    paper = PAPERS[name]
    assert {case[0] for case in paper.CASES} | set(paper.OTHERWISE) | paper.ELSEWHERE == set(TESTS[name])
