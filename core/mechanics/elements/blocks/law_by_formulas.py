"""A controller whose forces are formulas."""

from __future__ import annotations

from core.mechanics.elements.blocks.joint_controller import ACTING, JointController, Reference, own_references
from core.model.formula.nodes import Node
from core.model.signal_elements import ControlledJoint, Signal
from core.model.signal_laws import Recursion, StateLaw, value_node, with_full_names


class FormulaControl(JointController):
    """Controller by formulas of coordinates, references, gravity forces, masses and states of its own."""

    name, title, short_title = "formulas", "Controller by formulas", "formulas"
    help = (
        "Acts in each joint with the force that a formula gives. Formulas may use references (ref.elbow.q, .v, .a), "
        "gravity.elbow, entries M[1,2] of the mass matrix, and states of the law, given by their rates."
    )
    uses = ("motion", "joints", "states", *ACTING[1:])
    needs = ("joints",)
    rank = 5

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the states of the law."""
        return tuple(state.name for state in signal.states)

    @classmethod
    def command(
        cls, signal: Signal, row: ControlledJoint, to: Reference, values: dict[str, Node | Recursion]
    ) -> Node | Recursion:
        """Return the formula of the force."""
        return with_full_names(value_node(row.force or 0.0), signal, own_references(signal))

    @classmethod
    def further_states(cls, signal: Signal) -> dict[str, StateLaw]:
        """Return the states of the law."""
        references = own_references(signal)
        return {
            state.name: StateLaw(with_full_names(value_node(state.rate), signal, references), value_node(state.start))
            for state in signal.states
        }
