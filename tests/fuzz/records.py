"""Archives that something happened to: records with wrong fields, flipped bits, and what is no file at all."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

from harness import Outcome, Place, Step, words_of
from options import INDEX

VALUES = (
    *words_of("""
    null true false 0 1 -1 -0.0 0.5 1e308 -1e308 1e-320 1e400 NaN Infinity 9007199254740993 2147483648 4294967296
    9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 -9223372036854775808
    -9223372036854775809 1e99999 [] {} [[]] [null] [1] ["x"] [1,"x",null] {"a":1} "" "x" "1" "nan" "ok" "none" "é"
    "=1+1" "@SUM(A1)" "</script><script>x" "../../../etc/passwd" "%s%n" "{}" 1e1000000000
    """),
    "1" * 400,
    "1" * 5000,
    '" "',
    r'"\u0000"',
    r'"\u001b[31mred"',
    r'"\ud800"',
    '"a,b\\"c\\nd"',
    '"$(touch pwned)"',
    '"' + "x" * 100000 + '"',
)
DEEP = (50, 1000, 100000)
KEYS = ("", "x", "é", "\x1b[31m", "a" * 1000, "schema", "point", "0", "-1", "name", "rank", "=x")
EXPORTS = ("csv", "jsonl", "benchmark", "chrome-trace")


def raw_value(draw: random.Random) -> str:
    if draw.random() < 0.05:
        depth = draw.choice(DEEP)
        opening, closing = draw.choice([("[", "]"), ('{"a":', "}")])
        return opening * depth + "1" + closing * draw.choice([depth, depth, 0])
    return draw.choice(VALUES)


def somewhere(draw: random.Random, record: Any) -> tuple[Any, Any]:
    """A container inside the record, and a key or index in it."""
    here = record
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return None, None
        key = draw.choice(keys)
        below = here[key]
        if not isinstance(below, dict | list) or not below or draw.random() < 0.25:
            return here, key
        here = below


def spoil(draw: random.Random, record: dict) -> str:
    """The record's text with a value, a key or an element other than it was."""
    raw: dict[str, str] = {}
    for number in range(draw.choice([1, 1, 1, 2, 4])):
        here, key = somewhere(draw, record)
        if here is None:
            continue
        kind = draw.randrange(10)
        mark = f"@@RAW{number}@@"
        if kind < 6:
            here[key] = mark
            raw[mark] = raw_value(draw)
        elif kind == 6:
            del here[key]
        elif kind == 7 and isinstance(here, dict):
            here[draw.choice(KEYS)] = here.pop(key)
        elif kind == 8:
            other, place = somewhere(draw, record)
            if other is not None:
                other[place] = json.loads(json.dumps(here[key]))
        elif isinstance(here, list):
            here += here[:1000] * draw.choice([1, 3])
        else:
            here[draw.choice(KEYS)] = mark
            raw[mark] = raw_value(draw)
    text = json.dumps(record)
    for mark, value in raw.items():
        text = text.replace(f'"{mark}"', value)
    return text


def spoil_bytes(draw: random.Random, content: bytes) -> bytes:
    kind = draw.randrange(8)
    at = draw.randrange(len(content))
    if kind < 3:
        return content[:at] + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]
    if kind == 3:
        return content[:at]
    if kind == 4:
        return content[:at] + draw.choice([b"\x00", b"\xff", b"\n", b'"', b"{", b"\xed\xa0\x80"]) + content[at:]
    if kind == 5:
        return draw.choice(
            [
                b"",
                b"\n",
                b"[]",
                b"{}",
                b"null",
                b"1",
                b'"x"',
                b"\xef\xbb\xbf" + content,
                content.decode(errors="replace").encode("utf-16"),
            ]
        )
    if kind == 6:
        return content + draw.choice([b" ", b"\n", b"\x00", b"}", content])
    return content[:at] + content[at + draw.randrange(1, 50) :]


def replace(draw: random.Random, file: Path) -> None:
    """Something that is no regular file, or one that cannot be a record, under the record's name."""
    file.unlink()
    kind = draw.randrange(9)
    if kind == 0:
        os.mkfifo(file)
    elif kind == 1:
        file.mkdir()
        if draw.random() < 0.5:
            (file / "inside.json").write_text("{}")
    elif kind == 2:
        file.symlink_to("nowhere.json")
    elif kind == 3:
        file.symlink_to(file.name)
    elif kind == 4:
        file.symlink_to("../../../../guard/record.json")
    elif kind == 5:
        with file.open("wb") as huge:  # no block of it is on the disk
            huge.truncate(draw.choice([1 << 20, 1 << 40]))
    elif kind == 6:
        file.symlink_to(draw.choice(["/dev/zero", "/dev/full", "/proc/self/mem", "/"]))
    elif kind == 7:
        file.write_bytes(b"")
        file.chmod(0)


