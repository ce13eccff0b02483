"""The steps of a derivation: their order, formulas and numbers against the compiled kernel, their pictures."""

import re
from pathlib import Path

import numpy as np
import pytest

import resources
from core.files import load
from core.functions import Context, call
from core.functions.results import Formulas, leaf_results
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model, Pose
from core.model.edits import edits
from core.symbolic import robot
from core.symbolic.derivation import (
    SPEED,
    build_picture,
    derivation_steps,
    evaluate_step,
    step_formula,
    symbol_values_at,
)


def example(name):
    return load(next(path.path for path in resources.examples() if Path(path.path).stem == name))


ARMS = ("stanford", "puma560", "kestrel")
EXACT = 1e-11
"""Rounding of long sums, relative (of torques absolute, in units of 10 N·m)."""


@pytest.fixture(scope="module", params=ARMS)
def arm(request):
    model = example(request.param)
    made, mech = robot(model), Mechanism(model)
    q = mech.random(3)
    p = {name: model.values()[name] for name in mech.p_names}
    return made, mech, q, p


def step_of(made, what, *indices, column=0):
    return next(s for s in derivation_steps(made) if (s.what, s.indices, s.column) == (what, indices, column))


def at(arm, what, *indices, column=0):
    made, _, q, p = arm
    return evaluate_step(made, step_of(made, what, *indices, column=column), symbol_values_at(made, q, p))


def test_the_order_of_the_steps(arm):
    made = arm[0]
    n = made.n
    parts = [step.part for step in derivation_steps(made)]
    assert list(dict.fromkeys(parts)) == [
        "Frames",
        "A matrices",
        "Forward kinematics",
        "Jacobian",
        "Centres of mass",
        "Energies",
        "Dynamics",
    ]
    assert [parts.count(part) for part in dict.fromkeys(parts)] == [1, n, n, n, n, 2 * n + 2, 4]
    assert step_formula(made, derivation_steps(made)[0]) == ()
    assert all(step.title and step.text for step in derivation_steps(made))


def test_a_matrices_multiply_to_the_kernels_poses(arm):
    made, mech, q, p = arm
    poses = dict(zip(mech.frame_names, mech.poses(q, p=p), strict=True))
    base = np.linalg.inv(poses[made.chain.frames[0]])
    product = np.eye(4)
    for i in range(1, made.n + 1):
        product = product @ at(arm, "A", i)
        expected = base @ poses[made.chain.frames[i]]
        np.testing.assert_allclose(product, expected, atol=EXACT)
        np.testing.assert_allclose(at(arm, "T", 0, i), expected, atol=EXACT)


def test_columns_of_the_jacobian(arm):
    made, mech, q, p = arm
    J = mech.jacobian(q, made.chain.tip, p=p)
    R = mech.frame(q, made.chain.frames[0], p=p)[:3, :3].T
    for k, variable in enumerate(made.chain.variables, 1):
        column = J[:, variable.v]
        expected = np.concatenate([R @ column[3:], R @ column[:3]])
        np.testing.assert_allclose(at(arm, "J", column=k)[:, 0], expected, atol=EXACT)
        arrows = {arrow.kind: arrow for arrow in build_picture(made, mech, step_of(made, "J", column=k), q, p).arrows}
        np.testing.assert_allclose(arrows["linear"].vector, column[3:], atol=1e-12)
        if variable.turns:
            axis, way = arrows["axis"].vector, arrows["offset"].vector
            np.testing.assert_allclose(np.linalg.norm(axis), 1.0)
            np.testing.assert_allclose(np.cross(axis, way), arrows["linear"].vector, atol=1e-9)


