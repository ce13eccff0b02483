"""Linkages that are drawn by verbs: what the document then says, and that it moves as closed forms say."""

import itertools
import math

import numpy as np
import pytest

from core.design import linkage
from core.design.linkage import On, ground
from core.errors import ModelError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Joint, Model, Pose
from core.model.edits import edits
from core.model.parameters import evaluate_field
from core.model.validation.model import check

EMPTY = Model(name="drawn")
FOUR_BAR = [(0.0, 0.0), (0.03, 0.1), (0.3, 0.2), ground(0.32, 0.0)]


@pytest.fixture(scope="module")
def four_bar():
    return linkage.link(EMPTY, FOUR_BAR)


@pytest.fixture(scope="module")
def slider_crank():
    model = linkage.link(EMPTY, [(0.0, 0.02), (0.03, 0.06), (0.2, 0.0)])
    return linkage.slider(model, "link2")


def closed(model):
    """Its mechanism and rest; loops are closed to 1e-10."""
    mech = Mechanism(model)
    q = mech.rest()
    assert np.max(np.abs(mech.constraint_residual(q)), initial=0.0) < 1e-10
    return mech, q


def pins(model, plane=linkage.XZ):
    return {pin.name: pin.point for pin in linkage.Drawing(model, plane).pins}


# ------------------------------------------------------------------------------- what the document says


def test_a_chain_is_an_ordinary_document(four_bar):
    assert [body.name for body in four_bar.bodies] == ["link1", "link2", "link3"]
    assert [joint.name for joint in four_bar.joints] == ["A", "B", "C", "D"]
    assert [(joint.parent, joint.child) for joint in four_bar.joints] == [
        ("world", "link1"),
        ("link1", "link2"),
        ("link2", "link3"),
        ("world", "link3"),
    ]
    assert [len(joint.rest) for joint in four_bar.joints] == [1, 1, 1, 0]
    assert four_bar.joints[1].a.position == ("l1", 0.0, 0.0)
    assert all(joint.axis == (0.0, -1.0, 0.0) for joint in four_bar.joints)
    assert all(body.density and body.shapes[0].length == f"l{k}" for k, body in enumerate(four_bar.bodies, 1))
    assert not check(four_bar)
    assert loads(dumps(four_bar)) == four_bar


@pytest.mark.parametrize("axes", ["xz", "xy", "yz"])
def test_pins_stand_where_they_were_drawn_in_every_plane(axes):
    plane = linkage.PLANES[axes]
    model = linkage.link(EMPTY, FOUR_BAR, plane=plane)
    mech, q = closed(model)
    assert mech.mobility(q).dof == 1
    wanted = [(0.0, 0.0), (0.03, 0.1), (0.3, 0.2), (0.32, 0.0)]
    assert [pytest.approx(point, abs=1e-10) for point in pins(model, plane).values()] == wanted
    u, v, n = plane.basis.T
    for name, point in zip("ABC", wanted, strict=False):
        place = np.asarray(mech.joint_poses(q)[name][0])[:3, 3]
        assert place == pytest.approx(point[0] * u + point[1] * v, abs=1e-10)
    centre = mech.center_of_mass(q)
    assert abs(centre @ n) < 1e-12  # bars lie in the plane


def test_a_plane_off_the_origin_is_a_frame():
    model, plane = linkage.plane_on(EMPTY, axes="xz", offset=0.05)
    assert [frame.name for frame in model.frames] == ["plane1"]
    model = linkage.link(model, FOUR_BAR, plane=plane)
    mech, q = closed(model)
    assert model.joints[0].parent == "plane1"
    assert model.joints[0].axis == (0.0, 0.0, 1.0)
    poses = np.asarray(mech.poses(q))[:3, :3, 3]
    assert poses == pytest.approx(np.array([[0.0, -0.05, 0.0], [0.03, -0.05, 0.1], [0.3, -0.05, 0.2]]), abs=1e-10)
    assert mech.mobility(q).dof == 1


