"""What makes a site of the tree's documents: which pages there are, their order, and the sources that they link to.

A page has the path of its file, so that each link of a document is right as it stands. A source that a document links to
becomes a page that shows it. docs/README.md says the order: its headings are sections, its questions titles.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/contract"), str(ROOT / "docs/site")]
import api  # noqa: E402
from links import EXTERNAL, anchor, markdown_files, targets  # noqa: E402

SHOWN_AS_THEY_ARE = {".svg", ".png", ".html"}
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".f90": "fortran", ".py": "python", ".toml": "toml", ".json": "json", ".yml": "yaml"}
LINK = re.compile(r"\[([^\]]*)\]\(([^)#]+)[^)]*\)")


class SourcePage(File):
    """A page that shows a file: at the file's own path, where links look for it."""

    def __init__(self, path: str, *words, **options) -> None:
        super().__init__(path, *words, dest_uri=f"{path}/index.html", **options)

    def is_documentation_page(self) -> bool:
        return True


def source_page(config: MkDocsConfig, name: str) -> File:
    text = (ROOT / name).read_text(encoding="utf-8")
    content = f"---\nsearch:\n  exclude: true\n---\n# {Path(name).name}\n\n`{name}`\n\n~~~~~~ {LANGUAGES.get(Path(name).suffix, 'text')}\n{text}~~~~~~\n"
    return SourcePage.generated(config, name, content=content, inclusion=InclusionLevel.NOT_IN_NAV)


def linked_files(documents: list[str]) -> set[str]:
    """Files of the tree, other than documents, to which a document links."""
    found = set()
    for document in documents:
        for _, target in targets((ROOT / document).read_text(encoding="utf-8")):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(document), unquote(target).partition("#")[0]))
            if not EXTERNAL.match(target) and not name.endswith(".md") and (ROOT / name).is_file():
                found.add(name)
    return found


def sections() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Heading, and title and page of each of its links. A question is the title of the first page that answers it."""
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        heading, _, body = section.partition("\n")
        pages = []
        for line in body.splitlines():
            question = re.match(r"\| (.*?) \| ", line)
            for number, (title, target) in enumerate(LINK.findall(line)):
                if not EXTERNAL.match(target):
                    words = question[1] if question and number == 0 else title
                    pages.append({words.replace("`", ""): posixpath.normpath(f"docs/{target}")})
        yield heading, pages


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.mdx_configs["toc"]["slugify"] = lambda text, _: anchor(text, {})
    config.nav = [{"All questions": "docs/README.md"}]
    config.nav += [{heading: pages} for heading, pages in sections()]
    config.nav.append({"Installed headers": [{page.title: page.path} for page in api.pages(ROOT)]})
    if os.environ.get("FOURSCORE_SITE_VERSION"):
        config.extra["version"] = {"provider": "mike"}  # the theme then reads ../versions.json
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    documents = [path.relative_to(ROOT).as_posix() for path in markdown_files(ROOT)]
    named = {page for _, pages in sections() for one in pages for page in one.values()} | {"docs/README.md"}
    for name in documents:
        inclusion = InclusionLevel.INCLUDED if name in named else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name), inclusion=inclusion))
    for name in sorted(linked_files(documents)):
        if Path(name).suffix in SHOWN_AS_THEY_ARE:
            files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
        else:
            files.append(source_page(config, name))
    for page in api.pages(ROOT):
        content = f"---\nsearch:\n  boost: 0.2\n---\n{page.text}"  # after the documents
        files.append(File.generated(config, page.path, content=content))
    return files
