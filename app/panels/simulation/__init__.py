"""The Simulation panel: settings and runs."""

from app.panels import LEFT, Panel
from core.later import lazy_function

PANEL = Panel(
    "simulation",
    "Simulation",
    LEFT,
    lazy_function(__name__, "panel.create_panel"),
    order=3,
    help=(
        "Duration, method and tolerances of a run, initial values, joint torques as formulas, and the "
        "list of runs. F5 simulates, F6 starts interactive dynamics in real time."
    ),
    tab_with="functions",
)
