"""fourscore publish: a static site of any number of archives."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from fourscore_analysis.commands.base import OK, Command
from fourscore_analysis.commands.options import default_archive, path_of, tell_unreadable
from fourscore_analysis.points.units import counted
from fourscore_analysis.records.values import printable, shown

EXAMPLES = """Examples:
  fourscore publish site                                     the archive of this folder
  fourscore publish site --archive here --archive cluster    two archives
  fourscore publish site --archive new --licence CC-BY-4.0   adds to a site: what was published before stays
A site works from a folder (site/index.html) and on any web server. Addresses of pages are permanent.
"""
LONGEST_LICENCE = 100


def _add(publish: argparse.ArgumentParser) -> None:
    publish.add_argument("folder", type=path_of, metavar="DIR", help="the site: a new or empty folder, or a site")
    publish.add_argument(
        "--archive",
        type=path_of,
        action="append",
        metavar="DIR",
        help="folder of an archive; may be repeated (default: as of `fourscore report`; "
        f"here {default_archive()})".replace("%", "%%"),
    )
    publish.add_argument(
        "--licence",
        type=_licence,
        metavar="NAME",
        help="of the data, as each page says it: an SPDX identifier (default: as before, at first not stated)",
    )
    publish.add_argument("--json", action="store_true", help="print what was done as JSON")


def _licence(text: str) -> str:
    if not text.isprintable() or len(text) > LONGEST_LICENCE:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is no name of a licence: at most {LONGEST_LICENCE} printable characters, as CC-BY-4.0"
        )
    return text


def _run(options: argparse.Namespace) -> int:
    from fourscore_analysis.site.publish import publish

    done = publish(options.folder, options.archive or [default_archive()], options.licence)
    tell_unreadable("publish", done.unreadable)
    if options.json:
        print(json.dumps(asdict(done) | {"folder": str(done.folder)}))
        return OK
    print(
        f"{counted(done.pages, 'page')} of {counted(done.records, 'record')} in {counted(done.campaigns, 'campaign')}; "
        f"{counted(done.read, 'record')} read, {counted(done.made, 'file')} written, {done.removed} removed"
    )
    if not done.parquet:
        print("data is JSON alone: the Python has no pyarrow for Parquet (pip install 'fourscore[parquet]')")
    print(printable(f"site: {done.folder / 'index.html'}"))
    return OK


COMMAND = Command(
    name="publish",
    help="a static site of any number of archives: machines, problems, methods, history",
    examples=EXAMPLES,
    order=45,
    add=_add,
    run=_run,
)
