"""Function that maps the workspace of a frame, and performance measures over it."""

from __future__ import annotations

import math
from typing import Any

from core.errors import ModelError, near_misses
from core.functions.context import Cancelled, Context
from core.functions.diagrams import SpaceMap
from core.functions.function import Function, needs_motion
from core.functions.option_texts import quantity
from core.functions.options import Choice, FrameName, Integer, Number, OutputFile, Text
from core.functions.results import Message, Report, Result
from core.functions.subjects.actuation import LENGTH, joint_length

KIND_TITLES = {
    "reach": "Where the frame can be",
    "manipulability": "Manipulability (Yoshikawa)",
    "condition": "Condition number",
    "isotropy": "Isotropy",
    "singularity": "Distance from singularities",
    "speed": "Speed in every direction",
    "force": "Force in every direction",
    "accuracy": "Error by those of joints",
    "stiffness": "Stiffness by that of joints",
    "payload": "Payload",
    "orientations": "Orientations (dexterity)",
    "configurations": "Number of configurations",
    "formula": "A formula of the pose",
}
OF_PART = ("manipulability", "condition", "isotropy", "singularity", "accuracy", "stiffness")
AXES = ("none", "x", "y", "z", "normal")
FIRST_LOOK, FIRST_LOOK_AT_LOOPS = 10_000, 500
"""Default number of poses, for open chains and for machines with loops."""


def workspace(
    context: Context,
    frame: str,
    kind: str,
    formula: str,
    part: str,
    over: str,
    slice: str,
    normal: str,
    at: float,
    orientation: str,
    samples: int,
    seed: int,
    length: float | None,
    error: float,
    file: str,
) -> Result:
    """Map the workspace of a frame; if stopped, return the map computed so far."""
    from core.studies.workspace.joint_ranges import joint_ranges
    from core.studies.workspace.mapping import workspace as mapped

    mech = context.mech
    if not over.strip():
        try:
            p = mech.parameter_values(dict(context.p))
            joint_ranges(mech, frame, None, p, turning=kind != "reach" or bool(orientation.strip()))
        except ModelError as refusal:  # as it stands it reaches everything, or nothing: what to do is said
            return Report(title=f"Workspace of {frame}", parts=(Message(text=str(refusal), severity="hint"),))
    if kind == "formula" and not formula.strip():
        raise ModelError(
            "The formula is missing.", where="option 'formula'", remedy="Give one, such as energy.potential."
        )
    found = mapped(
        mech,
        frame,
        over=_parse_coordinates(context, over),
        samples=samples or (FIRST_LOOK_AT_LOOPS if mech.constrained else FIRST_LOOK),
        kind=formula if kind == "formula" else kind,
        part=part,  # type: ignore[arg-type]
        orientation=_orientation_angles(context, orientation),
        slice=_slice_plane(slice, normal, at),
        q=context.q,
        p=context.p,
        length=joint_length(length),
        error=error,
        seed=seed,
        progress=context.progress,
        cancelled=context.cancelled,
        shown=lambda coarse: context.show(SpaceMap.of(coarse)),
    )
    if file:
        found.save(file)
    result = SpaceMap.of(found, file)
    if not found.complete:
        context.show(result)
        raise Cancelled
    return result


