"""What deleting an element does: compared from the models before and after, so that it is what happens."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.joints import Free
from core.model.bodies import WORLD
from core.model.edits.edits import Owned, remove
from core.model.model import Model


class Removal(NamedTuple):
    """gone : elements that go along; kept : those that stay, changed (they keep the value or colour of what goes);
    world : whether the ground or gravity is one of these; adrift : bodies that joints connected to the ground before,
    and no more."""

    gone: Owned
    kept: Owned
    world: bool
    adrift: tuple[str, ...]

    @property
    def harmless(self) -> bool:
        """Whether nothing else is touched."""
        return not (self.gone or self.kept or self.world)


def removal(model: Model, collection: str, name: str) -> Removal:
    """What deleting an element takes along, changes and sets adrift."""
    after = remove(model, collection, name)
    left: dict[tuple[str, str], Any] = {(owner, element.name): element for owner, element in after.elements()}
    others = [(owner, element) for owner, element in model.elements() if (owner, element.name) != (collection, name)]
    return Removal(
        tuple((owner, element) for owner, element in others if (owner, element.name) not in left),
        tuple((owner, element) for owner, element in others if left.get((owner, element.name), element) != element),
        after.world != model.world,
        tuple(sorted((_grounded(model) - _grounded(after)) & {body.name for body in after.expanded.bodies})),
    )


def _grounded(model: Model) -> set[str]:
    """The bodies that joints connect to the ground."""
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
