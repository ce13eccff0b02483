"""The contract of MJCF: what MuJoCo refuses of a file that is read is a warning with its line; what it takes is not."""

from __future__ import annotations

import pytest

from core.files import loads, read
from core.files.mjcf.mjcf_words import VOCABULARY

mujoco = pytest.importorskip("mujoco")
BALL = '<geom size="0.1" mass="1" contype="0" conaffinity="0"/>'
BODY = f'<body name="b"><joint name="j"/>{BALL}</body>'


def bodies(inner: str, before: str = "") -> str:
    return f"<mujoco>{before}\n<worldbody>{inner}</worldbody></mujoco>"


def joint(attributes: str, before: str = "") -> str:
    return bodies(f"<body name='b'><joint name='j' {attributes}/>{BALL}</body>", before)


REFUSED = {
    "attribute of a joint": (joint('axs="1 0 0"'), "Did you mean axis?"),
    "attribute of a geom": (bodies(f"<body><joint/>{BALL}<geom size='1' densty='1'/></body>"), "Did you mean density?"),
    "attribute of the compiler": (joint("", '<compiler angel="radian"/>'), "Did you mean angle?"),
    "attribute in a default": (joint("", '<default><joint dampin="1"/></default>'), "Did you mean damping?"),
    "element in a body": (bodies(f"<body><jiont/>{BALL}</body>"), "Did you mean joint?"),
    "section": (joint("", "<actuators/>"), "Did you mean actuator?"),
    "element in another": (bodies(f"<joint/>{BODY}"), "It belongs in <body>"),
    "keyword": (joint("", '<compiler angle="rad"/>'), "Did you mean radian?"),
    "flag": (joint("", '<option><flag gravity="disabled"/></option>'), "Did you mean disable"),
    "class": (joint('class="hinges"', '<default><default class="hinge"/></default>'), "Did you mean hinge?"),
    "class of children": (bodies(f"<body childclass='none'><joint/>{BALL}</body>"), "main"),
    "class without name": (joint("", "<default><default/></default>"), "Add class"),
    "missing position": (bodies("<body><joint/><inertial mass='1' diaginertia='1 1 1'/></body>"), "Add pos"),
    "name used twice": (bodies(BODY + f"<body name='b'>{BALL}</body>"), "Rename one"),
    "material": (bodies(f"<body><joint/>{BALL}<geom size='1' material='steel'/></body>"), "None is known"),
    "target of a motor": (joint("", "<actuator><motor joint='k'/></actuator>"), "Known: j."),
    "two rotations": (bodies(f"<body quat='1 0 0 0' euler='1 2 3'>{BALL}</body>"), "Keep one"),
    "free joint below a body": (bodies(f"<body><joint/>{BALL}<body><freejoint/>{BALL}</body></body>"), "Move the body"),
    "limits without range": (joint('limited="true"'), "Give range and limited."),
    "falling range": (joint('range="20 10" limited="true"'), "Give range and limited."),
    "range that is not switched on": (
        joint('range="0 9"', '<compiler autolimits="false"/>'),
        "Give range and limited.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_mujoco_refuses_is_a_warning_with_line_and_remedy(tmp_path, case):
    text, remedy = REFUSED[case]
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_string(text)
    (tmp_path / "m.xml").write_text(text)
    found = [each for each in read(tmp_path / "m.xml").findings if remedy in each.remedy]
    assert {(each.severity, each.line is None) for each in found} == {("warning", False)}


@pytest.mark.parametrize(
    ("attributes", "limits"),
    [
        ("", ()),
        ('range="0 0"', ()),
        ('range="9 0"', ()),
        ('range="-9 9" limited="false"', ()),
        ('range="-9 9"', (-9, 9)),
    ],
)
def test_ranges_are_bounds_where_mujoco_has_them(tmp_path, attributes, limits):
    text = joint(attributes, '<compiler angle="radian"/>')
    assert mujoco.MjModel.from_xml_string(text).jnt_limited[0] == bool(limits)
    (tmp_path / "m.xml").write_text(text)
    found = read(tmp_path / "m.xml").model.joints[-1].limits
    assert [(each.lower, each.upper) for each in found] == [limits] * bool(limits)


def test_attributes_that_change_the_motion_are_named(tmp_path):
    (tmp_path / "m.xml").write_text(joint("").replace("<geom", '<geom adhesion="5"'))
    (found,) = read(tmp_path / "m.xml").findings
    assert (found.severity, found.field) == ("warning", "adhesion")


def test_the_vocabulary_has_all_words_of_mujoco():
    """As MuJoCo prints its own; what is inside of parts that are not read does not count."""
    above: list[str] = []
    for line in mujoco.mj_printSchema(False, True).splitlines():
        depth, words = (len(line) - len(line.lstrip())) // 3, line.split()
        if len(words) > 1 and words[1] in ("(!)", "(*)", "(?)", "(R)"):
            above = [*above[:depth], words[0].replace("(world)", "")]
            words = words[2:]
        rules = [VOCABULARY.find_rule(*pair) for pair in zip(["", *above], above, strict=False)]
        if not any(rule.unread for rule in rules):
            assert set(words) <= set(rules[-1].attributes), above


def test_sizes_beyond_all_numbers_give_a_machine_or_a_message():
    text = """<mujoco><worldbody><body name="b"><joint springdamper="0.2 0.8" axis="0 1 0"/><geom size="0.1" mass="1"/>
        <body pos="1e308 0 0"><joint type="ball" springdamper="0.4 0.6"/><geom size="0.1" mass="1"/></body></body>
        </worldbody></mujoco>"""
    joints = loads(text, "mjcf").joints
    assert [joint.stiffness for joint in joints] == [0.0, 0.0]
