"""A gate as text for a terminal, Markdown for a pull request, and JUnit XML for a CI server."""

from __future__ import annotations

from xml.etree import ElementTree

from fourscore_analysis.gate import verdict
from fourscore_analysis.gate.result import Gate
from fourscore_analysis.gate.sentences import blame_sentence, exact_sentence, headline, notes, sentence
from fourscore_analysis.gate.verdict import Verdict
from fourscore_analysis.records.values import printable

MOST_LINES = 20  # of one verdict; JSON has all
QUIET = (verdict.NO_CHANGE, verdict.COUNTED, verdict.SKIPPED)  # that the short outputs only count


def text_of(gate: Gate) -> str:
    """Worst first."""
    lines = [headline(gate)]
    for word, verdicts in _groups(gate):
        lines += [f"  {word:<14} {_with_blame(one)}" for one in verdicts[:MOST_LINES]]
        lines += _left_out(f"  {word:<14} ", len(verdicts))
    changed = gate.changed
    lines += [f"  {'exact':<14} {exact_sentence(one)}" for one in changed[:MOST_LINES]]
    lines += _left_out(f"  {'exact':<14} ", len(changed))
    lines += notes(gate)
    return "\n".join(printable(line) for line in lines)


def markdown_of(gate: Gate) -> str:
    lines = [f"**fourscore: {_escaped(headline(gate))}**", ""]
    for word, verdicts in _groups(gate):
        lines += [f"- **{word}** {_escaped(_with_blame(one))}" for one in verdicts[:MOST_LINES]]
        lines += _left_out("- ", len(verdicts))
    changed = gate.changed
    lines += [f"- **exact** {_escaped(exact_sentence(one))}" for one in changed[:MOST_LINES]]
    lines += _left_out("- ", len(changed))
    lines += ["", *(_escaped(note) for note in notes(gate))]
    return "\n".join(lines).rstrip() + "\n"


def junit_of(gate: Gate) -> str:
    """One test case a series, and one for each exact number that changed. What blocks is a failure; what was not
    decided is skipped, with the reason."""
    suite = ElementTree.Element("testsuite", name=f"fourscore compare {gate.compared.name}".strip())
    counts = {"failure": 0, "skipped": 0}
    cases = [(one.series.title, one.word, one.blocks, _with_blame(one)) for one in gate.verdicts]
    cases += [(f"{one.series.title}: {one.name}", one.word, one.blocks, exact_sentence(one)) for one in gate.changed]
    for title, word, blocks, said in cases:
        case = ElementTree.SubElement(suite, "testcase", classname="fourscore.compare", name=printable(title))
        kind = "failure" if blocks else "skipped" if word in SKIPPED_CASES else ""
        if kind:
            counts[kind] += 1
            ElementTree.SubElement(case, kind, message=printable(f"{word}: {said}"))
        else:
            ElementTree.SubElement(case, "system-out").text = printable(said)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(counts["failure"]))
    suite.set("skipped", str(counts["skipped"]))
    suite.set("errors", "0")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


SKIPPED_CASES = (
    verdict.MISSING,
    verdict.NOT_COMPARABLE,
    verdict.BIMODAL,
    verdict.UNDECIDED,
    verdict.SKIPPED,
    "varies",
)


def _groups(gate: Gate) -> list[tuple[str, list[Verdict]]]:
    words = [word for word in gate.counts if word not in QUIET]
    return [(word, [one for one in gate.verdicts if one.word == word]) for word in words]


def _with_blame(one: Verdict) -> str:
    blamed = blame_sentence(one)
    return f"{sentence(one)}; {blamed}" if blamed else sentence(one)


def _left_out(start: str, count: int) -> list[str]:
    return [f"{start}and {count - MOST_LINES} more"] if count > MOST_LINES else []


def _escaped(text: str) -> str:
    """Markdown that shows what it is given."""
    return "".join(f"\\{one}" if one in "\\`*_{}[]<>#|~" else one for one in printable(text))
