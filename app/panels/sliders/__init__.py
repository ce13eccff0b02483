"""The Sliders panel: joints and parameters."""

from app.panels import RIGHT, Panel
from core.later import lazy_function

PANEL = Panel(
    "sliders",
    "Sliders",
    RIGHT,
    lazy_function(__name__, "panel.create_panel"),
    order=5,
    help=(
        "Sliders for every joint coordinate and every parameter. Dependent quantities follow while you "
        "drag, and loops stay closed. The boxes above choose the display units of the whole window."
    ),
    also=("jog", "teach pendant", "move joints"),
)
