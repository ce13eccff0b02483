"""The panel with the model tree."""

from app.panels import LEFT, Panel
from core.later import lazy_function

PANEL = Panel(
    "tree",
    "Model",
    LEFT,
    lazy_function(__name__, "panel.create_panel"),
    order=2,
    help=(
        "All elements of the machine: bodies and joints as they are connected, then parameters, "
        "materials, forces … A click selects, F2 renames, Delete removes, + adds. Elements in italics "
        "belong to a DH chain or a sub-assembly and are edited there. ▲ marks a warning; the Findings "
        "panel explains it."
    ),
    tab_with="functions",
)
