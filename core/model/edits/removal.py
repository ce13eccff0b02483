"""Consequences of deleting an element, found by comparing the models before and after."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.joints import Free
from core.model.bodies import WORLD
from core.model.edits.edits import Owned, remove
from core.model.model import Model


class Removal(NamedTuple):
    """Consequences of a deletion. gone : elements deleted with it; kept : elements that are changed (they keep the
    removed value or colour); world : True if the ground or gravity is among these; adrift : bodies that lose their
    connection to the ground"""

    gone: Owned
    kept: Owned
    world: bool
    adrift: tuple[str, ...]

    @property
    def harmless(self) -> bool:
        """Return True if no other element is affected."""
        return not (self.gone or self.kept or self.world)


def removal(model: Model, collection: str, name: str) -> Removal:
    """Return the other elements that are deleted, changed or disconnected when an element is deleted."""
    after = remove(model, collection, name)
    left: dict[tuple[str, str], Any] = {(owner, element.name): element for owner, element in after.elements()}
    others = [(owner, element) for owner, element in model.elements() if (owner, element.name) != (collection, name)]
    return Removal(
        tuple((owner, element) for owner, element in others if (owner, element.name) not in left),
        tuple((owner, element) for owner, element in others if left.get((owner, element.name), element) != element),
        after.world != model.world,
        tuple(
            sorted((_grounded_bodies(model) - _grounded_bodies(after)) & {body.name for body in after.expanded.bodies})
        ),
    )


def _grounded_bodies(model: Model) -> set[str]:
    """Return the bodies that are connected to the ground by joints."""
    plain = model.expanded
    neighbours: dict[str, set[str]] = {}
    for joint in plain.joints:
        if joint.kind != Free.name:
            sides = [plain.carrier(frame).name for frame in (joint.parent, joint.child)]
            for one, other in (sides, sides[::-1]):
                neighbours.setdefault(one, set()).add(other)
    reached, waiting = {WORLD}, [WORLD]
    while waiting:
        new = neighbours.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached
