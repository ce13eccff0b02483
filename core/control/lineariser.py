"""Linearisation of one machine at many states, for `linearise` and operating points.

The descriptor form has all coordinates, accelerations and constraint multipliers as states:

    E ż = A z + B w,   y = C z + D w,   z = (ξ, v, a, λ, x)

    ξ̇ = v + turn ξ,   v̇ = a,   0 = ∂f/∂q ξ + ∂f/∂v v + M a − Gᵀ λ + ∂f/∂x x + ∂f/∂w w,   0 = G ξ + ∂s/∂w w,   ẋ = …

A row that a driver holds on the level of speeds or accelerations stands on that level. Where constraints are redundant
the pencil is singular, as the multipliers are. About a state that is not at rest the matrices are those of an instant:
what G ξ = 0 says of ξ̈ holds with Ġ, which only the minimal form has (`core.analysis.linearisation`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.analysis.held_state import ConstrainedState, speeds_by_name, well_conditioned_speeds
from core.analysis.linearisation import (
    SmallMotions,
    force_states_at_rest,
    kept_state_names,
    linearise_small_motions,
    reduce_states,
    vibration_modes,
)
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.named_values import single_state, unknown_name_error
from core.constraints.rest_position import characteristic_length
from core.control.inputs import Input, Inputs, dimension_of_speed
from core.control.linear_system import LinearSystem, Units
from core.control.outputs import OutputDerivatives, OutputFunctions
from core.errors import ModelError
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.model.units import DERIVED, SI
from core.numerics.matrix_forms import to_dense
from core.numerics.rank import least_squares_solver
from core.programs.derivatives import EquationDerivatives, program_derivatives
from core.simulation.run.cut_torques import apply_cut_torques, finite_force

Array = NDArray[np.float64]


Complex = NDArray[np.complex128]

WORST_CONDITION = 1e6
"""Condition number of the motions in terms of the independent coordinates above which other coordinates are chosen
along a run."""
NOT_UNIQUE = 1e-7
"""Fraction of an output's derivative with respect to constraint forces below which it counts as independent of
redundant constraints."""


@dataclass(frozen=True, eq=False)
class DescriptorSystem:
    """Descriptor system E ẋ = A x + B w, y = C x + D w. E, A : (n, n), B : (n, m), C : (p, n), D : (p, m), SI, for
    deviations from the state q (nq,), v, a (nv,), y0 (p,).

    State names: of a speed "joint.q" the displacement along it, "joint.v", "joint.a"; "loop.row.force" the multipliers;
    states of force elements
    """

    E: Array
    A: Array
    B: Array
    C: Array
    D: Array
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    q: Array
    v: Array
    a: Array
    y0: Array

    @property
    def poles(self) -> Complex:
        """Finite generalised eigenvalues of (A, E), 1/s; valid if no constraint is redundant."""
        import scipy.linalg

        alpha, beta = scipy.linalg.eigvals(self.A, self.E, homogeneous_eigvals=True)
        size = np.abs(alpha) + np.abs(beta)
        finite = np.abs(beta) > 1e-9 * np.where(size > 0.0, size, 1.0)
        return np.asarray(alpha[finite] / beta[finite], dtype=complex)

    def frequency_response(self, omega: ArrayLike) -> Complex:
        """Return (k, p, m) C (iω E − A)⁻¹ B + D at ω, rad/s; redundant multipliers have minimum norm."""
        rates = np.atleast_1d(np.asarray(omega, dtype=float))
        found = [
            self.C @ (np.linalg.pinv(1j * rate * self.E - self.A, rcond=1e-13) @ self.B) + self.D for rate in rates
        ]
        return np.array(found, dtype=complex)


def build_descriptor_system(
    closed_state: ConstrainedState,
    state_derivatives: EquationDerivatives,
    y: OutputDerivatives,
    a: Array,
    direct_effect: Array,
    names: tuple[tuple[str, ...], ...],
) -> DescriptorSystem:
    """Build the descriptor system about a closed state. state_derivatives : with respect to all states, with columns of
    inputs; direct_effect : (p, m) of the inputs on y; names : of speeds, states of force elements, inputs, outputs"""
    speeds, states, inputs, outputs = names
    G, mass = (
        to_dense(closed_state.rows),
        closed_state.constraints.compiled.mass_matrix(closed_state.q, closed_state.constraints.p),
    )
    nv, nx, m, rows = len(speeds), len(states), len(inputs), len(G)
    one, none = np.eye(nv), np.zeros
    levels = np.array(
        [row.level for row in closed_state.constraints.names] + [1] * (rows - closed_state.constraints.rows), dtype=int
    )
    on = [np.where((levels == level)[:, None], 1.0, 0.0) for level in range(3)]
    holds = [
        on[0] * G + on[1] * state_derivatives.Gv_q + on[2] * state_derivatives.g_q,
        on[1] * G + on[2] * state_derivatives.g_v,
        on[2] * G,
    ]
    A = np.block(
        [
            [state_derivatives.turn, one, none((nv, nv)), none((nv, rows)), none((nv, nx))],
            [none((nv, nv)), none((nv, nv)), one, none((nv, rows)), none((nv, nx))],
            [state_derivatives.f_q, state_derivatives.f_v, mass, -G.T, state_derivatives.f_x],
            [*holds, none((rows, rows)), none((rows, nx))],
            [state_derivatives.x_q, state_derivatives.x_v, none((nx, nv)), none((nx, rows)), state_derivatives.x_x],
        ]
    )
    E = np.diag(np.concatenate([np.ones(2 * nv), none(nv + rows), np.ones(nx)]))
    held_by = on[0] * state_derivatives.s_p + on[1] * state_derivatives.Gv_p + on[2] * state_derivatives.g_p
    B = np.concatenate([none((2 * nv, m)), state_derivatives.f_p, held_by, state_derivatives.x_p])
    y_l = np.concatenate([y.y_l, none((len(y.y_l), rows - closed_state.constraints.rows))], axis=1)
    C = np.concatenate([y.y_q, y.y_v, y.y_a, y_l, y.y_x], axis=1)
    loops = [f"{row}.force" for row in closed_state.constraints.names] + ["friction"] * (
        rows - closed_state.constraints.rows
    )
    named = [f"{name}.{word}" for word in "qva" for name in speeds] + loops + list(states)
    return DescriptorSystem(
        E, A, B, C, direct_effect, tuple(named), inputs, outputs, closed_state.q, closed_state.v, a, y.y[:, 0]
    )


class StatePoint(NamedTuple):
    """A state: q (nq,), v, tau (nv,), x (nx,) or None for states of force elements at rest, p (n_p,), t s."""

    mech: Mechanism
    q: Array
    v: Any
    tau: Array
    x: Array | None
    p: Array
    t: float


def point_from_arguments(mech: Mechanism, pose: Any, v: Any, tau: Any, p: Values, t: float) -> StatePoint:
    """Convert a state from the forms that scripts use. The pose is (nq,), by default the home configuration; v, tau :
    (nv,) or by name; forces of joints that close loops act as force elements in a machine of the point's own"""
    mech, tau = apply_cut_torques(mech, tau, "tau")
    values = mech.parameter_values(p)
    rest = mech.rest() if p is None else mech.rest(values)
    q = rest if pose is None else single_state(mech.compiled, pose)
    return StatePoint(mech, q, v, joint_forces_from_argument(mech, tau), None, values, t)


