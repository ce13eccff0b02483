"""Linearisation and equilibrium against closed forms, published references and finite differences."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from core.analysis.equilibrium import equilibrium
from core.analysis.linearisation import linearise
from core.errors import ModelError, SimulationError
from core.files import load
from core.functions import Context, call
from core.mechanism import Mechanism
from core.model import Body, Force, Frame, Gravity, Inertia, Joint, Junction, Limit, Model, Pose, World
from core.simulation import simulate
from resources import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "reference"


def read(name):
    return json.loads((REFERENCE / f"{name}.json").read_text())


def chain(masses, lengths, rods):
    bodies, joints, inner, offset = [], [], "world", 0.0
    for i, (mass, length) in enumerate(zip(masses, lengths, strict=True)):
        center = (0.0, 0.0, -0.5 * length if rods else -1.0 * length)
        inertia = mass * length**2 / 12.0 if rods else 0.0
        bodies.append(
            Body(
                name=f"link{i}",
                mass=float(mass),
                center_of_mass=center,
                inertia=Inertia(ixx=inertia, iyy=inertia, izz=0.0),
            )
        )
        joints.append(
            Joint(
                name=f"j{i}", parent=inner, child=f"link{i}", a=Pose(position=(0.0, 0.0, -offset)), axis=(0.0, 1.0, 0.0)
            )
        )
        inner, offset = f"link{i}", float(length)
    gravity = Gravity(acceleration=(0.0, 0.0, -read("lin_pendulum_chains")["parameters"]["g"]))
    return Model(name="chain", bodies=tuple(bodies), joints=tuple(joints), world=World(gravity=gravity))


CHAINS = read("lin_pendulum_chains")


@pytest.mark.parametrize("case", CHAINS["reference"])
def test_hanging_chains(case):
    data = CHAINS["reference"][case]
    mech = Mechanism(chain(data["masses"], data["lengths"], data["rods"]))
    found = linearise(mech, mech.neutral())
    omega = [2.0 * np.pi * mode.frequency for mode in found.modes]
    np.testing.assert_allclose(omega, data["omega"], rtol=CHAINS["tolerances"]["rel"])
    np.testing.assert_allclose([mode.damping for mode in found.modes], 0.0, atol=1e-9)
    assert found.stability == "stable"
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-12)
    # each shape solves K x = ω² M x
    mass = mech.mass_matrix(mech.neutral())
    stiffness = -mass @ found.A[mech.nv :, : mech.nv]
    for mode, w in zip(found.modes, omega, strict=True):
        shape = mode.shape.real
        np.testing.assert_allclose(stiffness @ shape, w**2 * mass @ shape, atol=1e-8 * w**2)


FOURBAR = read("lin_fourbar_spring_N1")


def spring_fourbar():
    data = FOURBAR["parameters"]
    L, m = data["L"], data["m"]
    inertia = Inertia(ixx=0.0, iyy=m * L**2 / 12.0, izz=m * L**2 / 12.0)

    def bar(name):
        return Body(name=name, mass=m, center_of_mass=(0.5 * L, 0.0, 0.0), inertia=inertia)

    def pin(name, parent, child, x, y=0.0):
        return Joint(name=name, parent=parent, child=child, a=Pose(position=(x, y, 0.0)))

    end = Joint(
        name="D", parent="coupler", child="right", a=Pose(position=(L, 0.0, 0.0)), b=Pose(position=(L, 0.0, 0.0))
    )
    return Model(
        name="fourbar",
        world=World(gravity=Gravity(acceleration=(0.0, -data["g"], 0.0))),
        bodies=(bar("left"), bar("coupler"), bar("right")),
        frames=(Frame(name="tip", parent="coupler", pose=Pose(position=(L, 0.0, 0.0))),),
        joints=(pin("A", "world", "left", 0.0), pin("B", "left", "coupler", L), pin("C", "world", "right", L), end),
        forces=(
            Force(
                name="spring",
                kind="line",
                a="world",
                b="tip",
                stiffness=data["k"],
                rest=data["rest_length"],
                damping=data["c"],
            ),
        ),
    )


def parallelogram_at(phi):
    """Links at phi from x, coupler along x."""
    return np.array([phi, -phi, phi])


@pytest.mark.parametrize("case", range(3))
def test_the_four_bar_with_its_diagonal_spring(case):
    data = FOURBAR["reference"]["equilibria"][case]
    mech = Mechanism(spring_fourbar())
    found = equilibrium(mech, parallelogram_at(data["phi"] + 0.02), nearest=True)
    assert found.q[0] == pytest.approx(data["phi"], abs=FOURBAR["tolerances"]["phi_abs"])
    assert found.residual < 1e-7
    assert (found.stability != "unstable") == data["stable"]
    linear = linearise(mech, found.q, coordinates=["A"])
    expected = np.array([complex(*value) for value in data["eigenvalues"]])
    order = np.lexsort((expected.imag, expected.real))
    ours = linear.eigenvalues[np.lexsort((linear.eigenvalues.imag, np.round(linear.eigenvalues.real, 9)))]
    np.testing.assert_allclose(ours, expected[order], rtol=FOURBAR["tolerances"]["eigenvalue_rel"], atol=1e-8)
    assert float(linear.mass[0, 0]) == pytest.approx(data["effective_mass"], rel=1e-10)
    assert -linear.A[1, 0] * data["effective_mass"] == pytest.approx(data["effective_stiffness"], rel=1e-8)


def test_downhill_leads_from_the_unstable_pose_to_a_stable_one():
    stable = [item["phi"] for item in FOURBAR["reference"]["equilibria"] if item["stable"]]
    mech = Mechanism(spring_fourbar())
    found = equilibrium(mech, parallelogram_at(0.5 * np.pi))
    assert found.stability == "stable"
    assert min(abs(np.remainder(found.q[0] - phi + np.pi, 2.0 * np.pi) - np.pi) for phi in stable) < 1e-9


def test_a_pendulum_hangs_and_stands():
    mech = Mechanism(chain([2.0], [0.5], rods=False))
    assert equilibrium(mech, np.array([3.0])).q[0] == pytest.approx(0.0, abs=1e-9)
    standing = equilibrium(mech, np.array([3.0]), nearest=True)
    assert standing.q[0] == pytest.approx(np.pi, abs=1e-9)
    assert standing.stability == "unstable"
    # a torque holds it aside: τ = m g l sin φ
    tau = 2.0 * 9.81 * 0.5 * np.sin(0.4)
    assert equilibrium(mech, np.array([0.0]), tau=np.array([tau])).q[0] == pytest.approx(0.4, abs=1e-9)


def test_what_nothing_holds_falls():
    body = Body(name="stone", mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    with pytest.raises(SimulationError, match="joint 'stone'.*nothing balances"):
        equilibrium(Mechanism(Model(name="free", bodies=(body,))))


def test_a_damped_oscillator_in_closed_form():
    m, k, c = 2.0, 50.0, 3.0
    body = Body(name="cart", mass=m, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0))
    slide = Joint(
        name="x", kind="prismatic", parent="world", child="cart", axis=(1.0, 0.0, 0.0), stiffness=k, damping=c
    )
    found = linearise(Mechanism(Model(name="cart", bodies=(body,), joints=(slide,))), np.array([0.0]))
    np.testing.assert_allclose(found.A, [[0.0, 1.0], [-k / m, -c / m]], atol=1e-12)
    (mode,) = found.modes
    assert mode.damping == pytest.approx(c / (2.0 * np.sqrt(k * m)))
    assert found.stability == "asymptotically stable"


def test_a_spring_and_damper_in_series_add_a_state():
    """m ẍ = −k e, ė = ẋ − (k/c) e: three eigenvalues."""
    m, k, c = 2.0, 50.0, 3.0
    body = Body(name="cart", mass=m, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0))
    slide = Joint(name="x", kind="prismatic", parent="world", child="cart", axis=(1.0, 0.0, 0.0))
    force = Force(name="maxwell", kind="series", a="world", b="cart", stiffness=k, rest=1.0, damping=c)
    mech = Mechanism(Model(name="cart", bodies=(body,), joints=(slide,), forces=(force,)))
    found = linearise(mech, np.array([1.0]))
    expected = np.roots([1.0, k / c, k / m, 0.0])
    np.testing.assert_allclose(
        sorted(found.eigenvalues, key=lambda z: (z.real, z.imag)),
        sorted(expected, key=lambda z: (z.real, z.imag)),
        atol=1e-9,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_state_matrix_is_the_derivative_of_the_motion(seed):
    """At a moving state of a loop: central differences of the accelerations along the manifold."""
    mech = Mechanism(spring_fourbar())
    rng = np.random.default_rng(seed)
    q = parallelogram_at(rng.uniform(0.5, 2.5))
    v = parallelogram_at(rng.uniform(-2.0, 2.0))
    tau = rng.uniform(-3.0, 3.0, 3)
    found = linearise(mech, q, v, tau, coordinates=["A"])
    h = 1e-5

    def rate(s, u):
        pose, speed = parallelogram_at(q[0] + s), parallelogram_at(v[0] + u)
        return mech.forward_dynamics(pose, speed, tau)[0]

    slope = [(rate(h, 0.0) - rate(-h, 0.0)) / (2.0 * h), (rate(0.0, h) - rate(0.0, -h)) / (2.0 * h)]
    np.testing.assert_allclose(found.A, [[0.0, 1.0], slope], rtol=1e-6, atol=1e-6)


def test_a_top_with_quaternions_in_motion():
    """Spherical joint, moving: exact derivative against central differences on the manifold."""
    body = Body(name="top", mass=1.5, center_of_mass=(0.1, 0.2, 0.5), inertia=Inertia(ixx=0.2, iyy=0.3, izz=0.1))
    mech = Mechanism(
        Model(name="top", bodies=(body,), joints=(Joint(name="s", kind="spherical", parent="world", child="top"),))
    )
    q = mech.integrate(mech.neutral(), np.array([0.3, -0.5, 0.4]), 1.0)
    v = np.array([1.0, -0.7, 2.0])
    A = linearise(mech, q, v).A
    h = 1e-5
    tau = np.zeros(3)
    for k, e in enumerate(np.eye(3)):
        ahead, behind = (mech.forward_dynamics(mech.integrate(q, sign * h * e, 1.0), v, tau) for sign in (1.0, -1.0))
        np.testing.assert_allclose(A[3:, k], (ahead - behind) / (2.0 * h), atol=1e-6)
        ahead, behind = (mech.forward_dynamics(q, v + sign * h * e, tau) for sign in (1.0, -1.0))
        np.testing.assert_allclose(A[3:, 3 + k], (ahead - behind) / (2.0 * h), atol=1e-6)
        # how a displacement changes while both poses move: d/dt difference
        dt = 1e-4
        beside = mech.integrate(q, h * e, 1.0)
        later = mech.difference(mech.integrate(q, v, dt), mech.integrate(beside, v, dt))
        np.testing.assert_allclose(A[:3, k], (later - h * e) / dt / h, atol=2e-3)


def test_coordinates_that_do_not_determine_the_motion_are_refused():
    mech = Mechanism(spring_fourbar())
    with pytest.raises(ModelError, match="do not determine the motion: 1 independent"):
        linearise(mech, parallelogram_at(1.0), coordinates=["A", "B"])
    with pytest.raises(ModelError, match="no speed 'Z'"):
        linearise(mech, parallelogram_at(1.0), coordinates=["Z"])


def test_two_springs_joined_without_a_mass_are_one_softer_spring():
    """k = k₁ k₂/(k₁ + k₂); the knot hangs at the length of the first."""
    m, k1, k2, rest = 2.0, 300.0, 700.0, 0.4
    ball = Body(name="ball", mass=m, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0))
    slide = Joint(name="z", kind="prismatic", parent="world", child="ball")
    forces = (
        Force(name="upper", kind="line", a="world", b="knot", stiffness=k1, rest=rest),
        Force(name="lower", kind="line", a="knot", b="ball", stiffness=k2, rest=rest),
    )
    knot = Junction(name="knot", guess=(0.0, 0.0, -0.45))
    mech = Mechanism(Model(name="hanging", bodies=(ball,), joints=(slide,), junctions=(knot,), forces=forces))
    found = equilibrium(mech, np.array([-1.0]))
    weight = m * 9.81
    assert found.q[0] == pytest.approx(-(2.0 * rest + weight / k1 + weight / k2), abs=1e-9)
    assert mech.x_rest(found.q)[2] == pytest.approx(-(rest + weight / k1), abs=1e-9)
    (mode,) = found.linear.modes
    assert abs(mode.eigenvalue) == pytest.approx(np.sqrt(k1 * k2 / (k1 + k2) / m), rel=1e-9)
    assert found.stability == "stable"


def limited(lower, upper, stop="rigid", **more):
    """A pendulum of length 1 that hangs in −z at 0, and turns about y."""
    bob = Body(name="bob", mass=2.0, center_of_mass=(0.0, 0.0, -1.0), inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    pin = Joint(
        name="pin",
        parent="world",
        child="bob",
        axis=(0.0, 1.0, 0.0),
        limits=(Limit(lower=lower, upper=upper, stop=stop),),
    )
    return Mechanism(Model(name="limited", bodies=(bob,), joints=(pin,), **more))


@pytest.mark.parametrize(("lower", "upper", "start"), [(0.4, 2.0, 1.5), (-2.0, -0.7, -1.2), (0.4, 2.0, 0.4)])
def test_a_pendulum_rests_against_its_limit(lower, upper, start):
    """The stop carries the weight's moment, m g sin q."""
    found = equilibrium(limited(lower, upper), np.array([start]))
    stop = lower if start > 0.0 else upper
    assert found.q[0] == stop
    assert found.limits == {"pin": pytest.approx(2.0 * 9.81 * np.sin(stop), rel=1e-12)}
    assert (found.residual, found.stability, found.linear) == (pytest.approx(0.0, abs=1e-9), "stable", None)


