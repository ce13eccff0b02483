"""Expansion of `<frame>` and `<replicate>` in MJCF: their content is moved into the parent element.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#frame, #replicate
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.files.mjcf.defaults import ORIENTATIONS, CompilerSettings, pose_between
from core.files.mjcf.includes import mark_source_file
from core.files.xml_source import Tag, XmlReader, local_name

Matrix = NDArray[np.float64]
MOST_COPIES = 10_000
MOST_ELEMENTS, MOST_LETTERS = 200_000, 50_000_000
"""Maximum number of elements, and of characters of their attributes, that all replicates together may create."""
_PLACED = ("body", "geom", "site", "inertial", "camera", "light")


def expand_frames(root: Tag, reader: XmlReader, settings: CompilerSettings) -> None:
    """Expand every `<replicate>` into copies and every `<frame>` into its parent. Defaults must have been applied.
    Raises FileError."""
    replicates = _elements_of_kind(root, "replicate")
    _check_replicate_count(replicates, reader)
    for tag in reversed(replicates):
        _expand_replicate(tag, reader, settings)
    for tag in reversed(_elements_of_kind(root, "frame")):
        X = settings.pose(tag, "frame")
        for child in tag:
            _move_to_parent(child, X, reader, settings)
        _replace_element(tag, list(tag))


def _elements_of_kind(root: Tag, kind: str) -> list[Tag]:
    """Return the elements of a kind in the body tree, outer ones first."""
    return [
        tag for world in root if local_name(world) == "worldbody" for tag in world.iter() if local_name(tag) == kind
    ]


def _check_replicate_count(replicates: list[Tag], reader: XmlReader) -> None:
    """Raise FileError, before copying anything, if nested replicates would create too many elements."""
    copies: dict[Tag, int] = {}
    suffixes: dict[Tag, int] = {}
    elements = letters = 0
    for tag in replicates:  # outer ones first
        count = _copy_count(tag, reader)
        outer = next((each for each in tag.iterancestors() if each in copies), None)
        copies[tag] = count * copies.get(outer, 1)
        suffixes[tag] = len(tag.get("sep", "")) + len(str(count)) + suffixes.get(outer, 0)
        inner = [each for each in tag.iterdescendants() if _enclosing_replicate(each) is tag]
        elements += copies[tag] * (1 + len(inner))
        named = sum(len(value) for each in inner for value in each.attrib.values())
        letters += copies[tag] * (named + len(inner) * suffixes[tag])
        if elements > MOST_ELEMENTS or letters > MOST_LETTERS:
            what = f"The replicates of the file create more than {MOST_ELEMENTS} bodies and other elements in total."
            if elements <= MOST_ELEMENTS:
                what = (
                    f"The replicates of the file create more than {MOST_LETTERS // 1_000_000} million characters in "
                    "total."
                )
            raise reader.error(tag, what, "replicate, count", "Use smaller counts, or fewer nested replicates.")


def _enclosing_replicate(tag: Tag) -> Tag:
    """Return the innermost replicate around an element."""
    return next((each for each in tag.iterancestors() if local_name(each) == "replicate"), None)


def _copy_count(tag: Tag, reader: XmlReader) -> int:
    count = int(reader.number(tag, "count", None, "replicate"))
    if not 0 < count <= MOST_COPIES:
        raise reader.error(
            tag,
            f"{count} is not a valid number of copies.",
            "replicate, count",
            f"Use a number from 1 to {MOST_COPIES}.",
        )
    return count


def _expand_replicate(tag: Tag, reader: XmlReader, settings: CompilerSettings) -> None:
    """Write copies of a replicate's content: copy i is moved i times by (offset, euler) and named name + sep + i."""
    count = _copy_count(tag, reader)
    step = settings.rotation(tag, "replicate")
    offset = np.array(reader.numbers(tag, "offset", 3, (0.0, 0.0, 0.0), "replicate"))
    width, separator = len(str(count - 1)), tag.get("sep", "")
    copies, X = [], np.eye(4)
    for number in range(count):
        frame = tag.makeelement("frame", {"childclass": tag.get("childclass", "")} if tag.get("childclass") else {})
        _set_pose(frame, X)
        for child in tag:
            twin = copy.deepcopy(child)
            for each in twin.iter():
                if each.get("name"):
                    each.set("name", f"{each.get('name')}{separator}{number:0{width}d}")
            frame.append(twin)
        copies.append(frame)
        X = X @ np.block([[step, offset[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    _replace_element(tag, copies)


def _move_to_parent(child: Tag, X: Matrix, reader: XmlReader, settings: CompilerSettings) -> None:
    """Change an element's pose from the frame's axes to those of the frame's parent."""
    kind = local_name(child)
    if kind in ("joint", "freejoint"):
        if kind == "joint":
            _set_numbers(child, "pos", X[:3, :3] @ reader.numbers(child, "pos", 3, (0.0, 0.0, 0.0), kind) + X[:3, 3])
            _set_numbers(child, "axis", X[:3, :3] @ reader.numbers(child, "axis", 3, (0.0, 0.0, 1.0), kind))
    elif kind in ("geom", "site") and child.get("fromto") is not None:
        matrix, half = pose_between(settings.read_end_points(child, kind))
        width = child.get("size", "").split()[:1]
        long = child.get("type") in ("capsule", "cylinder")
        child.set("size", " ".join([*width, *([] if long else width), repr(half)]))
        child.attrib.pop("fromto")
        _set_pose(child, X @ matrix)
    elif kind in _PLACED:
        _set_pose(child, X @ settings.pose(child, kind))


def _set_pose(tag: Tag, X: Matrix) -> None:
    for key in ORIENTATIONS:
        tag.attrib.pop(key, None)
    x, y, z, w = Rotation.from_matrix(X[:3, :3]).as_quat()
    _set_numbers(tag, "pos", X[:3, 3])
    _set_numbers(tag, "quat", (w, x, y, z))


def _set_numbers(tag: Tag, attribute: str, values: Iterable[float]) -> None:
    tag.set(attribute, " ".join(repr(float(value)) for value in values))


def _replace_element(tag: Tag, replacements: list[Tag]) -> None:
    mark_source_file(tag, replacements)
    parent = tag.getparent()
    at = parent.index(tag)
    parent.remove(tag)
    for shift, other in enumerate(replacements):
        parent.insert(at + shift, other)
