"""What a user-facing function is: its declaration, and the tests that tell whether a machine has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from core.functions.context import Context
from core.functions.options import Option
from core.later import dataclass
from core.model.unknown_kinds import refusal

if TYPE_CHECKING:
    from core.functions.results import Result

Need = Callable[[Context], str]
"""Why a function is not available for a model: '' if it is."""


@dataclass(frozen=True)
class Function:
    """A user-facing function, declared once.

    `run(context, **options)` gets validated options and returns a result value. `needs` are tests that tell why the
    function is not available. `live` functions are fast enough to follow a drag. `reads` says of what its answer is:
    the machine at its pose, the machine at any pose, or nothing of it.
    """

    id: str
    title: str
    group: str
    help: str
    run: Callable[..., Result]
    options: tuple[Option, ...] = ()
    needs: tuple[Need, ...] = ()
    live: bool = False
    apart: bool = False
    """Its work lets no other thread run for long: a window has it done in a process."""

    reads: Literal["pose", "machine", "nothing"] = "pose"
    robotica: str = ""
    """The Robotica function that does the same, for people who look for it."""
    also: tuple[str, ...] = ()
    """What others call it: the palette and the help find it by these, too."""

    argument: str = ""
    """The option that may stand behind the file of the machine on the command line; "": none."""

    @property
    def command(self) -> str:
        """The name on the command line."""
        return self.id.replace("_", "-")

    @property
    def summary(self) -> str:
        """The first sentence of the help."""
        return self.help.split("\n\n")[0].replace("\n", " ")

    def unavailable(self, context: Context) -> str:
        """Why the function cannot be called now; '' if it can."""
        if (error := refusal(context.model.expanded)) is not None:
            return str(error)
        for need in self.needs:
            reason = need(context)
            if reason:
                return reason
        return ""

    def option(self, id: str) -> Option:
        """The option of this id."""
        return next(option for option in self.options if option.id == id)


def needs_motion(context: Context) -> str:
    """The machine must have a joint that moves."""
    return "" if context.mech.nv else "The model has no joint that moves; add a joint."


def needs_bodies(context: Context) -> str:
    """The machine must have a body."""
    return "" if context.mech.frame_names else "The model has no body; add one."


def needs_mass(context: Context) -> str:
    """Something must have mass or inertia: without any there are no accelerations."""
    from core.model import Inertia

    model = context.model.expanded
    bodies = any(body.density is not None or body.mass != 0.0 or body.inertia != Inertia() for body in model.bodies)
    lines = any(mass.mass != 0.0 for force in model.forces for mass in force.masses)
    lines = lines or any(force.inertia != 0.0 for force in model.forces)
    moved = bodies or lines or any(joint.armature != 0.0 for joint in model.joints)
    return "" if moved else "The model has no mass; give its bodies masses."


def needs_chain(context: Context) -> str:
    """The model must hold a Denavit–Hartenberg chain."""
    return "" if context.model.chains else "The model holds no Denavit–Hartenberg chain."
