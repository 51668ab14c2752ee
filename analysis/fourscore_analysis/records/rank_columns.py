"""Per-rank values of many ranks stand in a NumPy file beside the record: put back where the record's keys are."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from fourscore_analysis.records.values import (
    DEEPEST,
    RecordError,
    each,
    name_of,
    plain_name,
    read,
    shown,
    table_of,
    text_of,
)

SUFFIX = ".ranks.npy"
MOST_AXES = 2  # axes of one rank's values: instances and repetitions


def read_rank_columns(data: dict[str, Any], content_of: Callable[[str], bytes]) -> None:
    """Puts the arrays of the file that `data` names in "rank_columns" to their keys; nothing for a record without.
    `content_of` gives the bytes of a file beside the record. Raises RecordError when that is not the file."""
    if "rank_columns" not in data:
        return
    columns = read(data, "rank_columns", table_of)
    name = read(columns, "file", _file_of)
    try:
        content = content_of(name)
        if hashlib.sha256(content).hexdigest() != read(columns, "sha256", name_of):
            raise RecordError("its content is not what the record says")
        rows = _rows(content, _ranks(data))
    except (OSError, RecordError) as error:
        raise RecordError(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    for path in read(columns, "columns", each(_path)):
        if path not in (rows.dtype.names or ()):
            raise RecordError(f"{name}: lacks the column '{path}'")
        *parents, last = path.removeprefix("/").split("/")
        place: Any = data
        for part in parents:
            place = _inner(place, part)
        table_of(place)[last.replace("~1", "/").replace("~0", "~")] = _values(rows[path])
    counters = data.get("counters")
    if isinstance(counters, dict) and "total" in counters and "readers" not in counters:  # every rank reads its own
        counters["readers"] = [{"rank": rank} for rank in range(len(rows))]


def _file_of(value: Any) -> str:
    name = text_of(value)
    if not name.endswith(SUFFIX):
        raise RecordError(f"expected a name that ends with {SUFFIX}, found {shown(value)}")
    return plain_name(name.removesuffix(SUFFIX)) + SUFFIX


def _ranks(data: dict[str, Any]) -> int | None:
    """None where the record does not say; reading it will tell."""
    ranks = read(data, "point", table_of, {}).get("ranks")
    return ranks if type(ranks) is int else None


def _rows(content: bytes, ranks: int | None) -> np.ndarray:
    """One row a rank, each field of doubles: whatever else NumPy reads there is no file of ours. Raises RecordError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a header that needs a guess is not one of ours
            rows = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # from a header that anyone may have written: NumPy evaluates it
        raise RecordError(f"no array that NumPy reads ({type(error).__name__})") from None
    if not isinstance(rows, np.ndarray) or rows.dtype.names is None or rows.ndim != 1:
        raise RecordError("no array of one row a rank with named columns")
    for name in rows.dtype.names:
        inner = rows.dtype[name]
        if inner.base != np.dtype("<f8") or len(inner.shape) > MOST_AXES:
            raise RecordError(f"column {shown(name)} is {shown(str(inner))}; expected doubles")
    if ranks is not None and len(rows) != ranks:
        raise RecordError(f"has {len(rows)} rows; expected one for each of {ranks} ranks")
    return rows


def _path(value: Any) -> str:
    path = read(table_of(value), "path", name_of)
    if not path.startswith("/") or path.count("/") > DEEPEST:
        raise RecordError(f"{shown(path)} is no place in a record")
    return path


def _inner(place: Any, part: str) -> Any:
    if isinstance(place, list):
        if not part.isdecimal() or int(part) >= len(place):
            raise RecordError(f"rank_columns: the record has no element {part}")
        return place[int(part)]
    return table_of(place).setdefault(part.replace("~1", "/").replace("~0", "~"), {})


def _values(column: np.ndarray) -> list[Any]:
    """Nested lists; NaN, which JSON has not, is None."""
    values = column.tolist()
    return _without_nan(values) if np.isnan(column).any() else values


def _without_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nan(inner) for inner in value]
    return None if value != value else value
