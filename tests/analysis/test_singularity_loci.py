"""Loci of singular poses over two coordinates against closed forms."""

import math

import numpy as np
import pytest

from core.analysis.singularities.loci import singularity_loci
from core.errors import ModelError
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES
from tests.analysis.arms.six_axis_arms import PUMA, arm, named_arm


def test_elbow_and_shoulder_of_the_puma():
    """Over joints 2 and 3: at the elbow's border θ₃ is constant, a₃ sin θ₃ + d₄ cos θ₃ = 0; at the shoulder's the
    wrist's centre is above axis 1, a₂ cos θ₂ + a₃ cos θ₂₃ − d₄ sin θ₂₃ = 0."""
    a2, a3, d4 = PUMA[1][0], PUMA[2][0], PUMA[3][2]
    mech = named_arm("puma")
    q = np.array([0.3, 0.0, 0.0, 0.2, 0.7, 0.1])
    found = singularity_loci(mech, (mech.q_names[1], mech.q_names[2]), "tool", q=q, nodes=61)
    assert set(found.names) == {"shoulder", "elbow"}
    elbow = np.vstack([each.places for each in found.curves if each.name == "elbow"])
    shoulder = np.vstack([each.places for each in found.curves if each.name == "shoulder"])
    # the wrist's centre is at (a₃, d₄) from the elbow: in line with the upper arm where its component across is zero
    across = a3 * np.sin(elbow[:, 1]) + d4 * np.cos(elbow[:, 1])
    np.testing.assert_allclose(across, 0.0, atol=1e-9)
    sums = shoulder.sum(axis=1)
    level = a2 * np.cos(shoulder[:, 0]) + a3 * np.cos(sums) - d4 * np.sin(sums)
    np.testing.assert_allclose(level, 0.0, atol=1e-9)
    for each in found.curves:
        smallest = np.linalg.svd(mech.jacobian(each.q, "tool"), compute_uv=False)[:, -1]
        assert smallest.max() < 1e-9
        np.testing.assert_allclose(mech.frame(each.q, "tool")[:, :3, 3], each.points, atol=1e-12)
    assert len(np.unique(np.round(elbow[:, 1], 6))) == 2


def test_a_planar_arm():
    """Two links: singular where they are in line, θ₂ = 0, at any first angle; the tool is on the circle of radius
    a₁ + a₂."""
    mech = arm(((0.5, 0.0, 0.0), (0.3, 0.0, 0.0)), "RR")
    found = singularity_loci(mech, mech.q_names, "tool", ranges=((-2.0, 2.0), (-1.5, 2.5)))
    (curve,) = found.curves
    np.testing.assert_allclose(curve.places[:, 1], 0.0, atol=1e-12)
    assert math.isclose(np.ptp(curve.places[:, 0]), 4.0, abs_tol=1e-9)
    np.testing.assert_allclose(np.hypot(curve.points[:, 0], curve.points[:, 1]), 0.8, atol=1e-12)
    assert not curve.is_closed


@pytest.mark.parametrize(
    ("name", "coordinates", "words"),
    [
        ("ur5", ("joint2", "joint2"), "two different coordinates"),
        ("ur5", ("joint2", "joint22"), "no coordinate 'joint22'"),
        ("panda", ("joint2", "joint4"), "not square"),
        ("four_bar", None, "without loops"),
    ],
)
def test_questions_without_an_answer(name, coordinates, words):
    """Coordinates that are none, redundant arms, machines with loops."""
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    with pytest.raises(ModelError, match=words):
        singularity_loci(mech, coordinates or mech.q_names[:2])
