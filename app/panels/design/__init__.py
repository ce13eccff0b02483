"""The Design panel."""

from app.panels.panel import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "design",
    "Design",
    BOTTOM,
    function(__name__, "panel.make"),
    order=14,
    help="Parameters of the machine by which a formula is least, an output is a function of a coordinate (function "
    "generation) or a body goes through poses (motion generation); or a linkage of which a point follows a curve that "
    "is drawn, typed or read. Points and poses are typed, pasted from a spreadsheet or read from a CSV file, in the "
    "units of the heads. Search shows the best so far; Stop keeps it; Try this shows a result, Apply takes it as one "
    "step that can be undone.",
    tab_with="output",
    also=("optimise", "path synthesis", "fit a curve", "function generation", "motion generation"),
    seldom=True,
)
