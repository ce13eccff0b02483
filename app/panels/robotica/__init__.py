"""The panel with Robotica's command line."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "robotica",
    "Robotica",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=11,
    help=(
        "Calls in the notation of Robotica's manual: FKin[], ELDynamics[], RElp[…]. Enter runs, Tab "
        "completes, Up and Down recall earlier lines, F1 explains the call in the line."
    ),
    tab_with="output",
    typing=True,
)
