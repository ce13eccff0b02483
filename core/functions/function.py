"""Declaration of a user-facing function, and checks of whether it is available for a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from core.functions.context import Context
from core.functions.options import Option
from core.later import dataclass
from core.model.model import refusal

if TYPE_CHECKING:
    from core.functions.results import Result

Need = Callable[[Context], str]
"""Check that returns the reason why a function is not available for a machine; '' if it is."""


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
    """True if the computation blocks all other threads for long, so that the window runs it in a worker process."""

    reads: Literal["pose", "machine", "nothing"] = "pose"
    robotica: str = ""
    """Name of the equivalent Robotica function, for users who search by it."""
    also: tuple[str, ...] = ()
    """Synonyms by which the palette and the help also find the function."""

    argument: str = ""
    """Id of the option that may follow the machine's file on the command line without its name; "" for none."""

    @property
    def command(self) -> str:
        """Name on the command line."""
        return self.id.replace("_", "-")

    @property
    def summary(self) -> str:
        """First sentence of the help."""
        return self.help.split("\n\n")[0].replace("\n", " ")

    def unavailable(self, context: Context) -> str:
        """Return the reason why the function is not available now; '' if it is."""
        if (error := refusal(context.model.expanded)) is not None:
            return str(error)
        for need in self.needs:
            reason = need(context)
            if reason:
                return reason
        return ""

    def option(self, id: str) -> Option:
        """Return the option with this id."""
        return next(option for option in self.options if option.id == id)


def needs_motion(context: Context) -> str:
    """Require a joint that moves; returns the reason if there is none, else ''."""
    return "" if context.mech.nv else "The model has no movable joint; add a joint."


def needs_bodies(context: Context) -> str:
    """Require a body; returns the reason if there is none, else ''."""
    return "" if context.mech.frame_names else "The model has no body; add one."


def needs_mass(context: Context) -> str:
    """Require some mass or inertia, without which there are no accelerations; returns the reason if there is none, else
    ''."""
    from core.model import Inertia

    model = context.model.expanded
    bodies = any(body.density is not None or body.mass != 0.0 or body.inertia != Inertia() for body in model.bodies)
    lines = any(mass.mass != 0.0 for force in model.forces for mass in force.masses)
    lines = lines or any(force.inertia != 0.0 for force in model.forces)
    moved = bodies or lines or any(joint.armature != 0.0 for joint in model.joints)
    return "" if moved else "The model has no mass; assign masses to its bodies."


def needs_chain(context: Context) -> str:
    """Require a Denavit–Hartenberg chain; returns the reason if there is none, else ''."""
    return "" if context.model.chains else "The model has no Denavit–Hartenberg chain; Find DH table creates one."
