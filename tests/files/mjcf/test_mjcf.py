"""MJCF files: the machine that MuJoCo makes of the same text, feature by feature; messages; published arm."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileError
from core.files import load, loads, read
from core.mechanism import Mechanism
from core.model import Model
from core.model.joints import JOINT_KINDS

mujoco = pytest.importorskip("mujoco")
REFERENCE = Path(__file__).parents[2] / "reference"


def positions(mech, model, qpos):
    """Our q for MuJoCo's qpos (quaternions w first there), joint by joint of the same names."""
    q = mech.neutral()
    for i in range(model.njnt):
        at, kind = model.jnt_qposadr[i], model.jnt_type[i]
        part = mech.joint_q(model.joint(i).name)
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            q[part] = [*qpos[at : at + 3], *qpos[at + 4 : at + 7], qpos[at + 3]]
        elif kind == mujoco.mjtJoint.mjJNT_BALL:
            q[part] = [*qpos[at + 1 : at + 4], qpos[at]]
        else:
            q[part] = qpos[at]
    return q


def compared(text, seed=0, *, check_mass=True):
    """Poses and mass matrix of our mechanism and MuJoCo's at a random position."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mech = Mechanism(loads(text, "mjcf"))
    rng = np.random.default_rng(seed)
    for i in range(model.njnt):
        at, kind = model.jnt_qposadr[i], model.jnt_type[i]
        size = {0: 7, 1: 4, 2: 1, 3: 1}[int(kind)]
        data.qpos[at : at + size] = rng.normal(size=size)
    mujoco.mj_normalizeQuat(model, data.qpos)
    mujoco.mj_forward(model, data)
    q = positions(mech, model, data.qpos)
    for i in range(1, model.nbody):
        pose = mech.frame(q, model.body(i).name)
        np.testing.assert_allclose(pose[:3, 3], data.xpos[i], atol=1e-10, err_msg=model.body(i).name)
        np.testing.assert_allclose(pose[:3, :3], data.xmat[i].reshape(3, 3), atol=1e-10)
    if check_mass:
        parts = [mech.joint_v(model.joint(i).name) for i in range(model.njnt)]
        order = np.concatenate([np.arange(part.start, part.stop) for part in parts] or [np.zeros(0, int)])
        free = [model.jnt_dofadr[i] for i in range(model.njnt) if model.jnt_type[i] == 0]
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, M, data.qM) if _old_full() else mujoco.mj_fullM(model, data, M)
        T = np.eye(model.nv)
        for at in free:  # MuJoCo: [v in world axes; ω in body axes], ours [ω; v] in body axes
            R = data.xmat[model.body_dofadr.tolist().index(at)].reshape(3, 3)
            T[at : at + 6, at : at + 6] = 0.0
            T[at : at + 3, at + 3 : at + 6] = R
            T[at + 3 : at + 6, at : at + 3] = np.eye(3)
        np.testing.assert_allclose(mech.mass_matrix(q)[np.ix_(order, order)], T.T @ M @ T, atol=1e-9, rtol=1e-9)
    return mech, model, data, q


def _old_full():
    return "MjData" not in (mujoco.mj_fullM.__doc__ or "")


BODY = '<body name="{n}" pos="0.1 0.2 0.3" {turn}><geom type="box" size="0.1 0.2 0.3"/>{joint}{inner}</body>'


def arm(*, turn="", joint='<joint name="j"/>', inner="", extra="", compiler=""):
    body = BODY.format(n="b", turn=turn, joint=joint, inner=inner)
    return f"<mujoco><compiler {compiler}/>{extra}<worldbody>{body}</worldbody></mujoco>"


@pytest.mark.parametrize(
    "turn",
    [
        'quat="0.5 0.1 -0.3 0.7"',
        'euler="10 20 30"',
        'axisangle="1 2 3 40"',
        'xyaxes="1 1 0 0 1 1"',
        'zaxis="1 2 3"',
        'zaxis="0 0 -1"',
    ],
)
def test_orientations(turn):
    compared(arm(turn=turn))


@pytest.mark.parametrize("sequence", ["xyz", "zyx", "XYZ", "zxz", "YXZ"])
@pytest.mark.parametrize("unit", ["degree", "radian"])
def test_sequences_and_units_of_angles(sequence, unit):
    compared(arm(turn='euler="0.4 -0.9 1.3"', compiler=f'eulerseq="{sequence}" angle="{unit}"'))


@pytest.mark.parametrize(
    "joint",
    [
        '<joint name="j" axis="1 2 3" pos="0.3 -0.1 0.2"/>',
        '<joint name="j" type="slide" axis="0 1 1"/>',
        '<joint name="j" type="ball" pos="0.1 0 0"/>',
        '<freejoint name="j"/>',
        '<joint name="j" type="free"/>',
        '<joint name="j" axis="0 1 0" ref="30"/>',
        '<joint name="j" type="slide" axis="1 1 0" ref="0.3"/>',
        '<joint name="j" type="slide"/><joint name="k" axis="1 0 0" pos="0 0 0.2"/>'
        '<joint name="l" axis="0 1 0" ref="10"/>',
        '<joint name="j" armature="0.7"/>',
        "",
    ],
)
def test_joints(joint):
    compared(arm(joint=joint, inner=BODY.format(n="c", turn="", joint='<joint name="m" axis="0 1 0"/>', inner="")))


@pytest.mark.parametrize(
    "geom",
    [
        '<geom size="0.2"/>',
        '<geom type="sphere" size="0.2" pos="1 0 0"/>',
        '<geom type="capsule" size="0.1 0.3" euler="10 20 30"/>',
        '<geom type="capsule" fromto="0 0 0 0.3 0.2 0.1" size="0.05"/>',
        '<geom type="cylinder" fromto="0 0 0 0.3 0.2 0.1" size="0.05" density="300"/>',
        '<geom type="box" size="0.1 0.2 0.3" mass="3"/>',
        '<geom type="ellipsoid" size="0.1 0.2 0.3" axisangle="1 0 0 30"/>',
        '<geom type="box" size="0.1 0.2 0.3"/><geom size="0.1" pos="0 0 1"/><geom size="5" mass="0"/>',
        '<geom size="9"/><inertial mass="2" pos="0.1 0 0" diaginertia="0.1 0.2 0.25" quat="1 1 0 0"/>',
        '<geom size="9"/><inertial mass="2" pos="0.1 0 0" fullinertia="0.1 0.2 0.25 0.01 0.02 0.03"/>',
    ],
)
def test_mass_properties(geom):
    compared(f'<mujoco><worldbody><body name="b"><freejoint name="f"/>{geom}</body></worldbody></mujoco>')


def test_classes_of_defaults():
    text = """<mujoco><default><joint axis="0 1 0" damping="0.3"/><geom density="500"/>
      <default class="big"><joint axis="1 0 0" armature="0.5"/><geom type="box" size="0.3 0.2 0.1"/>
        <default class="bigger"><geom size="0.6 0.4 0.2"/></default></default></default>
      <worldbody><body name="a" childclass="big"><joint name="j1"/><geom/>
        <body name="b" pos="1 0 0"><joint name="j2" class="main"/><geom class="bigger"/>
          <body name="c" pos="0 0 1" childclass="bigger"><joint name="j3" axis="0 0 1"/><geom density="100"/></body>
        </body></body></worldbody></mujoco>"""
    mech, model, data, q = compared(text)
    v = np.array([0.3, -0.5, 0.7])
    data.qvel[:] = v
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(mech.bias(q, v), data.qfrc_bias - data.qfrc_passive, atol=1e-9)


def test_limits_and_springs():
    joints = {
        j.name: j
        for j in loads(
            arm(
                joint='<joint name="j" range="-90 90"/>'
                '<joint name="k" type="slide" range="-90 90" limited="false" stiffness="3" springref="0.2"/>'
                '<joint name="l" range="-1 1" ref="20"/>'
            ),
            "mjcf",
        ).joints
    }
    limit = joints["j"].limits[0]
    np.testing.assert_allclose((limit.lower, limit.upper), (-np.pi / 2, np.pi / 2))
    assert joints["k"].limits == ()
    assert (joints["k"].stiffness, joints["k"].rest, joints["k"].spring_rest) == (3.0, (), (0.2,))
    np.testing.assert_allclose(joints["l"].rest, np.deg2rad(20.0))
    assert (
        loads(arm(joint='<joint name="j" range="-1 1"/>', compiler='autolimits="false"'), "mjcf").joints[0].limits == ()
    )


def test_gravity_sites_frames_and_ground():
    text = """<mujoco model="m"><option gravity="0 0 -1.6"/><worldbody><geom type="plane" size="1 1 1"/>
      <geom type="box" size="1 1 1" pos="0 0 -1"/><frame pos="1 0 0" euler="0 0 90"><body name="a" pos="1 0 0">
      <joint name="j"/><geom size="0.1"/><site name="tip" pos="0 1 0" quat="0.5 0.5 0.5 0.5"/></body></frame>
      </worldbody></mujoco>"""
    mech, _, data, q = compared(text)
    assert mech.model.world.gravity.acceleration == (0.0, 0.0, -1.6)
    np.testing.assert_allclose(mech.frame(q, "tip")[:3, 3], data.site("tip").xpos, atol=1e-12)
    np.testing.assert_allclose(mech.frame(q, "tip")[:3, :3], data.site("tip").xmat.reshape(3, 3), atol=1e-12)
    assert len(mech.model.body("ground").shapes) == 1


LOOP = """<mujoco><option><flag gravity="enable"/></option><worldbody>
  <body name="crank" pos="0 0 0"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
    <body name="coupler" pos="0 0 1"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 2 0 0" size="0.1"/>
    </body></body>
  <body name="rocker" pos="2 0 0"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
  </body></worldbody><equality>{equality}</equality></mujoco>"""


@pytest.mark.parametrize(
    ("equality", "rows"),
    [
        ('<connect name="loop" body1="coupler" body2="rocker" anchor="2 0 0"/>', 3),
        ('<weld name="loop" body1="coupler" body2="rocker"/>', 6),
        ('<weld name="loop" body1="coupler" body2="rocker" relpose="2 0 -1 1 0 0 0"/>', 6),
    ],
)
def test_equalities_close_loops(equality, rows):
    """At MuJoCo's reference position both are closed; the constraint Jacobian has the same row space."""
    text = LOOP.format(equality=equality)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mech = Mechanism(loads(text, "mjcf"))
    q = positions(mech, model, data.qpos)
    assert mech.loops[0].joints[-1] == "loop"
    assert len(mech.constraint_residual(q)) == rows
    np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-12)
    ours, theirs = mech.constraint_jacobian(q), data.efc_J.reshape(-1, model.nv)[:rows]
    both = np.vstack([ours, theirs])
    assert np.linalg.matrix_rank(both, 1e-9) == np.linalg.matrix_rank(ours, 1e-9) == np.linalg.matrix_rank(theirs, 1e-9)


