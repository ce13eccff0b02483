"""The State panel."""

from app.panels import RIGHT, Panel
from core.later import lazy_function

PANEL = Panel(
    "state",
    "State",
    RIGHT,
    lazy_function(__name__, "panel.create_panel"),
    order=21,
    help=(
        "Shows the state of the selected body, frame or joint: position, orientation, velocity and acceleration, and "
        "the torque and force that act there; of a joint also its coordinates and joint forces; of a force, a sensor, "
        "a driver or a constraint its values. The numbers follow while the machine is dragged, in a run and in its "
        "playback. A machine that is not in a run is held by its joints. Vectors have the axes of the world or of the "
        "element; Ctrl+C copies the selected rows, or all, with all digits."
    ),
    tab_with="properties",
    also=(
        "velocity",
        "acceleration",
        "reaction",
        "rotation matrix",
        "quaternion",
        "Euler angles",
        "read-out",
        "values",
    ),
    seldom=True,
)
