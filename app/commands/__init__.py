"""Commands, each declared once; their table is collected from the `COMMANDS` of the modules in this package."""

from __future__ import annotations

from functools import cache

from app.commands.command import Command

__all__ = ["Command", "table"]


@cache
def table() -> dict[str, Command]:
    """Return every command by its id, in the order of the menus."""
    from app.commands import (
        derivation,
        edit,
        elements,
        files,
        manual,
        panels,
        playback,
        scenery,
        simulation,
        tools,
        view,
    )

    modules = (
        files,
        edit,
        elements,
        view,
        scenery,
        tools,
        derivation,
        simulation,
        playback,
        panels,
        manual,
    )
    return {command.id: command for module in modules for command in module.COMMANDS}
