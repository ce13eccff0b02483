"""The Identification panel, which estimates parameters from measured data."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "identification",
    "Identification",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=18,
    help=(
        "Estimates parameters of the machine from measured data. Open a trace or choose a run, check the"
        " signals assigned to its columns, then identify masses and friction from forces, or fit a run "
        "to the motion; each estimate has a 95 % confidence interval, and rows held back for validation "
        "show how well the model predicts. Apply is one step that can be undone. An exciting motion "
        "makes the parameters identifiable; Save writes it for the robot."
    ),
    tab_with="output",
    also=("system identification", "parameter estimation", "excitation", "calibration", "trace"),
    seldom=True,
)
