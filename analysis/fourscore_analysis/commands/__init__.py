"""One module a command. A module is found by being here; it defines COMMAND."""

from __future__ import annotations

import importlib
import pkgutil

from fourscore_analysis.commands.base import Command


def all_commands() -> dict[str, Command]:
    """Every command by its name, in the order of the help. Raises RuntimeError when two have the same name."""
    found: dict[str, Command] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name in ("base", "options"):
            continue
        command = importlib.import_module(f"{__name__}.{module.name}").COMMAND
        if command.name in found:
            raise RuntimeError(f"two commands are called '{command.name}'")
        found[command.name] = command
    return dict(sorted(found.items(), key=lambda item: item[1].order))
