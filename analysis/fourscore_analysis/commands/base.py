"""What a command is: all that a module in this folder has to know. `options` has the types of values that several
commands take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

OK, SAYS_NO, UNUSABLE_INPUT, ENVIRONMENT_FAILED = 0, 1, 2, 3


@dataclass(frozen=True)
class Command:
    """`add` declares the options; `run` does the work and returns the exit code. A module that defines one loads what
    takes a moment, as drawing, in `run`: --help of any command imports them all."""

    name: str
    help: str  # one line
    examples: str  # lines for the end of --help
    order: int  # in the help
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
