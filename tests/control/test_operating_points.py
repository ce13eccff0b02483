"""Operating points: published ones, closed forms, and what cannot be met, by name."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from core.errors import ModelError
from resources import EXAMPLES
from tests.control.machines import cart_pole, pendulum
from tests.walks import walk

DATA = json.loads((Path(__file__).parents[1] / "reference" / "trim_operating_points.json").read_text())


def accelerated_cart_pole():
    data = DATA["parameters"]["a"]
    return cart_pole(data["M"], data["m"], data["l"], data["J_com"], data["g"])


def test_the_published_accelerated_cart_pole():
    op = ks.OperatingPoint(accelerated_cart_pole(), at=[0.0, 0.0])
    op["x.a"].fixed(DATA["parameters"]["a"]["acceleration"])
    op["x.q"].fixed(0.0)
    op["x.tau"].free()
    found = op.solve()
    assert found.solved, found.message
    assert found.q[1] == pytest.approx(DATA["reference"]["a"]["tilt"], rel=1e-10)
    assert found.inputs == {"x.tau": pytest.approx(DATA["reference"]["a"]["force"], rel=1e-10)}
    np.testing.assert_allclose(found.a, [2.5, 0.0], atol=1e-12)
    assert not found.stable


def governor(l, ball, sleeve, g):
    """Watt's governor: two arms from the axis, two links to a sleeve on it; all but balls and sleeve without mass."""

    def at(x, y, z):
        return ks.Pose(position=(x, y, z))

    bodies = [ks.Body(name="shaft", inertia=ks.Inertia(izz=1e-3)), ks.Body(name="sleeve", mass=sleeve)]
    joints = [
        ks.Joint(name="spin", parent="world", child="shaft"),
        ks.Joint(name="lift", kind="prismatic", parent="shaft", child="sleeve", axis=(0.0, 0.0, 1.0), rest=(-0.4,)),
    ]
    for side, sign in (("right", 1.0), ("left", -1.0)):
        axis = (0.0, -sign, 0.0)
        bodies += [
            ks.Body(name=f"{side}_arm", mass=ball, center_of_mass=(0.0, 0.0, -l)),
            ks.Body(name=f"{side}_link"),
        ]
        joints += [
            ks.Joint(name=f"{side}_top", parent="shaft", child=f"{side}_arm", axis=axis, rest=(0.6,)),
            ks.Joint(
                name=f"{side}_ball",
                parent=f"{side}_arm",
                child=f"{side}_link",
                a=at(0.0, 0.0, -l),
                axis=axis,
                rest=(-1.2,),
            ),
            ks.Joint(
                name=f"{side}_eye", parent=f"{side}_link", child="sleeve", a=at(0.0, 0.0, -l), axis=axis, rest=(0.6,)
            ),
        ]
    gravity = ks.Gravity(acceleration=(0.0, 0.0, -g))
    return ks.Model(name="governor", world=ks.World(gravity=gravity), bodies=tuple(bodies), joints=tuple(joints))


def published_governor():
    data = DATA["parameters"]["b"]
    return governor(data["l"], data["m_ball"], data["M_sleeve"], data["g"])


def test_the_published_governor_turns_steadily():
    op = ks.OperatingPoint(published_governor())
    op["spin.v"].fixed(DATA["parameters"]["b"]["omega"])
    found = op.solve()
    assert found.solved, found.message
    angle = found.q[op.mech.joint_q("right_top")][0]
    assert abs(angle) == pytest.approx(DATA["reference"]["b"]["arm_angle"], rel=1e-10)
    assert found.q[op.mech.joint_q("lift")][0] == pytest.approx(-DATA["reference"]["b"]["sleeve_below_top"], rel=1e-10)


@pytest.mark.parametrize("height", [0.30, 0.36, 0.42])
def test_the_speed_of_a_governor_for_a_wanted_height_equals_its_closed_form(height):
    data = DATA["parameters"]["b"]
    op = ks.OperatingPoint(published_governor(), v={"spin": 11.0})
    op["lift.q"].fixed(-height)
    op["spin.v"].free()
    op["spin.a"].fixed(0.0)
    found = op.solve()
    assert found.solved, found.message
    # balance of a ball and its share of the sleeve: m ω² l sin φ cos φ = (m + M) g sin φ, height = 2 l cos φ
    speed = np.sqrt(2.0 * (data["m_ball"] + data["M_sleeve"]) * data["g"] / (data["m_ball"] * height))
    assert found.v[op.mech.v_names.index("spin")] == pytest.approx(speed, rel=1e-10)


