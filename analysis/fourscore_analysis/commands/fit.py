"""fourscore fit: the papers' models of what an archive measured, checked on points that they had not seen."""

from __future__ import annotations

import argparse
import json
import sys

from fourscore_analysis.commands.base import OK, SAYS_NO, Command
from fourscore_analysis.commands.options import (
    add_archive,
    add_model_options,
    file_of,
    prepare_outputs,
    tell_unreadable,
)
from fourscore_analysis.records.values import shown

EXAMPLES = """Examples:
  fourscore fit
  fourscore fit strong --variant pencil --json
  fourscore fit sizes --model loggp --form compute=sum
  fourscore fit --given memory_constant=6.3
  fourscore fit --suggest more.toml && fourscore run more.toml && fourscore fit
Each method is fitted apart, by every model that is of it. The one that errs least on sizes that it has not
seen comes first. Parameters that these points do not tell are refused, with the reason.
"""


def _parameter(text: str) -> str:
    from fourscore_analysis.models.parameters import PARAMETERS

    if text not in PARAMETERS:
        raise argparse.ArgumentTypeError(f"no parameter {shown(text)}; expected one of {', '.join(PARAMETERS)}")
    return text


def _add(fit: argparse.ArgumentParser) -> None:
    add_archive(fit)
    fit.add_argument(
        "campaigns",
        nargs="*",
        metavar="CAMPAIGN",
        help="campaigns, or suites for the newest of each (default: all of the archive)",
    )
    add_model_options(fit)
    fit.add_argument("--variant", default="", help="one variant (default: all that were measured)")
    fit.add_argument(
        "--fit-anyway",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME",
        help="a parameter that a component program measured: fit it all the same",
    )
    fit.add_argument("--machine-hash", default="", metavar="HASH", help="of one machine, or how it begins")
    fit.add_argument("--suggest", type=file_of, metavar="FILE", help="write the points that would tell more as a suite")
    fit.add_argument(
        "--platform",
        type=file_of,
        metavar="FILE",
        help="write the machine as a platform to simulate (docs/simulation.md)",
    )
    fit.add_argument("--json", action="store_true", help="print the fits as JSON")


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.records.archive import campaign_names, read_campaigns, select_campaigns
    from fourscore_analysis.records.files import write_whole
    from fourscore_analysis.tables.fits import fits_json, fits_text
    from fourscore_analysis.tables.platforms import MEMORY, NEEDED, platform_text
    from fourscore_analysis.tables.suggested import suite_text
    from fourscore_analysis.views.fits import Choice, fits

    prepare_outputs(options, "suggest", "platform")
    names = (
        select_campaigns(options.archive, options.campaigns) if options.campaigns else campaign_names(options.archive)
    )
    choice = Choice(
        model=options.model,
        variant=options.variant,
        forms=tuple(options.form),
        given=tuple(options.given),
        fit_anyway=tuple(options.fit_anyway),
        machine_hash=options.machine_hash,
    )
    campaigns = read_campaigns(options.archive, names)
    tell_unreadable("fit", (file for campaign in campaigns for file in campaign.unreadable))
    found = fits(campaigns, choice)
    print(json.dumps(fits_json(found), indent=1) if options.json else fits_text(found))
    if options.suggest:
        text = suite_text(found)
        if text:
            write_whole(options.suggest, text)
        else:
            print("fourscore fit: nothing to suggest: every parameter is determined", file=sys.stderr)
    if options.platform:
        text = platform_text(found)
        if not text:
            print(
                f"fourscore fit: no fit knows {', '.join(NEEDED)} and {' or '.join(MEMORY)}: no platform was written",
                file=sys.stderr,
            )
            return SAYS_NO
        write_whole(options.platform, text)
    return OK if any(one.tried for one in found) else SAYS_NO


COMMAND = Command(
    name="fit",
    help="fit the papers' models to what was measured, and check them on points that they had not seen",
    examples=EXAMPLES,
    order=30,
    add=_add,
    run=_run,
)
