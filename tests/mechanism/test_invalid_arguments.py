"""What a script asks wrongly is told as a message; single states and arrays of states mix."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from core.errors import FileError, ModelError, SimulationError
from core.files import check, dumps, load, loads, save
from core.functions import Context, call
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Mimic, Model, Parameter, Pose
from core.model.edits import edits
from core.simulation import Run, simulate
from core.symbolic import robot
from resources import EXAMPLES
from tests.mechanism.constraints.test_redundant_drivers import four_bar

BAR = four_bar()
REST = BAR.rest()
BARS = Mechanism(load(EXAMPLES / "four_bar.kst"))
STILL = np.zeros(BAR.nv)

WRONG = {
    "weight of joint 'A'": lambda: BAR.assemble(REST, weights={"A": 0.0}),
    "weight of joint 'B'": lambda: BAR.assemble(REST, weights={"B": -1.0}),
    "weight of joint 'D'": lambda: BAR.assemble(REST, weights={"D": float("nan")}),
    "not a finite number": lambda: BAR.assemble(np.full(BAR.nq, np.nan)),
    "no joint 'elbow'": lambda: BAR.reactions(REST, STILL, STILL)["elbow"],
    "v has shape": lambda: BAR.integrate(REST, STILL[:1]),
    "q has shape": lambda: BAR.integrate(REST[:2], STILL),
    "q is not an array": lambda: BAR.integrate("abc", STILL),
    "q has shape \\(\\)": lambda: BAR.coordinate(0, "A"),
    "q is not an array of numbers. Give": lambda: BAR.clamp([[0, 0], [0]]),
    "q has shape \\(1,\\)": lambda: BAR.difference([0.0], REST),
    "no body or frame 'None'": lambda: BAR.frame(REST, None),
    "no body or frame '\\['": lambda: BAR.jacobian(REST, ["tip"]),
    "no joint '5'": lambda: BAR.joint_q(5),
    "no speed 'nix'": lambda: BAR.inverse_dynamics(REST, STILL, STILL, actuators="nix"),
    "has mass, so there is no centre": lambda: Mechanism(Model()).center_of_mass([]),
    "first argument must be the name of a function": lambda: call(3, Context.of(BAR.model)),
    "must be a model or a context, not NoneType": lambda: call("jacobian", None),
    "model has no 'links'": lambda: edits.change(BAR.model, "links", "c", mass=1),
    "body 'c': There is no field 'maas'. Did you mean mass": lambda: edits.change(BAR.model, "bodies", "c", maas=1),
    r"different leading axes: \(2, 4\), \(3,\)": lambda: BARS.mass_matrix(
        np.zeros((2, 4, BARS.nq)), p={"a": [0.1, 0.1, 0.1]}
    ),
    "tip: There is no body or frame 'nix'": lambda: robot(load(EXAMPLES / "two_link.rob"), tip="nix"),
    "symbols: There is no parameter 'nix'": lambda: robot(load(EXAMPLES / "two_link.rob"), symbols="nix"),
    "value of 'a1': 'x' is not a number": lambda: robot(load(EXAMPLES / "two_link.rob"), values={"a1": "x"}),
    "model is needed, not NoneType": lambda: check(None),
    "model is needed, not str": lambda: robot("panda.urdf"),
    "model is needed, not list": lambda: dumps([]),
}


@pytest.mark.parametrize("words", WRONG)
def test_it_is_a_message(words: str) -> None:
    with pytest.raises(ModelError, match=words):
        WRONG[words]()


def test_parameters_that_are_no_numbers() -> None:
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    with pytest.raises(ModelError, match="parameter 'a'.*finite"):
        mech.rest({"a": float("nan")})


def test_one_position_and_many_forces() -> None:
    """With loops as without: leading axes broadcast."""
    forces = np.random.default_rng(1).normal(size=(2, 3, BAR.nv))
    many = BAR.forward_dynamics(REST, STILL, forces)
    assert many.shape == (2, 3, BAR.nv)
    for at in np.ndindex(2, 3):
        np.testing.assert_allclose(many[at], BAR.forward_dynamics(REST, STILL, forces[at]), rtol=1e-10)
    states = np.stack([REST, BAR.move(REST, {"A": 1.5})])
    one_force = BAR.forward_dynamics(states, STILL, forces[0, 0])
    np.testing.assert_allclose(one_force[1], BAR.forward_dynamics(states[1], STILL, forces[0, 0]), rtol=1e-10)


@pytest.mark.parametrize("path", [None, 3, [], b"four_bar.kst"])
def test_what_is_no_path(path: object) -> None:
    for reading in (load, Run.load, lambda given: save(BAR.model, given)):
        with pytest.raises(FileError, match="A path is needed"):
            reading(path)


def test_one_actuator_by_its_name_alone() -> None:
    accelerations = BAR.forward_dynamics(REST, STILL, STILL)
    one = BAR.inverse_dynamics(REST, STILL, accelerations, actuators="A")
    np.testing.assert_array_equal(one, BAR.inverse_dynamics(REST, STILL, accelerations, actuators=["A"]))


def follower() -> Mechanism:
    """A wheel that turns `ratio` times as far as another, and a little more."""
    joints = (
        Joint(name="first", parent="world", child="wheel", axis=(1, 0, 0)),
        Joint(
            name="second",
            parent="world",
            child="other",
            axis=(1, 0, 0),
            mimic=Mimic(leader="first", ratio="ratio", offset="more"),
        ),
    )
    parameters = (Parameter(name="ratio", value=2.0), Parameter(name="more", value=0.5))
    bodies = tuple(Body(name=name, mass=1.0, inertia=Inertia(ixx=1.0)) for name in ("wheel", "other"))
    return Mechanism(Model(parameters=parameters, bodies=bodies, joints=joints))


def test_a_coupling_follows_its_parameters() -> None:
    """q = ratio · q_leader + offset with the parameters of the call, one row per state, and of the run."""
    mech = follower()
    assert mech.coordinate([0.3], "second") == pytest.approx([2.0 * 0.3 + 0.5])
    assert mech.coordinate([0.3], "second", p={"ratio": 3.0, "more": 0.1}) == pytest.approx([1.0])
    rows = mech.coordinate([[0.3], [0.4]], "second", p={"ratio": [3.0, 5.0]})
    np.testing.assert_allclose(rows, [[1.4], [2.5]], rtol=1e-15)
    run = simulate(mech, 0.1, q0=[0.3], v0=[1.0], parameters={"ratio": 3.0, "more": 0.1})
    np.testing.assert_allclose(run["second.q"], 3.0 * run["first.q"] + 0.1, rtol=1e-14)
    np.testing.assert_allclose(run["second.v"], 3.0 * run["first.v"], rtol=1e-14)


def test_a_measured_coordinate_follows_the_parameters() -> None:
    """Frame a of the joint that closes the loop turns with a parameter: the angle from there to b is less by that."""
    joints = tuple(
        dataclasses.replace(joint, cut="yes", a=Pose(position=(0.8, 0, 0), rotation=(0, 0, "turn")))
        if joint.name == "C"
        else joint
        for joint in BAR.model.joints
    )
    model = dataclasses.replace(BAR.model, joints=joints, parameters=(Parameter(name="turn", value=0.1),))
    mech = Mechanism(model)
    q = mech.rest()
    (angle,) = mech.coordinate(q, "C")
    assert mech.coordinate(q, "C", p={"turn": 0.4}) == pytest.approx([angle - 0.3], abs=1e-12)


def test_a_machine_without_parameters_takes_none_by_name() -> None:
    q = BAR.rest()
    np.testing.assert_array_equal(BAR.coordinate(q, "A", p={}), BAR.coordinate(q, "A"))
    np.testing.assert_allclose(BAR.rest({}), q, atol=1e-12)


def test_a_drag_of_a_follower_follows_the_parameters() -> None:
    mech = follower()
    assert mech.move([0.0], {"second": 1.1}, {"ratio": 5.0, "more": 0.1}) == pytest.approx([0.2])


def test_a_loop_that_moves_nothing_is_told() -> None:
    """A point mass on the common axis of two joints: no mass moves, and no force of the loop can tell how fast."""
    body = Body(name="wheel", mass=1.0)
    joints = tuple(Joint(name=name, parent="world", child="wheel") for name in ("first", "second"))
    mech = Mechanism(Model(bodies=(body,), joints=joints))
    with pytest.raises(SimulationError, match="moves no mass or inertia"):
        mech.forward_dynamics([0.0], [0.0], [1.0])
    free = Mechanism(Model(bodies=(body,)))
    with pytest.raises(SimulationError, match="body 'wheel'.*no mass or no inertia"):
        free.forward_dynamics(free.neutral(), np.zeros(6), np.zeros(6))


def test_what_is_no_text() -> None:
    for given in (None, b"kinetostat: 1"):
        with pytest.raises(FileError, match="A string is needed"):
            loads(given)


def test_a_number_in_an_array_without_axes_is_a_number() -> None:
    assert Body(name="b", mass=np.array(2.0)).mass == 2.0
    with pytest.raises(ModelError, match="not a finite number"):
        Body(name="b", mass=np.array(np.nan))


def test_mechanisms_and_runs_are_copied_and_sent_to_processes() -> None:
    """A pickle holds the model and the samples; machine code is found again."""
    run = simulate(BAR, 0.05)
    for copied in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        np.testing.assert_array_equal(copied["A.q"], run["A.q"])
        np.testing.assert_array_equal(copied["energy.total"], run["energy.total"])
        assert copied.mech.model == BAR.model
    assert pickle.loads(pickle.dumps(BAR)).mass_matrix(REST) == pytest.approx(BAR.mass_matrix(REST), rel=1e-12)


@pytest.mark.parametrize("time", ["x", None, float("nan")])
def test_a_time_that_is_none(time: object) -> None:
    with pytest.raises(ModelError, match="time: .* is not a finite number"):
        simulate(follower(), 0.01).at(time)
