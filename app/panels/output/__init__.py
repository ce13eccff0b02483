"""The Output panel, which shows results."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "output",
    "Output",
    BOTTOM,
    function(__name__, "panel.make"),
    order=6,
    help="Results of functions, newest last, as numbers or as mathematics. Each names its machine and pose: "
    "with Live it follows pose, parameters and edits, without it says what has become another since, and Update asks "
    "again. Each can be copied as text, LaTeX, code or table; a click on a term marks what it belongs to.",
)
