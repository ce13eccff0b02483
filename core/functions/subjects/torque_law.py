"""Torque files as joint forces of a simulation, and the simulated response of a robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.errors import ExpressionError, SimulationError
from core.functions.subjects.torque_file import Torques

if TYPE_CHECKING:
    from core.functions.context import Context
    from core.simulation import Run
    from core.symbolic.robot import Robot

SAMPLES = 1000
"""Number of equally spaced samples of a response."""
RTOL, ATOL = 1e-9, 1e-10
"""Tolerances per step, relative and absolute (SI)."""


class TorqueLaw:
    """Torques of a torque file over scalars of a simulation (a `Law` of `core.simulation.equations.joint_forces`)."""

    def __init__(self, torques: Torques, robot: Robot, given: Mapping[str, float]) -> None:
        self.torques, self.robot, self.given = torques, robot, dict(given)

    def forces(self, mech: Any, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return a mapping speed → force."""
        chain = self.robot.chain
        scalars: dict[str, Any] = {**self.given, **{n: known[n] for n in chain.parameters if n in known}}
        scalars["t"] = known["t"]
        for variable, rate in zip(chain.variables, chain.rates, strict=True):
            scalars[variable.symbol] = known[f"{variable.coordinate}.q"]
            scalars[rate] = known[f"{mech.v_names[variable.v]}.v"]
        forces = self.torques.forces(self.robot, scalars)
        return {mech.v_names[v.v]: force for v, force in zip(chain.variables, forces, strict=True)}

    def plain(self) -> dict[str, str]:
        """Formulas of tau by joint, as text."""
        lines = self.torques.display(self.robot.n)
        return {v.joint: line.split(" = ", 1)[1] for v, line in zip(self.robot.chain.variables, lines, strict=True)}


def known_values(context: Context, robot: Robot, given: Mapping[str, float]) -> dict[str, float]:
    """Return the value of every symbol that has one, from the robot's equations, the model or the given values."""
    return {**robot.chain.values, **context.values, **given}


def missing(torques: Torques, context: Context, robot: Robot, given: Mapping[str, float]) -> list[str]:
    """Return the symbols of the torques that have no value. Raises FileError for unknown names."""
    return torques.unknown(robot, set(known_values(context, robot, given)))


def respond(
    context: Context,
    robot: Robot,
    torques: Torques | None,
    given: Mapping[str, float],
    q0: Any,
    v0: Any,
    times: tuple[float, float],
    steps: int,
    more_steps: str,
) -> tuple[Run, str]:
    """Simulate from q0, v0 over times (start, end); return the run and the reason why it ended early ('' if it did
    not).

    more_steps : what allows ten times as many steps, in the words of who asked
    given : values of symbols, of the torques' and of the model. Raises ExpressionError naming symbols without a value.
    """
    from core.simulation import simulate

    law: Any = None
    if torques is not None:
        lacking = missing(torques, context, robot, given)
        if lacking:
            raise ExpressionError(
                f"Symbols without a value: {', '.join(lacking)}.",
                remedy=f"Give each one a value, as in {lacking[0]} = 1.",
            )
        law = TorqueLaw(torques, robot, known_values(context, robot, given))
    begin, end = times
    p = {name: given.get(name, context.p[name]) for name in context.mech.p_names}
    try:
        run = simulate(
            context.mech,
            end - begin,
            start=begin,
            rtol=RTOL,
            atol=ATOL,
            q0=q0,
            v0=v0,
            parameters=p,
            torque=law,
            output=(end - begin) / SAMPLES,
            max_steps=steps,
            cancelled=context.cancelled,
            progress=context.progress,
        )
    except SimulationError as error:
        if error.run is not None and error.run.statistics.steps >= steps:
            error.remedy = more_steps
        if error.run is None or len(error.run) < 2:
            raise
        return error.run, str(error)
    return run, run.statistics.ended
