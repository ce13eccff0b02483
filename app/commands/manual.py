"""Commands of the Help menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command, Run
from app.tools import TOOLS
from app.tours import TOURS

if TYPE_CHECKING:
    from app.workbench import Workbench


def _tour_starter(name: str) -> Run:
    return lambda bench: bench.dialogs.start_tour(name)


def toggle_hands(bench: Workbench) -> None:
    """Switch the animated demonstrations of tools on or off; switching them on shows every demonstration again."""
    settings = bench.settings
    settings.shows_hands = not settings.shows_hands
    for tool in TOOLS:
        settings.remember(f"hands/{tool}", False)


COMMANDS = (
    Command(
        "help.palette",
        "Command palette…",
        lambda w: w.dialogs.open_palette(),
        "Help",
        "Ctrl+Shift+P",
        "palette",
        section="find",
        toolbar="help",
        help="Find any command, function or element by typing some letters of its name.",
        also=("search", "find a command"),
    ),
    Command(
        "help.help",
        "Help",
        lambda w: w.dialogs.open_help(),
        "Help",
        "F1",
        "help",
        section="find",
        help="Explain the item under the pointer: a button, a panel, a function, a field; search for anything else.",
        also=("manual", "documentation"),
    ),
    Command(
        "help.keyboard",
        "Keyboard and mouse",
        lambda w: w.dialogs.open_keyboard_map(),
        "Help",
        "Ctrl+/",
        "keyboard",
        section="find",
        help="All keys and mouse gestures on one page.",
        also=("shortcut", "shortcuts", "hotkey", "keys", "pan", "zoom", "orbit the view"),
    ),
    *(
        Command(
            f"help.tour_{tour.id}",
            tour.title,
            _tour_starter(tour.id),
            "Help/Tours",
            "",
            "play",
            section="find",
            help=f"{tour.about} Each step waits until you have done it; you work in an ordinary document.",
            also=("tour", "tutorial", "lesson"),
        )
        for tour in TOURS.values()
    ),
    Command(
        "help.hands",
        "Show how tools are used",
        toggle_hands,
        "Help",
        "",
        "pull",
        section="find",
        checked=lambda w: w.settings.shows_hands,
        help="An animated hand shows for two seconds how a tool is used when you first choose it. Switching "
        "this on again repeats every demonstration.",
    ),
    Command(
        "help.messages",
        "Messages",
        lambda w: w.panels.show_panel("log"),
        "Help",
        "",
        "info",
        section="about",
        help="The log: all messages of this session with their times.",
    ),
    Command(
        "help.licences",
        "Licences",
        lambda w: w.dialogs.open_licences(),
        "Help",
        "",
        "info",
        section="about",
        help="The licence of the program and of the libraries it uses.",
        also=("license", "open source"),
    ),
    Command(
        "help.about",
        "About Kinetostat",
        lambda w: w.dialogs.open_about(),
        "Help",
        "",
        "kinetostat",
        section="about",
        help="Version and system.",
    ),
)
