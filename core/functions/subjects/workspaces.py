"""Function that maps the workspace of a frame, and performance measures over it."""

from __future__ import annotations

import math
from typing import Any

from core.errors import ModelError, suggest_names
from core.functions.context import Cancelled, Context
from core.functions.diagrams import SpaceMap
from core.functions.function import Function, needs_motion
from core.functions.option_texts import parse_quantity
from core.functions.options import Choice, FrameName, Integer, Number, OutputFile, Text
from core.functions.results import Message, Report, Result
from core.functions.subjects.actuation import LENGTH, prismatic_length_scale

KIND_TITLES = {
    "reach": "Reachable space",
    "manipulability": "Manipulability (Yoshikawa)",
    "condition": "Condition number",
    "isotropy": "Isotropy",
    "singularity": "Distance from singularities",
    "speed": "Speed available in every direction",
    "force": "Force available in every direction",
    "accuracy": "Error due to joint errors",
    "stiffness": "Stiffness due to joint stiffness",
    "payload": "Payload",
    "orientations": "Orientations (dexterity)",
    "configurations": "Number of configurations",
    "formula": "Formula of the pose",
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
    """Map the workspace of a frame; if the user stops it, return the map computed so far."""
    from core.studies.workspace.joint_ranges import determine_joint_ranges
    from core.studies.workspace.mapping import workspace as mapped

    mech = context.mech
    if not over.strip():
        try:
            p = mech.parameter_values(dict(context.p))
            determine_joint_ranges(mech, frame, None, p, with_rotation=kind != "reach" or bool(orientation.strip()))
        except ModelError as refusal:  # as it stands it reaches everything, or nothing: what to do is said
            return Report(title=f"Workspace of {frame}", parts=(Message(text=str(refusal), severity="hint"),))
    if kind == "formula" and not formula.strip():
        raise ModelError(
            "The map needs a formula.", where="option 'formula'", remedy="Give one, such as energy.potential."
        )
    found = mapped(
        mech,
        frame,
        over=_parse_coordinates(context, over),
        samples=samples or (FIRST_LOOK_AT_LOOPS if mech.constrained else FIRST_LOOK),
        kind=formula if kind == "formula" else kind,
        part=part,  # type: ignore[arg-type]
        orientation=_parse_orientation_angles(context, orientation),
        slice=_slice_plane(slice, normal, at),
        q=context.q,
        p=context.p,
        length=prismatic_length_scale(length),
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
    """Parse names of coordinates, optionally with bounds; None for all that move the frame."""
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
                remedy=suggest_names(name, known),
            )
        if not equals:
            found[name] = None
            continue
        low, colon, high = bounds.partition(":")
        if not colon:
            raise ModelError(f"'{part}' has only one bound.", where="option 'over'", remedy="Write name=low:high.")
        of = Number("over", "Bounds", dimension=known[name].dimension)
        found[name] = parse_quantity(low, context, of), parse_quantity(high, context, of)
    return found


def _slice_plane(slice: str, normal: str, position: float) -> Any:
    """Return the slice plane for `core.studies.workspace.mapping.workspace`."""
    if slice != "normal":
        return None if slice == "none" else (slice, position)
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
    return (x / length, y / length, z / length), position


def _parse_orientation_angles(context: Context, text: str) -> tuple[float, ...] | None:
    """Parse angles about the fixed axes x, y, z, rad; None for any orientation."""
    if not text.strip():
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3:
        raise ModelError(
            f"An orientation needs three angles; {len(parts)} given.",
            where="option 'orientation'",
            remedy="Give angles about the fixed axes x, y, z, such as 180 deg, 0, 90 deg.",
        )
    of = Number("orientation", "Orientation", dimension="angle")
    return tuple(parse_quantity(part, context, of) for part in parts)


FUNCTIONS = (
    Function(
        "workspace",
        "Workspace map",
        "Kinematics",
        "Space that a frame can reach, with a measure of performance at each position.\n\n"
        "Poses are distributed evenly over the ranges of the joints, or of the actuators in machines with "
        "loops (in the branch of the present pose). For planar machines the area is given with its exact "
        "boundary (arcs at limits and curves det J = 0), for others the volume reached, with its error. "
        "Measures: manipulability, condition, isotropy of translation or rotation, the speed and force "
        "available in every direction within the joint limits, the payload, the position error due to joint "
        "errors, the stiffness due to joint stiffness, the number of orientations and of configurations in "
        "which the frame reaches the position, or a formula of the pose. A slice contains only positions in "
        "a plane; an orientation, if given, is kept everywhere. The scene shows the map as a cloud of points "
        "with a colour bar: click on a point to take the pose that reaches it. The map is refined while it "
        "is computed; if it is stopped, the part computed so far is kept. Files: HDF5, CSV, PLY, VTU.",
        workspace,
        (
            FrameName("frame", "Frame", "Body or frame that moves; empty: the tool"),
            Choice("kind", "Map of", "Measure at each position", "reach", tuple(KIND_TITLES), KIND_TITLES),
            Text(
                "formula",
                "Formula",
                "Formula of channels of the pose, e.g. energy.potential",
                only=("kind", ("formula",)),
            ),
            Choice(
                "part",
                "Part",
                "Translational or rotational part",
                "translation",
                ("translation", "rotation"),
                only=("kind", OF_PART),
            ),
            Text(
                "over",
                "Joints",
                "Coordinates to vary: a, b=low:high …; empty: all that move the frame",
                joined=", ",
            ),
            Choice(
                "slice",
                "Slice normal to",
                "Axis to which the plane of the slice is normal; normal: any direction; none: no slice",
                "none",
                AXES,
                {"normal": "a given normal"},
            ),
            Text("normal", "Normal", "Normal vector of the plane, e.g. 1, 0, 1", only=("slice", ("normal",))),
            Number(
                "at",
                "Slice at",
                "Position of the plane along the axis or normal, from the origin",
                0.0,
                "length",
                only=("slice", AXES[1:]),
            ),
            Text(
                "orientation",
                "Orientation",
                "Orientation of the frame as angles about fixed x, y, z: 180 deg, 0, 0; empty: any",
            ),
            Integer(
                "samples",
                "Poses",
                f"Number of poses; 0: {FIRST_LOOK:,}, or {FIRST_LOOK_AT_LOOPS:,} with loops (first look)",
                0,
                0,
                10_000_000,
            ),
            Integer("seed", "Seed", "Seed of the random numbers; the same seed gives the same poses", 0, 0, 2**31 - 1),
            LENGTH,
            Number(
                "error",
                "Error of joints",
                "Error of each joint that moves the frame, rad; for prismatic joints it is multiplied by the "
                "characteristic length",
                1e-3,
                "angle",
                minimum=1e-9,
                only=("kind", ("accuracy",)),
            ),
            OutputFile(
                "file",
                "Map to file",
                "File for the map (HDF5, CSV, PLY or VTU); empty: none",
                "",
                (".h5", ".csv", ".ply", ".vtu"),
            ),
        ),
        needs=(needs_motion,),
        reads="machine",
        also=("reachability", "dexterous workspace", "reach envelope", "manipulability map", "work volume"),
    ),
)
