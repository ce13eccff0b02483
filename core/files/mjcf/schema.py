"""Check of an MJCF file: words, values and references that MuJoCo would reject are reported where the reader ignores
them; unsupported content is reported with its effect on the motion.

A finding's `field` is the word of the file, so that comparisons of motions know which differences it explains.
https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from core.errors import suggest_names
from core.files.mjcf.defaults import ACTUATORS, ORIENTATIONS
from core.files.mjcf.mjcf_words import KEYWORDS, LEFT_OUT, VOCABULARY
from core.files.mjcf.schema_needs import check_required_content, parent_name
from core.files.mjcf.unread import report_unread
from core.files.vocabulary import report_elements_with_text, report_missing_attributes, report_unknown_words
from core.files.xml_source import Tag, XmlReader, local_name
from core.model.validation.findings import Severity

_REFUSED = ("include file", "replicate count", "inertial mass")
"""Attributes whose absence the reader itself reports as an error."""
_INSTEAD = {
    "inertial pos": "the centre of mass is taken at the body's origin",
    "joint joint1": "the coupling is left out",
    "tendon tendon1": "the coupling is left out",
    "joint coef": "it is taken as 1",
    "pulley divisor": "it is taken as 1",
    "default class": "its values cannot be inherited",
    **dict.fromkeys(_REFUSED, ""),
}


def check_vocabulary(reader: XmlReader, root: Tag) -> None:
    """Report unknown words, missing attributes, invalid keywords, and known attributes that are not read. To be called
    before defaults are applied."""
    report_unknown_words(reader, VOCABULARY, root, lambda _: "warning")
    report_missing_attributes(reader, VOCABULARY, root, _INSTEAD)
    report_elements_with_text(reader, VOCABULARY, root)
    _check_keywords(reader, root)
    check_required_content(reader, root)
    _check_rotations(reader, root)
    _report_left_out(reader, root)
    report_unread(reader, root)


def check_free_joints(reader: XmlReader, root: Tag) -> None:
    """Report free joints of bodies inside other bodies. To be called after all copies are made."""
    for world in reader.children(root, "worldbody"):
        for body in world.iter():
            if local_name(body) == "body":
                _check_free_joint(reader, body, is_nested=body.getparent() is not world)


def _check_free_joint(reader: XmlReader, body: Tag, is_nested: bool) -> None:
    """Check that a free joint is its body's only joint and that the body is in the world, as MuJoCo requires."""
    joints = [tag for tag in body if local_name(tag) in ("joint", "freejoint")]
    free = [tag for tag in joints if local_name(tag) == "freejoint" or tag.get("type") == "free"]
    if free and (is_nested or len(joints) > 1):
        why = "below another body" if is_nested else "together with other joints"
        text = f"A free joint {why} is refused by MuJoCo; here the body moves freely relative to its parent."
        reader.add_finding(
            free[0], "warning", text, "Move the body into <worldbody>, without other joints.", field="free"
        )


def _check_rotations(reader: XmlReader, root: Tag) -> None:
    """Check that an element's rotation is given by one attribute only."""
    turned = [tag for tag in root.iter() if sum(word in tag.attrib for word in ORIENTATIONS) > 1]
    if turned:
        words = [word for word in ORIENTATIONS if word in turned[0].attrib]
        text = (
            f"<{local_name(turned[0])}> has its rotation given by {' and '.join(words)}; the first is used here, "
            f"MuJoCo refuses that."
        )
        reader.add_finding(turned[0], "warning", text, "Keep one of them.", field=words[1])


def _check_keywords(reader: XmlReader, root: Tag) -> None:
    seen = set()
    for tag in root.iter():
        element = local_name(tag)
        for word, value in tag.attrib.items() if element else ():
            allowed = KEYWORDS.get(f"{element} {word}") or KEYWORDS.get(element) or KEYWORDS.get(word)
            key = (element, word, value)
            if (
                allowed is None
                or value in allowed
                or key in seen
                or word not in VOCABULARY.find_rule(parent_name(tag), element).attributes
            ):
                continue
            seen.add(key)
            text = f"'{value[:40]}' is not a valid value of '{word}' in <{element}>; it is ignored."
            reader.add_finding(tag, "warning", text, suggest_names(value, allowed), field=word)
            del tag.attrib[word]


