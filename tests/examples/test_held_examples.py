"""Examples with friction or limits: what cards tell of rest is what the kernel gives, and runs agree."""

import re

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.analysis.linearisation import linearise
from core.constraints.joint_modes import build_joint_row_table
from core.errors import SimulationError
from core.files import load
from core.functions.catalogue import call
from core.functions.context import Context
from core.mechanism import Mechanism
from core.simulation import simulate
from resources import EXAMPLES


def with_rows():
    """Names of examples with rows that have modes."""
    found = []
    for path in sorted(EXAMPLES.glob("*.kst")):
        mech = Mechanism(load(path))
        if build_joint_row_table(mech.compiled, mech.compiled.parameter_values(None)).rows:
            found.append(path.stem)
    return found


@pytest.mark.parametrize("example", with_rows())
def test_cards_of_rest_are_those_of_the_kernel_and_of_runs(example):
    context = Context.of(load(EXAMPLES / f"{example}.kst"))
    mech, q = context.mech, context.q
    still = np.zeros(mech.nv)
    table = call("inverse_dynamics", context)
    a = mech.accelerations(q, still, {}, t=context.t)
    forces = mech.inverse_dynamics_ranges(q, still, a, t=context.t)
    if not mech.constrained and "Lower bound" in [column.title for column in table.columns]:
        for title, expected in (("Lower bound", forces.tau_min), ("Upper bound", forces.tau_max)):
            np.testing.assert_allclose([c.value for c in table.column(title)], expected, atol=1e-9)
    elif not mech.constrained:
        np.testing.assert_array_equal(forces.tau_min, forces.tau_max)
    report = call("static_equilibrium", context, friction=True)
    if not hasattr(report, "parts"):
        with pytest.raises(SimulationError, match=re.escape(report.text)):
            equilibrium(mech, q, friction=True)
        return
    found = equilibrium(mech, q, friction=True)
    holding = next((part for part in report.parts if part.title == "Friction forces"), None)
    assert (holding is not None) == bool(found.friction.forces)
    if holding is not None and not mech.model.expanded.drivers:
        told = [c.value for c in holding.column("Friction")]
        np.testing.assert_allclose(told, list(found.friction.forces.values()), atol=1e-9)
        run = simulate(mech.model, 0.2, q0=found.q, v0=still, output=0.2)
        np.testing.assert_allclose(run.q[-1], run.q[0], atol=1e-8)
        at_rest = linearise(mech, found.q, tau=None)
        assert set(at_rest.stuck) == set(found.friction.forces)


def test_a_stop_that_is_pushed_in_counts_as_a_spring():
    from core.model import Limit
    from tests.analysis.test_held_pose import arm

    mech, free = arm(limits=(Limit(upper=0.5),)), arm()
    q, rest = np.array([0.51]), np.zeros(1)
    torque = mech.inverse_dynamics(q, rest, rest) - free.inverse_dynamics(q, rest, rest)
    stored = mech.energy(q, rest)[1] - free.energy(q, rest)[1]
    assert torque[0] > 0.0
    np.testing.assert_allclose(stored, 0.5 * torque[0] * 0.01, rtol=1e-9)
    context = Context(mech.model, mech, q, {})
    _, forces = call("inverse_dynamics", context).parts  # the limit that is passed comes first
    for table in (forces, call("energy", context)):
        assert "stop" in table.note
