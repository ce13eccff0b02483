"""The panel with the Python console."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "console",
    "Console",
    BOTTOM,
    function(__name__, "panel.make"),
    order=10,
    help="Python with the open machine: model, mech, q and the functions of kinetostat are there. Enter runs, Tab "
    "completes, Up and Down recall.",
    tab_with="output",
    typing=True,
    also=("macro", "journal", "code", "Python", "script"),
)
