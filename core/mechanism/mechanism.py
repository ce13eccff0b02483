"""A mechanism: a model compiled into functions of (q, v, τ, p)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.closed_forms.closed_forms import closed_forms_of
from core.closed_forms.wording import Step
from core.codegen.evaluator import Array, Evaluator
from core.constraints import assembly, cut_coordinates, dragging, multipliers, reactions
from core.constraints.cut_limits import CutLimit, cut_limits
from core.errors import ModelError, SimulationError
from core.mechanism.configuration import Configuration, states
from core.model import Model
from core.model.model import needed
from core.multibody.parameter_values import Values
from core.numerics.position_solver import Flags
from core.traces import long_machines
from core.traces.program import Program, program_of

if TYPE_CHECKING:
    from core.mobility.mobility import Mobility

MANY = 24
"""Speeds above which the mass matrix of coupled joints is factorised by LAPACK rather than in the trace."""


class Energy(NamedTuple):
    """Kinetic and potential energy, J (arrays for arrays of states)."""

    kinetic: Any
    potential: Any

    @property
    def total(self) -> Any:
        """Their sum."""
        return self.kinetic + self.potential


class Mechanism(Configuration):
    """Evaluates the mechanics of a model. SI and radians; every function takes one state or arrays of states.

    q : (…, nq) coordinates   v, a, tau : (…, nv) speeds, accelerations, joint forces
    p : parameter values by name, or all of them in the order of `p_names`; default: the model's. They, too, may be
        arrays with a value (or row) per state
    t : time, s (drivers and forces may depend on it), one or one per state
    x : (…, nx) states of force elements; default: those of rest at q (`x_rest`)

    Functions are traced when first asked for and compiled in the background; until the machine code is there
    an interpreter gives the same numbers.
    """

    def __init__(self, model: Model) -> None:
        self._setup(needed(model), program_of(model))

    def _setup(self, model: Model, program: Program) -> None:
        super()._setup(model, program)
        self._jacobians: dict[str, Evaluator] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, also those for other processes, are made from the model; in one process they share the code."""
        return Mechanism, (self.model,)

    def updated(self, model: Model) -> Mechanism:
        """The mechanism of another model; code is shared when only parameter values, limits or looks differ."""
        return Mechanism(model)

    def __repr__(self) -> str:
        return f"Mechanism({self.name!r}, nq={self.nq}, nv={self.nv}, loops={len(self.loops)})"

    # --------------------------------------------------------------------------- positions

    def rest(self, p: Values = None, *, t: float = 0.0) -> Array:
        """(nq,) the rest position: as given, else neutral, inside the limits, loops closed, or as nearly as they can
        be."""
        if p is None and t == 0.0:
            return self._rest.copy()
        q = self._coordinates.rest()
        return self._closed(q, np.ones(self.nv), np.zeros(self.nv, dtype=bool), p, anywhere=True, t=t)[0]

    @cached_property
    def _rest(self) -> Array:
        q = self._coordinates.rest()
        return self._closed(q, np.ones(self.nv), np.zeros(self.nv, dtype=bool), None, anywhere=True)[0]

    def coordinate(self, q: Any, joint: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, n) the n coordinates of a joint at q, rad or m: those of a following joint computed from its leader's,
        those of a joint that closes a loop measured (angles within half a turn, a screw's as its advance says)."""
        q = states("q", q, self.nq)
        if cut_coordinates.closes_loop(self, self._known_joint(joint)):
            still = np.zeros((*np.shape(q)[:-1], self.nv))
            return cut_coordinates.motion(self, joint, q, still, still, p).q
        own = q[..., self.joint_q(joint)]
        ratio, offset = self.following(joint, p)
        return ratio * own + offset

    # --------------------------------------------------------------------------- kinematics

    def poses(self, q: Any, p: Values = None, *, t: float = 0.0) -> Array:
        """(…, n, 4, 4) world ← frame of all `frame_names`."""
        return self._call("poses", p, q)

    def frame(self, q: Any, name: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 4, 4) world ← frame of a body or frame."""
        if self._known_frame(name) == "world":
            return np.broadcast_to(np.eye(4), (*np.shape(q)[:-1], 4, 4)).copy()
        return self.poses(q, p)[..., self._program.frame_index[name], :, :]

    def joint_poses(self, q: Any, p: Values = None, *, t: float = 0.0) -> dict[str, tuple[Array, Array]]:
        """joint → (world ← a, world ← b), each (…, 4, 4), of every joint, loop-closing and implicit ones too."""
        pairs = self._call("joint_poses", p, q)
        return {name: (pairs[..., i, 0, :, :], pairs[..., i, 1, :, :]) for i, name in enumerate(self.joint_names)}

    def jacobian(self, q: Any, name: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 6, nv) rows [ω; v] of the frame's origin, world axes."""
        evaluator = self._jacobians.get(name) if isinstance(name, str) else None
        if evaluator is None:
            evaluator = self._jacobians[name] = self._evaluator("jacobian:" + self._known_frame(name))
        return evaluator.call(q) if p is None else evaluator(q, p=self.parameter_values(p))

    def frames_jacobian(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, n, 6, nv) the Jacobians of all `frame_names`."""
        if self._program.tracer.long:
            return np.stack([self.jacobian(q, name, p=p) for name in self.frame_names], axis=-3)
        return self._call("frames_jacobian", p, q)

    def frame_velocity(self, q: Any, v: Any, name: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 6) [ω; v] of the frame's origin, world axes; rad/s, m/s."""
        J = self.jacobian(q, name, p=p)
        return (J @ np.asarray(v, dtype=float)[..., None])[..., 0]

    def rate(self, q: Any, v: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nq) q̇; equal to v except where q holds quaternions."""
        return self._call("rate", p, q, v)

    def center_of_mass(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 3) of all bodies, those fixed to the ground included; world axes, m."""
        try:
            return self._call("center", p, q)
        except SimulationError:
            raise ModelError(
                "Nothing has mass, so there is no centre of mass.",
                remedy="Give a body a mass, or a density and a shape.",
            ) from None

    # --------------------------------------------------------------------------- dynamics

    def mass_matrix(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nv, nv) M(q), armature included."""
        if self._program.tracer.very_long:
            return long_machines.mass_matrix(self._program.freedoms, self._call("screws", p, q), self.nv)
        return self._inertia.call(q) if p is None else self._call("mass_matrix", p, q)

    @cached_property
    def _inertia(self) -> Evaluator:
        return self._evaluator("mass_matrix")

    def bias(self, q: Any, v: Any, *, p: Values = None, t: Any = 0.0, x: Any = None, passive: bool = True) -> Array:
        """(…, nv) h with M a + h = τ: Coriolis, centrifugal and gravity terms; passive joint forces and force
        elements unless `passive` is false."""
        return self._call("bias" if passive else "bias_ideal", p, q, v, t=t, x=x)

    def gravity(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nv) G(q): the joint forces that hold the machine against gravity alone."""
        return self._call("gravity", p, q)

    def energy(self, q: Any, v: Any, *, p: Values = None, t: Any = 0.0, x: Any = None) -> Energy:
        """(kinetic, potential), J: ½ vᵀ M v; potential energy of gravity (zero at the world's origin, bodies fixed to
        the ground not counted) and of springs in joints and force elements."""
        both = self._call("energy", p, q, v, t=t, x=x)
        return Energy(both[..., 0][()], both[..., 1][()])

    def inverse_dynamics(
        self,
        q: Any,
        v: Any,
        a: Any,
        *,
        p: Values = None,
        t: Any = 0.0,
        x: Any = None,
        passive: bool = True,
        actuators: Sequence[str] | None = None,
    ) -> Array:
        """(…, nv) joint forces that produce the accelerations `a`.

        With loops or constraints the forces act at `actuators` (names of speeds; default: as many independent ones as
        there are freedoms), the other entries are zero; `a` must be consistent with what holds. They stand in the place
        of drivers; where there are more of them than freedoms, they are the smallest that do.
        """
        if p is None and passive and actuators is None and self._plain:
            return self._drive.call(q, v, a)
        tau = self._call("inverse_dynamics" if passive else "inverse_dynamics_ideal", p, q, v, a, t=t, x=x)
        if actuators is None and not self.constrained:
            return tau
        return multipliers.at_actuators(self, q, tau, actuators, p)

    def forward_dynamics(
        self, q: Any, v: Any, tau: Any, *, p: Values = None, t: Any = 0.0, x: Any = None, passive: bool = True
    ) -> Array:
        """(…, nv) accelerations that joint forces `tau` produce; loops are kept closed by their joints' forces,
        constraints and drivers by theirs.

        Raises SimulationError naming the joint when it moves no mass.
        """
        if p is None and passive and self._plain:
            return self._accelerate.call(q, v, tau)
        if self._needs_mass_matrix:
            return multipliers.constrained_motion(self, q, v, tau, p, passive, t, x)[0]
        name = "forward_dynamics" if passive else "forward_dynamics_ideal"
        return self._call(name, p, q, v, tau, t=t, x=x)

    @cached_property
    def _drive(self) -> Evaluator:
        return self._evaluator("inverse_dynamics")

    @cached_property
    def _accelerate(self) -> Any:
        if self._needs_mass_matrix:
            return multipliers.Accelerations(self)
        return self._evaluator("forward_dynamics")

    @property
    def _needs_mass_matrix(self) -> bool:
        """True where the articulated-body recursion does not apply: loops, constraints, and many coupled joints."""
        tree = self._program.tracer.tree
        dense = tree.coupled or self._program.tracer.elements.added_inertia
        return self.constrained or bool(dense and tree.nv > MANY)

    def _failed(self, states: Sequence[Array], p: Array, out: Array) -> None:
        """A result that is not finite: say why."""
        bad = int(np.argmin(np.isfinite(out).all(axis=1)))
        v = states[1][bad] if len(states) > 2 else None
        words = dict(
            zip(
                self._evaluators["forward_dynamics"].signature.arguments
                if "forward_dynamics" in self._evaluators
                else (),
                states,
                strict=False,
            )
        )
        t = float(words["t"][bad][0]) if "t" in words else 0.0
        x = words["x"][bad][: self.nx] if "x" in words else None
        raise multipliers.singular(self, states[0][bad], p if p.ndim == 1 else p[bad], v, t, x)

    def reactions(
        self, q: Any, v: Any, tau: Any, *, p: Values = None, t: Any = 0.0, x: Any = None, passive: bool = True
    ) -> reactions.Reactions:
        """joint → (…, 6) the wrench that its parent side exerts on its child side, at b's origin, world axes,
        [torque; force]; its own torque included. Where constraints are redundant, of least norm,
        and `note` says so."""
        return reactions.reactions(self, q, v, tau, p, passive, t, x)

    def constraint_forces(
        self, q: Any, v: Any, tau: Any, *, p: Values = None, t: Any = 0.0, x: Any = None, passive: bool = True
    ) -> dict[str, Array]:
        """constraint or driver → (…, rows) the forces with which it acts along the growth of what it holds (N, N·m):
        a rod's pushes its ends apart, a joint driver's is its motor's torque."""
        return reactions.constraint_forces(self, q, v, tau, p, passive, t, x)

    def sensor(
        self, q: Any, v: Any, name: str, *, a: Any = None, p: Values = None, t: Any = 0.0
    ) -> tuple[Array, Array]:
        """(value, rate) of a sensor of motion, (…,) or (…, components); a sensor of velocities needs `a` for its rate,
        one of accelerations for its value."""
        return reactions.sensor(self, q, v, name, a, p)

    # --------------------------------------------------------------------------- loops

    @cached_property
    def cut_limits(self) -> tuple[CutLimit, ...]:
        """Limits of joints that close loops."""
        return cut_limits(self)

    @cached_property
    def solution_order(self) -> tuple[Step, ...]:
        """What becomes known in which order: independent joints, loops that close in closed form and what they follow
        from, and loops that are left to iteration."""
        return closed_forms_of(self._program).steps

    @property
    def constrained(self) -> bool:
        """True if there are loops, constraints or drivers."""
        return bool(self._program.constraint_rows)

    def constraint_residual(self, q: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """(…, rows) residuals of cut joints, then of constraints and drivers (zero where these hold speeds or
        accelerations only), m and rad; empty if nothing is held."""
        return self._call("constraint_residual", p, q, t=t)

    def constraint_jacobian(self, q: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """(…, rows, nv) G with d(gaps)/dt = G v, drivers at rest."""
        return self._call("constraint_jacobian", p, q)

    def assemble(
        self,
        q: Any,
        v: Any = None,
        *,
        p: Values = None,
        t: float = 0.0,
        fixed: Sequence[str] = (),
        weights: Mapping[str, float] | None = None,
        limits: bool = True,
    ) -> Any:
        """(…, nq) the position nearest to q that closes all loops and fulfils constraints and drivers at t, inside the
        limits of all joints; with v: (q, v), v (…, nv) made consistent.

        fixed : joints that must not move; weights : joint → unwillingness to move (default 1); limits : False for a
        position that is closed already, of a run, in which limits do not act: it stays where it is
        Raises AssemblyError naming the joint and the gap left.
        """
        return assembly.assembled(self, q, v, p, fixed, weights or {}, t, limits)

    def move(self, q: Any, values: Mapping[str, float], p: Values = None, *, t: float = 0.0) -> Array:
        """(nq,) the position nearest to q in which coordinates have the values given by name, inside the limits,
        loops closed if they can be (the named coordinates give way last).

        The name of a following joint moves its leader.
        """
        return dragging.moved(self, assembly.one_state(self, q), values, p, t)

    def mobility(self, q: Any = None, p: Values = None, t: float = 0.0) -> Mobility:
        """Degrees of freedom, redundant constraints by name, free motions, at a pose (nq,), default the rest pose:
        see `core.mobility.mobility`."""
        from core.mobility.mobility import mobility

        return mobility(self, q, p, t)

    def _closed(self, q: Array, weights: Array, fixed: Flags, p: Values, **how: Any) -> tuple[Array, float]:
        return assembly.closed_position(self, q, weights, fixed, p, **how)
