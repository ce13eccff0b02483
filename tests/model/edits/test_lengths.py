"""The length of a link: where it is read, what takes a new one, and that formulas are not lost."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.design import linkage
from core.errors import KinetostatError, ModelError
from core.files import load, loads
from core.mechanism import Mechanism
from core.model import Body, Box, Capsule, Cylinder, Frame, Joint, Model, Parameter, Pose, Shape, Sphere
from core.model.edits import edits
from core.model.edits.lengths import current_link_length, is_length_locked, length_parameter
from resources import EXAMPLES

URDF = """<robot name="arm"><link name="base"/><link name="arm">
<visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.02" length="0.4"/></geometry></visual>
<collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.03" length="0.4"/></geometry></collision></link>
<joint name="A" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""

lengths = st.floats(0.01, 5.0)
angles = st.floats(-3.0, 3.0)


def link(far: tuple[object, ...], *shapes: object, near: tuple[object, ...] = (0, 0, 0), **parameters: object) -> Model:
    """A body `link` between two pins, and one that hangs on it."""
    return Model(
        parameters=tuple(Parameter(name=name, value=value) for name, value in parameters.items()),
        bodies=(Body(name="link", mass=1.0, shapes=shapes), Body(name="next", mass=1.0)),
        joints=(
            Joint(name="A", parent="world", child="link", b=Pose(position=near)),
            Joint(name="B", parent="link", child="next", a=Pose(position=far)),
        ),
    )


def far_of(model: Model) -> tuple[float, ...]:
    values = model.values()
    from core.model.parameters import evaluate_field

    return tuple(float(evaluate_field(x, values)) for x in model.find("joints", "B").a.position)


@given(angle=angles, old=lengths, new=lengths)
def test_numbers_move_along_the_line_and_so_does_what_spans_the_points(angle: float, old: float, new: float) -> None:
    x, y = old * math.cos(angle), old * math.sin(angle)
    bar = Capsule(pose=Pose(position=(x / 2, y / 2, 0), rotation=(0, math.pi / 2, angle)), radius=0.001, length=old)
    aside = Cylinder(pose=Pose(position=(x, y, 0)), radius=0.001, length=old)
    model = link((x, y, 0), bar, aside)
    changed = edits.link_length(model, "link", new)
    assert current_link_length(changed, "link") == pytest.approx(new, abs=1e-8)
    assert far_of(changed) == pytest.approx((new * math.cos(angle), new * math.sin(angle), 0.0), abs=1e-8)
    first, second = changed.body("link").shapes
    assert first.length == pytest.approx(new, abs=1e-8)
    assert first.pose.position == pytest.approx((new * math.cos(angle) / 2, new * math.sin(angle) / 2, 0), abs=1e-8)
    assert second == aside
    assert changed.body("next") == model.body("next")
    assert changed.joint("A") == model.joint("A")


def test_a_box_that_spans_the_points_is_as_long_as_they_are_apart() -> None:
    box = Box(pose=Pose(position=(0.1, 0, 0)), size=(0.2, 0.01, 0.02))
    shape = edits.link_length(link((0.2, 0, 0), box), "link", 0.5).body("link").shapes[0]
    assert shape == Box(pose=Pose(position=(0.25, 0, 0)), size=(0.5, 0.01, 0.02))


def test_the_far_end_moves_the_near_one_stays() -> None:
    changed = edits.link_length(link((0.3, 0, 0), near=(0.1, 0, 0)), "link", "100 mm")
    assert far_of(changed) == pytest.approx((0.2, 0.0, 0.0))
    assert changed.joint("A").b.position == (0.1, 0, 0)


@pytest.mark.parametrize("far", [("l", 0, 0), (0, "-l", 0), ("l*cos(g)", "l*sin(g)", 0), ("0.6*l", "0.8*l", 0)])
def test_a_parameter_that_is_the_length_takes_the_value(far: tuple[object, ...]) -> None:
    model = link(far, l=0.2, g=0.4)
    changed = edits.link_length(model, "link", "250 mm")
    assert changed.find("parameters", "l").value == "250 mm"
    assert current_link_length(changed, "link") == pytest.approx(0.25)
    assert (changed.joints, changed.bodies) == (model.joints, model.bodies)


