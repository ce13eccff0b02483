"""What `q0`, `v0` and `x0` take: names of coordinates, speeds, joints and channels, units, NumPy's numbers, lists."""

import numpy as np
import pytest

from core.errors import AssemblyError, ModelError
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Mimic, Model, Parameter
from core.simulation.run.initial_state import start_state
from resources import EXAMPLES

BALL = Inertia(ixx=1.0, iyy=1.0, izz=1.0)
MODEL = Model(
    parameters=(Parameter(name="l", value=0.4),),
    bodies=tuple(Body(name=name, mass=1.0, inertia=BALL) for name in ("turned", "slid", "both", "rolled", "flown")),
    joints=(
        Joint(name="turn", parent="world", child="turned"),
        Joint(name="slide", kind="prismatic", parent="world", child="slid"),
        Joint(name="both", kind="cylindrical", parent="world", child="both"),
        Joint(name="ball", kind="spherical", parent="world", child="rolled"),
        Joint(name="fly", kind="free", parent="world", child="flown"),
    ),
)
MECH = Mechanism(MODEL)
P = MECH.parameter_values()


def begun(q0=None, v0=None):
    state = start_state(MECH, q0, v0, P)
    q, v = state[: MECH.nq], state[MECH.nq :]
    return dict(zip(MECH.q_names, q, strict=True)), dict(zip(MECH.v_names, v, strict=True))


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"turn": "30 deg"}, "turn", np.pi / 6),
        ({"turn": "30°"}, "turn", np.pi / 6),
        ({"turn.q": "pi/2"}, "turn", np.pi / 2),
        ({"turn": "-0.5 rev"}, "turn", -np.pi),
        ({"turn": np.float32(0.5)}, "turn", 0.5),
        ({"turn": np.int64(2)}, "turn", 2.0),
        ({"turn": np.array(0.25)}, "turn", 0.25),
        ({"turn": [0.25]}, "turn", 0.25),
        ({"slide": "50 mm"}, "slide", 0.05),
        ({"slide": "2*l"}, "slide", 0.8),
        ({"slide": "1.5 cm"}, "slide", 0.015),
        ({"both": ["90 deg", "20 mm"]}, "both.displacement", 0.02),
        ({"both.q": np.array([0.1, 0.2])}, "both.angle", 0.1),
        ({"both.angle": "10 deg"}, "both.angle", np.pi / 18),
        ({"both.angle.q": 0.1}, "both.angle", 0.1),
        ({"ball": (0.0, 0.0, 1.0, 0.0)}, "ball.qz", 1.0),
        ({"ball.qx": 0.6}, "ball.qw", 0.8),
        ({"fly": ["1 m", 2, "30 cm", 0, 0, 0, 1]}, "fly.z", 0.3),
    ],
)
def test_coordinates(given, name, value):
    assert begun(q0=given)[0][name] == pytest.approx(value, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"turn": "10 rpm"}, "turn", np.pi / 3),
        ({"turn.v": "180 deg/s"}, "turn", np.pi),
        ({"turn.v": "180 °/s"}, "turn", np.pi),
        ({"slide.v": "36 km/h"}, "slide", 10.0),
        ({"slide": "20 mm/s"}, "slide", 0.02),
        ({"both.v": [1, "3 mm/s"]}, "both.displacement", 0.003),
        ({"ball.wx": np.float64(2.0)}, "ball.wx", 2.0),
        ({"ball.wx.v": 2.0}, "ball.wx", 2.0),
        ({"ball.v": (1.0, 2.0, 3.0)}, "ball.wz", 3.0),
        ({"ball": np.arange(3)}, "ball.wy", 1.0),
        ({"fly.vx": "1 m/s"}, "fly.vx", 1.0),
    ],
)
def test_speeds(given, name, value):
    assert begun(v0=given)[1][name] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("make", [list, tuple, np.asarray, lambda q: list(map(float, q)), lambda q: [*map(str, q)]])
def test_whole_states(make):
    q = MECH.integrate(MECH.neutral(), np.linspace(0.1, 0.9, MECH.nv))
    v = np.linspace(-1.0, 1.0, MECH.nv)
    np.testing.assert_allclose(start_state(MECH, make(q), make(v), P), [*q, *v], rtol=1e-12, atol=1e-15)


def test_one_coordinate_needs_no_list():
    mech = Mechanism(load(EXAMPLES / "pendulum.kst"))
    p = mech.parameter_values()
    for q0, v0 in ((0.3, np.float64(2.0)), ("0.3 rad", "2 rad/s"), ([0.3], np.array([2.0]))):
        np.testing.assert_allclose(start_state(mech, q0, v0, p), [0.3, 2.0])


