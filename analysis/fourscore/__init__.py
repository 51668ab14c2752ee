"""A fourscore archive in Python: its samples as a table of pandas or xarray, and the tables and figures of a report.

`open` gives an Archive; docs/python.md has examples."""

from fourscore_analysis import __version__
from fourscore_analysis.records.archive import InputError

from fourscore.archive import Archive
from fourscore.archive import open_archive as open

__all__ = ["Archive", "InputError", "__version__", "open"]
