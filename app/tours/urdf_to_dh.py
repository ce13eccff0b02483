"""Tour: a URDF file and its table of Denavit–Hartenberg parameters."""

from __future__ import annotations

from app.tours.tour import MOVED, Step, StepProgress, Tour


def _has_urdf(progress: StepProgress) -> bool:
    source = progress.bench.files.source
    return source is not None and source.suffix.lower() in (".urdf", ".xacro")


TOUR = Tour(
    "urdf_to_dh",
    "Open a URDF, find its DH table",
    "A robot file with meshes, its inverse kinematics and its table.",
    (
        Step(
            "Open a URDF file",
            "Drop a .urdf or .xacro file on the window, or open the example Kestrel (File ▸ Open example).",
            _has_urdf,
            "Anything that could not be read as written is listed under Findings.",
        ),
        Step(
            "Move it by hand",
            "Press W and pull the tool: the joints follow.",
            lambda seen: seen.moved > MOVED,
            "Esc leaves the Move tool.",
        ),
        Step(
            "Find its DH table",
            "Run Find DH table among the functions at the left.",
            lambda seen: "fit_dh_table" in seen.asked,
            "The residual says how well the table describes the robot; what no table can describe is listed.",
        ),
        Step(
            "Let the tool reach a point",
            "Run Inverse kinematics with a point near the tool. Every result states its residual and its limits.",
            lambda seen: "inverse_kinematics" in seen.asked,
            "Double-click a solution to move the robot to its pose.",
        ),
    ),
)
