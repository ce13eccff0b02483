"""One command per catalogue function: it opens the function in the panel, with its options."""

from __future__ import annotations

from app.commands.command import Command, Run
from core.functions import FUNCTIONS


def _choose(function: str) -> Run:
    return lambda window: window.choose_function(function)


COMMANDS = tuple(
    Command(
        f"function.{function.id}",
        function.title,
        _choose(function.id),
        f"Functions/{function.group}",
        "",
        "function",
        help=function.help,
        section=function.group,
    )
    for function in FUNCTIONS.values()
)
