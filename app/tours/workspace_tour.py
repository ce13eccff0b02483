"""Tour: the workspace of an arm and its manipulability."""

from __future__ import annotations

from app.tours.tour import MOVED, Step, StepProgress, Tour


def _has_arm(progress: StepProgress) -> bool:
    return sum(joint.info.nv > 0 for joint in progress.current_model.joints) > 1


def _is_link_longer(progress: StepProgress) -> bool:
    return progress.current_model is not progress.model.expanded and "workspace" in progress.asked


TOUR = Tour(
    "workspace_map",
    "Workspace maps: what an arm can reach",
    "Where the tool can go, and how stiff, strong or dexterous the arm is there.",
    (
        Step(
            "Open an arm",
            "Open the example Sprung arm (File ▸ Open example), or any machine with two joints and limits.",
            _has_arm,
            "Maps can show the stiffness of its springs and the strength of its motors.",
        ),
        Step(
            "Compute a map",
            "The example already has a map. For another machine, choose Workspace map among the functions on the left, "
            "under Map of what is measured, and press Run.",
            lambda seen: "workspace" in seen.asked,
            "Bright colours mean stiff. The map gets finer while it is computed; Stop keeps the present map.",
        ),
        Step(
            "The pose for a point",
            "Click on a coloured point: the arm moves to the pose that reaches it. Ctrl+Z undoes that.",
            lambda seen: seen.moved > MOVED,
            "If several poses reach a point, the one with the best value is used.",
        ),
        Step(
            "Change a length",
            "Move a parameter slider on the right. The colour scale then says that the map is outdated: press Update.",
            _is_link_longer,
            "On the card of the map, Compare with previous map shows what was gained and lost by the change.",
        ),
        Step(
            "A section through the workspace",
            "Open the example UR5, choose Workspace map with Slice across y, and run it. Drag the arrow or a ring of "
            "its handle: the plane moves with it.",
            lambda seen: "workspace" in seen.asked,
            "Save… on the card writes the map to a file for other programs.",
        ),
    ),
)
