"""The Operating Point panel."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "operating_point",
    "Operating point",
    BOTTOM,
    function(__name__, "panel.make"),
    order=13,
    help="Poses, speeds, forces and parameters at which the machine stays as asked: choose what is fixed, free or a "
    "target, then Solve (Ctrl+Enter). Where no point is, the note says what nothing balances and what to free. Save "
    "keeps the rows in the document under a name; the box shows those that are kept there.",
    tab_with="output",
    also=("trim", "equilibrium", "steady state"),
    seldom=True,
)
