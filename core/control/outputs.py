"""Outputs of a machine by name, as expressions of its state: any channel of a run, or a formula of channels.

y(q, v, a, λ, x, τ, p) is put together of the machine's symbolic functions; its derivatives are exact. Multipliers
enter where constraint forces are asked for: these are unique or refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.flat_code import FlatCode
from core.codegen.graph_symbols import build_column, scalar_symbols, to_symbol
from core.constraints.cut_coordinates import closes_loop
from core.constraints.reactions import bearing_pairs
from core.errors import ExpressionError, ModelError, suggest_names
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import inline
from core.mechanism import Mechanism
from core.model.formula.expression import evaluate, names_in_formula, parse
from core.model.formula.formula_units import Dimension, dimension_by_name, formula_dimension
from core.numerics.spatial.rotation import quaternion_from_rotation
from core.programs.compiled import CompiledModel
from core.programs.machine_symbols import MachineSymbols
from core.simulation.run.channels import MAGNITUDES, Channels, column_suffixes
from core.simulation.run.energy_ledger import LEDGER

Array = NDArray[np.float64]
TIME = ("t", "time")
FORMULA_SIGNS = frozenset("+*^()<>= ")
"""Characters that occur in formulas but not in names of channels."""


class SampledState(NamedTuple):
    """One state in the form of run samples: time (1,), q (1, nq), v, a, tau (1, nv), x (1, nx)."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    modes: Array = np.zeros((0, 0))


class OutputDerivatives(NamedTuple):
    """Outputs y and their derivatives along displacements (ny, nv), and with respect to v, a, λ, x, τ and the requested
    parameters."""

    y: Array
    y_q: Array
    y_v: Array
    y_a: Array
    y_l: Array
    y_x: Array
    y_tau: Array
    y_p: Array


