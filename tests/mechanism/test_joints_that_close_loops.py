"""Values named for joints that close loops are kept: the answer does not depend on where the program cuts a loop."""

import numpy as np
import pytest

from core.analysis.sweep import sweep
from core.errors import KinetostatError, ModelError
from core.files import loads
from core.mechanism import Mechanism
from core.simulation import Run, simulate
from core.simulation.live import Live
from core.studies.study import Study

FOUR_BAR = """kinetostat: 1
bodies:
  crank: {{mass: 1, center_of_mass: [0.1, 0, 0], inertia: {{ixx: 0.01, iyy: 0.01, izz: 0.01}}}}
  coupler: {{mass: 1.5, center_of_mass: [0.25, 0, 0], inertia: {{ixx: 0.03, iyy: 0.03, izz: 0.03}}}}
  rocker: {{mass: 2, center_of_mass: [0.2, 0, 0], inertia: {{ixx: 0.04, iyy: 0.04, izz: 0.05}}}}
joints:
  A: {{parent: world, child: crank, axis: [0, 0, 1], rest: 60 deg{A}}}
  B: {{parent: crank, child: coupler, axis: [0, 0, 1], a: {{position: [0.2, 0, 0]}}{B}}}
  C: {{parent: coupler, child: rocker, axis: [0, 0, 1], a: {{position: [0.5, 0, 0]}}, b: {{position: [0.4, 0, 0]}}{C}}}
  D: {{parent: world, child: rocker, axis: [0, 0, 1], a: {{position: [0.5, 0, 0]}}{D}}}
"""
CARDAN = """kinetostat: 1
bodies:
  a: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 1}}}}
  b: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 1}}}}
joints:
  crank: {{parent: world, child: a, axis: [0, 0, 1]{crank}}}
  cross: {{kind: universal, parent: a, child: b, axis: [1, 0, 0], second_axis: [0, 1, 0], rest: [35 deg, 0]{cross}}}
  out: {{parent: world, child: b, axis: [0, 0, 1], a: {{rotation: [35 deg, 0, 0]}}{out}}}
"""
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def model(text, cut, **fields):
    """Return a machine whose loop is cut at a joint; fields : more text for a joint."""
    names = "ABCD" if text is FOUR_BAR else ("crank", "cross", "out")
    return loads(text.format(**{name: fields.get(name, "") + ", cut: yes" * (name == cut) for name in names}))


@pytest.fixture(scope="module")
def four_bars():
    """Return the same four-bar linkage, cut at C (where C is named) and at D."""
    return Mechanism(model(FOUR_BAR, "C")), Mechanism(model(FOUR_BAR, "D"))


def test_positions_speeds_and_accelerations(four_bars):
    states = []
    for mech in four_bars:
        q = mech.move(mech.rest(), {"C": float(mech.coordinate(mech.rest(), "C")[0]) + 0.2})
        v = mech.speeds(q, {"C": "20 deg/s"})
        a = mech.accelerations(q, v, {"C.a": 0.7})
        states.append((mech.poses(q), mech.frame_velocity(q, v, "coupler"), mech.frame_acceleration(q, v, a, "rocker")))
    for cut, tree in zip(*states, strict=True):
        np.testing.assert_allclose(cut, tree, atol=1e-9)


def test_start_values(four_bars):
    start = float(four_bars[0].coordinate(four_bars[0].rest(), "C")[0]) - 0.2
    runs = [simulate(mech, 0.3, q0={"C": start}, v0={"C.v": 2.0}, **TIGHT) for mech in four_bars]
    assert runs[0]["C.v"][0] == pytest.approx(2.0, abs=1e-9)
    assert runs[0]["C.q"][0] == pytest.approx(start, abs=1e-9)
    for channel in ("A.q", "D.v", "coupler.position"):
        np.testing.assert_allclose(runs[0][channel], runs[1][channel], atol=1e-7)


