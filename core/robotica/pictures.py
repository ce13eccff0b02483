"""Robots over ranges, ellipsoids along them: pictures and animations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors import ModelError
from core.functions.results import EllipsoidField, Message, Print, Report, Result
from core.mathematica import meaning
from core.mathematica.syntax import Items, Tree, place, refused
from core.robotica.command import text_of
from core.robotica.prints import file_of, parts_of
from core.robotica.workspace import Workspace

if TYPE_CHECKING:
    from core.functions.context import Context


def planar(workspace: Workspace) -> Result:
    """The directions the tool can move in."""
    from core.functions import call

    return call("planarity", workspace.context())


def ellipsoids(workspace: Workspace, over: Tree | None = None, options: Tree | None = None) -> Result:
    """Manipulability ellipsoids over ranges."""
    from core.functions.subjects.ellipsoids import store

    found = meaning.options(options)
    alone = "monly" in found
    field = _call(
        "manipulability",
        workspace.context(),
        over,
        ranges=_ranges(workspace, over),
        display=_display(found),
        scale="scale" in found,
        graphics=not alone,
        measures=alone or "measures" in found,
    )
    assert isinstance(field, EllipsoidField)
    done = finished(workspace, field, found, "relp")
    if "file" not in found:
        return done
    path = file_of(workspace, _named(found["file"]))
    store(path, field.measures)
    return Report(title=field.title, parts=(*parts_of(done), Message(text=f"Measures appended to {path}.")))


def _ranges(workspace: Workspace, tree: Tree | None) -> tuple[tuple[str, float, float, int], ...]:
    if tree is None or tree == Items(()):
        return ()
    return tuple(meaning.ranges(tree, workspace.value_of))


def _call(id: str, context: Context, over: Tree | None, **options: Any) -> Result:
    """A function of the catalogue over ranges; what is wrong with them is told with their place."""
    from core.functions import call

    try:
        return call(id, context, **options)
    except ModelError as error:
        if over is not None and error.where in ("option 'ranges'", "option 'sequence'"):
            error.where = ""
            place(error, over)
        raise


def _display(options: dict[str, Any]) -> str:
    return "animate" if "animate" in options else "single" if "single" in options else "composite"


def show_robot(workspace: Workspace, over: Tree | None = None, options: Tree | None = None) -> Result:
    """All variables together."""
    found = meaning.options(options)
    found_ranges = _ranges(workspace, over)
    if over is not None and len({count for *_, count in found_ranges}) > 1:
        raise refused(
            over,
            "The ranges have different numbers of divisions, so they cannot run together.",
            "Give the same number to all, or use SeqShowRobot.",
        )
    shown = _call("show_robot", workspace.context(), over, ranges=found_ranges, display=_display(found))
    return finished(workspace, shown, found, "robotplot")


def show_in_sequence(workspace: Workspace, over: Tree | None = None, options: Tree | None = None) -> Result:
    """One variable after another."""
    found = meaning.options(options)
    shown = _call(
        "show_in_sequence", workspace.context(), over, sequence=_ranges(workspace, over), display=_display(found)
    )
    return finished(workspace, shown, found, "robotplot")


FLAT = {3: "top", 5: "front", 6: "right"}
"""The view of the plane in which a planar arm moves, by Robotica's code of planes."""


def finished(
    workspace: Workspace, result: Result, options: dict[str, Any], name: str, trajectories: tuple[Any, ...] = ()
) -> Result:
    """Poses or ellipsoids with a box round them if wanted, seen from the side of a planar arm, and printed, with lines
    along `trajectories`, (n, 3) places each, m."""
    result = result.framed("frame" in options, FLAT.get(_plane(workspace), ""))
    files = printed(options, name)
    if not files:
        return result
    paths = [workspace.target(file) for file in files]
    prints = [
        Print(
            title=f"Picture written to {path}{_pixels(path)}.",
            path=path,
            of=result,
            trajectories=trajectories,
            ranges=workspace.state.ranges,
        )
        for path in paths
    ]
    return Report(title=result.title, parts=(result, *prints))


def _pixels(path: str) -> str:
    """What to know about a format that promises lines and holds pixels."""
    return " (pixels inside, 300 an inch)" if path.lower().endswith((".pdf", ".svg")) else ""


def _plane(workspace: Workspace) -> int:
    from core.analysis.planarity import planarity

    context = workspace.context()
    return planarity(context.mech, context.tool, p=context.p)


def _named(file: str | Tree) -> str:
    """A file of an option: text, or a plain word."""
    return file if isinstance(file, str) else text_of(file)


def printed(options: dict[str, Any], name: str) -> list[str]:
    """The files that print, xprint and mprint mean."""
    files = [f"{name}.pdf"] if "print" in options else []
    if "xprint" in options:
        files.append(f"x{name}.svg" if options["xprint"] is True else _named(options["xprint"]))
    return [*files, *([f"m{name}.png"] if "mprint" in options else [])]
