"""Everything in MuJoCo's schema is read, or reported as not read; what changes the motion by a warning."""

from __future__ import annotations

import pytest
from lxml import etree

from core.files import read
from core.files.mjcf.unread import (
    LEFT_OUT_ELEMENTS,
    TOPICS,
    find_topics,
    report_unread,
    rows_of_read_attributes,
)
from core.files.xml_source import XmlReader

BALL = '<geom size="0.1" mass="1" contype="0" conaffinity="0"/>'
SWITCHES = {"mocap": "true", "actuatorgravcomp": "true"}
"""Values of attributes that have none but one that loses something."""


@pytest.fixture(scope="module")
def schema():
    """Path of each element of MuJoCo's schema, with its attributes."""
    mujoco = pytest.importorskip("mujoco")
    found, above = {}, []
    for line in mujoco.mj_printSchema(False, True).splitlines():
        depth, words = (len(line) - len(line.lstrip())) // 3, line.split()
        if len(words) > 1 and words[1] in ("(!)", "(*)", "(?)", "(R)"):
            above = [*above[:depth], words[0].replace("(world)", "")]
            words = words[2:]
        found.setdefault(tuple(above), []).extend(words)
    return found


def pairs(path):
    return list(zip(("", *path), path, strict=False))


def is_left_out(path):
    return any(
        element in LEFT_OUT_ELEMENTS or f"{above}/{element}" in LEFT_OUT_ELEMENTS or "*" in find_topics(above, element)
        for above, element in pairs(path)
    )


def test_each_attribute_of_the_schema_is_either_read_or_reported(schema):
    known, wrong = rows_of_read_attributes(), []
    for path, words in schema.items():
        above, element = pairs(path)[-1]
        is_read = known.get(f"{above}/{element}", known.get(element, ()))
        topics = find_topics(above, element)
        wrong += [(*path, word) for word in words if not is_left_out(path) and (word in is_read) == (word in topics)]
    assert len(schema) > 150
    assert not wrong


def test_each_unread_word_is_named_with_its_line(schema):
    missed, count = [], 0
    for path, words in schema.items():
        topics = find_topics(*pairs(path)[-1])
        whole = "*" in topics and path[1] != "default" and not is_left_out(path[:-1])
        for word in ["*"] * whole or [] if is_left_out(path) else [each for each in words if each in topics]:
            root = tag = etree.Element("mujoco")
            for element in path[1:]:
                tag = etree.SubElement(tag, element)
                tag.sourceline = 7
            if word == "maxhullvert":
                tag.set("inertia", "convex")
            if word != "*":
                tag.set(word, SWITCHES.get(word, "9"))
            reader = XmlReader("m.xml")
            report_unread(reader, root)
            expected = f"<{path[-1]}>" if word == "*" else f"{word} of <{path[-1]}>"
            severity = TOPICS[topics[word]].severity
            said = [(each.severity, each.line) for each in reader.findings if expected in each.text]
            missed += [] if said == [(severity, 7)] else [(*path, word)]
            count += 1
    assert count > 100
    assert not missed


WHOLE = {
    "actuator": '<actuator><motor joint="j"/></actuator>',
    "attach": '<worldbody><attach model="m"/></worldbody>',
    "composite": "<worldbody><composite/></worldbody>",
    "contact": '<contact><exclude body1="b" body2="world"/></contact>',
    "custom": '<custom><text name="n" data="x"/></custom>',
    "deformable": "<deformable><flex/></deformable>",
    "extension": '<extension><plugin plugin="p"/></extension>',
    "flexcomp": "<worldbody><flexcomp/></worldbody>",
    "plugin": '<worldbody><body><plugin plugin="p"/></body></worldbody>',
    "sensor": "<sensor><clock/></sensor>",
    "equality/tendon": "<equality><tendon tendon1='t'/></equality>",
    "equality/flex": "<equality><flex flex='f'/></equality>",
    "equality/flexstrain": "<equality><flexstrain flex='f'/></equality>",
    "equality/distance": "<equality><distance/></equality>",
}
ELSEWHERE = {"model"} | {each for each in LEFT_OUT_ELEMENTS if each.startswith("default/")}
"""Models are only used by <attach>, defaults by their elements."""


def test_elements_left_out_as_a_whole_are_reported(tmp_path):
    assert {*WHOLE} == {*LEFT_OUT_ELEMENTS} - ELSEWHERE
    usual = f'<mujoco>{{}}\n<worldbody><body name="b"><joint name="j"/>{BALL}</body></worldbody></mujoco>'
    for element, text in WHOLE.items():
        (tmp_path / "m.xml").write_text(usual.format(text))
        found = [each for each in read(tmp_path / "m.xml").findings if "left out" in each.text and each.line == 1]
        assert found, element


def test_many_unread_words_make_one_finding_for_each_topic(tmp_path):
    sites = '<site name="{}" rgba="1 0 0 1" size="1"/>'
    option = '<option timestep="0.001" iterations="9" magnetic="0 0 1"/><visual><global fovy="60"/></visual>'
    inner = "".join(sites.format(f"s{k}") for k in range(300))
    text = f'<mujoco>{option}\n<worldbody><body name="b"><joint/>{BALL}{inner}</body></worldbody></mujoco>'
    (tmp_path / "m.xml").write_text(text)
    found = read(tmp_path / "m.xml").findings
    assert [(each.severity, each.line) for each in found] == [("hint", 1)] * 3
    assert any("(601 times): <visual>, rgba of <site>, size of <site>." in each.text for each in found)


def test_the_softness_of_constraints_is_a_warning(tmp_path):
    text = f'<mujoco><worldbody><body><joint name="j"/>{BALL}</body></worldbody><equality>{{}}</equality></mujoco>'
    (tmp_path / "m.xml").write_text(text.format('<joint joint1="j" solref="0.1 1"/>'))
    (found,) = read(tmp_path / "m.xml").findings
    assert (found.severity, found.field) == ("warning", "solref")
