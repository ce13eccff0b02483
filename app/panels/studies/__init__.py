"""The Studies panel."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "studies",
    "Studies",
    BOTTOM,
    function(__name__, "panel.make"),
    order=15,
    help="Many runs or poses of the machine whose numbers vary: check what varies and say how (normal(2, 0.05), "
    "0.3:0.5:21), what is recorded of each row (max(abs(joint.tau))), then Start. Rows that fail are rows with their "
    "reason. Pictures and rows grow meanwhile; a double click on a point or a row makes it the machine.",
    tab_with="output",
    also=("Monte Carlo", "parameter study", "sweep", "tolerance", "sensitivity", "design of experiments"),
    seldom=True,
)
