"""Check of the names in an MJCF file: names used twice, references to nothing, keyframes of the wrong size, and paths
of tendons, all of which MuJoCo refuses.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from core.errors import suggest_names
from core.files.mjcf.defaults import ACTUATORS
from core.files.mjcf.mjcf_words import OBJECTS
from core.files.xml_source import Tag, XmlReader, local_name

_OWN_NAMES = {"freejoint": "joint", "spatial": "tendon", "fixed": "tendon"}
_SECTIONS: dict[str, tuple[str, ...]] = {
    "worldbody": ("body", "joint", "geom", "site", "camera", "light"),
    "asset": ("mesh", "material", "texture", "hfield", "skin"),
    "deformable": ("flex", "skin"),
    "tendon": ("tendon",),
    "contact": ("pair", "exclude"),
    "custom": ("numeric", "text", "tuple"),
    "keyframe": ("key",),
    "extension": ("instance",),
}
"""Kinds of elements whose names must be unique, by section."""
_ONE_KIND = ("actuator", "sensor", "equality")
"""Sections whose elements share one set of names."""
_FILED = ("mesh", "texture", "hfield")
"""Elements that are named after their file if they have no name."""
_MADE = dict.fromkeys(
    ("composite", "flexcomp"), ("body", "joint", "geom", "site", "tendon", "flex", "equality", "skin")
)
"""Elements that create further elements with names, and their kinds; `attach` creates any."""
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
    "equality/flex": {"flex": "flex"},
    "equality/flexstrain": {"flex": "flex"},
    "deformable/flex": {"material": "material", "body": "bodies", "node": "bodies"},
    "flexcomp": {"material": "material"},
    "skin": {"material": "material"},
    "bone": {"body": "body"},
    "plugin": {"instance": "instance"},
    "sensor": _SENSES,
    **{f"actuator/{word}": _ACTS_ON for word in ACTUATORS},
}
"""Kinds referenced by attributes, by element, by parent and element, or by section. (The mesh of a geom is looked up
when the geom is read.)"""
_TYPED = {"objname": "objtype", "refname": "reftype"}
_SIZES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}
"""Numbers of coordinates and speeds of a joint."""


def check_frame_names(reader: XmlReader, root: Tag) -> None:
    """Report duplicate names of frames. To be called before frames are expanded."""
    seen: dict[str, Tag] = {}
    for tag in root.iter("frame"):
        _report_name_used_twice(reader, tag, "frame", seen, str(tag.get("name", "")))


def _report_name_used_twice(reader: XmlReader, tag: Tag, kind: str, seen: dict[str, Tag], name: str) -> None:
    """Report a name that an earlier element of the same kind has; remember it otherwise."""
    if name and seen.setdefault(name, tag) is not tag:
        text = f"The name '{name}' of this {kind} is used twice (first in line {seen[name].sourceline})."
        reader.add_finding(tag, "warning", text, "Rename one of them.", field="name")


def check_names(reader: XmlReader, root: Tag) -> None:
    """Report duplicate names, undefined names, and keyframes of the wrong size. To be called after all copies are
    made."""
    seen: dict[str, dict[str, Tag]] = {}
    for tag, kind in _iterate_named(root):
        _report_name_used_twice(reader, tag, kind, seen.setdefault(kind, {}), element_name(tag, kind))
    names = {**{kind: list(tags) for kind, tags in seen.items()}, "body": ["world", *seen.get("body", ())]}
    makers = {local_name(tag) for tag in root.iter()} & {"attach", *_MADE}
    if "attach" not in makers:
        made = {kind for maker in makers for kind in _MADE[maker]}
        _check_references(reader, root, names, made)
        _check_tendons(reader, root)
        if not makers:
            _check_keyframes(reader, root)


def _iterate_named(root: Tag) -> Iterator[tuple[Tag, str]]:
    """Yield every element that may have a unique name, and its kind."""
    for section in root:
        where = local_name(section)
        for tag in section if where in _ONE_KIND else section.iter():
            kind = where if where in _ONE_KIND else _OWN_NAMES.get(local_name(tag), local_name(tag))
            if where in _ONE_KIND or kind in _SECTIONS.get(where, ()):
                yield tag, kind


def element_name(tag: Tag, kind: str) -> str:
    """Return the name of an element; for meshes and textures without one, the name of their file."""
    given = str(tag.get("name", ""))
    if given or kind not in _FILED:
        return given
    return str(tag.get("file", "")).replace("\\", "/").rpartition("/")[2].rpartition(".")[0]


def _check_references(reader: XmlReader, root: Tag, names: Mapping[str, list[str]], made: set[str]) -> None:
    """Report references to names that no element has. made : kinds of which other elements create further ones"""
    missed: set[tuple[str, str]] = set()
    for tag, word, kind in _iterate_references(root):
        many = kind == "bodies"
        kind = "body" if many else kind
        given = tag.get(word, "")
        known = names.get(kind, [])
        for name in (given.split() if many else [given]) if kind not in made else ():
            if name and name not in known and (kind, name) not in missed:
                missed.add((kind, name))
                text = f"There is no {kind} '{name[:60]}', to which <{local_name(tag)}> refers; MuJoCo refuses that."
                reader.add_finding(tag, "warning", text, suggest_names(name, known), field=word)


def _iterate_references(root: Tag) -> Iterator[tuple[Tag, str, str]]:
    """Yield each attribute that refers to another element: the element, the attribute, and the kind of the other
    element (bodies: several)."""
    shown = {tag.get("mesh") for tag in root.iter("geom")}
    for section in root:
        if local_name(section) in ("default", "extension"):
            continue
        for tag in section.iter():
            element, above = local_name(tag), local_name(tag.getparent())
            if not element or (element == "mesh" and element_name(tag, "mesh") not in shown):
                continue  # a material of a mesh is looked up for geoms that show it
            words = _REFERENCES.get(f"{above}/{element}") or _REFERENCES.get(above if above == "sensor" else element)
            for word, kind in (words or {}).items():
                yield tag, word, kind
            for word, typed in _TYPED.items():
                kind = {"xbody": "body"}.get(tag.get(typed, ""), tag.get(typed, ""))
                if kind in OBJECTS and kind != "frame":
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
            if len(given) not in (0, size):
                text = f"{word} of a keyframe has {len(given)} values, but the machine has {size}; MuJoCo refuses that."
                reader.add_finding(key, "warning", text, f"Give {size} of them, or leave {word} out.", field=word)


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
