"""The Findings panel."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "findings",
    "Findings",
    BOTTOM,
    function(__name__, "panel.make"),
    order=9,
    help="What is wrong or doubtful in the model, while you edit. Elements of the row under the pointer light up in "
    "the scene, a click selects the first; where there is a remedy that can be carried out, a button does so.",
    tab_with="output",
)