@pytest.mark.parametrize(
    ("which", "given", "said"),
    [
        ("q0", {"trun": 1.0}, "q0: There is no coordinate 'trun'. Did you mean turn"),
        ("q0", {"both.angel": 1.0}, "Did you mean both.angle"),
        ("q0", {3: 1.0}, "There is no coordinate '3'"),
        ("v0", {"ball.vx": 1.0}, "v0: There is no speed 'ball.vx'. Did you mean ball.w"),
        ("v0", {"turn.q": 1.0}, "There is no speed 'turn.q'"),
        ("q0", {"turn": "30 mm"}, "q0 of 'turn': '30 mm' is a length; an angle is required here"),
        ("v0", {"turn": "3 km/h"}, "'km/h' is not a unit of angular velocity"),
        ("q0", {"turn": "a lot"}, "q0 of 'turn'"),
        ("q0", {"turn": "2*k"}, "k"),
        ("q0", {"turn": True}, "True is not a finite number. Give a number in rad"),
        ("q0", {"slide": np.inf}, "not a finite number. Give a number in m"),
        ("q0", {"both": 1.0}, "q0 of 'both': This is not a list of numbers"),
        ("q0", {"both": [1.0]}, "2 numbers are needed. In order: both.angle, both.displacement"),
        ("q0", {"turn": 1.0, "turn.q": 2.0}, "given twice, as 1 and as 2"),
        ("q0", {"ball": (0.0, 0.0, 0.0, 0.0)}, "quaternion of zero norm"),
        ("q0", [1.0, 2.0], r"q0 has shape \(2,\); 15 numbers are needed. In order: .*turn.*by name"),
        ("v0", np.zeros((2, 13)), r"v0 has shape \(2, 13\); 13 numbers are needed"),
        ("q0", "30 deg", "q0: This is not a list of numbers"),
        ("q0", 0.5, "q0: This is not a list of numbers"),
        ("v0", [[1], [1, 2]], "v0: This is not a list of numbers"),
    ],
)
def test_what_is_wrong_is_told_by_name(which, given, said):
    with pytest.raises(ModelError, match=said):
        begun(**{which: given})


def test_followers_lead():
    joints = (
        Joint(name="first", parent="world", child="wheel"),
        Joint(name="second", parent="world", child="other", mimic=Mimic(leader="first", ratio=2.0, offset=0.5)),
        Joint(name="third", parent="world", child="last", mimic=Mimic(leader="first", ratio=0.0, offset=0.5)),
    )
    bodies = tuple(Body(name=name, mass=1.0, inertia=BALL) for name in ("wheel", "other", "last"))
    mech = Mechanism(Model(bodies=bodies, joints=joints))
    p = mech.parameter_values()
    np.testing.assert_allclose(start_state(mech, {"second": 1.1}, {"second.v": 3.0}, p), [0.3, 1.5])
    np.testing.assert_allclose(
        start_state(mech, {"second": 1.1, "first": 0.3}, {"second": 3.0, "first": 1.5}, p), [0.3, 1.5]
    )
    np.testing.assert_allclose(start_state(mech, {"third": 0.5}, {"third": 0.0}, p), [0.0, 0.0])
    for q0, v0, said in (
        ({"first": 0.0, "second": 1.1}, None, "contradicts 'first'.*differ by 17.19°"),
        (None, {"first": 1.0, "second": 3.0}, "contradicts 'first'"),
        ({"third": 0.6}, None, "fixes it at 0.5"),
        (None, {"third": 1.0}, "contradicts 'first'"),
    ):
        with pytest.raises((ModelError, AssemblyError), match=said):
            start_state(mech, q0, v0, p)


def test_positions_speeds_and_accelerations_of_a_loop_are_read_alike():
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    q = mech.move(mech.rest(), {"crank_pin.q": "80 deg"})
    assert q[0] == pytest.approx(np.radians(80.0), abs=1e-12)
    expected = mech.speeds(q, {"crank_pin": np.pi / 3.0})
    for given in ({"crank_pin": "10 rpm"}, {"crank_pin.v": "60 deg/s"}, {"crank_pin.v": [np.float64(np.pi / 3.0)]}):
        np.testing.assert_allclose(mech.speeds(q, given), expected, rtol=1e-12)
        np.testing.assert_allclose(mech.assemble(q, given)[1], expected, rtol=1e-12)
        state = start_state(mech, {"crank_pin": "80 deg"}, given, mech.parameter_values())
        np.testing.assert_allclose(state, [*q, *expected], rtol=1e-9)
    faster = mech.accelerations(q, expected, {"crank_pin.a": "180 deg/s^2"})
    np.testing.assert_allclose(faster, mech.accelerations(q, expected, {"crank_pin": np.pi}), rtol=1e-12)
    with pytest.raises(ModelError, match="crank_pn.*Did you mean crank_pin"):
        mech.assemble(q, {"crank_pn": 1.0})