def _report_left_out(reader: XmlReader, root: Tag) -> None:
    first: dict[str, Tag] = {}
    counts: Counter[str] = Counter()
    for tag in root.iter():
        for word in tag.attrib if local_name(tag) else ():
            key = f"{local_name(tag)} {word}"
            if key in LEFT_OUT and tag.get(word, "").strip(" 0."):
                first.setdefault(key, tag)
                counts[key] += 1
    for key, number in counts.items():
        element, word = key.split()
        times = f" ({number} times)" if number > 1 else ""
        reader.add_finding(
            first[key], "warning", f"'{word}' of <{element}> is not read{times}: {LEFT_OUT[key]}.", field=word
        )


_WORDS: dict[str, tuple[Severity, str, str]] = {
    "contacts": (
        "warning",
        "{n} geoms can collide with others; contacts are not computed, so bodies pass through one another.",
        "Use limits, or forces with formulas, where motion must be stopped.",
    ),
    "pairs": ("hint", "{n} entries that select or exclude contacts are left out.", ""),
    "actuators": (
        "warning",
        "{n} actuators are left out: their joints are neither driven nor held.",
        "Add drivers, or forces with formulas.",
    ),
    "keyframes": (
        "warning",
        "{n} keyframes are left out: they have no positions (qpos) of all joints.",
        "Store poses in the program instead.",
    ),
    "speeds of keyframes": (
        "hint",
        "{n} keyframes lose their time, speeds, activations and controls; their positions are stored poses.",
        "",
    ),
    "cones": (
        "warning",
        "{n} ball joints lose their angle limit: they can turn farther.",
        "Add a force with a formula.",
    ),
    "soft stops": (
        "warning",
        "{n} joints have stops with softness parameters (solref, solimp, margin), which are left out: the stiffness "
        "is derived from the inertia that meets the stop.",
        "Give their stiffness and damping, or make them rigid.",
    ),
    "one-sided motors": (
        "warning",
        "{n} joints have motor force bounds that differ by direction (actuatorfrcrange); the larger one is used.",
        "",
    ),
    "tendon limits": (
        "warning",
        "{n} tendons lose their limits or dry friction: their length is unbounded, and they slide without friction.",
        "Add forces with formulas.",
    ),
    "tendons": ("hint", "{n} tendons without spring, damper or mass are left out.", ""),
    "plugins": ("warning", "{n} plugins are left out, together with the forces they compute.", ""),
    "flexes": (
        "warning",
        "{n} deformable bodies are left out, with their mass and forces.",
        "Use rigid bodies instead.",
    ),
    "sensors": ("hint", "{n} sensors are left out.", "Add sensors here."),
    "notes": ("hint", "{n} entries of <custom> are left out.", ""),
}


class LeftOutElements:
    """Counts of unsupported elements by kind; each kind is reported once, at its first location."""

    def __init__(self, reader: XmlReader) -> None:
        self.reader = reader
        self.counts: Counter[str] = Counter()
        self.first: dict[str, Tag] = {}

    def add(self, kind: str, tag: Tag, count: int = 1) -> None:
        """Count elements of a kind."""
        if count:
            self.counts[kind] += count
            self.first.setdefault(kind, tag)

    def count_unread_sections(self, root: Tag) -> None:
        """Count the elements of sections that are not read."""
        words = {"contact": "pairs", "sensor": "sensors", "deformable": "flexes"}
        words |= {"custom": "notes", "extension": "plugins"}
        for section in root:
            if (word := words.get(local_name(section))) is not None:
                self.add(word, section, sum(1 for child in section if local_name(child)))
        if "plugins" not in self.counts:
            for tag in root.iter("plugin"):
                self.add("plugins", tag)

    def report_findings(self) -> None:
        """Report the findings."""
        for word, number in self.counts.items():
            severity, text, remedy = _WORDS[word]
            self.reader.add_finding(self.first[word], severity, text.format(n=number), remedy, field=word)


