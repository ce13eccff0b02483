"""The panel with the Python console."""

from app.panels import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "console",
    "Console",
    BOTTOM,
    function(__name__, "panel.make"),
    order=10,
    help=(
        "Python console for the open machine: model, mech, q and the functions of kinetostat are "
        "available. Enter runs, Tab completes, Up and Down recall earlier inputs."
    ),
    tab_with="output",
    typing=True,
    also=("macro", "journal", "code", "Python", "script"),
)
