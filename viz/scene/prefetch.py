"""Making ahead what drawing a model needs: meshes read, outlines and search trees built. May run in a thread.

All of it is cached by form, so that a scene that shows the model afterwards finds it ready.
"""

from __future__ import annotations

from core.model import Model
from viz.drawlist.draw_list import items
from viz.meshes.meshes import mesh
from viz.scene.highlight import hull
from viz.scene.picking import pickable, search_tree


def prepare(model: Model) -> None:
    """Fill the caches for a model with the parameter values it has."""
    for form in {item.geometry for item in items(model)}:
        mesh(form)
        hull(form)
        search_tree(pickable(form))
