"""Every kind of sensor, and one made up here: values from poses, rates by differences, drawing, files; and what holds,
drives or pulls along it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.errors import ExpressionError, ModelError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import SENSOR_KINDS, WORLD, Body, Constraint, Driver, Force, Joint, Model, Pose, Sensor, SensorKind
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.scalar import times
from core.numerics.spatial.vector import ZERO
from core.numerics.spatial.vector import Force as Wrench
from core.programs import program
from core.simulation import simulate
from tests.mechanism.elements import kind_machines as machines
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.elements import LOOKS


def half_square(X_a, X_b, axis, axis_b) -> Measured:
    """|p_ab|² / 2; its rate is p · v."""
    p = X_b.position - X_a.position
    return Measured((times(0.5, p.dot(p)),), (Wrench(ZERO, p),))


HALF_SQUARE = SensorKind(
    name="half_square",
    title="Half of the squared distance",
    dimensions=("none",),
    uses=("a", "b", "minus", "offset"),
    measure=half_square,
    smooth_at_zero=False,
)


@pytest.fixture(autouse=True)
def from_outside(monkeypatch: pytest.MonkeyPatch):
    """A kind that comes from outside: a row of the document."""
    monkeypatch.setitem(SENSOR_KINDS, "half_square", HALF_SQUARE)
    yield
    program.drop_programs()


ALL = {**SENSOR_KINDS, "half_square": HALF_SQUARE}
GEOMETRIC = [name for name, kind in ALL.items() if kind.is_geometric]
OF_MOTION = [name for name, kind in ALL.items() if kind.motion is not None]
IN_JOINTS = [name for name, kind in ALL.items() if not kind.is_between_frames]
AXES = {"axis": (0.0, 0.6, 0.8), "axis_b": (-0.8, 0.0, 0.6)}
h = 1e-5


def sensed(kind: str, **more: object) -> Model:
    """A chain with one sensor `s` between b0 and its tip, or at a joint."""
    where = {"a": "b0", "b": "tip", **AXES} if ALL[kind].is_between_frames else {"joint": "j2"}
    model = machines.machine("tree", 5)
    return dataclasses.replace(model, sensors=(Sensor(name="s", kind=kind, **{**where, **more}),))


def state(mech: Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    return mech.random(rng), rng.normal(size=mech.nv), rng.normal(size=mech.nv)


def frames(mech: Mechanism, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(mech.frame(q, "b0")), np.asarray(mech.frame(q, "tip"))


def vector_of(R: np.ndarray) -> np.ndarray:
    """Rotation vector of a rotation by less than half a turn: φ n with 2 sin φ n = vee(R − Rᵀ), 1 + 2 cos φ = tr R."""
    axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2.0
    sine, cosine = np.linalg.norm(axial), (np.trace(R) - 1.0) / 2.0
    return axial / sine * np.arctan2(sine, cosine)


def measured(kind: str, A: np.ndarray, B: np.ndarray) -> np.ndarray | float:
    """From the two poses."""
    X = np.linalg.inv(A) @ B
    R, p = X[:3, :3], X[:3, 3]
    n_a, n_b = np.array(AXES["axis"]), np.array(AXES["axis_b"])
    phi = vector_of(R)
    quaternion = np.append(phi / np.linalg.norm(phi) * np.sin(np.linalg.norm(phi) / 2.0), 0.0)
    return {
        "distance": np.linalg.norm(p),
        "square_distance": p @ p,
        "point_plane": n_a @ p,
        "plane_point": -(R @ n_b) @ p,
        "plane_plane": n_a @ R @ n_b,
        "angle": 2.0 * np.arctan2(quaternion[:3] @ n_a, np.cos(np.linalg.norm(phi) / 2.0)),
        "position": p,
        "orientation": phi,
        "pose": np.concatenate([phi, p]),
        "half_square": p @ p / 2.0,
    }[kind]


@pytest.mark.parametrize("kind", GEOMETRIC)
def test_values_are_those_of_the_poses(kind: str) -> None:
    mech = Mechanism(sensed(kind))
    q, v, _ = state(mech)
    assert mech.sensor(q, v, "s")[0] == pytest.approx(measured(kind, *frames(mech, q)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", GEOMETRIC)
def test_rates_are_those_of_the_values(kind: str) -> None:
    mech = Mechanism(sensed(kind))
    q, v, _ = state(mech)
    ahead, behind = (np.asarray(mech.sensor(mech.integrate(q, v, s), v, "s")[0]) for s in (h, -h))
    assert mech.sensor(q, v, "s")[1] == pytest.approx((ahead - behind) / (2.0 * h), rel=1e-6, abs=1e-6)


def moved(mech: Mechanism, s: float) -> tuple[np.ndarray, np.ndarray]:
    q, v, a = state(mech)
    return np.asarray(mech.integrate(q, v + a * s / 2.0, s)), v + a * s


@pytest.mark.parametrize("resolve", ["", "b0", "b2"])
@pytest.mark.parametrize("kind", OF_MOTION)
def test_motions_are_those_of_the_frames(kind: str, resolve: str) -> None:
    """Seen from a: derivatives of p_ab and of R_ab in a's axes, turned into the wanted ones."""
    mech = Mechanism(sensed(kind, resolve=resolve))
    q, v, a = state(mech)

    def relative(s: float) -> tuple[np.ndarray, np.ndarray]:
        A, B = frames(mech, moved(mech, s)[0])
        return (np.linalg.inv(A) @ B)[:3, 3], A[:3, :3].T @ B[:3, :3]

    def speed(s: float, step: float = 1e-4) -> np.ndarray:
        (p0, R0), (p1, R1) = relative(s - step), relative(s + step)
        if "angular" not in kind:
            return (p1 - p0) / (2.0 * step)
        return vector_of(R1 @ R0.T) / (2.0 * step)

    expected = (speed(1e-3) - speed(-1e-3)) / 2e-3 if "acceleration" in kind else speed(0.0)
    R_a = frames(mech, q)[0][:3, :3]
    R_wanted = np.asarray(mech.frame(q, resolve))[:3, :3] if resolve else np.eye(3)
    value = mech.sensor(q, v, "s", a=a)[0]
    scale = np.linalg.norm(expected)
    assert value == pytest.approx(R_wanted.T @ R_a @ expected, abs=1e-4 * scale)