@pytest.mark.parametrize(("flipped", "turns"), list(itertools.product((False, True), range(4))))
def test_planes_are_flipped_and_turned(flipped, turns):
    model, plane = linkage.plane_on(EMPTY, axes="xy", offset=0.1, flipped=flipped, turns=turns)
    drawing = linkage.Drawing(model, plane)
    R = drawing.X_WD[:3, :3]
    sign = -1.0 if flipped else 1.0
    turn = turns * math.pi / 2.0
    assert R[:, 2] == pytest.approx((0.0, 0.0, sign), abs=1e-12)
    assert R[:, 0] == pytest.approx((math.cos(turn), sign * math.sin(turn), 0.0), abs=1e-12)
    assert drawing.X_WD[:3, 3] == pytest.approx((0.0, 0.0, 0.1 * sign), abs=1e-12)


def test_typed_lengths_and_formulas_are_kept():
    model = linkage.link(EMPTY, [(0.0, 0.0)], length=0.05, angle="30 deg")
    model = linkage.link(model, ["link1"], length="2*l1", angle=0.0)
    assert model.find("parameters", "l2").value == "2*l1"
    assert model.joints[0].rest == ("30 deg",)
    tip = linkage.Drawing(model, linkage.XZ).bar("link2").end
    assert tip == pytest.approx((0.05 * math.cos(math.pi / 6.0) + 0.1, 0.025), abs=1e-10)


def test_a_point_off_the_line_makes_a_plate(four_bar):
    model = linkage.link(four_bar, [On("link2", (0.1, 0.25)), (0.2, 0.4)])
    joint = model.joints[-1]
    assert joint.a.position == ("e1*cos(g1)", 0.0, "e1*sin(g1)")
    assert len(model.find("bodies", "link2").shapes) == 3
    values = model.values()
    assert values["e1"] == pytest.approx(math.dist((0.03, 0.1), (0.1, 0.25)), abs=1e-10)
    assert pins(model)[joint.name] == pytest.approx((0.1, 0.25), abs=1e-10)
    on_line = linkage.link(four_bar, [On("link2", (0.165, 0.15)), (0.2, 0.4)])
    assert not {"e1", "g1"} & set(on_line.values())


def test_a_free_end_is_held_and_released(four_bar):
    open_chain = linkage.link(EMPTY, [(0.0, 0.0), (0.03, 0.1), (0.3, 0.2), (0.32, 0.0)])
    held = linkage.ground_pin(open_chain, "link3")
    assert closed(held)[0].mobility().dof == 1
    assert linkage.ground_pin(held, "D").joints == open_chain.joints


def test_on_a_moving_body_that_is_the_ground():
    model = linkage.link(EMPTY, [(0.0, 0.0), (0.2, 0.1)])
    plane = linkage.Plane("xz", "link1")
    model = linkage.link(model, [(0.0, 0.1), (0.05, 0.2), (0.15, 0.2), ground(0.2, 0.1)], plane=plane)
    mech, q = closed(model)
    assert {joint.parent for joint in model.joints} == {"world", "link1", "link2", "link3"}
    assert mech.mobility(q).dof == 2


# ------------------------------------------------------------------------------- closed forms


def test_freudensteins_equation_holds_over_the_turn(four_bar):
    """K1 cos(rocker) - K2 cos(crank) + K3 = cos(crank - rocker), angles from the line of the ground pins."""
    values = four_bar.values()
    a, b, c, d = values["l1"], values["l2"], values["l3"], 0.32
    k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2.0 * a * c)
    mech, q = closed(four_bar)
    for step in range(12):
        q = mech.move(q, {"A": q[0] + 0.1}, exact=True)
        crank = q[0]
        rocker = q[0] + q[1] + q[2] + math.pi  # from the ground pin D towards C
        assert k1 * math.cos(rocker) - k2 * math.cos(crank) + k3 == pytest.approx(math.cos(crank - rocker), abs=1e-8), (
            step
        )


