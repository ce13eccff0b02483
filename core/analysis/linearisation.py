"""Linearised motion on the constraint manifold about a state.

At a closed state (q, v) with accelerations a and multipliers λ, displacements ξ and changes of speed δv obey

    G ξ = 0,   G δv + ∂(G v)/∂q ξ = 0,   ξ̇ = δv (+ what quaternions turn),
    M δa − Gᵀ δλ = −∂f/∂q ξ − ∂f/∂v δv,   G δa = −∂g/∂q ξ − ∂g/∂v δv

with f = M a + h − Gᵀ λ and g = G a + Ġ v. Joints that friction holds are held like what closes loops, for as long as
it does; those that slide keep their direction; elastic stops that are pushed in are springs; motors that keep a limit
of speed hold it, and those at their limit of effort give that. In independent coordinates s and speeds u: ẏ = A y,
y = (s, u). All derivatives are exact (`core.programs.derivatives`), but for those of rows of joints that close loops
(`core.analysis.pose_modes`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.held_state import HeldState, speeds_named, well_conditioned_speeds
from core.analysis.small_motions import small_motions
from core.analysis.state_reduction import names_of, reduction
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.named_values import one_state
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.programs.derivatives import Equations, derivatives

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

STILL = 1e-7
"""Magnitude of an eigenvalue, relative to the largest (and 1e-9 1/s), below which it counts as zero."""
UNMOVED = 1e-7
"""Joint displacement, relative to the largest force-element state, below which a mode moves no joint, but for rounding
error."""


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
        """Stability: "stable", "asymptotically stable", "indifferent" or "unstable"."""
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
    """Linearised motion about a state.

    q : (nq,), closed first; v : (nv,) or by name, default rest, made consistent as by `Mechanism.assemble`
    tau : (nv,) joint forces, constant, default none
    coordinates : names of independent speeds; default: chosen so that the others follow well
    near : (nx,) states of force elements next to which angles count turns, default rest positions
    friction : holds joints at rest where it can, which leaves fewer freedoms; False: none sticks
    motors : `tau` is what motors are asked for, which give what their limits allow, as in runs; False: joints get it
    Raises ModelError when the named coordinates do not determine the rest.
    """
    constraints = PositionConstraints(mech.compiled, p, t)
    q = one_state(mech.compiled, q)
    q = np.asarray(mech.assemble(q, p=constraints.p, t=t, limits=False)) if constraints.rows else q
    tau = np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float)
    speeds = np.asarray(mech.assemble(q, {} if v is None else v, p=constraints.p, t=t, limits=False)[1])
    x = states_at_rest(constraints, q, near)
    held = HeldState(constraints, q, speeds, tau, x, friction, motors)
    N = held.motions
    chosen = speeds_named(mech, coordinates, N) if coordinates else well_conditioned_speeds(constraints, N)
    B = N @ np.linalg.inv(N[chosen]) if chosen else np.zeros((mech.nv, 0))
    a, multipliers, carried = held.motion(B, chosen)
    state = {"q": q, "v": speeds, "u": a, "x": x, "t": mech.clock(t, constraints.p)}
    slopes = held.slopes(derivatives(mech.compiled.program)(state, multipliers, constraints.p), a, carried)
    found = reduction(mech, slopes)
    small, states = small_motions(held, slopes, found, B, chosen), names_of(mech, found)
    A, M = small.A, small.mass
    eigenvalues, vectors = np.linalg.eig(A) if len(A) else (np.zeros(0, complex), np.zeros((0, 0), complex))
    order = np.lexsort((eigenvalues.imag, np.round(np.abs(eigenvalues), 9)))
    eigenvalues, vectors = eigenvalues[order], vectors[:, order]
    names = tuple(mech.v_names[i] for i in chosen)
    modes = modes_of(eigenvalues, B @ vectors[: len(chosen)], constraints, vectors[2 * len(chosen) :], states)
    words = held.modes.names(held.modes.stuck), held.modes.names(list(held.modes.sliding)), held.modes.stops.names
    limits = held.saturated, held.limited, held.overrun
    return Linearisation(names, states, A, eigenvalues, B, M, modes, np.asarray(a[chosen]), q, *words, *limits)


def balanced(slopes: Equations) -> Equations:
    """Derivatives with massless junctions eliminated: they stay in static balance and follow the bodies."""
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


def states_at_rest(constraints: PositionConstraints, q: Array, near: Array | None = None) -> Array:
    """(nx,) force-element states at rest: junctions in balance, series dampers relaxed so that springs are at rest
    length, and turn counters nearest to `near`."""
    compiled = constraints.compiled
    if not compiled.nx:
        return np.zeros(0)
    x = np.array(compiled.x_rest(q, p=constraints.p, t=constraints.t, near=near))
    x[[k for k, name in enumerate(compiled.x_names) if name.endswith(".stretch")]] = 0.0
    return x


def modes_of(
    eigenvalues: Complex, shapes: Complex, constraints: PositionConstraints, inner: Complex, states: Sequence[str]
) -> tuple[Mode, ...]:
    """Vibration modes, one for each conjugate pair, and one for a double zero. inner : components of force-element
    states"""
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
