"""Each test of a paper's conclusion says yes to records that agree and no to records that do not."""

import pytest
import test_conclusions_czechowski2012 as czechowski2012
import test_conclusions_eleftheriou2005 as eleftheriou2005
import test_conclusions_gupta1993 as gupta1993
import test_conclusions_haynes2000 as haynes2000
import test_conclusions_lee2018 as lee2018
from fourscore_analysis.papers.claims import MEASURED
from synthetic import holds_of

# The cases of haynes2000 are ratios, which it tries itself.
OF_RECORDS = (czechowski2012, eleftheriou2005, gupta1993, lee2018)
CASES = [(paper, *case) for paper in OF_RECORDS for case in paper.CASES]


@pytest.mark.parametrize(("paper", "claim", "evidence", "agree", "disagree"), CASES, ids=[case[1] for case in CASES])
def test_records_confirm_or_refute_a_conclusion(paper, claim, evidence, agree, disagree):
    assert holds_of(paper.TESTS[claim], evidence, agree) == [True]
    assert holds_of(paper.TESTS[claim], evidence, disagree) == [False]


def test_emulated_launches_say_nothing_of_a_conclusion():
    for paper, claim, evidence, agree, _ in CASES:
        if evidence == MEASURED:
            assert holds_of(paper.TESTS[claim], MEASURED, agree, ["emulated"]) == [], claim


@pytest.mark.parametrize("paper", [*OF_RECORDS, haynes2000], ids=lambda paper: paper.__name__)
def test_every_test_of_a_conclusion_is_tried_both_ways(paper):
    assert {case[0] for case in paper.CASES} | paper.ELSEWHERE == set(paper.TESTS)
