"""What carries a frame, and the frames from there to it."""

from __future__ import annotations

import pytest

from core.errors import ModelError
from core.model import Body, DHChain, DHRow, Frame, Junction, Model, Pose

TIP = Frame(name="tip", parent="flange", pose=Pose(position=(0.5, 0.0, 0.0)))
FLANGE = Frame(name="flange", parent="arm", pose=Pose(rotation=(0.0, 0.0, "90 deg")))
MACHINE = Model(
    bodies=(Body(name="arm"),),
    frames=(TIP, FLANGE, Frame(name="corner", parent="world")),
    junctions=(Junction(name="knot"),),
    chains=(DHChain(name="wrist", prefix="w_", rows=(DHRow(), DHRow())),),
)


@pytest.mark.parametrize(
    ("name", "carrier", "frames"),
    [
        ("tip", "arm", ("flange", "tip")),
        ("flange", "arm", ("flange",)),
        ("arm", "arm", ()),
        ("corner", "world", ("corner",)),
        ("world", "world", ()),
        ("", "world", ()),
        ("knot", "knot", ()),
        ("w_tool", "w_link2", ("w_tool",)),
    ],
)
def test_a_frame_is_carried_by_what_its_frames_hang_on(name, carrier, frames):
    placement = MACHINE.placement(name)
    assert placement.carrier is MACHINE.carrier(name)
    assert placement.carrier.name == carrier
    assert tuple(frame.name for frame in placement.frames) == frames


def test_the_carrier_is_the_element_of_the_document():
    assert MACHINE.carrier("tip") is MACHINE.bodies[0]
    assert MACHINE.carrier("corner") is MACHINE.world
    assert MACHINE.placement("tip").frames == (FLANGE, TIP)


def test_what_there_is_not_has_no_carrier():
    with pytest.raises(ModelError, match="'tap'.*tip"):
        MACHINE.carrier("tap")
