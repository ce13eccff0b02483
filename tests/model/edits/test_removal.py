"""What is said of a deletion against what it does, for every element of every example."""

import pytest

from core.files import load
from core.model import WORLD
from core.model.differences import removal_consequences
from core.model.edits import edits
from resources import EXAMPLES
from tests.walks import walk

FILES = sorted((*EXAMPLES.glob("*.kst"), *EXAMPLES.glob("*.rob")))


def hanging(model, body):
    """Whether a way of joints leads from a body to the ground, walked body by body."""
    plain, seen, waiting = model.expanded, set(), [body]
    while waiting:
        here = waiting.pop()
        if here == WORLD:
            return True
        seen.add(here)
        for joint in plain.joints:
            sides = {plain.carrier(joint.parent).name, plain.carrier(joint.child).name}
            if here in sides and joint.kind != "free":
                waiting += sides - seen
    return False


@pytest.mark.parametrize("path", walk(FILES, name=lambda path: path.stem))
def test_what_is_said_is_what_happens(path):
    model = load(path)
    for collection, element in model.elements():
        said, after = (
            removal_consequences(model, collection, element.name),
            edits.remove(model, collection, element.name),
        )
        before = {(owner, each.name): each for owner, each in model.elements()}
        left = {(owner, each.name): each for owner, each in after.elements()}
        gone = {(owner, each.name) for owner, each in said.gone}
        assert gone | {(collection, element.name)} == before.keys() - left.keys()
        kept = {(owner, each.name) for owner, each in said.kept}
        assert kept == {key for key in left if left[key] != before[key]}
        assert said.world == (after.world != model.world)
        for body in after.expanded.bodies:
            assert (body.name in said.adrift) == (hanging(model, body.name) and not hanging(after, body.name))


def test_a_coupler_still_hangs_on_the_rocker_when_the_crank_goes():
    model = load(EXAMPLES / "four_bar.kst")
    said = removal_consequences(model, "bodies", "crank")
    assert {element.name for _, element in said.gone} == {"crank_pin", "moving_pin_a"}
    assert said.adrift == ()


def test_gravity_keeps_the_value_of_a_parameter():
    model = load(EXAMPLES / "point_gravity.kst")
    assert removal_consequences(model, "parameters", "mu").world