def test_a_length_that_depends_evenly_on_a_parameter_moves_it_and_keeps_the_formula() -> None:
    model = link(("l/2 + 0.05", 0, 0), l=0.2)
    changed = edits.link_length(model, "link", 0.25)
    assert changed.joints == model.joints
    assert changed.find("parameters", "l").value == pytest.approx(0.4)


def test_a_formula_is_asked_for_by_a_formula() -> None:
    changed = edits.link_length(link((0.2, 0, 0), h=0.3), "link", "2*h")
    assert current_link_length(changed, "link") == pytest.approx(0.6)
    assert current_link_length(edits.change(changed, "parameters", "h", value=0.5), "link") == pytest.approx(1.0)


def test_formulas_of_two_parameters_are_never_overwritten_silently() -> None:
    model = link(("l + h", 0, 0), l=0.2, h=0.1)
    assert length_parameter(model, "link") is None
    with pytest.raises(ModelError, match="follows from formulas") as told:
        edits.link_length(model, "link", 0.25)
    assert "offset" in told.value.remedy
    added = edits.link_length(model, "link", 0.25, formulas="offset")
    assert added.joint("B").a.position[0] == "l + h - 0.05"
    plain = edits.link_length(model, "link", 0.25, formulas="number")
    assert plain.joint("B").a.position == (0.25, 0.0, 0.0)
    moved = edits.link_length(model, "link", 0.25, parameter="h")
    assert moved.joints == model.joints
    assert moved.find("parameters", "h").value == pytest.approx(0.05)


def test_a_shape_with_a_formula_between_plain_points_is_told() -> None:
    bar = Capsule(pose=Pose(position=("l/2", 0, 0), rotation=(0, "90 deg", 0)), radius=0.01, length="l")
    model = link((0.2, 0, 0), bar, l=0.2)
    with pytest.raises(ModelError, match="shape"):
        edits.link_length(model, "link", 0.25)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "cannot be 0 m"), (-1, "cannot be -1 m"), ("nothing", "nothing"), ("0/0", "divides by zero")],
)
def test_lengths_without_sense_are_refused(value: object, words: str) -> None:

    with pytest.raises(KinetostatError, match=words):
        edits.link_length(link((0.2, 0, 0)), "link", value)


def test_the_last_link_of_a_drawn_arm_reaches_to_its_free_end() -> None:
    model = linkage.link(Model(name="arm"), [(0, 0), (0.1, 0), (0.4, 0)])
    assert current_link_length(model, "link2") == pytest.approx(0.3)
    changed = edits.link_length(model, "link2", "50 cm")
    assert changed.find("parameters", "l2").value == "50 cm"
    assert (changed.bodies, changed.joints) == (model.bodies, model.joints)
    assert current_link_length(changed, "link2") == pytest.approx(0.5)


def last_link(
    *shapes: Shape, kind: str = "revolute", near: tuple[float, ...] = (0, 0, 0), parameters: tuple[Parameter, ...] = ()
) -> Model:
    """A body `link` that one joint carries, with a frame at (0.2, 0, 0) and one elsewhere."""
    return Model(
        parameters=parameters,
        bodies=(Body(name="link", mass=1.0, shapes=shapes),),
        frames=(
            Frame(name="tool", parent="link", pose=Pose(position=(0.2, 0, 0))),
            Frame(name="other", parent="link", pose=Pose(position=(0.1, 0, 0))),
        ),
        joints=(Joint(name="A", kind=kind, parent="world", child="link", b=Pose(position=near)),),
    )


BAR = Box(pose=Pose(position=(0.1, 0, 0)), size=(0.2, 0.01, 0.02))


