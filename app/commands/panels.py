"""Commands of the View menu that concern the window and its panels."""

from app.commands.command import Command

COMMANDS = (
    Command(
        "view.full_screen",
        "Full screen",
        lambda w: w.fill_screen(not w.full_screen),
        "View",
        "F11",
        "",
        checked=lambda w: w.full_screen,
        section="window",
        help="Fill the whole screen.",
    ),
    Command(
        "view.reset_layout",
        "Reset panels",
        lambda w: w.panels.reset(),
        "View/Panels",
        "",
        "reset",
        section="reset",
        help="Restore the initial layout of all panels.",
    ),
)
