"""fourscore compare: whether the candidate is slower than the base, from records. What builds are compared is said by
options of the C++ program, which measures them and hands on --measured."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from fourscore_analysis.commands.base import Command
from fourscore_analysis.commands.options import (
    STANDARD_OUTPUT,
    add_archive,
    file_of,
    prepare_outputs,
    slowdown_of,
    tell_unreadable,
    write_output,
)
from fourscore_analysis.records.values import InputError

EXAMPLES = """Examples:
  fourscore compare main HEAD                              (two revisions, built and measured in pairs)
  fourscore compare /opt/before/bin/fft_bench build/release/bin --suite strong --markdown pull-request.md
  fourscore compare --plugin old/libmine.so new/libmine.so --suite mine.toml     (two builds of your library)
  fourscore compare main HEAD --repo mine --build "make lib" --artifact libmine.so --suite mine.toml
  fourscore compare strong-1a2b3c4d strong-5e6f7a8b        (two campaigns of the archive)
  fourscore compare old-archive new-archive --markdown pull-request.md --junit gate.xml
  fourscore compare --comparison fourscore-archive/comparisons/NAME/comparison.json
A side is a build (fft_bench, or a folder with one) or a revision, which are measured, also of a plugin
(docs/your-library.md); or what was measured:
a campaign, a suite for its newest campaign, an archive, records, or Google Benchmark's JSON.
Exit code 0: no regression; 1: a regression or a wrong result; 2: unusable input; 3: the environment failed;
4: nothing was measured, no series has both sides; 5: --strict, and a series could hide a slowdown of --detect.
"""


def _add(compare: argparse.ArgumentParser) -> None:
    compare.add_argument("base", nargs="?", metavar="BASE", help="what is compared with")
    compare.add_argument("candidate", nargs="?", metavar="CAND", help="what may be slower")
    add_archive(compare)
    compare.add_argument(
        "--comparison", type=file_of, metavar="FILE", help="comparison.json of a comparison measured in pairs"
    )
    compare.add_argument(
        "--allow-different",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD",
        help="fields of the identity that may differ, as machine.memory; the result says so",
    )
    compare.add_argument("--json", type=file_of, metavar="FILE", help="write the result as JSON; - for standard output")
    compare.add_argument("--markdown", type=file_of, metavar="FILE", help="write it for a pull request")
    compare.add_argument("--junit", type=file_of, metavar="FILE", help="write it as JUnit XML")
    compare.add_argument(
        "--html", type=file_of, metavar="FILE", help="write it as a page, with the scatter of its pairs"
    )
    compare.add_argument(
        "--detect",
        type=slowdown_of,
        metavar="PERCENT",
        help="the slowdown that must not go unseen (default: 5%%): NOT DECIDED where a series could hide one",
    )
    compare.add_argument("--strict", action="store_true", help="exit code 5, not 0, where it says NOT DECIDED")
    compare.add_argument(
        "--require-detectable",
        action="store_true",
        help="as --strict, also of series that a slowdown of --detect would not have shown in (80 %%), though their "
        "intervals exclude it",
    )
    compare.add_argument(
        "--plan",
        action="store_true",
        help="of a screen: say as JSON which points to measure again, and in how many pairs",
    )
    compare.add_argument("--measured", type=file_of, help=argparse.SUPPRESS)  # comparison.json of BASE and CAND


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.gate.outputs import junit_of, markdown_of, text_of
    from fourscore_analysis.gate.planning import plan_of
    from fourscore_analysis.gate.rates import kept_rates
    from fourscore_analysis.gate.result import gate_of
    from fourscore_analysis.gate.rules import RULES
    from fourscore_analysis.gate.sides import of_comparison, of_inputs

    inputs = (options.base, options.candidate, options.comparison)
    prepare_outputs(options, "json", "markdown", "junit", "html", inputs=inputs)
    if options.measured:
        compared = of_comparison(options.measured.parents[2], options.measured, options.allow_different)
    elif options.comparison:
        if options.base:
            raise InputError("expected BASE and CAND, or --comparison FILE, not both")
        compared = of_comparison(options.archive, options.comparison, options.allow_different)
    else:
        if not options.candidate:
            raise InputError("expected BASE and CAND, or --comparison FILE")
        compared = of_inputs(options.archive, options.base, options.candidate, options.allow_different)
    rules = replace(RULES, effect=options.detect or RULES.effect)
    if options.plan:
        write_output(options.json or STANDARD_OUTPUT, json.dumps(plan_of(compared, rules), indent=1) + "\n")
        return 0
    gate = gate_of(compared, rules)
    gate.strict, gate.require_detectable = options.strict, options.require_detectable
    machines = compared.candidate.hashes("machine")
    gate.certified = kept_rates(options.archive, machines[0]) if machines else None
    if options.markdown:
        write_output(options.markdown, markdown_of(gate, options.markdown.parent))
    if options.junit:
        write_output(options.junit, junit_of(gate))
    if options.html:
        from fourscore_analysis.page.comparison import comparison_page

        write_output(options.html, comparison_page(gate, options.html.parent))
    if options.json:
        write_output(options.json, json.dumps(gate.as_json(), indent=1) + "\n")
    if options.json != STANDARD_OUTPUT:
        print(text_of(gate))
    tell_unreadable("compare", compared.unreadable)
    return gate.exit_code


COMMAND = Command(
    name="compare",
    help="whether a candidate is slower than its base, with the phase that is to blame",
    examples=EXAMPLES,
    order=30,
    add=_add,
    run=_run,
)
