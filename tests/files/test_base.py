"""Free and fixed bases: as files say, as the user says, and what is assumed where neither does."""

import numpy as np
import pytest

from core.files import read
from core.files.formats import load
from core.mechanism import Mechanism

LEGS = """<robot name="walker"><link name="trunk"/>
<link name="{end}_left"/><joint name="left" type="continuous"><parent link="trunk"/><child link="{end}_left"/></joint>
<link name="{end}_right"/><joint name="right" type="continuous"><parent link="trunk"/>
<child link="{end}_right"/></joint></robot>"""
ARM = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>"""
BALL = """<mujoco><worldbody><body name="a" pos="0 1 2" euler="90 0 0"><freejoint name="j"/><geom size="0.1"/></body>
</worldbody></mujoco>"""
BLOCK = """<mujoco><worldbody><body name="a"><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("end", "count"), [("foot", 1), ("wheel", 1), ("hand", 0)])
def test_an_assumed_base_is_reported(tmp_path, end, count):
    """A trunk with feet or wheels is fixed as URDF's roots are, and a hint says so, unless the user chose."""
    file = tmp_path / "walker.urdf"
    file.write_text(LEGS.format(end=end))
    reading = read(file)
    assert reading.model.joint("root_joint").kind == "fixed"
    hints = [each for each in reading.findings if "does not say if its base moves" in each.text]
    assert len(hints) == count
    assert all((h.severity, h.collection, h.name, h.line) == ("hint", "joints", "root_joint", 1) for h in hints)
    for floating, kind in ((True, "free"), (False, "fixed")):
        again = read(file, floating=floating)
        assert again.model.joint("root_joint").kind == kind
        assert not [each for each in again.findings if "base" in each.text]


def test_the_user_decides_over_a_mujoco_file(tmp_path):
    """A free joint on the ground is fixed on request, a fixed body freed; machines with other bases stay."""
    files = {name: tmp_path / f"{name}.xml" for name in ("arm", "ball", "block")}
    for name, text in (("arm", ARM), ("ball", BALL), ("block", BLOCK)):
        files[name].write_text(text)
    assert load(files["ball"]).joint("j").kind == "free"
    held = Mechanism(load(files["ball"], floating=False))
    assert held.nq == 0
    expected = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0], [0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]]
    np.testing.assert_allclose(held.frame([], "a"), expected, atol=1e-12)
    for floating in (True, False, None):
        assert load(files["arm"], floating=floating) == load(files["arm"])
    (base,) = load(files["block"]).joints
    assert base.kind == "fixed"
    assert load(files["block"], floating=True).joint(base.name).kind == "free"
