"""What a script asks wrongly is told as a message; single states and arrays of states mix."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import ModelError
from core.files import load
from core.kernel import Mechanism
from resources import EXAMPLES
from tests.kernel.test_contradictions import four_bar

BAR = four_bar()
REST = BAR.rest()
STILL = np.zeros(BAR.nv)

WRONG = {
    "weight of joint 'A'": lambda: BAR.assemble(REST, weights={"A": 0.0}),
    "weight of joint 'B'": lambda: BAR.assemble(REST, weights={"B": -1.0}),
    "weight of joint 'D'": lambda: BAR.assemble(REST, weights={"D": float("nan")}),
    "not a finite number": lambda: BAR.assemble(np.full(BAR.nq, np.nan)),
    "no joint 'elbow'": lambda: BAR.reactions(REST, STILL, STILL)["elbow"],
    "v has shape": lambda: BAR.integrate(REST, STILL[:1]),
    "q has shape": lambda: BAR.integrate(REST[:2], STILL),
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
