"""Makes those pages of a site that are not current: a page rests on the campaigns that have launches on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fourscore_analysis.points.machine_cards import machine_cards
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.records.workers import available_cores, pool_of
from fourscore_analysis.site import campaign_data, pages
from fourscore_analysis.site.addresses import campaign_address, canonical, digest_of
from fourscore_analysis.site.campaign_data import CampaignData
from fourscore_analysis.site.contents import Row, compared, newest_first, rows_of, series_of
from fourscore_analysis.site.folder import SiteFolder
from fourscore_analysis.site.overview import subjects_of
from fourscore_analysis.site.pages import About

KINDS = {"machines": "machine", "problems": "problem", "methods": "method"}
RANKED_COLUMNS = ("method", "time", "× fastest", "GFLOP/s", "launches", "verdict")
COLUMNS = {
    "machines": RANKED_COLUMNS,
    "problems": RANKED_COLUMNS,
    "methods": ("ranks", "machine", "build", "time", "GFLOP/s", "launches", "verdict"),
}
HEADINGS = {
    "machines": ("problem", "ranks", "contract", "build"),
    "problems": ("ranks", "machine", "contract", "build"),
    "methods": ("problem", "contract"),
}  # rows that share these stand together
CLASSES = dict.fromkeys(("problem", "method", "machine", "ranks", "contract", "verdict"), "text") | {
    "time": "number",
    "× fastest": "number",
    "GFLOP/s": "number minor",  # a phone has no room for it
    "launches": "number minor",
    "build": "text minor",
}
SERIAL_BELOW = 60  # pages; starting processes costs more than making so few
MOST_SERIES = 12  # on a machine's page
MOST_ENTRIES = 12  # a card on the front page
MOST_WARNED = 3
RANKED = (
    "Fastest first among what may be compared: one problem under one contract at one place, on one machine with one "
    "build. A method is called the fastest where its launches show every other one to be slower."
)
UNRANKED = "This page ranks nothing: see the pages of the problems."


@dataclass
class Entry:
    """Something that overviews list."""

    address: str
    title: str
    launches: int
    newest: str
    campaigns: list[str]


Files = dict[str, Callable[[], bytes]]  # how each is made, by name


class SiteWriter:
    """`loaded` has the data of campaigns that were read already; the others are read when a page needs them."""

    def __init__(self, site: SiteFolder, loaded: dict[str, CampaignData], parquet: bool) -> None:
        self.site, self.loaded, self.parquet = site, loaded, parquet
        self.kept: set[str] = set()
        self.pages = 0
        self._launches: dict[str, dict[str, list[Launch]]] = {}  # by campaign, then by page

    def write(self) -> int:
        """Stages what is not current; returns how many files that are."""
        made = self._make({pages.STYLE: pages.style}, "style")
        made += self._subjects()
        made += self._history()
        for kind in KINDS:
            of_kind = [entry for entry in self.entries.values() if entry.address.startswith(f"{kind}/")]
            made += self._list(kind, _most_first(of_kind))
        made += self._list("campaigns", self._campaign_entries)
        return made + self._front()

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Pages of machines, problems and methods by address."""
        found: dict[str, Entry] = {}
        for name, known in sorted(self.site.campaigns.items()):
            for address, (title, launches) in known.about["subjects"].items():
                entry = found.setdefault(address, Entry(address, title, 0, "", []))
                entry.launches += launches
                entry.newest = max(entry.newest, known.about["newest"])
                entry.campaigns.append(name)
        return dict(sorted(found.items()))

    @cached_property
    def _campaign_entries(self) -> list[Entry]:
        found = [
            Entry(campaign_address(name), name, known.about["records"], known.about["newest"], [name])
            for name, known in self.site.campaigns.items()
        ]
        return sorted(found, key=lambda one: (one.newest, one.title), reverse=True)

    def _made_from(self, what: str, campaigns: Iterable[str] = (), **more: Any) -> str:
        inputs = [[name, self.site.campaigns[name].sha256] for name in campaigns]
        return digest_of(canonical([pages.program_digest(), self.parquet, self.site.licence, what, inputs, more]))

    def _make(self, files: Files, what: str, campaigns: Iterable[str] = (), **more: Any) -> int:
        self.kept |= files.keys()
        made_from = self._made_from(what, campaigns, **more)
        due = self.site.due(files, made_from)
        for name in due:
            self.site.stage(name, files[name](), made_from)
        return len(due)

    def _about(self, campaigns: Sequence[str]) -> About:
        abouts = [self.site.campaigns[name].about for name in campaigns]
        firsts = [one["first"] for one in abouts if one["first"]]
        revisions = tuple(sorted({revision for one in abouts for revision in one["revisions"]}))
        last = max(one["newest"] for one in abouts)
        return About(self.site.licence, len(campaigns), min(firsts, default=""), last, revisions)

    def _of(self, campaigns: Iterable[str], address: str) -> list[Launch]:
        """Launches that stand on a page."""
        return [one for name in campaigns for one in self._by_page(name).get(address, ())]

    def _data(self, name: str) -> CampaignData:
        if name not in self.loaded:
            self.loaded[name] = campaign_data.parse(self.site.content(f"{campaign_address(name)}.json") or b"")
        return self.loaded[name]

    def _by_page(self, name: str) -> dict[str, list[Launch]]:
        if name not in self._launches:
            found: dict[str, list[Launch]] = defaultdict(list)
            for launch in self._data(name).launches:
                if launch.status == "ok":
                    for subject in subjects_of(launch):
                        found[subject.address].append(launch)
            self._launches[name] = found
        return self._launches[name]

    def _subjects(self) -> int:
        """Pages of machines, problems and methods, and their data. Where many are due, all cores make them."""
        due: dict[str, list[str]] = {}
        for address, entry in self.entries.items():
            files = self._files(address)
            self.kept |= files.keys()
            if names := self.site.due(files, self._made_from(address, entry.campaigns)):
                due[address] = names
        self.pages += len(self.entries)
        workers = available_cores()
        if workers < 2 or len(due) < SERIAL_BELOW:
            return sum(self._make(self._files(address), address, self.entries[address].campaigns) for address in due)
        for name in {name for address in due for name in self.entries[address].campaigns}:
            self._by_page(name)  # before processes begin, which then share it
        largest_first = sorted(due, key=lambda address: -self.entries[address].launches)
        with pool_of(workers, _receive, (self,)) as pool:
            for address, contents in pool.map(_contents_of, [(one, due[one]) for one in largest_first], chunksize=4):
                made_from = self._made_from(address, self.entries[address].campaigns)
                for name, content in contents.items():
                    self.site.stage(name, content, made_from)
        return sum(map(len, due.values()))

    def contents_of(self, address: str, names: Iterable[str]) -> dict[str, bytes]:
        """Files of a page by name."""
        files = self._files(address)
        return {name: files[name]() for name in names}

    def _files(self, address: str) -> Files:
        """The page of a machine, a problem or a method, and its data."""
        kind, entry = address.partition("/")[0], self.entries[address]
        found: list[Row] = []

        def rows() -> list[Row]:
            if not found:
                found.extend(rows_of(newest_first(compared(self._of(entry.campaigns, address)))))
                if kind == "methods":
                    for row in found:
                        row.rank = row.ratio = None
                        row.verdict = ""
            return found

        def as_json() -> list[dict[str, Any]]:
            return [row.as_json() for row in rows()]

        files: Files = {
            f"{address}.html": lambda: self._page(kind, address, entry, rows()),
            f"{address}.json": lambda: pages.json_of(
                {"schema": "fourscore.published-page", "schema_version": 1, "title": entry.title, "rows": as_json()}
            ),
        }
        if self.parquet:
            files[f"{address}.parquet"] = lambda: pages.parquet_of(as_json())
        return files

    def _page(self, kind: str, address: str, entry: Entry, rows: Sequence[Row]) -> bytes:
        launches = self._of(entry.campaigns, address)
        [cards] = [machine_cards(launches)] if kind == "machines" else [[]]
        series = series_of(launches)[:MOST_SERIES] if kind == "machines" else []
        return pages.render(
            "site_points.html.j2",
            rows,
            title=entry.title,
            up="../",
            data=address.partition("/")[2],
            parquet=self.parquet,
            about=self._about(entry.campaigns),
            summary=f"{_counted(len(rows), 'point')} of {_counted(len(launches), 'launch')}.",
            card=self._card_lines(entry, cards[0]) if cards else [],
            warnings=_warnings(cards, rows),
            series=series,
            columns=COLUMNS[kind],
            heading=HEADINGS[kind],
            classes=CLASSES,
            how=UNRANKED if kind == "methods" else RANKED,
        )

    def _card_lines(self, entry: Entry, card: Any) -> list[tuple[str, str]]:
        reached = [text for name in entry.campaigns for text in self._data(name).reached.get(card.digest, ())]
        ranks = ", ".join(map(str, card.ranks))
        lines = [
            ("processor", card.processor or "unknown"),
            ("cores of a node", str(card.cores or "unknown")),
            ("caches", card.caches or "unknown"),
            ("memory of a node", card.memory or "unknown"),
            ("devices", ", ".join(card.devices) or "none"),
            ("network", ", ".join(card.network) or "unknown"),
            ("nodes, the most", str(card.nodes)),
            ("ranks", ranks),
            ("MPI", ", ".join(card.mpis) or "unknown"),
            ("libraries", ", ".join(card.libraries) or "unknown"),
            ("compilers", ", ".join(card.compilers) or "unknown"),
            ("revisions", ", ".join(card.revisions) or "unknown"),
            ("identity", card.digest),
        ]
        return lines + [("reached alone", text) for text in dict.fromkeys(reached)]

    def _history(self) -> int:
        names = sorted(self.site.campaigns)
        found: list[Any] = []

        def series() -> list[Any]:
            if not found:
                launches = [one for name in names for one in self._data(name).launches if one.status == "ok"]
                found.append(series_of(launches))
            return found[0]

        files = {
            "history.html": lambda: pages.render(
                "site_history.html.j2",
                series(),
                title="Over builds",
                up="",
                data="history",
                parquet=self.parquet,
                about=self._about(names),
                summary=f"{len(series())} series of points that one machine measured with several builds.",
            ),
            "history.json": lambda: pages.json_of(
                {
                    "schema": "fourscore.published-history",
                    "schema_version": 1,
                    "series": [one.as_json() for one in series()],
                }
            ),
        }
        if self.parquet:
            files["history.parquet"] = lambda: pages.parquet_of([one.as_json() for one in series()])
        self.pages += 1
        return self._make(files, "history", names)

    def _list(self, kind: str, entries: Sequence[Entry]) -> int:
        """All of a kind, ENTRIES_A_PAGE a page."""
        size = pages.ENTRIES_A_PAGE
        parts = [entries[start : start + size] for start in range(0, len(entries), size)] or [[]]
        names = [f"{kind}.html" if not number else f"{kind}-{number + 1}.html" for number in range(len(parts))]
        made = 0
        for name, part in zip(names, parts, strict=True):
            said = [_listed(one) for one in part]
            content = [one.__dict__ for one in said]
            files = {name: lambda name=name, said=said: self._list_page(kind, name, names, said, len(entries))}
            self.pages += 1
            made += self._make(files, name, (), entries=content, names=names, about=vars(self._about_all))
        return made

    @cached_property
    def _about_all(self) -> About:
        return self._about(sorted(self.site.campaigns))

    def _list_page(self, kind: str, name: str, names: list[str], said: Sequence[Any], count: int) -> bytes:
        return pages.render(
            "site_list.html.j2",
            said,
            title=kind.capitalize(),
            up="",
            data="site",
            parquet=None,
            about=self._about_all,
            summary=f"{count} {kind}." if count != 1 else f"1 {kind[:-1]}.",
            pages=names,
            here=name,
        )

    def _front(self) -> int:
        of_kind = {
            kind: _most_first([one for one in self.entries.values() if one.address.startswith(f"{kind}/")])
            for kind in KINDS
        }
        sections = [
            {
                "title": title,
                "entries": [vars(_listed(one)) for one in found[:MOST_ENTRIES]],
                "more": len(found) > MOST_ENTRIES,
                "all": f"{kind}.html",
                "count": len(found),
            }
            for kind, title, found in (
                ("campaigns", "Newest campaigns", self._campaign_entries),
                ("machines", "Machines", of_kind["machines"]),
                ("problems", "Problems", of_kind["problems"]),
                ("methods", "Methods", of_kind["methods"]),
            )
        ]
        records = sum(known.about["records"] for known in self.site.campaigns.values())
        unreadable = [tuple(one) for known in self.site.campaigns.values() for one in known.about["unreadable"]]
        named = "; ".join(f"{file}: {reason}" for file, reason in unreadable[:MOST_WARNED])
        warnings = [f"{_counted(len(unreadable), 'file')} could not be used: {named}"] if unreadable else []
        counts = [_counted(len(of_kind[kind]), word) for kind, word in KINDS.items()]
        summary = (
            f"{_counted(records, 'record')} of {_counted(len(self.site.campaigns), 'campaign')}: {', '.join(counts)}."
        )
        values = {"sections": sections, "warnings": warnings, "summary": summary}
        self.pages += 1
        files = {
            "index.html": lambda: pages.render(
                "site_front.html.j2",
                title="Parallel FFTs, measured",
                up="",
                data="site",
                parquet=None,
                about=self._about_all,
                **values,
            )
        }
        return self._make(files, "front", (), **values, about=vars(self._about_all))


