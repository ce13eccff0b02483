"""A program with one model's numbers: names, coordinates, parameters, time, and every function of the machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Array, Evaluator
from core.codegen.signature import Signature
from core.elements.constraint_reader import ConstraintReader
from core.elements.constraints.kinematic_constraint import Row
from core.elements.element_reader import Elements
from core.elements.time_argument import Splines, at_times
from core.errors import ModelError, near_misses
from core.mechanics.tree import Tree
from core.model import Joint, Model
from core.model.model import needed
from core.multibody.coordinates import Coordinates
from core.multibody.parameter_values import Values, parameter_values
from core.multibody.topology import Loop, Topology, topology_of
from core.numerics.matrix_forms import Matrix
from core.traces import long_machines
from core.traces.possible import WEIGHED, Gate
from core.traces.program import program_of

if TYPE_CHECKING:
    from core.traces.native_entry import Entry

Result = TypeVar("Result")

LARGE = 60_000
"""Entries of G from which on it may be too large to be worked with as a whole."""
NEARLY_EMPTY = 0.05
"""Share of entries that may differ from zero below which it then is."""
MANY = 24
"""Speeds above which the mass matrix of coupled joints is factorised by LAPACK rather than in the trace."""


class Compiled:
    """One model as functions of (q, v, u, x, t, p), evaluated by name (`core.traces.registry`).

    Code is shared with all models that differ only in parameter values, limits and looks; numbers are the model's own.
    """

    def __init__(self, model: Model) -> None:
        self.model = needed(model)
        self.program = program_of(model)
        self._evaluators: dict[str, Evaluator] = {}
        self._passed: dict[str, Evaluator] = {}
        """Those that the model's own numbers may be asked of."""
        self._splines: dict[bytes, Splines] = {}
        values = model.values()
        context = self.program.tracer
        self.p_names: tuple[str, ...] = context.p_names
        self._p = np.array([values[name] for name in self.p_names], dtype=float)
        self.coordinates = Coordinates(topology_of(model), values)  # the model's own limits, not the program's
        self.q_names: tuple[str, ...] = tuple(c.name for c in self.coordinates.table)
        self.v_names: tuple[str, ...] = self.coordinates.v_names
        self.nq, self.nv = len(self.q_names), len(self.v_names)
        self.tree: Tree = context.tree
        self.elements: Elements = context.elements
        self.x_names: tuple[str, ...] = self.elements.x_names
        self.nx = len(self.x_names)
        """Number of first-order states of force elements."""
        self.rows: tuple[Row, ...] = self.program.constraint_rows
        """Whose every row of `constraint_residual` is; what is wrong with constraints and drivers is said at once."""
        self.constrained = bool(self.rows)
        """True if there are loops, constraints or drivers."""
        self.lasting = np.array([row.collection != "drivers" for row in self.rows], dtype=bool)
        """Which rows joints and constraints hold: drivers are what actuators do."""
        self.plain = not (self.nx or context.clock.size or self.constrained)
        """True if neither time nor states nor anything constrained counts."""
        self.by_mass_matrix = self.constrained or bool(
            (self.tree.coupled or self.elements.added_inertia) and self.nv > MANY
        )
        """True where the articulated-body recursion does not apply: constraints, and many coupled joints."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are made from the model, as those of `Mechanism`."""
        return Compiled, (self.model,)

    # --------------------------------------------------------------------------- what it consists of

    @cached_property
    def gate(self) -> Gate:
        """What refuses numbers that no machine has."""
        return Gate(self.model.expanded, self.p_names, self._p)

    @property
    def topology(self) -> Topology:
        """The spanning tree and what was cut."""
        return self.program.topology

    @property
    def cuts(self) -> tuple[Joint, ...]:
        """Joints that close loops."""
        return self.program.topology.cuts

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Closed chains, by the names of their joints and the one that was cut."""
        return self.program.topology.loops

    @property
    def constraints(self) -> ConstraintReader:
        """Cut joints, constraints and drivers."""
        return self.program.tracer.constraints

    @cached_property
    def sparse(self) -> bool:
        """Whether G is large and nearly empty, so that what is computed with it goes by its entries."""
        size = len(self.rows) * self.nv
        return size > LARGE and len(self.program.tracer.row_expressions.pattern.rows) < NEARLY_EMPTY * size

    @property
    def levels(self) -> NDArray[np.int64]:
        """(rows,) level from which on each row holds: 0 position, 1 speed, 2 acceleration."""
        return self.program.levels

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Bodies and frames, in the order of `poses`."""
        return self.program.frame_names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """All joints: implicit free ones, then as the document lists them."""
        return self.program.joint_names

    @property
    def implicit_joints(self) -> tuple[Joint, ...]:
        """The free joints of bodies that nothing holds: not in the document, named as the body."""
        declared = {joint.name for joint in self.topology.model.joints}
        return tuple(b.joint for b in self.topology.branches if b.joint.name not in declared)

    def known_joint(self, name: Any) -> str:
        """The name of a joint, or a ModelError."""
        if name not in self.program.joint_index:
            raise ModelError(f"There is no joint '{name}'.", remedy=near_misses(str(name), self.joint_names))
        return name

    def known_frame(self, name: Any) -> str:
        """The name of a body or frame or "world", or a ModelError."""
        if not isinstance(name, str) or (name not in self.program.frame_index and name != "world"):
            raise ModelError(f"There is no body or frame '{name}'.", remedy=near_misses(str(name), self.frame_names))
        return name

    def joint_q(self, name: str) -> slice:
        """Where a joint's coordinates are in q (its leader's, if it follows another)."""
        return self.coordinates.slice_q(self.known_joint(name))

    def joint_v(self, name: str) -> slice:
        """Where a joint's speeds are in v (its leader's, if it follows another)."""
        return self.coordinates.slice_v(self.known_joint(name))

    def following(self, joint: str, p: Values = None) -> tuple[Array, Array]:
        """(ratio, offset) of a joint's coordinate to that of the joint with entries in q which it follows, (…, 1);
        1 and 0 of one that leads."""
        values = self.parameter_values(p)
        if self.coordinates.coupling(joint)[0] == joint:  # whatever the parameters
            return np.ones((*values.shape[:-1], 1)), np.zeros((*values.shape[:-1], 1))
        rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1]) if p is not None else values[None]
        found = []
        for row in rows:
            own = self.coordinates
            if p is not None:
                own = Coordinates(topology_of(self.model), self.model.values(dict(zip(self.p_names, row, strict=True))))
            found.append(own.coupling(joint)[1:])
        both = np.array(found).reshape(*values.shape[:-1], 2)
        return both[..., :1], both[..., 1:]

    # --------------------------------------------------------------------------- numbers

    def call(self, function: str, *states: Any, p: Values = None, t: Any = 0.0, x: Any = None) -> Array:
        """The value of a function at states q, v, u as far as it takes them, one state or arrays of states."""
        if p is None:
            evaluator = self._passed.get(function) or self.evaluator(function)
        else:
            evaluator = self._evaluators.get(function) or self._made(function)
            if function in WEIGHED:
                self.gate.ask(self.parameter_values(p))
        if len(states) < len(evaluator.sizes):
            states = (*states, *self._further(evaluator, states, p, t, x))
        return evaluator.call(*states) if p is None else evaluator.general(states, self.parameter_values(p))

    def joint_poses(self, q: Any, p: Values = None) -> dict[str, tuple[Array, Array]]:
        """joint → (world ← a, world ← b), each (…, 4, 4), of every joint, loop-closing and implicit ones too."""
        pairs = self.call("joint_poses", q, p=p)
        return {name: (pairs[..., i, 0, :, :], pairs[..., i, 1, :, :]) for i, name in enumerate(self.joint_names)}

    def constraint_matrix(self, q: Array, p: Values = None) -> Matrix:
        """(rows, nv) G at one state, in compressed rows if the machine is `sparse`."""
        if not self.sparse:
            return self.call("constraint_jacobian", q, p=p)
        return self.program.constraint_matrix(self.call("constraint_entries", q, p=p))

    def mass_matrix(self, q: Any, p: Values = None) -> Array:
        """(…, nv, nv) M(q), armature included."""
        if self.very_long:
            return long_machines.mass_matrix(self.program.freedoms, self.call("screws", q, p=p), self.nv)
        return self.call("mass_matrix", q, p=p)

    def mass_entries(self, q: Array, p: Values = None) -> Matrix:
        """(nv, nv) M at one state, in compressed columns."""
        return self.program.compressed_masses(self.call("mass_entries", q, p=p))

    @cached_property
    def very_long(self) -> bool:
        """True if the mass matrix is left to NumPy."""
        return self.program.tracer.very_long

    def parameter_values(self, p: Values = None) -> Array:
        """(…, n_p) all independent parameters: the model's values, replaced by those given."""
        return parameter_values(self.p_names, self._p, p)

    def time_argument(self, t: Any, p: Values = None) -> Array:
        """(…, nt) the time argument of functions at times t: t, then value, rate and second rate of every table and
        recorded signal; nt = 0 if nothing depends on time."""
        if not self.program.tracer.clock.size:
            return np.zeros((*np.shape(t), 0))
        return at_times(self.splines(p), t)

    def splines(self, p: Values = None) -> Splines:
        """The tables and recorded signals of drivers at parameter values (n_p,)."""
        row = self.parameter_values(p)
        if row.ndim > 1:
            raise ModelError("Tables take one set of parameter values, not one per state.", where="p")
        if row.tobytes() not in self._splines:
            values = self.model.values(dict(zip(self.p_names, row.tolist(), strict=True)))
            self._splines[row.tobytes()] = self.program.tracer.clock.splines(values)
        return self._splines[row.tobytes()]

    def x_rest(self, q: Any, *, p: Values = None, t: Any = 0.0, v: Any = None, near: Any = None) -> Array:
        """(…, nx) states of force elements at rest: junctions in balance; of a spring and damper in series the damper
        where it is at the spring's rest length, so that the spring has all the stretch; angles that count turns next to
        those of `near` (…, nx), default next to rest positions."""
        from core.traces.rest_states import at_rest

        context = self.program.tracer
        return at_rest(self.call, context, self.coordinates, q, v, p, self.parameter_values(p), t, near)

    def x_rate(self, q: Any, v: Any, x: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """(…, nx) ẋ."""
        x = np.asarray(x, dtype=float)
        return self.call("states", q, v, np.concatenate([x, np.zeros_like(x)], axis=-1), p=p, t=t)

    def _further(self, evaluator: Evaluator, states: tuple[Any, ...], p: Values, t: Any, x: Any) -> list[Any]:
        """The arguments that follow q, v, u: states of force elements with their rates, time."""
        missing = evaluator.signature.arguments[len(states) :]
        result: list[Any] = []
        if "x" in missing:
            q, v = (np.asarray(state, dtype=float) for state in states[:2])
            own = self.x_rest(q, p=p, t=t, v=v) if x is None else np.asarray(x, dtype=float)
            if own.shape[-1:] != (self.nx,):
                raise ModelError(
                    f"x has shape {own.shape}; {self.nx} numbers are needed.",
                    remedy="mech.x_names lists them in order.",
                )
            speed = self.x_rate(q, v, own, p=p, t=t)
            own, speed = np.broadcast_arrays(own, speed)
            result.append(np.concatenate([own, speed], axis=-1))
        if "t" in missing:
            result.append(self.time_argument(t, p))
        return result

    # --------------------------------------------------------------------------- code

    def compile(self, *functions: str, wait: bool = True) -> None:
        """Ask for machine code of functions (e.g. "forward_dynamics"; default: those used so far) and wait for it."""
        for function in functions:
            self._made(function)
        if wait:
            self.program.wait(functions)

    @property
    def ready(self) -> bool:
        """True when every function used so far runs as machine code."""
        return self.program.ready(self._evaluators)

    def evaluator(self, function: str) -> Evaluator:
        """A function by name, e.g. "jacobian:tool", with the model's parameter values as default. Raises
        SimulationError where it needs numbers that no machine has."""
        evaluator = self._passed.get(function)
        if evaluator is None:
            if function in WEIGHED:
                self.gate.ask()
            evaluator = self._passed[function] = self._made(function)
        return evaluator

    def _made(self, function: str) -> Evaluator:
        """A function by name, for the model's parameter values or others."""
        evaluator = self._evaluators.get(function)
        if evaluator is None:
            evaluator = self.program.evaluator(function, self._p)
            signature = evaluator.signature
            if signature.checked:
                evaluator.failed = lambda states, p, out: self._failed(signature, states, p, out)
            self._evaluators[function] = evaluator
        return evaluator

    def entry(self, function: str, p: Array) -> Entry:
        """A function for loops in machine code, compiled now if need be, with parameter values p (n_p,).

        Raises SimulationError if it has no machine code.
        """
        from core.traces.native_entry import entry_of

        self.compile(function)
        return entry_of(function, self._made(function).code, p, self.program.failures.get(function, ""))

    def _failed(self, signature: Signature, states: Sequence[Array], p: Array, out: Array) -> None:
        """A result that is not finite: say why."""
        from core.traces.not_finite import singular

        bad = int(np.argmin(np.isfinite(out).all(axis=1)))
        given = {argument: state[bad] for argument, state in zip(signature.arguments, states, strict=True)}
        t = float(given["t"][0]) if "t" in given else 0.0
        x = given["x"][: self.nx] if "x" in given else None
        raise singular(self, given["q"], p if p.ndim == 1 else p[bad], given.get("v"), t, x)


def once(function: Callable[[Compiled], Result]) -> Callable[[Compiled], Result]:
    """A function of a compiled model whose result is kept as long as the model."""
    known: WeakKeyDictionary[Compiled, Result] = WeakKeyDictionary()

    @wraps(function)
    def kept(compiled: Compiled) -> Result:
        if compiled not in known:
            known[compiled] = function(compiled)
        return known[compiled]

    return kept
