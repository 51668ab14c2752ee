"""Every `--dry-run` of every command: it writes nothing, and starts nothing but short questions."""

from __future__ import annotations

import hashlib
import pathlib
import re
from collections.abc import Callable

import pytest
from fourscore_command import HERE, git, preloaded, repository_of

# A program, and what its command has where it is a question; nothing: it answers questions alone.
QUESTIONS = {
    "fake_bench": {"--list", "--check-points", "--identity"},
    "fake_mpirun": {"--version"},
    "git": {"rev-parse"},
    "sbatch": {"--version"},
    "squeue": set(),
    "sacct": set(),
}


def commands_with_dry_run(fourscore, words: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """As their --help says it."""
    text = fourscore(*words, "--help").stdout
    found = {words} if re.search(r"^  (-\S+, *)?--dry-run\b", text, re.MULTILINE) else set()
    listed = text.partition("Subcommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^ {2,8}([a-z]+) ", listed, re.MULTILINE):
        found |= commands_with_dry_run(fourscore, (*words, name))
    return found


def everything_below(folder: pathlib.Path) -> dict[str, object]:
    """Names, times and contents."""
    found: dict[str, object] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_relative_to(folder / "slurm"):  # what the stand-in of Slurm notes down
            continue
        status = file.lstat()
        content = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        found[str(file.relative_to(folder))] = (status.st_mtime_ns, status.st_ino, content)
    return found


def is_question(words: list[str]) -> bool:
    names = [pathlib.Path(word).name for word in words]
    if names[0].startswith("python") and "-c" in words:  # the analysis, which starts nothing
        return words[words.index("-c") + 1].startswith("import ")
    if names[0] in ("env", "python3"):  # which start the stand-ins
        names = [name for name in names if not name.startswith(("-", "env", "python3"))]
    wanted = QUESTIONS.get(names[0])
    return wanted is not None and (not wanted or bool(wanted & set(words)))


class Watched:
    """The command on a pretended cluster, with a campaign `c` that has records, a failure, and jobs that live; and a
    repository of two revisions, the first of which is built."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = cluster.folder
        home = self.folder / "home"
        (home / "tmp").mkdir(parents=True)
        cluster.environment |= {
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "TMPDIR": str(home / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{cluster.environment['PATH']}:/usr/bin:/bin",
        }
        self.suite = cluster.nodes_suite("[1, 2]", variants='"good", "aborts"')
        cluster.submit(self.suite, "--campaign", "c")
        cluster.run(cluster.pending()[0])
        projects = (f"project({name} NONE)\n" for name in "ab")
        self.repository = repository_of(self.folder / "repository", "CMakeLists.txt", *projects)
        commit = git(self.repository, "rev-parse", "HEAD~")
        built = home / "cache/fourscore/builds" / commit[:12]
        (built / "build/bin").mkdir(parents=True)
        (built / "build/bin/fft_bench").symlink_to(HERE / "fake_bench")
        (built / "built").write_text(commit)
        self.plain = self.folder / "plain.toml"
        self.plain.write_text('name = "p"\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks = 1\n')

    def dry_run(self, *words: object) -> str:
        starts = self.folder.parent / "starts"
        starts.unlink(missing_ok=True)
        before = everything_below(self.folder)
        environment = preloaded("say_starts") | {"FOURSCORE_STARTS": str(starts)}
        said = self.cluster(*words, "--dry-run", environment=environment).stdout
        assert everything_below(self.folder) == before
        started = [line.split("\t") for line in starts.read_text().splitlines()]
        assert started and [words for words in started if not is_question(words)] == []
        return said


LOCAL = ["--launcher", "local"]
BENCH = HERE / "fake_bench"
# What follows the command.
COMMANDS: dict[tuple[str, ...], Callable[[Watched], list[list[object]]]] = {
    ("run",): lambda of: [
        [of.plain, *LOCAL],
        [of.plain, *LOCAL, "--json", "--fresh", "--campaign", "c"],
        [of.plain, *LOCAL, "--against", BENCH],
    ],
    ("submit",): lambda of: [
        [of.suite],
        [of.suite, "--campaign", "c"],
        [of.suite, "--campaign", "c", "--retry", "failed", "--json"],
        [of.suite, "--campaign", "c", "--fresh", "--wait"],
    ],
    ("compare",): lambda of: [
        [BENCH, BENCH, "--suite", of.plain, *LOCAL],
        ["HEAD~", "HEAD", "--repo", of.repository, "--suite", of.plain, *LOCAL],
        ["HEAD", "HEAD", "--repo", of.repository, "--suite", of.plain, "--markdown", of.folder / "m.md"],
    ],
    ("gate", "certify"): lambda of: [["--suite", of.plain, *LOCAL]],
}


@pytest.fixture
def watched(cluster) -> Watched:
    return Watched(cluster)


def test_every_command_with_a_dry_run_is_tried_here(fourscore):
    assert commands_with_dry_run(fourscore) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_dry_run_writes_nothing_and_only_asks(watched, command):
    for words in COMMANDS[command](watched):
        said = watched.dry_run(*command, *words)
        assert "othing was written" in said or said.startswith("{")


def test_a_dry_run_of_revisions_says_which_would_be_built_and_where(watched):
    _, one_built, none_built = COMMANDS[("compare",)](watched)
    builds = watched.folder / "home/cache/fourscore/builds"
    said = watched.dry_run("compare", *one_built)
    assert re.findall(rf"^(\S+) .*would be built in {builds}/\w+$", said, re.MULTILINE) == ["HEAD"]
    assert "Suite p: 1 points, at least 6 pairs" in said
    assert watched.dry_run("compare", *none_built).count("would be built") == 2