def test_the_sliders_coordinate_is_the_textbooks_x(slider_crank):
    """x = a cos(q) + sqrt(b^2 - (a sin(q) + e)^2), e the height of the crank's pin over the slider's line."""
    values = slider_crank.values()
    a, b, e = values["l1"], values["l2"], 0.02
    mech, q = closed(slider_crank)
    at = list(mech.q_names).index("guide1")
    assert q[at] == pytest.approx(0.2, abs=1e-9)
    for _ in range(10):
        q = mech.move(q, {"A": q[0] + 0.15}, exact=True)
        x = a * math.cos(q[0]) + math.sqrt(b * b - (a * math.sin(q[0]) + e) ** 2)
        assert q[at] == pytest.approx(x, abs=1e-8)
    assert mech.mobility(q).dof == 1


def test_a_pin_in_a_slot_swings_the_lever_as_the_quick_return_does():
    model = linkage.link(EMPTY, [(0.0, 0.1), (0.04, 0.1)])
    model = linkage.link(model, [(0.0, 0.0), (0.08, 0.2)])
    model = linkage.slot(model, "link1", "link2")
    assert not model.find("bodies", "block1").mass
    mech, q = closed(model)
    assert mech.mobility(q).dof == 1
    for _ in range(12):
        q = mech.move(q, {"A": q[0] + 0.3}, exact=True)
        pin = 0.04 * math.cos(q[0]), 0.1 + 0.04 * math.sin(q[0])
        lever = mech.coordinate(q, "B")[0]
        assert math.remainder(lever - math.atan2(pin[1], pin[0]), 2.0 * math.pi) == pytest.approx(0.0, abs=1e-8)


def test_gears_of_a_planetary_stage_follow_willis():
    model = linkage.link(EMPTY, [(0.0, 0.0), (0.12, 0.0), (0.16, 0.0)])
    model = linkage.link(model, ["A", (0.0, 0.04)])
    model = linkage.link(model, ["A", (0.0, -0.2)])
    model = linkage.gears(model, "A", "B", (20, 40))
    model = linkage.gears(model, "A", "B", (-100, 40))
    mech, q = closed(model)
    assert mech.mobility(q).dof == 2
    angle = dict(zip(mech.frame_names, range(9), strict=False))

    def turned(q0, q1, body):
        R = np.asarray(mech.poses(q0))[angle[body]][:3, :3].T @ np.asarray(mech.poses(q1))[angle[body]][:3, :3]
        return math.atan2(R[0, 2] * -1.0, R[0, 0]) * -1.0

    moved = mech.move(q, {"A": 0.02, "C": q[list(mech.q_names).index("C")] + 0.07})
    arm, sun, ring = (turned(q, moved, name) for name in ("link1", "link3", "link4"))
    assert (ring - arm) / (sun - arm) == pytest.approx(-20.0 / 100.0, abs=1e-7)
    shapes = [shape for body in model.bodies for shape in body.shapes]
    wheels = [shape.radius for shape in shapes if hasattr(shape, "teeth")]
    rings = [shape.inner_radius for shape in shapes if hasattr(shape, "inner_radius")]
    assert wheels == pytest.approx([0.08, 0.04])  # the planet has one wheel for both meshes
    assert rings == pytest.approx([0.2])


def test_gears_without_a_common_carrier_are_refused(four_bar):
    with pytest.raises(ModelError, match="No body carries both"):
        linkage.gears(four_bar, "A", "C", -2.0)


def test_a_mass_point_has_no_inertia_and_a_spring_is_slack(four_bar):
    model = linkage.mass_point(four_bar, "B", 2.0)
    model = linkage.spring(model, "C", (0.1, 0.3))
    plain, heavy = closed(four_bar)[0], closed(model)[0]
    q = plain.rest()
    speed = plain.speeds(q, {"A": 1.0})
    difference = speed @ (heavy.mass_matrix(heavy.rest()) - plain.mass_matrix(q)) @ speed
    assert difference == pytest.approx(2.0 * four_bar.values()["l1"] ** 2, rel=1e-9)
    assert model.forces[0].rest == pytest.approx(math.dist((0.3, 0.2), (0.1, 0.3)), abs=1e-9)


