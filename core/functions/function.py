"""Declaration of a user-facing function, and the checks that determine whether it is available for a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from core.functions.context import Context
from core.functions.options import Option
from core.later import dataclass
from core.model.model import unknown_kind_error

if TYPE_CHECKING:
    from core.functions.results import Result

Need = Callable[[Context], str]
"""Check of a machine: returns the reason why a function is not available for it; '' if it is available."""


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
    """True if the computation would block all other threads for long, so that the window runs it in a worker process.
    """

    reads: Literal["pose", "machine", "nothing"] = "pose"
    robotica: str = ""
    """Name of the equivalent Robotica function, for users who search by it."""
    also: tuple[str, ...] = ()
    """Synonyms by which the command palette and the help find the function."""

    argument: str = ""
    """Id of the option that may follow the model file on the command line without its name; "" for none."""

    @property
    def command(self) -> str:
        """Name on the command line."""
        return self.id.replace("_", "-")

    @property
    def summary(self) -> str:
        """First sentence of the help."""
        return self.help.split("\n\n")[0].replace("\n", " ")

    def unavailability_reason(self, context: Context) -> str:
        """Return the reason why the function is not available now; '' if it is."""
        if (error := unknown_kind_error(context.model.expanded)) is not None:
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
    """Check that the machine has a movable joint; return the reason if it has none, else ''."""
    return "" if context.mech.nv else "The model has no movable joint; add a joint."


def needs_bodies(context: Context) -> str:
    """Check that the machine has a body; return the reason if it has none, else ''."""
    return "" if context.mech.frame_names else "The model has no body; add one."


def needs_mass(context: Context) -> str:
    """Check that something has mass or inertia, which accelerations require; return the reason if nothing has, else
    ''."""
    from core.model import Inertia

    model = context.model.expanded
    bodies = any(body.density is not None or body.mass != 0.0 or body.inertia != Inertia() for body in model.bodies)
    lines = any(mass.mass != 0.0 for force in model.forces for mass in force.masses)
    lines = lines or any(force.inertia != 0.0 for force in model.forces)
    moved = bodies or lines or any(joint.armature != 0.0 for joint in model.joints)
    return "" if moved else "The model has no mass; assign masses to its bodies."


def needs_continuous_signals(context: Context) -> str:
    """Check that no signal is sampled, because derivatives and generated code need continuous laws; return the reason
    if one is, else ''."""
    sampled = [signal.name for signal in context.model.expanded.signals if signal.period is not None]
    if not sampled:
        return ""
    return f"The model has sampled signals ({', '.join(sampled)}); leave their period empty for this function."


def needs_chain(context: Context) -> str:
    """Check that the machine has a Denavit–Hartenberg chain; return the reason if it has none, else ''."""
    return (
        ""
        if context.model.chains
        else "The model has no Denavit–Hartenberg chain; the function Find DH table creates one."
    )