def plant(draw: random.Random, archive: Path, records: list[Path]) -> None:
    """Files beside the records, and in the place of what the archive holds besides."""
    campaign = archive / "campaigns" / "base"
    kind = draw.randrange(9)
    if kind == 0:
        content = json.loads((campaign / "campaign.json").read_text())
        (campaign / "campaign.json").write_text(spoil(draw, content))
    elif kind == 1:
        (campaign / "campaign.json").write_bytes(spoil_bytes(draw, (campaign / "campaign.json").read_bytes()))
    elif kind == 2:
        replace(draw, campaign / "campaign.json")
    elif kind == 3:
        name = draw.choice(
            [
                b"\xff.json",
                "é.json".encode(),
                b"a\nb.json",
                b"\x1b[31m.json",
                b".json",
                b".hidden.json",
                b" .json",
                b"=x.json",
            ]
        )
        shutil.copy(records[0], os.fsencode(records[0].parent) + b"/" + name)
    elif kind == 4:
        (
            archive / "records" / os.fsdecode(draw.choice([b"\xff", b"\x1b[31m", b"a\nb", b" ", b"-x", b"x.json"]))
        ).mkdir()
    elif kind == 5:
        (archive / "records" / "other").symlink_to(draw.choice(["base", "nowhere", "other", "/", "../../../guard"]))
    elif kind == 6:
        shutil.copy(records[0], records[0].parent / ("0" * 16 + "-000.json"))
    elif kind == 7:
        index = archive / "index.sqlite"
        content = index.read_bytes() if index.exists() else b"SQLite format 3\0"
        index.unlink(missing_ok=True)
        if draw.random() < 0.3:
            index.mkdir()
        else:
            index.write_bytes(spoil_bytes(draw, content))
    else:
        shutil.rmtree(draw.choice([archive / "records", archive / "records" / "base", campaign, archive / "campaigns"]))


def damage(draw: random.Random, archive: Path) -> bool:
    """True: one record has other content than it had, and nothing else happened."""
    records = sorted((archive / "records" / "base").glob("*.json"))
    file = draw.choice(records)
    kind = draw.randrange(10)
    before = file.read_bytes()
    if kind < 5:
        file.write_bytes(spoil(draw, json.loads(before)).encode("utf-8", "surrogatepass"))
        return False
    if kind < 7:
        file.write_bytes(spoil_bytes(draw, before))
        return file.read_bytes().rstrip() != before.rstrip()
    if kind == 7:
        replace(draw, file)
    else:
        plant(draw, archive, records)
    return False


def untouched_records_are_exported(names: set[str]) -> Any:
    """Checks an export as JSON lines: it has every record whose file is as it was."""

    def must(outcome: Outcome) -> str | None:
        found = set()
        for line in outcome.out.splitlines():
            try:
                record = json.loads(line)
                found.add(f"{record['point_id']}-{record['campaign']['launch']:03}.json")
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
        missing = names - found
        return f"records that nothing happened to are not exported: {sorted(missing)}" if missing else None

    return must


def readers(draw: random.Random, place: Place, archive: Path, good: set[str], flipped: bool) -> list[Step]:
    fourscore = place.program("fourscore")
    done, says_no, or_input = frozenset({0}), frozenset({0, 1}), frozenset({0, 2})
    as_json = ["--json"] if draw.random() < 0.5 else []
    record = draw.choice(sorted((archive / "records" / "base").glob("*.json")) or [archive / "nosuch.json"])
    campaign = ["base"] if (archive / "records" / "base").is_dir() and draw.random() < 0.5 else []
    steps = [
        Step([fourscore, "status", *campaign, *as_json], done, INDEX),
        Step([fourscore, "verify", *campaign, *as_json], frozenset({1}) if flipped else says_no),
        # A folder of that name is not ours to remove.
        Step([fourscore, "reindex", *as_json], frozenset({3}) if (archive / "index.sqlite").is_dir() else done, INDEX),
        Step([fourscore, "export", "--format", "jsonl"], done, escapes=True, must=untouched_records_are_exported(good)),
        Step([fourscore, "export", "--format", draw.choice(EXPORTS)], or_input, escapes=True),
        Step(
            [fourscore, "export", "--format", draw.choice(EXPORTS), "--record", os.fsencode(record)],
            or_input,
            escapes=True,
        ),
        Step([fourscore, "run", "base.toml", "--campaign", "base", "--dry-run", *as_json], or_input),
    ]
    return draw.sample(steps, 4)


def steps(draw: random.Random, place: Place) -> list[Step]:
    archive = place.copy_archive()
    before = {file.name: file.read_bytes() for file in (archive / "records" / "base").glob("*.json")}
    flipped = damage(draw, archive)
    good = {name for name, content in before.items() if is_same(archive / "records" / "base" / name, content)}
    return readers(draw, place, archive, good, flipped)


def is_same(file: Path, content: bytes) -> bool:
    return (
        file.is_file()
        and not file.is_symlink()
        and file.stat().st_size == len(content)
        and file.read_bytes() == content
    )