def test_coupled_joints_follow():
    text = LOOP.format(equality='<joint joint1="c" joint2="a" polycoef="0.1 -2 0 0 0"/>')
    mech = Mechanism(loads(text, "mjcf"))
    q = mech.neutral()
    q[mech.joint_q("a")] = 0.3
    assert mech.coordinate(q, "c") == pytest.approx(0.1 - 0.6)
    assert loads(text, "mjcf").joint("c").mimic.leader == "a"


def test_what_is_left_out_is_told():
    text = arm(extra='<actuator><motor joint="j"/></actuator><tendon/>')
    reading = read_text(text)
    assert [(f.severity, f.field) for f in reading.findings] == [("warning", "actuators")]


def read_text(text):
    from core.files import FORMATS, ReadOptions
    from core.files.formats import read_with_format
    from core.files.source import source_from_text

    return read_with_format(FORMATS["mjcf"], source_from_text(text), ReadOptions())


def test_included_files(tmp_path):
    (tmp_path / "arm.xml").write_text(arm())
    (tmp_path / "scene.xml").write_text('<mujoco><include file="arm.xml"/><worldbody><light/></worldbody></mujoco>')
    assert [b.name for b in load(tmp_path / "scene.xml").bodies] == ["b"]
    (tmp_path / "ring.xml").write_text('<mujoco><include file="ring.xml"/></mujoco>')
    with pytest.raises(FileError, match="within itself"):
        load(tmp_path / "ring.xml")
    (tmp_path / "gone.xml").write_text('<mujoco>\n<include file="x.xml"/></mujoco>')
    with pytest.raises(FileError, match=r"no file 'x.xml'") as caught:
        load(tmp_path / "gone.xml")
    assert caught.value.line == 2


