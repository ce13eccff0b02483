"""What the benchmarks hand to other programs is the same machine, and what they write leaves other sections alone."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import problems, trees
from benchmarks.document import merged
from core.mechanism import Mechanism


def tree(name):
    """A published machine as a tree on which nothing acts but gravity."""
    model = getattr(problems, name)().model
    return replace(model, forces=())


@pytest.mark.parametrize("name", ["double_pendulum", "flyball_governor"])
@pytest.mark.parametrize("seed", [1, 2])
def test_pinocchio_and_mujoco_get_the_same_machine(name, seed):
    pin, mujoco = pytest.importorskip("pinocchio"), pytest.importorskip("mujoco")
    model = tree(name)
    mech, described = Mechanism(model), trees.described(model)
    q, v = mech.random(seed), np.random.default_rng(seed).normal(size=mech.nv)
    expected = mech.forward_dynamics(q, v, np.zeros(mech.nv))

    theirs, order = trees.pinocchio_model(pin, described)
    found = np.empty(mech.nv)
    found[order] = pin.aba(theirs, theirs.createData(), q[order], v[order], np.zeros(mech.nv))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

    theirs, order = trees.mujoco_model(mujoco, described, mujoco.mjtIntegrator.mjINT_RK4, 1e-3)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = q[order], v[order]
    mujoco.mj_forward(theirs, data)
    found[order] = data.qacc
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["four_bar", "bricard"])
def test_loops_are_no_trees(name):
    with pytest.raises(ValueError, match="tree"):
        trees.described(getattr(problems, name)().model)


def test_a_section_takes_the_place_of_the_one_with_its_title():
    old = "# Head\n\nwords\n\n## A\n\none\n\n## B\n\ntwo\n"
    assert merged(old, "## A\n\nnew\n") == "# Head\n\nwords\n\n## A\n\nnew\n\n## B\n\ntwo\n"
    assert merged(old, "## C\n\nthree\n") == old + "\n## C\n\nthree\n"
    assert merged(old, "# Other\n\n## B\n\nnew\n") == "# Other\n\n## A\n\none\n\n## B\n\nnew\n"