@pytest.mark.parametrize("kind", ["velocity", "angular_velocity"])
def test_velocities_have_rates(kind: str) -> None:
    mech = Mechanism(sensed(kind, resolve="b2"))
    q, v, a = state(mech)
    ahead, behind = (np.asarray(mech.sensor(*moved(mech, s), "s")[0]) for s in (1e-4, -1e-4))
    rate = (ahead - behind) / 2e-4
    assert mech.sensor(q, v, "s", a=a)[1] == pytest.approx(rate, abs=1e-5 * np.linalg.norm(rate))


def weight(kind: str, **more: object) -> Model:
    """A mass beside the hinge, about a vertical axis."""
    return Model(
        bodies=(Body(name="b", mass=2.0, center_of_mass=(0.3, 0.0, 0.0)),),
        joints=(Joint(name="j", kind="revolute", parent=WORLD, child="b", a=Pose(position=(0.0, 0.0, 1.0))),),
        sensors=(Sensor(name="s", kind=kind, joint="j", **more),),
    )


@pytest.mark.parametrize("resolve", ["", "b"])
def test_a_joint_carries_the_weight_behind_it(resolve: str) -> None:
    """Force m g, moment c × m g about the hinge."""
    carried = {"cut_force": (0.0, 0.0, 2.0 * 9.81), "cut_torque": (0.0, -0.3 * 2.0 * 9.81, 0.0)}
    for kind, expected in carried.items():
        run = simulate(Mechanism(weight(kind, resolve=resolve)), 0.1, output=0.05)
        assert run["s"] == pytest.approx(np.tile(expected, (len(run.time), 1)), abs=1e-9)
        assert run["s.z"] == pytest.approx(run["s"][:, 2])
        assert "s.rate" not in run.channels


def test_power_is_force_times_speed() -> None:
    """A constant moment about the hinge: P = τ² t / I, I = m c²."""
    run = simulate(Mechanism(weight("power")), 0.5, torque={"j": 0.4}, output=0.1, rtol=1e-10)
    assert run["s"] == pytest.approx(0.4**2 * run.time / (2.0 * 0.3**2), abs=1e-8)


