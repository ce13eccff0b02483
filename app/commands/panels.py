"""Commands for the window and its panels: full screen, layout, and opening each function of the catalogue or of
Robotica in the Functions panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command, Run
from core.functions import FUNCTIONS
from core.robotica.commands import COMMANDS as CALLS

if TYPE_CHECKING:
    from app.workbench import Workbench


def _show_configurations(bench: Workbench) -> None:
    bench.panels.show_panel("configurations")


WINDOW_COMMANDS = (
    Command(
        "view.full_screen",
        "Full screen",
        lambda w: w.set_full_screen(not w.is_full_screen),
        "View",
        "F11",
        "",
        checked=lambda w: w.is_full_screen,
        section="window",
        help="Fill the whole screen.",
    ),
    Command(
        "view.reset_layout",
        "Reset panels",
        lambda w: w.panels.restore_initial_layout(),
        "View/Panels",
        "",
        "reset",
        section="reset",
        help="Restore the initial layout of all panels.",
    ),
    Command(
        "tool.configurations",
        "Configurations",
        _show_configurations,
        "Tools",
        "B",
        "branch",
        section="configurations",
        help="All positions of the arm with its tool, or the selected frame, where it is now.",
        context=("frames",),
        also=("inverse kinematics", "branches", "elbow up", "jog"),
    ),
)


def _function_opener(function: str) -> Run:
    return lambda bench: bench.panels.open_function(function)


CATALOGUE_COMMANDS = tuple(
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
ROBOTICA_COMMANDS = tuple(
    Command(
        f"robotica.{name}",
        f"{name}[]",
        _function_opener(f"robotica.{name}"),
        "Functions/Robotica",
        "",
        "console",
        help=f"{command.help}\n\n{command.help_text}",
        section="Robotica",
    )
    for name, command in CALLS.items()
)
COMMANDS = (*WINDOW_COMMANDS, *CATALOGUE_COMMANDS, *ROBOTICA_COMMANDS)
