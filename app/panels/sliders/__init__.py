"""The Sliders panel: joints and parameters."""

from app.panels import RIGHT, Panel
from core.later import function

PANEL = Panel(
    "sliders",
    "Sliders",
    RIGHT,
    function(__name__, "panel.make"),
    order=5,
    help=(
        "Sliders for every joint coordinate and every parameter. Dependent quantities follow while you "
        "drag, and loops stay closed. The boxes above choose the display units of the whole window."
    ),
    also=("jog", "teach pendant", "move joints"),
)