def test_the_function_tells_the_force_of_the_limit():
    mech = limited(0.4, 2.0)
    report = call("static_equilibrium", Context(mech.model, mech, np.array([1.5]), {}))
    message, table = report.parts[0], report.parts[1]
    assert "pin rests against its limit, which exerts 7.64 N·m" in message.text
    assert [row[-1] for row in table.rows] == ["rests against it"]
    told = call("static_equilibrium", Context(mech.model, mech, np.array([0.5]), {}), search="nearest")
    assert [row[-1] for row in told.parts[1].rows] == ["below"]


@pytest.mark.parametrize("lower", [0.0, 1e-13, 3e-12])
def test_a_limit_without_force_is_only_touched(lower):
    """The pendulum hangs straight down where its stop stands: rounding is no force, and the pose oscillates freely."""
    mech = limited(lower, 2.0)
    found = equilibrium(mech, np.array([1.5]))
    assert found.limits == {}
    assert found.linear is not None
    report = call("static_equilibrium", Context(mech.model, mech, np.array([1.5]), {}))
    assert "pushes with" not in report.parts[0].text
    assert [row[-1] for row in report.parts[1].rows] == ["touches it"]


@pytest.mark.parametrize("example", sorted(path.stem for path in EXAMPLES.glob("*.kst")))
def test_forces_of_rounding_size_are_not_told(example):
    context = Context.of(load(EXAMPLES / f"{example}.kst"))
    report = call("static_equilibrium", context)
    text = report.to_text()
    assert "10⁻¹" not in text.split("\n")[0]
    assert "up to 0" not in text


