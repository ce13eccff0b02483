"""Joint forces given for joints that close loops: they act as force elements in a model of the run's own.

Only joints of the tree have entries in the vector of joint forces. A force along a coordinate of a cut joint acts
between the joint's two frames, as the force element "joint.tau" of kind joint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.constraints.other_cuts import closing_joint
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Force, Joint
from core.model.edits import edits
from core.model.joints import effective_motor_limit
from core.model.signals import component_name

SUFFIX = ".tau"
"""Suffix of the name of the force element that acts in place of a joint force."""


def apply_cut_torques(mech: Mechanism, torque: Any, label: str = "torque") -> tuple[Mechanism, Any]:
    """Return the machine with the joint forces on cut joints as force elements, and the other joint forces.

    label : what the caller calls the forces
    Raises ModelError for a force that cannot act in a cut joint.
    """
    if not isinstance(torque, Mapping) or not any(closing_joint(mech.compiled, name) for name in torque):
        return mech, torque
    others, elements = dict[str, Any](), list[Force]()
    for name, value in torque.items():
        joint = closing_joint(mech.compiled, name)
        if joint:
            elements.append(_force_element(mech, joint, name, value, label))
        else:
            others[name] = value
    return Mechanism(edits.add(mech.model, *elements)), others or None


def element_of_cut_torque(speed: str) -> str:
    """Return the name of the force element that acts in place of the joint force along a speed."""
    return f"{speed}{SUFFIX}"


def _force_element(mech: Mechanism, name: str, speed: str, value: Any, label: str) -> Force:
    """Return the force element for a joint force along a speed of a cut joint."""
    joint, where = mech.model.expanded.find("joints", name), f"{label} of '{speed}'"
    own = dict(zip((component_name(name, x) for x in joint.info.speeds), joint.info.coordinates, strict=False))
    if speed not in own or joint.info.nq != joint.info.nv:
        known = ", ".join(own) if joint.info.nq == joint.info.nv else ""
        raise ModelError(
            f"The joint '{name}' closes a loop, and '{speed}' is not one of its coordinates along which a force acts.",
            where=where,
            remedy=f"Name one of {known}." if known else "Set its field “cut” to no, or use a force element.",
        )
    if isinstance(value, str) and label == "torque":
        from core.simulation.equations.joint_forces import check_formula  # brings LLVM

        check_formula(mech, speed, value)
        text = f"({value})"
    else:
        text = repr(finite_force(value, where))
    effort = _effort(joint, list(own).index(speed), where)
    if effort is not None:
        text = f"max(min({text}, {effort}), -({effort}))"
    return Force(name=element_of_cut_torque(speed), kind="joint", joint=name, coordinate=own[speed], law=f"-({text})")


def finite_force(value: Any, where: str) -> float:
    """Return a joint force given as a number. Raises ModelError naming the place where it was given."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        run = where.startswith("torque")
        raise ModelError(
            f"{value!r} is {'neither a finite number nor a formula' if run else 'not a finite number'}.",
            where=where,
            remedy="Give N·m or N" + (", or a formula as text, e.g. '10*sin(t)'." if run else "."),
        )
    return number


def _effort(joint: Joint, k: int, where: str) -> str | None:
    """Return the effort limit of a joint's motor as text; None if it is unlimited. Raises ModelError for a speed limit,
    which acts only where the joint has a coordinate of its own."""
    if k >= len(joint.limits):
        return None
    limit = joint.limits[k]
    if effective_motor_limit(limit.velocity) != math.inf:
        raise ModelError(
            f"The joint '{joint.name}' closes a loop, where the speed limit of its motor would not act.",
            where=where,
            remedy="Set its field “cut” to no, or remove the speed limit.",
        )
    effort = effective_motor_limit(limit.effort)
    return None if effort == math.inf else f"({effort})" if isinstance(effort, str) else repr(float(effort))
