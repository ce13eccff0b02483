"""Making ahead what drawing a model needs: meshes, stand-ins, outlines, search trees. May run in a thread.

A scene that shows the model afterwards finds it ready.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from core.model import Model
from viz.drawlist.draw_list import Item, items
from viz.drawlist.item import forms_in
from viz.meshes.closed_surfaces import is_solid
from viz.meshes.meshes import mesh
from viz.meshes.stand_ins import thin
from viz.scene.highlight import hull
from viz.scene.picking import pickable, search_tree

_ahead: list[tuple[Model, tuple[Item, ...]]] = []
"""The model that was made ready last, and its draw list, until a model is shown."""


def prepare(model: Model) -> None:
    """What the first picture needs of a model with the parameter values it has."""
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
    """What is to be seen of a model: as it was made ahead, the first time (mesh files may come and go later)."""
    for known, found in [_ahead.pop() for _ in range(len(_ahead))]:
        if known is model and layers and not meeting and model.values(p) == model.values():
            return found
    return items(model, p, layers, meeting)


def prepare_movement(model: Model) -> None:
    """What the pointer over a model needs, and what stands for its large meshes in pictures of what moves."""
    found = items(model)
    for form in {item.geometry for item in found}:
        hull(form)
        search_tree(pickable(form))
    for form in forms_in(found):
        thin(form)
