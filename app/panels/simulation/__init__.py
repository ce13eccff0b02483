"""The Simulation panel: settings and runs."""

from app.panels.panel import LEFT, Panel
from core.later import function

PANEL = Panel(
    "simulation",
    "Simulation",
    LEFT,
    function(__name__, "panel.make"),
    order=3,
    help="Length, method and tolerances of a run, start values, joint torques as formulas, and the runs made so far. "
    "F5 simulates, F6 lets the machine live in real time.",
    tab_with="functions",
)
