"""The Log panel."""

from app.panels import BOTTOM, Panel
from core.later import function

PANEL = Panel(
    "log",
    "Log",
    BOTTOM,
    function(__name__, "panel.make"),
    order=12,
    help=(
        "All messages of this session with their times. A click selects the element that a message "
        "names, a double click goes to its field; filter messages by severity or by words, copy them, or"
        " clear the log."
    ),
    tab_with="output",
)