def joint_forces_from_argument(mech: Mechanism, tau: Any) -> Array:
    """Return joint forces (nv,) given as an array or by name. Raises ModelError."""
    if not isinstance(tau, Mapping):
        return np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float)
    unknown = next((name for name in tau if name not in mech.v_names), None)
    if unknown is not None:
        raise unknown_name_error(mech.compiled, "v", str(unknown), "tau")
    return np.array([finite_force(tau.get(name, 0.0), f"tau of '{name}'") for name in mech.v_names])


class Lineariser:
    """Linearises one machine with fixed inputs and outputs; the derivatives are built once and evaluated at many
    states."""

    def __init__(
        self,
        mech: Mechanism,
        inputs: Sequence[str],
        outputs: Sequence[str],
        p: Array,
        driver_as: str = "signal",
        friction: bool = True,
        motors: bool = True,
    ) -> None:
        self.inputs = Inputs(mech, inputs)
        self.given, self.mech, self._friction, self.motors = mech, self.inputs.mech, friction, motors
        names = self.mech.p_names
        self._parameters = tuple(names.index(each.parameter) for each in self.inputs.table if each.parameter)
        self.by_parameters = bool(self._parameters)
        self.derivatives = program_derivatives(self.mech.compiled.program, self._parameters)
        self.outputs = OutputFunctions(self.mech, outputs, self._parameters, self.values(p))
        self._holding: tuple[tuple[bytes, float], PositionConstraints] | None = None
        self._driven = _DriverStates(self.mech, self.inputs.table, driver_as)

    def values(self, p: Array) -> Array:
        """Extend the model's parameter values by those of the added inputs, to (n_p,)."""
        if len(p) == len(self.mech.p_names):
            return np.asarray(p, dtype=float)
        return self.mech.parameter_values(dict(zip(self.given.p_names, p, strict=True)))

    @cached_property
    def size(self) -> float:
        """Characteristic length of the machine, m."""
        return characteristic_length(self.mech.compiled, None)

    def input_values(self, point: StatePoint) -> Array:
        """Return the input values (m,) at a point of the given machine; added inputs are 0."""
        p = self.values(point.p)
        found = []
        for each in self.inputs.table:
            of_parameter = p[self.mech.p_names.index(each.parameter)] if each.parameter else 0.0
            base = self._document_value(each, point)
            found.append(point.tau[each.speed] if each.speed >= 0 else of_parameter + base)
        return np.array(found, dtype=float)

    def with_input_values(self, point: StatePoint, values: Array) -> StatePoint:
        """Return the point of the extended machine with these input values (m,)."""
        tau, p = point.tau.copy(), np.array(point.p)
        for each, value in zip(self.inputs.table, values, strict=True):
            if each.speed >= 0:
                tau[each.speed] = value
            elif each.parameter:
                base = self._document_value(each, point)
                p[self.mech.p_names.index(each.parameter)] = value - base
        return point._replace(tau=tau, p=p)

    def at(
        self,
        point: StatePoint,
        independent_speeds: Sequence[str] = (),
        previous_speeds: Sequence[str] = (),
        motors: bool | None = None,
    ) -> LinearSystem:
        """Return the linear system at a state, in the named independent speeds, or in previous ones as long as they are
        well conditioned; motors : True if motor limits act, default as in the constructor"""
        mech, p = self.mech, self.values(point.p)
        at = self._close_and_differentiate(
            point, independent_speeds, previous_speeds, self.motors if motors is None else motors
        )
        held, slopes, a, x, chosen = at.state, at.slopes, at.a, at.x, at.chosen
        q, v = held.q, held.v
        found = reduce_states(mech, slopes)
        small = linearise_small_motions(held, slopes, found, at.B, chosen)
        C, D, y0 = self._output_matrices(at, small, p)
        names = (*(mech.v_names[i] for i in chosen), *kept_state_names(mech, found))
        x_rate = mech.x_rate(q, v, x, p=p, t=point.t)[found.kept] if mech.nx else np.zeros(0)
        rest = _EvaluatedState(q, v, a, x, x_rate, point, chosen, found.kept, held, p)
        return self._assemble_system(small, C, D, y0, rest, names)

    def _close_and_differentiate(
        self, point: StatePoint, independent_speeds: Sequence[str], previous_speeds: Sequence[str], motors: bool
    ) -> _ConstrainedState:
        """Close the loops at a point, and return the resulting state with its derivatives."""
        mech, p = self.mech, self.values(point.p)
        constraints = self._position_constraints(p, point.t)
        speeds = {} if point.v is None else point.v
        q, v = map(
            np.asarray, mech.assemble(single_state(mech.compiled, point.q), speeds, p=p, t=point.t, limits=False)
        )
        x = force_states_at_rest(constraints, q) if point.x is None else np.asarray(point.x, dtype=float)
        held = ConstrainedState(constraints, q, v, point.tau, x, self._friction, motors)
        N = held.free_motions
        chosen = (
            speeds_by_name(mech, independent_speeds, N)
            if independent_speeds
            else self._choose_independent_speeds(constraints, N, previous_speeds)
        )
        B = N @ np.linalg.inv(N[chosen]) if chosen else np.zeros((mech.nv, 0))
        a, multipliers, carried = held.motion(B, chosen)
        state = {"q": q, "v": v, "u": a, "x": x, "t": mech.clock(point.t, p)}
        slopes = held.extend_derivatives(self._input_columns(self.derivatives(state, multipliers, p), held), a, carried)
        return _ConstrainedState(held, slopes, a, multipliers, x, chosen, B)

    def descriptor_system_at(self, point: StatePoint) -> DescriptorSystem:
        """Return the descriptor system at a state, in all coordinates and multipliers."""
        at, p = self._close_and_differentiate(point, (), (), self.motors), self.values(point.p)
        y = self.outputs(at.state.q, at.state.v, at.a, at.multipliers, at.x, at.state.tau, p, point.t)
        inputs = tuple(each.name for each in self.inputs.table)
        seen = self._add_direct_effect(y, np.zeros((len(self.outputs.names), len(inputs))), at.state)
        names = (self.mech.v_names, self.mech.x_names, inputs, tuple(self.outputs.names))
        return build_descriptor_system(at.state, at.slopes, y, at.a, seen, names)

    def _position_constraints(self, p: Array, t: float) -> PositionConstraints:
        """Return the position constraints for these parameters and this time; the last ones are cached."""
        key = p.tobytes(), t
        if self._holding is None or self._holding[0] != key:
            self._holding = key, PositionConstraints(self.mech.compiled, p, t)
        return self._holding[1]

    def _choose_independent_speeds(
        self, constraints: PositionConstraints, N: Array, previous_speeds: Sequence[str]
    ) -> list[int]:
        if len(previous_speeds) == N.shape[1] and previous_speeds:
            chosen = [self.mech.v_names.index(name) for name in previous_speeds]
            if np.linalg.cond(N[chosen] / constraints.speed_units[chosen, None]) < WORST_CONDITION:
                return chosen
        return well_conditioned_speeds(constraints, N)

    def _input_columns(self, slopes: EquationDerivatives, closed_state: ConstrainedState) -> EquationDerivatives:
        """Return the derivatives with respect to all inputs, from those with respect to parameters."""
        table, nv, rows = self.inputs.table, self.mech.nv, closed_state.constraints.rows
        count = len(table)
        columns = {
            "f_p": np.zeros((nv, count)),
            **{name: np.zeros((rows, count)) for name in ("g_p", "Gv_p", "s_p")},
            "x_p": np.zeros((self.mech.nx, count)),
            "sum_p": np.zeros((len(slopes.sum_p), count)),
        }
        at = 0
        for k, each in enumerate(table):
            if each.parameter:
                for name, column in columns.items():
                    column[:, k] = getattr(slopes, name)[:, at]
                at += 1
            elif each.speed >= 0:
                columns["f_p"][each.speed, k] = 0.0 if closed_state.silent[each.speed] else -1.0
            else:
                columns[("s_p", "Gv_p", "g_p")[each.order]][each.row, k] = -1.0
        return slopes._replace(**columns)

    def _output_matrices(
        self, state: _ConstrainedState, small_motions: SmallMotions, p: Array
    ) -> tuple[Array, Array, Array]:
        """Return C, D and y0."""
        held = state.state
        y = self.outputs(held.q, held.v, state.a, state.multipliers, state.x, held.tau, p, held.constraints.t)
        forces = least_squares_solver(held.rows.T)(small_motions.load)[: held.constraints.rows]
        self._check_outputs_determined(held, y.y_l)
        n = len(small_motions.A)
        moved = (
            y.y_q @ small_motions.displacement
            + y.y_v @ small_motions.speed
            + y.y_a @ small_motions.acceleration
            + y.y_x @ small_motions.states
        )
        total = moved + y.y_l @ forces
        return total[:, :n], self._add_direct_effect(y, total[:, n:], held), y.y[:, 0]

    def _add_direct_effect(self, y: OutputDerivatives, D: Array, closed_state: ConstrainedState) -> Array:
        """Add to D (p, m) the direct effect of the inputs on the outputs."""
        of_parameters = iter(y.y_p.T)
        for k, each in enumerate(self.inputs.table):
            if each.parameter:
                D[:, k] += next(of_parameters)
            elif each.speed >= 0 and not closed_state.silent[each.speed]:
                D[:, k] += y.y_tau[:, each.speed]
        return D

    def _check_outputs_determined(self, closed_state: ConstrainedState, y_l: Array) -> None:
        """Check that no output depends on multipliers that redundant constraints leave undetermined. Raises
        ModelError."""
        if not y_l.any() or not closed_state.constraints.rows:
            return
        from core.numerics.matrix_forms import to_dense

        open_ones = to_dense(closed_state.constraints.self_stresses(closed_state.q))
        if not open_ones.shape[1]:
            return
        open_ones = open_ones / np.linalg.norm(open_ones, axis=0)
        for name, slope in zip(self.outputs.names, y_l, strict=True):
            if np.max(np.abs(slope @ open_ones)) > NOT_UNIQUE * max(float(np.linalg.norm(slope)), 1e-300):
                raise ModelError(
                    f"'{name}' is not unique: redundant constraints leave this force undetermined.",
                    where="outputs",
                    remedy="Name another force, or release a joint (Mobility suggests which).",
                )

    def _assemble_system(
        self, small_motions: SmallMotions, C: Array, D: Array, y0: Array, state: _EvaluatedState, names: tuple[str, ...]
    ) -> LinearSystem:
        k, inputs = len(state.chosen), self.inputs.table
        A, B = small_motions.A, small_motions.B
        u0 = np.array([self._input_value(each, state) for each in inputs])
        measured = [dimension_of_speed(self.mech, i) for i in state.chosen]
        state_names = (*(f"{name}.q" for name in names[:k]), *(f"{name}.v" for name in names[:k]), *names[k:])
        units = [*("rad" if each == "angular_velocity" else "m" for each in measured), *(SI[each] for each in measured)]
        units += [""] * len(names[k:])
        x0 = np.concatenate([self._independent_positions(state), state.v[state.chosen], state.x[state.kept]])
        residual = np.concatenate([state.v[state.chosen], state.a[state.chosen], state.x_rate])
        system = LinearSystem(
            A,
            B,
            C,
            D,
            state_names,
            tuple(each.name for each in inputs),
            tuple(self.outputs.names),
            Units(
                tuple(units),
                tuple(_unit_of_dimension(each.dimension) for each in inputs),
                self.outputs.units,
            ),
            x0,
            u0,
            y0,
            residual,
            state.q,
            state.v,
            state.a,
            state.at.tau,
            small_motions.displacement,
            self._vibration_modes(small_motions, state, names[k:]),
            state.point.t,
            names[:k],
            state.at.saturated_speeds,
            state.at.speed_limited_coordinates,
            state.at.overrun_coordinates,
            state.at.stuck_coordinates,
        )
        return self._driven.extend_system(system)

    def _vibration_modes(
        self, small_motions: SmallMotions, state: _EvaluatedState, states: Sequence[str]
    ) -> tuple[Any, ...]:
        k = len(state.chosen)
        A = small_motions.A
        if not len(A):
            return ()
        values, vectors = np.linalg.eig(A)
        order = np.lexsort((values.imag, np.round(np.abs(values), 9)))
        values, vectors = values[order], vectors[:, order]
        B = small_motions.displacement[:, :k]
        return vibration_modes(values, B @ vectors[:k], state.at.constraints, vectors[2 * k :], states)

    def _independent_positions(self, state: _EvaluatedState) -> Array:
        """Return the coordinates (k,) of the chosen speeds; 0 for rotations by quaternions."""
        mech = self.mech
        return np.array(
            [
                state.q[mech.q_names.index(mech.v_names[i])] if mech.v_names[i] in mech.q_names else 0.0
                for i in state.chosen
            ]
        )

    def _input_value(self, input_quantity: Input, state: _EvaluatedState) -> float:
        """Return the value of an input at the state; 0 for drivers, whose input is the deviation from their
        function."""
        if input_quantity.speed >= 0:
            return float(state.point.tau[input_quantity.speed])
        own = float(state.p[self.mech.p_names.index(input_quantity.parameter)]) if input_quantity.parameter else 0.0
        return own + self._document_value(input_quantity, state.point)

    def _document_value(self, input_quantity: Input, point: StatePoint) -> float:
        """Return the value that the document gives for an input: a component of its gravity, or the force of a joint
        that closes a loop, both of which may be formulas of parameters; 0 for others."""
        from core.model.formula.expression import evaluate, parse

        model, name = self.given.model.expanded, input_quantity.name
        value: Any = 0.0
        if name.startswith("gravity."):
            value = model.world.gravity.acceleration["xyz".index(name[-1])]
        elif (force := next((each for each in model.forces if each.name == name), None)) is not None:
            value = f"-({force.law})"
        if not isinstance(value, str):
            return float(value)
        names = self.given.p_names
        p = dict(zip(self.mech.p_names, self.values(point.p), strict=True))
        return float(evaluate(parse(value), self.given.model.values({name: p[name] for name in names})))


