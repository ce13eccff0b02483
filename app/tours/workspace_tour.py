"""Tour: the workspace of an arm and its manipulability."""

from __future__ import annotations

from app.tours.tour import MOVED, Seen, Step, Tour


def _has_arm(seen: Seen) -> bool:
    return sum(joint.info.nv > 0 for joint in seen.now.joints) > 1


def _is_longer(seen: Seen) -> bool:
    return seen.now is not seen.model.expanded and "workspace" in seen.asked


TOUR = Tour(
    "workspace_map",
    "What an arm reaches: workspace maps",
    "Where a tool can be, and how stiff, strong or nimble the arm is there.",
    (
        Step(
            "An arm",
            "Open the example Sprung arm (File ▸ Open example), or any machine with two joints and limits.",
            _has_arm,
            "Its springs and motors are what maps measure.",
        ),
        Step(
            "A map",
            "The example comes with one. Of another machine choose Workspace map among the functions at the left, "
            "under Map of what is measured, and press Run.",
            lambda seen: "workspace" in seen.asked,
            "Bright is stiff. It gets finer while it is computed; Stop keeps what there is.",
        ),
        Step(
            "The pose behind a place",
            "Click on a coloured place: the arm takes the pose that reaches it. Ctrl+Z takes it back.",
            lambda seen: seen.moved > MOVED,
            "Of several poses the one with the best value counts.",
        ),
        Step(
            "Another length",
            "Move a slider of a parameter at the right. The scale of colours says that the map is old: press Update.",
            _is_longer,
            "Compare with previous map, on its card, shows what the change gained and lost.",
        ),
        Step(
            "A section through space",
            "Open the example UR5, choose Workspace map with Slice across y, and run it. Drag the arrow or a ring of "
            "its handle: the plane goes with it.",
            lambda seen: "workspace" in seen.asked,
            "Save… on the card writes a map for other programs.",
        ),
    ),
)
