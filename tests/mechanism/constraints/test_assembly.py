"""Closing loops from far away: trust region, homotopy, the best position on the error, joints the right way round."""

import math

import numpy as np
import pytest

from core.constraints.closed_positions import find_reversed_cut_joints, find_reversed_joint
from core.errors import AssemblyError
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model, Pose
from core.numerics import position_solver
from core.numerics.tolerances import ACCEPTED_GAP
from tests.constraints.mobility import overconstrained as machines


def plane(residual, jacobian):
    """A problem in plain coordinates without limits."""
    return position_solver.PositionProblem(
        residual, jacobian, lambda q, step: q + step, lambda q: (-np.full_like(q, np.inf), np.full_like(q, np.inf))
    )


FREE = np.zeros(2, dtype=bool)


def test_the_trusted_step_is_the_shortest_that_fits_in_its_region():
    rng = np.random.default_rng(2)
    C, target = rng.normal(size=(3, 6)), rng.normal(size=3)
    full = position_solver._trust_region_step(C, target, 1e3)
    np.testing.assert_allclose(full, np.linalg.pinv(C) @ target, atol=1e-12)
    radius = 0.3 * np.linalg.norm(full)
    short = position_solver._trust_region_step(C, target, radius)
    assert np.linalg.norm(short) == pytest.approx(radius, rel=0.06)
    # the minimum on the sphere: Cᵀ (C y − target) = −μ y with μ > 0 (Moré, Sorensen 1983)
    gradient = C.T @ (C @ short - target)
    mu = -float(gradient @ short) / float(short @ short)
    assert mu > 0.0
    np.testing.assert_allclose(gradient, -mu * short, atol=1e-9)


def test_redundant_rows_do_not_disturb_the_step():
    C = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
    doubled, target = np.vstack([C, C[0] + C[1]]), np.array([0.4, -0.7])
    step = position_solver._trust_region_step(doubled, np.append(target, target.sum()), 10.0)
    np.testing.assert_allclose(step, np.linalg.pinv(C) @ target, atol=1e-10)


def test_heavy_coordinates_move_least():
    problem = plane(lambda q: np.array([q[0] + q[1] - 1.0]), lambda q: np.array([[1.0, 1.0]]))
    q, gap = position_solver.solve_position(problem, np.zeros(2), np.array([1.0, 10.0]), FREE)
    assert gap < 1e-11
    assert q[1] / q[0] == pytest.approx(0.01, rel=1e-6)


def test_homotopy_follows_where_newton_jumps():
    """atan pulls Newton apart from far away; closing the gap gradually comes home."""
    problem = plane(
        lambda q: np.array([np.arctan(3.0 * (q[0] - 2.0)), q[1] - q[0] ** 2]),
        lambda q: np.array([[3.0 / (1.0 + 9.0 * (q[0] - 2.0) ** 2), 0.0], [-2.0 * q[0], 1.0]]),
    )
    q, gap = position_solver.solve_by_homotopy(problem, np.array([-3.0, 0.0]), np.ones(2), FREE)
    assert gap < ACCEPTED_GAP
    np.testing.assert_allclose(q, [2.0, 4.0], atol=1e-7)


LOOPS = [
    machines.planar_fourbar(),
    machines.slider_crank(),
    machines.sarrus(),
    machines.stewart(),
    machines.bricard_reference()[0],
    machines.cardan_shaft(),
]


@pytest.mark.parametrize("model", LOOPS, ids=lambda model: model.name)
def test_any_pose_leads_to_a_closed_one(model):
    mech = Mechanism(model)
    for seed in range(4):
        q, v = mech.assemble(mech.random(seed), np.ones(mech.nv))
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8
        np.testing.assert_allclose(mech.constraint_jacobian(q) @ v, 0.0, atol=1e-9)
        assert not find_reversed_joint(mech.compiled, q, None)


SEATED = {  # kind of joint → parts of a pose (rotation R, position p) that are 1 or 0 where the two sides fit
    "revolute": lambda R, p: ([R[2, 2]], [*p]),
    "continuous": lambda R, p: ([R[2, 2]], [*p]),
    "cylindrical": lambda R, p: ([R[2, 2]], [p[0], p[1]]),
    "screw": lambda R, p: ([R[2, 2]], [p[0], p[1]]),
    "planar": lambda R, p: ([R[2, 2]], [p[2]]),
    "prismatic": lambda R, p: ([R[0, 0], R[1, 1], R[2, 2]], [p[0], p[1]]),
    "fixed": lambda R, p: ([R[0, 0], R[1, 1], R[2, 2]], [*p]),
}


