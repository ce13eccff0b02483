"""The Log panel."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "log",
    "Log",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=12,
    help=(
        "All messages of this session with their times. A click selects the element that a message "
        "names, a double click goes to its field; filter messages by severity or by words, copy them, or"
        " clear the log."
    ),
    tab_with="output",
)
