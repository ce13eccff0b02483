"""Closed loops: which joints are cut, closing, dragging, constrained accelerations."""

import dataclasses

import numpy as np
import pytest

from core.errors import AssemblyError, ModelError
from core.mechanism import Mechanism
from core.model import Body, Driver, Frame, Gravity, Inertia, Joint, Limit, Mimic, Model, Pose, World

ROD = Inertia(ixx=0.001, iyy=0.01, izz=0.01)


def bar(name, length):
    return Body(name=name, mass=2.0 * length, center_of_mass=(length / 2, 0.0, 0.0), inertia=ROD)


def pin(name, inner, outer, a=0.0, b=0.0, **more):
    return Joint(
        name=name,
        parent=inner,
        child=outer,
        a=Pose(position=(a, 0.0, 0.0)),
        b=Pose(position=(b, 0.0, 0.0)),
        axis=(0.0, 1.0, 0.0),
        **more,
    )


def fourbar(crank=0.2, coupler=0.5, rocker=0.4, base=0.45, **limits):
    return Model(
        name="fourbar",
        bodies=(bar("crank", crank), bar("coupler", coupler), bar("rocker", rocker)),
        joints=(
            pin("A", "world", "crank", **limits),
            pin("B", "crank", "coupler", crank),
            pin("C", "coupler", "rocker", coupler, rocker),
            pin("D", "world", "rocker", base),
        ),
    )


def points(mech, q):
    return [mech.joint_poses(q)[name][1][[0, 2], 3] for name in "ABCD"]


def test_the_loop_and_its_cut_joint():
    mech = Mechanism(fourbar())
    (loop,) = mech.loops
    assert loop.cut in "ABCD"
    assert sorted(loop.joints) == ["A", "B", "C", "D"]
    assert mech.nv == 3


def test_rest_is_closed_although_all_bars_begin_in_a_line():
    mech = Mechanism(fourbar())
    q = mech.rest()
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-9
    A, B, C, D = points(mech, q)
    for p, r, length in ((A, B, 0.2), (B, C, 0.5), (C, D, 0.4), (A, D, 0.45)):
        assert np.linalg.norm(p - r) == pytest.approx(length, abs=1e-8)


def test_dragging_the_crank_keeps_the_loop_closed_through_a_whole_turn():
    mech = Mechanism(fourbar())
    q = mech.rest()
    start = q.copy()
    for angle in np.linspace(q[0], q[0] + 2.0 * np.pi, 73)[1:]:
        q = mech.move(q, {"A": angle})
        assert q[0] == pytest.approx(angle, abs=1e-9)
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8
    assert np.max(np.abs(points(mech, q)[2] - points(mech, start)[2])) < 1e-6  # Grashof: back on the same branch


def test_a_coordinate_dragged_too_far_stops_where_the_loop_allows():
    mech = Mechanism(fourbar())
    other = next(c.name for c in mech.coordinates if c.name != "A")
    q = mech.rest()
    for step in np.linspace(0.0, 3.0, 16):
        q = mech.move(q, {other: step})
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8


def test_a_long_drag_ends_near_the_dead_point():
    """Slider–crank: the slider stops where crank and rod are in line, whatever the pointer asks for."""
    model = Model(
        name="slider_crank",
        bodies=(bar("crank", 0.2), bar("rod", 0.5), Body(name="piston", mass=0.3, inertia=ROD)),
        joints=(
            pin("shaft", "world", "crank"),
            pin("big_end", "crank", "rod", 0.2),
            pin("small_end", "rod", "piston", 0.5),
            Joint(name="slide", kind="prismatic", parent="world", child="piston", axis=(1.0, 0.0, 0.0)),
        ),
    )
    mech = Mechanism(model)
    q = mech.assemble(mech.neutral() + 0.3)
    index = mech.q_names.index("slide")
    q = mech.move(q, {"slide": 2.0})
    assert 0.69 < q[index] <= 0.7 + 1e-9
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8
    q = mech.move(q, {"slide": -2.0})
    assert 0.3 - 1e-9 <= q[index] < 0.31


def test_limits_hold_while_dragging():
    mech = Mechanism(fourbar(limits=(Limit(lower=-0.5, upper=0.5),)))
    q = mech.move(mech.rest(), {"A": 2.0})
    assert q[0] == pytest.approx(0.5)
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8


