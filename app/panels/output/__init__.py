"""The Output panel, which shows results."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "output",
    "Output",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=6,
    help=(
        "Results of functions, newest last, as numbers or as mathematics. Each names its machine and "
        "pose: with Live it follows pose, parameters and edits; without Live it says what has changed "
        "since, and Update computes it again. Each can be copied as text, LaTeX, code or table; a click "
        "on a term highlights the element it belongs to."
    ),
)
