"""Archives of one point or more, measured over many revisions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from synthetic.common import digest, store
from synthetic.transforms import Maker

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def revision_of(build: int) -> str:
    """The revision of the build of this number, as git names commits."""
    return hashlib.sha1(b"revision %d" % build).hexdigest()


class HistoryMaker:
    """Writes launches of builds; each build is one campaign, a day after the one before."""

    def __init__(self, archive: Path, suite: str = "nightly") -> None:
        self.archive, self.suite = archive, suite

    def launch(self, point: dict[str, Any], build: int, number: int, seconds: float, **changes: Any) -> Path:
        """One launch that took `seconds`. `changes`: revision, dirty, cpu, day, status, flags."""
        maker = Maker(
            f"{self.suite}-{build:08x}",
            self.suite,
            seed=1000 * build + number,
            revision=changes.get("revision", revision_of(build)),
            isolate=False,
            started=START + timedelta(days=changes.get("day", build), seconds=number),
        )
        times = [[seconds * (1 + 0.001 * i) for i in range(3)] for _ in range(point["ranks"])]
        record = maker.with_samples(point, number, times, {"fft": times})
        record["flags"] = changes.get("flags", [])
        if "cpu" in changes:
            record["provenance"] = maker.provenance(point, changes["cpu"])
        if changes.get("dirty"):
            code = record["provenance"]["identity"]["code"]
            code["dirty_sha256"] = digest(build, 64)
            record["provenance"]["code_hash"] = digest(code)
            record["provenance"]["identity_hash"] = digest(record["provenance"]["identity"])
        return store(self.archive, record)

    def builds(
        self, point: dict[str, Any], count: int, seconds_of: Callable[[int, int], float], launches: int = 3, **more: Any
    ) -> None:
        """`launches` of each of `count` builds; `seconds_of` takes build and launch. `more`: as launch(), a value or a
        function of the build."""
        for build in range(count):
            changes: Mapping[str, Any] = {key: one(build) if callable(one) else one for key, one in more.items()}
            for number in range(launches):
                self.launch(point, build, number, seconds_of(build, number), **changes)
