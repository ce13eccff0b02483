"""Linearised motion about a state, on the constraint manifold.

At a closed state (q, v) with accelerations a and multipliers λ, displacements ξ and changes of speed δv obey

    G ξ = 0,   G δv + ∂(G v)/∂q ξ = 0,   ξ̇ = δv (+ what quaternions turn),
    M δa − Gᵀ δλ = −∂f/∂q ξ − ∂f/∂v δv,   G δa = −∂g/∂q ξ − ∂g/∂v δv

with f = M a + h − Gᵀ λ and g = G a + Ġ v. Joints that friction holds are held like what closes loops, for as long as
it does; those that slide keep their direction; elastic stops that are pushed in are springs; motors that keep a limit
of speed hold it, and those at their limit of effort give that. In independent coordinates s and speeds u: ẏ = A y,
y = (s, u). All derivatives are exact (`core.programs.derivatives`), but for those of rows of joints that close loops
(`core.analysis.held_state`).

Small motions are linear functions of s, u, force-element states y and inputs w:

    ξ = B s + P w,   δv = B u + D (s, w),   M δa − Gᵀ δλ = −δf,   G δa = −δg

with P and D by what holds (G P = −∂s/∂w, G δv = −∂(G v)/∂q ξ − …) and zero in the independent coordinates, δf and δg
the changes of f and g at the same a and λ. Inputs are whatever has columns f_p, g_p … in the `Equations`: parameters,
joint forces, drivers.

Force-element states that follow from the pose are eliminated. Where springs alone act on a junction it follows in
balance, W · f = 0 along the directions W without damping; ẇ of the others is theirs. With the linear form L_q ξ + L_x x
+ L_p w = 0 of that balance x = T ξ + Y y + T_p w, y some of the entries of x. Angles that count turns do nothing to
small motions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.held_state import ConstrainedState, speeds_by_name, well_conditioned_speeds
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.named_values import single_state
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.derivatives import EquationDerivatives, program_derivatives
from core.programs.junctions import NEGLIGIBLE_DAMPING

Array = NDArray[np.float64]

Complex = NDArray[np.complex128]
STILL = 1e-7
"""Magnitude of an eigenvalue, relative to the largest (and 1e-9 1/s), below which it counts as zero."""
UNMOVED = 1e-7
"""Joint displacement, relative to the largest force-element state, below which a mode counts as moving no joint; what
remains is rounding error."""


class StateReduction(NamedTuple):
    """Eliminated states x = T ξ + Y y + T_p w as functions of displacements (nx, nv), retained states (nx, ny) and
    inputs (nx, m); kept : indices of the retained states"""

    T: Array
    Y: Array
    T_p: Array
    kept: list[int]

    def of(self, derivatives: EquationDerivatives) -> EquationDerivatives:
        """Derivatives with respect to displacements, retained states and inputs."""
        kept = self.kept
        return derivatives._replace(
            f_q=derivatives.f_q + derivatives.f_x @ self.T,
            f_x=derivatives.f_x @ self.Y,
            f_p=derivatives.f_p + derivatives.f_x @ self.T_p,
            x_q=(derivatives.x_q + derivatives.x_x @ self.T)[kept],
            x_v=derivatives.x_v[kept],
            x_x=(derivatives.x_x @ self.Y)[kept],
            x_p=(derivatives.x_p + derivatives.x_x @ self.T_p)[kept],
        )


def reduce_states(mech: Mechanism, derivatives: EquationDerivatives) -> StateReduction:
    """Choose the states that a machine retains in small motions, and express the others by them."""
    followed = _eliminate_damper_states(derivatives) if len(derivatives.sum_w) else _keep_all_states(derivatives)
    counters = {state for state, _ in mech.compiled.elements.turn_counters.values()}
    counters |= set(mech.compiled.elements.loss_states)
    lasting = [k for k, state in enumerate(followed.kept) if state not in counters]
    return followed._replace(Y=followed.Y[:, lasting], kept=[followed.kept[k] for k in lasting])


def kept_state_names(mech: Mechanism, reduction: StateReduction) -> tuple[str, ...]:
    """Names of the retained states."""
    return tuple(mech.x_names[k] for k in reduction.kept)


def _keep_all_states(derivatives: EquationDerivatives) -> StateReduction:
    nx, nv = derivatives.x_q.shape
    return StateReduction(np.zeros((nx, nv)), np.eye(nx), np.zeros((nx, derivatives.f_p.shape[1])), list(range(nx)))


def _eliminate_damper_states(derivatives: EquationDerivatives) -> StateReduction:
    import scipy.linalg

    C = -0.5 * (derivatives.sum_w + derivatives.sum_w.T)
    sizes, axes = np.linalg.eigh(C)
    W = axes[:, sizes <= NEGLIGIBLE_DAMPING * max(float(np.max(np.abs(sizes))), 1e-300)]
    L_q, L_x, L_p = (W.T @ each for each in (derivatives.sum_q, derivatives.sum_x, derivatives.sum_p))
    inverse = -np.linalg.pinv(L_x, rcond=RANK_TOLERANCE)
    free = scipy.linalg.null_space(L_x, rcond=RANK_TOLERANCE)
    kept = _pivot_states(free)
    Y = free @ np.linalg.inv(free[kept])
    T, T_p = (particular - Y @ particular[kept] for particular in (inverse @ L_q, inverse @ L_p))
    return StateReduction(T, Y, T_p, kept)


def _pivot_states(free_motions: Array) -> list[int]:
    """Indices of the states that best determine the columns of free_motions (nx, ny)."""
    import scipy.linalg

    if not free_motions.size:
        return []
    pivots = scipy.linalg.qr(free_motions.T, mode="economic", pivoting=True)[2]
    return sorted(int(i) for i in pivots[: free_motions.shape[1]])


class SmallMotions(NamedTuple):
    """Coefficients of the linearised equations for the columns z = (s, u, y, w); k independent coordinates, ny states,
    m inputs.

    displacement, speed, acceleration : (nv, n) ξ, δv, δa; states : (nx, n) δx; rates : (2k + ny, n) of (s, u, y)
    load : (nv, n) what δλ must carry, Gᵀ δλ; mass : (k, k) reduced mass matrix
    """

    displacement: Array
    speed: Array
    acceleration: Array
    states: Array
    rates: Array
    load: Array
    mass: Array

    @property
    def A(self) -> Array:
        """(n, n) state matrix."""
        return self.rates[:, : len(self.rates)]

    @property
    def B(self) -> Array:
        """(n, m) input matrix."""
        return self.rates[:, len(self.rates) :]


def linearise_small_motions(
    state: ConstrainedState,
    derivatives: EquationDerivatives,
    reduction: StateReduction,
    B: Array,
    independent: list[int],
) -> SmallMotions:
    """Linearise the motion about a held state. derivatives : including the joint rows (`extend_derivatives`), with
    respect to all states; B : (nv, k) motions of the independent speeds"""
    e = reduction.of(derivatives)
    k, ny, m = len(independent), len(reduction.kept), derivatives.f_p.shape[1]
    of_s, of_u, of_y, of_w = np.split(np.eye(2 * k + ny + m), [k, 2 * k, 2 * k + ny])
    mass = state.constraints.compiled.mass_matrix(state.q, state.constraints.p)
    M, follow = B.T @ mass @ B, state.particular_solution(B, independent)
    displacement = B @ of_s + follow(-e.s_p) @ of_w
    speed = B @ of_u + follow(-(e.Gv_q @ displacement + e.Gv_p @ of_w))
    f = e.f_q @ displacement + e.f_v @ speed + e.f_x @ of_y + e.f_p @ of_w
    c = follow(-(e.g_q @ displacement + e.g_v @ speed + e.g_p @ of_w))
    faster = np.linalg.solve(M, -B.T @ (f + mass @ c)) if k else np.zeros((0, f.shape[1]))
    acceleration = B @ faster + c
    own = e.x_q @ displacement + e.x_v @ speed + e.x_x @ of_y + e.x_p @ of_w
    states = reduction.T @ displacement + reduction.Y @ of_y + reduction.T_p @ of_w
    moving = of_u + (e.turn @ displacement)[independent]
    rates = np.concatenate([moving, faster, own])
    return SmallMotions(displacement, speed, acceleration, states, rates, mass @ acceleration + f, M)


@dataclass(frozen=True)
class Mode:
    """A vibration mode: eigenvalue λ (1/s), one for each conjugate pair, and mode shape.

    shape : (nv,) complex displacement of the joints, largest entry 1 in units of the machine; largest_in : the name of
    that speed. If it moves no joint, zeros, and the state of a force element that is largest
    """

    eigenvalue: complex
    shape: Complex
    largest_in: str = ""

    @property
    def frequency(self) -> float:
        """Frequency of the oscillation, Hz; 0 if it does not oscillate."""
        return abs(self.eigenvalue.imag) / (2.0 * math.pi)

    @property
    def damping(self) -> float:
        """Damping ratio −Re λ / |λ|; 1 for decay and −1 for growth without oscillation."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size > 0.0 else 0.0