def test_a_limit_that_would_have_to_pull_lets_go():
    mech = limited(-0.5, 2.0)
    found = equilibrium(mech, np.array([2.0]))
    assert found.q[0] == pytest.approx(0.0, abs=1e-9)
    assert found.limits == {}
    assert found.stability == "stable"
    beyond = equilibrium(limited(0.4, 2.0), np.array([0.5]), nearest=True)
    assert beyond.q[0] == pytest.approx(0.0, abs=1e-9)  # the nearest balance does not ask for limits


def test_the_rest_goes_on_where_one_joint_rests_against_its_limit():
    """The upper of two bars lies on its stop, the lower one hangs down: q₁ = 0.6, q₂ = −q₁."""
    mech = Mechanism(chain([1.0, 2.0], [1.0, 1.0], True))
    model = mech.model
    upper = dataclasses.replace(model.joints[0], limits=(Limit(lower=0.6, upper=3.0, stop="rigid"),))
    found = equilibrium(Mechanism(dataclasses.replace(model, joints=(upper, *model.joints[1:]))), np.array([1.4, 0.3]))
    np.testing.assert_allclose(found.q, [0.6, -0.6], atol=1e-8)
    g = CHAINS["parameters"]["g"]
    assert found.limits == {"j0": pytest.approx((0.5 * 1.0 + 1.0 * 2.0) * g * np.sin(0.6), rel=1e-8)}
    assert len(found.stiffness) == 1
    assert found.stiffness[0] > 0.0


