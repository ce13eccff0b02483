"""Linearisation of the motion on the constraint manifold.

At a closed state (q, v) with accelerations a and multipliers λ, displacements ξ and changes of speed δv obey

    G ξ = 0,   G δv + ∂(G v)/∂q ξ = 0,   ξ̇ = δv (+ what quaternions turn),
    M δa − Gᵀ δλ = −∂f/∂q ξ − ∂f/∂v δv,   G δa = −∂g/∂q ξ − ∂g/∂v δv

with f = M a + h − Gᵀ λ and g = G a + Ġ v. In independent coordinates s and speeds u: ẏ = A y, y = (s, u). All
derivatives are exact (`core.traces.derivatives`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.constraints.states import one_state
from core.errors import ModelError, near_misses
from core.mechanism import Mechanism
from core.mobility.constraint_rank import PositionConstraints
from core.multibody.parameter_values import Values
from core.numerics.rank import least, solver
from core.numerics.tolerances import RANK_TOLERANCE
from core.traces.derivatives import Equations, derivatives
from core.traces.junctions import NEGLIGIBLE_DAMPING
from core.traces.not_finite import singular

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

STILL = 1e-7
"""Part of the largest eigenvalue (and 1e-9 1/s) below which one counts as zero."""
UNMOVED = 1e-7
"""Part of the largest state of a force element up to which a mode moves no joint, but by rounding."""


@dataclass(frozen=True)
class Mode:
    """An eigenvalue λ (1/s), a pair of conjugate ones counted once, and its shape.

    shape : (nv,) complex displacement of the joints, largest entry 1 in units of the machine; largest_in : the name of
    that speed. If it moves no joint, zeros, and the state of a force element that is largest
    """

    eigenvalue: complex
    shape: Complex
    largest_in: str = ""

    @property
    def frequency(self) -> float:
        """Of the oscillation, Hz (0 if it does not oscillate)."""
        return abs(self.eigenvalue.imag) / (2.0 * math.pi)

    @property
    def damping(self) -> float:
        """Damping ratio −Re λ / |λ|; 1 for what dies away without oscillation, −1 for what grows so."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size > 0.0 else 0.0


@dataclass(frozen=True)
class Linearisation:
    """ẏ = A y with y = (independent coordinates, their speeds, states of force elements), about a state.

    coordinates : names of the independent speeds; A : (2k + nx, 2k + nx); eigenvalues : sorted by size
    basis : (nv, k) displacements of all joints per independent one; mass : (k, k) reduced mass matrix
    modes : oscillations and exponentials, slowest first
    residual : (k,) acceleration of the independent coordinates at the state: zero where the machine stands still
    """

    coordinates: tuple[str, ...]
    states: tuple[str, ...]
    A: Array
    eigenvalues: Complex
    basis: Array
    mass: Array
    modes: tuple[Mode, ...]
    residual: Array
    q: Array

    @property
    def stability(self) -> str:
        """ "stable", "asymptotically stable", "indifferent" or "unstable"."""
        largest = float(np.max(np.abs(self.eigenvalues), initial=0.0))
        tolerance = max(STILL * largest, 1e-9)
        real = self.eigenvalues.real
        if len(real) and np.max(real) > math.sqrt(STILL) * largest:
            return "unstable"
        if np.any(np.abs(self.eigenvalues) < math.sqrt(tolerance)):
            return "indifferent"
        return "asymptotically stable" if np.max(real, initial=-1.0) < -tolerance else "stable"


def linearise(
    mech: Mechanism,
    q: Array,
    v: Array | Mapping[str, float] | None = None,
    tau: Array | None = None,
    p: Values = None,
    t: float = 0.0,
    coordinates: Sequence[str] = (),
    near: Array | None = None,
) -> Linearisation:
    """The linearised motion about a state.

    q : (nq,), closed first; v : (nv,) or by name, default rest, made consistent as by `Mechanism.assemble`
    tau : (nv,) joint forces, constant, default none
    coordinates : names of independent speeds; default: chosen so that the others follow well
    near : (nx,) states of force elements next to which angles count turns, default rest positions
    Raises ModelError when the named coordinates do not determine the rest.
    """
    constraints = PositionConstraints(mech.compiled, p, t)
    q = np.asarray(mech.assemble(q, p=constraints.p, t=t)) if constraints.rows else one_state(mech.compiled, q)
    tau = np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float)
    N = constraints.motions(q)
    chosen = _named(mech, coordinates, N) if coordinates else _chosen(constraints, N)
    B = N @ np.linalg.inv(N[chosen]) if chosen else np.zeros((mech.nv, 0))
    speeds = np.asarray(mech.assemble(q, {} if v is None else v, p=constraints.p, t=t, limits=False)[1])
    x = states_at_rest(constraints, q, near)
    a, multipliers = _motion(constraints, q, speeds, tau, x, B, chosen)
    state = {"q": q, "v": speeds, "u": a, "x": x, "t": mech.clock(t, constraints.p)}
    slopes = derivatives(mech.compiled.program)(state, multipliers, constraints.p)
    slopes, states = held_by_dampers(slopes, mech.x_names)
    slopes, states = _without_counters(mech, slopes, states)
    A, M = _reduced(constraints, slopes, q, B, chosen)
    eigenvalues, vectors = np.linalg.eig(A) if len(A) else (np.zeros(0, complex), np.zeros((0, 0), complex))
    order = np.lexsort((eigenvalues.imag, np.round(np.abs(eigenvalues), 9)))
    eigenvalues, vectors = eigenvalues[order], vectors[:, order]
    names = tuple(mech.v_names[i] for i in chosen)
    modes = _modes(eigenvalues, B @ vectors[: len(chosen)], constraints, vectors[2 * len(chosen) :], states)
    return Linearisation(names, states, A, eigenvalues, B, M, modes, np.asarray(a[chosen]), q)


