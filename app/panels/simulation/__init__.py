"""The Simulation panel: settings and runs."""

from app.panels import LEFT, Panel
from core.later import function

PANEL = Panel(
    "simulation",
    "Simulation",
    LEFT,
    function(__name__, "panel.make"),
    order=3,
    help=(
        "Duration, method and tolerances of a run, initial values, joint torques as formulas, and the "
        "list of runs. F5 simulates, F6 starts interactive dynamics in real time."
    ),
    tab_with="functions",
)
