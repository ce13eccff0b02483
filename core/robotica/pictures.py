"""Robotica functions for pictures and animations of the robot and of ellipsoids over ranges, and for the shapes of
joints and links (RevJoint, PrisJoint, LinkShape and Clear…), which are stored in the document."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from core.errors import FileError, ModelError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import ListExpression, Tree, error_at, set_error_position
from core.files.meshes.lookup import MESH_SUFFIXES
from core.functions.results import EllipsoidField, Message, Print, Report, Result
from core.model import Model
from core.model.bodies import PLAIN_LINE
from core.robotica.command import string_value
from core.robotica.equations import output_path, report_parts
from core.robotica.shape_file import read_shape
from core.robotica.workspace import Workspace

if TYPE_CHECKING:
    from core.functions.context import Context


def find_tool_directions(workspace: Workspace) -> Result:
    """Determine the directions in which the tool can move."""
    from core.functions import call

    return call("planarity", workspace.context())


def show_ellipsoids(workspace: Workspace, ranges: Tree | None = None, options: Tree | None = None) -> Result:
    """Show manipulability ellipsoids over ranges."""
    from core.functions.subjects.ellipsoids import write_measures

    found = meaning.read_options(options)
    alone = "monly" in found
    field = _call_over_ranges(
        "manipulability",
        workspace.context(),
        ranges,
        ranges=_parse_ranges(workspace, ranges),
        display=_display_mode(found),
        scale="scale" in found,
        graphics=not alone,
        measures=alone or "measures" in found,
    )
    assert isinstance(field, EllipsoidField)
    done = apply_display_options(workspace, field, found, "relp")
    if "file" not in found:
        return done
    path = output_path(workspace, _file_name(found["file"]))
    write_measures(path, field.measures)
    return Report(title=field.title, parts=(*report_parts(done), Message(text=f"Measures appended to {path}.")))


def _parse_ranges(workspace: Workspace, tree: Tree | None) -> tuple[tuple[str, float, float, int], ...]:
    if tree is None or tree == ListExpression(()):
        return ()
    return tuple(meaning.read_ranges(tree, workspace.symbol_value))


def _call_over_ranges(id: str, context: Context, source: Tree | None, **options: Any) -> Result:
    """Call a catalogue function over ranges; errors about the ranges get their position in the text."""
    from core.functions import call

    try:
        return call(id, context, **options)
    except ModelError as error:
        if source is not None and error.where in ("option 'ranges'", "option 'sequence'"):
            error.where = ""
            set_error_position(error, source)
        raise


def _display_mode(options: dict[str, Any]) -> str:
    return "animate" if "animate" in options else "single" if "single" in options else "composite"


def show_robot(workspace: Workspace, ranges: Tree | None = None, options: Tree | None = None) -> Result:
    """Show the robot while all variables run through their ranges simultaneously."""
    found = meaning.read_options(options)
    found_ranges = _parse_ranges(workspace, ranges)
    if ranges is not None and len({count for *_, count in found_ranges}) > 1:
        raise error_at(
            ranges,
            "The ranges have different numbers of divisions, so they cannot be traversed simultaneously.",
            "Give the same number to all, or use SeqShowRobot.",
        )
    shown = _call_over_ranges(
        "show_robot", workspace.context(), ranges, ranges=found_ranges, display=_display_mode(found)
    )
    return apply_display_options(workspace, shown, found, "robotplot")


def show_in_sequence(workspace: Workspace, ranges: Tree | None = None, options: Tree | None = None) -> Result:
    """Show the robot while the variables run through their ranges one after another."""
    found = meaning.read_options(options)
    shown = _call_over_ranges(
        "show_in_sequence",
        workspace.context(),
        ranges,
        sequence=_parse_ranges(workspace, ranges),
        display=_display_mode(found),
    )
    return apply_display_options(workspace, shown, found, "robotplot")


FLAT = {3: "top", 5: "front", 6: "right"}
"""View perpendicular to the plane in which a planar arm moves, by Robotica's code of planes."""