def test_a_loop_that_cannot_close_names_joint_and_gap():
    mech = Mechanism(fourbar(base=2.0))
    with pytest.raises(AssemblyError, match=r"joint '[ABCD]'.*the gap is .* mm"):
        mech.assemble(mech.neutral())
    assert mech.rest().shape == (3,)  # drawn as it is


def test_assemble_respects_what_is_fixed_and_makes_speeds_consistent():
    mech = Mechanism(fourbar())
    guess = mech.rest() + 0.1
    q, v = mech.assemble(guess, [1.0, 0.0, 0.0], fixed=["A"])
    assert q[0] == guess[0]
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-9
    np.testing.assert_allclose(mech.constraint_jacobian(q) @ v, 0.0, atol=1e-12)
    h = 1e-6
    gaps = mech.constraint_residual(mech.integrate(q, v, h))
    assert np.max(np.abs(gaps)) < 1e-10


def test_constrained_accelerations_keep_the_loop_closed_and_the_power_balanced():
    mech = Mechanism(fourbar())
    q, v = mech.assemble(mech.rest() + 0.05, [2.0, 0.0, 0.0])
    tau = np.array([0.3, -0.1, 0.2])
    a = mech.forward_dynamics(q, v, tau)
    h = 1e-5
    G = mech.constraint_jacobian(q)
    G_rate = (
        mech.constraint_jacobian(mech.integrate(q, v, h)) - mech.constraint_jacobian(mech.integrate(q, v, -h))
    ) / (2 * h)
    np.testing.assert_allclose(G @ a + G_rate @ v, 0.0, atol=1e-7)
    ahead = mech.energy(mech.integrate(q, v + 0.5 * h * a, h), v + h * a).total
    behind = mech.energy(mech.integrate(q, v - 0.5 * h * a, -h), v - h * a).total
    assert (ahead - behind) / (2 * h) == pytest.approx(v @ tau, abs=1e-5)
    many = mech.forward_dynamics(np.stack([q, q]), np.stack([v, 0.5 * v]), tau)
    np.testing.assert_allclose(many[0], a, atol=1e-9)


def test_inverse_dynamics_of_a_loop_acts_at_the_actuators():
    mech = Mechanism(fourbar())
    q, v = mech.assemble(mech.rest() + 0.05, [2.0, 0.0, 0.0])
    a = mech.forward_dynamics(q, v, [0.7, 0.0, 0.0])
    np.testing.assert_allclose(mech.inverse_dynamics(q, v, a), [0.7, 0.0, 0.0], atol=1e-9)
    name = mech.v_names[-1]
    other = mech.inverse_dynamics(q, v, a, actuators=[name])
    np.testing.assert_allclose(mech.forward_dynamics(q, v, other), a, atol=1e-8)
    with pytest.raises(ModelError, match="no speed 'Z'"):
        mech.inverse_dynamics(q, v, a, actuators=["Z"])


def test_actuators_stand_in_the_place_of_drivers():
    """What moves a machine by inverse dynamics is what its driver's motor gives, however the crank is named."""
    free = fourbar()
    crank = Mechanism(free).v_names[0]
    driven = Mechanism(dataclasses.replace(free, drivers=(Driver(name="motor", joint=crank, function="0.3 + 2*t^2"),)))
    q, v = driven.assemble(driven.rest(t=0.4), np.zeros(driven.nv), t=0.4)
    still = np.zeros(driven.nv)
    a = driven.forward_dynamics(q, v, still, t=0.4)
    (torque,) = driven.constraint_forces(q, v, still, t=0.4)["motor"]
    assert abs(torque) > 0.1
    for actuators in (None, crank, [crank]):
        tau = driven.inverse_dynamics(q, v, a, t=0.4, actuators=actuators)
        np.testing.assert_allclose(tau, [torque, 0.0, 0.0], atol=1e-8)
    np.testing.assert_allclose(Mechanism(free).forward_dynamics(q, v, tau), a, atol=1e-8)


def test_more_actuators_than_freedoms_share_the_work():
    """The smallest forces of all joints are along the one motion w of the loop: τ = w (w · τ₀) / (w · w)."""
    mech = Mechanism(fourbar())
    q, v = mech.assemble(mech.rest() + 0.05, [2.0, 0.0, 0.0])
    a = mech.forward_dynamics(q, v, [0.7, 0.0, 0.0])
    _, _, right = np.linalg.svd(mech.constraint_jacobian(q))
    w = right[-1]
    shared = mech.inverse_dynamics(q, v, a, actuators=mech.v_names)
    np.testing.assert_allclose(shared, w * w[0] * 0.7, atol=1e-9)
    np.testing.assert_allclose(mech.forward_dynamics(q, v, shared), a, atol=1e-8)


