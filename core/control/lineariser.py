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

from core.analysis.held_state import HeldState, speeds_named, well_conditioned_speeds
from core.analysis.linearisation import SmallMotions, modes_of, names_of, reduction, small_motions, states_at_rest
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.named_values import one_state, unknown_name_error
from core.constraints.rest_position import size_of
from core.control.inputs import Input, Inputs, speed_dimension
from core.control.linear_system import LinearSystem, Units
from core.control.outputs import Outputs, OutputSlopes
from core.errors import ModelError
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.model.units import DERIVED, SI
from core.numerics.matrix_forms import dense
from core.numerics.rank import solver
from core.programs.derivatives import Equations, derivatives

Array = NDArray[np.float64]


Complex = NDArray[np.complex128]

WORST_CONDITION = 1e6
"""Condition number of the motions in the independent coordinates above which other coordinates are chosen along a run.
"""
NOT_UNIQUE = 1e-7
"""Fraction of an output's derivative by constraint forces below which it counts as independent of redundant
constraints."""


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
        """Return (k, p, m) C (iω E − A)⁻¹ B + D at ω, rad/s; redundant multipliers are those of minimum norm."""
        rates = np.atleast_1d(np.asarray(omega, dtype=float))
        found = [
            self.C @ (np.linalg.pinv(1j * rate * self.E - self.A, rcond=1e-13) @ self.B) + self.D for rate in rates
        ]
        return np.array(found, dtype=complex)


def descriptor(
    held: HeldState, e: Equations, y: OutputSlopes, a: Array, seen: Array, names: tuple[tuple[str, ...], ...]
) -> DescriptorSystem:
    """Build the descriptor system about a closed state. e : derivatives by all states, columns of inputs; seen : (p, m)
    direct effect of the inputs on y; names : of speeds, states of force elements, inputs, outputs"""
    speeds, states, inputs, outputs = names
    G, mass = dense(held.rows), held.constraints.compiled.mass_matrix(held.q, held.constraints.p)
    nv, nx, m, rows = len(speeds), len(states), len(inputs), len(G)
    one, none = np.eye(nv), np.zeros
    levels = np.array([row.level for row in held.constraints.names] + [1] * (rows - held.constraints.rows), dtype=int)
    on = [np.where((levels == level)[:, None], 1.0, 0.0) for level in range(3)]
    holds = [on[0] * G + on[1] * e.Gv_q + on[2] * e.g_q, on[1] * G + on[2] * e.g_v, on[2] * G]
    A = np.block(
        [
            [e.turn, one, none((nv, nv)), none((nv, rows)), none((nv, nx))],
            [none((nv, nv)), none((nv, nv)), one, none((nv, rows)), none((nv, nx))],
            [e.f_q, e.f_v, mass, -G.T, e.f_x],
            [*holds, none((rows, rows)), none((rows, nx))],
            [e.x_q, e.x_v, none((nx, nv)), none((nx, rows)), e.x_x],
        ]
    )
    E = np.diag(np.concatenate([np.ones(2 * nv), none(nv + rows), np.ones(nx)]))
    held_by = on[0] * e.s_p + on[1] * e.Gv_p + on[2] * e.g_p
    B = np.concatenate([none((2 * nv, m)), e.f_p, held_by, e.x_p])
    y_l = np.concatenate([y.y_l, none((len(y.y_l), rows - held.constraints.rows))], axis=1)
    C = np.concatenate([y.y_q, y.y_v, y.y_a, y_l, y.y_x], axis=1)
    loops = [f"{row}.force" for row in held.constraints.names] + ["friction"] * (rows - held.constraints.rows)
    named = [f"{name}.{word}" for word in "qva" for name in speeds] + loops + list(states)
    return DescriptorSystem(E, A, B, C, seen, tuple(named), inputs, outputs, held.q, held.v, a, y.y[:, 0])


class Point(NamedTuple):
    """A state: q (nq,), v, tau (nv,), x (nx,) or None for states of force elements at rest, p (n_p,), t s."""

    mech: Mechanism
    q: Array
    v: Any
    tau: Array
    x: Array | None
    p: Array
    t: float


