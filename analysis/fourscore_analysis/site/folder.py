"""The folder of a site. `site.json` in it says what each file was made from, so that only what changed is made anew.
All new files are written beside the old ones first, then renamed, and site.json comes last: where writing fails, as on
a full disk, the site is as it was; where a run is killed while it renames, the next run mends what it left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourscore_analysis.records.files import refuse_records, regular_content, write_whole
from fourscore_analysis.records.values import (
    InputError,
    RecordError,
    each,
    entries,
    parse_json,
    read,
    table_of,
    text_of,
)
from fourscore_analysis.site.addresses import digest_of

MANIFEST, STAGING = "site.json", ".staging"
SCHEMA, SCHEMA_VERSION = "fourscore.site", 1


@dataclass
class File:
    """A file of the site."""

    made_from: str  # digest of all that it was made from
    sha256: str


@dataclass
class Known:
    """A campaign of the site."""

    made_from: list[str]  # digests of the folders of records that its data was read from
    sha256: str  # over its data
    about: dict[str, Any]  # what overviews say of it


@dataclass
class SiteFolder:
    path: Path
    licence: str = ""
    program: str = ""  # the digest of the one that said what `campaigns` are about
    files: dict[str, File] = field(default_factory=dict)
    campaigns: dict[str, Known] = field(default_factory=dict)
    changed: bool = False
    _staged: dict[str, File] = field(default_factory=dict)

    @property
    def staged(self) -> set[str]:
        return set(self._staged)

    @staticmethod
    def make_ready(path: Path) -> None:
        """Makes the folder where there is none. Raises InputError where it is somebody else's, or cannot be a site."""
        cannot = f"cannot publish to '{path}'"
        try:
            refuse_records(path / MANIFEST)
            if path.is_dir() and not (path / MANIFEST).is_file() and any(path.iterdir()):
                raise InputError(
                    f"{cannot}: it is not empty, and has no {MANIFEST} of fourscore; "
                    "expected a new or empty folder, or a site"
                )
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{cannot}: {error.strerror or error}") from None

    @classmethod
    def at(cls, path: Path) -> SiteFolder:
        """The site in a folder that is ready. Raises InputError where its site.json is none."""
        site = cls(path)
        if (path / MANIFEST).is_file():
            try:
                site._read()
            except RecordError as error:
                raise InputError(
                    f"cannot publish to '{path}': {MANIFEST} there is none of fourscore: {error}"
                ) from None
        else:
            site._write_manifest()  # before all else: a run that is killed leaves a folder that is known as a site
        if (path / STAGING).exists():
            site.drop_staged()  # a killed run left it
            site.changed = True
        return site

    def _read(self) -> None:
        data = table_of(parse_json(regular_content(self.path / MANIFEST)))
        if data.get("schema") != SCHEMA:
            raise RecordError(f'"schema" is not "{SCHEMA}"')
        if data.get("schema_version") != SCHEMA_VERSION:
            raise RecordError(f"schema_version is {data.get('schema_version')}, expected {SCHEMA_VERSION}")
        self.licence = read(data, "licence", text_of, "")
        self.program = read(data, "program", text_of, "")
        for name, one in read(data, "files", entries(table_of)).items():
            self.files[name] = File(read(one, "made_from", text_of), read(one, "sha256", text_of))
        for name, one in read(data, "campaigns", table_of).items():
            known = table_of(one)
            made_from = list(read(known, "made_from", each(text_of)))
            self.campaigns[name] = Known(made_from, read(known, "sha256", text_of), read(known, "about", table_of))

    def content(self, name: str) -> bytes | None:
        """What a file of the site holds, None where it is not there or was changed by another hand."""
        try:
            content = regular_content(self.path / name)
        except RecordError:
            return None
        return content if name in self.files and digest_of(content) == self.files[name].sha256 else None

    def is_current(self, name: str, made_from: str) -> bool:
        return name in self.files and self.files[name].made_from == made_from and self.content(name) is not None

    def drop_staged(self) -> None:
        """After a failure: on a full disk others may need the room."""
        shutil.rmtree(self.path / STAGING, ignore_errors=True)

    def remove_if_empty(self, keep_folder: bool) -> None:
        """After a failure: where nothing was ever published, no site is left that looks like one."""
        if [one.name for one in self.path.iterdir()] == [MANIFEST]:
            (self.path / MANIFEST).unlink()
            if not keep_folder:
                self.path.rmdir()

    def stage(self, name: str, content: bytes, made_from: str, synced: bool = False) -> None:
        """Raises OSError where it cannot be written. To sync thousands of pages takes longer than to make them; one
        that a crash of the machine took is made again, by its digest."""
        staged = self.path / STAGING / name
        staged.parent.mkdir(parents=True, exist_ok=True)
        write_whole(staged, content, synced=synced)
        self._staged[name] = File(made_from, digest_of(content))

    def due(self, names: Iterable[str], made_from: str) -> list[str]:
        """The names of files that are not current."""
        return [name for name in names if not self.is_current(name, made_from)]

    def commit(self, kept: set[str]) -> list[str]:
        """Puts what is staged in its place, and removes files of the site that are not `kept`. Returns the names of
        what was removed. Raises OSError."""
        removed = sorted(name for name in self.files if name not in kept)
        for name, file in self._staged.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.path / STAGING / name).replace(target)
            self.files[name] = file
        for name in removed:
            (self.path / name).unlink(missing_ok=True)
            del self.files[name]
        if self._staged or removed or self.changed:
            self._write_manifest()
            self.drop_staged()
        return removed

    def _write_manifest(self) -> None:
        data = {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "licence": self.licence,
            "program": self.program,
            "campaigns": {name: vars(one) for name, one in sorted(self.campaigns.items())},
            "files": {name: vars(one) for name, one in sorted(self.files.items())},
        }
        write_whole(self.path / MANIFEST, json.dumps(data, separators=(",", ":")) + "\n")
