"""The panel with the Python console."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "console",
    "Console",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=10,
    help=(
        "Python console for the open machine: model, mech, q and the functions of kinetostat are "
        "available. Enter runs, Tab completes, Up and Down recall earlier inputs."
    ),
    tab_with="output",
    typing=True,
    also=("macro", "journal", "code", "Python", "script"),
)