@pytest.mark.parametrize("value", [0.7, "1 + 0.5*sin(5*t) - 0.3*C.v + 0.2*A"])
def test_torques_act_in_the_joint_itself(four_bars, value, tmp_path):
    runs = [simulate(mech, 0.5, torque={"C": value, "A": -0.1}, **TIGHT) for mech in four_bars]
    for channel in ("A.q", "D.v", "C.tau", "A.tau", "A.reaction", "C.reaction", "D.reaction", "energy.total"):
        np.testing.assert_allclose(runs[0][channel], runs[1][channel], atol=2e-6, err_msg=channel)
    assert "C.tau" in runs[0].channels
    assert np.max(np.abs(runs[0]["energy.balance"])) < 1e-6
    runs[0].save(tmp_path / "run.h5")
    np.testing.assert_array_equal(Run.load(tmp_path / "run.h5")["C.tau"], runs[0]["C.tau"])


def test_a_load_on_the_output_shaft_of_a_cardan_drive():
    runs = [simulate(model(CARDAN, cut), 1.0, torque={"out": 1.0}, **TIGHT) for cut in ("out", "cross")]
    assert simulate(model(CARDAN, ""), 0.01, torque={"out": 1.0})["out.v"][-1] > 0.0
    np.testing.assert_allclose(runs[0]["crank.q"], runs[1]["crank.q"], atol=1e-8)
    work = np.asarray(runs[0]["out.q"]) - runs[0]["out.q"][0]  # of 1 N·m
    np.testing.assert_allclose(runs[0]["energy.kinetic"], work, atol=1e-6)


def test_motor_limits_of_such_joints():
    limit = ", limits: [{effort: 0.5}]"
    runs = [simulate(model(FOUR_BAR, cut, C=limit), 0.3, torque={"C": "3*t"}, **TIGHT) for cut in "CD"]
    assert runs[0]["A.q"][-1] == pytest.approx(runs[1]["A.q"][-1], abs=1e-9)
    assert np.max(runs[0]["C.tau"]) == pytest.approx(0.5)
    fast = model(FOUR_BAR, "C", C=", limits: [{velocity: 1}]")
    with pytest.raises(ModelError, match="speed limit of its motor would not act"):
        simulate(fast, 0.1, torque={"C": 1.0})


def test_other_ways_to_name_them(four_bars):
    mech = four_bars[0]
    start = float(mech.coordinate(mech.rest(), "C")[0])
    swept = sweep(mech.model, mech, mech.rest(), {}, [("C", start, start + 0.2, 2)])
    np.testing.assert_allclose([mech.coordinate(q, "C")[0] - start for q in swept.q], (0.0, 0.1, 0.2), atol=1e-9)
    live = Live(mech, torque={"C": 1.0}, v0={"C": 0.5})
    assert live.mech.coordinate(live.q, "C")[0] == pytest.approx(start, abs=1e-9)
    study = Study(mech, duration=0.1, torque={"C": 1.0}).grid({"C.v": (0.0, 1.0)}).record({"end": "at(A.q, 0.1)"})
    ends = study.run().table["end"]
    expected = [simulate(mech, 0.1, torque={"C": 1.0}, v0={"C": x})["A.q"][-1] for x in (0.0, 1.0)]
    np.testing.assert_allclose(ends, expected, atol=1e-6)


def test_refusals_say_why(four_bars):
    mech = four_bars[0]
    with pytest.raises(ModelError, match="cannot be cut at another joint") as said:
        mech.speeds(mech.rest(), dict.fromkeys("ABCD", 0.0))
    assert "Name fewer joints" in said.value.remedy
    with pytest.raises(KinetostatError, match="'sun' is not defined"):
        simulate(mech, 0.1, torque={"C": "sun"})
    with pytest.raises(ModelError, match="closes a loop") as said:
        mech.inverse_dynamics(mech.rest(), np.zeros(3), np.zeros(3), actuators=["C"])
    assert "“cut” to no" in said.value.remedy
