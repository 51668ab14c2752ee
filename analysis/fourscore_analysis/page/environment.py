"""Pages are made of templates: those of this folder, and of folders that hold one feature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from fourscore_analysis.records.files import regular_content

PACKAGE = Path(__file__).resolve().parents[1]
VENDOR = PACKAGE / "page" / "vendor"
_OF_JSON = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


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


def page_json(value: Any) -> Markup:
    """`value` as JSON within a script element: no text of a record can end the element."""
    return Markup(json.dumps(value, separators=(",", ":")).translate(_OF_JSON))


def vendored(name: str) -> Markup:
    """A file of others' work, as it is."""
    return Markup(regular_content(VENDOR / name).decode("utf-8"))