@pytest.mark.parametrize("turned", [2.0, 2.8, 3.1])
@pytest.mark.parametrize("kind", SEATED)
def test_joints_do_not_close_the_wrong_way_round(kind, turned):
    """A floating body is begun turned by more than a right angle; residuals of directions, which are those that do not
    know where it floats, vanish after half a turn, too."""
    start = (0.1, -0.2, 0.3, 0.6 * math.sin(turned / 2), 0.8 * math.sin(turned / 2), 0.0, math.cos(turned / 2))
    joints = (
        Joint(name="loose", kind="free", parent="world", child="body", rest=start),
        Joint(name="seat", kind=kind, parent="world", child="body", axis=(0.0, 0.0, 1.0), cut="yes"),
    )
    body = Body(name="body", mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    mech = Mechanism(Model(name="seated", bodies=(body,), joints=joints))
    ((_, directions),) = find_reversed_cut_joints(mech.compiled, np.array(start), None)
    elsewhere = mech.constraint_residual((0.7, 0.4, -0.537, *start[3:])) - mech.constraint_residual(start)
    assert [*range(directions.start, directions.stop)] == [*np.flatnonzero(np.abs(elsewhere) < 1e-12)]
    for q in (mech.assemble(start), mech.rest()):
        X = mech.frame(q, "body")
        ones, zeros = SEATED[kind](X[:3, :3], X[:3, 3])
        np.testing.assert_allclose(ones, 1.0, atol=1e-9)
        np.testing.assert_allclose(zeros, 0.0, atol=1e-9)


def test_what_cannot_close_keeps_its_best_position_and_tells_millimetres():
    model = machines.ring("gap", ["revolute"] * 4, [(0, 0, 0), (0, 1, 0), (4, 1, 0), (4, 0, 0)], [(0, 0, 1)] * 4)
    mech = Mechanism(machines.machine("gap", *(_far(j) for j in model.joints)))
    with pytest.raises(AssemblyError, match=r"joint 'J\d'.*the gap is .* mm") as caught:
        mech.assemble(mech.neutral())
    best = caught.value.q
    assert best.shape == (mech.nq,)
    # crank and rocker stretch towards each other: 4 m + 2 m between the grounds, bars of 1, 3 and 1 m
    assert np.max(np.abs(mech.constraint_residual(best))) == pytest.approx(1.0, abs=0.05)


def _far(joint):
    """The coupler of 4 m is cut to 3 m, the right pivot moved to x = 6 m."""
    import dataclasses

    if joint.name == "J3":
        return dataclasses.replace(joint, a=dataclasses.replace(joint.a, position=(3.0, 1.0, 0.0)))
    if joint.name == "J4":
        return dataclasses.replace(joint, b=dataclasses.replace(joint.b, position=(6.0, 0.0, 0.0)))
    return joint


def test_a_loop_that_cannot_close_rests_as_near_to_it_as_it_gets():
    """Two bars of 0.2 m whose feet stand 0.5 m apart: at best they lie in line, 0.1 m short."""
    foot = Pose(position=(0.5, 0.0, 0.0))
    joints = (
        Joint(name="j1", parent="world", child="a", rest=(0.9,)),
        Joint(name="j2", parent="a", child="b", a=Pose(position=(0.2, 0.0, 0.0)), rest=(-0.5,)),
        Joint(name="j3", parent="b", child="world", a=Pose(position=(0.2, 0.0, 0.0)), b=foot),
    )
    mech = Mechanism(Model(name="short", bodies=(Body(name="a", mass=1.0), Body(name="b", mass=1.0)), joints=joints))
    a, b = mech.joint_poses(mech.rest())[mech.loops[0].cut]
    assert np.linalg.norm(a[:3, 3] - b[:3, 3]) == pytest.approx(0.1, abs=1e-3)


def _slider_crank():
    """Crank 0.1 m, rod 0.3 m, slider along x, begun with the crank at 1.2 rad."""
    x, y = 0.1 * np.cos(1.2), 0.1 * np.sin(1.2)
    rod = -float(np.arcsin(y / 0.3))
    joints = (
        Joint(name="O", parent="world", child="crank", rest=(1.2,)),
        Joint(name="P", parent="crank", child="rod", a=Pose(position=(0.1, 0.0, 0.0)), rest=(rod - 1.2,)),
        Joint(name="Q", parent="rod", child="slider", a=Pose(position=(0.3, 0.0, 0.0)), rest=(-rod,), cut="yes"),
        Joint(
            name="S",
            kind="prismatic",
            parent="world",
            child="slider",
            axis=(1.0, 0.0, 0.0),
            rest=(x + 0.3 * float(np.cos(rod)),),
        ),
    )
    return Mechanism(
        Model(name="slider-crank", bodies=tuple(Body(name=n) for n in ("crank", "rod", "slider")), joints=joints)
    )


@pytest.mark.parametrize(("wanted", "end"), [(0.7, 0.4), (0.41, 0.4), (0.05, 0.2)])
def test_a_slider_goes_to_the_end_of_its_travel_and_gives_up_there_soon(monkeypatch, wanted, end):
    """The ends are the sum and the difference of the lengths."""
    steps = []
    bounded = position_solver._step_within_limits
    monkeypatch.setattr(position_solver, "_step_within_limits", lambda *given: steps.append(1) or bounded(*given))
    mech = _slider_crank()
    at = mech.q_names.index("S")
    q = mech.move(mech.rest(), {"S": wanted})
    assert q[at] == pytest.approx(end, abs=1e-5)
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8
    steps.clear()
    again = mech.move(q, {"S": wanted + 0.3 * np.sign(wanted - end)})
    assert again[at] == pytest.approx(end, abs=1e-5)
    assert len(steps) <= 100, "closings that cannot succeed are given up early"
