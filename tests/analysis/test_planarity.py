"""The planarity code against machines whose motion is known by construction."""

import math

import pytest

from core.analysis.manipulability import WORDS, translation_axes_code
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, DHChain, DHRow, Joint, Model, Pose
from resources import EXAMPLES

HALF = math.pi / 2


def slider(*axes):
    """Prismatic joints along the axes, one after the other."""
    bodies = [Body(name=f"b{i}") for i in range(len(axes) + 1)]
    joints = [Joint(name="ground", kind="fixed", parent="world", child="b0")]
    for i, axis in enumerate(axes):
        joints.append(Joint(name=f"j{i}", kind="prismatic", parent=f"b{i}", child=f"b{i + 1}", axis=axis))
    return Mechanism(Model(name="slides", bodies=tuple(bodies), joints=tuple(joints)))


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("axes", "code"), [((X,), 1), ((Y,), 2), ((X, Y), 3), ((Z,), 4), ((X, Z), 5), ((Y, Z), 6), ((X, Y, Z), 7)]
)
def test_sliders(axes, code):
    mech = slider(*axes)
    assert translation_axes_code(mech, mech.frame_names[-1]) == code
    assert len(WORDS[code]) == len(axes)


def test_ground_does_not_move():
    assert translation_axes_code(slider(X), "b0") == 0
    assert WORDS[0] == "none"


def test_planar_arms():
    rows = (DHRow(a=0.5), DHRow(a=0.4), DHRow(a=0.1))
    flat = Mechanism(Model(name="flat", chains=(DHChain(name="arm", rows=rows),)))
    assert translation_axes_code(flat, "tool") == 3
    upright = Mechanism(
        Model(name="upright", chains=(DHChain(name="arm", rows=rows, base=Pose(rotation=(HALF, 0.0, 0.0))),))
    )
    assert translation_axes_code(upright, "tool") == 5
    assert translation_axes_code(upright, "tool", "base") == 3


def test_spatial_arm_and_its_wrist():
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    assert translation_axes_code(mech, "tool") == 7
    assert translation_axes_code(mech, "link1") == 0  # frame 1 lies on the axis of joint 1


def test_four_bar_moves_in_its_plane():
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    codes = {translation_axes_code(mech, frame) for frame in mech.frame_names}
    assert max(bin(code).count("1") for code in codes) == 2
