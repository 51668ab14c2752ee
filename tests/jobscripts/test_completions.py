"""Completion, asked of the command itself and of each shell that is here."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from fourscore_command import BIN

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "jobscripts/completions"


def complete(fourscore, *words: str) -> list[str]:
    return fourscore("complete", *words).stdout.splitlines()


def test_every_option_of_every_command_is_offered(fourscore):
    commands = [name for name in complete(fourscore, "") if name != "help"]
    assert len(commands) > 20 and commands == sorted(commands)
    for command in commands:
        below = complete(fourscore, command, "") if command in ("machine", "counters", "foreign") else [""]
        for words in ([command, name] if name else [command] for name in below):
            text = fourscore(*words, "--help").stdout
            expected = set(re.findall(r"^  (?:-\w,? ?)?(?:\w+, )?(--[a-z][a-z-]+)", text, re.MULTILINE))
            assert expected <= set(complete(fourscore, *words, "-")), words


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ru"], ["run"]),
        (["run", "smo"], ["smoke"]),
        (["run", "papers/lee2018/table-2"], ["papers/lee2018/table-2.1"]),
        (["run", "smoke", "--machine", "cpu"], ["cpu-cluster"]),
        (["compare", "--suite", "smo"], ["smoke"]),
        (["compare", "--str"], ["--strict"]),
        (["help", "machi"], ["machine"]),
        (["machine", "sh"], ["show"]),
        (["machine", "show", "cpu-c"], ["cpu-cluster"]),
        (["export", "-o", ""], []),
        (["no-such-command", ""], []),
    ],
)
def test_words_that_fit(fourscore, words, found):
    said = complete(fourscore, *words)
    assert said == found if found else "smoke" not in said


SHELLS = {
    "bash": ["-c", "source {0}/fourscore.bash; COMP_WORDS=(fourscore run smo); COMP_CWORD=2; _fourscore; echo ${{COMPREPLY[@]}}"],
    "fish": ["--no-config", "-c", "source {0}/fourscore.fish; complete -C 'fourscore run smo'"],
    # A completion of zsh needs a terminal; this asks for the words that it would add.
    "zsh": ["-f", "-c", "compadd() {{ shift; print -- $@ }}; words=(fourscore run smo); CURRENT=3; source {0}/_fourscore"],
}


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_completes_a_suite(fourscore, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    command = [shell, *(word.format(SCRIPTS) for word in SHELLS[shell])]
    environment = fourscore.environment | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout.split() == ["smoke"], run.stderr
