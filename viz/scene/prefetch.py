"""Making ahead what drawing a model needs: meshes, stand-ins, outlines, search trees. May run in a thread.

All of it is cached by form, so that a scene that shows the model afterwards finds it ready.
"""

from __future__ import annotations

from core.model import Model
from viz.drawlist.draw_list import items
from viz.drawlist.item import forms_in
from viz.meshes.closed_surfaces import is_solid
from viz.meshes.meshes import mesh
from viz.meshes.stand_ins import thin
from viz.scene.highlight import hull
from viz.scene.picking import pickable, search_tree


def prepare(model: Model) -> None:
    """Fill the caches for a model with the parameter values it has."""
    for form in {item.geometry for item in items(model)}:
        mesh(form)
        hull(form)
        is_solid(form)
        search_tree(pickable(form))


def prepare_stand_ins(model: Model) -> None:
    """Make what stands for large meshes in pictures of what moves."""
    for form in forms_in(items(model)):
        thin(form)
