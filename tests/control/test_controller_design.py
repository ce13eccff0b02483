"""Controllers by wanted poles: the closed loops have them, and their runs decay with them."""

from dataclasses import replace

import numpy as np
import pytest

import kinetostat as ks
from core.control.controller_design import design_controller, without_controllers
from core.control.linearise import linearise
from core.errors import ModelError
from core.files.named import load
from core.functions.catalogue import call
from core.functions.context import Context

OMEGA, DAMPING = 12.0, 0.6
PAIR = np.roots([1.0, 2.0 * DAMPING * OMEGA, OMEGA**2])


@pytest.fixture(scope="module")
def bare():
    return ks.Mechanism(without_controllers(load("tracking_arm")))


def closed_poles(mech, signal):
    loop = ks.Mechanism(replace(mech.model, signals=(signal,), origin=mech.model.origin))
    return in_order(linearise(loop, mech.rest(), inputs=(), outputs=()).poles)


def in_order(poles):
    return np.sort_complex(np.round(poles, 4))


def test_computed_torque_has_the_wanted_poles_in_every_joint(bare):
    signal = design_controller(bare, bare.rest(), "computed_torque", OMEGA, DAMPING)
    assert np.allclose(closed_poles(bare, signal), in_order(np.repeat(PAIR, 3)), atol=2e-4)


@pytest.mark.parametrize(("kind", "wanted"), [("pd", PAIR), ("pid", [*PAIR, -OMEGA])])
def test_pd_and_pid_have_them_where_one_joint_moves(kind, wanted):
    body = ks.Body(name="arm", mass=0.5, center_of_mass=(0.4, 0.0, 0.0))
    joint = ks.Joint(name="axis", kind="revolute", parent="world", child="arm")
    rotor = ks.Mechanism(ks.Model(bodies=(body,), joints=(joint,)))
    signal = design_controller(rotor, rotor.rest(), kind, OMEGA, DAMPING)
    assert np.allclose(closed_poles(rotor, signal), in_order(np.array(wanted)), atol=2e-4)


def test_the_functions_say_so_and_write_a_machine_that_runs(tmp_path):
    file = tmp_path / "held.kst"
    context = Context.of(load("tracking_arm"))
    report = call(
        "controller", context, kind="computed_torque", frequency=OMEGA / 2 / np.pi, damping=1.0, file=str(file)
    )
    words = [part.text for part in report.parts if hasattr(part, "text")]
    assert any("takes the place of track, level" in text for text in words)
    assert any("is stable: deviations decay by e in 0.0833 s" in text for text in words)
    held = ks.Mechanism(ks.load(str(file)))
    run = ks.simulate(held, 0.5, q0=held.rest() + 0.02, output=0.05, rtol=1e-9, atol=1e-11)
    decay = 0.02 * np.exp(-OMEGA * run.time) * (1.0 + OMEGA * run.time)
    assert np.allclose(run.q - held.rest(), decay[:, None], atol=1e-6)
    poles = call("closed_loop_poles", Context.of(ks.load(str(file))))
    table = next(part for part in poles.parts if part.title == "Poles and zeros")
    assert np.allclose([row[1] for row in table.rows], -OMEGA, atol=1e-3)


def test_sampled_laws_are_said_to_be_taken_as_continuous():
    report = call("closed_loop_poles", Context.of(load("tracking_arm")))
    words = " ".join(part.text for part in report.parts if hasattr(part, "text"))
    assert "Taken as continuous, without period, delay, resolution and noise: level" in words


def test_a_machine_with_loops_is_refused():
    with pytest.raises(ModelError, match="The model has loops, constraints or drivers"):
        call("controller", Context.of(load("four_bar")), kind="pd")
    four_bar = ks.Mechanism(load("four_bar"))
    with pytest.raises(ModelError, match="a machine with loops, constraints or drivers"):
        design_controller(four_bar, four_bar.rest(), "pd", OMEGA, DAMPING)