def test_a_motor_begins_where_it_is_drawn_and_a_second_one_takes_it_out(four_bar):
    model = linkage.motor(four_bar, "A")
    mech = Mechanism(model)
    assert mech.rest() == pytest.approx(Mechanism(four_bar).rest(), abs=1e-9)
    assert linkage.motor(model, "A") == four_bar


# ------------------------------------------------------------------------------- dimensions


def test_a_length_closes_the_loop_again_on_the_same_branch(four_bar):
    model = linkage.dimension(four_bar, "l2", 0.25)
    mech, q = closed(model)
    assert q[0] == pytest.approx(Mechanism(four_bar).rest()[0], abs=1e-9)
    b, c, d = (pins(model)[name] for name in "BCD")
    assert math.dist(b, c) == pytest.approx(0.25, abs=1e-9)
    side = lambda b, c, d: (d[0] - b[0]) * (c[1] - b[1]) - (d[1] - b[1]) * (c[0] - b[0])  # noqa: E731
    assert side(b, c, d) * side(*(pins(four_bar)[name] for name in "BCD")) > 0.0
    assert mech.mobility(q).dof == 1


def test_a_length_that_cannot_close_says_by_how_much_and_the_range(four_bar):
    driven = linkage.motor(four_bar, "A")
    b, d, c = math.dist((0.03, 0.1), (0.32, 0.0)), 0.9, four_bar.values()["l3"]
    with pytest.raises(ModelError) as failure:
        linkage.dimension(driven, "l2", d)
    text = str(failure.value)
    for number in (d - (b + c), b - c, b + c):
        assert f"{number:.5g}" in text


@pytest.mark.parametrize("value", [0.0, -0.1, "l2 - 1"])
def test_lengths_that_are_none_are_refused(four_bar, value):
    with pytest.raises(ModelError):
        linkage.dimension(four_bar, "l2", value)


def test_an_angle_and_a_distance_are_dimensions(four_bar):
    model = linkage.link_angle(linkage.motor(four_bar, "A"), "A", 1.0)
    assert closed(model)[1][0] == pytest.approx(1.0, abs=1e-9)
    assert model.drivers[0].function.startswith("1 +")
    moved = linkage.ground_distance(four_bar, "D", "A", 0.3)
    closed(moved)
    assert pins(moved)["D"] == pytest.approx((0.3, 0.0), abs=1e-9)
    assert moved.values() == four_bar.values()


# ------------------------------------------------------------------------------- reshaping


def test_a_pin_goes_where_it_is_dragged_and_all_others_stay(four_bar):
    for start, goal in (((0.3, 0.2), (0.28, 0.25)), ((0.03, 0.1), (0.0, 0.12)), ((0.32, 0.0), (0.35, -0.05))):
        model = linkage.moved_pin(four_bar, start, goal)
        closed(model)
        wanted = {name: goal if math.dist(point, start) < 1e-9 else point for name, point in pins(four_bar).items()}
        assert pins(model) == {name: pytest.approx(point, abs=1e-9) for name, point in wanted.items()}


def test_a_locked_length_keeps_its_pin_on_a_circle(four_bar):
    model = linkage.moved_pin(four_bar, (0.3, 0.2), (0.28, 0.25), locked=["l2"])
    assert model.values()["l2"] == four_bar.values()["l2"]
    formula = linkage.dimension(four_bar, "l2", "l1 + 0.183520536")
    dragged = linkage.moved_pin(formula, pins(formula)["C"], (0.28, 0.25))
    assert dragged.find("parameters", "l2").value == formula.find("parameters", "l2").value
    assert linkage.moved_pin(four_bar, (0.3, 0.2), (0.2, 0.2), locked=["l2", "l3"]) == four_bar


