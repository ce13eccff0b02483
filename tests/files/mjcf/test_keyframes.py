"""Keyframes are stored poses: bodies lie in them where MuJoCo has them."""

import mujoco
import numpy as np
import pytest

from core.files import read
from core.mechanism import Mechanism

BODY = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
TEXT = f"""<mujoco>
<compiler angle="degree"/>
<worldbody>
  <body name="base" pos="0 0 1" euler="0 0 30"><freejoint name="float"/>{BODY}
    <body name="upper" pos="0.1 0 0.2"><joint name="shoulder" type="ball" pos="0 0 0.1"/>{BODY}
      <body name="lower" pos="0.4 0 0" euler="10 0 0"><joint name="elbow" axis="0 1 1" ref="20"/>{BODY}</body>
      <body name="other" pos="0 0.3 0"><joint name="slide" type="slide" axis="1 0 0" pos="0 0 0.1"/>{BODY}</body>
    </body>
  </body>
</worldbody>
<keyframe>
  <key name="home" qpos="0.2 -0.1 0.8  0.6 0 0.8 0  0.8 0.6 0 0  0.7 0.05"/>
  <key qpos="0 0 1  1 0 0 0  0.5 0.5 -0.5 0.5  -1.2 -0.3" ctrl="" qvel="0 0 0 0 0 0 0 0 0 0 1"/>
  <key name="empty" time="2"/>
</keyframe>
</mujoco>"""


@pytest.fixture
def reading(tmp_path):
    file = tmp_path / "m.xml"
    file.write_text(TEXT)
    return read(file), mujoco.MjModel.from_xml_path(str(file))


def test_bodies_lie_in_stored_poses_where_mujoco_has_them(reading):
    (result, theirs), data = reading, mujoco.MjData(reading[1])
    mech = Mechanism(result.model)
    assert [pose.name for pose in result.model.poses] == ["home", "key2"]
    for k, pose in enumerate(result.model.poses):
        mujoco.mj_resetDataKeyframe(theirs, data, k)
        mujoco.mj_forward(theirs, data)
        q = mech.rest()
        for row in pose.values:
            q[mech.q_names.index(row.coordinate)] = row.value
        for body in ("base", "upper", "lower", "other"):
            X = mech.frame(q, body)
            assert np.allclose(X[:3, 3], data.body(body).xpos, atol=1e-12)
            assert np.allclose(X[:3, :3], data.body(body).xmat.reshape(3, 3), atol=1e-12)


def test_what_poses_do_not_have_is_reported(reading):
    words = [finding.text for finding in reading[0].findings]
    assert any("1 keyframes are left out: they have no positions" in text for text in words)
    assert any("1 keyframes lose their time, speeds, activations and controls" in text for text in words)


@pytest.mark.parametrize("value", ["abc", "nan"])
def test_a_keyframe_without_numbers_is_left_out_and_reported_once(value, tmp_path):
    """By the check of values; the machine opens without the pose."""
    body = '<worldbody><body><joint type="hinge"/><geom size="0.1" mass="1"/></body></worldbody>'
    text = f'<mujoco>{body}<keyframe><key qpos="{value}"/></keyframe></mujoco>'
    (tmp_path / "arm.xml").write_text(text, encoding="utf-8")
    found = read(tmp_path / "arm.xml")
    assert found.model.poses == ()
    assert len([each for each in found.findings if f"'{value}'" in each.text]) == 1
