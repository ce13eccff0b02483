"""The Plots panel."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "plots",
    "Plots",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=7,
    help="Plots channels of runs over time or against one another. The first button opens the list of channels; drag "
    "channels into a plot. Wheel and drag move and zoom, the ruler measures, the last button exports PNG, SVG, PDF or "
    "CSV.",
    tab_with="output",
    also=("plot", "graph", "chart", "scope", "diagram over time"),
)