def test_a_loop_rests_against_a_limit():
    """A parallelogram that would hang down, held by a limit of its first crank: the stop carries d(weight)/dθ."""
    model = spring_fourbar()
    data = FOURBAR["parameters"]
    crank = dataclasses.replace(model.joint("A"), limits=(Limit(lower=-1.0, upper=2.0, stop="rigid"),))
    mech = Mechanism(
        dataclasses.replace(model, forces=(), joints=tuple(crank if j.name == "A" else j for j in model.joints))
    )
    found = equilibrium(mech, parallelogram_at(0.3))
    assert mech.coordinate(found.q, "A")[0] == pytest.approx(-1.0, abs=1e-12)
    assert np.max(np.abs(mech.constraint_residual(found.q))) < 1e-9
    # two cranks with their middle at L/2, the coupler at L: weight moment 2 m g L cos θ
    wanted = 2.0 * data["m"] * data["g"] * data["L"] * np.cos(1.0)
    assert found.limits == {"A": pytest.approx(wanted, rel=1e-8)}


@pytest.mark.parametrize("cut", "ABCD")
@pytest.mark.parametrize("limited_joint", "ABCD")
@pytest.mark.parametrize("kind", ["rigid", "elastic"])
def test_a_loop_rests_against_the_limit_of_any_joint_wherever_it_is_cut(limited_joint, cut, kind):
    """The parallelogram above, held at the same pose by the limit of each of its joints: virtual work tells the force,
    ∂(weight)/∂θ over the joint's own turn per θ."""
    data = FOURBAR["parameters"]
    plain = dataclasses.replace(spring_fourbar(), forces=())
    usual = Mechanism(plain)
    at = {}
    for theta in (0.3, -1.0, -1.0 + 1e-6):
        q = parallelogram_at(theta)
        at[theta] = {name: float(usual.coordinate(q, name)[0]) for name in "ABCD"}
    stop, rate = at[-1.0][limited_joint], (at[-1.0 + 1e-6][limited_joint] - at[-1.0][limited_joint]) / 1e-6
    lower = at[0.3][limited_joint] > stop
    limit = Limit(lower=stop, stop=kind) if lower else Limit(upper=stop, stop=kind)
    joints = tuple(
        dataclasses.replace(
            j,
            cut="yes" if j.name == cut else "auto",
            limits=(limit,) if j.name == limited_joint else (),
            rest=(at[0.3][j.name],),
        )
        for j in plain.joints
    )
    mech = Mechanism(dataclasses.replace(plain, joints=joints))
    assert mech.loops[0].cut == cut
    found = equilibrium(mech, np.array([at[0.3][name] for name in mech.q_names]))
    assert found.stability == ("stable" if kind == "rigid" else "asymptotically stable")
    theta = mech.coordinate(found.q, "A")[0]
    assert theta == pytest.approx(-1.0, abs=1e-8) if kind == "rigid" else -1.01 < theta < -1.0 - 1e-8
    wanted = 2.0 * data["m"] * data["g"] * data["L"] * np.cos(theta) / rate
    assert found.limits == {limited_joint: pytest.approx(wanted, rel=1e-5)}
    report = call("static_equilibrium", Context(mech.model, mech, mech.rest(), {}))
    assert f"{limited_joint} rests against its limit" in report.parts[0].text


