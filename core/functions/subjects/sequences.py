"""Functions that show the robot in sequences of poses over ranges (Robotica's ShowRobot, SeqShowRobot) and in
pictures."""

from __future__ import annotations

from core.functions.context import Context
from core.functions.function import Function, needs_bodies, needs_motion
from core.functions.options import Choice, Flag, Integer, OutputFile, Range, Ranges
from core.functions.results import Picture, PoseSequence, Result, to_row_tuples


def show_robot(context: Context, ranges: tuple[Range, ...], display: str) -> Result:
    """Show poses in which all ranges are traversed at the same time."""
    return _pose_sequence(context, ranges, display, sequential=False)


def show_in_sequence(context: Context, sequence: tuple[Range, ...], display: str) -> Result:
    """Show poses in which the ranges are traversed one after another."""
    return _pose_sequence(context, sequence, display, sequential=True)


def _pose_sequence(context: Context, ranges: tuple[Range, ...], display: str, *, sequential: bool) -> Result:
    from core.analysis.sweep import sweep

    context.step(0, 1)
    poses = sweep(context.model, context.mech, context.q, context.p, ranges, sequential=sequential, t=context.t)
    count = 1 if display == "single" else poses.count
    names = ", ".join(dict.fromkeys(r.name for r in ranges))
    together = "" if len(ranges) == 1 else " one after another" if sequential else " together"
    return PoseSequence(
        title=f"Poses over {names}{together}" if ranges else "Present pose",
        q=to_row_tuples(poses.q[:count]),
        p=poses.p[:count],
        display=display,  # type: ignore[arg-type]
        ranges=ranges,
        model=poses.model if poses.model is not context.model else None,
    )


def picture(context: Context, file: str, width: int, height: int, view: str, look: str, transparent: bool) -> Result:
    """Request a picture of the present pose."""
    return Picture(
        title=f"Picture {file}",
        path=file,
        size=(width, height),
        view=view,
        look=look,
        transparent=transparent,
        q=tuple(float(x) for x in context.q),
        p=dict(context.p),
    )


_DISPLAY = Choice(
    "display",
    "Display",
    "Show all poses together, one after another, or only the first",
    "composite",
    ("composite", "animate", "single"),
)
VIEWS = ("iso", "front", "back", "left", "right", "top", "bottom")

FUNCTIONS = (
    Function(
        "show_robot",
        "Show robot",
        "Pictures",
        "The robot at poses along ranges of its variables, all varied simultaneously.\n\n"
        "Each range has a start, a stop and a number of divisions (5 by default); n divisions give n + 1 "
        "poses. Variables are joint coordinates, parameters and DH entries (a1, alpha1, d1 …). Variables "
        "that are varied simultaneously need the same number of divisions. The poses are drawn all together "
        "(composite) or played one after another (animate).",
        show_robot,
        (Ranges("ranges", "Ranges", "Coordinates, parameters or DH entries to vary, with their ranges"), _DISPLAY),
        needs=(needs_motion,),
        robotica="ShowRobot",
    ),
    Function(
        "show_in_sequence",
        "Show robot in sequence",
        "Pictures",
        "The robot at poses along ranges of its variables, one variable after another.\n\n"
        "Each range begins when the previous one is complete; a variable keeps the value it has reached and "
        "may be varied several times. Before its first range it has the value at the start of that range.",
        show_in_sequence,
        (
            Ranges(
                "sequence",
                "Ranges",
                "Coordinates, parameters or DH entries to vary one after another, in this order, with their ranges",
            ),
            _DISPLAY,
        ),
        needs=(needs_motion,),
        robotica="SeqShowRobot",
    ),
    Function(
        "picture",
        "Export picture",
        "Pictures",
        "A picture of the machine at the present pose, as a PNG file of any size.\n\n"
        "With a transparent background it can be placed over a page.",
        picture,
        (
            OutputFile("file", "File", "PNG file for the picture", "picture.png", (".png",)),
            Integer("width", "Width", "Size in pixels", 1200, 16, 8192),
            Integer("height", "Height", "Size in pixels", 800, 16, 8192),
            Choice("view", "View", "Direction from which the machine is seen", "iso", VIEWS),
            Choice("look", "Look", "Light or dark colours", "light", ("light", "dark")),
            Flag("transparent", "Transparent background"),
        ),
        needs=(needs_bodies,),
        robotica="ShowRobot, option mprint",
    ),
)
