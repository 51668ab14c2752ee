"""An archive, opened: what `fourscore.open` returns."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fourscore_analysis.records.archive import (
    Campaign,
    InputError,
    Unreadable,
    campaign_names,
    read_campaigns,
    readable,
    select_campaigns,
)

from fourscore.samples import MEASURED, columns_of

if TYPE_CHECKING:
    import pandas
    import xarray
    from fourscore_analysis.views.view import View
    from matplotlib.figure import Figure


def open_archive(folder: str | Path, workers: int = 1) -> Archive:
    """The archive in `folder`. Raises InputError where there is none. Records are read when they are asked for, by as
    many processes as `workers` says, which start as multiprocessing.set_start_method has it."""
    return Archive(Path(folder), workers)


class Archive:
    """`campaigns` are the names of what was measured. Wherever a campaign is asked for, the name of a suite stands for
    its newest one. Records that were read are kept: open the archive again to see newer ones."""

    def __init__(self, folder: Path, workers: int = 1) -> None:
        self.folder = folder
        self.campaigns = tuple(campaign_names(folder))
        self._workers = workers
        self._read: dict[str, Campaign] = {}

    def __repr__(self) -> str:
        return f"<fourscore archive {str(self.folder)!r}, {len(self.campaigns)} campaigns>"

    @property
    def unreadable(self) -> list[Unreadable]:
        """Files of what was read so far that could not be used, each with its reason."""
        return [file for campaign in self._read.values() for file in campaign.unreadable]

    def frame(self, campaigns: str | Sequence[str] = (), *, phases: bool = False) -> pandas.DataFrame:
        """A row for each sample of a transform, in all campaigns unless some are named. The columns are those of
        `fourscore export --format csv`; with `phases`, also the seconds of each phase. A launch without a time has one
        row. Raises ImportError without pandas, InputError where nothing can be read."""
        pandas = _needed("pandas")
        frame = pandas.DataFrame(columns_of(self._campaigns(campaigns), phases))
        return frame.astype({"repetition": "Int64"}) if len(frame) else frame

    def to_xarray(self, campaigns: str | Sequence[str] = (), *, phases: bool = False) -> xarray.Dataset:
        """The same with the dimensions `file`, a launch each, and `repetition`; times are variables, and all else is a
        coordinate of the file. Raises as `frame`, also without xarray."""
        _needed("xarray")
        frame = self.frame(campaigns, phases=phases)
        times = list(frame.columns[frame.columns.get_loc("time_s") :])
        frame["repetition"] = frame["repetition"].fillna(0).astype(int)
        samples = frame.set_index(["file", "repetition"])[times].to_xarray()
        launches = frame.drop(columns=[*MEASURED[:1], *times]).drop_duplicates("file").set_index("file").to_xarray()
        return samples.merge(launches).set_coords(list(launches.data_vars))

    def table(self, name: str, campaign: str = "", kind: str = "latex") -> str:
        """The table `name` of one campaign: times, phases, memory or messages; as "latex" (booktabs) or "csv"."""
        from fourscore_analysis.tables.exported import KINDS, TABLES, exported

        _known(name, TABLES, "table")
        _known(kind, KINDS, "kind of table")
        text = exported(self._view(campaign), name, kind)
        if not text:
            raise InputError(f"{self._one(campaign)} has nothing for the table '{name}'")
        return text

    def figure(
        self, name: str, campaign: str = "", *, page: int = 1, width: str = "4.8in", heading: str | None = None
    ) -> Figure:
        """The plot `name` of one campaign, as a report draws it: `page` of as many as it takes, `width` in in, cm or
        mm, or "column" (3.4in), `heading` in place of the usual one, or "" for none."""
        from fourscore_analysis.page.figures import heading_of, plots_of
        from fourscore_analysis.plots.shared import layout, narrow, style
        from matplotlib import rc_context

        view = self._view(campaign)
        with layout.pages_of(layout.width_of(width)), rc_context(style.RC):
            plots = {plot.name: (plot, pages) for plot, pages in plots_of(view)}
            _known(name, plots, f"plot of {view.campaign.name}")
            plot, pages = plots[name]
            if not 1 <= page <= len(pages):
                raise InputError(f"the plot '{name}' of {view.campaign.name} has no page {page}, but 1 to {len(pages)}")
            words = heading_of(view, plot, page, len(pages)) if heading is None else heading
            return narrow.fit(plot.draw(view, pages[page - 1], words))

    def _view(self, campaign: str) -> View:
        """One campaign, beside the newest of each suite, as in a report: bandwidths may come from another."""
        from fourscore_analysis.views.shelf import Shelf
        from fourscore_analysis.views.view import View

        name = self._one(campaign)
        views = [View(one, 0) for one in self._campaigns([name, *select_campaigns(self.folder, [])])]
        for view in views:
            view.shelf = Shelf(views)
        found = [view for view in views if view.campaign.name == name]
        if not found:
            readable([self._read[name]])  # says why
        return found[0]

    def _one(self, campaign: str) -> str:
        if not campaign and len(self.campaigns) > 1:
            raise InputError(f"'{self.folder}' has several campaigns; expected one of {', '.join(self.campaigns)}")
        return select_campaigns(self.folder, [campaign] if campaign else [])[0]

    def _campaigns(self, wanted: str | Sequence[str]) -> list[Campaign]:
        """The campaigns that hold anything. Raises InputError where none does; warns of files that cannot be used."""
        asked = [wanted] if isinstance(wanted, str) else list(wanted)
        names = list(dict.fromkeys(select_campaigns(self.folder, asked))) if asked else list(self.campaigns)
        new = [name for name in names if name not in self._read]
        self._read |= {one.name: one for one in read_campaigns(self.folder, new, self._workers)}
        found = readable([self._read[name] for name in names])
        if lost := [file for name in new for file in self._read[name].unreadable]:
            said = f"{lost[0].file} is not used: {lost[0].reason}"
            warnings.warn(said + (f"; nor are {len(lost) - 1} more" if lost[1:] else ""), stacklevel=3)
        return found


def _needed(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"this takes {module}: pip install 'fourscore[frame]' ({error})") from error


def _known(name: str, known: Sequence[str] | dict, what: str) -> None:
    if name not in known:
        raise InputError(f"no {what} is called '{name}'; expected one of {', '.join(known)}")
