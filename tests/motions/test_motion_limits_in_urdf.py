"""Limits of acceleration, deceleration and jerk of URDF 1.2 are read and written."""

import kinetostat as ks

URDF = """<robot name="one" version="1.2">
<link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="9" velocity="2" acceleration="3" deceleration="2.5" jerk="50"/></joint>
</robot>"""


def test_limits_are_read_and_written(tmp_path):
    path = tmp_path / "one.urdf"
    path.write_text(URDF)
    model = ks.load(path)
    again = tmp_path / "again.urdf"
    ks.save(model, again)
    for each in (model, ks.load(again)):
        limit = each.joint("hinge").limits[0]
        assert (limit.acceleration, limit.deceleration, limit.jerk) == (3.0, 2.5, 50.0)
