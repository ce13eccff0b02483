"""Names of configurations: one for each branch, changing exactly where the determinant of the Jacobian changes sign."""

import numpy as np
import pytest

from tests.analysis.arms.six_axis_arms import named_arm

SIX_AXES = ("puma", "offset shoulder", "ur5", "skew", "stanford")
FIRST = ("front", "up", "no flip", "+")


def parity(configuration):
    """1 or −1: a change of any one name changes it."""
    return (-1.0) ** sum(name not in FIRST for _, name in configuration.parts)


@pytest.mark.parametrize("name", SIX_AXES)
def test_names_are_signs_of_the_factors_of_the_determinant(name):
    """det J = shoulder · elbow · wrist: its sign and the number of second names agree at every pose."""
    mech = named_arm(name)
    q = np.random.default_rng(6).uniform(-3.0, 3.0, (40, 6))
    products = []
    for pose in q:
        for each in mech.inverse_kinematics(mech.frame(pose, "tool"), q=pose).solutions:
            products.append(np.sign(np.linalg.det(mech.jacobian(each.q, "tool"))) * parity(each.configuration))
    assert len(products) >= 80
    assert set(products) in ({1.0}, {-1.0})


@pytest.mark.parametrize("name", SIX_AXES)
def test_the_name_of_a_position_is_that_of_its_branch(name):
    mech = named_arm(name)
    for pose in np.random.default_rng(7).uniform(-3.0, 3.0, (20, 6)):
        found = mech.inverse_kinematics(mech.frame(pose, "tool"), q=pose)
        assert len({each.configuration for each in found.solutions}) == len(found.solutions)
        kept = mech.inverse_kinematics(mech.frame(pose, "tool"), q=pose, configuration="keep")
        assert [each.configuration for each in kept.solutions] == [found.solutions[0].configuration]
        np.testing.assert_allclose(kept.solutions[0].q, pose, atol=1e-7)


@pytest.mark.parametrize("name", ["puma", "offset shoulder", "ur5"])
def test_words_mean_what_is_seen(name):
    """In front, an elbow that is up is higher than the line from shoulder to wrist; the wrist's centre is then on the
    side of axis 1 where it is with all joints at zero, and behind for rear."""
    mech = named_arm(name)
    centre = "link3" if name == "ur5" else "link4"  # where the planar links end, and the point that decides front
    hub = "link5" if name == "ur5" else "link4"
    seen = set()
    for pose in np.random.default_rng(8).uniform(-3.0, 3.0, (20, 6)):
        for each in mech.inverse_kinematics(mech.frame(pose, "tool"), q=pose).solutions:
            axis2 = mech.frame(each.q, "link1")[:3, 2]
            ahead = np.cross(axis2, (0.0, 0.0, 1.0))
            zero = np.zeros(6)
            at_zero = np.cross(mech.frame(zero, "link1")[:3, 2], (0.0, 0.0, 1.0)) @ mech.frame(zero, hub)[:3, 3]
            in_front = (ahead @ mech.frame(each.q, hub)[:3, 3]) * at_zero > 0.0
            assert each.configuration.shoulder == ("front" if in_front else "rear")
            shoulder, elbow, end = (mech.frame(each.q, n)[:3, 3] for n in ("link1", "link2", centre))
            flat = [v - axis2 * (axis2 @ v) for v in (elbow - shoulder, end - shoulder)]
            height = flat[0] - flat[1] * (flat[0] @ flat[1]) / (flat[1] @ flat[1])
            forward = flat[1] @ (ahead * np.sign(at_zero)) > 0.0
            if in_front and forward:
                assert each.configuration.elbow == ("up" if height[2] > 0.0 else "down")
                seen.add(each.configuration.elbow)
    assert seen == {"up", "down"}


def test_texts():
    mech = named_arm("puma")
    q = np.array([0.2, 0.6, -0.8, 0.3, 0.7, 0.1])
    X = mech.frame(q, "tool")
    texts = {str(each.configuration) for each in mech.inverse_kinematics(X, q=q).solutions}
    assert texts == {f"{s} {e} {w}" for s in ("front", "rear") for e in ("up", "down") for w in ("no-flip", "flip")}
    (one,) = mech.inverse_kinematics(X, q=q, configuration="rear up flip").solutions
    assert (one.configuration.shoulder, one.configuration.elbow, one.configuration.wrist) == ("rear", "up", "flip")
    up = mech.inverse_kinematics(X, q=q, configuration={"elbow": "up"})
    assert [each.configuration.elbow for each in up.solutions] == ["up"] * 4
    assert (
        mech.inverse_kinematics(X, q=q, configuration=one.configuration).solutions[0].configuration == one.configuration
    )


def test_a_scara_has_an_elbow_to_the_left_or_right():
    mech = named_arm("scara")
    q = np.array([0.2, 0.9, 0.05, 0.3])  # turned to the left, so the elbow is right of the line from shoulder to tool
    found = mech.inverse_kinematics(mech.frame(q, "tool"), q=q)
    assert [str(each.configuration) for each in found.solutions] == ["right", "left"]
