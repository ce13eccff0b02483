"""New elements: valid at once, seen at once, under free names."""

import math

import pytest

from core.model import JOINT_KINDS, Body, Box, Capsule, Cylinder, DHChain, Model, Parameter, Pose, Sphere, new_elements
from core.model.edits import edits


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_a_link_on_the_ground_by_every_kind(kind):
    model, name = new_elements.add_attached_body(Model(), kind=kind)
    (joint,) = model.joints
    assert (joint.kind, joint.parent, joint.child) == (kind, "world", name)
    assert model.body(name).shapes


def test_links_on_the_ground_stand_side_by_side():
    model, _ = new_elements.add_attached_body(Model())
    model, _ = new_elements.add_attached_body(model)
    places = [joint.a.position for joint in model.joints]
    assert places == [(0.0, 0.0, 0.0), (0.0, new_elements.ASIDE, 0.0)]


@pytest.mark.parametrize(
    ("shape", "end"),
    [
        (Box(size=(0.4, 0.1, 0.1), pose=Pose(position=(0.2, 0, 0))), 0.4),
        (Box(size=("2*l", 0.1, 0.1)), 0.25),
        (Sphere(radius=0.3, pose=Pose(position=(0.1, 0, 0))), 0.4),
        (Cylinder(radius=0.07, length=1.0), 0.07),
        (Cylinder(radius=0.3, length=0.8, pose=Pose(rotation=(0, math.pi / 2, 0))), 0.5),
        (Capsule(radius=0.1, length=0.6, pose=Pose(rotation=(0, math.pi / 2, 0))), 0.4),
    ],
)
def test_a_link_begins_where_its_parent_ends(shape, end):
    model = Model(parameters=(Parameter(name="l", value=0.25),), bodies=(Body(name="b", shapes=(shape,)),))
    model, _ = new_elements.add_attached_body(model, "b")
    assert model.joints[-1].a.position == pytest.approx((end, 0.0, 0.0))


def test_names_are_free_also_beside_chains():
    chain = new_elements.new_chain(Model())
    model = edits.add(Model(), chain)
    second = new_elements.new_chain(model)
    assert second.name != chain.name
    model = edits.add(model, second)
    assert isinstance(model.chain(second.name), DHChain)
    model, name = new_elements.add_attached_body(model, "tool")
    assert name == "link4"
    for make in (new_elements.add_parameter, new_elements.add_material, new_elements.add_frame):
        once, first = make(model)
        _, again = make(once)
        assert first != again
