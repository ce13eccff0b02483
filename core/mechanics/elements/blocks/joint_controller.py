"""Controllers of joints: references, errors, limits, and the forces that they exert."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.errors import ModelError
from core.mechanics.elements.blocks.signal_block import SignalBlock, own_state
from core.model.dimensions import force_dimension, joint_dimension
from core.model.formula.differentiation import ZERO, combine, differentiate
from core.model.formula.nodes import Name, Node, Number
from core.model.joints import NO_RATE
from core.model.signal_elements import ControlledJoint, Signal
from core.model.signal_laws import BlockLaw, Recursion, StateLaw, value_node
from core.model.signals import TIME

ACTING = ("joints", "period", "delay", "phase", "resolution", "noise", "seed", "initial")
"""Fields of all controllers of joints."""
ONE = Number(1.0)


class Reference(NamedTuple):
    """Reference of a coordinate, with its rate and second rate."""

    q: Node
    v: Node
    a: Node


class JointController(SignalBlock):
    """Controller that exerts a force in each of its joints, limited by the effort limit of the joint."""

    acts = True

    @classmethod
    def value_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the suffixes of reference, error, command, force and saturation of each joint."""
        return tuple(
            f"{row.component}.{what}"
            for row in signal.joints
            for what in ("reference", "error", "command", "tau", "saturated")
        )

    @classmethod
    def value_dimension(cls, signal: Signal, model: Any, suffix: str) -> str:
        """Return the dimension of a value."""
        component, _, what = suffix.rpartition(".")
        row = next((row for row in signal.joints if row.component == component), None)
        if row is None or what == "saturated":
            return "none"
        along = joint_dimension(model, row.joint, row.coordinate)
        return along if what in ("reference", "error") else force_dimension(along)

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the formulas of all joints."""
        values: dict[str, Node | Recursion] = {}
        states: dict[str, StateLaw] = {}
        forces = []
        for row in signal.joints:
            c, to = row.component, reference_of(signal, row)
            values[f"{c}.reference"] = to.q
            values[f"{c}.error"] = combine("r - q", r=to.q, q=measured_coordinate(signal, row))
            values |= limited_force(signal, row, model)
            values[f"{c}.command"] = cls.command(signal, row, to, values)
            states |= cls.joint_states(signal, row, to)
            forces.append((row, f"{c}.tau"))
        states |= cls.further_states(signal)
        return BlockLaw(values, states, tuple(forces))

    @classmethod
    def command(
        cls, signal: Signal, row: ControlledJoint, to: Reference, values: dict[str, Node | Recursion]
    ) -> Node | Recursion:
        """Return the force before it is limited; may add values of its own."""
        raise NotImplementedError

    @classmethod
    def joint_states(cls, signal: Signal, row: ControlledJoint, to: Reference) -> dict[str, StateLaw]:
        """Return the states for one joint."""
        return {}

    @classmethod
    def further_states(cls, signal: Signal) -> dict[str, StateLaw]:
        """Return the states that belong to no joint."""
        return {}


def measured_coordinate(signal: Signal, row: ControlledJoint) -> Node:
    """Return a coordinate as a sampled controller measures it, with noise, in steps of the resolution. Raises
    ModelError where a continuous law would have noise."""
    q: Node = Name(f"{row.component}.q")
    if signal.noise != 0.0:
        q = combine("q + n", q=q, n=own_state(signal, f"{row.component}.noise"))
    if signal.resolution != 0.0:
        q = combine("d*floor(q/d + 0.5)", q=q, d=value_node(signal.resolution))
    if signal.period is None and (signal.noise != 0.0 or signal.resolution != 0.0):
        raise ModelError(
            "Only sampled controllers have noise and a resolution.",
            where=f"signal '{signal.name}', period",
            remedy="Give the period at which it measures, or leave noise and resolution at 0.",
        )
    return q


def gain(signal: Signal, row: ControlledJoint, name: str) -> Node:
    """Return a gain: the joint's own, or the controller's."""
    own = getattr(row, name)
    return value_node(getattr(signal, name) if own is None else own)


def reference_of(signal: Signal, row: ControlledJoint) -> Reference:
    """Return the reference of a joint: its formula, the coordinate of the motion, or 0. Raises ModelError."""
    c = row.component
    if row.reference is None:
        if not signal.motion:
            return Reference(ZERO, ZERO, ZERO)
        return Reference(*(Name(f"{signal.motion}.{c}.{what}") for what in ("q", "v", "a")))
    r = value_node(row.reference)
    rates: dict[str, Node] = dict.fromkeys(TIME, ONE)
    v = differentiate(r, rates)
    return Reference(r, v, differentiate(v, rates))


def own_references(signal: Signal) -> dict[str, Node]:
    """Return the references of all joints by the names that formulas of the signal use."""
    found: dict[str, Node] = {}
    for row in signal.joints:
        to = reference_of(signal, row)
        found |= {f"ref.{row.component}.{what}": node for what, node in zip(("q", "v", "a"), to, strict=True)}
    return found


def limited_force(signal: Signal, row: ControlledJoint, model: Any) -> dict[str, Node]:
    """Return the force within the limit of its joint, and 1 where it is limited, else 0."""
    c = row.component
    command, limit = own_state(signal, f"{c}.command"), limit_of(row, model)
    if limit is None:
        return {f"{c}.tau": command, f"{c}.saturated": ZERO}
    return {
        f"{c}.tau": combine("max(min(u, most), -most)", u=command, most=limit),
        f"{c}.saturated": combine("(u > most) + (u < -most)", u=command, most=limit),
    }


def limit_of(row: ControlledJoint, model: Any) -> Node | None:
    """Return the largest force in a joint: that of the row, or the effort limit of the joint; None: there is none."""
    if row.limit is not None:
        return value_node(row.limit)
    joint = next((each for each in model.joints if each.name == row.joint), None)
    if joint is None or not joint.limits:
        return None
    words = list(joint.info.speeds)
    k = words.index(row.coordinate) if row.coordinate in words else 0
    effort = joint.limits[k].effort if k < len(joint.limits) else None
    return None if effort is None or effort in NO_RATE else value_node(effort)
