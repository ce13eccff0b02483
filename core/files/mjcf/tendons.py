"""Tendons of MJCF that are springs and dampers between two sites, as line forces.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#tendon-spatial
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.files.xml_source import Names, Reader, Tag, local_name
from core.model import Force

Place = Callable[[str], NDArray[np.float64]]
"""Name of a frame → (3,) where it is in the world, at the reference values of all joints."""


def springs(section: Tag, reader: Reader, sites: Mapping[str, str], place: Place) -> list[Force]:
    """Line forces of a `<tendon>` section; others that pull are told. sites : site of the file → our frame."""
    found, names = [], Names()
    for tag in section:
        kind = local_name(tag)
        if kind not in ("spatial", "fixed"):
            continue
        where = f"tendon '{tag.get('name', '')}'".replace(" ''", "")
        stiffness, damping = (reader.number(tag, key, 0.0, where) for key in ("stiffness", "damping"))
        if not stiffness and not damping:
            continue
        ends = [sites.get(child.get("site", ""), "") for child in tag if local_name(child) == "site"]
        if kind != "spatial" or len(ends) != 2 or len(tag) != 2 or not all(ends):
            reader.note(
                tag,
                "warning",
                f"The spring of {where} is left out: only those between two sites are read.",
                "Add forces in its place.",
            )
            continue
        low, high = _relaxed(tag, reader, where, float(np.linalg.norm(place(ends[1]) - place(ends[0]))))
        name = names.add(tag.get("name") or f"{ends[0]}_{ends[1]}")
        if low < high:  # slack between two lengths
            law = f"{stiffness!r}*(max(length - {high!r}, 0) - max({low!r} - length, 0))"
            found.append(Force(name=name, a=ends[0], b=ends[1], law=law, damping=damping))
        else:
            found.append(Force(name=name, a=ends[0], b=ends[1], stiffness=stiffness, rest=low, damping=damping))
    return found


def _relaxed(tag: Tag, reader: Reader, where: str, length: float) -> tuple[float, float]:
    """(shortest, longest) length without force; as it stands where the file says nothing or −1."""
    count = len(tag.get("springlength", "-1").split())
    low, *high = reader.numbers(tag, "springlength", min(count, 2), (-1.0,), where)
    if low == -1.0:
        return length, length
    return low, (high[0] if high else low)
