"""What a user-facing function is, and what it is called with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from core.errors import KinetostatError
from core.functions.options import Option

if TYPE_CHECKING:
    from core.functions.results import Result
    from core.mechanism import Mechanism
    from core.model import Model


class Cancelled(KinetostatError):
    """The person stopped the function."""

    def __init__(self) -> None:
        super().__init__("Stopped.")


def _no_progress(fraction: float, text: str = "") -> None:
    """Progress nobody watches."""


def _never() -> bool:
    return False


def _unseen(result: Result) -> None:
    """A result that is not finished, which nobody looks at."""


@dataclass(frozen=True)
class Context:
    """The machine as it stands when a function is called.

    q : (nq,) coordinates (rad, m); p : values of independent parameters (SI). ranges : the part of space that pictures
    show, as in `ViewRanges`; millimetres : the unit of lengths in pictures (else metres).
    `progress(fraction, text)` reports, `cancelled()` tells whether to stop, `show(result)` shows what is there already.
    """

    model: Model
    mech: Mechanism
    q: Any
    p: Mapping[str, float] = field(default_factory=dict)
    progress: Callable[..., None] = _no_progress
    cancelled: Callable[[], bool] = _never
    show: Callable[[Result], None] = _unseen
    ranges: tuple[tuple[float, float], ...] = ()
    millimetres: bool = False

    @staticmethod
    def of(model: Model, *, parameters: Mapping[str, float] | None = None) -> Context:
        """A context at the rest pose of a model."""
        from core.mechanism import Mechanism

        mech = Mechanism(model)
        values = model.values(parameters)
        p = {name: values[name] for name in mech.p_names}
        return Context(model, mech, mech.rest(p) if parameters else mech.rest(), p)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """The value of every parameter."""
        return self.model.values(self.p)

    @cached_property
    def assumed(self) -> tuple[str, ...]:
        """Parameters to which neither the file nor anybody gave a value: they stand at what was assumed."""
        from core.files.dh.rows import assumed_parameters

        likely = [p for p in self.model.parameters if p.assumed]
        first = {p.name: p.value for p in assumed_parameters([p.name for p in likely])}
        return tuple(p.name for p in likely if self.values[p.name] == first.get(p.name))

    def assumed_words(self, given: Iterable[str] = (), among: Iterable[str] | None = None) -> str:
        """Which values are only assumed, in a sentence; '' if none is.

        given : names that have got one; among : names that matter, default: all.
        """
        wanted = set(self.assumed if among is None else among) - set(given)
        taken = [f"{name} = {self.values[name]:g}" for name in self.assumed if name in wanted]
        return f"The file gives these no value; assumed: {', '.join(taken)}." if taken else ""

    @cached_property
    def tool(self) -> str:
        """The frame meant when none is named."""
        from core.analysis.tool_frame import tool_frame

        return tool_frame(self.model)

    def step(self, done: int, total: int, text: str = "") -> None:
        """Report progress; raises `Cancelled` when the person stopped the function."""
        if self.cancelled():
            raise Cancelled
        self.progress(done / max(total, 1), text)


Need = Callable[["Context"], str]
"""Why a function is not available for a model: '' if it is."""


@dataclass(frozen=True)
class Function:
    """A user-facing function, declared once.

    `run(context, **options)` gets validated options and returns a result value. `needs` are tests that tell why the
    function is not available. `live` functions are fast enough to follow a drag.
    """

    id: str
    title: str
    group: str
    help: str
    run: Callable[..., Result]
    options: tuple[Option, ...] = ()
    needs: tuple[Need, ...] = ()
    live: bool = False
    robotica: str = ""
    """The Robotica function that does the same, for people who look for it."""

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
    moved = bodies or lines or any(joint.armature != 0.0 for joint in model.joints)
    return "" if moved else "The model has no mass; give its bodies masses."


def needs_chain(context: Context) -> str:
    """The model must hold a Denavit–Hartenberg chain."""
    return "" if context.model.chains else "The model holds no Denavit–Hartenberg chain."
