"""Content of MJCF that is not read: every attribute and element of MuJoCo's schema is read here, or is in a row of one
of the topics below, or inside an element that is left out as a whole. Each topic is reported once.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from core.files.mjcf.defaults import ACTUATORS
from core.files.mjcf.schema_needs import parent_name
from core.files.xml_source import Tag, XmlReader, local_name
from core.model.validation.findings import Severity

MOST_NAMED = 8


class Topic(NamedTuple):
    """Unread content of one purpose: the severity and text of its finding ({words}, {times}), a remedy, and rows
    `element = attributes`, or `element = *` for the whole element; `parent/element` holds in that parent only."""

    severity: Severity
    text: str
    rows: str
    remedy: str = ""


_SOFT = "solimp solref"
TOPICS: dict[str, Topic] = {
    "solver": Topic(
        "hint",
        "Settings of MuJoCo's numerical methods are not read{times}: {words}.",
        """
        option = apirate ccd_iterations ccd_tolerance collision integrator iterations jacobian ls_iterations
            ls_tolerance mpr_iterations mpr_tolerance noslip_iterations noslip_tolerance sdf_initpoints sdf_iterations
            sleep_tolerance solver timestep tolerance
        flag = autoreset diagexact energy eulerdamp fwdinv invdiscrete ipc island midphase multiccd nativeccd refsafe
            sleep speculative warmstart
        size = *
        body = simple sleep
        compiler = usethread
        """,
    ),
    "compiling": Topic(
        "hint",
        "Settings for compiling and saving by MuJoCo are not read{times}: {words}.",
        """
        compiler = conflict convexhull discardvisual fusestatic passthrough savecanonical savecompiled saveinertial
        body = fuse
        mesh = content_type
        """,
    ),
    "looks": Topic(
        "hint",
        "Content for pictures only is not read{times}: {words}.",
        """
        visual = *
        statistic = *
        compiler = texturedir
        camera = *
        light = *
        hfield = *
        texture = *
        skin = *
        layer = *
        material = emission metallic reflectance roughness shininess specular texrepeat texture texuniform
        mesh = material normal smoothnormal texcoord
        geom = castshadow
        joint = group
        freejoint = group
        site = fromto group material mesh rgba size type
        spatial = group material rgba width
        fixed = group
        default/tendon = group material rgba width
        """,
    ),
    "user data": Topic(
        "hint",
        "Data for programs that use MuJoCo are not read{times}: {words}.",
        "body geom joint site spatial fixed default/tendon = user",
    ),
    "contact parameters": Topic(
        "hint",
        "Parameters of contacts, which are not computed, are not read{times}: {words}.",
        """
        option = cone impratio o_friction o_margin o_solimp o_solref
        flag = filterparent override
        geom = condim friction gap margin priority solimp solmix solref
        """,
    ),
    "fluid parameters": Topic(
        "hint",
        "Parameters of the drag of a fluid, which is not computed, are not read{times}: {words}.",
        "option = wind\ngeom = fluidcoef fluidshape",
    ),
    "sensor parameters": Topic(
        "hint",
        "What only sensors use is not read{times}: {words}.",
        "option = magnetic\nflag = sensor sensornoise",
    ),
    "actuator parameters": Topic(
        "hint",
        "What only actuators use, which are left out, is not read{times}: {words}.",
        """
        option = actuatorgroupdisable
        flag = clampctrl
        compiler/lengthrange = *
        joint = actuatorgravcomp
        spatial fixed default/tendon = actuatorfrclimited actuatorfrcrange
        """,
    ),
    "tendon limits and friction": Topic(
        "hint",
        "Parameters of limits and friction of tendons, which are left out, are not read{times}: {words}.",
        "spatial fixed default/tendon = margin solimpfriction solimplimit solreffriction solreflimit",
    ),
    "mocap": Topic(
        "hint",
        "Bodies that are moved from outside stay where they are{times}: {words}.",
        "body = mocap",
        "Add a joint with a driver.",
    ),
    "softness": Topic(
        "warning",
        "The softness of constraints is not read{times}: {words}. They are rigid here.",
        f"""
        joint = solimpfriction solreffriction
        connect equality/joint default/equality = {_SOFT}
        weld = {_SOFT} torquescale
        """,
    ),
    "hulls": Topic(
        "warning",
        "The hull of a mesh has all its vertices{times}: {words}.",
        "mesh = maxhullvert",
        "Give the bodies their inertia.",
    ),
}
_PLACED = "pos quat axisangle xyaxes zaxis euler"
READ = f"""
mujoco = model
compiler = angle assetdir autolimits alignfree balanceinertia boundinertia boundmass coordinate eulerseq fitaabb
    inertiafromgeom inertiagrouprange meshdir settotalmass strippath