def test_a_dyad_is_folded_and_folded_back(four_bar):
    other = linkage.flipped(four_bar, "C")
    closed(other)
    assert other.values() == four_bar.values()
    b, d, c = (np.array(point) for point in ((0.03, 0.1), (0.32, 0.0), (0.3, 0.2)))
    line = (d - b) / np.linalg.norm(d - b)
    mirrored = 2.0 * (b + line * ((c - b) @ line)) - c
    assert pins(other)["C"] == pytest.approx(tuple(mirrored), abs=1e-9)
    assert pins(linkage.flipped(other, "C"))["C"] == pytest.approx((0.3, 0.2), abs=1e-9)


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "points",
    [
        [(0.0, 0.0)],
        [(0.0, 0.0), (0.0, 0.0)],
        [(0.0, 0.0), (math.nan, 0.0)],
        [(0.0, 0.0), "nowhere"],
        [(0.0, 0.0), On("nobody", (0.1, 0.1))],
        [(0.0, 0.0), 7],
    ],
)
def test_points_that_make_no_link_are_refused_with_a_remedy(points):
    with pytest.raises(ModelError) as failure:
        linkage.link(EMPTY, points)
    assert failure.value.remedy


def test_a_formula_with_an_unknown_name_is_told(four_bar):
    with pytest.raises(Exception, match="nix"):
        linkage.link(four_bar, ["link1"], length="2*nix", angle=0.0)
    with pytest.raises(Exception, match="nix"):
        linkage.dimension(four_bar, "l2", "nix")


def test_what_a_drag_shows_of_a_machine_is_what_letting_go_makes_of_it():
    """Lengths and angles of the preview are those of the edit; a pin on the ground changes more than numbers."""
    from core.design.linkage.reshaping import compute_pin_shift, pins_at_dead_centre

    model = linkage.link(Model(name="four-bar"), [(0, 0), (0.03, 0.1), (0.3, 0.2), linkage.ground(0.32, 0)])
    drawing = linkage.Drawing(model, linkage.XZ)
    point, goal = drawing.pin("C").point, (0.25, 0.24)
    found = compute_pin_shift(drawing, point, goal)
    moved = linkage.moved_pin(model, point, goal)
    assert found is not None
    assert {name: moved.values()[name] for name in found.lengths} == pytest.approx(found.lengths, abs=1e-9)
    was, now = ({joint.name: float(joint.rest[0]) for joint in each.joints if joint.rest} for each in (model, moved))
    turned = {name: now[name] - was[name] for name in was if abs(now[name] - was[name]) > 1e-9}
    assert {name: turn for name, turn in found.turns.items() if name in was} == pytest.approx(turned, abs=1e-9)
    assert compute_pin_shift(drawing, drawing.pin("A").point, (0.01, 0.0)) is None
    assert pins_at_dead_centre(drawing, {"A", "B", "C", "D"}) == ()
    line = linkage.moved_pin(model, point, (0.175, 0.05))  # on the line from B to D
    assert pins_at_dead_centre(linkage.Drawing(line, linkage.XZ), {"B", "C"}) == ("C",)