def test_the_published_arm_holds_its_payload():
    data = DATA["parameters"]["c"]
    bodies, joints, inner, offset = [], [], "world", 0.0
    for i, (length, mass) in enumerate(zip(data["lengths"], data["masses"], strict=True)):
        bodies.append(
            ks.Body(
                name=f"l{i}",
                mass=mass,
                center_of_mass=(0.5 * length, 0.0, 0.0),
                inertia=ks.Inertia(iyy=mass * length**2 / 12.0, izz=mass * length**2 / 12.0),
            )
        )
        joints.append(ks.Joint(name=f"j{i}", parent=inner, child=f"l{i}", a=ks.Pose(position=(offset, 0.0, 0.0))))
        inner, offset = f"l{i}", length
    bodies.append(ks.Body(name="payload", mass=data["payload"]))
    joints.append(
        ks.Joint(name="grip", kind="fixed", parent=inner, child="payload", a=ks.Pose(position=(offset, 0.0, 0.0)))
    )
    gravity = ks.Gravity(acceleration=(0.0, -data["g"], 0.0))
    model = ks.Model(name="arm", world=ks.World(gravity=gravity), bodies=tuple(bodies), joints=tuple(joints))
    op = ks.OperatingPoint(model)
    for i, angle in enumerate(data["q"]):
        op[f"j{i}.q"].fixed(angle)
        op[f"j{i}.tau"].free()
    found = op.solve()
    assert found.solved, found.message
    torques = [found.inputs[f"j{i}.tau"] for i in range(3)]
    np.testing.assert_allclose(torques, DATA["reference"]["c"]["torques"], rtol=1e-9)


def test_a_stewart_platform_is_trimmed_at_another_pose():
    mech = ks.Mechanism(ks.load(EXAMPLES / "stewart.kst"))
    op = ks.OperatingPoint(mech)
    goal = mech.frame(mech.rest(), "platform")[:3, 3] + [0.05, -0.08, 0.06]
    for i in range(1, 7):
        op[f"leg{i}.slide.tau"].free()
    for axis, value in zip("xyz", goal, strict=True):
        op[f"platform.position.{axis}"].fixed(value)
    turned = {"qx": 0.05, "qy": 0.03, "qz": -0.1}
    for axis, value in turned.items():
        op[f"platform.orientation.{axis}"].fixed(value)
    found = op.solve()
    assert found.solved, found.message
    assert found.iterations <= 8
    np.testing.assert_allclose(mech.frame(found.q, "platform")[:3, 3], goal, atol=1e-10)
    # by another way: inverse dynamics of the legs at that pose
    legs = [f"leg{i}.slide" for i in range(1, 7)]
    tau = mech.inverse_dynamics(found.q, np.zeros(mech.nv), np.zeros(mech.nv), actuators=legs)
    expected = [tau[mech.v_names.index(name)] for name in legs]
    np.testing.assert_allclose([found.inputs[f"{name}.tau"] for name in legs], expected, rtol=1e-8)


def test_a_parameter_is_found_by_trim():
    """The mass of a counterweight on a lever that then balances: m b = M a."""
    model = ks.Model(
        name="lever",
        parameters=(ks.Parameter(name="m", value=1.0, dimension="mass"),),
        bodies=(ks.Body(name="lever", mass=2.0, center_of_mass=(0.3, 0.0, 0.0)), ks.Body(name="weight", mass="m")),
        joints=(
            ks.Joint(name="pin", parent="world", child="lever", axis=(0.0, 1.0, 0.0), armature=0.1),
            ks.Joint(name="bolt", kind="fixed", parent="lever", child="weight", a=ks.Pose(position=(-0.5, 0.0, 0.0))),
        ),
    )
    op = ks.OperatingPoint(model)
    op["pin.q"].fixed(0.4)
    op["m"].free(min=0.0)
    found = op.solve()
    assert found.solved, found.message
    assert found.inputs["m"] == pytest.approx(2.0 * 0.3 / 0.5, rel=1e-12)


def test_targets_that_compete_share_by_their_weights():
    op = ks.OperatingPoint(pendulum(1))
    op["j0.tau"].free()
    op["j0.q"].target(0.2, weight=1.0)
    op["2*j0"].target(0.8, weight=3.0)
    found = op.solve()
    # least of (φ − 0.2)² + 9 (2 φ − 0.8)²
    assert found.q[0] == pytest.approx((0.2 + 9 * 2 * 0.8) / (1 + 9 * 4), rel=1e-9)
    assert found.solved, found.message