_OWN_NAMES = {"freejoint": "joint", "spatial": "tendon", "fixed": "tendon"}
_NAMED = ("body", "joint", "geom", "site", "camera", "light", "mesh", "material", "texture", "hfield", "tendon")
"""Kinds of elements whose names must be unique."""
_FILED = ("mesh", "texture", "hfield")
"""Elements that are named after their file if they have no name."""
_MAKERS = ("attach", "composite", "flexcomp", "skin", "model", "plugin")
"""Elements that create further elements with names or sizes."""
_ACTS_ON = dict.fromkeys(("site", "refsite", "slidersite", "cranksite"), "site")
_ACTS_ON |= {"joint": "joint", "jointinparent": "joint", "tendon": "tendon", "body": "body"}
_SENSES = {word: word for word in ("site", "joint", "tendon", "actuator", "body", "camera", "geom", "mesh")}
_SENSES |= {"geom1": "geom", "geom2": "geom", **dict.fromkeys(("body1", "body2", "subtree1", "subtree2"), "body")}
_JOINED = {"body1": "body", "body2": "body", "site1": "site", "site2": "site"}
_REFERENCES: dict[str, dict[str, str]] = {
    "geom": {"material": "material", "hfield": "hfield"},
    "site": {"material": "material"},
    "mesh": {"material": "material"},
    "material": {"texture": "texture"},
    "layer": {"texture": "texture"},
    "camera": {"target": "body"},
    "light": {"target": "body", "texture": "texture"},
    "spatial": {"material": "material"},
    "spatial/site": {"site": "site"},
    "spatial/geom": {"geom": "geom", "sidesite": "site"},
    "fixed/joint": {"joint": "joint"},
    "contact/pair": {"geom1": "geom", "geom2": "geom"},
    "contact/exclude": {"body1": "body", "body2": "body"},
    "equality/connect": _JOINED,
    "equality/weld": _JOINED,
    "equality/joint": {"joint1": "joint", "joint2": "joint"},
    "equality/tendon": {"tendon1": "tendon", "tendon2": "tendon"},
    "sensor": _SENSES,
    **{f"actuator/{word}": _ACTS_ON for word in ACTUATORS},
}
"""Kinds referenced by attributes, by element, by parent and element, or by section. (The mesh of a geom is looked up
when the geom is read.)"""
_OBJECTS = {"objname": "objtype", "refname": "reftype"}
_SIZES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}
"""Numbers of coordinates and speeds of a joint."""


def check_names(reader: XmlReader, root: Tag) -> None:
    """Report duplicate names, undefined names, and keyframes of the wrong size. To be called after all copies are
    made."""
    seen: dict[tuple[str, str], Tag] = {}
    for section in (tag for tag in root if local_name(tag) in ("worldbody", "asset", "tendon", "actuator")):
        actuators = local_name(section) == "actuator"
        for tag in section if actuators else section.iter():
            kind = "actuator" if actuators else _OWN_NAMES.get(local_name(tag), local_name(tag))
            name = element_name(tag, kind)
            if kind in (*_NAMED, "actuator") and name and seen.setdefault((kind, name), tag) is not tag:
                text = f"The name '{name}' of this {kind} is used twice (first in line {seen[kind, name].sourceline})."
                reader.add_finding(tag, "warning", text, "Rename one of them.", field="name")
    if not any(local_name(tag) in _MAKERS for tag in root.iter()):
        names: dict[str, list[str]] = {"body": ["world"]}
        for kind, name in seen:
            names.setdefault(kind, []).append(name)
        _check_references(reader, root, names)
        _check_keyframes(reader, root)
        _check_tendons(reader, root)


def element_name(tag: Tag, kind: str) -> str:
    """Return the name of an element; for meshes and textures without one, the name of their file."""
    given = str(tag.get("name", ""))
    if given or kind not in _FILED:
        return given
    return str(tag.get("file", "")).replace("\\", "/").rpartition("/")[2].rpartition(".")[0]


