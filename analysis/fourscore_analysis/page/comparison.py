"""The page of a comparison: what was shown, every series in a table, and the pairs of those that are not as before."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from fourscore_analysis import __version__
from fourscore_analysis.gate.documents import link_to
from fourscore_analysis.gate.outputs import COLUMNS, NUMBERS, PHASE_COLUMNS, phase_rows, row_of, shown_in_detail
from fourscore_analysis.gate.result import GREEN, NOT_DECIDED, RED, STATES, Gate
from fourscore_analysis.gate.scatter import named_pairs
from fourscore_analysis.gate.sentences import blame_sentence, exact_sentence, headline, notes, sentence, share_text
from fourscore_analysis.gate.series import BASE, Timed
from fourscore_analysis.gate.verdict import IMPROVEMENT, REGRESSION, WRONG, Verdict
from fourscore_analysis.page.environment import environment
from fourscore_analysis.page.pair_plot import pair_plot
from fourscore_analysis.plots.shared.colours import GREEN as GREEN_COLOUR
from fourscore_analysis.plots.shared.colours import GREY, ORANGE, VERMILLION
from fourscore_analysis.records.values import printable
from fourscore_analysis.tables.row import Texts

MOST_DETAILS = 100  # series whose launches are shown
MOST_EXACT = 500  # changed numbers that are listed
STATE_COLOURS = {GREEN: GREEN_COLOUR, RED: VERMILLION, NOT_DECIDED: ORANGE}
VERDICT_COLOURS = {WRONG: VERMILLION, REGRESSION: VERMILLION, IMPROVEMENT: GREEN_COLOUR}


def comparison_page(gate: Gate, folder: Path) -> str:
    """For a file in `folder`, from which its links to records lead."""
    shown = shown_in_detail(gate)
    quiet = [one for one in gate.verdicts if one.change and not any(one is other for other in shown)]
    anchors = {id(one): f"s{number}" for number, one in enumerate([*shown, *quiet][:MOST_DETAILS])}
    colours = {id(one): ORANGE for one in gate.not_decided}
    colours |= {id(one): VERDICT_COLOURS[one.word] for one in gate.verdicts if one.word in VERDICT_COLOURS}
    rows = [(anchors.get(id(one), ""), colours.get(id(one), GREY), row_of(gate, one)) for one in gate.verdicts]
    details = [_detail(gate, one, anchors[id(one)], folder) for one in [*shown, *quiet][:MOST_DETAILS]]
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            name=gate.compared.name,
            state=STATES[gate.state],
            colour=STATE_COLOURS.get(gate.state, GREY),
            headline=printable(headline(gate)),
            base=gate.compared.base.label,
            candidate=gate.compared.candidate.label,
            notes=notes(gate),
            columns=COLUMNS,
            first_number=len(COLUMNS) - NUMBERS,
            rows=rows,
            detailed=details[: len(shown)],
            others=details[len(shown) :],
            phase_columns=PHASE_COLUMNS,
            exact=[exact_sentence(one) for one in gate.changed[:MOST_EXACT]],
            exact_left_out=max(0, len(gate.changed) - MOST_EXACT),
            exact_count=len(gate.exact),
            unreadable=gate.compared.unreadable,
            effect=share_text(gate.rules.effect),
            error=share_text(gate.rules.error),
            margin=share_text(gate.rules.margin),
            version=__version__,
        )
    )


def _detail(gate: Gate, one: Verdict, anchor: str, folder: Path) -> Texts:
    """A series with its launches, and the pairs whose records are worth a look, with their addresses."""
    sides = gate.compared.base, gate.compared.candidate

    def link(side: str, launch: Timed) -> str:
        return link_to(sides[side != BASE].path_of(launch.run), folder)

    records = [
        Texts(name=name, said=pair.text(), base=link(BASE, pair.base), candidate=link("", pair.candidate))
        for name, pair in named_pairs(one)
    ]
    blamed = blame_sentence(one)
    said = sentence(one, gate.rules).removeprefix(f"{one.series.title}: ")
    return Texts(
        anchor=anchor,
        title=one.series.title,
        word=one.word,
        said=f"{said}; {blamed}" if blamed else said,
        phases=phase_rows(one),
        plot=Markup(pair_plot(one, link)),
        records=records,
    )