option = density gravity viscosity
flag = actuation constraint contact damper equality frictionloss gravity limit passive spring
default = class
mesh = class builtin face file inertia name params refpos refquat scale vertex
material = class name rgba
body = childclass gravcomp name {_PLACED}
worldbody frame = childclass name {_PLACED}
replicate = childclass count euler offset sep
inertial = diaginertia fullinertia mass {_PLACED}
joint = actuatorfrclimited actuatorfrcrange armature axis class damping frictionloss limited margin name pos range ref
    solimplimit solreflimit springdamper springref springyield stiffness type
freejoint = align name
geom = adhesion class conaffinity contype density fitscale fromto group hfield mass material mesh name rgba shellinertia
    size surfacevel type {_PLACED}
site = class name {_PLACED}
spatial fixed default/tendon = armature class damping frictionloss limited name range springlength springyield stiffness
spatial/site = site
spatial/geom = geom sidesite
pulley = divisor
fixed/joint = coef joint
connect = active anchor body1 body2 class name site1 site2
weld = active anchor body1 body2 class name relpose site1 site2
key = act ctrl mpos mquat name plastic qpos qvel time
equality/joint = active class joint1 joint2 name polycoef
default/equality = active
"""
"""Attributes that are read, or reported where they have an effect, in the same form as the topics' rows."""
LEFT_OUT_ELEMENTS = (
    *("actuator", "attach", "composite", "contact", "custom", "deformable", "extension", "flexcomp"),
    *("model", "plugin", "sensor", "equality/tendon", "equality/flex", "equality/flexstrain", "equality/distance"),
    *("default/pair", *(f"default/{actuator}" for actuator in (*ACTUATORS, "orientation"))),
)
"""Elements that are reported as left out as a whole, with their content, and the defaults of such."""


def parse_rows(text: str) -> dict[str, tuple[str, ...]]:
    """Return the attributes by element of rows, of which indented lines continue the one before."""
    found: dict[str, tuple[str, ...]] = {}
    for row in _joined(text):
        names, _, words = row.partition("=")
        for name in names.split():
            found[name] = (*found.get(name, ()), *words.split())
    return found


def _joined(text: str) -> list[str]:
    rows: list[str] = []
    for line in text.splitlines():
        if "=" in line:
            rows.append(line)
        elif line.strip():
            rows[-1] += " " + line
    return rows


@cache
def _rows_of_topics() -> dict[str, dict[str, str]]:
    """Return, by element, the topic of each unread attribute; "*" stands for the element itself."""
    found: dict[str, dict[str, str]] = {}
    for name, topic in TOPICS.items():
        for element, words in parse_rows(topic.rows).items():
            found.setdefault(element, {}).update(dict.fromkeys(words, name))
    return found


def find_topics(parent: str, element: str) -> dict[str, str]:
    """Return the topics of an element's unread attributes, by attribute; "*" stands for the element itself."""
    rows = _rows_of_topics()
    own = rows.get(f"{parent}/{element}")
    if own is None and parent in _OWN_WORDS and f"{parent}/{element}" in rows_of_read_attributes():
        return {}
    return rows.get(element, {}) if own is None else own


_OWN_WORDS = ("spatial", "fixed", "equality", "default")
"""Parents in which some elements have other attributes than elsewhere."""


@cache
def rows_of_read_attributes() -> dict[str, tuple[str, ...]]:
    """Return the attributes that are read, by element."""
    return parse_rows(READ)


def report_unread(reader: XmlReader, root: Tag) -> None:
    """Report each topic of unread content once. To be called before defaults are applied."""
    found: dict[str, list[tuple[Tag, str, str]]] = {}
    for tag, word, name in _iterate_unread(root):
        found.setdefault(name, []).append((tag, local_name(tag), word))
    for name, places in found.items():
        topic = TOPICS[name]
        labels = list(dict.fromkeys(f"<{e}>" if word == "*" else f"{word} of <{e}>" for _, e, word in places))
        more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
        times = f" ({len(places)} times)" if len(places) > 1 else ""
        text = topic.text.format(words=", ".join(labels[:MOST_NAMED]) + more, times=times)
        first, _, word = places[0]
        reader.add_finding(first, topic.severity, text, topic.remedy, field=name if word == "*" else word)


def _iterate_unread(root: Tag) -> Iterator[tuple[Tag, str, str]]:
    """Yield each unread attribute, or element ("*"), with its topic, in the order of the file."""
    waiting = [root]
    while waiting:
        tag = waiting.pop()
        element, parent = local_name(tag), parent_name(tag)
        if not element or element in LEFT_OUT_ELEMENTS or f"{parent}/{element}" in LEFT_OUT_ELEMENTS:
            continue
        topics = find_topics(parent, element)
        if "*" in topics:
            if parent != "default":
                yield tag, "*", topics["*"]
            continue
        for word, value in tag.attrib.items():
            if word in topics and value.strip() and _has_effect(tag, word, value):
                yield tag, word, topics[word]
        waiting += reversed(tag)


def _has_effect(tag: Tag, word: str, value: str) -> bool:
    """Return False for the values by which nothing is lost."""
    if word in ("mocap", "actuatorgravcomp"):
        return value == "true"
    if word == "maxhullvert":
        return value.strip() != "-1" and tag.get("inertia") == "convex"
    return True
