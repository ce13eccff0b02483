"""Computed-torque control (inverse dynamics control) of joints."""

from __future__ import annotations

from core.mechanics.elements.blocks.joint_controller import ACTING, JointController, Reference, gain
from core.mechanics.elements.blocks.signal_block import own_state
from core.model.formula.differentiation import combine
from core.model.formula.nodes import Name, Node
from core.model.signal_elements import ControlledJoint, Signal
from core.model.signal_laws import InverseDynamics, Recursion


class ComputedTorque(JointController):
    """Computed torque: τ = M(q) (q̈_ref + kd ė + kp e) + h(q, q̇), so that with the true masses ë + kd ė + kp e = 0
    (Lynch and Park, Modern Robotics, section 11.4)."""

    name, title, short_title = "computed_torque", "Computed-torque controller", "computed torque"
    help = (
        "Acts with the forces that inverse dynamics gives for the acceleration of the reference + kd · rate of the "
        "error + kp · error, so that errors decay with s² + kd s + kp. Nominal values make its model of the machine "
        "differ from the machine."
    )
    uses = ("motion", "joints", "kp", "kd", "nominal", *ACTING[1:])
    needs = ("joints",)
    rank = 3
    scaled_by_inertia = True

    @classmethod
    def value_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the values of every controller, and the accelerations."""
        return (*super().value_names(signal), *(f"{row.component}.acceleration" for row in signal.joints))

    @classmethod
    def value_dimension(cls, signal: Signal, model: object, suffix: str) -> str:
        """Return the dimension of a value."""
        if not suffix.endswith(".acceleration"):
            return super().value_dimension(signal, model, suffix)
        along = super().value_dimension(signal, model, f"{suffix.removesuffix('.acceleration')}.error")
        return {"angle": "angular_acceleration", "length": "acceleration"}.get(along, "none")

    @classmethod
    def command(
        cls, signal: Signal, row: ControlledJoint, to: Reference, values: dict[str, Node | Recursion]
    ) -> Node | Recursion:
        """Return the force of inverse dynamics for the wanted acceleration, which becomes a value of its own."""
        c = row.component
        values[f"{c}.acceleration"] = combine(
            "a + kd*(v - w) + kp*e",
            a=to.a,
            kd=gain(signal, row, "kd"),
            v=to.v,
            w=Name(f"{c}.v"),
            kp=gain(signal, row, "kp"),
            e=own_state(signal, f"{c}.error"),
        )
        wanted = tuple((each.component, f"{signal.name}.{each.component}.acceleration") for each in signal.joints)
        return InverseDynamics(c, wanted, signal.nominal)