@pytest.mark.parametrize("kind", ALL)
def test_runs_tell_it_by_components_with_rates_where_it_has_any(kind: str) -> None:
    info = ALL[kind]
    run = simulate(Mechanism(sensed(kind)), 0.01, output=0.01)
    names = [f"s.{each}" if each else "s" for each in info.components]
    for k, name in enumerate(names):
        whole = run["s"]
        assert run[name] == pytest.approx(whole[:, k] if info.components != ("",) else whole)
        assert np.isfinite(run[name]).all()
        assert (f"{name}.rate" in run.channels) == info.is_function_of_state


@pytest.mark.parametrize("kind", ALL)
def test_it_is_seen_saved_and_read_back(kind: str) -> None:
    model = sensed(kind)
    seen = [item for item in build_draw_list(model) if item.ref == ("sensors", "s")]
    assert seen
    assert len({item.id for item in seen}) == len(seen)
    assert loads(dumps(model)).sensors == model.sensors


@pytest.mark.parametrize("kind", [name for name, kind in ALL.items() if not kind.is_function_of_state])
@pytest.mark.parametrize("end", ["", ".rate"])
def test_no_force_can_depend_on_what_is_known_after_the_accelerations(kind: str, end: str) -> None:
    value = "s" if ALL[kind].components == ("",) else "s.x"
    model = dataclasses.replace(
        sensed(kind), forces=(Force(name="f", kind="line", a="b0", b="tip", law=f"2*{value}{end}"),)
    )
    mech = Mechanism(model)
    with pytest.raises(ExpressionError, match="depends on accelerations"):
        mech.forward_dynamics(mech.rest(), np.zeros(mech.nv), np.zeros(mech.nv))


def test_a_new_kind_is_held_driven_and_pulled_along() -> None:
    base = sensed("half_square")
    hold = Constraint(name="c", kind="hold", sensor="s", value=0.2)
    drive = Driver(name="d", sensor="s", function="0.2 + 0.1*sin(t)")
    for model in (dataclasses.replace(base, constraints=(hold,)), dataclasses.replace(base, drivers=(drive,))):
        mech = Mechanism(model)
        q, v, _ = state(mech)
        A, B = frames(mech, q)
        p = (B - A)[:3, 3]
        assert mech.constraint_residual(q, t=0.0) == pytest.approx([p @ p / 2.0 - 0.2])
        rate = mech.sensor(q, v, "s")[1]
        assert mech.constraint_jacobian(q) @ v == pytest.approx(float(rate))
        held = mech.assemble(q)
        assert mech.sensor(held, v, "s")[0] == pytest.approx(0.2)
    pulled = Mechanism(
        dataclasses.replace(base, forces=(Force(name="f", kind="sensor", sensor="s", stiffness=3.0, rest=0.1),))
    )
    q, v, _ = state(pulled)
    force = pulled.forward_dynamics(q, v, 0.0 * v) - Mechanism(base).forward_dynamics(q, v, 0.0 * v)
    value, rate = pulled.sensor(q, v, "s")
    power = v @ (pulled.mass_matrix(q) @ force)
    assert power == pytest.approx(-3.0 * (value - 0.1) * rate)


def test_every_kind_has_a_look() -> None:
    assert set(LOOKS["sensors"]) == set(ALL) - {"half_square"}


def test_a_kind_that_there_is_not_is_refused() -> None:
    with pytest.raises(ModelError, match="'thermometer' is not one of"):
        Sensor(name="s", kind="thermometer", b="tip")


@pytest.mark.parametrize("facts", [{}, {"measure": half_square, "power": True}])
def test_a_kind_measures_exactly_one_thing(facts: dict) -> None:
    with pytest.raises(TypeError, match="The sensor kind odd needs one of"):
        SensorKind(name="odd", title="Odd", dimensions=("none",), uses=(), **facts)


def test_values_that_differ_need_a_dimension_each() -> None:
    with pytest.raises(TypeError, match="a dimension for each value"):
        SensorKind(
            name="odd", title="", components=("x", "y", "z"), dimensions=("angle", "length"), uses=(), power=True
        )
    pose = SENSOR_KINDS["pose"]
    assert [pose.dimension_of(each) for each in pose.components] == ["angle"] * 3 + ["length"] * 3
    assert pose.dimension == "none"
