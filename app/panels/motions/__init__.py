"""The Motions panel."""

from app.panels import BOTTOM, Panel
from core.later import lazy_function

PANEL = Panel(
    "motions",
    "Motions",
    BOTTOM,
    lazy_function(__name__, "panel.create_panel"),
    order=16,
    help=(
        "Plans motions through stored poses and targets. K stores the present pose; New leads a motion through all of "
        "them; Play plans it within the limits of joints and tool and plays it. The track shows the points of the "
        "motion over time. A click goes to a point; dragging it changes the duration of its segment or, past another "
        "point, the order; Shift copies it; a double click renames it; the right button has path, law, duration and "
        "more. Below it are position, speed, acceleration, jerk and force of every joint as shares of their limits; "
        "what is beyond a limit is in a red band."
    ),
    tab_with="output",
    also=("trajectory", "keyframes", "waypoints", "teach", "pick and place", "program", "store pose"),
)