def maxwell(damping, *further):
    """A block on a slide, a damper to a knot without mass, a spring from there to the wall; springs across hold the
    knot on the line."""
    block = Body(name="block", mass=2.0)
    slide = Joint(name="x", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
    sides = [(0.5, 1.0, 0.0), (0.5, -1.0, 0.0), (0.5, 0.0, 1.0), (0.5, 0.0, -1.0)]
    frames = [Frame(name=f"s{k}", parent="world", pose=Pose(position=p)) for k, p in enumerate(sides)]
    wall = Frame(name="wall", parent="world", pose=Pose(position=(-0.5, 0.0, 0.0)))
    across = [Force(name=f"f{k}", kind="line", a=f"s{k}", b="knot", stiffness=50.0, rest=1.0) for k in range(4)]
    forces = (
        Force(name="spring", kind="line", a="wall", b="knot", stiffness=300.0, rest=1.0),
        Force(name="damper", kind="line", a="knot", b="block", damping=damping),
        *across,
        *further,
    )
    knot = Junction(name="knot", guess=(0.5, 0.0, 0.0))
    return Mechanism(
        Model(
            name="maxwell",
            bodies=(block,),
            joints=(slide,),
            junctions=(knot,),
            forces=forces,
            frames=(*frames, wall),
            world=World(gravity=Gravity(kind="none")),
        )
    )


@pytest.mark.parametrize("damping", [5.0, 20.0, 1e4])
def test_a_damper_to_a_knot_without_mass(damping):
    """m ẍ = −c (ẋ − ṙ) = −k r: the knot's place along the damper is a state, the ones across are not."""
    m, k = 2.0, 300.0
    mech = maxwell(damping)
    found = linearise(mech, np.array([2.0]))
    assert found.states == ("knot.x",)
    wanted = [[0.0, 1.0, 0.0], [0.0, 0.0, -k / m], [0.0, 1.0, -k / damping]]
    np.testing.assert_allclose(found.A, wanted, rtol=1e-7, atol=1e-6)
    assert found.stability == "indifferent"  # nothing brings the block back


def test_a_damper_and_springs_along_the_same_knot():
    """With a spring beside the damper (standard linear solid), and against the run."""
    m, k, c, k2 = 2.0, 300.0, 20.0, 120.0
    mech = maxwell(c, Force(name="beside", kind="line", a="wall", b="block", stiffness=k2, rest=2.5))
    found = linearise(mech, np.array([2.0]))
    wanted = np.linalg.eigvals([[0.0, 1.0, 0.0], [-k2 / m, 0.0, -k / m], [0.0, 1.0, -k / c]])
    np.testing.assert_allclose(np.sort_complex(found.eigenvalues), np.sort_complex(wanted), rtol=1e-7)
    assert found.stability == "asymptotically stable"
    run = simulate(mech, 1.0, q0=[2.0 + 1e-4], rtol=1e-11, atol=1e-14, output=0.25)
    start = np.array([run.q[0, 0] - 2.0, run.v[0, 0], run.x[0, 0] - 0.5])
    for k_, t in enumerate(run.time):
        y = scipy.linalg.expm(found.A * t) @ start
        np.testing.assert_allclose([run.q[k_, 0] - 2.0, run.v[k_, 0], run.x[k_, 0] - 0.5], y, atol=2e-8)


def test_massless_bodies_of_a_loop_do_not_matter():
    """Bars of a parallelogram without mass carry a heavy coupler: a pendulum of the cranks' length."""
    model = spring_fourbar()
    light = tuple(
        dataclasses.replace(b, mass=0.0, inertia=Inertia()) if b.name != "coupler" else b for b in model.bodies
    )
    mech = Mechanism(dataclasses.replace(model, bodies=light, forces=()))
    found = linearise(mech, parallelogram_at(-0.5 * np.pi))
    assert found.stability == "stable"
    assert abs(found.eigenvalues[0]) == pytest.approx(np.sqrt(9.81), rel=1e-9)


def test_joints_that_friction_holds_take_freedoms():
    """A cart that sticks, with a pendulum on it: that of a fixed pivot is left."""
    mech = Mechanism(cart(friction=5.0))
    found = linearise(mech, np.zeros(2))
    assert (found.stuck, found.coordinates) == (("cart",), ("pin",))
    assert found.modes[0].frequency * 2 * np.pi == pytest.approx(np.sqrt(2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.25)))
    free = linearise(mech, np.zeros(2), friction=False)
    assert (free.stuck, len(free.A)) == ((), 4)
    np.testing.assert_allclose(free.A, linearise(Mechanism(cart()), np.zeros(2)).A, atol=1e-12)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_what_is_pushed_beyond_its_friction_slides(share):
    mech = Mechanism(cart(friction=3.0, static_friction=5.0))
    found = linearise(mech, np.zeros(2), tau=np.array([5.0 * share, 0.0]))
    assert found.stuck == (("cart",) if share < 1.0 else ())
    if share > 1.0:
        # sliding friction is constant: the motion is that of the cart without it, pushed by what is left
        assert found.sliding == ("cart",)
        smooth = linearise(Mechanism(cart()), np.zeros(2), tau=np.array([5.0 * share - 3.0, 0.0]))
        np.testing.assert_allclose(found.A, smooth.A, atol=1e-9)
        np.testing.assert_allclose(found.residual, smooth.residual, atol=1e-9)