def test_an_xml_file_is_known_by_its_content(tmp_path):
    (tmp_path / "robot.xml").write_text('<robot name="r"><link name="a"/></robot>')
    assert load(tmp_path / "robot.xml").name == "r"
    (tmp_path / "arm.xml").write_text(arm())
    assert read(tmp_path / "arm.xml").model.joints[0].name == "j"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("<mujoco><worldbody><body><joint type='x'/></body></worldbody></mujoco>", "hinge"),
        ("<mujoco><worldbody><body pos='a 0 0'/></worldbody></mujoco>", "number"),
        ("<mujoco><worldbody><body quat='0 0 0 0'/></worldbody></mujoco>", "1 0 0 0"),
        ("<mujoco><worldbody><body><joint axis='0 0 0'/></body></worldbody></mujoco>", "0 0 1"),
        ("<mujoco><compiler eulerseq='xxw'/></mujoco>", "xyz"),
        ("<mujoco><equality><weld body1='q'/></equality></mujoco>", "name"),
        ("<robot/>", "MJCF"),
    ],
)
def test_messages(text, hint):
    with pytest.raises(FileError) as caught:
        loads(text, "mjcf")
    assert hint in caught.value.remedy


WORDS = ("mujoco", "worldbody", "body", "joint", "geom", "inertial", "default", "equality", "weld", "compiler", "site")
ATTRIBUTES = ("name", "pos", "quat", "type", "size", "class", "childclass", "axis", "range", "mass", "body1", "fromto")
VALUES = ("a", "1", "0 0 1", "1 0 0 0", "ball", "box", "main", "-1 1", "0 0 0 1 1 1", "nan", "", "free")


