"""Real-time simulation of a machine, advanced in short slices while the user may pull at a body.

As long as nobody does, and no damping is added, it is the motion that `core.simulation.simulate` gives from the same
state with the same settings: the same steps of the same method.

Within a slice of a few milliseconds a pull is constant. It is the force of a spring and damper between a point of a
body and the hand, taken implicitly: with A = J M⁻¹ Jᵀ (3×3, inverse of the mass that the point shows) the force at the
end of the slice, f = k (d − h (v + h A f)) − c (v + h A f), is solved for, so that light bodies do not make it unstable
(Baraff and Witkin, Large steps in cloth simulation, 1998, eq. 5, for one point).

The equations are prepared once (`Slices`), and integration continues as in a single run until the state or the joint
forces are changed from outside; it then restarts from the changed state.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.constraints.row_forces import sticking_force_change
from core.errors import SimulationError
from core.mechanism import Mechanism
from core.model.formula.expression import evaluate, parse
from core.model.model import check_kinds_known
from core.model.parameters import parameter_values
from core.simulation.equations.joint_forces import Torque, constant_forces, formula_names
from core.simulation.events.contact_columns import (
    FRICTION,
    STOP_FORCE,
    WITHHELD,
    cumulative_columns,
    modes_differ,
    row_columns,
)
from core.simulation.methods.method import ATOL, AUTOMATIC, RTOL
from core.simulation.run.contact_channels import ContactChannels, ContactElement
from core.simulation.run.cut_torques import apply_cut_torques
from core.simulation.run.driver_jumps import check_driver_jumps
from core.simulation.run.initial_state import start_state
from core.simulation.run.run import Run, Statistics
from core.simulation.run.settings import AUTOMATIC_FACTORS, Values, check_settings, plain_torque
from core.simulation.simulator import SimulationJob

Array = NDArray[np.float64]


class SliceIntegrator:
    """Integrates a machine slice by slice, starting from any state."""

    def __init__(
        self,
        mech: Mechanism,
        y: Array,
        h: float,
        *,
        torque: Torque,
        start: float,
        duration: float,
        closed_forms: bool | None,
        max_steps: int,
        **chosen: Any,
    ) -> None:
        """Prepare the equations. y (nq + nv + nx,): a state representative of those to come, at the time `start`; h:
        length of slices, s; duration: s, step sizes are chosen as in a run of this length; max_steps: step limit per
        slice; all else as for `check_settings`.

        Raises KinetostatError if the settings or the machine do not fit.
        """
        whole = {**chosen, "output": None, "start": start, "torque": torque, "max_steps": max_steps}
        check_driver_jumps(mech, check_settings(mech, duration, **whole))
        self._chosen, self._duration = check_settings(mech, h, **{**whole, "output": h}), duration
        self._job = SimulationJob(mech, self._chosen, y, torque, closed_forms)
        self._job.budget = max_steps
        self._last: Run | None = None
        """The slice before, if it ended well."""

    def integrate_slice(self, y: Array, start: float, h: float, u: Array | None = None) -> Run:
        """Integrate from y = (q, v, x) for h seconds and return a run of two samples. Applies the torque given at
        construction or, instead, joint forces u (nv,) that are constant over the slice.

        y fulfils what holds the machine. Raises SimulationError when the motion cannot go on.
        """
        began, job = time.perf_counter(), self._job
        kept = self._last if u is None and self._can_continue(y, start, h) else None
        if kept is None:
            job.restart(y, start)
            free = start + self._duration, self._chosen.step or self._duration
            end, job.state.limit = free if u is None else (start + h, h)
            job.set_end(end)
        if u is not None:
            job.equations.u[:] = u
        state, done = job.state, 0 if kept is None else 1
        before, used = (state.accepted, state.rejected, state.calls), job.cpu
        state.sample, state.part, state.most = done, 0, before[0] + before[1] + self._chosen.max_steps
        state.times[:] = start, start + h
        self._last = None
        pieces = [] if kept is None else [_last_sample(kept)]
        while done < 2:
            piece, happened = job.compute_piece(done, 2 - done)
            error = None
            if job.watched:
                piece, error = job.keep_agreeing_samples(piece)
            if error is None and happened:
                error = job.error(happened)
            if error is not None:
                raise error
            pieces.append(piece)
            state = job.state  # another one, where the machine proved stiff
            done = state.sample
        steps, rejected, calls = state.accepted - before[0], state.rejected - before[1], state.calls - before[2]
        seconds, cpu = time.perf_counter() - began, job.cpu - used
        costs = Statistics(steps, rejected, calls, seconds=seconds, cpu=cpu, notes=job.collect_notes())
        self._last = _join_runs(pieces, costs)
        return self._last

    def _can_continue(self, y: Array, start: float, h: float) -> bool:
        """Return True if the state was not changed since the previous slice, so that the integrator may continue."""
        last = self._last
        if last is None or last.time[-1] != start or start + h > self._job.end:
            return False
        return np.array_equal(np.concatenate([last.q[-1], last.v[-1], last.x[-1]]), y)


ARRAYS = ("time", "q", "v", "a", "tau", "x", "modes")


def _last_sample(run: Run) -> Run:
    """Return a run that holds the last sample only."""
    return replace(run, **{name: getattr(run, name)[-1:] for name in ARRAYS})


def _join_runs(pieces: list[Run], statistics: Statistics) -> Run:
    arrays: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in ARRAYS}
    return replace(pieces[0], statistics=statistics, **arrays)


SLICE = 0.004
"""s: length of a slice, during which the pull is constant, and while it acts also forces given as formulas."""
STIFFNESS = (2.0 * math.pi * 2.0) ** 2
"""Stiffness of the pull per kilogram of the machine, 1/s²: the whole machine swings on it at 2 Hz."""
DAMPING_RATIO = 0.7
MOST_STEPS = 5_000
"""Largest number of integrator steps per slice; a machine that needs more cannot be simulated in real time."""
HELD = {FRICTION: "stick", STOP_FORCE: "closed", WITHHELD: "at limit"}
"""Contact state in which a row is active, for each kind of its force."""
DURATION = 10.0
"""s: step sizes are chosen as for a run of this length unless another is given."""


class Pull(NamedTuple):
    """Pull of the user at a frame: local (3,): gripped point in the frame's axes, m; target (3,): position of the hand,
    m, world; force (3,): N, world."""

    frame: str
    local: Array
    target: Array
    force: Array


class Live:
    """State of a real-time simulation: q (nq,), v (nv,), x (nx,) of force elements, time (s)."""

    def __init__(
        self,
        mech: Mechanism,
        q0: Values = None,
        v0: Values = None,
        x0: Values = None,
        *,
        start: float = 0.0,
        duration: float = DURATION,
        method: str = AUTOMATIC,
        step: float | None = None,
        rtol: float = RTOL,
        atol: float = ATOL,
        parameters: Mapping[str, float] | None = None,
        torque: Torque = None,
        closed_forms: bool | None = None,
        closing: float | None = None,
        factorisation: str = AUTOMATIC_FACTORS,
        damping: float = 0.0,
    ) -> None:
        """Begin like `core.simulation.simulate`, but with an open duration; samples are `SLICE` apart.

        damping : 1/s; joint forces −damping · M v that slow all motion down at this rate, like a thick fluid

        Raises KinetostatError if the state, the settings or the forces do not fit the machine.
        """
        check_kinds_known(mech.model.expanded)
        mech, torque = apply_cut_torques(mech, torque)
        self.mech, self.parameters = mech, dict(parameters or {})
        self.damping, self._dampings = damping, set[float]()
        """Of the last: rates that have acted."""
        self.time = start
        self.pull: Pull | None = None
        self._p = mech.parameter_values(self.parameters)
        self._torque = torque
        self._given = constant_forces(mech, torque)
        self._formulas = None if self._given is not None else _compile_formulas(mech, torque, self._p)  # type: ignore[arg-type]
        self._strength = STIFFNESS * _total_mass(mech)
        self._settings: dict[str, Any] = {
            "method": method,
            "step": step,
            "rtol": rtol,
            "atol": atol,
            "duration": duration,
            "parameters": self.parameters or None,
            "closed_forms": closed_forms,
            "closing": closing,
            "factorisation": factorisation,
        }
        self._free: SliceIntegrator | None = None
        self._forced: SliceIntegrator | None = None
        self._rows: list[Run] = []
        self._things: dict[str, tuple[int, ContactElement]] | None = None
        self.seconds = 0.0
        """Time of calculation so far, s."""
        self.q, self.v, self.x = self._initial_state(q0, v0, x0)

    def _initial_state(self, q0: Values, v0: Values, x0: Values = None) -> tuple[Array, Array, Array]:
        """Return the initial state of a run with these values."""
        y = start_state(self.mech, q0, v0, self._p, self.time, x0)
        last = self.mech.nq + self.mech.nv
        return y[: self.mech.nq], y[self.mech.nq : last], y[last:]

    # ------------------------------------------------------------------------------- the hand

    def grab(self, frame: str, local: Any, target: Any) -> None:
        """Grip a point of a body; `hold` moves the hand."""
        self.pull = Pull(frame, np.array(local, dtype=float), np.array(target, dtype=float), np.zeros(3))

    def hold(self, target: Any) -> None:
        """Move the hand to target (3,), m, world."""
        if self.pull is not None:
            self.pull = self.pull._replace(target=np.array(target, dtype=float))

    def release_grip(self) -> None:
        """Release the gripped body."""
        self.pull = None

    def set_pose(self, q: Values, v: Values = None) -> None:
        """Set the pose by hand, together with the speeds that the hand gave it, as arguments of `simulate`. Loops are
        closed, speeds made consistent, and force element states set to rest.

        Raises KinetostatError if the loops do not close, or the values do not fit.
        """
        q, v, _ = self._initial_state(q, np.zeros(self.mech.nv) if v is None else v)
        # angles go on counting turns from where they were
        x = np.asarray(self.mech.x_rest(q, p=self._p, t=self.time, v=v, near=self.x))
        self.q, self.v, self.x = q, v, x

    def point(self) -> Array:
        """Return the position (3,) of the gripped point, m, world."""
        assert self.pull is not None
        X_WF = np.asarray(self.mech.frame(self.q, self.pull.frame, p=self._p))
        return np.asarray(X_WF[:3, 3] + X_WF[:3, :3] @ self.pull.local)

    # ------------------------------------------------------------------------------- going on

    def advance(self, duration: float) -> None:
        """Advance the simulation by `duration` seconds, in slices.

        Raises SimulationError when the motion cannot go on; the state is then the last good one.
        """
        count = max(1, round(duration / SLICE))
        for _ in range(count):
            self._advance_slice(duration / count)

    def _advance_slice(self, h: float) -> None:
        y = np.concatenate([self.q, self.v, self.x])
        if self.damping > 0.0 or self.pull is not None:
            tau = self._slice_forces(h)
            self._forced = self._forced or self._prepare_slices(y, h, np.zeros(self.mech.nv))
            run = self._forced.integrate_slice(y, self.time, h, tau)
        else:
            self._free = self._free or self._prepare_slices(y, h, self._torque)
            run = self._free.integrate_slice(y, self.time, h)
        if self.damping > 0.0:
            self._dampings.add(self.damping)
        self.seconds += run.statistics.seconds
        self._rows.append(run)
        self.q, self.v, self.x, self.time = run.q[-1], run.v[-1], run.x[-1], float(run.time[-1])

    def _prepare_slices(self, y: Array, h: float, torque: Torque) -> SliceIntegrator:
        return SliceIntegrator(self.mech, y, h, torque=torque, start=self.time, max_steps=MOST_STEPS, **self._settings)

    def _slice_forces(self, h: float) -> Array:
        """Return the joint forces (nv,) of this slice."""
        if self._given is not None:
            tau = self._given.copy()
        else:
            assert self._formulas is not None
            middle = self.mech.integrate(self.q, self.v, 0.5 * h)  # where the slice is on average
            tau = np.array(self._formulas(self.time + 0.5 * h, middle, self.v), dtype=float).reshape(-1)
        needs_mass = self.damping > 0.0 or self.pull is not None
        M = np.asarray(self.mech.mass_matrix(self.q, p=self._p)) if needs_mass else np.zeros((0, 0))
        if self.damping > 0.0:
            # the implicit rate γ/(1 + h γ) never turns a motion round
            tau -= self.damping / (1.0 + h * self.damping) * (M @ self.v)
        if self.pull is not None:
            tau += self._pull_forces(M, h)
        return tau

    def _pull_forces(self, M: Array, h: float) -> Array:
        """Return the joint forces (nv,) Jᵀ f of the pull, and store f."""
        pull = self.pull
        assert pull is not None
        J = self._point_jacobian()
        d, v = pull.target - self.point(), J @ self.v
        A = J @ np.linalg.lstsq(M, J.T, rcond=1e-12)[0]
        k = self._strength
        c = 2.0 * DAMPING_RATIO * math.sqrt(k * self._strength / STIFFNESS)
        # (1 + h (c + h k) A) f = k (d − h v) − c v
        force: Any = np.linalg.solve(np.eye(3) + h * (c + h * k) * A, k * (d - h * v) - c * v)
        self.pull = pull._replace(force=force)
        return np.asarray(J.T @ force)

    def _point_jacobian(self) -> Array:
        """Return the Jacobian (3, nv) of the gripped point."""
        assert self.pull is not None
        X_WF = np.asarray(self.mech.frame(self.q, self.pull.frame, p=self._p))
        twist = np.asarray(self.mech.jacobian(self.q, self.pull.frame, p=self._p))
        return np.asarray(twist[3:] + np.cross(twist[:3].T, X_WF[:3, :3] @ self.pull.local).T)  # v_P = v_F + ω × r

    # ------------------------------------------------------------------------------- the record

    @property
    def duration(self) -> float:
        """Return the time simulated so far, s."""
        return sum(float(run.time[-1] - run.time[0]) for run in self._rows)

    @property
    def contact_states(self) -> dict[str, str]:
        """Return the present contact states in joints, such as "elbow.friction" → "stick"."""
        if not self._rows:
            return {}
        last = self._rows[-1]
        if self._things is None:
            self._things = ContactChannels(self.mech, self._p, last).contact_elements
        return {
            name: thing.words[int(thing.codes(row_columns(last.modes[-1:], k))[0])]
            for name, (k, thing) in self._things.items()
        }

    @property
    def first_slip(self) -> tuple[str, float] | None:
        """Return (joint, N): the sticking joint that would slip first if only the pull grew, and the pull force at
        which it would, all other joints keeping their contact states; None if none would slip or nothing pulls."""
        modes = self.contact_states
        sticks = [(name, *thing) for name, thing in (self._things or {}).items() if modes[name] == "stick"]
        if self.pull is None or not sticks or not (now := float(np.linalg.norm(self.pull.force))):
            return None
        last = self._rows[-1]
        rows = ContactChannels(self.mech, self._p, last).rows
        grows = self._reaction_growth(self._point_jacobian().T @ self.pull.force, modes)
        found = []
        for name, k, thing in sticks:
            if thing.force != FRICTION:
                continue
            own = slice(k, k + thing.width)
            more, rate = grows[own], float(np.linalg.norm(grows[own]))
            holds = np.array([row_columns(last.modes[-1:], i)[0, FRICTION] for i in range(k, k + thing.width)])
            limit = abs(rows[k].static_bounds[1 if more[0] > 0.0 else 0])
            if limit == 0.0 or rate <= 1e-6 * limit:  # of a clutch it changes with time
                continue
            along = float(holds @ more) / rate  # where |holds + more s| meets the limit
            aside = float(holds @ holds) - along**2
            further = np.sqrt(max(limit**2 - aside, 0.0)) - along
            found.append((now * (1.0 + further / rate), name.removesuffix(".friction")))
        return (min(found)[1], float(min(found)[0])) if found else None

    def _reaction_growth(self, pulled: Array, modes: Mapping[str, str]) -> Array:
        """Return the change (rows,) of the reaction forces of active rows when joint forces grow by those of the
        pull."""
        assert self._things is not None
        held = [
            i
            for name, (k, thing) in self._things.items()
            if modes[name] == HELD.get(thing.force)
            for i in range(k, k + thing.width)
        ]
        x = self.x if len(self.x) else None
        return sticking_force_change(
            self.mech.compiled, self.q, self.v, pulled, sorted(set(held)), self._p, self.time, x
        )

    @property
    def states(self) -> dict[str, float]:
        """Return the states of force elements by name."""
        return dict(zip(self.mech.x_names, self.x.tolist(), strict=True))

    @property
    def damping_rates(self) -> tuple[float, ...]:
        """Return the rates of artificial damping used so far, 1/s."""
        return tuple(sorted(self._dampings))

    def _notes(self) -> tuple[str, ...]:
        found = dict.fromkeys(note for run in self._rows for note in run.notes)
        rates = " and ".join(f"{rate:g}" for rate in self.damping_rates)
        damped = f"Artificial damping of {rates} per second was added: the real machine moves differently."
        return (*((damped,) if rates else ()), *found)

    def run(self) -> Run | None:
        """Return the whole simulation so far as a run; None if nothing has moved yet. The effects of hand and damping
        are in `tau`."""
        if not self._rows:
            return None
        first = self._rows[0]
        kept = index_new_samples(self._rows)
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(run, name)[begin:] for run, begin in kept])
            for name in ("time", "q", "v", "a", "tau", "x")
        }
        arrays["modes"] = accumulate_modes(kept)
        steps = sum(run.statistics.steps for run in self._rows)
        evaluations = sum(run.statistics.evaluations for run in self._rows)
        settings = dataclasses.replace(
            first.settings,
            start=float(arrays["time"][0]),
            duration=float(arrays["time"][-1] - arrays["time"][0]),
            output=SLICE,
            torque=plain_torque(self._torque),
        )
        done = Statistics(steps=steps, evaluations=evaluations, seconds=self.seconds, notes=self._notes())
        return dataclasses.replace(first, settings=settings, statistics=done, **arrays)


def index_new_samples(slices: Sequence[Run]) -> list[tuple[Run, int]]:
    """Return each slice with the index of its first new sample: a slice begins with the last sample of the previous
    one, unless a pull has changed contact states there."""
    found = [(slices[0], 0)]
    for before, run in itertools.pairwise(slices):
        found.append((run, 0 if modes_differ(before.modes[-1:], run.modes[:1]) else 1))
    return found


def accumulate_modes(slices: Sequence[tuple[Run, int]]) -> Array:
    """Join the mode columns (n, m) of slices, with sums accumulated from one slice to the next."""
    parts, total = list[Array](), np.zeros(0)
    if not slices[0][0].modes.size:
        return slices[0][0].modes
    for run, begin in slices:
        part, sums = run.modes.copy(), cumulative_columns(run.modes.shape[1])
        if len(total):
            part[:, sums] += total - part[0, sums]
        total = part[-1, sums]
        parts.append(part[begin:])
    return np.concatenate(parts)


def _total_mass(mech: Mechanism) -> float:
    """Return the mass of all bodies, kg; 1 for a machine that has inertias but no mass."""
    values = mech.model.values()
    from core.model.parameters import evaluate_field

    total = sum(float(evaluate_field(body.mass, values)) for body in mech.model.expanded.bodies)
    return total if math.isfinite(total) and total > 0.0 else 1.0


def _compile_formulas(mech: Mechanism, torque: Mapping[str, float | str], p: Array) -> Any:
    """Compile joint forces of which some are formulas: (t, q, v) → (nv,)."""
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", mech.nq), ca.SX.sym("v", mech.nv)
    given = dict(zip(mech.p_names, map(float, p), strict=True))
    known = {
        **parameter_values(mech.model.parameters, given),
        **formula_names(mech, t, ca.vertsplit(q), ca.vertsplit(v)),
    }
    forces: list[Any] = [0.0] * mech.nv
    for name, value in torque.items():
        forces[mech.v_names.index(name)] = evaluate(parse(value), known) if isinstance(value, str) else value
    return ca.Function("forces", [t, q, v], [ca.densify(ca.vertcat(*forces))])


__all__ = ["Live", "Pull", "SimulationError"]
