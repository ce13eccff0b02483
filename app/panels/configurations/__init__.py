"""The Configurations panel."""

from app.panels import RIGHT, Panel
from core.later import lazy_function

PANEL = Panel(
    "configurations",
    "Configurations",
    RIGHT,
    lazy_function(__name__, "panel.create_panel"),
    order=20,
    help=(
        "Lists all joint positions with the tool, or the selected frame, where it is now, by name: values between the "
        "joint limits as bars, what is beyond a limit in red, the distance to go. Pointing at a row, or at a "
        "transparent copy in the scene, emphasises it; a double click takes it. The six numbers are the pose of the "
        "frame: type another, or move it by steps with + and −. The list follows the machine."
    ),
    tab_with="properties",
    also=("inverse kinematics", "elbow up", "branches", "solutions", "jog", "teach"),
)