def tree(luck, depth=4):
    tag = luck.choice(WORDS)
    given_ = {luck.choice(ATTRIBUTES): luck.choice(VALUES) for _ in range(luck.randint(0, 4))}
    inner = "".join(tree(luck, depth - 1) for _ in range(luck.randint(0, 3))) if depth else ""
    return f"<{tag} " + " ".join(f'{k}="{v}"' for k, v in given_.items()) + f">{inner}</{tag}>"


@given(st.integers(0, 2**32))
@settings(max_examples=120, deadline=None)
def test_any_tree_is_a_model_or_a_message(seed):
    luck = random.Random(seed)  # trees of strategies take ten times what reading them does
    parts = [tree(luck) for _ in range(luck.randint(0, 4))]
    try:
        model = loads(f"<mujoco><worldbody>{''.join(parts)}</worldbody>{''.join(parts)}</mujoco>", "mjcf")
    except FileError:
        return  # a message
    assert isinstance(model, Model)
    assert {joint.kind for joint in model.joints} <= set(JOINT_KINDS)


def test_the_published_arm():
    case = json.loads((REFERENCE / "import_mjcf_ur5e.json").read_text(encoding="utf-8"))
    mech = Mechanism(loads(case["parameters"]["mjcf"], "mjcf"))
    rtol = case["tolerances"]["rel"]
    bodies = [body.name for body in mech.model.bodies]
    for state in case["reference"]["states"]:
        q, v, a = (np.array(state[key]) for key in ("q", "qd", "qdd"))
        np.testing.assert_allclose(mech.mass_matrix(q), state["M"], rtol=rtol, atol=1e-12)
        np.testing.assert_allclose(mech.inverse_dynamics(q, v, a), state["tau"], rtol=rtol, atol=1e-11)
        for name, position, (w, x, y, z) in zip(bodies, state["body_positions"], state["body_quats_wxyz"], strict=True):
            X = mech.frame(q, name)
            np.testing.assert_allclose(X[:3, 3], position, atol=1e-12)
            from scipy.spatial.transform import Rotation

            np.testing.assert_allclose(X[:3, :3], Rotation.from_quat((x, y, z, w)).as_matrix(), atol=1e-12)