_writer: SiteWriter  # in a process that makes pages


def _receive(writer: SiteWriter) -> None:
    global _writer
    _writer = writer


def _contents_of(page: tuple[str, list[str]]) -> tuple[str, dict[str, bytes]]:
    return page[0], _writer.contents_of(*page)


@dataclass
class Listed:
    href: str
    title: str
    said: str


def _listed(entry: Entry) -> Listed:
    day = entry.newest[:10] or "no date"
    if entry.address.startswith("data/"):
        return Listed(f"{entry.address}.json", entry.title, f"{_counted(entry.launches, 'record')}, {day}")
    return Listed(f"{entry.address}.html", entry.title, f"{_counted(entry.launches, 'launch')}, last {day}")


def _most_first(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda one: (-one.launches, one.title, one.address))


def _counted(count: int, word: str) -> str:
    """1 launch, 2 launches"""
    return f"{count} {word}" if count == 1 else f"{count} {word}{'es' if word.endswith('ch') else 's'}"


def _warnings(cards: Sequence[Any], rows: Sequence[Row]) -> list[str]:
    if cards and cards[0].simulated:
        return ["This machine is simulated: its times are of no real machine, and are compared with none."]
    if cards and cards[0].emulated:
        return ["Something stood in for this machine's hardware: its times say nothing about it."]
    if apart := sorted({row.apart for row in rows if row.apart}):
        return [f"Some rows are marked ({'; '.join(apart)}): they are not ranked with measured ones."]
    return []