def balanced(slopes: Equations) -> Equations:
    """Junctions without the states they have: they follow the bodies in balance."""
    count = len(slopes.follow)
    if not count:
        return slopes
    return slopes._replace(
        f_q=slopes.f_q + slopes.f_x[:, :count] @ slopes.follow,
        f_x=slopes.f_x[:, count:],
        x_q=slopes.x_q[count:] + slopes.x_x[count:, :count] @ slopes.follow,
        x_v=slopes.x_v[count:],
        x_x=slopes.x_x[count:, count:],
    )


def held_by_dampers(slopes: Equations, names: Sequence[str]) -> tuple[Equations, tuple[str, ...]]:
    """Junctions in motion, and the names of the states that are left: where springs alone act on a junction it follows
    in balance, W · f = 0 along the directions W without damping, ẇ of the others is theirs.

    With the linear form L_q ξ + L_x x = 0 of that balance x = T ξ + Y y, y some of the entries of x.
    """
    import scipy.linalg

    if not len(slopes.sum_w):
        return slopes, tuple(names)
    C = -0.5 * (slopes.sum_w + slopes.sum_w.T)
    sizes, axes = np.linalg.eigh(C)
    W = axes[:, sizes <= NEGLIGIBLE_DAMPING * max(float(np.max(np.abs(sizes))), 1e-300)]
    L_q, L_x = W.T @ slopes.sum_q, W.T @ slopes.sum_x
    T, free = -np.linalg.pinv(L_x, rcond=RANK_TOLERANCE) @ L_q, scipy.linalg.null_space(L_x, rcond=RANK_TOLERANCE)
    pivots = scipy.linalg.qr(free.T, mode="economic", pivoting=True)[2] if free.size else np.zeros(0, dtype=int)
    kept = sorted(int(i) for i in pivots[: free.shape[1]])
    Y = free @ np.linalg.inv(free[kept])
    T = T - Y @ T[kept]
    changed = slopes._replace(
        f_q=slopes.f_q + slopes.f_x @ T,
        f_x=slopes.f_x @ Y,
        x_q=(slopes.x_q + slopes.x_x @ T)[kept],
        x_v=slopes.x_v[kept],
        x_x=(slopes.x_x @ Y)[kept],
    )
    return changed, tuple(names[i] for i in kept)


def _without_counters(mech: Mechanism, slopes: Equations, names: Sequence[str]) -> tuple[Equations, tuple[str, ...]]:
    """Angles that count turns do nothing to small motions."""
    counters = {mech.x_names[state] for state, _ in mech.compiled.elements.turn_counters.values()}
    kept = [k for k, name in enumerate(names) if name not in counters]
    changed = slopes._replace(
        f_x=slopes.f_x[:, kept], x_q=slopes.x_q[kept], x_v=slopes.x_v[kept], x_x=slopes.x_x[np.ix_(kept, kept)]
    )
    return changed, tuple(names[k] for k in kept)


def states_at_rest(constraints: PositionConstraints, q: Array, near: Array | None = None) -> Array:
    """(nx,) states of force elements when all stands still: junctions in balance; springs in series with dampers have
    crept to their rest lengths; angles that count turns next to those of `near`."""
    compiled = constraints.compiled
    if not compiled.nx:
        return np.zeros(0)
    x = np.array(compiled.x_rest(q, p=constraints.p, t=constraints.t, near=near))
    x[[k for k, name in enumerate(compiled.x_names) if name.endswith(".stretch")]] = 0.0
    return x


def _chosen(constraints: PositionConstraints, N: Array) -> list[int]:
    """Speeds on which the others depend well, early joints preferred."""
    import scipy.linalg

    preference = (1.0 + 1.0 / (1.0 + np.arange(len(N)))) / constraints.units
    _, _, pivots = scipy.linalg.qr(N.T * preference, mode="economic", pivoting=True)
    return sorted(int(i) for i in pivots[: N.shape[1]])


