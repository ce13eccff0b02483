"""A pose as a run of one sample: the machine held still."""

from dataclasses import replace

import numpy as np

from core.files import load
from core.mechanism import Mechanism
from core.simulation.run.resampling import equilibrium_run
from resources import EXAMPLES


def test_the_legs_of_a_platform_carry_it_together():
    model = load(EXAMPLES / "stewart.kst")
    legs = tuple(replace(leg, content=replace(leg.content, forces=())) for leg in model.assemblies)
    mech = Mechanism(replace(model, assemblies=legs))  # without the servos
    q, still = mech.rest(), np.zeros(mech.nv)
    run = equilibrium_run(mech, q)
    assert np.abs(mech.forward_dynamics(q, still, run.tau[0])).max() < 1e-8  # it stays
    # of all joint forces that hold it the smallest: orthogonal to what the loops can do
    assert np.abs(mech.constraint_jacobian(q) @ run.tau[0]).max() < 1e-8
    assert np.linalg.norm(run.tau) < np.linalg.norm(mech.inverse_dynamics(q, still, still))
    upward = [run[f"leg{k}.foot.reaction"][0][5] for k in range(1, 7)]
    assert min(upward) > 0.5 * max(upward)
    down = mech.inverse_dynamics(q, still, still)  # moves of the whole platform cost its weight, however it is held
    assert np.allclose(
        run.tau[0] @ null(mech.constraint_jacobian(q)), down @ null(mech.constraint_jacobian(q)), atol=1e-8
    )


def null(G):
    return np.linalg.svd(G)[2][np.linalg.matrix_rank(G) :].T