def apply_display_options(
    workspace: Workspace, result: Result, options: dict[str, Any], name: str, trajectories: tuple[Any, ...] = ()
) -> Result:
    """Add box, side view and print files to poses or ellipsoids as the options request, and lines along `trajectories`,
    (n, 3) positions each, m."""
    result = result.with_bounding_box("frame" in options, FLAT.get(_plane_code(workspace), ""))
    files = print_files(options, name)
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
    """Return a note for a vector print format that contains a pixel image."""
    return " (contains a raster image, 300 dpi)" if path.lower().endswith((".pdf", ".svg")) else ""


def _plane_code(workspace: Workspace) -> int:
    from core.analysis.manipulability import translation_axes_code

    context = workspace.context()
    return translation_axes_code(context.mech, context.tool, p=context.p)


def _file_name(file: str | Tree) -> str:
    """Return the file name of an option, given as text or as a plain word."""
    return file if isinstance(file, str) else string_value(file)


def print_files(options: dict[str, Any], name: str) -> list[str]:
    """Return the files requested by the options print, xprint and mprint."""
    files = [f"{name}.pdf"] if "print" in options else []
    if "xprint" in options:
        files.append(f"x{name}.svg" if options["xprint"] is True else _file_name(options["xprint"]))
    return [*files, *([f"m{name}.png"] if "mprint" in options else [])]


WORDS = {"revolute": "revolute joints", "prismatic": "prismatic joints", "link": "links"}
"""Plural noun for the elements that each kind of figure draws."""


def set_revolute_shape(workspace: Workspace, file: Tree | None = None) -> Result:
    """Set the shape of revolute joints."""
    return _set_figure_from_file(workspace, "revolute", file)


def set_prismatic_shape(workspace: Workspace, file: Tree | None = None) -> Result:
    """Set the shape of prismatic joints."""
    return _set_figure_from_file(workspace, "prismatic", file)


def set_link_shape(workspace: Workspace, file: Tree | None = None) -> Result:
    """Set the shape of links."""
    return _set_figure_from_file(workspace, "link", file)


def clear_revolute_shape(workspace: Workspace) -> Result:
    """Draw revolute joints as plain lines."""
    return _set_figure(workspace, "revolute", PLAIN_LINE, "are plain lines")


def clear_prismatic_shape(workspace: Workspace) -> Result:
    """Draw prismatic joints as plain lines."""
    return _set_figure(workspace, "prismatic", PLAIN_LINE, "are plain lines")


def clear_link_shape(workspace: Workspace) -> Result:
    """Draw links as plain lines."""
    return _set_figure(workspace, "link", PLAIN_LINE, "are plain lines")


def _set_figure_from_file(workspace: Workspace, figure: str, file: Tree | None) -> Result:
    """Set a figure to the shape in a file, which is read to check it; without a file, to the standard shape."""
    if file is None:
        return _set_figure(workspace, figure, "", "have the standard shape")
    path = workspace.path(string_value(file))
    if path.lower().endswith(MESH_SUFFIXES):
        from core.files import load_mesh

        load_mesh(path)
    elif not os.path.isfile(path):
        raise FileError("There is no such shape file.", file=path, remedy="Check its name and folder.")
    else:
        read_shape(path)
    origin = workspace.host.context().model.origin
    return _set_figure(workspace, figure, _path_in_model(path, origin), f"have the shape of {path}")


def _path_in_model(path: str, origin: str) -> str:
    """Return the path stored in the model: relative if the file lies in the model's folder, else absolute."""
    path = os.path.abspath(path)
    folder = os.path.dirname(os.path.abspath(origin)) if origin else ""
    return os.path.relpath(path, folder).replace(os.sep, "/") if folder and path.startswith(folder + os.sep) else path


def _set_figure(workspace: Workspace, figure: str, value: str, description: str) -> Result:
    def set_figure_field(model: Model) -> Model:
        figures = dataclasses.replace(model.world.figures, **{figure: value})
        return dataclasses.replace(model, world=dataclasses.replace(model.world, figures=figures))

    workspace.host.edit_machine(f"Shape of {WORDS[figure]}", set_figure_field)
    return Message(title="Shape", text=f"{WORDS[figure].capitalize()} {description}.")
