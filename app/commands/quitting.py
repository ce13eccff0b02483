"""The command that ends the program, always the last entry of its menu."""

from app.commands.command import Command

COMMANDS = (
    Command(
        "file.quit",
        "Quit",
        lambda w: w.leave(),
        "File",
        "Ctrl+Q",
        "quit",
        section="quit",
        help="Close the program.",
        also=("exit", "close the window", "leave"),
    ),
)