def test_sliding_has_the_slope_of_stribecks_curve():
    mech = Mechanism(cart(friction=3.0, static_friction=5.0, stribeck_speed=0.2))
    found = linearise(mech, np.zeros(2), [0.1, 0.0])
    free = linearise(Mechanism(cart()), np.zeros(2), [0.1, 0.0], tau=np.array([-3.0 - 2.0 * np.exp(-0.25), 0.0]))
    slope = 2.0 * np.exp(-0.25) * 2 * 0.1 / 0.2**2
    M = Mechanism(cart()).mass_matrix(np.zeros(2))
    expected = free.A.copy()
    expected[2:, 2] += np.linalg.inv(M)[:, 0] * slope
    np.testing.assert_allclose(found.A, expected, atol=1e-9)


def test_a_stuck_slider_holds_its_crank_and_a_stuck_joint_of_the_loop_the_whole_machine():
    from tests.mechanism.constraints.test_force_ranges import at_crank, slider_crank

    for cut in ("yes", "no"):
        mech = Mechanism(
            slider_crank(S={"friction": 40.0, "cut": cut}, A={"cut": "no"}, C={"cut": "no" if cut == "yes" else "yes"})
        )
        found = linearise(mech, at_crank(mech, 0.8))
        assert (found.stuck, found.modes) == (("S",), ())