def _named(mech: Mechanism, names: Sequence[str], N: Array) -> list[int]:
    for name in names:
        if name not in mech.v_names:
            raise ModelError(f"There is no speed '{name}'.", remedy=near_misses(name, mech.v_names))
    chosen = [mech.v_names.index(name) for name in names]
    if len(chosen) != N.shape[1] or np.linalg.matrix_rank(N[chosen], tol=1e-7) < len(chosen):
        raise ModelError(
            f"{', '.join(names)} do not determine the motion: {N.shape[1]} independent ones are needed.",
            remedy="Name other coordinates, or none to let them be chosen.",
        )
    return chosen


def _particular(constraints: PositionConstraints, q: Array, B: Array, chosen: list[int]) -> Callable[[Array], Array]:
    """target → x with G x = target and x = 0 in the independent coordinates."""
    none = np.zeros((constraints.compiled.nv, 0))
    solve = solver(constraints.jacobian(q)) if constraints.rows else lambda target: none @ target

    def solved(target: Array) -> Array:
        x = solve(target)
        return np.asarray(x - B @ x[chosen])

    return solved


def _motion(
    constraints: PositionConstraints, q: Array, v: Array, tau: Array, x: Array, B: Array, chosen: list[int]
) -> tuple[Array, Array]:
    """Accelerations a = B ü + c and multipliers; bodies of the tree may lack masses as long as Bᵀ M B does not."""
    compiled, p, t = constraints.compiled, constraints.p, constraints.t
    load = tau - compiled.call("bias", q, v, p=p, t=t, x=x)
    mass = compiled.mass_matrix(q, p)
    bias = compiled.call("constraint_bias", q, v, p=p, t=t)[constraints.kept] if constraints.rows else np.zeros(0)
    c = _particular(constraints, q, B, chosen)(-bias)
    M = B.T @ mass @ B
    if len(M) and np.linalg.eigvalsh(M)[0] <= 1e-12 * np.max(np.diag(M)):
        raise singular(compiled, q, p)
    a = np.asarray(B @ np.linalg.solve(M, B.T @ (load - mass @ c)) + c)
    G = constraints.jacobian(q) if constraints.rows else np.zeros((0, compiled.nv))
    return a, least(G.T, mass @ a - load)


def _reduced(
    constraints: PositionConstraints, slopes: Equations, q: Array, B: Array, chosen: list[int]
) -> tuple[Array, Array]:
    """(A, reduced mass matrix)."""
    compiled, k = constraints.compiled, len(chosen)
    mass = compiled.mass_matrix(q, constraints.p)
    M = B.T @ mass @ B
    if not k:
        return np.zeros((0, 0)), M
    particular = _particular(constraints, q, B, chosen)
    D = particular(-slopes.Gv_q @ B)  # δv = B u + D s
    columns, rates = [], []
    nx = slopes.x_x.shape[0]
    none, own = np.zeros((compiled.nv, nx)), np.eye(nx)
    for displacement, speed, state in (
        (B, D, np.zeros((nx, k))),
        (np.zeros_like(B), B, np.zeros((nx, k))),
        (none, none, own),
    ):
        f = slopes.f_q @ displacement + slopes.f_v @ speed + slopes.f_x @ state
        c = particular(-(slopes.g_q @ displacement + slopes.g_v @ speed))
        columns.append(np.linalg.solve(M, -B.T @ (f + mass @ c)))
        rates.append(slopes.x_q @ displacement + slopes.x_v @ speed + slopes.x_x @ state)
    top = np.concatenate([(slopes.turn @ B)[chosen], np.eye(k), np.zeros((k, nx))], axis=1)
    return np.concatenate([top, np.concatenate(columns, axis=1), np.concatenate(rates, axis=1)]), M


def _modes(
    eigenvalues: Complex, shapes: Complex, constraints: PositionConstraints, inner: Complex, states: Sequence[str]
) -> tuple[Mode, ...]:
    """Each pair of conjugate eigenvalues once; of double zeros one. inner : the parts of states of force elements."""
    result = []
    largest = float(np.max(np.abs(eigenvalues), initial=0.0))
    for value, shape, own in zip(eigenvalues, shapes.T, inner.T, strict=True):
        if value.imag < -STILL * largest:
            continue
        scaled = shape / constraints.units
        at = int(np.argmax(np.abs(scaled)))
        if len(own) and abs(scaled[at]) <= UNMOVED * float(np.max(np.abs(own))):
            result.append(Mode(complex(value), np.zeros_like(shape), states[int(np.argmax(np.abs(own)))]))
        else:
            result.append(Mode(complex(value), shape / (scaled[at] or 1.0), constraints.compiled.v_names[at]))
    return tuple(result)
