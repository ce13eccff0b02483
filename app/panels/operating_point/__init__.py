"""The Operating Point panel."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "operating_point",
    "Operating point",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=13,
    help=(
        "Finds poses, speeds, forces and parameters at which the machine is in the required steady "
        "state: choose quantities that are fixed, free or targets, then Solve (Ctrl+Enter). If there is "
        "no such point, the note says what is not balanced and what to make free. Save stores the rows "
        "in the document under a name; the box lists the saved points."
    ),
    tab_with="output",
    also=("trim", "equilibrium", "steady state"),
    seldom=True,
)