def test_energies_and_matrices(arm):
    made, mech, q, p = arm
    v = np.zeros(mech.nv)
    v[[each.v for each in made.chain.variables]] = SPEED
    at_v = [each.v for each in made.chain.variables]
    M = mech.mass_matrix(q, p=p)[np.ix_(at_v, at_v)]
    np.testing.assert_allclose(at(arm, "M"), M, rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(at(arm, "K")[0, 0], mech.energy(q, v, p=p).kinetic, rtol=EXACT)
    np.testing.assert_allclose(at(arm, "G")[:, 0], mech.gravity(q, p=p)[at_v], rtol=EXACT, atol=10.0 * EXACT)
    bias = mech.bias(q, v, p=p, passive=False)[at_v]
    np.testing.assert_allclose(at(arm, "tau")[:, 0], bias, rtol=EXACT, atol=10.0 * EXACT)


def test_arrows_at_the_centres_of_mass(arm):
    made, mech, q, p = arm
    step = 1e-6
    v = np.zeros(mech.nv)
    v[[each.v for each in made.chain.variables]] = SPEED
    drawn = build_picture(made, mech, step_of(made, "K"), q, p)
    ahead = build_picture(made, mech, step_of(made, "K"), mech.integrate(q, step * v, 1.0), p)
    assert drawn.centers.shape == (made.n, 3)
    found = np.array([arrow.vector for arrow in drawn.arrows])
    np.testing.assert_allclose(found, (ahead.centers - drawn.centers) / step, atol=2e-5)
    alone = 0
    for i in range(1, made.n + 1):
        if len(made.chain.link_bodies(i)) == 1:  # else a body that is fixed to the link moves its centre
            own = build_picture(made, mech, step_of(made, "Jvc", i), q, p)
            np.testing.assert_allclose(own.centers[0], drawn.centers[i - 1], atol=1e-12)
            alone += 1
    assert alone >= made.n - 1


def test_energies_of_links_add_up_and_their_arrows_give_their_numbers(arm):
    made, mech, q, p = arm
    n = made.n
    for what, each in (("K", "Ki"), ("P", "Pi")):
        parts = [at(arm, each, i)[0, 0] for i in range(1, n + 1)]
        assert sum(parts) == pytest.approx(at(arm, what)[0, 0], rel=1e-9, abs=1e-9)
    for i in range(1, n + 1):
        drawn = {arrow.kind: arrow for arrow in build_picture(made, mech, step_of(made, "Pi", i), q, p).arrows}
        way = drawn["offset"].origin + drawn["offset"].vector
        if "weight" in drawn:
            expected = -drawn["weight"].vector @ way
            assert at(arm, "Pi", i)[0, 0] == pytest.approx(expected, rel=EXACT, abs=10.0 * EXACT)
        moving = {arrow.kind: arrow for arrow in build_picture(made, mech, step_of(made, "Ki", i), q, p).arrows}
        step = 1e-6
        v = np.zeros(mech.nv)
        v[[each.v for each in made.chain.variables]] = SPEED
        ahead = build_picture(made, mech, step_of(made, "Ki", i), mech.integrate(q, step * v, 1.0), p)
        speed = (ahead.centers[0] - moving["linear"].origin) / step
        np.testing.assert_allclose(moving["linear"].vector, speed, atol=2e-5)


def test_weights_do_the_work_of_gravity(arm):
    """G = −Σ (∂r/∂q)ᵀ m g over all links: what the drawn weights do where their places go is what the joints hold."""
    made, mech, q, p = arm
    step = 1e-6
    held = mech.gravity(q, p=p)
    for each in made.chain.variables:
        v = np.zeros(mech.nv)
        v[each.v] = step
        ahead, behind = (
            build_picture(made, mech, step_of(made, "P"), mech.integrate(q, sign * v), p) for sign in (1, -1)
        )
        ways = (ahead.centers - behind.centers) / (2.0 * step)
        work = sum(weight.vector @ way for weight, way in zip(ahead.arrows, ways, strict=True))
        assert -work == pytest.approx(held[each.v], abs=1e-7)


def test_parameters_move_the_numbers():
    model = example("two_link")
    made, mech = robot(model), Mechanism(model)
    p = {**{name: model.values()[name] for name in mech.p_names}, "a1": 2.0}
    found = evaluate_step(made, step_of(made, "T", 0, 1), symbol_values_at(made, np.zeros(mech.nq), p))
    assert found[0, 3] == pytest.approx(2.0)


def test_the_function_gives_every_step():
    context = Context.of(example("two_link"))
    found = call("derivation", context)
    labels = [part.label for part in leaf_results(found) if isinstance(part, Formulas)]
    assert labels == [
        "A[1]",
        "A[2]",
        "T[0,1]",
        "T[0,2]",
        "J[1]",
        "J[2]",
        "Jvc[1]",
        "Jvc[2]",
        "K[1]",
        "P[1]",
        "K[2]",
        "P[2]",
        "K",
        "P",
        "M",
        "CM",
        "G",
        "tau",
    ]
    proved = {part.label: part.proved for part in leaf_results(found) if isinstance(part, Formulas)}
    assert all(proved[label] for label in ("T[0,2]", "J[1]", "K", "M", "CM", "G", "tau"))
    only = call("derivation", context, part="Jacobian", numbers=False)
    assert [part.label for part in leaf_results(only) if isinstance(part, Formulas)] == ["J[1]", "J[2]"]


def test_bodies_of_density_with_symbolic_sizes_are_drawn_where_they_are():
    model = example("dual_arm")
    made, mech = robot(model), Mechanism(model)
    q, p = mech.random(1), {name: model.values()[name] for name in mech.p_names}
    drawn = build_picture(made, mech, step_of(made, "K"), q, p)
    assert drawn.centers.shape == (len(made.chain.moved_links), 3)
    assert np.isfinite(drawn.centers).all()
    for step in derivation_steps(made):
        assert step.what == "" or evaluate_step(made, step, symbol_values_at(made, q, p)).size


@pytest.mark.parametrize("name", ["stanford.rob", "two_link.rob", "puma560.kst", "panda.kst", "kestrel/kestrel.urdf"])
def test_the_frame_named_in_a_column_of_the_jacobian_lies_on_the_axis_that_turns(name):
    """Spong, Robot Modeling and Control, 4.6: v = z × (o − o_k) with frame k on the axis: k is one less than the number
    of the joint in standard tables, not in modified ones."""
    made = robot(load(resources.EXAMPLES / name))
    mech = Mechanism(made.model)
    q = mech.random(seed=3)
    tip = mech.frame(q, made.chain.tip)[:3, 3]
    told = [step for step in derivation_steps(made) if step.part == "Jacobian"]
    for k, step in enumerate(told):
        named = re.search(r"the vector o − o_(\d+) from", step.text)
        ω, v = np.split(mech.jacobian(q, made.chain.tip)[:, mech.v_names.index(made.chain.variables[k].joint)], 2)
        assert (named is not None) == (np.linalg.norm(ω) > 0.5)
        if named is not None:
            assert step.frames == (int(named[1]), made.n)
            o_k = mech.frame(q, made.chain.frames[int(named[1])])[:3, 3]
            assert np.allclose(np.cross(ω, tip - o_k), v, atol=1e-9)


def test_a_chain_that_begins_on_the_ground_is_drawn_there():
    """Frame 0 is then the world, which is not among the frames that a machine moves."""
    inertia = Inertia(ixx=0.1, iyy=0.1, izz=0.1)
    joints = (
        Joint(name="j1", parent="world", child="a", a=Pose(position=(0.5, 0.0, 0.0))),
        Joint(name="j2", parent="a", child="b", a=Pose(position=(0.3, 0.0, 0.0))),
    )
    bodies = tuple(Body(name=name, mass=1.0, inertia=inertia) for name in "ab")
    model = Model(name="two", bodies=bodies, joints=joints)
    made, mech = robot(model), Mechanism(model)
    assert made.chain.frames[0] == "world"
    q, p = mech.random(3), {}
    for step in derivation_steps(made):
        arrows = build_picture(made, mech, step, q, p).arrows
        assert all(np.isfinite(arrow.vector).all() for arrow in arrows)
    first = build_picture(made, mech, derivation_steps(made)[0], q, p)
    axes = [np.asarray(arrow.vector) for arrow in first.arrows if np.allclose(arrow.origin, 0.0)]
    assert any(np.allclose(axis, (1.0, 0.0, 0.0)) for axis in axes)


def test_a_body_whose_shapes_have_no_volume_has_steps_too():
    """A density of nothing that has a volume gives no mass, and so no centre but the one that is stated."""
    model = example("double_pendulum")
    name = model.bodies[-1].name
    made = robot(edits.change(model, "bodies", name, density=1000.0, shapes=(), center_of_mass=(0.1, 0.0, 0.0)))
    assert step_formula(made, step_of(made, "Jvc", made.n))
