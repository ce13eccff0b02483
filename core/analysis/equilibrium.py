"""Static equilibrium: poses in which all forces balance, of trees and loops.

With free motions N (G N = 0) the forces balance when g = Nᵀ h(q, 0) = τ-free load vanishes. Newton's method on the
manifold with the stiffness K = Nᵀ ∂(h − Gᵀ λ)/∂q N; where K is not positive its eigenvalues are taken by size, so that
each step goes down in energy and stable equilibria are found (Nocedal and Wright, Numerical Optimization, 3.4). Limits
of joints hold: a step ends at the first one, which holds as long as it need not pull (active set, 16.5).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.analysis.joint_limits import ActiveLimits
from core.analysis.linearisation import Linearisation, balanced, linearise, states_at_rest
from core.constraints.states import one_state
from core.errors import SimulationError
from core.mechanism import Mechanism
from core.mobility.constraint_rank import PositionConstraints
from core.multibody.parameter_values import Values
from core.numerics.matrix_forms import dense
from core.numerics.tolerances import ACCEPTED_GAP, RANK_TOLERANCE
from core.traces.derivatives import derivatives

Array = NDArray[np.float64]

BALANCED = 1e-10
"""Part of the largest force (of gravity, springs …) that may be left over, and up to which a limit pushes with none."""
MAX_STEPS = 200
LONGEST = 0.4
"""Longest step, rad or machine sizes."""
SOFT = 1e-9
"""Part of the largest stiffness below which a direction has none."""
OVERSHOOT = 0.5
"""A step is too long when the force along it turned round and kept more than this part of its size."""


@dataclass(frozen=True)
class Equilibrium:
    """A pose of rest.

    q : (nq,); residual : largest generalised force left, as a part of the largest one at work; forces : (nv,) those
    that act in the joints of the tree, held by the constraints; stiffness : (k,) eigenvalues of the stiffness in units
    of the machine, smallest first;
    stability : "stable", "asymptotically stable", "indifferent", "unstable"; linear : the motion about the pose (None
    where it rests against limits); limits : coordinate → force (N·m, N) with which its limit pushes, along its growth
    """

    q: Array
    residual: float
    forces: Array
    stiffness: Array
    stability: str
    steps: int
    linear: Linearisation | None
    limits: dict[str, float] = field(default_factory=dict)


class _Balance:
    """Loads at poses of a machine, in units of its size."""

    def __init__(self, constraints: PositionConstraints, tau: Array) -> None:
        self.constraints, self.tau, self.limits = constraints, tau, ActiveLimits(constraints)
        self.near: Array | None = None
        self._states: tuple[bytes | None, Array] = None, np.zeros(0)
        self._load: tuple[bytes | None, Array] = None, np.zeros(0)
        """Those of the pose asked for last, and the pose."""

    def states(self, q: Array) -> Array:
        """(nx,) states of force elements; angles count turns from where they were at the pose of before."""
        if self._states[0] != q.tobytes():
            self._states = q.tobytes(), states_at_rest(self.constraints, q, self.near)
        return self._states[1]

    def passed(self, q: Array) -> None:
        """The way goes on from this pose."""
        self.near = self.states(q)
        self.limits.passed(q)

    def load(self, q: Array) -> Array:
        """(nv,) h(q, 0) − τ."""
        if self._load[0] != q.tobytes():
            constraints = self.constraints
            still = np.zeros(constraints.compiled.nv)
            h = constraints.compiled.call("bias", q, still, p=constraints.p, t=constraints.t, x=self.states(q))
            self._load = q.tobytes(), np.asarray(h - self.tau)
        return self._load[1]

    def gradient(self, q: Array) -> tuple[Array, Array]:
        """(N (nv, k), g (k,))."""
        N = self.limits.motions(q)
        return N, N.T @ self.load(q)

    def balancing(self, q: Array, h: Array) -> tuple[Array, Array, Array]:
        """(multipliers of the constraints, forces of the limits that hold, what neither takes) of a load h."""
        constraints = self.constraints
        G = dense(constraints.jacobian(q)) if constraints.rows else np.zeros((0, constraints.compiled.nv))
        rows = np.concatenate([G, self.limits.rows(q)])
        found = np.asarray(np.linalg.lstsq(rows.T, h, rcond=RANK_TOLERANCE)[0], dtype=float)
        return found[: len(G)], found[len(G) :], np.asarray(h - rows.T @ found)

    def stiffness(self, q: Array, N: Array) -> Array:
        """(k, k) of the loads along N, symmetric part and all."""
        constraints, compiled = self.constraints, self.constraints.compiled
        h = self.load(q)
        multipliers, pushes, _ = self.balancing(q, h)
        still = np.zeros(compiled.nv)
        time = compiled.time_argument(constraints.t, constraints.p)
        state = {"q": q, "v": still, "u": still, "x": self.states(q), "t": time}
        slopes = derivatives(compiled.program)(state, multipliers, constraints.p)
        return np.asarray(N.T @ balanced(slopes).f_q @ N) - self.limits.bending(q, N, pushes)


def equilibrium(
    mech: Mechanism,
    q: Array | None = None,
    p: Values = None,
    t: float = 0.0,
    *,
    tau: Array | None = None,
    nearest: bool = False,
) -> Equilibrium:
    """The pose of rest reached from q (nq,), default the rest pose.

    tau : (nv,) constant joint forces; nearest : go to the nearest balance, unstable ones and such beyond limits, too,
    instead of downhill within the limits
    Raises SimulationError when nothing holds the machine, AssemblyError when it cannot be closed.
    """
    constraints = PositionConstraints(mech.compiled, p, t)
    start = mech.rest(p) if q is None else one_state(mech.compiled, q)
    start = start if nearest else mech.clamp(start)
    pose = np.asarray(mech.assemble(start, p=constraints.p, t=t)) if constraints.rows else start
    balance = _Balance(constraints, np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float))
    pose, steps = _descended(balance, pose, nearest)
    load, scale = balance.load(pose), _scale(balance, pose)
    balance.limits.drop(balance.balancing(pose, load)[1], BALANCED * scale)
    N = balance.limits.motions(pose)
    _, pushes, left = balance.balancing(pose, load)
    K = balance.stiffness(pose, N)
    eigenvalues = np.asarray(np.linalg.eigvalsh(0.5 * (K + K.T)), dtype=float)
    held = balance.limits.active
    linear = None if held else _linear(mech, pose, balance)
    return Equilibrium(
        pose,
        float(np.max(np.abs(left * constraints.units), initial=0.0)) / scale,
        load - left,
        eigenvalues,
        _verdict(eigenvalues, linear),
        steps,
        linear,
        {stop.name: float(push) for stop, push in zip(held, pushes, strict=True)},
    )


def _linear(mech: Mechanism, q: Array, balance: _Balance) -> Linearisation | None:
    """None where masses are missing."""
    constraints = balance.constraints
    try:
        return linearise(mech, q, tau=balance.tau, p=constraints.p, t=constraints.t, near=balance.states(q))
    except (SimulationError, np.linalg.LinAlgError):
        return None


def _verdict(stiffness: Array, linear: Linearisation | None) -> str:
    scale = max(float(np.max(np.abs(stiffness), initial=0.0)), 1e-300)
    if linear is not None and linear.stability == "unstable":
        return "unstable"
    if len(stiffness) and stiffness[0] < -1e-7 * scale:
        return "unstable"
    if len(stiffness) and stiffness[0] < 1e-7 * scale:
        return "indifferent"
    return linear.stability if linear is not None and linear.stability != "indifferent" else "stable"


def _descended(balance: _Balance, q: Array, nearest: bool) -> tuple[Array, int]:
    constraints = balance.constraints
    scale = _scale(balance, q)
    longest = LONGEST
    for step in range(MAX_STEPS):
        balance.passed(q)
        N, g = balance.gradient(q)
        if np.max(np.abs(g), initial=0.0) <= BALANCED * scale and (nearest or not _on_a_ridge(balance, q, N)):
            if not balance.limits.release(balance.balancing(q, balance.load(q))[1], BALANCED * scale):
                return q, step
            continue
        K = balance.stiffness(q, N)
        displacement = _newton(K, g) if nearest else _downhill(K, g, scale)
        length = float(np.linalg.norm(displacement))
        displacement *= min(1.0, longest / length) if length > 0.0 else 0.0
        trial, accepted = _accepted(balance, q, N, g, displacement, scale, nearest)
        if not accepted:
            break
        reached = trial if nearest else balance.limits.reached(q, trial)
        longest = 0.5 * longest if reached is None else longest
        q = q if reached is None else reached
    N, g = balance.gradient(q)
    if np.max(np.abs(g), initial=0.0) > 1e-7 * scale:
        raise _falls(constraints, N, g)
    return q, MAX_STEPS


def _scale(balance: _Balance, q: Array) -> float:
    """A force to compare with: the largest load, or the weight times the size if the joints carry nothing here."""
    constraints = balance.constraints
    rng = np.random.default_rng(5)
    units = constraints.units
    loads = [
        np.max(np.abs(balance.load(x) * units), initial=0.0)
        for x in (q, constraints.moved(q, 0.3 * units * rng.normal(size=len(units))))
    ]
    return max(float(np.max(loads)), 1e-12)


def _on_a_ridge(balance: _Balance, q: Array, N: Array) -> bool:
    """Whether an exact balance is one to fall from."""
    K = balance.stiffness(q, N)
    if not len(K):
        return False
    values = np.linalg.eigvalsh(0.5 * (K + K.T))
    return bool(values[0] < -1e-7 * max(np.max(np.abs(values)), 1e-300))


def _newton(K: Array, g: Array) -> Array:
    return -np.asarray(np.linalg.lstsq(K, g, rcond=SOFT)[0], dtype=float)


def _downhill(K: Array, g: Array, scale: float) -> Array:
    """−|K|⁻¹ g; along directions without stiffness as far as allowed; off a ridge with a nudge."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    along = vectors.T @ g
    size = np.abs(values)
    stiffest = max(float(np.max(size, initial=0.0)), SOFT * scale)
    soft = size <= SOFT * stiffest
    step = -along / np.where(soft, 1.0, size)
    loaded = np.abs(along) > BALANCED * scale
    step[soft] = np.where(loaded[soft], -np.sign(along[soft]) * LONGEST, 0.0)
    ridge = ~loaded & (values < -1e-7 * stiffest)
    step[ridge] += 0.01
    return np.asarray(vectors @ step)


