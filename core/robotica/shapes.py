"""Robotica functions that set how joints and links are drawn (RevJoint, PrisJoint, LinkShape and Clear…), stored in the
document."""

from __future__ import annotations

import dataclasses
import os

from core.errors import FileError
from core.files.mathematica.syntax import Tree
from core.files.meshes.lookup import MESH_SUFFIXES
from core.functions.results import Message, Result
from core.model import Model
from core.model.bodies import PLAIN_LINE
from core.robotica.command import text_of
from core.robotica.shape_file import read_shape
from core.robotica.workspace import Workspace

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
