"""The Design panel."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "design",
    "Design",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=14,
    help=(
        "Finds parameters of the machine that minimise a formula, make an output a given function of a "
        "coordinate (function generation) or guide a body through poses (motion generation); or a "
        "linkage with a point that follows a curve you draw, type or read from a file. Points and poses "
        "are typed, pasted from a spreadsheet or read from a CSV file, in the units of the column "
        "titles. Search shows the best result so far; Stop keeps it; Try this shows a result, Apply "
        "changes the machine in one step that can be undone."
    ),
    tab_with="output",
    also=("optimise", "path synthesis", "fit a curve", "function generation", "motion generation"),
    seldom=True,
)
