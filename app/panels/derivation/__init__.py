"""The panel that replays the derivation of the equations of motion."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "derivation",
    "Derivation",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=8,
    help=(
        "Derivation of the equations of motion, step by step: each step with its formula, its numbers at"
        " this pose, and its arrows in the scene. ← and → change the step."
    ),
    tab_with="output",
)
