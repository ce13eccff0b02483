"""Robotica functions for pictures and animations of the robot and of ellipsoids over ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors import ModelError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Items, Tree, place, refused
from core.functions.results import EllipsoidField, Message, Print, Report, Result
from core.robotica.command import text_of
from core.robotica.prints import file_of, parts_of
from core.robotica.workspace import Workspace

if TYPE_CHECKING:
    from core.functions.context import Context


def planar(workspace: Workspace) -> Result:
    """Determine the directions in which the tool can move."""
    from core.functions import call

    return call("planarity", workspace.context())


def ellipsoids(workspace: Workspace, over: Tree | None = None, options: Tree | None = None) -> Result:
    """Show manipulability ellipsoids over ranges."""
    from core.functions.subjects.ellipsoids import store

    found = meaning.options(options)
    alone = "monly" in found
    field = _call_over_ranges(
        "manipulability",
        workspace.context(),
        over,
        ranges=_parsed_ranges(workspace, over),
        display=_display_mode(found),
        scale="scale" in found,
        graphics=not alone,
        measures=alone or "measures" in found,
    )
    assert isinstance(field, EllipsoidField)
    done = finished(workspace, field, found, "relp")
    if "file" not in found:
        return done
    path = file_of(workspace, _file_name(found["file"]))
    store(path, field.measures)
    return Report(title=field.title, parts=(*parts_of(done), Message(text=f"Measures appended to {path}.")))


def _parsed_ranges(workspace: Workspace, tree: Tree | None) -> tuple[tuple[str, float, float, int], ...]:
    if tree is None or tree == Items(()):
        return ()
    return tuple(meaning.ranges(tree, workspace.value_of))


def _call_over_ranges(id: str, context: Context, over: Tree | None, **options: Any) -> Result:
    """Call a function of the catalogue over ranges; errors about the ranges get the position in the text."""
    from core.functions import call

    try:
        return call(id, context, **options)
    except ModelError as error:
        if over is not None and error.where in ("option 'ranges'", "option 'sequence'"):
            error.where = ""
            place(error, over)
        raise


def _display_mode(options: dict[str, Any]) -> str:
    return "animate" if "animate" in options else "single" if "single" in options else "composite"


def show_robot(workspace: Workspace, over: Tree | None = None, options: Tree | None = None) -> Result:
    """Show the robot while all variables run at the same time."""
    found = meaning.options(options)
    found_ranges = _parsed_ranges(workspace, over)
    if over is not None and len({count for *_, count in found_ranges}) > 1:
        raise refused(
            over,
            "The ranges have different numbers of divisions, so they cannot run together.",
            "Give the same number to all, or use SeqShowRobot.",
        )
    shown = _call_over_ranges(
        "show_robot", workspace.context(), over, ranges=found_ranges, display=_display_mode(found)
    )
    return finished(workspace, shown, found, "robotplot")


def show_in_sequence(workspace: Workspace, over: Tree | None = None, options: Tree | None = None) -> Result:
    """Show the robot while the variables run one after another."""
    found = meaning.options(options)
    shown = _call_over_ranges(
        "show_in_sequence",
        workspace.context(),
        over,
        sequence=_parsed_ranges(workspace, over),
        display=_display_mode(found),
    )
    return finished(workspace, shown, found, "robotplot")


FLAT = {3: "top", 5: "front", 6: "right"}
"""View onto the plane in which a planar arm moves, by Robotica's code of planes."""


def finished(
    workspace: Workspace, result: Result, options: dict[str, Any], name: str, trajectories: tuple[Any, ...] = ()
) -> Result:
    """Add box, side view and print files to poses or ellipsoids as the options request, with lines along
    `trajectories`, (n, 3) positions each, m."""
    result = result.framed("frame" in options, FLAT.get(_plane(workspace), ""))
    files = printed(options, name)
    if not files:
        return result
    paths = [workspace.target(file) for file in files]
    prints = [
        Print(
            title=f"Picture written to {path}{_pixel_note(path)}.",
            path=path,
            of=result,
            trajectories=trajectories,
            ranges=workspace.state.ranges,
        )
        for path in paths
    ]
    return Report(title=result.title, parts=(result, *prints))


def _pixel_note(path: str) -> str:
    """Return a note for a print format that promises vector lines but contains pixels."""
    return " (pixels inside, 300 an inch)" if path.lower().endswith((".pdf", ".svg")) else ""


def _plane(workspace: Workspace) -> int:
    from core.analysis.planarity import planarity

    context = workspace.context()
    return planarity(context.mech, context.tool, p=context.p)


def _file_name(file: str | Tree) -> str:
    """Return the file name of an option, given as text or as a plain word."""
    return file if isinstance(file, str) else text_of(file)


def printed(options: dict[str, Any], name: str) -> list[str]:
    """Return the files requested by print, xprint and mprint."""
    files = [f"{name}.pdf"] if "print" in options else []
    if "xprint" in options:
        files.append(f"x{name}.svg" if options["xprint"] is True else _file_name(options["xprint"]))
    return [*files, *([f"m{name}.png"] if "mprint" in options else [])]
