"""The panel of catalogue functions and their options."""

from app.panels import LEFT, Panel
from core.later import lazy_function

PANEL = Panel(
    "functions",
    "Functions",
    LEFT,
    lazy_function(__name__, "panel.create_panel"),
    order=1,
    help=(
        "All functions that can be computed or derived. Choose one, set its options below the list, "
        "press Run (Enter). Functions with a Live box can be computed again whenever the pose or a "
        "parameter changes. Results appear in Output and in the scene."
    ),
)
