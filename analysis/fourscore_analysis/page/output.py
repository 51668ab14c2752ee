"""Where a page, its plots and its tables may be written."""

from __future__ import annotations

import os
from pathlib import Path

from fourscore_analysis.records.files import prepare_file, refuse_records
from fourscore_analysis.records.values import InputError


def prepare_output(page: Path, plots_folder: Path, archive: Path) -> None:
    """Makes the folder of plots. Raises InputError where page and plots cannot be written, before anything long is
    done."""
    prepare_file(page, archive)
    prepare_folder(plots_folder, archive, "plots")


def prepare_folder(folder: Path, archive: Path, what: str) -> None:
    """Makes it. Raises InputError where nothing can be written into it."""
    try:
        refuse_records(folder, archive)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {what} to '{folder}': {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {what} to '{folder}': not writable")