def test_a_joint_of_a_loop_that_slides_turns_with_it():
    """Derivatives by differences of the accelerations themselves, friction of the slider constant."""
    from tests.mechanism.constraints.test_force_ranges import at_crank, slider_crank

    mech = Mechanism(slider_crank(S={"friction": 4.0, "cut": "yes"}, A={"cut": "no"}, C={"cut": "no"}))
    q = at_crank(mech, 0.8)
    v, tau = mech.speeds(q, {"A": -0.7}), np.zeros(mech.nv)
    found = linearise(mech, q, v, tau, coordinates=["A"])

    def acceleration(angle, speed):
        pose = mech.move(q, {"A": angle}, exact=True)
        return mech.forward_dynamics(pose, mech.speeds(pose, {"A": speed}), tau)[mech.v_names.index("A")]

    step = 1e-5
    by_angle = (acceleration(0.8 + step, -0.7) - acceleration(0.8 - step, -0.7)) / (2 * step)
    by_speed = (acceleration(0.8, -0.7 + step) - acceleration(0.8, -0.7 - step)) / (2 * step)
    np.testing.assert_allclose(found.A[1], [by_angle, by_speed], rtol=1e-6)
    begins = linearise(mech, q, None, tau + 20.0 * (np.arange(mech.nv) == mech.v_names.index("A")), coordinates=["A"])
    assert begins.sliding == ("S",)


def cart(**friction):
    """A pendulum on a cart along x."""
    return Model(
        name="cart",
        bodies=(
            Body(name="cart", mass=3.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1)),
            Body(name="rod", mass=2.0, center_of_mass=(0.0, 0.0, -0.5), inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1)),
        ),
        joints=(
            Joint(name="cart", kind="prismatic", parent="world", child="cart", axis=(1.0, 0.0, 0.0), **friction),
            Joint(name="pin", kind="revolute", parent="cart", child="rod", axis=(0.0, 1.0, 0.0)),
        ),
    )
