"""Commands that open a function of the catalogue or of Robotica in the panel, with its options."""

from __future__ import annotations

from app.commands.command import Command, Run
from core.functions import FUNCTIONS
from core.robotica.commands import COMMANDS as CALLS


def _function_opener(function: str) -> Run:
    return lambda bench: bench.panels.choose_function(function)


CATALOGUE = tuple(
    Command(
        f"function.{function.id}",
        function.title,
        _function_opener(function.id),
        f"Functions/{function.group}",
        "",
        "function",
        help=function.help,
        section=function.group,
        also=function.also,
    )
    for function in FUNCTIONS.values()
)
ROBOTICA = tuple(
    Command(
        f"robotica.{name}",
        f"{name}[]",
        _function_opener(f"robotica.{name}"),
        "Functions/Robotica",
        "",
        "console",
        help=f"{command.help}\n\n{command.manual}",
        section="Robotica",
    )
    for name, command in CALLS.items()
)
COMMANDS = CATALOGUE + ROBOTICA
