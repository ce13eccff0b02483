"""Elements that a DH chain stands for, as the panels name them."""

from __future__ import annotations

from app.session import Ref
from core.model import DHChain
from core.model.chains import expand


def brought_by(chain: DHChain) -> list[Ref]:
    """Bodies, joints and frames that a chain stands for."""
    bodies, joints, frames = expand(chain)
    return [
        *(Ref("bodies", body.name) for body in bodies),
        *(Ref("joints", joint.name) for joint in joints),
        *(Ref("frames", frame.name) for frame in frames),
    ]
