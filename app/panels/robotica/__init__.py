"""The panel with Robotica's command line."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "robotica",
    "Robotica",
    BOTTOM,
    function(__name__, "panel.make"),
    order=11,
    help="Calls as Robotica's manual writes them: FKin[], ELDynamics[], RElp[…]. Enter runs, Tab completes, Up and "
    "Down recall, F1 explains the call in the line.",
    tab_with="output",
    typing=True,
)
