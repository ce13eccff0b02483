"""Sentences claim what was found, not more: each test builds a machine for which the wider sentence would be false."""

import numpy as np
import pytest

from core.analysis.branches import find_branches
from core.analysis.equilibrium import equilibrium
from core.control.feedback import lqr
from core.control.linearise import linearise
from core.control.root_locus import root_locus
from core.errors import AssemblyError, ModelError, SimulationError
from core.files import load, loads
from core.functions import call
from core.mechanism import Mechanism
from core.simulation import simulate
from resources import EXAMPLES

SLIDER = """kinetostat: 1
world: {{gravity: {{kind: none}}}}
bodies: {{a: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 1}}}}}}
joints: {{x: {{kind: prismatic, parent: world, child: a, axis: [1, 0, 0]}}}}
forces: {{f: {{kind: joint, joint: x, law: "{law}"}}}}
"""
PENDULUM = """kinetostat: 1
bodies: {bob: {mass: 1, center_of_mass: [0, 0, -1], inertia: {ixx: 1, iyy: 1, izz: 1}}}
joints: {q: {parent: world, child: bob, axis: [0, 1, 0]}}
"""


def slider(law):
    return Mechanism(loads(SLIDER.format(law=law)))


def text_of(name, mech, **options):
    """Return what the first part of a function's result says."""
    result = call(name, mech.model, **options)
    return getattr(result, "parts", (result,))[0].text


@pytest.mark.parametrize(("law", "word"), [("x - 0.5*x.v^3", "stable"), ("x^3", "indifferent")])
def test_first_order_does_not_decide(law, word):
    """A force that drives with the third power of speed: its amplitude grows, 1/A² = 1/A₀² − 3 t/8, though to first
    order nothing does. A spring of the third power returns the machine, though to first order nothing does."""
    mech = slider(law)
    assert f"It is {word} to first order" in text_of("static_equilibrium", mech)
    run = simulate(mech, 8.0, q0={"x": 0.5})
    if word == "stable":
        assert np.hypot(run["x.q"][-1], run["x.v"][-1]) == pytest.approx(1.0, abs=0.1)
    else:
        assert np.min(run["x.q"]) == pytest.approx(-0.5, abs=1e-3)


def test_a_search_downhill_misses_equilibria():
    """F = 1 − x²: from −2 it leads to −∞; equilibria are at −1 and 1."""
    mech = slider("x^2 - 1")
    with pytest.raises(SimulationError, match="found from this pose: where the search ended, nothing balances"):
        equilibrium(mech, np.array([-2.0]))
    assert equilibrium(mech, np.array([0.5])).q[0] == pytest.approx(1.0, abs=1e-6)


def test_branches_are_those_found():
    """Another start finds a branch more."""
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    assert len(find_branches(mech, starts=1)) == 1 < len(find_branches(mech, starts=20))
    assert "The loops close in at least 2 configurations" in text_of("assembly_branches", mech)


def test_what_does_not_act_at_one_state_acts_at_another():
    """A vertical force on the bob of a pendulum that hangs, or leans by half a radian; upright, where it does not act
    to first order, no feedback was found for the linear system, which says nothing about the machine."""
    mech = Mechanism(loads(PENDULUM))
    hanging, leaning, upright = (
        linearise(mech, np.array([angle]), inputs=["gravity.z"], outputs=["q.q"]) for angle in (0.0, 0.5, np.pi)
    )
    with pytest.raises(ModelError, match="In the linear system at this state, gravity.z does not affect q.q"):
        root_locus(hanging)
    assert abs(root_locus(leaning).poles[-1] - root_locus(leaning).poles[0]).max() > 0.1
    with pytest.raises(ModelError, match="No optimal feedback was found for this linear system"):
        lqr(upright)


def test_positions_are_searched_from_starts():
    """One start with other coordinates does not say that the loops cannot be closed."""
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    with pytest.raises(AssemblyError, match="No position was found in which the loops close .* from 3 starts"):
        find_branches(mech, {mech.q_names[0]: 1.0, mech.q_names[1]: 3.0, mech.q_names[2]: 0.1}, starts=3)
