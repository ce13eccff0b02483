"""The Properties panel for the selected element."""

from app.panels import RIGHT, Panel
from core.later import lazy_function

PANEL = Panel(
    "properties",
    "Properties",
    RIGHT,
    lazy_function(__name__, "panel.create_panel"),
    order=4,
    help=(
        "The fields of the selected element, or of the whole model if nothing is selected. Numbers may "
        "have units and formulas: 30 deg, 50 mm, 2*l1 + 0.05. Enter or leaving the field applies the "
        "value; Ctrl+Z undoes it."
    ),
)
