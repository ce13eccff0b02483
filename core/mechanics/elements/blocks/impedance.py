"""Impedance control: the tool as if held by a spring and damper."""

from __future__ import annotations

from core.mechanics.elements.blocks.joint_controller import ACTING, JointController, Reference
from core.model.formula.differentiation import combine
from core.model.formula.nodes import Name, Node
from core.model.signal_elements import ControlledJoint, Signal
from core.model.signal_laws import ImpedanceForce, Recursion


class ImpedanceControl(JointController):
    """Impedance control: τ = Jᵀ F with the force F of a spring and damper between the frame and its target."""

    name, title, short_title = "impedance", "Impedance controller", "impedance"
    help = (
        "Acts in the joints as if a spring and a damper drew the frame to its target, with stiffness and damping along "
        "and about the axes of the target; gravity compensation adds the holding forces."
    )
    uses = (
        *("frame", "target", "stiffness", "damping", "rotational_stiffness", "rotational_damping"),
        *("joints", "gravity", *ACTING[1:]),
    )
    needs = ("frame", "joints")
    rank = 4

    @classmethod
    def value_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the values of every controller, and the force of spring and damper alone."""
        return (*super().value_names(signal), *(f"{row.component}.spring" for row in signal.joints))

    @classmethod
    def command(
        cls, signal: Signal, row: ControlledJoint, to: Reference, values: dict[str, Node | Recursion]
    ) -> Node | Recursion:
        """Return the joint's part of Jᵀ F, with the force of gravity if the controller compensates it."""
        c = row.component
        values[f"{c}.spring"] = ImpedanceForce(c, signal)
        spring = Name(f"{signal.name}.{c}.spring")
        return combine("f + g", f=spring, g=Name(f"gravity.{c}")) if signal.gravity else spring
