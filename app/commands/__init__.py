"""Commands of the program, each declared once; the table is collected from the `COMMANDS` of the modules in this
package."""

from __future__ import annotations

from functools import cache

from app.commands.command import Command

__all__ = ["Command", "command_table"]


@cache
def command_table() -> dict[str, Command]:
    """Return all commands by id, in the order of the menus."""
    from app.commands import (
        derivation,
        edit,
        elements,
        files,
        manual,
        motions,
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
        motions,
        playback,
        panels,
        manual,
    )
    return {command.id: command for module in modules for command in module.COMMANDS}
