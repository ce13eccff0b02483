"""Robotica functions for pictures and animations of the robot and of ellipsoids over ranges, and for the shapes of
joints and links (RevJoint, PrisJoint, LinkShape and Clear…), which are stored in the document.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from core.errors import FileError, ModelError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Items, Tree, place, refused
from core.files.meshes.lookup import MESH_SUFFIXES
from core.functions.results import EllipsoidField, Message, Print, Report, Result
from core.model import Model
from core.model.bodies import PLAIN_LINE
from core.robotica.command import text_of
from core.robotica.equations import file_of, parts_of
from core.robotica.shape_file import read_shape
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
    from core.analysis.manipulability import planarity

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


WORDS = {"revolute": "revolute joints", "prismatic": "prismatic joints", "link": "links"}
"""Kind of figure → elements drawn with it."""


def revolute(workspace: Workspace, file: Tree | None = None) -> Result:
    """Set the shape of revolute joints."""
    return _set_figure_from_file(workspace, "revolute", file)


def prismatic(workspace: Workspace, file: Tree | None = None) -> Result:
    """Set the shape of prismatic joints."""
    return _set_figure_from_file(workspace, "prismatic", file)


def link(workspace: Workspace, file: Tree | None = None) -> Result:
    """Set the shape of links."""
    return _set_figure_from_file(workspace, "link", file)


def clear_revolute(workspace: Workspace) -> Result:
    """Draw revolute joints as plain lines."""
    return _set_figure(workspace, "revolute", PLAIN_LINE, "are plain lines")


def clear_prismatic(workspace: Workspace) -> Result:
    """Draw prismatic joints as plain lines."""
    return _set_figure(workspace, "prismatic", PLAIN_LINE, "are plain lines")


def clear_link(workspace: Workspace) -> Result:
    """Draw links as plain lines."""
    return _set_figure(workspace, "link", PLAIN_LINE, "are plain lines")


def _set_figure_from_file(workspace: Workspace, which: str, file: Tree | None) -> Result:
    """Set a figure to the shape in a file, which is read to check it; without a file to the standard shape."""
    if file is None:
        return _set_figure(workspace, which, "", "have the standard shape")
    path = workspace.path(text_of(file))
    if path.lower().endswith(MESH_SUFFIXES):
        from core.files import load_mesh

        load_mesh(path)
    elif not os.path.isfile(path):
        raise FileError("There is no such shape file.", file=path, remedy="Check its name and folder.")
    else:
        read_shape(path)
    origin = workspace.host.context().model.origin
    return _set_figure(workspace, which, _path_in_model(path, origin), f"have the shape of {path}")


def _path_in_model(path: str, origin: str) -> str:
    """Return the path stored in the model: relative if the file lies in the model's folder, else absolute."""
    path = os.path.abspath(path)
    folder = os.path.dirname(os.path.abspath(origin)) if origin else ""
    return os.path.relpath(path, folder).replace(os.sep, "/") if folder and path.startswith(folder + os.sep) else path


def _set_figure(workspace: Workspace, which: str, value: str, words: str) -> Result:
    def edit(model: Model) -> Model:
        figures = dataclasses.replace(model.world.figures, **{which: value})
        return dataclasses.replace(model, world=dataclasses.replace(model.world, figures=figures))

    workspace.host.edit(f"Shape of {WORDS[which]}", edit)
    return Message(title="Shape", text=f"{WORDS[which].capitalize()} {words}.")
