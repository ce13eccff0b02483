"""Keyframes of MJCF as stored poses: their positions (qpos), joint by joint in the order of the file."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.files.mjcf.schema import LeftOutElements
from core.files.xml_source import Tag, UniqueNames, XmlReader
from core.model import Joint
from core.model.motions import JointValue, StoredPose
from core.model.signals import component_name

LOST = ("time", "qvel", "act", "ctrl", "mpos", "mquat", "plastic")
"""Attributes of keyframes that poses do not have."""


def read_keyframes(
    reader: XmlReader, root: Tag, joints: Sequence[Joint], left_out: LeftOutElements
) -> tuple[StoredPose, ...]:
    """Return the poses of all keyframes with positions; others are counted as left out. joints : of the file, in its
    order, without those that follow others"""
    keys = [tag for section in reader.children(root, "keyframe") for tag in reader.children(section, "key")]
    names, poses = UniqueNames(), []
    for number, key in enumerate(keys, 1):
        values = _read_positions(key)
        coordinates = [name for joint in joints for name in _coordinates(joint)]
        if len(values) != len(coordinates) or not coordinates:
            left_out.add("keyframes", key)
            continue
        rows = tuple(
            JointValue(coordinate=name, value=value)
            for name, value in zip(coordinates, _in_our_order(values, joints), strict=True)
            if name
        )
        poses.append(StoredPose(name=names.add(key.get("name") or f"key{number}"), values=rows))
        left_out.add("speeds of keyframes", key, int(any(_is_anything(key.get(word, "")) for word in LOST)))
    return tuple(poses)


def _coordinates(joint: Joint) -> list[str]:
    """Return the names of a joint's coordinates; "" for one that follows another joint."""
    if joint.mimic is not None:
        return [""] * joint.info.nq
    return [component_name(joint.name, suffix) for suffix in joint.info.coordinates]


def _read_positions(key: Tag) -> list[float]:
    try:
        values = [float(word) for word in key.get("qpos", "").split()]
    except ValueError:  # reported when the file was checked, as what is not finite
        return []
    return values if all(map(math.isfinite, values)) else []


def _in_our_order(values: Sequence[float], joints: Sequence[Joint]) -> list[float]:
    """Return the positions with quaternions as x, y, z, w; MuJoCo writes w first."""
    found, at = list(values), 0
    for joint in joints:
        first = joint.info.quaternion
        if first is not None:
            w, *vector = found[at + first : at + first + 4]
            found[at + first : at + first + 4] = [*vector, w]
        at += joint.info.nq
    return found


def _is_anything(text: str) -> bool:
    """Return True if a list of numbers has one that is not zero."""
    return any(word.strip("+-0.") for word in text.split())
