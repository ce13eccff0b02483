"""The Identification panel: parameters estimated from measured data."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "identification",
    "Identification",
    BOTTOM,
    function(__name__, "panel.make"),
    order=18,
    help="Parameters of the machine from what was measured on it. Open a trace or choose a run, look at what its "
    "columns are taken for, then identify masses and friction from forces, or fit a run to the motion; each estimate "
    "has a 95 % interval, and rows that were held back show how well it foretells. Apply is one step that can be "
    "undone. An exciting motion shows the parameters well; Save writes it for the robot.",
    tab_with="output",
    also=("system identification", "parameter estimation", "excitation", "calibration", "trace"),
    seldom=True,
)
