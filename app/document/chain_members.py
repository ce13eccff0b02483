"""Elements that a DH chain or a sub-assembly brings, as the panels name them."""

from __future__ import annotations

import re

from app.document.session import Ref
from core.model import DHChain, DHRow, Model, SubAssembly
from core.model.chains import expand
from core.model.fields import fields_of


def brought_by(chain: DHChain) -> list[Ref]:
    """Bodies, joints and frames that a chain stands for."""
    bodies, joints, frames = expand(chain)
    return [
        *(Ref("bodies", body.name) for body in bodies),
        *(Ref("joints", joint.name) for joint in joints),
        *(Ref("frames", frame.name) for frame in frames),
    ]


def assembled(assembly: SubAssembly) -> list[Ref]:
    """Everything of the expanded model that a sub-assembly brings."""
    return [Ref(collection, element.name) for collection, found in assembly.brought.items() for element in found]


def assembly_of(model: Model, ref: Ref) -> SubAssembly | None:
    """The sub-assembly that brings an element; None if the document or a chain does."""
    return next((each for each in model.assemblies if ref in assembled(each)), None)


def in_row(chain: DHChain, ref: Ref, field: str) -> tuple[int, str] | None:
    """The row (from 0) and the field of the row in which a field of a body or joint of the chain is written, such as
    (1, "mass") for the mass of link2; None for what no row says."""
    word = {"bodies": "link", "joints": "joint"}.get(ref.collection)
    found = re.fullmatch(rf"{re.escape(chain.prefix)}{word}(\d+)", ref.name)
    if word is None or found is None or not 1 <= int(found.group(1)) <= len(chain.rows):
        return None
    field = re.sub(r"^limits(\[0\]|\.0)?", "limit", field)
    known = {each.name for each in fields_of(DHRow)}
    return int(found.group(1)) - 1, field if re.split(r"\W", field)[0] in known else ""
