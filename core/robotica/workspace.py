"""State of a Robotica session: the open machine, and everything remembered between calls.

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
from core.files.mathematica.meaning import CONSTANTS, evaluate_number
from core.files.mathematica.syntax import FUNCTION_NAMES, Tree, error_at
from core.functions.context import Cancelled, Context
from core.later import dataclass
from core.robotica.command import Command

if TYPE_CHECKING:
    from core.functions.subjects.torque_file import Torques
    from core.model import Model
    from core.symbolic.robot import Robot


class SessionHost(Protocol):
    """Environment in which a session runs: the window, the command line or a script."""

    def context(self) -> Context:
        """Return the open machine in its present state."""
        ...

    def open(self, path: str) -> None:
        """Open the machine in a file."""
        ...

    def edit_machine(self, label: str, change: Callable[[Model], Model]) -> None:
        """Change the open machine."""
        ...


@dataclass
class SessionState:
    """Values remembered between calls."""

    given: dict[str, float] = field(default_factory=dict)
    cleared: list[str] = field(default_factory=list)
    """Names whose values were removed by `Clear`, for a host that stored them in its document."""
    valued: dict[str, float] = field(default_factory=dict)
    """Names with a value assigned here, which equations show as numbers while the machine still has that value."""
    lists: dict[str, Tree] = field(default_factory=dict)
    """Named lists: simlist = {q1, q2}."""
    default_file: str = ""
    torques: Torques | None = None
    run: Any = None
    """Last response, or last trace read."""
    folder: str = ""
    """Folder from which files are read; "" for the working folder of the process."""
    place: str = ""
    """Folder to which files are written; "" for `folder`."""
    animation: Any = None
    """Animation for ShowAnim and SaveAnim: poses, ellipsoids or a motion."""
    ranges: tuple[tuple[float, float], ...] = ()
    """Ranges (low, high) along x, y, z that views show, m; () for everything."""


class ScriptHost:
    """Host of a session in a script or on the command line."""

    def __init__(self, path: str = "") -> None:
        self._context: Context | None = None
        if path:
            self.open(path)

    def context(self) -> Context:
        """Return the machine in its home configuration."""
        if self._context is None:
            raise ModelError("No robot is loaded.", remedy='Read one with DataFile["name"].')
        return self._context

    def open(self, path: str) -> None:
        """Open the machine in a file of any supported format."""
        from core.files import load

        self._context = Context.of(load(path))

    def edit_machine(self, label: str, change: Callable[[Model], Model]) -> None:
        """Change the machine; its pose is kept."""
        context = self.context()
        model = change(context.model)
        self._context = dataclasses.replace(context, model=model, mech=context.mech.updated(model))


class Workspace:
    """Open machine and state of the session, on which the functions of the language (`commands` by name) operate."""

    def __init__(self, host: SessionHost, commands: Mapping[str, Command]) -> None:
        self.host, self.commands = host, commands
        self.state = SessionState()
        self._robot: tuple[Any, Robot] | None = None
        self._equations: tuple[Any, dict[str, float], Robot] | None = None

    def context(self) -> Context:
        """Return the machine with the values assigned in this session."""
        context = self.host.context()
        own = set(context.mech.p_names)
        p = {**context.p, **{name: x for name, x in self.state.given.items() if name in own}}
        coordinates = self.coordinates(context)
        values = {coordinates[name]: x for name, x in self.state.given.items() if name in coordinates}
        q = context.mech.move(context.q, values, p) if values else context.q
        return dataclasses.replace(context, p=p, q=q)

    def coordinates(self, context: Context) -> dict[str, str]:
        """Return the symbols of joint coordinates in the robot's equations → names in `q_names`."""
        from core.analysis.sweep import coordinate_aliases

        return {**{name: name for name in context.mech.q_names}, **coordinate_aliases(context.model)}

    @property
    def robot(self) -> Robot:
        """Symbolic robot, derived on first use and again after another machine is opened."""
        from core.symbolic import robot

        model = self.host.context().model
        if self._robot is None or self._robot[0] is not model:
            made = robot(model)
            made.chain.watch = self.check_cancelled
            self._robot = (model, made)
        return self._robot[1]

    @property
    def fixed(self) -> dict[str, float]:
        """Values assigned in this session that are still valid; equations show these symbols as numbers. Coordinates
        remain symbols."""
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
        """Symbolic robot with numbers for the parameters whose values were assigned in this session."""
        from core.symbolic import robot

        context = self.host.context()
        values = {name: x for name, x in self.fixed.items() if name in context.mech.p_names}
        if not values:
            return self.robot
        if self._equations is None or self._equations[0] is not context.model or self._equations[1] != values:
            made = robot(context.model, values=values)
            made.chain.watch = self.check_cancelled
            self._equations = (context.model, values, made)
        return self._equations[2]

    @property
    def machine_symbols(self) -> frozenset[str]:
        """Names of the machine's parameters and coordinates; empty if no machine is open."""
        try:
            context = self.host.context()
        except ModelError:
            return frozenset()
        return frozenset({*context.mech.p_names, *self.coordinates(context)})

    def check_cancelled(self) -> None:
        """Raise Cancelled if the user has cancelled the statement."""
        if self.host.context().cancelled():
            raise Cancelled

    def reset(self) -> None:
        """Discard everything remembered, because another robot was read."""
        self.state = SessionState(folder=self.state.folder, place=self.state.place)
        self._robot = self._equations = None

    def symbol_value(self, name: str) -> float:
        """Return the value of a symbol, assigned in this session or in the model. Raises ExpressionError."""
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
                f"'{name}' is a function; its argument goes in square brackets.",
                remedy=f"Write {FUNCTION_NAMES[name]}[q1].",
            )
        meant = next((constant for constant in CONSTANTS if constant.lower() == name.lower()), "")
        raise ExpressionError(
            f"'{name}' has no value.", remedy=f"Did you mean {meant}?" if meant else f"Assign one: {name} = 1."
        )

    def path(self, name: str) -> str:
        """Return the path of a file to read; relative names are searched in the session's folder, its output folder,
        and the robot's folder."""
        places = [os.path.join(self.state.folder, name), self.target(name), *self._paths_in_robot_folder(name)]
        return name if os.path.isabs(name) else next(filter(os.path.exists, places), places[0])

    def _paths_in_robot_folder(self, name: str) -> list[str]:
        try:
            origin = self.host.context().model.origin
        except ModelError:  # there is no robot yet
            return []
        return [os.path.join(os.path.dirname(origin), name)] if origin else []

    def target(self, name: str) -> str:
        """Return the path of a file to write."""
        return name if os.path.isabs(name) else os.path.join(self.state.place or self.state.folder, name)

    def evaluate_number(self, tree: Tree) -> float:
        """Evaluate a number with the values assigned in this session."""
        return evaluate_number(tree, self.symbol_value)

    def evaluate_integer(self, tree: Tree) -> int:
        """Evaluate an integer. Raises ExpressionError."""
        x = self.evaluate_number(tree)
        if x != int(x):
            raise error_at(tree, f"The index {x:g} is not an integer.", "Write an integer.")
        return int(x)