@pytest.mark.parametrize("axis", [(0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (1.0, 2.0, 3.0)])
def test_a_plane_through_a_joint_is_square_to_its_axis_and_what_is_drawn_turns_about_it(axis):
    body = Body(name="arm", mass=1.0)
    carrier = Joint(name="J", parent="world", child="arm", a=Pose(position=(0.1, 0.2, 0.3)), axis=axis)
    model, plane = linkage.plane_through(Model(bodies=(body,), joints=(carrier,)), "J")
    model = linkage.link(model, [(0.0, 0.0), (0.1, 0.05)], plane=plane)
    X = linkage.Drawing(model, plane).X_WD
    assert X[:3, 3] == pytest.approx((0.1, 0.2, 0.3), abs=1e-12)
    assert X[:3, 2] == pytest.approx(np.array(axis) / np.linalg.norm(axis), abs=1e-12)
    mech = Mechanism(model)
    pin = np.asarray(mech.joint_poses(mech.rest())[model.joints[-1].name][0])
    assert pin[:3, :3] @ model.joints[-1].axis == pytest.approx(X[:3, 2], abs=1e-12)


def test_a_plane_measured_on_a_surface_is_written_without_noise_and_once():
    from core.numerics.spatial.rotation import from_angles

    tilted = np.array(from_angles([0.0, 0.0, np.pi / 6]), dtype=float)
    noise = 1e-8 * np.arange(9.0).reshape(3, 3)
    model, plane = linkage.plane_at(
        Model(bodies=(Body(name="arm"),)), "arm", (0.1000000015, 0.0, 1e-9), np.eye(3) + noise
    )
    assert model.frames[0].pose == Pose(position=(0.1, 0.0, 0.0))
    assert linkage.plane_at(model, "arm", (0.1, 0.0, 0.0), np.eye(3)) == (model, plane)
    other, tilt = linkage.plane_at(model, "arm", (0.1, 0.0, 0.0), tilted + noise)
    X = linkage.Drawing(other, tilt).X_WD
    assert len(other.frames) == 2
    assert X[:3, :3] == pytest.approx(tilted, abs=1e-6)
    assert X[:3, :3].T @ X[:3, :3] == pytest.approx(np.eye(3), abs=1e-12)


def test_a_guide_that_came_to_close_a_loop_rests_where_it_stands_after_a_drag_and_its_motor_begins_there():
    chain = linkage.link(EMPTY, [(-0.06, -0.24), (0.14, 0.13), (-0.23, -0.07), (0.21, -0.26)])
    model = linkage.slot(chain, linkage.ground(0.07, 0.28), "link1")
    guide = model.joints[-2]
    model = linkage.slot(model, guide.child, "link2")
    assert guide.rest
    assert guide.name not in Mechanism(model).q_names, "the second loop is closed in it"
    moved = linkage.moved_pin(model, (0.14, 0.13), (0.02, 0.13))
    mech = Mechanism(moved)
    stands = float(mech.coordinate(mech.rest(), guide.name)[0])
    before = Mechanism(model)
    assert abs(stands - before.coordinate(before.rest(), guide.name)[0]) > 1e-3
    assert float(moved.joint(guide.name).rest[0]) == pytest.approx(stands, abs=1e-9)
    driven = Mechanism(linkage.motor(moved, guide.name))
    assert np.max(np.abs(driven.constraint_residual(driven.rest()))) < 1e-10


@pytest.mark.parametrize(("along", "longer"), [(0.2, 2.0), (-0.1, 2.0), (0.05, 1.0), (0.25, 2.5)])
def test_a_third_point_on_the_line_of_a_link_makes_it_longer(along, longer):
    """Bars weigh as their shapes: capsules of one radius, whose round ends weigh 4/3 of a radius of the bar."""
    bar = linkage.link(Model(name="bar"), [(0, 0), (0.1, 0)])
    whole = linkage.corner(bar, "link1", (along, 0.0))
    lengths = [
        sum(evaluate_field(shape.length, each.values()) for shape in each.bodies[0].shapes) for each in (bar, whole)
    ]
    assert lengths[1] == pytest.approx(longer * lengths[0])
    mech = Mechanism(whole)
    np.testing.assert_allclose(mech.frame(mech.rest(), "P1")[:3, 3], (along, 0.0, 0.0), atol=1e-12)
    grown = edits.change(whole, "parameters", "l1", value=0.15)
    place = Mechanism(grown).frame(Mechanism(grown).rest(), "P1")[0, 3]
    assert place == pytest.approx(along + 0.05 if along > 0.1 else along)