def test_what_stands_at_the_tip_goes_along_and_nothing_else() -> None:
    bob, hub = Sphere(pose=Pose(position=(0.2, 0, 0)), radius=0.03), Cylinder(radius=0.02, length=0.05)
    changed = edits.link_length(last_link(BAR, bob, hub), "link", 0.5)
    bar, moved, still = changed.body("link").shapes
    assert bar == Box(pose=Pose(position=(0.25, 0, 0)), size=(0.5, 0.01, 0.02))
    assert moved.pose.position == (0.5, 0.0, 0.0)
    assert still == hub
    assert changed.find("frames", "tool").pose.position == (0.5, 0.0, 0.0)
    assert changed.find("frames", "other").pose.position == (0.1, 0, 0)


def test_a_tip_is_where_a_shape_ends_that_begins_at_the_joint_whichever_way_it_lies() -> None:
    turned = Cylinder(pose=Pose(position=(0.1, 0, 0), rotation=(0, -math.pi / 2, 0)), radius=0.01, length=0.2)
    for shape in (BAR, turned):
        assert current_link_length(last_link(shape), "link") == pytest.approx(0.2)
        assert current_link_length(last_link(shape, near=(0.2, 0, 0)), "link") == pytest.approx(0.2)


@pytest.mark.parametrize(
    "model",
    [
        last_link(BAR, Cylinder(pose=Pose(position=(0, 0, 0.1)), radius=0.01, length=0.2)),
        last_link(Cylinder(radius=0.05, length=0.2)),
        last_link(BAR, near=(0.05, 0, 0)),
        last_link(BAR, kind="fixed"),
        last_link(BAR, kind="free"),
        last_link(),
    ],
    ids=("two tips", "about the joint", "beside the joint", "held", "free", "no shape"),
)
def test_where_no_one_tip_is_there_is_no_length(model: Model) -> None:
    assert math.isnan(current_link_length(model, "link"))
    with pytest.raises(ModelError, match="single tip"):
        edits.link_length(model, "link", 0.3)


def test_a_tip_that_follows_from_several_parameters_is_locked() -> None:
    bar = Capsule(pose=Pose(position=("(l+h)/2", 0, 0), rotation=(0, "90 deg", 0)), radius=0.01, length="l + h")
    parameters = (Parameter(name="l", value=0.2), Parameter(name="h", value=0.1))
    model = last_link(bar, parameters=parameters)
    assert is_length_locked(model, "link")
    with pytest.raises(ModelError, match=r"capsule is 'l \+ h' long"):
        edits.link_length(model, "link", 0.25)
    (added,) = edits.link_length(model, "link", 0.25, formulas="offset").body("link").shapes
    assert added.length == "l + h - 0.05"
    assert current_link_length(edits.link_length(model, "link", 0.25, formulas="number"), "link") == pytest.approx(0.25)


def test_the_last_link_of_a_urdf_file_has_the_length_of_its_bar() -> None:
    model = loads(URDF, "urdf")
    assert current_link_length(model, "arm") == pytest.approx(0.4)
    changed = edits.link_length(model, "arm", 0.6)
    assert current_link_length(changed, "arm") == pytest.approx(0.6)
    assert {shape.length for shape in changed.body("arm").shapes} == {0.6}


def test_bodies_without_two_points_have_no_length() -> None:
    with pytest.raises(ModelError, match="neither two joints at different positions"):
        edits.link_length(link((0, 0, 0)), "link", 0.1)
    assert math.isnan(current_link_length(link((0, 0, 0)), "link"))


def test_the_joints_of_a_four_bar_move_with_its_lengths() -> None:
    """By its closed form: the pins of the coupler are its length apart."""
    model = edits.link_length(load(EXAMPLES / "four_bar.kst"), "coupler", 0.35)
    mech = Mechanism(model)
    places = mech.joint_poses(mech.assemble(mech.rest()))
    a, b = (places[name][0][:3, 3] for name in ("moving_pin_a", "moving_pin_b"))
    assert math.dist(a, b) == pytest.approx(0.35, abs=1e-9)