def test_a_bound_is_kept_and_named():
    op = ks.OperatingPoint(pendulum(1, length=0.4, mass=0.8))
    op["j0.q"].target(0.7)
    op["j0.tau"].free(min=-0.5, max=0.5)
    found = op.solve()
    assert found.solved, found.message
    assert found.acting == ("j0.tau",)
    assert found.q[0] == pytest.approx(np.arcsin(0.5 / (0.8 * 9.81 * 0.2)), rel=1e-6)
    assert found.inputs["j0.tau"] == pytest.approx(0.5, rel=1e-12)


def test_too_few_inputs_are_named_before_any_step():
    op = ks.OperatingPoint(accelerated_cart_pole(), at=[0.0, 0.3])
    op["th"].fixed(0.3)
    op["x.q"].fixed()
    op["x.tau"].free()
    op.solve()
    before = time.process_time()
    found = op.solve()
    assert time.process_time() - before < 0.2
    assert not found.solved
    assert found.iterations == 0
    assert "One input too few: nothing balances" in found.message
    assert "th.tau" in found.message


def test_as_many_are_to_be_freed_as_are_missing():
    op = ks.OperatingPoint(pendulum(3, length=0.4, mass=0.8), at=[0.7] * 3)
    for joint in ("j0", "j1", "j2"):
        op[f"{joint}.q"].fixed()
    op["j0.tau"].free()
    found = op.solve()
    assert found.message.startswith("2 inputs too few: nothing balances j1.q and j2.q. Free 2 of j1.tau, j2.tau, ")
    with pytest.raises(ModelError, match=r"Free 2 of j1\.tau") as caught:
        found.raise_unless_fulfilled()
    assert not caught.value.remedy
    op["j1.tau"].free()
    op["j2.tau"].free()
    assert op.solve().solved


def test_rows_that_hold_to_rounding_are_not_told_as_missed():
    op = ks.OperatingPoint(ks.load(EXAMPLES / "puma560.kst"))
    for k in range(1, 7):
        op[f"joint{k}.q"].fixed(0.3)
    for k in range(1, 5):
        op[f"joint{k}.tau"].free()
    message = op.solve().message
    assert "joint5.q is off by" in message
    assert "e-1" not in message, message


def test_bounds_that_leave_no_point_are_named_with_what_is_missing():
    op = ks.OperatingPoint(pendulum(1, length=0.4, mass=0.8))
    op["j0.q"].fixed(0.7)
    op["j0.tau"].free(min=-0.5, max=0.5)
    found = op.solve()
    assert not found.solved
    assert "Bounds act: j0.tau" in found.message
    assert "left at j0.q" in found.message or "j0.q is off" in found.message


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("j0.tua", "j0.tau"),
        ("end.position", "end.position.x"),
        ("nothing", "There is no quantity"),
    ],
)
def test_unknown_quantities_are_refused_with_near_misses(name, words):
    with pytest.raises(ModelError, match="several components|no quantity") as told:
        ks.OperatingPoint(pendulum(1))[name]
    assert words in str(told.value)


def test_rows_refuse_what_is_no_number():
    op = ks.OperatingPoint(pendulum(1))
    with pytest.raises(ModelError, match="not a number"):
        op["j0.q"].fixed(float("nan"))
    with pytest.raises(ModelError, match="The lower bound .* is above the upper bound"):
        op["j0.tau"].free(min=1.0, max=0.0)
    with pytest.raises(ModelError, match="weight"):
        op["j0.q"].target(0.1, weight=0.0)


def test_several_starts_give_distinct_points_with_their_stability():
    op = ks.OperatingPoint(pendulum(1), at=[0.1])
    found = op.solutions(starts=[[3.0], [-0.2]])
    assert sorted(round(float(abs(each.q[0])), 6) for each in found) == [0.0, 3.141593]
    assert {round(float(abs(each.q[0])), 6): each.stable for each in found} == {0.0: True, 3.141593: False}


def test_a_linear_system_about_a_found_point():
    op = ks.OperatingPoint(accelerated_cart_pole(), at=[0.0, 0.3])
    op["th"].fixed(0.3)
    op["x.tau"].free()
    op["th.tau"].free()
    found = op.solve()
    system = ks.linearise(op.mech, found, inputs=["x.tau"], outputs=["th"])
    assert system.at_rest
    np.testing.assert_allclose(system.q, found.q)