def input_points(mech: Mechanism, at: Any, v: Any, tau: Any, p: Values, t: float) -> Point:
    """Convert a state from the forms that scripts give. at : (nq,), default the home configuration; v, tau : (nv,) or
    by name"""
    values = mech.parameter_values(p)
    rest = mech.rest() if p is None else mech.rest(values)
    q = rest if at is None else one_state(mech.compiled, at)
    return Point(mech, q, v, joint_force_values(mech, tau), None, values, t)


def joint_force_values(mech: Mechanism, tau: Any) -> Array:
    """Return joint forces (nv,) given as an array or by name. Raises ModelError."""
    if not isinstance(tau, Mapping):
        return np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float)
    unknown = next((name for name in tau if name not in mech.v_names), None)
    if unknown is not None:
        raise unknown_name_error(mech.compiled, "v", str(unknown), "tau")
    return np.array([float(tau.get(name, 0.0)) for name in mech.v_names])


class Lineariser:
    """Linearises one machine with fixed inputs and outputs: derivatives are built once and evaluated at many states."""

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
        self.derivatives = derivatives(self.mech.compiled.program, self._parameters)
        self.outputs = Outputs(self.mech, outputs, self._parameters, self.values(p))
        self._holding: tuple[tuple[bytes, float], PositionConstraints] | None = None
        self._driven = _DriverStates(self.mech, self.inputs.table, driver_as)

    def values(self, p: Array) -> Array:
        """Extend the model's parameter values by those of the added inputs: (n_p,)."""
        if len(p) == len(self.mech.p_names):
            return np.asarray(p, dtype=float)
        return self.mech.parameter_values(dict(zip(self.given.p_names, p, strict=True)))

    @cached_property
    def size(self) -> float:
        """Characteristic length of the machine, m."""
        return size_of(self.mech.compiled, None)

    def input_values(self, point: Point) -> Array:
        """Return the input values (m,) at a point of the given machine; added inputs are 0."""
        p = self.values(point.p)
        found = []
        for each in self.inputs.table:
            of_parameter = p[self.mech.p_names.index(each.parameter)] if each.parameter else 0.0
            base = self._gravity_component(each, point) if each.name.startswith("gravity.") else 0.0
            found.append(point.tau[each.speed] if each.speed >= 0 else of_parameter + base)
        return np.array(found, dtype=float)

    def with_input_values(self, point: Point, values: Array) -> Point:
        """Return the point of the extended machine with these input values (m,)."""
        tau, p = point.tau.copy(), np.array(point.p)
        for each, value in zip(self.inputs.table, values, strict=True):
            if each.speed >= 0:
                tau[each.speed] = value
            elif each.parameter:
                base = self._gravity_component(each, point) if each.name.startswith("gravity.") else 0.0
                p[self.mech.p_names.index(each.parameter)] = value - base
        return point._replace(tau=tau, p=p)

    def at(
        self, point: Point, named: Sequence[str] = (), kept: Sequence[str] = (), motors: bool | None = None
    ) -> LinearSystem:
        """Return the linear system at a state. named : independent speeds; kept : previous ones, to be kept while well
        conditioned; motors : True if motor limits act, default as in the constructor"""
        mech, p = self.mech, self.values(point.p)
        at = self._constrained_state(point, named, kept, self.motors if motors is None else motors)
        held, slopes, a, x, chosen = at.state, at.slopes, at.a, at.x, at.chosen
        q, v = held.q, held.v
        found = reduction(mech, slopes)
        small = small_motions(held, slopes, found, at.B, chosen)
        C, D, y0 = self._output_matrices(at, small, p)
        names = (*(mech.v_names[i] for i in chosen), *names_of(mech, found))
        x_rate = mech.x_rate(q, v, x, p=p, t=point.t)[found.kept] if mech.nx else np.zeros(0)
        rest = _EvaluatedState(q, v, a, x, x_rate, point, chosen, found.kept, held, p)
        return self._assembled_system(small, C, D, y0, rest, names)

    def _constrained_state(
        self, point: Point, named: Sequence[str], kept: Sequence[str], motors: bool
    ) -> _ConstrainedState:
        """Close the loops at a point, and return its state with the derivatives there."""
        mech, p = self.mech, self.values(point.p)
        constraints = self._constraints(p, point.t)
        speeds = {} if point.v is None else point.v
        q, v = map(np.asarray, mech.assemble(one_state(mech.compiled, point.q), speeds, p=p, t=point.t, limits=False))
        x = states_at_rest(constraints, q) if point.x is None else np.asarray(point.x, dtype=float)
        held = HeldState(constraints, q, v, point.tau, x, self._friction, motors)
        N = held.motions
        chosen = speeds_named(mech, named, N) if named else self._choose_speeds(constraints, N, kept)
        B = N @ np.linalg.inv(N[chosen]) if chosen else np.zeros((mech.nv, 0))
        a, multipliers, carried = held.motion(B, chosen)
        state = {"q": q, "v": v, "u": a, "x": x, "t": mech.clock(point.t, p)}
        slopes = held.slopes(self._input_columns(self.derivatives(state, multipliers, p), held), a, carried)
        return _ConstrainedState(held, slopes, a, multipliers, x, chosen, B)

    def descriptor_at(self, point: Point) -> DescriptorSystem:
        """Return the system at a state in all coordinates and multipliers."""
        at, p = self._constrained_state(point, (), (), self.motors), self.values(point.p)
        y = self.outputs(at.state.q, at.state.v, at.a, at.multipliers, at.x, at.state.tau, p, point.t)
        inputs = tuple(each.name for each in self.inputs.table)
        seen = self._with_direct_effect(y, np.zeros((len(self.outputs.names), len(inputs))), at.state)
        names = (self.mech.v_names, self.mech.x_names, inputs, tuple(self.outputs.names))
        return descriptor(at.state, at.slopes, y, at.a, seen, names)

    def _constraints(self, p: Array, t: float) -> PositionConstraints:
        """Return the position constraints for these parameters and time; the last ones are cached."""
        key = p.tobytes(), t
        if self._holding is None or self._holding[0] != key:
            self._holding = key, PositionConstraints(self.mech.compiled, p, t)
        return self._holding[1]

    def _choose_speeds(self, constraints: PositionConstraints, N: Array, kept: Sequence[str]) -> list[int]:
        if len(kept) == N.shape[1] and kept:
            chosen = [self.mech.v_names.index(name) for name in kept]
            if np.linalg.cond(N[chosen] / constraints.units[chosen, None]) < WORST_CONDITION:
                return chosen
        return well_conditioned_speeds(constraints, N)

    def _input_columns(self, slopes: Equations, held: HeldState) -> Equations:
        """Return derivatives by all inputs, from those by parameters."""
        table, nv, rows = self.inputs.table, self.mech.nv, held.constraints.rows
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
                columns["f_p"][each.speed, k] = 0.0 if held.silent[each.speed] else -1.0
            else:
                columns[("s_p", "Gv_p", "g_p")[each.order]][each.row, k] = -1.0
        return slopes._replace(**columns)

    def _output_matrices(self, at: _ConstrainedState, small: SmallMotions, p: Array) -> tuple[Array, Array, Array]:
        """Return C, D and y0."""
        held = at.state
        y = self.outputs(held.q, held.v, at.a, at.multipliers, at.x, held.tau, p, held.constraints.t)
        forces = solver(held.rows.T)(small.load)[: held.constraints.rows]
        self._check_unique(held, y.y_l)
        n = len(small.A)
        moved = y.y_q @ small.displacement + y.y_v @ small.speed + y.y_a @ small.acceleration + y.y_x @ small.states
        total = moved + y.y_l @ forces
        return total[:, :n], self._with_direct_effect(y, total[:, n:], held), y.y[:, 0]

    def _with_direct_effect(self, y: OutputSlopes, D: Array, held: HeldState) -> Array:
        """Add to D (p, m) the direct effect of the inputs on the outputs."""
        of_parameters = iter(y.y_p.T)
        for k, each in enumerate(self.inputs.table):
            if each.parameter:
                D[:, k] += next(of_parameters)
            elif each.speed >= 0 and not held.silent[each.speed]:
                D[:, k] += y.y_tau[:, each.speed]
        return D

    def _check_unique(self, held: HeldState, y_l: Array) -> None:
        """Check that no output depends on multipliers left undetermined by redundant constraints. Raises ModelError."""
        if not y_l.any() or not held.constraints.rows:
            return
        from core.numerics.matrix_forms import dense

        open_ones = dense(held.constraints.stresses(held.q))
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

    def _assembled_system(
        self, small: SmallMotions, C: Array, D: Array, y0: Array, rest: _EvaluatedState, names: tuple[str, ...]
    ) -> LinearSystem:
        k, inputs = len(rest.chosen), self.inputs.table
        A, B = small.A, small.B
        u0 = np.array([self._input_value(each, rest) for each in inputs])
        measured = [speed_dimension(self.mech, i) for i in rest.chosen]
        state_names = (*(f"{name}.q" for name in names[:k]), *(f"{name}.v" for name in names[:k]), *names[k:])
        units = [*("rad" if each == "angular_velocity" else "m" for each in measured), *(SI[each] for each in measured)]
        units += [""] * len(names[k:])
        x0 = np.concatenate([self._chosen_positions(rest), rest.v[rest.chosen], rest.x[rest.kept]])
        residual = np.concatenate([rest.v[rest.chosen], rest.a[rest.chosen], rest.x_rate])
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
                tuple(_unit(each.dimension) for each in inputs),
                self.outputs.units,
            ),
            x0,
            u0,
            y0,
            residual,
            rest.q,
            rest.v,
            rest.a,
            rest.at.tau,
            small.displacement,
            self._vibration_modes(small, rest, names[k:]),
            rest.point.t,
            names[:k],
            rest.at.saturated,
            rest.at.limited,
            rest.at.overrun,
            rest.at.stuck,
        )
        return self._driven.integrated(system)

    def _vibration_modes(self, small: SmallMotions, rest: _EvaluatedState, states: Sequence[str]) -> tuple[Any, ...]:
        k = len(rest.chosen)
        A = small.A
        if not len(A):
            return ()
        values, vectors = np.linalg.eig(A)
        order = np.lexsort((values.imag, np.round(np.abs(values), 9)))
        values, vectors = values[order], vectors[:, order]
        B = small.displacement[:, :k]
        return modes_of(values, B @ vectors[:k], rest.at.constraints, vectors[2 * k :], states)

    def _chosen_positions(self, rest: _EvaluatedState) -> Array:
        """Return the coordinates (k,) of the chosen speeds; 0 for rotations by quaternions."""
        mech = self.mech
        return np.array(
            [
                rest.q[mech.q_names.index(mech.v_names[i])] if mech.v_names[i] in mech.q_names else 0.0
                for i in rest.chosen
            ]
        )

    def _input_value(self, each: Input, rest: _EvaluatedState) -> float:
        """Return the value of an input at the state; 0 for drivers, whose input is the deviation from their
        function."""
        if each.speed >= 0:
            return float(rest.point.tau[each.speed])
        own = float(rest.p[self.mech.p_names.index(each.parameter)]) if each.parameter else 0.0
        return own + (self._gravity_component(each, rest.point) if each.name.startswith("gravity.") else 0.0)

    def _gravity_component(self, each: Input, point: Point) -> float:
        """Return a component of the document's gravity, which may be a formula of parameters."""
        from core.model.formula.expression import evaluate, parse

        value = self.given.model.expanded.world.gravity.acceleration["xyz".index(each.name[-1])]
        if not isinstance(value, str):
            return float(value)
        names = self.given.p_names
        p = dict(zip(self.mech.p_names, self.values(point.p), strict=True))
        return float(evaluate(parse(value), self.given.model.values({name: p[name] for name in names})))


class _ConstrainedState(NamedTuple):
    """A state on the constraint manifold, with derivatives, and the motions B of the chosen speeds."""

    state: HeldState
    slopes: Equations
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
    point: Point
    chosen: list[int]
    kept: list[int]
    at: HeldState
    p: Array


class _DriverStates:
    """Driver inputs: of value, rate and second rate the lower ones become states, each the integral of the next. A
    driver of speeds always has the value as state, a driver of accelerations value and rate."""

    def __init__(self, mech: Mechanism, table: Sequence[Input], driver_as: str) -> None:
        self._chains: list[tuple[list[int], int]] = []
        for k, each in enumerate(table):
            if each.row >= 0 and each.order == 0:
                level = mech.compiled.rows[each.row].level
                self._chains.append(([k, k + 1, k + 2], 2 if driver_as == "acceleration" else level))

    def integrated(self, system: LinearSystem) -> LinearSystem:
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


def _unit(dimension: str) -> str:
    return SI.get(dimension) or DERIVED.get(dimension, "")