def test_a_spatial_loop_with_spherical_joints():
    """RSSR: the cut is a spherical joint; crank and rocker turn about skew axes."""
    model = Model(
        name="rssr",
        world=World(gravity=Gravity(kind="none")),
        bodies=(bar("crank", 0.2), bar("rod", 0.9), bar("rocker", 0.5)),
        joints=(
            Joint(name="R1", parent="world", child="crank"),
            Joint(name="S1", kind="spherical", parent="crank", child="rod", a=Pose(position=(0.2, 0.0, 0.0))),
            Joint(
                name="S2",
                kind="spherical",
                parent="rod",
                child="rocker",
                a=Pose(position=(0.9, 0.0, 0.0)),
                b=Pose(position=(0.5, 0.0, 0.0)),
            ),
            Joint(
                name="R2",
                parent="world",
                child="rocker",
                a=Pose(position=(0.7, 0.3, 0.0)),
                axis=(1.0, 0.0, 0.0),
                b=Pose(rotation=(0.0, 0.0, 1.2)),
            ),
        ),
    )
    mech = Mechanism(model)
    assert mech.loops[0].cut in ("S1", "S2")
    assert mech.constraint_residual(mech.rest()).shape == (3,)
    q = mech.rest()
    for angle in np.linspace(0.0, 6.0, 25):
        q = mech.move(q, {"R1": angle})
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8
    a = mech.forward_dynamics(q, np.zeros(mech.nv), np.ones(mech.nv))
    np.testing.assert_allclose(mech.constraint_jacobian(q) @ a, 0.0, atol=1e-8)


KINDS = ["revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "spherical", "fixed", "free"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_joint_like_the_first_takes_no_motion_away(kind):
    """Two equal joints between the same bodies: one is cut, and its gaps stay closed wherever the other goes."""
    place = Pose(position=(0.1, 0.2, 0.3), rotation=(0.1, 0.2, 0.3))
    axes = {"axis": (0.2, 0.5, 0.8), "second_axis": (0.9, 0.0, 0.1), "pitch": 0.3}
    one, two = (Joint(name=n, kind=kind, parent="world", child="b", a=place, **axes) for n in ("one", "two"))
    mech = Mechanism(Model(name="twice", bodies=(Body(name="b", mass=1.0, inertia=ROD),), joints=(one, two)))
    assert mech.loops[0].cut == "two"
    for seed in range(3):
        q = mech.random(seed)
        np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-12)
        np.testing.assert_allclose(mech.constraint_jacobian(q), 0.0, atol=1e-12)
    assert len(mech.constraint_residual(q)) == 6 - one.info.nv


def test_coupled_joints_are_not_cut():
    model = fourbar()
    joints = (*model.joints[:3], pin("D", "world", "rocker", 0.45, mimic=Mimic(leader="A", ratio=0.5)))
    mech = Mechanism(Model(name="m", bodies=model.bodies, joints=joints))
    assert mech.loops[0].cut in ("B", "C")
    assert mech.nv == 2


def test_a_joint_whose_sides_are_one_body_is_refused():
    model = Model(
        name="m",
        bodies=(bar("b", 1.0),),
        frames=(Frame(name="f", parent="b"),),
        joints=(Joint(name="j", parent="b", child="f"),),
    )
    with pytest.raises(ModelError, match="joint 'j'.*with itself"):
        Mechanism(model)


def test_a_closed_machine_that_cannot_move_has_no_accelerations():
    plates = tuple(Body(name=name, mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0)) for name in "ab")
    joints = (
        Joint(name="one", kind="fixed", parent="world", child="a"),
        Joint(name="two", kind="fixed", parent="world", child="b"),
        Joint(name="both", kind="fixed", parent="a", child="b"),
    )
    mech = Mechanism(Model(name="still", bodies=plates, joints=joints))
    assert mech.nv == 0
    assert mech.loops
    assert mech.forward_dynamics([], [], []).shape == (0,)
    np.testing.assert_array_equal(mech.compiled.call("frame_acceleration:b", [], [], []), np.zeros(6))
