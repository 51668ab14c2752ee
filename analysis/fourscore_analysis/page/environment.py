"""Pages are made of templates: those of this folder, and of folders that hold one feature."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

PACKAGE = Path(__file__).resolve().parents[1]


def environment() -> Environment:
    """All text of records passes Jinja's escaping."""
    folders = [PACKAGE / "page" / "templates", *sorted({path.parent for path in PACKAGE.glob("*/*.j2")})]
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
