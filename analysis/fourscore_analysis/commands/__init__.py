"""One module a command. A module is found by being here; it defines COMMAND."""

from __future__ import annotations

import sys

from fourscore_analysis.commands.base import Command
from fourscore_analysis.records.papers import modules_of


def all_commands() -> dict[str, Command]:
    """Every command by its name, in the order of the help. Raises RuntimeError when two have the same name."""
    found: dict[str, Command] = {}
    for module in modules_of(sys.modules[__name__], but=("base", "options")):
        if module.COMMAND.name in found:
            raise RuntimeError(f"two commands are called '{module.COMMAND.name}'")
        found[module.COMMAND.name] = module.COMMAND
    return dict(sorted(found.items(), key=lambda item: item[1].order))
