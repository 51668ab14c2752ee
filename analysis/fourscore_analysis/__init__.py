"""Reads a fourscore archive: records in, tables, plots and one page out. Launches nothing."""

__version__ = "0.2.0"
