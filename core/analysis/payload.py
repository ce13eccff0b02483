"""Payload on a frame of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.analysis.tool_frame import tool_frame
from core.mechanism import Mechanism
from core.model.edits.payloads import MOUNT, with_payload


def put_payload(
    mech: Mechanism, mass: float, center: Sequence[float], inertia: Any = None, frame: str | None = None
) -> Mechanism:
    """Mechanism with a payload, see `Mechanism.with_payload`; without a frame where one is, else on the tool."""
    if frame is None:
        is_there = any(joint.name == MOUNT for joint in mech.model.joints)
        frame = "" if is_there else tool_frame(mech.model)
    return mech.updated(with_payload(mech.model, mass, center, inertia, frame))