def _parse_coordinates(context: Context, text: str) -> Any:
    """Parse coordinate names, optionally with bounds; None for those that move the frame."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        return None
    known = {each.name: each for each in context.mech.coordinates if each.dimension != "none"}
    found: dict[str, tuple[float, float] | None] = {}
    for part in parts:
        name, equals, bounds = (each.strip() for each in part.partition("="))
        if name not in known:
            raise ModelError(
                f"There is no independent coordinate '{name}'.",
                where="option 'over'",
                remedy=near_misses(name, known),
            )
        if not equals:
            found[name] = None
            continue
        low, colon, high = bounds.partition(":")
        if not colon:
            raise ModelError(f"'{part}' has only one bound.", where="option 'over'", remedy="Write name=low:high.")
        of = Number("over", "Bounds", dimension=known[name].dimension)
        found[name] = quantity(low, context, of), quantity(high, context, of)
    return found


def _slice_plane(slice: str, normal: str, at: float) -> Any:
    """Return the slice plane for `core.studies.workspace.mapping.workspace`."""
    if slice != "normal":
        return None if slice == "none" else (slice, at)
    try:
        x, y, z = (float(each) for each in normal.split(","))
    except ValueError:
        raise ModelError(
            f"'{normal}' is not a direction.", where="option 'normal'", remedy="Give three numbers, such as 1, 0, 1."
        ) from None
    length = math.sqrt(x * x + y * y + z * z)
    if not (math.isfinite(length) and length > 0.0):
        raise ModelError(
            "The normal vector is zero.", where="option 'normal'", remedy="Give three numbers, such as 1, 0, 1."
        )
    return (x / length, y / length, z / length), at


def _orientation_angles(context: Context, text: str) -> tuple[float, ...] | None:
    """Parse angles about the fixed axes x, y, z, rad; None for any orientation."""
    if not text.strip():
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3:
        raise ModelError(
            f"{len(parts)} angles are given, three are needed.",
            where="option 'orientation'",
            remedy="Give angles about the fixed axes x, y, z, such as 180 deg, 0, 90 deg.",
        )
    of = Number("orientation", "Orientation", dimension="angle")
    return tuple(quantity(part, context, of) for part in parts)


FUNCTIONS = (
    Function(
        "workspace",
        "Workspace map",
        "Kinematics",
        "Where a frame can be, and how well the machine does there.\n\nPoses are spread evenly over the ranges of the "
        "joints; of machines with loops over those of their actuators, on the branch of the present pose. Planar "
        "machines get their area with its exact boundary, arcs at limits and curves det J = 0; others the volume of "
        "what is reached, with its error. Values: manipulability, condition, isotropy of translation or rotation, "
        "what speed and force there is in every direction within the limits of joints, the payload, the "
        "error by errors of the joints, the stiffness by that of the joints, in how many orientations "
        "and configurations the frame gets there, or a formula of the pose. A slice lies in a plane; "
        "with an orientation the frame has it everywhere. In the scene it is a cloud with a bar of colours: a click on "
        "a point takes the pose that reaches it. It gets finer while it is computed; stopped, what there is stays. "
        "Files: HDF5, CSV, PLY, VTU.",
        workspace,
        (
            FrameName("frame", "Frame", "Body or frame that moves; empty: the tool"),
            Choice("kind", "Map of", "What is measured at each place", "reach", tuple(KIND_TITLES), KIND_TITLES),
            Text("formula", "Formula", "Of channels of the pose, as energy.potential", only=("kind", ("formula",))),
            Choice(
                "part",
                "Part",
                "Translation or rotation",
                "translation",
                ("translation", "rotation"),
                only=("kind", OF_PART),
            ),
            Text(
                "over",
                "Joints",
                "Coordinates that run: a, b=low:high …; empty: all that move the frame",
                joined=", ",
            ),
            Choice(
                "slice",
                "Slice across",
                "The axis across which a plane is laid, or any normal",
                "none",
                AXES,
                {"normal": "a normal"},
            ),
            Text("normal", "Normal", "Of the plane: 1, 0, 1", only=("slice", ("normal",))),
            Number(
                "at",
                "Slice at",
                "Where on the axis, or on the normal from the origin",
                0.0,
                "length",
                only=("slice", AXES[1:]),
            ),
            Text("orientation", "Orientation", "Turns about fixed x, y, z: 180 deg, 0, 0; empty: any"),
            Integer(
                "samples",
                "Poses",
                f"How many; 0: for a first look {FIRST_LOOK:,}, of machines with loops {FIRST_LOOK_AT_LOOPS:,}",
                0,
                0,
                10_000_000,
            ),
            Integer("seed", "Seed", "The same seed gives the same poses", 0, 0, 2**31 - 1),
            LENGTH,
            Number(
                "error",
                "Error of joints",
                "Of each joint that moves the frame; of slides times the characteristic length",
                1e-3,
                "angle",
                minimum=1e-9,
                only=("kind", ("accuracy",)),
            ),
            OutputFile("file", "Map to file", "HDF5, CSV, PLY or VTU", "", (".h5", ".csv", ".ply", ".vtu")),
        ),
        needs=(needs_motion,),
        reads="machine",
        also=("reachability", "dexterous workspace", "reach envelope", "manipulability map", "work volume"),
    ),
)