def _check_references(reader: XmlReader, root: Tag, names: Mapping[str, list[str]]) -> None:
    missed: set[tuple[str, str]] = set()
    for tag, word, kind in _iterate_references(root):
        key = kind, tag.get(word, "")
        known = names.get(kind, [])
        if key[1] and key[1] not in known and key not in missed:
            missed.add(key)
            text = f"There is no {kind} '{key[1][:60]}', to which <{local_name(tag)}> refers; MuJoCo refuses that."
            reader.add_finding(tag, "warning", text, suggest_names(key[1], known), field=word)


def _iterate_references(root: Tag) -> Iterator[tuple[Tag, str, str]]:
    """Yield each attribute that refers to another element: the element, the attribute, and the kind of the other
    element."""
    for section in root:
        if local_name(section) == "default":
            continue
        for tag in section.iter():
            element, above = local_name(tag), local_name(tag.getparent())
            if not element:
                continue
            words = _REFERENCES.get(f"{above}/{element}") or _REFERENCES.get(above if above == "sensor" else element)
            for word, kind in (words or {}).items():
                yield tag, word, kind
            for word, typed in _OBJECTS.items():
                kind = {"xbody": "body"}.get(tag.get(typed, ""), tag.get(typed, ""))
                if kind in _NAMED or kind == "actuator":
                    yield tag, word, kind


def _check_keyframes(reader: XmlReader, root: Tag) -> None:
    """Check that a keyframe has numbers for all coordinates, speeds and controls, or none of them, as MuJoCo
    requires."""
    worlds = [world for world in root if local_name(world) == "worldbody"]
    q = v = 0
    counts: Counter[str] = Counter()
    for tag in (tag for world in worlds for tag in world.iter()):
        if local_name(tag) in ("joint", "freejoint"):
            kind = "free" if local_name(tag) == "freejoint" else tag.get("type", "hinge")
            nq, nv = _SIZES.get(kind, (0, 0))
            q, v = q + nq, v + nv
        counts["mocap"] += local_name(tag) == "body" and tag.get("mocap") == "true"
    controls = sum(1 for section in root if local_name(section) == "actuator" for tag in section if local_name(tag))
    sizes = {"qpos": q, "qvel": v, "ctrl": controls, "mpos": 3 * counts["mocap"], "mquat": 4 * counts["mocap"]}
    for key in (tag for section in root if local_name(section) == "keyframe" for tag in section):
        for word, size in sizes.items() if local_name(key) == "key" else ():
            given = key.get(word, "").split()
            wrong = next((each for each in given if not _is_number(each)), None)
            if wrong is not None:
                text = f"'{wrong[:40]}' in {word} of a keyframe is not a number; MuJoCo refuses that."
                reader.add_finding(key, "warning", text, "Write numbers separated by blanks.", field=word)
            elif len(given) not in (0, size):
                text = (
                    f"{word} of a keyframe has {len(given)} numbers, but the machine has {size}; MuJoCo refuses that."
                )
                reader.add_finding(key, "warning", text, f"Give {size} numbers, or leave {word} out.", field=word)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _check_tendons(reader: XmlReader, root: Tag) -> None:
    """Check that a tendon has a path without immediate repetitions, and a fixed tendon no joint twice, as MuJoCo
    requires."""
    for tendon in (tag for section in root if local_name(section) == "tendon" for tag in section):
        path = [each for each in tendon if local_name(each)]
        kind = local_name(tendon)
        if kind in ("fixed", "spatial") and not path:
            reader.add_finding(
                tendon, "warning", f"<{kind}> has no path; MuJoCo refuses that.", "Add its parts.", field="path"
            )
        names = [each.get("joint") or each.get("site") for each in path]
        for k, name in enumerate(names):
            before = names[:k] if kind == "fixed" else names[max(k - 1, 0) : k]
            if name and name in before:
                text = f"'{name}' occurs twice in the path of <{kind}>; MuJoCo refuses that."
                reader.add_finding(path[k], "warning", text, "Leave one of them out.", field="path")
