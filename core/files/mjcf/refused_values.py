"""Values that MuJoCo refuses and this reader could use or ignores: sizes, masses, directions, tendon paths, and moving
bodies without mass or inertia.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from core.files.xml_source import Tag, XmlReader, local_name
from core.model import Body

SMALLEST = 1e-15
"""Smallest mass (kg), moment of inertia (kg m²) and length (m) that MuJoCo accepts (mjMINVAL)."""
_ROUNDING = 1e-9
"""Relative error of moments of inertia written with few digits."""
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
_LONG = ("capsule", "cylinder", "box", "ellipsoid")
_POSITIVE = {"pulley": ("divisor",), "spatial": ("width",)}
_NOT_NEGATIVE = {"geom": ("mass", "density"), "spatial": ("armature",), "fixed": ("armature",)}
_FRICTION_DIMENSIONS = ("1", "3", "4", "6")


class _Complaints:
    """Collector of refused values: the first of each kind becomes a finding with its line and the count."""

    def __init__(self, reader: XmlReader) -> None:
        self.reader = reader
        self.found: dict[str, list[tuple[Tag, str, str]]] = {}

    def add(self, tag: Tag, text: str, remedy: str, field: str) -> None:
        """Add a refused value."""
        self.found.setdefault(text, []).append((tag, remedy, field))

    def report(self) -> None:
        """Note one finding of each kind."""
        for text, places in self.found.items():
            tag, remedy, field = places[0]
            times = f" ({len(places)} times)" if len(places) > 1 else ""
            self.reader.add_finding(tag, "warning", f"{text}{times}; MuJoCo refuses that.", remedy, field=field)


def check_values(reader: XmlReader, root: Tag) -> None:
    """Note refused values; to be called after defaults are applied."""
    complaints = _Complaints(reader)
    for tag in root.iter():
        element = local_name(tag)
        if not element or any(local_name(above) in ("default", "custom", "extension") for above in tag.iterancestors()):
            continue
        _check_signs(complaints, tag, element)
        _check_directions(complaints, tag, element)
        check = _CHECKS.get(element)
        if check is not None:
            check(complaints, tag, element)
    _check_single_axes(complaints, root)
    complaints.report()


def check_moving_bodies(
    reader: XmlReader, tags: Mapping[Tag, str], bodies: Sequence[Body], lost: Callable[[str], bool]
) -> None:
    """Note bodies that move without mass or inertia. lost : body → the reader has left out mass of it"""
    made = {body.name: body for body in bodies}
    complaints = _Complaints(reader)
    for tag in tags:
        if _moves(tag) and not any(_is_heavy(made[tags[each]]) or lost(tags[each]) for each in _welded(tag)):
            text = "A body with joints has no mass, or no moment of inertia about one of its axes"
            remedy = "Give its geoms mass, or add an <inertial> with mass and moments of inertia, all above 0."
            complaints.add(tag, text, remedy, "inertial")
    complaints.report()


def _moves(tag: Tag) -> bool:
    return any(local_name(child) in ("joint", "freejoint") for child in tag)


def _welded(tag: Tag) -> Iterator[Tag]:
    """Yield a body and the bodies that move with it, without joints between."""
    waiting = [tag]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += [child for child in here if local_name(child) == "body" and not _moves(child)]


def _is_heavy(body: Body) -> bool:
    I = body.inertia
    tensor = np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]], dtype=float)
    if not np.isfinite(tensor).all():
        return True  # reported elsewhere
    return float(body.mass) >= SMALLEST and float(np.linalg.eigvalsh(tensor)[0]) >= SMALLEST


def _numbers(tag: Tag, word: str) -> list[float]:
    """Return the numbers of an attribute; none if it is missing or holds anything else."""
    try:
        found = [float(each) for each in tag.get(word, "").split()]
    except ValueError:
        return []
    return found if all(map(math.isfinite, found)) else []


def _check_signs(complaints: _Complaints, tag: Tag, element: str) -> None:
    for word in _POSITIVE.get(element, ()):
        if any(number <= 0.0 for number in _numbers(tag, word)):
            complaints.add(tag, f"'{word}' of <{element}> is not larger than 0", "Use a number above 0.", word)
    weighed = element != "geom" or not any(local_name(each) == "inertial" for each in tag.getparent())
    for word in _NOT_NEGATIVE.get(element, ()) if weighed else ():
        if word == "density" and _numbers(tag, "mass"):
            continue
        if any(number < 0.0 for number in _numbers(tag, word)):
            complaints.add(tag, f"'{word}' of <{element}> is negative", "Use 0 or more.", word)


def _check_directions(complaints: _Complaints, tag: Tag, element: str) -> None:
    z, turn, xy = (_numbers(tag, word) for word in ("zaxis", "axisangle", "xyaxes"))
    bad = ""
    if len(z) == 3 and math.hypot(*z) < SMALLEST:
        bad = "zaxis"
    elif len(turn) == 4 and math.hypot(*turn[:3]) < SMALLEST:
        bad = "axisangle"
    elif len(xy) == 6:
        length = math.hypot(*xy[:3])
        across = np.cross(xy[:3], xy[3:])
        bad = "xyaxes" if length < SMALLEST or math.hypot(*across) / length < SMALLEST else ""
    if bad:
        complaints.add(tag, f"'{bad}' of <{element}> gives no direction", "Give axes that differ from 0.", bad)


def _check_sizes(complaints: _Complaints, tag: Tag, element: str) -> None:
    kind, sizes, ends = tag.get("type", "sphere"), _numbers(tag, "size"), _numbers(tag, "fromto")
    if len(ends) == 6 and not tag.get("mesh"):
        if kind not in _LONG:
            text = f"'fromto' is given for a {kind}"
            complaints.add(tag, text, f"Use one of the types {', '.join(_LONG)}.", "fromto")
        elif math.dist(ends[:3], ends[3:]) < SMALLEST:
            complaints.add(tag, f"Both ends in 'fromto' of <{element}> are the same point", "Move one.", "fromto")
    count = 1 if ends else _SIZES.get(kind, 0)
    if not tag.get("mesh") and any(size <= 0.0 for size in sizes[:count]):
        complaints.add(tag, f"A size of <{element}> is not larger than 0", "Use sizes above 0.", "size")


def _check_geom(complaints: _Complaints, tag: Tag, element: str) -> None:
    _check_sizes(complaints, tag, element)
    _check_condim(complaints, tag, element)
    if tag.get("type") == "mesh" and tag.get("shellinertia") == "true":
        text = "'shellinertia' is given for a geom with a mesh"
        complaints.add(tag, text, 'Use inertia="shell" of the <mesh>.', "shellinertia")


def _check_condim(complaints: _Complaints, tag: Tag, element: str) -> None:
    if tag.get("condim", "3").strip() not in _FRICTION_DIMENSIONS:
        text = f"'condim' of <{element}> is none of {', '.join(_FRICTION_DIMENSIONS)}"
        complaints.add(tag, text, "Use 3 for friction in the contact plane.", "condim")


def _check_joint(complaints: _Complaints, tag: Tag, element: str) -> None:
    pair = _numbers(tag, "springdamper")
    if any(pair) and min(pair) <= 0.0:
        text = "Only one number of 'springdamper' is larger than 0, or one is negative; it is ignored"
        complaints.add(tag, text, "Give a time and a damping ratio above 0.", "springdamper")


def _check_inertial(complaints: _Complaints, tag: Tag, element: str) -> None:
    diagonal, full = _numbers(tag, "diaginertia"), _numbers(tag, "fullinertia")
    if diagonal and full:
        text = "<inertial> has 'diaginertia' and 'fullinertia'; the second counts"
        complaints.add(tag, text, "Keep one of them.", "diaginertia")
        return
    moments = np.array(diagonal)
    if len(full) == 6:
        xx, yy, zz, xy, xz, yz = full
        moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    compiler = [each.get("balanceinertia") for each in tag.getroottree().getroot() if local_name(each) == "compiler"]
    if len(moments) != 3 or min(moments) <= 0.0 or "true" in compiler:
        return
    if 2.0 * max(moments) > sum(moments) * (1.0 + _ROUNDING):
        text = "A moment of inertia is larger than the sum of the other two, which no body has"
        complaints.add(tag, text, 'Correct it, or set balanceinertia="true" in <compiler>.', "inertia")


def _check_body(complaints: _Complaints, tag: Tag, element: str) -> None:
    parent = tag.getparent()
    if tag.get("mocap") == "true" and (_moves(tag) or parent is None or local_name(parent) != "worldbody"):
        text = "A mocap body has joints, or is not in <worldbody>; here it moves like any other body"
        complaints.add(tag, text, "Remove its joints, or the attribute.", "mocap")
    kinds = [child.get("type", "hinge") for child in tag if local_name(child) == "joint"]
    if "ball" in kinds and {"ball", "hinge"} & {*kinds[kinds.index("ball") + 1 :]}:
        text = "A ball joint is followed by another rotation in its body"
        complaints.add(tag, text, "Put the ball last, or the other joint on a body of its own.", "joint")


def _check_single_axes(complaints: _Complaints, root: Tag) -> None:
    """Check that joints in fixed tendons and couplings have one axis, and geoms that tendons wrap around are round."""
    joints, geoms = (
        {tag.get("name"): tag.get("type", usual) for tag in root.iter() if local_name(tag) == kind and tag.get("name")}
        for kind, usual in (("joint", "hinge"), ("geom", "sphere"))
    )
    joints |= {tag.get("name"): "free" for tag in root.iter() if local_name(tag) == "freejoint" and tag.get("name")}
    for tag in root.iter():
        inside = local_name(tag.getparent()) if tag.getparent() is not None else ""
        if inside == "spatial" and geoms.get(tag.get("geom", ""), "sphere") not in ("sphere", "cylinder"):
            text = "A tendon wraps around a geom that is neither a sphere nor a cylinder"
            complaints.add(tag, text, "Add a round geom for it.", "geom")
        words = {"fixed": ("joint",), "equality": ("joint1", "joint2")}.get(inside, ())
        for word in words if local_name(tag) == "joint" else ():
            if joints.get(tag.get(word, ""), "hinge") not in ("hinge", "slide"):
                text = f"The joint in '{word}' inside <{inside}> is neither a hinge nor a slide"
                complaints.add(tag, text, "Name a joint with one axis.", word)


def _check_mesh(complaints: _Complaints, tag: Tag, element: str) -> None:
    points = len(_numbers(tag, "vertex"))
    if points and (points % 3 or points < 12):
        text = "'vertex' of <mesh> holds fewer than four points, or a part of one"
        complaints.add(tag, text, "Give x y z of at least four points.", "vertex")
    if any(number < 0.0 for number in _numbers(tag, "face")):
        complaints.add(tag, "'face' of <mesh> holds a negative number", "Count vertices from 0.", "face")
    if any(-1.0 != number < 4.0 for number in _numbers(tag, "maxhullvert")):
        complaints.add(tag, "'maxhullvert' of <mesh> is less than 4", "Use −1 for no bound.", "maxhullvert")


def _check_tendon(complaints: _Complaints, tag: Tag, element: str) -> None:
    lengths = _numbers(tag, "springlength")
    if len(lengths) == 2 and lengths[0] > lengths[1]:
        text = f"'springlength' of <{element}> begins with the larger number"
        complaints.add(tag, text, "Give the shorter length first.", "springlength")
    path = [local_name(child) for child in tag if local_name(child) in ("joint", "site", "geom", "pulley")]
    bad = _broken_path(element, path)
    if bad:
        text = f"The path of a <{element}> tendon is not complete: {bad}"
        complaints.add(tag, text, _PATH_REMEDIES[element], "path")


_PATH_REMEDIES = {
    "spatial": "Each part of a path, between pulleys, begins and ends at a site, and has at least two.",
    "fixed": "Add a <joint> with its coefficient.",
}


def _broken_path(element: str, path: Sequence[str]) -> str:
    """Return what a tendon's path lacks; '' if it is complete."""
    if not path:
        return "it runs over nothing"
    if element == "fixed":
        return ""
    around = ["pulley", *path, "pulley"]
    for before, here, after in zip(around, path, around[2:], strict=False):
        if here == "pulley" and after == "pulley":
            return "a pulley is followed by another, or by nothing"
        if here == "site" and before == after == "pulley":
            return "a site has no neighbour that is a site or a geom"
        if here == "geom" and not before == after == "site":
            return "a geom does not lie between two sites"
    return ""


_CHECKS: dict[str, Callable[[_Complaints, Tag, str], None]] = {
    "geom": _check_geom,
    "site": _check_sizes,
    "pair": _check_condim,
    "joint": _check_joint,
    "inertial": _check_inertial,
    "body": _check_body,
    "mesh": _check_mesh,
    "spatial": _check_tendon,
    "fixed": _check_tendon,
}
