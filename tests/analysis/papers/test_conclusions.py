"""Conclusions of papers are put to a test: a verdict follows from what the tests find, and none is written by hand."""

import json
import re
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.papers.claims import (
    CONFIRMED,
    EQUATIONS,
    MEASURED,
    REFUTED,
    SIMULATED,
    UNDECIDED,
    UNTESTED,
    Claim,
    Conclusion,
    Finding,
    Tests,
    conclusions_of,
    counts,
    read_claims,
    refuse_unless_matched,
)
from fourscore_analysis.papers.here import Here
from fourscore_analysis.records.papers import sources
from fourscore_analysis.records.values import InputError

ROOT = Path(__file__).resolve().parents[3]
CLAIM = Claim("twice", "It is twice.", "Section 1", ("papers/smith26/one",))
WITH_CLAIMS = [name for name, one in sources().items() if (one.folder / "claims.toml").exists()]


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ([], UNTESTED),
        ([True, True], CONFIRMED),
        ([False], REFUTED),
        ([True, False], UNDECIDED),
        ([None], UNDECIDED),
        ([True, None], UNDECIDED),
    ],
)
def test_a_verdict_follows_from_the_findings(holds, verdict):
    found = tuple(Finding(SIMULATED, one, "it is 2.1") for one in holds)
    assert Conclusion(CLAIM, found).verdict == verdict


def test_what_a_finding_rests_on_is_said_and_what_to_run_only_while_records_are_missing():
    by_equations, simulated = Finding(EQUATIONS, True, "it is 2"), Finding(SIMULATED, False, "it is 1.5")
    assert Conclusion(CLAIM, (by_equations,)).commands == ("fourscore run papers/smith26/one",)
    both = Conclusion(CLAIM, (by_equations, simulated))
    assert both.said == "By the paper's equations: it is 2. Simulated: it is 1.5."
    assert Conclusion(CLAIM, (simulated, simulated)).said == "Simulated: it is 1.5; it is 1.5."
    assert both.commands == ()
    with pytest.raises(ValueError, match="evidence is 'heard'; expected one of measured here"):
        Finding("heard", True, "it is 2")


GOOD = 'id = "a-b"\nsentence = "It is so."\nsection = "5"\n'


def written(folder: Path, *claims: str) -> Path:
    path = folder / "claims.toml"
    path.write_text("".join(f"[[claim]]\n{claim}\n" for claim in claims), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([], "claim is None; expected tables"),
        ([GOOD.replace("a-b", "A b")], "claim 1: id is 'A b'; expected words"),
        ([GOOD.replace("It is so.", "It is so")], "claim 1, a-b: sentence is 'It is so'; expected a sentence"),
        ([GOOD.replace('section = "5"', "")], "claim 1: section is None; expected text"),
        ([GOOD + 'suite = "x"'], "claim 1: 'suite' is not known; did you mean suites?"),
        ([GOOD + 'suites = ["x; rm"]'], r"claim 1, a-b: suites is \['x; rm'\]; expected a list of suites"),
        ([GOOD + 'suites = ["x"]\nuntested = "None."'], "claim 1, a-b: it has suites and is untested"),
        ([GOOD, GOOD], "2 claims are called a-b"),
    ],
)
def test_a_claim_that_cannot_be_used_is_named(tmp_path, claims, message):
    with pytest.raises(InputError, match=message):
        read_claims(written(tmp_path, *claims))


def test_a_claim_has_a_test_or_says_why_not_and_a_test_has_a_claim(tmp_path):
    path = written(tmp_path, GOOD, GOOD.replace("a-b", "c") + 'untested = "No machine."')
    claims, tests = read_claims(path), Tests()
    with pytest.raises(InputError, match=r"claims\.toml: a-b has no test in conclusions\.py"):
        refuse_unless_matched(path, claims, tests)
    tests.of("a-b")(lambda here: ())
    refuse_unless_matched(path, claims, tests)
    with pytest.raises(ValueError, match="two tests of the claim 'a-b'"):
        tests.of("a-b")
    tests.of("c")(lambda here: ())
    with pytest.raises(InputError, match="tests c, which is no claim there, or is untested"):
        refuse_unless_matched(path, claims, tests)


@pytest.mark.parametrize("name", WITH_CLAIMS)
def test_every_claim_of_our_papers_is_tested_or_says_what_is_missing(name):
    found = conclusions_of(name, Here())
    assert len(found) >= 2
    for one in found:
        assert one.verdict != UNTESTED or one.claim.untested or one.commands, one.claim.id
        assert MEASURED not in {finding.evidence for finding in one.findings}, "there is no archive"
        assert SIMULATED not in {finding.evidence for finding in one.findings}, "there is no archive"


@pytest.mark.parametrize("name", WITH_CLAIMS)
def test_the_docs_count_the_verdicts_of_each_paper(name):
    found = counts(claims := conclusions_of(name, Here()))
    said = ", ".join(f"{count} {verdict}" for verdict, count in found.items())
    section = (ROOT / "docs/published.md").read_text(encoding="utf-8").split(f"\n## {name}\n")[1].split("\n## ")[0]
    line = f"**Conclusions**: {len(claims)} claims; without an archive {said}."
    assert line in " ".join(section.split()), line


@pytest.mark.parametrize("name", WITH_CLAIMS)
def test_the_suites_that_a_claim_names_exist_and_are_simulated_where_they_need_to_be(name):
    for claim in read_claims(sources()[name].folder / "claims.toml"):
        for suite in claim.suites:
            path, _, options = suite.partition(" ")
            text = (ROOT / f"suites/{path}.toml").read_text(encoding="utf-8")
            assert ("--launcher smpi" in options) == bool(re.search(r"^platform = ", text, re.M)), suite
            assert "--size paper" not in options or re.search(r'^sizes = .*"paper"', text, re.M), suite


def test_the_page_of_a_paper_begins_with_its_conclusions(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FOURSCORE_ARCHIVE", str(tmp_path / "none"))
    page = tmp_path / "page.html"
    assert main(["report", "--paper", "eleftheriou2005", "-o", str(page), "--json"]) == 0
    [paper] = json.loads(capsys.readouterr().out)["papers"]
    assert sum(paper["claim_verdicts"].values()) == len(paper["claims"])
    assert paper["summary"][0].startswith(f"{len(paper['claims'])} conclusions of the paper: ")
    one = {claim["id"]: claim for claim in paper["claims"]}["mesh-over-torus-rises"]
    assert (one["verdict"], one["findings"], one["numbers"]) == (UNTESTED, [], "")
    text = page.read_text(encoding="utf-8")
    assert text.index(one["sentence"]) < text.index("printed numbers in")
    assert one["run"] == ["fourscore run papers/eleftheriou2005/table-1-simulated --size paper --launcher smpi"]
    assert f"<code>{one['run'][0]}</code>" in text
