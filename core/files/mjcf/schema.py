"""Checks of an MJCF file against MuJoCo's schema: words, values and names that MuJoCo rejects are noted where the
reader ignores them.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from collections import Counter

from core.errors import near_misses
from core.files.mjcf.defaults import ORIENTATIONS
from core.files.mjcf.mjcf_words import KEYWORDS, LEFT_OUT, VOCABULARY
from core.files.mjcf.schema_needs import check_needs, parent_name
from core.files.vocabulary import report, report_missing, report_texts
from core.files.xml_source import Reader, Tag, local_name

_REFUSED = ("include file", "replicate count", "inertial mass")
"""Attributes whose absence the reader itself rejects."""
_INSTEAD = {
    "inertial pos": "the centre of mass is taken at the body's origin",
    "joint joint1": "the coupling is left out",
    "tendon tendon1": "the coupling is left out",
    "joint coef": "it is taken as 1",
    "pulley divisor": "it is taken as 1",
    "default class": "its values cannot be inherited",
    **dict.fromkeys(_REFUSED, ""),
}


def check_words(reader: Reader, root: Tag) -> None:
    """Note unknown words, missing attributes, invalid keywords, and known attributes that are not read; to be called
    before defaults are applied."""
    report(reader, VOCABULARY, root, lambda _: "warning")
    report_missing(reader, VOCABULARY, root, _INSTEAD)
    report_texts(reader, VOCABULARY, root)
    _check_keywords(reader, root)
    check_needs(reader, root)
    _check_rotations(reader, root)
    _report_left_out(reader, root)


def check_free_joints(reader: Reader, root: Tag) -> None:
    """Note free joints below other bodies; to be called after all copies are made."""
    for world in reader.children(root, "worldbody"):
        for body in world.iter():
            if local_name(body) == "body":
                _check_free_joint(reader, body, inner=body.getparent() is not world)


def _check_free_joint(reader: Reader, body: Tag, inner: bool) -> None:
    """Check that a free joint is its body's only joint and that the body is in the world, as MuJoCo requires."""
    joints = [tag for tag in body if local_name(tag) in ("joint", "freejoint")]
    free = [tag for tag in joints if local_name(tag) == "freejoint" or tag.get("type") == "free"]
    if free and (inner or len(joints) > 1):
        why = "below another body" if inner else "together with other joints"
        text = f"A free joint {why} is refused by MuJoCo; here the body moves freely relative to its parent."
        reader.note(free[0], "warning", text, "Move the body into <worldbody>, without other joints.", field="free")


def _check_rotations(reader: Reader, root: Tag) -> None:
    """Check that an element's rotation is given by one attribute only."""
    turned = [tag for tag in root.iter() if sum(word in tag.attrib for word in ORIENTATIONS) > 1]
    if turned:
        words = [word for word in ORIENTATIONS if word in turned[0].attrib]
        text = f"<{local_name(turned[0])}> is turned by {' and '.join(words)}; the first counts, MuJoCo refuses that."
        reader.note(turned[0], "warning", text, "Keep one of them.", field=words[1])


def _check_keywords(reader: Reader, root: Tag) -> None:
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
                or word not in VOCABULARY.rule(parent_name(tag), element).attributes
            ):
                continue
            seen.add(key)
            text = f"'{value[:40]}' is not a valid value of '{word}' in <{element}>; it is ignored."
            reader.note(tag, "warning", text, near_misses(value, allowed), field=word)
            del tag.attrib[word]


def _report_left_out(reader: Reader, root: Tag) -> None:
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
        reader.note(first[key], "warning", f"'{word}' of <{element}> is not read{times}: {LEFT_OUT[key]}.", field=word)