class _ConstrainedState(NamedTuple):
    """A state on the constraint manifold, with derivatives, and the motions B of the chosen speeds."""

    state: ConstrainedState
    slopes: EquationDerivatives
    a: Array
    multipliers: Array
    x: Array
    chosen: list[int]
    B: Array


class _EvaluatedState(NamedTuple):
    """State about which the system is linearised."""

    q: Array
    v: Array
    a: Array
    x: Array
    x_rate: Array
    point: StatePoint
    chosen: list[int]
    kept: list[int]
    at: ConstrainedState
    p: Array


class _DriverStates:
    """States that represent drivers: of value, rate and second rate the lower ones become states, each the integral of
    the next. A driver of speeds always has its value as a state, a driver of accelerations value and rate."""

    def __init__(self, mech: Mechanism, inputs: Sequence[Input], driver_as: str) -> None:
        self._chains: list[tuple[list[int], int]] = []
        for k, each in enumerate(inputs):
            if each.row >= 0 and each.order == 0:
                level = mech.compiled.rows[each.row].level
                self._chains.append(([k, k + 1, k + 2], 2 if driver_as == "acceleration" else level))

    def extend_system(self, system: LinearSystem) -> LinearSystem:
        """Return the system extended by these states."""
        import dataclasses

        states = [column for columns, count in self._chains for column in columns[:count]]
        moved = [*range(len(system.A)), *(len(system.A) + k for k in states)]
        system = dataclasses.replace(system, basis=system.basis[:, moved])
        if not states:
            return system
        left = [k for k in range(len(system.input_names)) if k not in states]
        n, extra = len(system.A), len(states)
        A, B = np.zeros((n + extra, n + extra)), np.zeros((n + extra, len(left)))
        A[:n, :n], A[:n, n:], B[:n] = system.A, system.B[:, states], system.B[:, left]
        for columns, count in self._chains:
            for order in range(count):
                row, follower = n + states.index(columns[order]), columns[order + 1]
                if follower in states:
                    A[row, n + states.index(follower)] = 1.0
                else:
                    B[row, left.index(follower)] = 1.0
        C, D = np.concatenate([system.C, system.D[:, states]], axis=1), system.D[:, left]
        names, units = system.input_names, system.units
        return dataclasses.replace(
            system,
            A=A,
            B=B,
            C=C,
            D=D,
            state_names=(*system.state_names, *(names[k] for k in states)),
            input_names=tuple(names[k] for k in left),
            units=Units(
                (*units.states, *(units.inputs[k] for k in states)),
                tuple(units.inputs[k] for k in left),
                units.outputs,
            ),
            x0=np.concatenate([system.x0, np.zeros(extra)]),
            residual=np.concatenate([system.residual, np.zeros(extra)]),
            u0=system.u0[left],
        )


def _unit_of_dimension(dimension: str) -> str:
    return SI.get(dimension) or DERIVED.get(dimension, "")
