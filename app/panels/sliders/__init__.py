"""The Sliders panel: joints and parameters."""

from app.panels.panel import RIGHT, Panel
from core.later import function

PANEL = Panel(
    "sliders",
    "Sliders",
    RIGHT,
    function(__name__, "panel.make"),
    order=5,
    help="Every joint coordinate and every parameter. What depends on them follows while you drag, loops stay "
    "closed. The boxes above choose the units in which the whole window speaks.",
    also=("jog", "teach pendant", "move joints"),
)
