"""Where a page and its plots may be written."""

from __future__ import annotations

import os
from pathlib import Path

from fourscore_analysis.records.files import prepare_file, refuse_records
from fourscore_analysis.records.values import InputError


def prepare_output(page: Path, plots_folder: Path, archive: Path) -> None:
    """Makes the folder of plots. Raises InputError where page and plots cannot be written, before anything long is
    done."""
    prepare_file(page, archive)
    try:
        refuse_records(plots_folder, archive)
        plots_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write plots to '{plots_folder}': {error.strerror}") from None
    if not os.access(plots_folder, os.W_OK):
        raise InputError(f"cannot write plots to '{plots_folder}': not writable")