@pytest.mark.parametrize("height", walk([9.0, 0.25, -1.0], quick=["9.0"]))
def test_a_target_out_of_reach_leaves_the_machine_balanced(height):
    """A four-bar's coupler point cannot be there: what holds is fulfilled all the same, and what is left is the
    target's. tau is that of statics."""
    mech = ks.Mechanism(ks.load(str(EXAMPLES / "four_bar.kst")))
    op = ks.OperatingPoint(mech)
    op["coupler_point.position.z"].target(height)
    op["crank_pin.tau"].free()
    found = op.solve()
    assert found.solved, found.message
    a = mech.forward_dynamics(found.q, found.v, found.tau)
    np.testing.assert_allclose(a, 0.0, atol=1e-6)
    turns = np.radians(np.arange(0.0, 360.0, 0.5))
    heights = [mech.frame(mech.move(found.q, {"crank_pin": x}), "coupler_point")[2, 3] for x in turns]
    nearest = min(heights, key=lambda z: abs(z - height))
    assert abs(found.values["coupler_point.position.z"] - height) <= abs(nearest - height) + 1e-4
    assert found.iterations <= 16  # said soon, and not after all steps there are


def test_a_target_that_what_holds_bends_away_from_is_met():
    """Far from where it begins, so that steps along the target lead away from balance."""
    op = ks.OperatingPoint(ks.load(str(EXAMPLES / "four_bar.kst")))
    op["coupler_point.position.z"].target(0.3)
    op["crank_pin.tau"].free()
    found = op.solve()
    assert found.solved, found.message
    assert found.values["coupler_point.position.z"] == pytest.approx(0.3, abs=1e-9)


def test_a_fixed_height_that_newtons_method_alone_misses_is_found():
    mech = ks.Mechanism(ks.load(str(EXAMPLES / "four_bar.kst")))
    op = ks.OperatingPoint(mech)
    op["coupler_point.position.z"].fixed(0.3)
    op["crank_pin.tau"].free()
    found = op.solve()
    assert found.solved, found.message
    assert mech.frame(found.q, "coupler_point")[2, 3] == pytest.approx(0.3, abs=1e-9)
    np.testing.assert_allclose(mech.forward_dynamics(found.q, found.v, found.tau), 0.0, atol=1e-6)


@pytest.mark.parametrize("height", walk([9.0, 0.25], quick=["0.25"]))
def test_of_a_fixed_height_that_there_is_not_the_nearest_balanced_point_is_shown(height):
    mech = ks.Mechanism(ks.load(str(EXAMPLES / "four_bar.kst")))
    op = ks.OperatingPoint(mech)
    op["coupler_point.position.z"].fixed(height)
    op["crank_pin.tau"].free()
    found = op.solve()
    assert not found.solved
    turns = np.radians(np.arange(0.0, 360.0, 0.5))
    heights = [mech.frame(mech.move(found.q, {"crank_pin": x}), "coupler_point")[2, 3] for x in turns]
    off = min((z - height for z in heights), key=abs)
    assert found.residuals["coupler_point.position.z"] == pytest.approx(off, abs=1e-4)
    missed = f"coupler_point.position.z is off by {found.residuals['coupler_point.position.z']:.4g} m"
    assert f"at the nearest one reached, {missed}" in found.message
    np.testing.assert_allclose(mech.forward_dynamics(found.q, found.v, found.tau), 0.0, atol=1e-6)


@pytest.mark.parametrize("name", ["double_pendulum", "ur5"])
def test_a_balance_is_found_from_a_pose_at_which_ranks_are_lost(name):
    """Level pendulums and a stretched arm: gravity does not change with what would balance it, to first order."""
    found = ks.OperatingPoint(ks.load(EXAMPLES / f"{name}.kst")).solve()
    assert found.solved, found.message
    assert np.max(np.abs(found.mech.gravity(found.q))) < 1e-6


def test_what_is_fixed_where_it_stands_stays_when_the_search_begins_elsewhere():
    op = ks.OperatingPoint(ks.load(EXAMPLES / "double_pendulum.kst"))
    first, second = (f"{name}.q" for name in op.mech.q_names)
    op[first].fixed()
    op[first.replace(".q", ".tau")].free()
    found = op.solve()
    assert found.solved, found.message
    assert found.q[0] == pytest.approx(op.mech.rest()[0], abs=1e-9)
    assert np.abs(op.mech.gravity(found.q)[1]) < 1e-6
    assert second not in found.inputs


def test_a_linear_system_names_what_friction_holds():
    model = ks.load(EXAMPLES / "puma560.kst")
    held = ks.linearise(model, inputs=["joint2.tau"], outputs=["joint2.q"])
    assert len(held.A) + 2 * len(held.stuck) == 12
    words = " ".join(held.remarks())
    assert all(name in words for name in held.stuck)
    assert "friction" in words
    free = ks.linearise(model, inputs=["joint2.tau"], outputs=["joint2.q"], friction=False)
    assert not free.stuck
    assert "friction" not in " ".join(free.remarks())