def _accepted(
    balance: _Balance, q: Array, N: Array, g: Array, displacement: Array, scale: float, nearest: bool
) -> tuple[Array, bool]:
    """The closed pose after a step, halved until it goes down (or, to the nearest, the forces shrink)."""
    before = float(g @ displacement)
    for _ in range(30):
        trial, gap = balance.limits.closed(balance.constraints.moved(q, N @ displacement))
        if gap < ACCEPTED_GAP:
            N_trial, g_trial = balance.gradient(trial)
            if nearest:
                if np.linalg.norm(g_trial) < np.linalg.norm(g) or np.linalg.norm(g) < 1e-8 * scale:
                    return trial, True
            else:
                gone = balance.constraints.compiled.coordinates.difference(q, trial)
                after = float(balance.load(trial) @ _tangent(N_trial, gone, balance.constraints.units))
                if after <= OVERSHOOT * abs(before) or abs(before) < 1e-14 * scale:
                    return trial, True
        displacement = 0.5 * displacement
        before = float(g @ displacement)
    return q, False


def _tangent(N: Array, displacement: Array, units: Array) -> Array:
    """The part of a displacement along the free motions."""
    return np.asarray(N @ (N / units[:, None]).T @ (displacement / units))


def _falls(constraints: PositionConstraints, N: Array, g: Array) -> SimulationError:
    """Which joint nothing holds."""
    compiled = constraints.compiled
    drive = np.abs(N @ g) / constraints.units
    joints = (coordinate.joint for coordinate in compiled.coordinates.table)
    joint = max(joints, key=lambda name: float(np.max(drive[compiled.joint_v(name)])))
    return SimulationError(
        "No pose of rest was found: nothing holds the machine there.",
        where=f"joint '{joint}'",
        remedy="Fix it, give it a spring, or begin from another pose.",
    )
