"""The Findings panel."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "findings",
    "Findings",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=9,
    help=(
        "Errors and warnings about the model, updated while you edit. Elements of the row under the "
        "pointer are highlighted in the scene, a click selects the first one; a button applies the "
        "remedy where that can be done automatically."
    ),
    tab_with="output",
)
