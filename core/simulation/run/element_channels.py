"""Channels of sensors, force elements, constraints, drivers and massless junctions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints import reactions
from core.constraints.cut_coordinates import unwrap_angles
from core.constraints.multipliers import solve_constrained_motion
from core.constraints.row_forces import RowForces
from core.mechanics.elements.forces import FORCES
from core.mechanism import Mechanism
from core.model import Constraint, Driver, Sensor
from core.model.dimensions import force_dimension, rate_dimension

Array = NDArray[np.float64]


class Channel(NamedTuple):
    """Function that computes a channel, with the dimensions of its columns and their suffixes; (): one column."""

    compute: Callable[[], Array]
    dimensions: tuple[str, ...]
    suffixes: tuple[str, ...] = ()


class ElementChannels:
    """Channels by name: sensor, sensor.rate, sensor.x, sensor.x.rate; force.force, .length, .rate, .power (for a force
    and torque element .force and .torque (n, 3) in world axes, .power); driver.force and constraint.force, positive
    along growth of the constrained quantity; junction.position and .velocity (n, 3)."""

    def __init__(
        self, mech: Mechanism, p: Any, samples: Any, row_forces: Callable[[], RowForces | None] = lambda: None
    ) -> None:
        """Set up the channels. of_modes: function that returns the forces of friction, stops and limits; its result is
        None if none were recorded."""
        self.mech, self.p, self.samples = mech, p, samples
        self.model = mech.model.expanded
        self._kept: dict[str, Any] = {}
        self._of_modes = row_forces
        self.table: dict[str, Channel] = dict(
            [
                *self._force_channels(),
                *self._signal_channels(),
                *self._constraint_channels(),
                *self._junction_channels(),
                *self._sensor_channels(),
            ]
        )

    def clear_cache(self) -> None:
        """Clear the cache."""
        self._kept.clear()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all channels of elements."""
        return tuple(self.table)

    @property
    def states(self) -> dict[str, Any]:
        """Return time and states of force elements as keyword arguments for functions of a mechanism."""
        x = self.samples.x
        return {"t": self.samples.time, "x": x if len(x) == len(self.samples.time) else None}

    def _cached(self, name: str, compute: Callable[[], Any]) -> Any:
        if name not in self._kept:
            self._kept[name] = compute()
        return self._kept[name]

    # ---------------------------------------------------------------------------------------------- sensors

    def _sensor_channels(self) -> Iterator[tuple[str, Channel]]:
        for sensor in self.model.sensors:
            suffixes = sensor.info.components if sensor.info.components != ("",) else ()
            quantities = ("", "rate") if sensor.info.is_function_of_state else ("",)
            for what in quantities:
                end = f".{what}" if what else ""
                values = tuple(sensor.along(self.model, k) for k in range(len(sensor.info.components)))
                measured = tuple(map(rate_dimension, values)) if what else values
                yield f"{sensor.name}{end}", Channel(self._sensor_column(sensor, what), measured, suffixes)
                for k, suffix in enumerate(suffixes):
                    component = self._component_channel(self._sensor_column(sensor, what), k)
                    yield f"{sensor.name}.{suffix}{end}", Channel(component, measured[k : k + 1])

    def _sensor_column(self, sensor: Sensor, quantity: str) -> Callable[[], Array]:
        s, rows = self.samples, sensor.info.wrench
        if rows is not None:
            return lambda: self._cut_sensor_values(sensor, rows)
        if sensor.info.power:
            return lambda: self._sensor_power(sensor)

        def compute_both() -> Any:
            return self.mech.sensor(s.q, s.v, sensor.name, a=s.a, p=self.p)

        def compute() -> Array:
            value, rate = self._cached(f"sensor {sensor.name}", compute_both)
            if quantity == "rate":
                return np.asarray(rate)
            return unwrap_angles(s.time, value, rate) if sensor.info.turns else np.asarray(value)

        return compute

    def _component_channel(self, compute_whole: Callable[[], Array], k: int) -> Callable[[], Array]:
        return lambda: compute_whole()[:, k]

    def _cut_sensor_values(self, sensor: Sensor, rows: tuple[int, ...]) -> Array:
        part = self.reactions()[sensor.joint][:, list(rows)]
        if not sensor.resolve or sensor.resolve == "world":
            return part
        R = self.mech.frame(self.samples.q, sensor.resolve, p=self.p)[:, :3, :3]
        return np.asarray((np.swapaxes(R, 1, 2) @ part[..., None])[..., 0])

    def _sensor_power(self, sensor: Sensor) -> Array:
        if sensor.force:
            return self.table[f"{sensor.force}.power"].compute()
        joint = self.mech.joint_v(sensor.joint)
        return np.asarray(np.sum(self.samples.tau[:, joint] * self.samples.v[:, joint], axis=1))

    def reactions(self) -> dict[str, Array]:
        """Return the reaction wrenches in all joints."""
        return self._cached("reactions", lambda: self._constraint_reactions(reactions.compute_reactions))

    def _constraint_reactions(self, forces: Callable[..., Any]) -> Any:
        """Compute reactions or constraint forces from the motion, which is computed once for both."""
        s, compiled = self.samples, self.mech.compiled
        rows = self._cached("rows", self._of_modes)
        smooth, closing = rows is not None, None if rows is None else rows.closing

        def motion() -> tuple[Array, Array]:
            tau = s.tau if rows is None else s.tau + rows.joint
            return solve_constrained_motion(compiled, s.q, s.v, tau, self.p, True, **self.states, smooth=smooth)

        motions = self._cached("motion", motion)
        return forces(compiled, s.q, s.v, *motions, self.p, True, **self.states, cut_forces=closing)

    # ----------------------------------------------------------------------------------------------- forces

    def _force_channels(self) -> Iterator[tuple[str, Channel]]:
        at = 0
        for number, force in enumerate(self.model.forces):
            for channel in FORCES[force.kind].channels(force.along(self.model, None)):
                count, single = len(channel.components), channel.components == ("",)
                compute = self._force_columns(at if single else slice(at, at + count))
                if channel.name == "length":
                    compute = self._length_column(number, at)
                if channel.of_runs:
                    suffixes = () if single else channel.components
                    yield f"{force.name}.{channel.name}", Channel(compute, (channel.dimension,) * count, suffixes)
                at += count

    def _length_column(self, force_index: int, column: int) -> Callable[[], Array]:
        """Return the length or angle that a force acts along; a measured angle continues over whole turns. Its rate is
        the next column."""

        def compute() -> Array:
            element = self.mech.compiled.elements.named_forces[force_index]
            value = self._force_columns(column)()
            return (
                unwrap_angles(self.samples.time, value, self._force_columns(column + 1)()) if element.turns else value
            )

        return compute

    def _force_columns(self, columns: int | slice) -> Callable[[], Array]:
        s = self.samples

        def compute_all() -> Any:
            return self.mech.compiled.call("forces", s.q, s.v, p=self.p, **self.states)

        return lambda: np.asarray(self._cached("forces", compute_all)[:, columns])

    # ----------------------------------------------------------------------------------------------- signals

    def _signal_channels(self) -> Iterator[tuple[str, Channel]]:
        """Yield the values and states of signals."""
        table = self.mech.compiled.elements.model.signal_table
        for column, name in enumerate(table.values):
            owner = table.owner[name]
            suffix = name[len(owner.name) + 1 :]
            dimension = owner.info.value_dimension(owner, self.model, suffix)
            yield name, Channel(self._signal_column(column), (dimension,))
        for name, state in self.mech.compiled.elements.signal_states.items():
            yield name, Channel(self._state_column(state), ("none",))

    def _signal_column(self, column: int) -> Callable[[], Array]:
        s = self.samples

        def compute_all() -> Any:
            return self.mech.compiled.call("signal_values", s.q, s.v, p=self.p, **self.states)

        return lambda: np.asarray(self._cached("signals", compute_all)[:, column])

    def _state_column(self, state: int) -> Callable[[], Array]:
        return lambda: np.array(self.samples.x[:, state])

    # ---------------------------------------------------------------------------------- constraints, drivers

    def _constraint_channels(self) -> Iterator[tuple[str, Channel]]:
        words: dict[str, list[str]] = {}
        for row in self.mech.compiled.rows:
            if row.collection != "joints":
                words.setdefault(row.element, []).append(row.component)
        constraining: tuple[Constraint | Driver, ...] = (*self.model.constraints, *self.model.drivers)
        elements = {each.name: each for each in constraining}
        for name, suffixes in words.items():
            measured = tuple(force_dimension(elements[name].along(self.model, k)) for k in range(len(suffixes)))
            yield (
                f"{name}.force",
                Channel(self._constraint_force(name), measured, tuple(suffixes) if len(suffixes) > 1 else ()),
            )

    def _constraint_force(self, name: str) -> Callable[[], Array]:
        def compute_all() -> Any:
            return self._constraint_reactions(reactions.compute_constraint_forces)

        def compute() -> Array:
            values = np.asarray(self._cached("constraint_forces", compute_all)[name])
            return values[:, 0] if values.shape[1] == 1 else values

        return compute

    # -------------------------------------------------------------------------------------------- junctions

    def _junction_channels(self) -> Iterator[tuple[str, Channel]]:
        for name, first in self.mech.compiled.elements.junctions.items():
            for what, dimension in (("position", "length"), ("velocity", "velocity")):
                yield f"{name}.{what}", Channel(self._junction_column(first, what), (dimension,) * 3, ("x", "y", "z"))

    def _junction_column(self, first: int, quantity: str) -> Callable[[], Array]:
        s = self.samples

        def compute() -> Array:
            x = self.states["x"]
            x = self.mech.x_rest(s.q, p=self.p, t=s.time, v=s.v) if x is None else x
            if quantity == "velocity":
                x = self.mech.x_rate(s.q, s.v, x, p=self.p, t=s.time)
            return np.array(x[:, first : first + 3])

        return compute