FOLDED = """<mujoco><compiler {compiler}/><default><geom density="700"/></default><worldbody>
  <replicate count="11" sep="-" offset="1 0 0.1" euler="0 0 20"><body name="r" pos="0 1 0">
    <joint name="x" axis="0 1 0"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/><site name="s" pos="0 0 1"/></body></replicate>
  <body name="b"><frame pos="1 0 0" euler="0 90 10"><joint name="j" pos="0 0 1" axis="0 1 0"/>
      <geom type="capsule" size="0.1" fromto="0 0 0 0.3 1 0"/><frame pos="0 1 0" axisangle="1 1 0 30">
      <geom type="box" size="0.1 0.2 0.3" pos="0 0 1" euler="10 0 0"/><site name="t" pos="0 0 1" zaxis="1 0 0"/>
    </frame></frame>
    <replicate count="2" offset="0 0 1"><replicate count="2" offset="1 0 0" euler="90 0 0">
      <body name="c" pos="0 0.2 0"><joint name="k"/><geom size="0.1" pos="0.1 0 0"/></body></replicate></replicate>
  </body></worldbody></mujoco>"""


def test_frames_and_copies_are_unfolded():
    """What stands in frames is placed as MuJoCo places it, copies have its names and poses."""
    mech, _, data, q = compared(FOLDED.format(compiler=""))
    for site in ("s-00", "s-10", "t"):
        pose = mech.frame(q, site)
        np.testing.assert_allclose(pose[:3, 3], data.site(site).xpos, atol=1e-12)
        np.testing.assert_allclose(pose[:3, :3], data.site(site).xmat.reshape(3, 3), atol=1e-12)


@pytest.mark.parametrize(
    "compiler",
    [
        'boundmass="2" boundinertia="0.3"',
        'balanceinertia="true"',
        'balanceinertia="true" inertiagrouprange="1 2"',
        'inertiafromgeom="true" inertiagrouprange="0 1" boundinertia="0.01"',
    ],
)
def test_the_compiler_bounds_and_balances_masses(compiler):
    given = '<inertial mass="1" pos="0.1 0 0" diaginertia="0.1 0.1 0.5" euler="10 20 30"/>'
    geoms = '<geom size="0.1" pos="1 0 0" group="1"/><geom size="0.2"/>'
    inner = f'<body name="c"><joint name="k" axis="0 1 0"/>{geoms}</body>'
    compared(arm(joint='<joint name="j" axis="1 1 0"/>' + given, inner=inner, compiler=compiler))


def test_a_body_keeps_its_name_before_a_site_of_the_same():
    site = '<site name="c" pos="0 0 2"/>'
    inner = '<body name="c" pos="1 0 0"><joint name="k"/><geom size="0.1"/></body>'
    mech, _, data, q = compared(arm(joint='<joint name="j"/>' + site, inner=inner))
    np.testing.assert_allclose(mech.frame(q, "c_site")[:3, 3], data.site("c").xpos, atol=1e-12)


def test_no_gravity_by_a_flag():
    text = arm(joint='<joint name="j" axis="1 1 0"/>', extra='<option><flag gravity="disable"/></option>')
    assert not Mechanism(loads(text, "mjcf")).gravity([0.3]).any()


