"""Addresses of a site's pages. They follow from what a page is about, never from its position or from other pages, so
they stay while archives are added. Whatever a record says, an address stays within its folder."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from fourscore_analysis.points.points import method_labels
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.cells import Cell, Method
from fourscore_analysis.records.values import RecordError, plain_name

LONGEST_WORDS = 60  # characters of the readable part
DIGEST_DIGITS = 12
_HASH = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, order=True)
class Problem:
    """What is transformed, wherever and by whomever. Contracts of one problem differ still, and are ranked apart."""

    shape: tuple[int, ...]
    precision: str
    kind: str
    direction: str
    operator: str
    fields: int
    instances: int

    @property
    def title(self) -> str:
        """128³, double, c2c, forward"""
        words = [shape_text(self.shape), self.precision, self.kind, self.direction, self.operator]
        words += [f"{self.fields} fields"] if self.fields > 1 else []
        words += [f"{self.instances} instances"] if self.instances > 1 else []
        return ", ".join(word for word in words if word)


def problem_of(cell: Cell) -> Problem:
    of = cell.contract
    return Problem(cell.shape, of.precision, of.kind, of.direction, of.operator, of.fields, of.instances)


@cache
def method_title(method: Method) -> str:
    """A method's label by itself: other methods of a site do not change it."""
    return method_labels([method])[method]


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest_of(content: str | bytes) -> str:
    return hashlib.sha256(
        content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    ).hexdigest()


def slug(words: str, key: Any) -> str:
    """The words in lower case, with one "-" for all that is neither a letter of ASCII nor a digit, and the digest of
    the whole key. Two keys share an address only where their digests do."""
    readable = re.sub(r"[^a-z0-9]+", "-", words.lower())[:LONGEST_WORDS].strip("-")
    return "-".join(part for part in (readable, digest_of(canonical(key))[:DIGEST_DIGITS]) if part)


def machine_address(machine_hash: str) -> str:
    """By the digest of the machine's identity alone: a name may be spelt in another way later."""
    return f"machines/{machine_hash if _HASH.fullmatch(machine_hash) else slug('', machine_hash)}"


@cache
def problem_address(problem: Problem) -> str:
    shape = "x".join(map(str, problem.shape))
    words = f"{shape} {problem.kind} {problem.precision} {problem.direction} {problem.operator}"
    return f"problems/{slug(words, asdict(problem))}"


@cache
def method_address(method: Method) -> str:
    words = f"{method.variant} {'' if method.exchange == 'none' else method.exchange} {method.local_fft}"
    return f"methods/{slug(words, asdict(method))}"


def campaign_address(name: str) -> str:
    """The address of a campaign's data: its name, where that is plain."""
    try:
        return f"data/campaigns/{plain_name(name)}"
    except RecordError:
        return f"data/campaigns/{slug(name, name)}"
