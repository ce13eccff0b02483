"""Preparation of a model for display: meshes, simplified meshes, outlines, search trees. May run in a thread.

A scene that shows the model afterwards finds it ready.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from core.model import Model
from viz.drawlist.draw_list import Item, items
from viz.drawlist.item import forms_in
from viz.meshes.meshes import is_solid, mesh, thin
from viz.scene.picking import pickable, search_tree
from viz.scene.pointing import hull

_ahead: list[tuple[Model, tuple[Item, ...]]] = []
"""Model that was prepared last, and its draw list, until a model is shown."""


def prepare(model: Model) -> None:
    """Prepare the first picture of a model with its present parameter values."""
    found = items(model)
    for form in {item.geometry for item in found}:
        mesh(form)
        is_solid(form)
    _ahead[:] = [(model, found)]


def draw_list(
    model: Model,
    p: Mapping[str, float] | None,
    layers: bool = True,
    meeting: Set[frozenset[str]] = frozenset(),
) -> tuple[Item, ...]:
    """Return the draw list of a model, the prepared one on first use (mesh files may appear and vanish later)."""
    for known, found in [_ahead.pop() for _ in range(len(_ahead))]:
        if known is model and layers and not meeting and model.values(p) == model.values():
            return found
    return items(model, p, layers, meeting)


def prepare_motion_meshes(model: Model) -> None:
    """Prepare picking in a model, and simplified versions of its large meshes for motion."""
    found = items(model)
    for form in {item.geometry for item in found}:
        hull(form)
        search_tree(pickable(form))
    for form in forms_in(found):
        thin(form)
