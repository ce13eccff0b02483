"""A controller whose forces a function of a script gives at samples."""

from __future__ import annotations

from core.mechanics.elements.blocks.joint_controller import ACTING, JointController, Reference
from core.mechanics.elements.blocks.signal_block import own_state
from core.model.formula.differentiation import ZERO
from core.model.formula.nodes import Node
from core.model.signal_elements import ControlledJoint, Signal
from core.model.signal_laws import Recursion, StateLaw


class ScriptControl(JointController):
    """Controller in Python. The document says where and when it acts; a script gives the function to each run, and no
    file does."""

    name, title, short_title = "script", "Controller in Python", "Python"
    help = (
        "Acts with the forces that a Python function returns at every sample. A script gives the function to a run: "
        "simulate(model, controllers={name: function}); without one the forces are zero."
    )
    uses = ("motion", "joints", *ACTING[1:])
    needs = ("joints", "period")
    rank = 6

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the forces as the function gave them."""
        return tuple(f"{row.component}.given" for row in signal.joints)

    @classmethod
    def command(
        cls, signal: Signal, row: ControlledJoint, to: Reference, values: dict[str, Node | Recursion]
    ) -> Node | Recursion:
        """Return the force as given."""
        return own_state(signal, f"{row.component}.given")

    @classmethod
    def joint_states(cls, signal: Signal, row: ControlledJoint, to: Reference) -> dict[str, StateLaw]:
        """Return the force as given, which changes at samples only."""
        return {f"{row.component}.given": StateLaw(ZERO)}