@dataclass(frozen=True)
class Linearisation:
    """Linear model ẏ = A y about a state, with y = (independent coordinates, their speeds, states of force elements).

    coordinates : names of the independent speeds; A : (2k + nx, 2k + nx); eigenvalues : sorted by size
    basis : (nv, k) displacements of all joints per independent one; mass : (k, k) reduced mass matrix
    modes : oscillations and exponentials, slowest first
    residual : (k,) acceleration of the independent coordinates at the state: zero where the machine stands still
    stuck, sliding, pressed : coordinates that friction holds, along which it slides, whose stops are pushed in
    saturated, limited, overrun : speeds whose motors give their limit of effort, hold their limit of speed, give
    nothing as loads are faster than that
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
    stuck: tuple[str, ...] = ()
    sliding: tuple[str, ...] = ()
    pressed: tuple[str, ...] = ()
    saturated: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    overrun: tuple[str, ...] = ()

    @property
    def stability(self) -> str:
        """Verdict on stability: "stable", "asymptotically stable", "indifferent" or "unstable"."""
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
    friction: bool = True,
    motors: bool = True,
) -> Linearisation:
    """Linearise the motion about a state.

    q : (nq,), closed first; v : (nv,) or by name, default rest, made consistent as by `Mechanism.assemble`
    tau : (nv,) joint forces, constant, default none
    coordinates : names of independent speeds; default: chosen so that the others follow well
    near : (nx,) states of force elements next to which angles count turns, default rest positions
    friction : holds joints at rest where it can, which leaves fewer freedoms; False: none sticks
    motors : `tau` is what motors are asked for, which give what their limits allow, as in runs; False: joints get it
    Raises ModelError when the named coordinates do not determine the rest.
    """
    constraints = PositionConstraints(mech.compiled, p, t)
    q = single_state(mech.compiled, q)
    q = np.asarray(mech.assemble(q, p=constraints.p, t=t, limits=False)) if constraints.rows else q
    tau = np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float)
    speeds = np.asarray(mech.assemble(q, {} if v is None else v, p=constraints.p, t=t, limits=False)[1])
    x = force_states_at_rest(constraints, q, near)
    held = ConstrainedState(constraints, q, speeds, tau, x, friction, motors)
    N = held.free_motions
    chosen = speeds_by_name(mech, coordinates, N) if coordinates else well_conditioned_speeds(constraints, N)
    B = N @ np.linalg.inv(N[chosen]) if chosen else np.zeros((mech.nv, 0))
    a, multipliers, carried = held.motion(B, chosen)
    state = {"q": q, "v": speeds, "u": a, "x": x, "t": mech.clock(t, constraints.p)}
    slopes = held.extend_derivatives(
        program_derivatives(mech.compiled.program)(state, multipliers, constraints.p), a, carried
    )
    found = reduce_states(mech, slopes)
    small, states = linearise_small_motions(held, slopes, found, B, chosen), kept_state_names(mech, found)
    A, M = small.A, small.mass
    eigenvalues, vectors = np.linalg.eig(A) if len(A) else (np.zeros(0, complex), np.zeros((0, 0), complex))
    order = np.lexsort((eigenvalues.imag, np.round(np.abs(eigenvalues), 9)))
    eigenvalues, vectors = eigenvalues[order], vectors[:, order]
    names = tuple(mech.v_names[i] for i in chosen)
    modes = vibration_modes(eigenvalues, B @ vectors[: len(chosen)], constraints, vectors[2 * len(chosen) :], states)
    words = (
        held.modes.coordinate_names(held.modes.stuck),
        held.modes.coordinate_names(list(held.modes.sliding)),
        held.modes.stops.names,
    )
    limits = held.saturated_speeds, held.speed_limited_coordinates, held.overrun_coordinates
    return Linearisation(names, states, A, eigenvalues, B, M, modes, np.asarray(a[chosen]), q, *words, *limits)


def eliminate_junctions(derivatives: EquationDerivatives) -> EquationDerivatives:
    """Derivatives with massless junctions eliminated, which remain in static balance and follow the bodies."""
    count = len(derivatives.follow)
    if not count:
        return derivatives
    return derivatives._replace(
        f_q=derivatives.f_q + derivatives.f_x[:, :count] @ derivatives.follow,
        f_x=derivatives.f_x[:, count:],
        x_q=derivatives.x_q[count:] + derivatives.x_x[count:, :count] @ derivatives.follow,
        x_v=derivatives.x_v[count:],
        x_x=derivatives.x_x[count:, count:],
    )


def force_states_at_rest(constraints: PositionConstraints, q: Array, near: Array | None = None) -> Array:
    """(nx,) force-element states at rest: junctions in balance, series dampers relaxed so that springs have their free
    length, and turn counters nearest to `near`."""
    compiled = constraints.compiled
    if not compiled.nx:
        return np.zeros(0)
    x = np.array(compiled.x_rest(q, p=constraints.p, t=constraints.t, near=near))
    x[[k for k, name in enumerate(compiled.x_names) if name.endswith(".stretch")]] = 0.0
    return x


def vibration_modes(
    eigenvalues: Complex, shapes: Complex, constraints: PositionConstraints, inner: Complex, states: Sequence[str]
) -> tuple[Mode, ...]:
    """Vibration modes: one for each conjugate pair of eigenvalues, and one for a double zero. inner : components of
    force-element states"""
    result = []
    largest = float(np.max(np.abs(eigenvalues), initial=0.0))
    for value, shape, own in zip(eigenvalues, shapes.T, inner.T, strict=True):
        if value.imag < -STILL * largest:
            continue
        scaled = shape / constraints.speed_units
        at = int(np.argmax(np.abs(scaled)))
        if len(own) and abs(scaled[at]) <= UNMOVED * float(np.max(np.abs(own))):
            result.append(Mode(complex(value), np.zeros_like(shape), states[int(np.argmax(np.abs(own)))]))
        else:
            result.append(Mode(complex(value), shape / (scaled[at] or 1.0), constraints.compiled.v_names[at]))
    return tuple(result)
