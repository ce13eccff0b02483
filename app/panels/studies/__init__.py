"""The Studies panel."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "studies",
    "Studies",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=15,
    help=(
        "Many runs or poses of the machine with varied numbers: check the quantities to vary and give "
        "their distributions (normal(2, 0.05), 0.3:0.5:21) and the quantities to record for each row "
        "(max(abs(joint.tau))), then press Start. Failed rows are listed with their reason. Pictures and"
        " rows are updated meanwhile; a double click on a point or a row applies it to the machine."
    ),
    tab_with="output",
    also=("Monte Carlo", "parameter study", "sweep", "tolerance", "sensitivity", "design of experiments"),
    seldom=True,
)
