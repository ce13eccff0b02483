"""Preparation of a model for display: meshes, simplified meshes, outlines and search trees are created in advance,
possibly in a thread.

A scene that shows the model afterwards finds it ready.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from core.model import Model
from viz.drawlist.draw_list import Item, build_draw_list
from viz.drawlist.item import collect_forms
from viz.meshes.meshes import get_mesh, is_solid, simplify_mesh_file
from viz.scene.picking import picking_form, search_tree
from viz.scene.pointing import connected_mesh

_ahead: list[tuple[Model, tuple[Item, ...]]] = []
"""Model prepared last, with its draw list, until a model is shown."""


def prepare_model(model: Model) -> None:
    """Create in advance what the first picture of a model needs, with its current parameter values."""
    found = build_draw_list(model)
    for form in {item.geometry for item in found}:
        get_mesh(form)
        is_solid(form)
    _ahead[:] = [(model, found)]


def get_draw_list(
    model: Model,
    p: Mapping[str, float] | None,
    layers: bool = True,
    overlapping: Set[frozenset[str]] = frozenset(),
) -> tuple[Item, ...]:
    """Return the draw list of a model; on first use the prepared one (mesh files may appear and disappear later)."""
    for known, found in [_ahead.pop() for _ in range(len(_ahead))]:
        if known is model and layers and not overlapping and model.values(p) == model.values():
            return found
    return build_draw_list(model, p, layers, overlapping)


def prepare_motion_meshes(model: Model) -> None:
    """Create in advance the search trees for picking in a model, and simplified versions of its large meshes for
    rendering during motion."""
    found = build_draw_list(model)
    for form in {item.geometry for item in found}:
        connected_mesh(form)
        search_tree(picking_form(form))
    for form in collect_forms(found):
        simplify_mesh_file(form)
