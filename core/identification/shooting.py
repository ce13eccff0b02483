"""Multiple shooting: a run is divided into segments, which are compared with measured channels; residuals with exact
derivatives.

Multiple shooting (H. G. Bock, Recent advances in parameter identification techniques for o.d.e., 1983): each segment
begins from a state of its own, and where one ends the next has to begin. What opens there is linear in the steps of
parameters and states, so the states of all but the first segment are eliminated (condensing), and a step is one of
least squares in the parameters and the start state alone.

Poses are displacements from a base pose, one number per degree of freedom. A displacement ξ (nv,) of a pose from
another, the base, is a vector of rotation along the speeds of quaternions (their logarithm), and of plain coordinates
the coordinate itself. Where loops hold the machine, those of its independent speeds are given, and the others are such
that the loops close.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.constraint_rank import PositionConstraints
from core.errors import AssemblyError, SimulationError
from core.identification.differenced_runs import differentiate_segment
from core.identification.sensitivities.explicit_rates import EvaluationPoints
from core.identification.sensitivities.gradient import DifferentiatedRun
from core.identification.sensitivities.replay import NotDifferentiableError
from core.identification.sensitivities.seen import OutputEvaluator
from core.identification.sensitivities.start_state_derivatives import (
    InitialState,
    choose_independent_speeds,
    coordinate_rate_matrix,
)
from core.identification.sensitivities.steps import SampleTimes
from core.mechanism import Mechanism
from core.numerics.matrix_forms import to_dense
from core.numerics.tolerances import RANK_TOLERANCE, SOLVED_GAP
from core.simulation import Run, simulate
from core.simulation.run.initial_state import start_state

Array = NDArray[np.float64]


SMALL = 1e-5
"""Rotation step of the finite differences of displacements, rad."""
MOST_CLOSINGS = 30
"""Largest number of Newton steps for loop closure."""
LONGEST_CLOSING = 0.5
"""Longest Newton step for loop closure, rad or m."""


def displacements_from_base(mech: Mechanism, base: Array, q: Array) -> Array:
    """Return the displacements (nv,) ξ of a pose from the base pose."""
    found = np.array(mech.difference(base, q))
    for k, name in enumerate(mech.v_names):
        if name in mech.q_names:
            found[k] = q[mech.q_names.index(name)]
    return found


def displace_pose(mech: Mechanism, base: Array, xi: Array) -> Array:
    """Return the pose (nq,) at displacements (nv,) from the base pose."""
    plain = [(k, mech.q_names.index(name)) for k, name in enumerate(mech.v_names) if name in mech.q_names]
    along = np.array(xi)
    along[[k for k, _ in plain]] = 0.0
    q = np.array(mech.integrate(base, along))
    for k, place in plain:
        q[place] = xi[k]
    return q


def differentiate_displacements(mech: Mechanism, base: Array, q: Array) -> Array:
    """Differentiate displacements (nv, nv) ∂ξ with respect to small motions of q along the speeds, by differences: the
    inverse of the right Jacobian of the rotations."""
    columns = []
    for unit in np.eye(mech.nv):
        ahead, behind = (mech.difference(base, mech.integrate(q, sign * SMALL * unit)) for sign in (1.0, -1.0))
        columns.append((np.asarray(ahead) - np.asarray(behind)) / (2.0 * SMALL))
    return np.column_stack(columns)


def motions_of_independent_speeds(constraints: PositionConstraints, q: Array, independent: Sequence[int]) -> Array:
    """Return the speeds (nv, k) at a closed pose, one column for each independent speed, which is 1 in its column."""
    G = np.asarray(to_dense(constraints.jacobian(q)))
    free = np.setdiff1d(np.arange(G.shape[1]), independent)
    found = np.zeros((G.shape[1], len(independent)))
    found[list(independent), range(len(independent))] = 1.0
    found[free] = -np.linalg.pinv(G[:, free], rcond=RANK_TOLERANCE) @ G[:, list(independent)]
    return found


def close_displaced_pose(
    mech: Mechanism, base: Array, independent: Sequence[int], values: Array, initial_pose: Array, p: Any, t: float
) -> Array:
    """Compute the closed pose (nq,) that has given displacements along the independent speeds, starting from an initial
    pose (Newton's method). Raises AssemblyError if the loops do not close."""
    constraints = PositionConstraints(mech.compiled, p, t)
    free = np.setdiff1d(np.arange(mech.nv), independent)
    positions = np.array([row.level == 0 for row in constraints.names], dtype=bool)
    xi = displacements_from_base(mech, base, initial_pose)
    xi[list(independent)] = values
    q, gap = displace_pose(mech, base, xi), np.inf
    for _ in range(MOST_CLOSINGS):
        residual = constraints.residual(q)
        before, gap = gap, float(np.max(np.abs(residual), initial=0.0))
        if not np.isfinite(gap) or gap == 0.0 or (gap < SOLVED_GAP and gap >= 0.5 * before):
            break
        G = np.asarray(to_dense(constraints.jacobian(q)))[positions]
        along = G @ np.linalg.inv(differentiate_displacements(mech, base, q))
        step = -np.linalg.lstsq(along[:, free], residual, rcond=RANK_TOLERANCE)[0]
        xi[free] += step * min(1.0, LONGEST_CLOSING / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
        q = displace_pose(mech, base, xi)
    if not gap < SOLVED_GAP:
        names = ", ".join(mech.v_names[k] for k in independent)
        error = AssemblyError(
            f"The loops do not close with the initial values of {names}; the residual is {gap:.3g}.",
            where="fit",
            remedy="Give better initial values, or fit fewer of them.",
        )
        error.q = q
        raise error
    return q


@dataclass(frozen=True, eq=False)
class Segment:
    """Segment of a trace. Rows first … last − 1; begin, end : s; free : names of its unknown initial values ("x.q",
    "x.v", states of force elements)."""

    first: int
    last: int
    begin: float
    end: float
    free: tuple[str, ...]


class SegmentRun(NamedTuple):
    """Run of one segment. residuals (n, c) : measured minus computed; slopes (n, c, m) : derivatives of the computed
    channels with respect to parameters, then free initial values; state (n,) at the end, and its derivatives (n, m);
    pose (nq,) at the beginning"""

    residuals: Array
    slopes: Array
    state: Array
    state_slopes: Array
    pose: Array


class CondensedProblem(NamedTuple):
    """Condensed problem of all segments. residuals (N, c), with the mismatches between segments closed to first order;
    slopes (N, c, m) with respect to parameters and the first segment's free values; mismatches : at the start of each
    other segment; onto : (A, e), by which its initial values step by A d + e"""

    residuals: Array
    closed: Array
    slopes: Array
    mismatches: tuple[Array, ...]
    onto: tuple[tuple[Array, Array], ...]


class MultipleShooting:
    """Multiple-shooting problem of one machine, with parameters `vary`, for channels `outputs`, measured (N, c) at
    times (N,)."""

    def __init__(
        self,
        mech: Mechanism,
        vary: Sequence[str],
        outputs: Sequence[str],
        time: Array,
        measured: Array,
        *,
        free: Sequence[str],
        q0: Mapping[str, Any],
        v0: Mapping[str, Any],
        segments: int,
        torque: Any,
        options: Mapping[str, Any],
    ) -> None:
        self.mech, self.vary, self.outputs = mech, tuple(vary), tuple(outputs)
        self.time, self.measured, self.torque, self.options = time, measured, torque, dict(options)
        self.q0, self.v0 = dict(q0), dict(v0)
        self.places = [mech.p_names.index(name) for name in vary]
        self.differences = ""
        """Reason why slopes are differences of runs; "" if they are exact."""
        edges = np.linspace(0, len(time), segments + 1).round().astype(int)
        states = self._start_value_names(mech.rest(t=float(time[0]))) if segments > 1 else ()
        self.segments = tuple(
            Segment(int(a), int(b), float(time[a]), float(time[min(b, len(time) - 1)]), states if a else tuple(free))
            for a, b in itertools.pairwise(edges)
        )
        self.names = (*self.vary, *free)
        self.bases: list[Array | None] = [None] * len(self.segments)
        """(nq,) poses from which the displacements of quaternions are counted with which segments begin."""
        self._independent: dict[int, tuple[int, ...]] = {}
        """Of segments that begin displaced: speeds along which these displacements are given."""

    def _start_value_names(self, q: Array) -> tuple[str, ...]:
        """Return the names of the initial values of a segment."""
        mech = self.mech
        names = mech.v_names
        if mech.constrained:
            G = mech.constraint_jacobian(q, t=float(self.time[0]))
            given = [mech.v_names.index(name) for name in names if f"{name}.q" in self.outputs]
            p = mech.parameter_values()
            names = tuple(
                mech.v_names[k] for k in choose_independent_speeds(mech, p, float(self.time[0]), G, (), given)
            )
        return (*(f"{name}.q" for name in names), *(f"{name}.v" for name in names), *mech.x_names)

    def of(self, segment: Segment, state: Array) -> Array:
        """Extract a segment's initial values from a state (n,)."""
        nq, nv, mech = self.mech.nq, self.mech.nv, self.mech
        values = {f"{name}.q": 0.0 for name in mech.v_names}
        values |= {f"{name}.q": state[mech.q_names.index(name)] for name in mech.q_names}
        values |= {f"{name}.v": state[nq + k] for k, name in enumerate(mech.v_names)}
        values |= {name: state[nq + nv + k] for k, name in enumerate(mech.x_names)}
        return np.array([values[name] for name in segment.free])

    def _values_continuing_previous(self, segment_index: int, previous: SegmentRun) -> tuple[Array, Array]:
        """Return the initial values (o,) with which a segment would continue the previous one, and their derivatives
        (o, m)."""
        segment, mech = self.segments[segment_index], self.mech
        nq, nv = mech.nq, mech.nv
        every = [*(f"{n}.q" for n in mech.v_names), *(f"{n}.v" for n in mech.v_names), *mech.x_names]
        rows = [every.index(name) for name in segment.free]
        if nq == nv:
            return previous.state[rows], previous.state_slopes[rows]
        base, q = self._base_pose(segment_index), previous.state[:nq]
        places = displacements_from_base(mech, base, q)
        along = differentiate_displacements(mech, base, q) @ np.linalg.pinv(coordinate_rate_matrix(mech, q))
        state = np.concatenate([places, previous.state[nq:]])
        slopes = np.concatenate([along @ previous.state_slopes[:nq], previous.state_slopes[nq:]])
        return state[rows], slopes[rows]

    def _displacing_speeds(self, segment: Segment) -> list[str]:
        """Return the names of a segment's initial values that displace quaternions."""
        plain = {f"{name}.q" for name in self.mech.q_names}
        return [name[:-2] for name in segment.free if name.endswith(".q") and name not in plain]

    def _base_pose(self, segment_index: int) -> Array:
        """Return the base pose (nq,) from which the displacements of a segment are measured."""
        found = self.bases[segment_index]
        if found is None:
            mech = self.mech
            p, begin = mech.parameter_values(), self.segments[segment_index].begin
            found = start_state(mech, self.q0 or None, self.v0 or None, p, begin)[: mech.nq]
            self.bases[segment_index] = found
        return found

    @cached_property
    def _default_start_speeds(self) -> dict[str, float]:
        """Return the default initial speeds of the first segment."""
        mech, begin = self.mech, self.segments[0].begin
        y = start_state(mech, self.q0 or None, self.v0 or None, mech.parameter_values(), begin)
        return dict(zip(mech.v_names, y[mech.nq : mech.nq + mech.nv].tolist(), strict=True))

    def _displaced_speeds(self, segment_index: int) -> tuple[int, ...]:
        """Return the speeds along which a segment's pose is displaced: all, or the independent ones if there are
        loops."""
        mech = self.mech
        if not mech.constrained:
            return tuple(range(mech.nv))
        if segment_index not in self._independent:
            segment, base = self.segments[segment_index], self._base_pose(segment_index)
            asked = [mech.v_names.index(name[:-2]) for name in segment.free if name[:-2] in mech.v_names]
            given = [mech.v_names.index(name) for name in (*self.q0, *self.v0) if name in mech.v_names]
            p, t = mech.parameter_values(), segment.begin
            found = choose_independent_speeds(
                mech, p, t, mech.constraint_jacobian(base, t=t), asked, given if segment_index == 0 else ()
            )
            self._independent[segment_index] = tuple(found)
        return self._independent[segment_index]

    def _start_pose(
        self, segment_index: int, start_values: Mapping[str, float], p: Array, nearby_pose: Array | None
    ) -> Array:
        """Return the closed initial pose (nq,) of a segment that displaces quaternions."""
        mech, base = self.mech, self._base_pose(segment_index)
        xi = displacements_from_base(mech, base, base)
        for at, name in enumerate(mech.v_names):
            xi[at] = start_values.get(f"{name}.q", xi[at])
        if not mech.constrained:
            return displace_pose(mech, base, xi)
        along = list(self._displaced_speeds(segment_index))
        begin = self.segments[segment_index].begin
        return close_displaced_pose(
            mech, base, along, xi[along], base if nearby_pose is None else nearby_pose, self.parameters(p), begin
        )

    # ------------------------------------------------------------------------------------------------ one segment

    def parameters(self, p: Array) -> dict[str, float]:
        """Return the values of all parameters, with p (m,) for those that are varied."""
        values = dict(zip(self.mech.p_names, self.mech.parameter_values().tolist(), strict=True))
        return values | dict(zip(self.vary, p.tolist(), strict=True))

    def start(
        self, segment_index: int, p: Array, z: Array, nearby_pose: Array | None
    ) -> tuple[InitialState, dict[str, Any]]:
        """Return the start of a segment with initial values z: as input of the derivatives, and as options of
        `simulate`."""
        segment, mech = self.segments[segment_index], self.mech
        own = dict(zip(segment.free, z.tolist(), strict=True))
        v = {name[:-2]: value for name, value in own.items() if name.endswith(".v")}
        x = np.array([own[name] for name in mech.x_names]) if mech.nx and segment_index else None
        if segment_index == 0:
            v = {**self.v0, **v}
        if self._starts_displaced(segment_index):
            q: Any = self._start_pose(segment_index, own, p, nearby_pose)
            held = tuple(mech.v_names[at] for at in self._displaced_speeds(segment_index)) if mech.constrained else ()
            if len(v) < len(held):
                v = {name: self._default_start_speeds[name] for name in held} | v
            given = InitialState(q, v or None, x, segment.begin, held)
            return given, {"q0": q, "v0": given.v0, "x0": x}
        q = {name[:-2]: value for name, value in own.items() if name.endswith(".q")}
        if segment_index == 0:
            q = {**self.q0, **q}
            given = InitialState(q or None, v or None, None, segment.begin)
            return given, {"q0": given.q0, "v0": given.v0}
        given = InitialState(q, v, x, segment.begin)
        if nearby_pose is None or not mech.constrained:
            return given, {"q0": q, "v0": v, "x0": x}
        values = self.parameters(p)
        pose = mech.move(nearby_pose, q, values, t=segment.begin, exact=True)
        return given, {"q0": pose, "v0": mech.speeds(pose, v, p=values, t=segment.begin), "x0": x}

    def _starts_displaced(self, segment_index: int) -> bool:
        """Return True if a segment starts from displacements of a base pose, since its initial values contain
        quaternions."""
        return bool(self._displacing_speeds(self.segments[segment_index])) or (
            segment_index > 0 and self.mech.nq != self.mech.nv
        )

    def run(
        self,
        segment_index: int,
        p: Array,
        z: Array,
        nearby_pose: Array | None = None,
        end: float | None = None,
        sample_interval: float | None = None,
    ) -> tuple[Run, InitialState]:
        """Simulate a segment up to time `end`, with samples at the given interval."""
        segment = self.segments[segment_index]
        duration = (segment.end if end is None else end) - segment.begin
        given, begin = self.start(segment_index, p, z, nearby_pose)
        options = {**self.options, **begin, "parameters": self.parameters(p), "start": segment.begin}
        if sample_interval is not None:
            options["output"] = sample_interval
        elif end is None:
            options["output"] = duration
        return simulate(self.mech, duration, torque=self.torque, **options), given

    def simulate_with_derivatives(
        self, segment_index: int, p: Array, z: Array, nearby_pose: Array | None
    ) -> SegmentRun:
        """Simulate a segment with derivatives. Raises SimulationError if the run cannot continue."""
        if not self.differences:
            run, given = self.run(segment_index, p, z, nearby_pose)
            try:
                return self._evaluate_exact_derivatives(segment_index, z, run, given)
            except (NotDifferentiableError, SimulationError) as error:
                self.differences = f"{error.where}: {error.what}" if error.where else error.what
        found = differentiate_segment(self, segment_index, p, z, nearby_pose)
        segment = self.segments[segment_index]
        residuals = self.measured[segment.first : segment.last] - found.seen.values
        return SegmentRun(residuals, found.slopes, found.seen.state, found.state_slopes, found.seen.pose)

    def _evaluate_exact_derivatives(self, segment_index: int, z: Array, run: Run, start: InitialState) -> SegmentRun:
        """Evaluate a segment with exact derivatives of the run. Raises NotDifferentiableError, SimulationError."""
        segment, displaced = self.segments[segment_index], self._starts_displaced(segment_index)
        if displaced and start.fixed and self.mech.nx and start.x0 is None:
            raise NotDifferentiableError(
                "force elements start in equilibrium in segments whose loops contain quaternions"
            )
        every = [f"{self.mech.v_names[at]}.q" for at in self._displaced_speeds(segment_index)] if displaced else []
        beside = [name for name in every if name not in segment.free]
        found = DifferentiatedRun(run, (*self.vary, *segment.free, *beside), start, self.torque)
        times = np.append(self.time[segment.first : segment.last], segment.end)
        samples = SampleTimes.of(found.replay.steps, times)
        moments: EvaluationPoints = samples.evaluation_points(found.replay.rates, found.replay.steps)
        changes = found.changes.forward(samples)
        seen = OutputEvaluator(found.replay, self.outputs)(moments)
        slopes = seen.by_y @ changes
        of_p = found.changes.columns >= 0
        slopes[:, :, of_p] += seen.by_p[:, :, found.changes.columns[of_p]]
        residuals = self.measured[segment.first : segment.last] - seen.y[:-1]
        slopes, last = slopes[:-1], changes[-1]
        if displaced:
            names = (*segment.free, *beside)
            places = [len(self.vary) + names.index(name) for name in every]
            onto = self._displacement_transform(segment_index, run, found.changes.start, places)
            slopes, last = slopes @ onto, last @ onto
        own = len(self.vary) + len(segment.free)
        return SegmentRun(residuals, slopes[:, :, :own], moments.y[-1], last[:, :own], run.q[0])

    def _displacement_transform(self, segment_index: int, run: Run, start: Array, columns: Sequence[int]) -> Array:
        """Return the matrix (c, c) that converts derivatives with respect to motions of the first pose along its
        speeds, in the selected columns, to derivatives with respect to displacements from the base; start (n, c)
        initial change of the state.

        With ξ the displacements along independent speeds s, B motions of the pose by these and A = ∂ξ:
        δs = (A B)_s⁻¹ δξ, and a parameter that moves the pose by δ leaves ξ where δs = −(A B)_s⁻¹ (A δ)_s.
        """
        mech, along, m = self.mech, list(self._displaced_speeds(segment_index)), len(self.vary)
        q = run.q[0]
        A = differentiate_displacements(mech, self._base_pose(segment_index), q)
        onto = np.eye(start.shape[1])
        if not mech.constrained:
            onto[np.ix_(columns, columns)] = np.linalg.inv(A)[np.ix_(along, along)]
            return onto
        constraints = PositionConstraints(mech.compiled, run.settings.parameters, self.segments[segment_index].begin)
        inverse = np.linalg.inv((A @ motions_of_independent_speeds(constraints, q, along))[along])
        moved = A @ np.linalg.pinv(coordinate_rate_matrix(mech, q)) @ start[: mech.nq, :m]
        onto[np.ix_(columns, columns)] = inverse
        onto[np.ix_(columns, range(m))] = -inverse @ moved[along]
        return onto

    # ------------------------------------------------------------------------------------------------ all of them

    def condense(self, segment_runs: Sequence[SegmentRun], start_values: Sequence[Array]) -> CondensedProblem:
        """Assemble all segments into a condensed problem."""
        m, first = len(self.vary), segment_runs[0]
        mismatches: list[Array] = []
        onto: list[tuple[Array, Array]] = []
        closed, slopes = [first.residuals], [first.slopes]
        A, e = np.zeros((0, 0)), np.zeros(0)
        for k, (before, now) in enumerate(itertools.pairwise(segment_runs), 1):
            reached, changes = self._values_continuing_previous(k, before)
            mismatch = reached - start_values[k]
            by_p, by_own = changes[:, :m], changes[:, m:]
            if k == 1:
                A, e = np.hstack([by_p, by_own]), mismatch
            else:
                A, e = by_own @ A, by_own @ e + mismatch
                A[:, :m] += by_p
            mismatches.append(mismatch)
            onto.append((A, e))
            whole = now.slopes[:, :, m:] @ A
            whole[:, :, :m] += now.slopes[:, :, :m]
            closed.append(now.residuals - now.slopes[:, :, m:] @ e)
            slopes.append(whole)
        residuals = np.concatenate([each.residuals for each in segment_runs])
        return CondensedProblem(
            residuals, np.concatenate(closed), np.concatenate(slopes), tuple(mismatches), tuple(onto)
        )
