"""Compiled model: one model's names, coordinates, parameters and time, and all functions of the machine by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Array, Evaluator, Signature
from core.errors import ModelError, suggest_names
from core.mechanics.elements.constraints.kinematic_constraint import Row
from core.mechanics.elements.element_reader import ConstraintReader, MachineElements
from core.mechanics.elements.time_argument import Splines, evaluate_time_argument
from core.mechanics.multibody.coordinates import Coordinates
from core.mechanics.multibody.parameter_values import Values, parameter_values
from core.mechanics.multibody.topology import Loop, Topology, build_topology
from core.mechanics.tree import Tree
from core.model import Joint, Model
from core.model.model import require_model
from core.numerics.matrix_forms import Matrix
from core.programs import long_machines
from core.programs.possible import DYNAMICS_FUNCTIONS, NumberCheck
from core.programs.program import find_program

if TYPE_CHECKING:
    from core.programs.native_entry import Entry

Result = TypeVar("Result")

LARGE = 60_000
"""Number of entries of G above which it may be handled as a sparse matrix."""
NEARLY_EMPTY = 0.05
"""Fraction of nonzero entries below which a large G is handled as a sparse matrix."""
MANY = 24
"""Number of speeds above which the mass matrix of coupled joints is factorised by LAPACK instead of symbolically."""


class CompiledModel:
    """Functions of (q, v, u, x, t, p) of one model, evaluated by name (`core.programs.function_builder`).

    Code is shared with all models that differ only in parameter values, limits and looks; numbers are the model's own.
    """

    def __init__(self, model: Model) -> None:
        self.model = require_model(model)
        self.program = find_program(model)
        self._evaluators: dict[str, Evaluator] = {}
        self._passed: dict[str, Evaluator] = {}
        """Evaluators for which the model's own numbers have been checked."""
        self._splines: dict[bytes, Splines] = {}
        values = model.values()
        context = self.program.symbolic
        self.p_names: tuple[str, ...] = context.p_names
        self._p = np.array([values[name] for name in self.p_names], dtype=float)
        self.coordinates = Coordinates(build_topology(model), values)  # the model's own limits, not the program's
        self.q_names: tuple[str, ...] = tuple(c.name for c in self.coordinates.table)
        self.v_names: tuple[str, ...] = self.coordinates.v_names
        self.nq, self.nv = len(self.q_names), len(self.v_names)
        self.tree: Tree = context.tree
        self.elements: MachineElements = context.elements
        self.x_names: tuple[str, ...] = self.elements.x_names
        self.nx = len(self.x_names)
        """Number of first-order states of force elements."""
        self.rows: tuple[Row, ...] = self.program.constraint_rows
        """Owner of each row of `constraint_residual`; reading them here reports errors in constraints and drivers at
        once."""
        self.constrained = bool(self.rows)
        """True if there are loops, constraints or drivers."""
        self.lasting = np.array([row.collection != "drivers" for row in self.rows], dtype=bool)
        """Mask of the rows of joints and constraints, without drivers, which are actuation."""
        self.plain = not (self.nx or context.clock.size or self.constrained)
        """True if the machine has no constraints, no states of force elements and no dependence on time."""
        self.by_mass_matrix = self.constrained or bool(
            (self.tree.has_coupled_joints or self.elements.added_inertia) and self.nv > MANY
        )
        """True where the articulated-body recursion does not apply: constraints, and many coupled joints."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the model alone, as `Mechanism` does."""
        return CompiledModel, (self.model,)

    # --------------------------------------------------------------------------- what it consists of

    @cached_property
    def gate(self) -> NumberCheck:
        """Return the check that raises an error for physically impossible numbers."""
        return NumberCheck(self.model.expanded, self.p_names, self._p)

    @property
    def topology(self) -> Topology:
        """Return the spanning tree and the cut joints."""
        return self.program.topology

    @property
    def cuts(self) -> tuple[Joint, ...]:
        """Return the joints that close loops."""
        return self.program.topology.cuts

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Return the closed chains with the names of their joints, the cut one last."""
        return self.program.topology.loops

    @property
    def constraints(self) -> ConstraintReader:
        """Return the cut joints, constraints and drivers."""
        return self.program.symbolic.constraints

    @cached_property
    def is_sparse(self) -> bool:
        """Return True if G is large and sparse, so that computations with it use its nonzero entries only."""
        size = len(self.rows) * self.nv
        return size > LARGE and len(self.program.symbolic.row_expressions.pattern.rows) < NEARLY_EMPTY * size

    @property
    def levels(self) -> NDArray[np.int64]:
        """Return the level of each row (rows,) from which on it is enforced: 0 position, 1 speed, 2 acceleration."""
        return self.program.levels

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Return the names of bodies and frames, in the order of `poses`."""
        return self.program.frame_names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names of all joints: implicit free ones, then as the document lists them."""
        return self.program.joint_names

    @property
    def implicit_joints(self) -> tuple[Joint, ...]:
        """Return the free joints of unconnected bodies, which are not in the document and have the body's name."""
        declared = {joint.name for joint in self.topology.model.joints}
        return tuple(b.joint for b in self.topology.branches if b.joint.name not in declared)

    def check_joint_name(self, name: Any) -> str:
        """Check the name of a joint and return it. Raises ModelError."""
        if name not in self.program.joint_index:
            raise ModelError(f"There is no joint '{name}'.", remedy=suggest_names(str(name), self.joint_names))
        return name

    def check_frame_name(self, name: Any) -> str:
        """Check the name of a body, a frame or "world" and return it. Raises ModelError."""
        if not isinstance(name, str) or (name not in self.program.frame_index and name != "world"):
            raise ModelError(f"There is no body or frame '{name}'.", remedy=suggest_names(str(name), self.frame_names))
        return name

    def joint_q(self, name: str) -> slice:
        """Return the slice of a joint's coordinates in q (its leader's, if it is coupled)."""
        return self.coordinates.slice_q(self.check_joint_name(name))

    def joint_v(self, name: str) -> slice:
        """Return the slice of a joint's speeds in v (its leader's, if it is coupled)."""
        return self.coordinates.slice_v(self.check_joint_name(name))

    def following(self, joint: str, p: Values = None) -> tuple[Array, Array]:
        """Return (ratio, offset), (…, 1) each, of a coupled joint's coordinate relative to the leader that has entries
        in q; 1 and 0 for a joint that is not coupled."""
        values = self.parameter_values(p)
        if self.coordinates.coupling(joint)[0] == joint:  # whatever the parameters
            return np.ones((*values.shape[:-1], 1)), np.zeros((*values.shape[:-1], 1))
        rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1]) if p is not None else values[None]
        found = []
        for row in rows:
            own = self.coordinates
            if p is not None:
                own = Coordinates(
                    build_topology(self.model), self.model.values(dict(zip(self.p_names, row, strict=True)))
                )
            found.append(own.coupling(joint)[1:])
        both = np.array(found).reshape(*values.shape[:-1], 2)
        return both[..., :1], both[..., 1:]

    # --------------------------------------------------------------------------- numbers

    def call(self, function: str, *states: Any, p: Values = None, t: Any = 0.0, x: Any = None) -> Array:
        """Evaluate a function at those of the states q, v, u that it takes; one state or arrays of states."""
        if p is None:
            evaluator = self._passed.get(function) or self.evaluator(function)
        else:
            evaluator = self._evaluators.get(function) or self._unchecked_evaluator(function)
            if function in DYNAMICS_FUNCTIONS:
                self.gate.check_numbers(self.parameter_values(p))
        if len(states) < len(evaluator.sizes):
            states = (*states, *self._further_arguments(evaluator, states, p, t, x))
        return evaluator.call(*states) if p is None else evaluator.evaluate_general(states, self.parameter_values(p))

    def joint_poses(self, q: Any, p: Values = None) -> dict[str, tuple[Array, Array]]:
        """Return joint → (world ← a, world ← b), each (…, 4, 4), for every joint, cut and implicit ones included."""
        pairs = self.call("joint_poses", q, p=p)
        return {name: (pairs[..., i, 0, :, :], pairs[..., i, 1, :, :]) for i, name in enumerate(self.joint_names)}

    def constraint_matrix(self, q: Array, p: Values = None) -> Matrix:
        """Return the constraint Jacobian G (rows, nv) at one state, in CSR format if the machine is `sparse`."""
        if not self.is_sparse:
            return self.call("constraint_jacobian", q, p=p)
        return self.program.constraint_matrix(self.call("constraint_entries", q, p=p))

    def mass_matrix(self, q: Any, p: Values = None) -> Array:
        """Return the mass matrix M(q) (…, nv, nv), armature included."""
        if self.is_very_long:
            return long_machines.mass_matrix(self.program.dof_table, self.call("screws", q, p=p), self.nv)
        return self.call("mass_matrix", q, p=p)

    def mass_entries(self, q: Array, p: Values = None) -> Matrix:
        """Return the mass matrix M (nv, nv) at one state, in CSC format."""
        return self.program.compressed_masses(self.call("mass_entries", q, p=p))

    @cached_property
    def is_very_long(self) -> bool:
        """Return True if the machine is so long that NumPy computes its mass matrix from the screws of the links."""
        return self.program.symbolic.very_long

    def parameter_values(self, p: Values = None) -> Array:
        """Return all independent parameters (…, n_p): the model's values, overridden by the given ones."""
        return parameter_values(self.p_names, self._p, p)

    def time_argument(self, t: Any, p: Values = None) -> Array:
        """Return the time argument (…, nt) of functions at times t: t, then value, rate and second rate of every table
        and recorded signal; nt = 0 if nothing depends on time."""
        if not self.program.symbolic.clock.size:
            return np.zeros((*np.shape(t), 0))
        return evaluate_time_argument(self.splines(p), t)

    def splines(self, p: Values = None) -> Splines:
        """Return the tables and recorded signals of drivers at parameter values (n_p,)."""
        row = self.parameter_values(p)
        if row.ndim > 1:
            raise ModelError("Drivers with tables need a single set of parameter values, not one per state.", where="p")
        if row.tobytes() not in self._splines:
            values = self.model.values(dict(zip(self.p_names, row.tolist(), strict=True)))
            self._splines[row.tobytes()] = self.program.symbolic.clock.splines(values, self.model)
        return self._splines[row.tobytes()]

    def x_rest(self, q: Any, *, p: Values = None, t: Any = 0.0, v: Any = None, near: Any = None) -> Array:
        """Return the states of force elements (…, nx) at rest: junctions in equilibrium; for a spring and damper in
        series, the spring takes the whole elongation; angles whose turns are counted lie near those of `near` (…, nx),
        by default near the rest position."""
        from core.programs.rest_states import find_rest_states

        context = self.program.symbolic
        return find_rest_states(self.call, context, self.coordinates, q, v, p, self.parameter_values(p), t, near)

    def x_rate(self, q: Any, v: Any, x: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """Return ẋ (…, nx)."""
        x = np.asarray(x, dtype=float)
        return self.call("states", q, v, np.concatenate([x, np.zeros_like(x)], axis=-1), p=p, t=t)

    def _further_arguments(self, evaluator: Evaluator, states: tuple[Any, ...], p: Values, t: Any, x: Any) -> list[Any]:
        """Return the arguments after q, v, u: states of force elements with their rates, time."""
        missing = evaluator.signature.arguments[len(states) :]
        result: list[Any] = []
        if "x" in missing:
            q, v = (np.asarray(state, dtype=float) for state in states[:2])
            own = self.x_rest(q, p=p, t=t, v=v) if x is None else np.asarray(x, dtype=float)
            if own.shape[-1:] != (self.nx,):
                raise ModelError(
                    f"x has shape {own.shape}; {self.nx} numbers are needed.",
                    remedy="mech.x_names lists the entries in order.",
                )
            speed = self.x_rate(q, v, own, p=p, t=t)
            own, speed = np.broadcast_arrays(own, speed)
            result.append(np.concatenate([own, speed], axis=-1))
        if "t" in missing:
            result.append(self.time_argument(t, p))
        return result

    # --------------------------------------------------------------------------- code

    def compile(self, *functions: str, wait: bool = True) -> None:
        """Compile functions (e.g. "forward_dynamics"; default: those used so far) and wait for their optimised
        machine code."""
        for function in functions:
            self._unchecked_evaluator(function)
        if wait:
            self.program.wait(functions)
            self.program.optimise(functions)

    @property
    def is_ready(self) -> bool:
        """Return True when every function used so far runs as machine code."""
        return self.program.is_ready(self._evaluators)

    def evaluator(self, function: str) -> Evaluator:
        """Return a function by name, e.g. "jacobian:tool", with the model's parameter values as default. Raises
        SimulationError if the model's numbers are physically impossible."""
        evaluator = self._passed.get(function)
        if evaluator is None:
            if function in DYNAMICS_FUNCTIONS:
                self.gate.check_numbers()
            evaluator = self._passed[function] = self._unchecked_evaluator(function)
        return evaluator

    def _unchecked_evaluator(self, function: str) -> Evaluator:
        """Return a function by name, without checking the model's numbers."""
        evaluator = self._evaluators.get(function)
        if evaluator is None:
            evaluator = self.program.evaluator(function, self._p)
            signature = evaluator.signature
            if signature.checked:
                evaluator.failed = lambda states, p, out: self._raise_not_finite(signature, states, p, out)
            self._evaluators[function] = evaluator
        return evaluator

    def trace(self, functions: Iterable[str]) -> None:
        """Trace functions, which the background thread then compiles, so that `entry` waits less for them."""
        for function in functions:
            self._unchecked_evaluator(function)

    def entry(self, function: str, p: Array) -> Entry:
        """Return a function for use in machine-code loops, compiled now if necessary, with parameter values p (n_p,).

        Raises SimulationError if it has no machine code.
        """
        from core.programs.native_entry import build_entry

        self._unchecked_evaluator(function)
        self.program.wait([function])
        return build_entry(
            function, self._unchecked_evaluator(function).code, p, self.program.failures.get(function, "")
        )

    def _raise_not_finite(self, signature: Signature, states: Sequence[Array], p: Array, out: Array) -> None:
        """Raise the error that explains a result that is not finite."""
        from core.programs.not_finite import singularity_error

        bad = int(np.argmin(np.isfinite(out).all(axis=1)))
        given = {argument: state[bad] for argument, state in zip(signature.arguments, states, strict=True)}
        t = float(given["t"][0]) if "t" in given else 0.0
        x = given["x"][: self.nx] if "x" in given else None
        raise singularity_error(self, given["q"], p if p.ndim == 1 else p[bad], given.get("v"), t, x)


def cache_per_model(function: Callable[[CompiledModel], Result]) -> Callable[[CompiledModel], Result]:
    """Cache a function's result for the lifetime of the compiled model."""
    known: WeakKeyDictionary[CompiledModel, Result] = WeakKeyDictionary()

    @wraps(function)
    def cached_result(compiled: CompiledModel) -> Result:
        if compiled not in known:
            known[compiled] = function(compiled)
        return known[compiled]

    return cached_result
