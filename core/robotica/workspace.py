"""What Robotica's functions work on: the machine that is open, and what is remembered between calls.

That is what Robotica remembers: values of symbols, the default file, torques, the last response, a trace that was read,
stored animations. Reading another robot resets it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from core.errors import ExpressionError, KinetostatError, ModelError
from core.functions.context import Cancelled, Context
from core.later import dataclass
from core.mathematica.meaning import CONSTANTS, number
from core.mathematica.syntax import FUNCTION_NAMES, Tree, refused
from core.robotica.command import Command

if TYPE_CHECKING:
    from core.functions.subjects.torque_file import Torques
    from core.model import Model
    from core.symbolic.robot import Robot


class Host(Protocol):
    """Where a session lives: the window, the command line, a script."""

    def context(self) -> Context:
        """The machine as it stands."""
        ...

    def open(self, path: str) -> None:
        """Make the machine of a file the open one."""
        ...

    def edit(self, label: str, edit: Callable[[Model], Model]) -> None:
        """Change the open machine."""
        ...


@dataclass
class State:
    """What is remembered between calls."""

    given: dict[str, float] = field(default_factory=dict)
    cleared: list[str] = field(default_factory=list)
    """Names whose values `Clear` took away, for a host that gave them to its document."""
    valued: dict[str, float] = field(default_factory=dict)
    """Names that were given a value here; equations show it as long as the machine has it."""
    lists: dict[str, Tree] = field(default_factory=dict)
    """Lists that were given a name: simlist = {q1, q2}."""
    default_file: str = ""
    torques: Torques | None = None
    run: Any = None
    """The last response, or the trace that was read."""
    folder: str = ""
    """Where files are read; "" for the folder of the process."""
    place: str = ""
    """Where files are written; "" for `folder`."""
    animation: Any = None
    """What ShowAnim shows and SaveAnim keeps: poses, ellipsoids or a motion."""
    ranges: tuple[tuple[float, float], ...] = ()
    """(low, high) along x, y, z that views show, m; () for everything."""


class ScriptHost:
    """A host for scripts and the command line."""

    def __init__(self, path: str = "") -> None:
        self._context: Context | None = None
        if path:
            self.open(path)

    def context(self) -> Context:
        """The machine at rest."""
        if self._context is None:
            raise ModelError("No robot is loaded.", remedy='Read one with DataFile["name"].')
        return self._context

    def open(self, path: str) -> None:
        """Read a file of any supported format."""
        from core.files import load

        self._context = Context.of(load(path))

    def edit(self, label: str, edit: Callable[[Model], Model]) -> None:
        """Change the machine; its pose stays."""
        context = self.context()
        model = edit(context.model)
        self._context = dataclasses.replace(context, model=model, mech=context.mech.updated(model))


class Workspace:
    """The open machine with what is remembered: what the functions of the language, `commands` by name, work on."""

    def __init__(self, host: Host, commands: Mapping[str, Command]) -> None:
        self.host, self.commands = host, commands
        self.state = State()
        self._robot: tuple[Any, Robot] | None = None
        self._equations: tuple[Any, dict[str, float], Robot] | None = None

    def context(self) -> Context:
        """The machine with the values given here."""
        context = self.host.context()
        own = set(context.mech.p_names)
        p = {**context.p, **{name: x for name, x in self.state.given.items() if name in own}}
        coordinates = self.coordinates(context)
        values = {coordinates[name]: x for name, x in self.state.given.items() if name in coordinates}
        q = context.mech.move(context.q, values, p) if values else context.q
        return dataclasses.replace(context, p=p, q=q)

    def coordinates(self, context: Context) -> dict[str, str]:
        """Symbols of joint coordinates, as the robot's equations call them → names in `q_names`."""
        from core.analysis.sweep import coordinate_aliases

        return {**{name: name for name in context.mech.q_names}, **coordinate_aliases(context.model)}

    @property
    def robot(self) -> Robot:
        """The robot in symbols; made when first needed, again when another machine is open."""
        from core.symbolic import robot

        model = self.host.context().model
        if self._robot is None or self._robot[0] is not model:
            made = robot(model)
            made.chain.watch = self.stop_if_wanted
            self._robot = (model, made)
        return self._robot[1]

    @property
    def fixed(self) -> dict[str, float]:
        """Symbols that equations show as numbers: given a value here that still holds; coordinates stay symbols."""
        state = self.state
        try:
            context = self.context()
        except ModelError:  # there is no robot yet
            return dict(state.given)
        coordinates, values = self.coordinates(context), context.values
        return {
            name: x
            for name, x in state.valued.items()
            if name not in coordinates and (values[name] if name in values else state.given.get(name)) == x
        }

    @property
    def equations(self) -> Robot:
        """The robot in symbols, with numbers for the parameters that have been given a value here."""
        from core.symbolic import robot

        context = self.host.context()
        values = {name: x for name, x in self.fixed.items() if name in context.mech.p_names}
        if not values:
            return self.robot
        if self._equations is None or self._equations[0] is not context.model or self._equations[1] != values:
            made = robot(context.model, values=values)
            made.chain.watch = self.stop_if_wanted
            self._equations = (context.model, values, made)
        return self._equations[2]

    @property
    def own_symbols(self) -> frozenset[str]:
        """Parameters and coordinates of the machine; none without one."""
        try:
            context = self.host.context()
        except ModelError:
            return frozenset()
        return frozenset({*context.mech.p_names, *self.coordinates(context)})

    def stop_if_wanted(self) -> None:
        """Raises Cancelled if the person stopped the line."""
        if self.host.context().cancelled():
            raise Cancelled

    def reset(self) -> None:
        """Forget everything (another robot was read)."""
        self.state = State(folder=self.state.folder, place=self.state.place)
        self._robot = self._equations = None

    def value_of(self, name: str) -> float:
        """A number given here, or of the model. Raises ExpressionError."""
        if name in self.state.given:
            return self.state.given[name]
        try:
            values = self.host.context().values
        except KinetostatError:
            values = {}
        if name in values:
            return float(values[name])
        if values and name in (coordinates := self.coordinates(self.host.context())):
            context = self.context()
            return float(context.q[context.mech.q_names.index(coordinates[name])])
        if name in FUNCTION_NAMES:
            raise ExpressionError(
                f"'{name}' is a function; its argument is in brackets.", remedy=f"Write {FUNCTION_NAMES[name]}[q1]."
            )
        meant = next((constant for constant in CONSTANTS if constant.lower() == name.lower()), "")
        raise ExpressionError(
            f"'{name}' has no value.", remedy=f"Did you mean {meant}?" if meant else f"Give it one: {name} = 1."
        )

    def path(self, name: str) -> str:
        """A file to read as a path; relative ones lie in the session's folder, where it writes, or beside the robot."""
        places = [os.path.join(self.state.folder, name), self.target(name), *self._beside(name)]
        return name if os.path.isabs(name) else next(filter(os.path.exists, places), places[0])

    def _beside(self, name: str) -> list[str]:
        try:
            origin = self.host.context().model.origin
        except ModelError:  # there is no robot yet
            return []
        return [os.path.join(os.path.dirname(origin), name)] if origin else []

    def target(self, name: str) -> str:
        """A file to write as a path."""
        return name if os.path.isabs(name) else os.path.join(self.state.place or self.state.folder, name)

    def number(self, tree: Tree) -> float:
        """A number with the values given here."""
        return number(tree, self.value_of)

    def index(self, tree: Tree) -> int:
        """A whole number. Raises ExpressionError."""
        x = self.number(tree)
        if x != int(x):
            raise refused(tree, f"{x:g} is no index.", "Write whole numbers.")
        return int(x)
