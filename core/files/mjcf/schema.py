"""Check of an MJCF file: words, values and references that MuJoCo would reject are reported where the reader ignores
them; unsupported content is reported with its effect on the motion.

A finding's `field` is the word of the file, so that comparisons of motions know which differences it explains.
https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from collections import Counter

from core.errors import suggest_names
from core.files.mjcf.defaults import ORIENTATIONS
from core.files.mjcf.mjcf_words import KEYWORDS, LEFT_OUT, VOCABULARY
from core.files.mjcf.named_elements import check_frame_names
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
    check_frame_names(reader, root)
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
        "{n} geoms can collide with others; contacts are not taken over, so bodies pass through one another.",
        "Add contacts of shapes, or use limits where motion must be stopped.",
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
