"""PD and PID control of joints."""

from __future__ import annotations

from core.mechanics.elements.blocks.joint_controller import (
    ACTING,
    JointController,
    Reference,
    gain,
)
from core.mechanics.elements.blocks.signal_block import own_state
from core.model.formula.differentiation import ZERO, combine
from core.model.formula.nodes import Name, Node
from core.model.signal_elements import ControlledJoint, Signal
from core.model.signal_laws import Recursion, StateLaw, value_node


class PDControl(JointController):
    """Proportional and derivative control of each joint: τ = kp e + kd ė, with the forces of gravity on request."""

    name, title, short_title = "pd", "PD controller", "PD"
    help = "Acts in each joint with kp · error + kd · rate of the error; gravity compensation adds the holding forces."
    uses = ("motion", "joints", "kp", "kd", "gravity", *ACTING[1:])
    needs = ("joints",)
    rank = 1

    @classmethod
    def command(
        cls, signal: Signal, row: ControlledJoint, to: Reference, values: dict[str, Node | Recursion]
    ) -> Node | Recursion:
        """Return kp e + kd ė + g."""
        return feedback(signal, row, to)


class PIDControl(JointController):
    """PID control of each joint. Its integral is a force, I' = ki e + (τ − command)/T, so that it follows a limited
    force with the time constant T (back-calculation; Åström and Hägglund, PID Controllers, section 3.5)."""

    name, title, short_title = "pid", "PID controller", "PID"
    help = (
        "Acts in each joint with kp · error + kd · rate of the error + the integral of ki · error. Where the force is "
        "limited, the integral follows it within the anti-windup time; without one, within kp/ki."
    )
    uses = ("motion", "joints", "kp", "ki", "kd", "gravity", "anti_windup", *ACTING[1:])
    needs = ("joints",)
    rank = 2

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the integral of each joint."""
        return tuple(f"{row.component}.integral" for row in signal.joints)

    @classmethod
    def command(
        cls, signal: Signal, row: ControlledJoint, to: Reference, values: dict[str, Node | Recursion]
    ) -> Node | Recursion:
        """Return kp e + kd ė + g + I."""
        return combine("p + I", p=feedback(signal, row, to), I=own_state(signal, f"{row.component}.integral"))

    @classmethod
    def joint_states(cls, signal: Signal, row: ControlledJoint, to: Reference) -> dict[str, StateLaw]:
        """Return the integral."""
        c, ki = row.component, gain(signal, row, "ki")
        rate = combine("ki*e", ki=ki, e=own_state(signal, f"{c}.error"))
        follow = gain(signal, row, "kp") if signal.anti_windup is None else value_node(signal.anti_windup)
        template = "rate + (tau - u)*ki/T" if signal.anti_windup is None else "rate + (tau - u)/T"
        if follow != ZERO:
            own = {"tau": own_state(signal, f"{c}.tau"), "u": own_state(signal, f"{c}.command")}
            rate = combine(template, rate=rate, ki=ki, T=follow, **own)
        if signal.initial != "steady":
            return {f"{c}.integral": StateLaw(rate)}
        start = combine("g - p", g=Name(f"gravity.{c}"), p=feedback(signal, row, to))
        return {f"{c}.integral": StateLaw(rate, start)}


def feedback(signal: Signal, row: ControlledJoint, to: Reference) -> Node:
    """Return kp e + kd ė, with the force of gravity if the controller compensates it."""
    c = row.component
    force = combine(
        "kp*e + kd*(v - w)",
        kp=gain(signal, row, "kp"),
        kd=gain(signal, row, "kd"),
        e=own_state(signal, f"{c}.error"),
        v=to.v,
        w=Name(f"{c}.v"),
    )
    return combine("u + g", u=force, g=Name(f"gravity.{c}")) if signal.gravity else force