@pytest.mark.parametrize("length", ["", 'springlength="0.5"', 'springlength="0.5 2.5"', 'springlength="1.9 2.5"'])
def test_a_tendon_between_two_sites_is_a_spring(length):
    text = f"""<mujoco><default><tendon damping="1.5"/></default><worldbody><site name="w" pos="0 0 2"/>
      <body name="r"><joint name="x" axis="0 1 0"/><joint name="y" axis="1 0 0"/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/><site name="s" pos="0.2 0 1"/></body></worldbody>
      <tendon><spatial name="pull" stiffness="10" {length}><site site="w"/><site site="s"/></spatial></tendon>
      </mujoco>"""
    mech, model, data, q = compared(text)
    for q, v in ((np.array([0.2, 0.1]), np.array([0.3, -0.2])), (np.array([2.2, -0.4]), np.array([1.0, 2.0]))):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        passive = mech.bias(q, v, passive=False) - mech.bias(q, v)
        np.testing.assert_allclose(passive, data.qfrc_passive, atol=1e-12)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ('<body><flexcomp name="f" type="grid"/></body>', "<flexcomp> is not read"),
        ('<body><replicate count="0"/></body>', "0 is not a valid number of copies"),
        ('<body><attach model="m"/></body>', "<attach> is not read"),
    ],
)
def test_what_cannot_be_unfolded_is_told(extra, words):
    text = f"<mujoco><worldbody>{extra}</worldbody></mujoco>"
    if "copies" in words:
        with pytest.raises(FileError, match=words):
            loads(text, "mjcf")
    else:
        found = read_text(text).findings
        assert any(words in finding.text and finding.severity == "warning" for finding in found)


def replicated(*counts, inside='<body name="b"><joint/><geom size="0.01"/></body>', sep=""):
    for count in counts:
        inside = f'<replicate count="{count}" sep="{sep}" offset="0.1 0 0">{inside}</replicate>'
    return f"<mujoco><worldbody>{inside}</worldbody></mujoco>"


@pytest.mark.parametrize(
    "text",
    [
        replicated(1000, 1000, 1000, 1000),
        replicated(10_000, 10_000),
        replicated(10_000, inside="<body/>" * 30),
        replicated(100, inside=replicated(100, inside=replicated(100)[19:-21])[19:-21]),
        replicated(9000, sep="-" * 10_000),
        replicated(9000, inside=f'<body name="{"b" * 10_000}"/>'),
    ],
    ids=["four", "two", "wide", "deep", "separator", "names"],
)
def test_replicates_that_make_too_much_are_refused_before_they_do(text):
    with pytest.raises(FileError, match=r"replicate, count: The replicates of the file create more .* in total\. Use"):
        loads(text, "mjcf")


def test_replicates_within_bounds_are_made():
    assert len(loads(replicated(5, 4), "mjcf").bodies) == 20


def test_tendons_around_geoms_and_fluids_are_told():
    text = """<mujoco><option viscosity="0.1"/><worldbody><site name="s" pos="0 0 3"/><body name="b">
      <joint name="j"/><geom name="g" size="1"/><site name="u" pos="3 0 0"/></body></worldbody>
      <tendon><spatial name="t" stiffness="3"><site site="s"/><geom geom="g"/><site site="u"/></spatial></tendon>
      </mujoco>"""
    found = [str(each) for each in read_text(text).findings]
    assert any("tendon 't' are left out" in each for each in found)
    assert any("drag of a fluid" in each for each in found)


@pytest.mark.parametrize(
    ("attribute", "third"),
    [
        ('zaxis="1e200 0 0"', (1, 0, 0)),
        ('zaxis="1e-200 0 0"', (1, 0, 0)),
        ('quat="1e200 0 1e200 0"', (1, 0, 0)),
        ('quat="1e200 0 0 1"', (0, 0, 1)),
        ('xyaxes="0 1e200 0 0 0 1e200"', (1, 0, 0)),
        ('axisangle="0 1e200 0 90"', (1, 0, 0)),
    ],
)
def test_directions_count_whatever_their_length(attribute, third):
    text = f'<mujoco><worldbody><body name="b" {attribute}><joint/><geom size=".1"/></body></worldbody></mujoco>'
    mech = Mechanism(loads(text, "mjcf"))
    np.testing.assert_allclose(mech.frame(mech.neutral(), "b")[:3, 2], third, atol=1e-12)