class _CompiledOutputs(NamedTuple):
    """Compiled outputs of a machine: names and SI units; (q, v, a, λ, x, τ, t, p) → `OutputDerivatives` as a CasADi
    graph and as code."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    function: Any
    code: FlatCode


_known: WeakKeyDictionary[CompiledModel, dict[Any, _CompiledOutputs]] = WeakKeyDictionary()
"""Cache by machine, names and parameters."""


class OutputFunctions:
    """Outputs of a machine, by name; parameters : indices of those with respect to which they are differentiated."""

    def __init__(self, mech: Mechanism, names: Sequence[str], parameters: Sequence[int], p: Array) -> None:
        self.mech = mech
        known, key = _known.setdefault(mech.compiled, {}), (tuple(names), tuple(parameters))
        if key not in known:
            known[key] = self._compile_outputs(names, parameters, p)
        self.names, self.units, self.function, self._code = known[key]

    def _compile_outputs(self, names: Sequence[str], parameters: Sequence[int], p: Array) -> _CompiledOutputs:
        mech = self.mech
        q, v, none = np.zeros((1, mech.nq)), np.zeros((1, mech.nv)), np.zeros((0, 0))
        self._channels = Channels(mech, p, SampledState(np.zeros(1), q, v, v, v, none))
        self._symbols = _SymbolicChannels(mech)
        read = [each for name in names for each in self._output_components(name)]
        function, code = self._symbols.build_output_code(
            build_column([expression for _, expression, _ in read]), parameters
        )
        return _CompiledOutputs(
            tuple(name for name, *_ in read), tuple(measured for *_, measured in read), function, code
        )

    def __call__(
        self, q: Array, v: Array, a: Array, multipliers: Array, x: Array, tau: Array, p: Array, t: float
    ) -> Any:
        """Evaluate the outputs (ny,) and their derivatives at a state."""
        clock = self.mech.compiled.time_argument(t, p)
        arguments = [np.reshape(each, (1, -1)) for each in (q, v, a, multipliers, x, tau, clock)]
        return OutputDerivatives(*(each[0] for each in self._code(arguments, p)))

    def evaluate_many(self, q: Array, v: Array, a: Array, tau: Array, p: Array, time: Array) -> OutputDerivatives:
        """Evaluate outputs and derivatives at many states (n, …), for a machine without constraints and force-element
        states; the first axis counts the states."""
        clock, none = self.mech.compiled.time_argument(time, p), np.zeros((len(q), 0))
        return OutputDerivatives(*self._code([q, v, a, none, none, tau, clock], p))

    def _output_components(self, name: str) -> list[tuple[str, Any, str]]:
        """Return (name, expression, SI unit) of each component."""
        channels = self._channels
        found = self._channel_components(name)
        if found is None:
            return [(name, *self._formula_expression(name))]
        if len(found) == 1:
            return [(name, found[0], dimension_by_name(channels.dimension(name)).unit)]
        ends = column_suffixes(channels, name)
        parts = [f"{name}.{end}" for end in ends]
        return [
            (part, each, dimension_by_name(channels.dimension(part)).unit)
            for part, each in zip(parts, found, strict=True)
        ]

    def _channel_components(self, name: str) -> list[Any] | None:
        """Return the components of a channel, or a single component or magnitude; None if no channel has this name."""
        if name in TIME:
            raise ModelError(
                "The time cannot be an output.", where="outputs", remedy="Name a channel that depends on the motion."
            )
        found = self._symbols.channel_components(name, self._channels)
        if found is not None:
            return found
        owner, _, part = name.rpartition(".")
        whole = self._symbols.channel_components(owner, self._channels) if owner in self._channels.names else None
        if whole is None:
            return None
        ends = column_suffixes(self._channels, owner)
        if part in ends:
            return [whole[ends.index(part)]]
        if part in MAGNITUDES and set(MAGNITUDES[part]) <= set(ends):
            return [ca.norm_2(build_column([whole[ends.index(each)] for each in MAGNITUDES[part]]))]
        return None

    def _formula_expression(self, text: str) -> tuple[Any, str]:
        """Return the expression of a formula of channels and parameters, with its unit. Raises ExpressionError, for
        instance if quantities of different dimensions are added or compared."""
        try:
            node = parse(text)
        except ExpressionError as error:
            if set(text) & FORMULA_SIGNS:
                raise error.at(where="outputs") from None
            raise self._make_unknown_output_error(text) from None
        values: dict[str, Any] = dict(self._symbols.parameters)
        count = len(values)
        for name in sorted(names_in_formula(node)):
            if name in values:
                continue
            found = self._channel_components(name)
            if found is None:
                found = self._channel_components(f"{name}.q") if f"{name}.q" in self._channels.names else None
            if found is None:
                raise self._make_unknown_output_error(name)
            if len(found) > 1:
                raise ExpressionError(
                    f"'{name}' has several components.",
                    where="outputs",
                    remedy=f"Name one of them, such as '{name}.{column_suffixes(self._channels, name)[0]}'.",
                )
            values[name] = found[0]
        if len(values) == count:
            raise ModelError(
                f"'{text}' does not depend on the motion.",
                where="outputs",
                remedy="Name a channel, or a formula of one.",
            )
        try:
            unit = formula_dimension(node, self._dimension_of_name).unit
        except ExpressionError as error:
            error.where = f"output '{text}'"
            raise
        return ca.densify(to_symbol(evaluate(node, values))), unit

    def _dimension_of_name(self, name: str) -> Dimension:
        """Return the dimension of a name in a formula."""
        if name in self._symbols.parameters:
            known = {each.name: each.dimension for each in self.mech.model.expanded.parameters}
            return dimension_by_name(known.get(name, "none"))
        channels = self._channels
        return dimension_by_name(channels.dimension(f"{name}.q" if f"{name}.q" in channels.names else name))

    def _make_unknown_output_error(self, name: str) -> ModelError:
        close = suggest_names(name, possible_output_names(self._channels))
        return ModelError(f"There is no output '{name}'.", where="outputs", remedy=close)


def possible_output_names(channels: Channels) -> tuple[str, ...]:
    """Return all channels that can be outputs."""
    words = set(channels.modes.word_channels) | set(channels.modes.table)
    left_out = {"time", "constraint.residual", *LEDGER, *words}
    return tuple(name for name in channels.names if name not in left_out)


class _SymbolicChannels:
    """Channels as expressions in the symbols of a machine's expression graphs."""

    def __init__(self, mech: Mechanism) -> None:
        self.mech = mech
        self.context: MachineSymbols = mech.compiled.program.symbolic
        context = self.context
        self._results: dict[str, list[Any]] = {}
        self.inputs: dict[str, list[Any]] = dict(context.inputs("qvult"))
        self.own = scalar_symbols("x", context.nx)
        self.inputs["x"] = [*self.own, *[0.0] * context.nx]
        if context.nx:
            self.inputs["x"] = [*self.own, *self._symbolic_result("states")]
        self.tau = scalar_symbols("tau", mech.nv)
        self.parameters = self.context.numbers.values
        self._known: dict[str, list[Any]] = {}
        self._state = KinematicState(context.tree, self.inputs["q"], self.inputs["v"])

    def build_output_code(self, y: Any, parameters: Sequence[int]) -> tuple[Any, FlatCode]:
        """Build (q, v, a, λ, x, τ, t, p) → `OutputDerivatives` as a CasADi graph and as code."""
        given = [build_column(self.inputs[word]) for word in "qvul"]
        q, v, a, multipliers = given
        x, tau, p = build_column(list(self.own)), build_column(self.tau), build_column(self.context.p)
        by = build_column([self.context.p[k] for k in parameters])
        N = ca.jacobian(build_column(self._symbolic_result("rate")), v)
        slopes = [ca.jacobian(y, q) @ N, *(ca.jacobian(y, each) for each in (v, a, multipliers, x, tau, by))]
        arguments = [*given, x, tau, build_column(self.inputs["t"]), p]
        function = ca.Function("outputs", arguments, [y, *slopes], {"cse": True})
        return function, FlatCode(arguments, [y, *slopes], later=True)

    def _symbolic_result(self, name: str) -> list[Any]:
        """Return the flat symbolic result of a registered function."""
        if name not in self._results:
            kind, _, detail = name.partition(":")
            self._results[name] = self.mech.compiled.program.symbolic.build_body(kind, self.inputs, detail, inline)
        return self._results[name]

    def channel_components(self, name: str, channels: Channels) -> list[Any] | None:
        """Return the components of a channel as expressions."""
        if name not in self._known:
            found = self._build_channel(name, channels)
            if found is None:
                return None
            self._known[name] = found
        return self._known[name]

    def _build_channel(self, name: str, channels: Channels) -> list[Any] | None:
        owner, _, what = name.rpartition(".")
        mech = self.mech
        if name.startswith(("energy.", "momentum.")) and name in channels.names:
            return self._channel_expressions(name)
        if name == "constraint.residual" or name in channels.modes.table or name in channels.modes.word_channels:
            raise _make_not_an_output_error(name)
        if name in channels.elements.table:
            return self._element_channel(name, owner, what)
        if what == "reaction" and owner in mech.joint_names:
            return self._joint_reactions[owner]
        if what in ("q", "v", "a", "tau"):
            return self._joint_channel(owner, what)
        if what in _FRAME and owner in mech.frame_names:
            return self._frame_channel(owner, what)
        return None

    def _channel_expressions(self, name: str) -> list[Any]:
        kind, _, part = name.partition(".")
        if kind == "momentum":
            both = self._symbolic_result("momentum")
            return both[3:] if part == "linear" else both[:3]
        kinetic, potential = (to_symbol(each) for each in self._symbolic_result("energy"))
        found = {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
        if part not in found:
            raise _make_not_an_output_error(name)
        return [found[part]]

    def _joint_channel(self, joint: str, quantity: str) -> list[Any] | None:
        mech, elements = self.mech, self.context.elements
        infos = {each.name: each.info for each in elements.machine.members}
        if joint in infos and (infos[joint].nv or quantity == "q"):
            words = infos[joint].coordinates if quantity == "q" else infos[joint].speeds
            parts = [f"{joint}.{word}" if word else joint for word in words]
        elif joint in mech.v_names or joint in mech.q_names:
            parts = [joint]
        else:
            return None
        if quantity == "tau":
            return self._joint_force_expressions(joint, parts)
        end = "q" if quantity == "q" else "v"
        if not all(f"{part}.{end}" in elements.coordinates for part in parts):
            return None
        found = [elements.coordinates[f"{part}.{end}"](self._state) for part in parts]
        return self._time_derivatives(found) if quantity == "a" else found

    def _time_derivatives(self, values: list[Any]) -> list[Any]:
        """Differentiate expressions with respect to time, along q̇ and v̇ = a."""
        f = build_column(values)
        q, v, a = (build_column(self.inputs[word]) for word in "qvu")
        return ca.vertsplit(
            ca.densify(ca.jtimes(f, q, build_column(self._symbolic_result("rate"))) + ca.jtimes(f, v, a))
        )

    def _joint_force_expressions(self, joint: str, components: list[str]) -> list[Any] | None:
        """Return the given forces of a joint, with those of its drivers."""
        mech = self.mech
        if closes_loop(mech.compiled, joint):
            found: list[Any] = [ca.SX(0.0)] * len(components)
        elif all(part in mech.v_names for part in components):
            found = [self.tau[mech.v_names.index(part)] for part in components]
        else:
            return None
        model = mech.model.expanded
        for k, row in enumerate(mech.compiled.rows):
            driver = model.find("drivers", row.element) if row.collection == "drivers" else None
            if driver is None or not driver.joint:
                continue
            if mech.compiled.coordinates.coupling(driver.joint)[0] != joint:
                continue
            moved = model.find("joints", driver.joint)
            at = mech.compiled.elements.coordinate_index(moved, driver.coordinate, f"driver '{driver.name}'")
            ratio = float(mech.compiled.following(driver.joint)[0].reshape(-1)[0])
            found[at] = found[at] + ratio * self.inputs["l"][k]
        return found

    def _frame_channel(self, frame: str, quantity: str) -> list[Any]:
        place = self.context.machine.frames[frame]
        if quantity == "position":
            return list(self._state.frame(place).position)
        if quantity == "orientation":
            return list(quaternion_from_rotation(self._state.frame(place).rotation))
        if quantity in ("velocity", "omega"):
            motion = self._state.motion(place)
            return list(motion.linear if quantity == "velocity" else motion.angular)
        both = self._symbolic_result(f"frame_acceleration:{frame}")
        return both[3:] if quantity == "acceleration" else both[:3]

    # ------------------------------------------------------------------------------------------- elements

    def _element_channel(self, name: str, owner: str, quantity: str) -> list[Any]:
        model, elements = self.mech.model.expanded, self.context.elements
        whole = name.removesuffix(".rate")
        sensor = next((s for s in model.sensors if s.name == whole or whole.startswith(f"{s.name}.")), None)
        if sensor is not None:
            return self._sensor_channel(sensor, whole, name != whole)
        at = 0
        for force, element in zip(model.forces, elements.named_forces, strict=True):
            for channel in element.channels(""):
                count = len(channel.components)
                if name == f"{force.name}.{channel.name}":
                    return self._symbolic_result("forces")[at : at + count]
                at += count
        if owner in elements.junctions:
            first = elements.junctions[owner] + (0 if quantity == "position" else self.context.nx)
            return self.inputs["x"][first : first + 3]
        held = [k for k, row in enumerate(self.mech.compiled.rows) if row.element == owner]
        if quantity == "force" and held:
            return [self.inputs["l"][k] for k in held]
        raise _make_not_an_output_error(name)

    def _sensor_channel(self, sensor: Any, name: str, as_rate: bool) -> list[Any]:
        parts = [f"{sensor.name}.{end}" if end else sensor.name for end in sensor.info.components]
        if sensor.info.wrench is not None:
            found = [self._joint_reactions[sensor.joint][k] for k in sensor.info.wrench]
            if sensor.resolve and sensor.resolve != "world":
                turn = self._state.frame(self.context.machine.frames[sensor.resolve]).rotation
                found = list(turn.act_back(type(turn[0])(*found)))
        elif sensor.info.power:
            found = [self._sensor_power(sensor)]
        else:
            values, count = self._symbolic_result(f"sensor:{sensor.name}"), len(parts)
            found = values[count : 2 * count] if as_rate else values[:count]
        return found if name == sensor.name else [found[parts.index(name)]]

    def _sensor_power(self, sensor: Any) -> Any:
        if sensor.force:
            return self._element_channel(f"{sensor.force}.power", sensor.force, "power")[0]
        place = self.mech.joint_v(sensor.joint)
        return sum((self.tau[k] * self.inputs["v"][k] for k in range(place.start, place.stop)), ca.SX(0.0))

    @cached_property
    def _joint_reactions(self) -> dict[str, list[Any]]:
        """Return joint → reaction wrench, from the recursion plus the multipliers transmitted through the joint."""
        flat = [to_symbol(each) for each in self._symbolic_result("wrenches")]
        names_ = self.mech.joint_names
        total = [build_column(flat[6 * k : 6 * k + 6]) for k in range(len(names_))]
        if self.mech.compiled.rows:
            pairs, sides, poses = (
                bearing_pairs(self.mech.compiled),
                self._symbolic_result("constraint_sides"),
                self._joint_positions,
            )
            for joint, row, side, sign, moved in zip(*pairs[:5], strict=True):
                moment, force, about = (build_column(sides[9 * side + k : 9 * side + k + 3]) for k in (0, 3, 6))
                if moved:
                    moment = moment + ca.cross(about - poses[joint], force)
                total[joint] += sign * self.inputs["l"][row] * ca.vertcat(moment, force)
        return {name: ca.vertsplit(ca.densify(each)) for name, each in zip(names_, total, strict=True)}

    @property
    def _joint_positions(self) -> list[Any]:
        """Return the world position of every joint's frame b."""
        return [build_column(list(self._state.frame(b).position)) for _, b in self.context.machine.joints.values()]


_FRAME = ("position", "orientation", "velocity", "omega", "acceleration", "alpha")


def _make_not_an_output_error(name: str) -> ModelError:
    return ModelError(
        f"'{name}' cannot be an output: it is text, an integral over time, or not smooth.",
        where="outputs",
        remedy="Name a position, speed, acceleration, force or energy.",
    )


def list_outputs(mech: Mechanism, p: Array) -> tuple[str, ...]:
    """Return all channels of a machine that can be outputs."""
    q, v, none = np.zeros((1, mech.nq)), np.zeros((1, mech.nv)), np.zeros((0, 0))
    return possible_output_names(Channels(mech, p, SampledState(np.zeros(1), q, v, v, v, none)))
