"""Analytic loop closure of a machine, compiled to machine code.

1. The order in which loops close, and what is independent, is sought on the graph of elementary joints
   (`core.constraints.closed_forms.order`), once for each program, when first asked for.
2. The steps are carried out over symbols: explicit positions, speeds, accelerations, the mass matrix and the forces
   in independent speeds (`positions`, `reduction`); `Layout` says where the numbers lie.
3. The graph becomes machine code: `closing` for positions, `reduction` for runs
   (`core.simulation.equations.reduced`).

With each result comes how far it is from singular (reach, sine, gain): where that is too near, iteration takes over.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen import background, llvm_ir
from core.codegen.block_code import BlockCode
from core.codegen.blocks import Recorder, Table
from core.codegen.graph_symbols import column, symbols
from core.codegen.instructions import Instruction, instructions_of
from core.codegen.joined_rows import joined
from core.codegen.machine_code import MachineCode
from core.codegen.object_code import Library, kept
from core.constraints.closed_forms.families import Form
from core.constraints.closed_forms.graph import BESIDE, Edge, edges_of, gears_of, rods_of
from core.constraints.closed_forms.order import Search, solved
from core.constraints.closed_forms.positions import Positions, positions
from core.constraints.closed_forms.reduction import Structure, independent_speeds, motions, reduced, structure
from core.constraints.closed_forms.velocities import Speed, least
from core.constraints.closed_forms.wording import Step, solution_steps
from core.errors import SimulationError
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.multibody.parameter_values import Values
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import all_zero
from core.numerics.tolerances import SOLVED_GAP
from core.programs.compiled import Compiled
from core.programs.dynamics import inverse
from core.programs.function_builder import FunctionBuilder
from core.programs.program import Program

Array = NDArray[np.float64]
LONG = 120
"""Number of joints above which steps are recorded as a table of blocks instead of one symbolic function."""
MOST_PRODUCTS = 36
"""Average number of products of motions per link above which loops of a long machine are closed by iteration: as many
as if eight independent speeds moved every link."""
MOST_BESIDE = 8
"""Number of independent speeds of a long machine above which it is closed by iteration entirely if some constraint rows
have no analytic solution."""
PATIENCE = 1.5
"""Processor time, s, that a run waits for its code; code that takes longer is compiled in the background."""
OF_FORM, OF_INSTRUCTION = 2.5e-3, 1.3e-4
"""Estimated seconds for recording one chain solution as rows, and for compiling one instruction."""
CLOSING_SINE = 0.05
"""Conditioning (sine) of a chain solution above which it is used to close positions."""

FIT_TOLERANCE = 1e-6
"""Largest deviation (rad, m) of an analytic solution from a closed position."""


@dataclass(frozen=True)
class Layout:
    """Layout of the reduced equations' output: q, v, b, entries of Φ column by column, the lower triangle of Φᵀ M Φ row
    by row (the entries in `structure`), Φᵀ (M b + h), reach, sine, gain."""

    nq: int
    nv: int
    structure: Structure

    @property
    def size(self) -> int:
        """Total number of output values."""
        columns = self.structure.columns
        return self.nq + 2 * self.nv + sum(map(len, columns)) + len(self.structure.pairs) + len(columns) + 3


class _SymbolicFunction(NamedTuple):
    """A symbolic function that is compiled in one piece."""

    instructions: list[Instruction]
    sizes: list[int]
    size: int

    @property
    def text(self) -> str:
        """LLVM text of the function."""
        return llvm_ir.module(self.instructions, self.sizes, self.size, checked=False)


def _compiled_code(traced: _SymbolicFunction | Table) -> MachineCode | BlockCode:
    background.go_on()
    if isinstance(traced, Table):
        return BlockCode(traced, checked=False)
    return MachineCode(Library(traced.text), traced.sizes, traced.size, len(traced.instructions))


def _stopping(run: Runner) -> Runner:
    """A runner that raises when the program ends."""

    def carried(step: Callable[..., Any], *arguments: Any) -> Any:
        background.go_on()
        return run(step, *arguments)

    return carried


class ClosedForms:
    """Analytic loop closure of one program, with its machine code."""

    def __init__(self, symbolic: FunctionBuilder) -> None:
        self.symbolic = symbolic
        self._lock = threading.RLock()
        self._made: MachineCode | BlockCode | None = None
        self._asked, self._seconds = False, 0.0
        self.failure = ""
        """Reason why there is no machine code of `reduction`."""
        self.search: Search | None = None
        count = len(symbolic.topology.model.joints) + len(symbolic.topology.branches)
        topology = symbolic.topology
        self.long = count > LONG
        """True if the steps become a table of blocks."""
        if topology.cuts or rods_of(topology) or gears_of(topology):
            self.search = solved(topology)
            if self.long and self._is_too_dense():
                self.search = None

    def _is_too_dense(self) -> bool:
        """Return True if the equations are so dense that iteration is faster."""
        beside = len(self.independent) > MOST_BESIDE and bool(self.rows_left_to_iteration)
        return beside or self.structure.products > MOST_PRODUCTS * len(self.symbolic.tree.links)

    @property
    def forms(self) -> list[Form]:
        """Chain solutions in the order of evaluation."""
        return [] if self.search is None else [step for step in self.search.steps if isinstance(step, Form)]

    @property
    def found(self) -> bool:
        """True if any loop has an analytic solution."""
        return bool(self.forms)

    @property
    def usable(self) -> bool:
        """True if the solutions can be used in a run; false for a rigid frame, which has no independent speed."""
        return self.found and bool(self.independent)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Order of solution in words."""
        return solution_steps(self.symbolic.topology, self.search)

    @cached_property
    def edges(self) -> list[Edge]:
        """Elementary joints with the symbols of the program."""
        return edges_of(self.symbolic.topology, self.symbolic.numbers)

    @cached_property
    def independent(self) -> list[Speed]:
        """Independent speeds, in the order in which they become known."""
        assert self.search is not None
        return independent_speeds(self.edges, self.search.steps)

    @cached_property
    def dependent_v(self) -> NDArray[np.bool_]:
        """(nv,) True for dependent speeds."""
        flags = np.zeros(self.symbolic.tree.nv, dtype=bool)
        for form in self.forms:
            for i, _ in form.chain:
                if not self.edges[i].cut:
                    flags[self.edges[i].v : self.edges[i].v + self.edges[i].nv] = True
        return flags

    @cached_property
    def closed_joints(self) -> frozenset[str]:
        """Cut joints whose constraints are satisfied analytically."""
        assert self.search is not None
        if self.search.left_open:
            return frozenset()
        left = {self.edges[i].joint for i in self.search.free if self.edges[i].kind not in BESIDE}
        return frozenset(joint.name for joint in self.symbolic.topology.cuts) - left

    @cached_property
    def closed_constraints(self) -> frozenset[str]:
        """Massless rods and gears whose constraints are satisfied analytically."""
        closed = [self.edges[i] for form in self.forms for i, _ in form.chain]
        return frozenset(edge.joint for edge in closed if edge.kind in BESIDE)

    @property
    def rows_left_to_iteration(self) -> list[int]:
        """Indices of constraint rows left to iteration."""
        closed = {"joints": self.closed_joints, "constraints": self.closed_constraints}
        return [
            k
            for k, row in enumerate(self.symbolic.constraints.rows)
            if row.element not in closed.get(row.collection, ())
        ]

    @property
    def layout(self) -> Layout:
        """Layout of the reduced equations' output."""
        return Layout(self.symbolic.tree.nq, self.symbolic.tree.nv, self.structure)

    @cached_property
    def structure(self) -> Structure:
        """Sparsity of the reduced equations."""
        symbolic = self.symbolic
        kinematics = KinematicState(symbolic.tree, symbols("q", symbolic.tree.nq))
        masses = [
            [k for k, column in enumerate(mass.columns(kinematics)) if not all_zero(column)]
            for mass in symbolic.elements.added_inertia
        ]
        return structure(symbolic.tree, self.edges, self._steps, self.independent, masses)

    # ------------------------------------------------------------------------------------------ machine code

    @property
    def reduction(self) -> MachineCode | BlockCode:
        """Machine code (q, v[, x][, t], p) → `layout`; x and t as in the bias function.

        Raises SimulationError where none can be made.
        """
        with self._lock:
            if self._made is None:
                try:
                    self._made = _compiled_code(self._reduction_function)
                    del self._reduction_function
                except (OSError, RuntimeError, NotImplementedError) as error:
                    self.failure = str(error)
                    raise SimulationError(
                        f"The analytic loop closure could not be compiled: {error}.",
                        remedy="Close the loops by iteration (closed_forms=False), and report this with the model.",
                    ) from None
            return self._made

    @cached_property
    def _reduction_function(self) -> _SymbolicFunction | Table:
        return self._symbolic_function(self.symbolic.signature("bias_smooth").arguments, self._reduced_outputs)

    def awaited(self) -> float:
        """Estimated processor time, s, that a run would wait for `reduction`; 0 if it exists or compiles quickly. Slow
        code starts compiling in the background."""
        if self._made is None and not self._asked:
            self._seconds = self._estimate()
            if self._seconds > PATIENCE:
                self._asked = True
                background.submit(self._make)
        return self._seconds if self._made is None and self._asked else 0.0

    def _estimate(self) -> float:
        if self.long:
            return OF_FORM * len(self.forms)
        with self._lock:
            piece = self._reduction_function
            assert isinstance(piece, _SymbolicFunction)
            seconds = OF_INSTRUCTION * len(piece.instructions)
            return 0.0 if seconds > PATIENCE and kept(piece.text) else seconds

    def _make(self) -> None:
        with suppress(SimulationError, background.Stopped):  # a failure is kept, for those who ask next
            _ = self.reduction

    def reduced_equations(self, inputs: dict[str, list[Any]]) -> list[Any]:
        """Values of `layout` as expressions in the symbols q, v (and x, t if present)."""
        return self._reduced_outputs(inputs, inline)

    def _reduced_outputs(self, inputs: dict[str, list[Any]], run: Runner) -> list[Any]:
        symbolic, closed = self.symbolic, self.positions_of(inputs["q"], run)
        found = motions(self.edges, self._steps, self.independent, closed, inputs["v"], symbolic.tree.nv, run)

        def forces(a: list[Any]) -> list[Any]:
            return inverse(symbolic, {**inputs, "q": closed.q, "v": found.v, "u": a}, "", run, smooth=True)

        M, h = reduced(symbolic.tree, found, closed.q, forces, symbolic.elements.added_inertia, run)
        flat = [*closed.q, *found.v, *found.bias]
        for own, entries in zip(found.columns, self.structure.columns, strict=True):
            flat += [own.get(k, 0.0) for k in entries]
        flat += [M.get(pair, 0.0) for pair in self.structure.pairs]
        return [*flat, *h, least(closed.reaches, run), *found.quality]

    @cached_property
    def closing(self) -> MachineCode | BlockCode:
        """Machine code (q, p) → closed q, reach, sine."""
        with self._lock:
            return _compiled_code(self._symbolic_function(("q",), self._closing_outputs))

    def compiled_of_guess(self, traced: Callable[[dict[str, list[Any]], Runner], list[Any]]) -> MachineCode | BlockCode:
        """Machine code of a function of (q, p), from its symbolic definition."""
        with self._lock:
            return _compiled_code(self._symbolic_function(("q",), traced))

    def _closing_outputs(self, inputs: dict[str, list[Any]], run: Runner) -> list[Any]:
        closed, nv = self.positions_of(inputs["q"], run), self.symbolic.tree.nv
        still = motions(self.edges, self._steps, self.independent, closed, [0.0] * nv, nv, run)
        return [*closed.q, least(closed.reaches, run), still.quality[0]]

    @property
    def _steps(self) -> list[Form | int]:
        assert self.search is not None
        return self.search.steps

    def positions_of(self, q: Sequence[Any], run: Runner) -> Positions:
        """Closed position as symbolic expressions; q : (nq,) guess that contains the independent coordinates"""
        return positions(self.edges, self._steps, q, run)

    def _symbolic_function(
        self, words: Sequence[str], traced: Callable[[dict[str, list[Any]], Runner], list[Any]]
    ) -> _SymbolicFunction | Table:
        """Expression graph of a function of the named arguments and p."""
        sizes = [*(self.symbolic.sizes[word] for word in words), len(self.symbolic.p)]
        if self.long:
            recorder = Recorder(sizes, self.symbolic.p)
            inputs = dict(zip(words, recorder.inputs, strict=False))
            return joined(recorder.finish(traced(inputs, _stopping(recorder))))
        inputs = {word: symbols(word, self.symbolic.sizes[word]) for word in words}
        result, sources = traced(inputs, _stopping(inline)), [*inputs.values(), self.symbolic.p]
        function = ca.Function("f", [column(list(x)) for x in sources], [ca.densify(column(result))], {"cse": True})
        return _SymbolicFunction(instructions_of(function), sizes, len(result))

    def fit(self, q: Array, p: Array) -> bool:
        """True if the analytic solution reproduces a closed position: geometry that holds at the model's own parameters
        may fail at others."""
        given = [np.zeros((1, size)) for size in self.reduction.sizes[:-1]]
        given[0][0] = q
        out = np.empty((1, self.reduction.size))
        self.reduction.batch(given, np.ascontiguousarray(p), out)
        reach, sine, _ = out[0, -3:]
        if not (reach > 0.0 and sine > CLOSING_SINE):
            return True  # at a pose where branches meet nothing can be said
        return bool(np.max(np.abs(out[0, : len(q)] - q)) < FIT_TOLERANCE)

    def make_ready(self) -> None:
        """Compile `closing` now, so that a later drag does not have to wait for it."""
        if self.found and not self.rows_left_to_iteration:
            _ = self.closing

    def closed(self, q: Array, p: Array) -> tuple[Array, bool]:
        """Closed position for a guess, and True if it is valid: solutions exist and are not (nearly) double roots."""
        out = np.empty((1, self.closing.size))
        self.closing.batch([np.ascontiguousarray(q, dtype=float)[None]], np.ascontiguousarray(p), out)
        reach, sine = out[0, -2:]
        return out[0, :-2].copy(), bool(reach > 0.0 and sine > CLOSING_SINE and np.isfinite(out).all())


def explicitly_closed(compiled: Compiled, q: Array, held: NDArray[np.bool_], p: Values) -> Array | None:
    """Closed position (nq,) near q by analytic solutions only; None if part of the loops needs iteration, a held
    coordinate (mask nv,) is dependent, or a limit is exceeded."""
    forms = closed_forms_of(compiled.program)
    if not forms.found or forms.rows_left_to_iteration or (held & forms.dependent_v).any():
        return None
    closed, well = forms.closed(q, compiled.parameter_values(p))
    beyond = np.max(np.abs(compiled.coordinates.clamp(closed) - closed), initial=0.0)
    return closed if well and beyond < SOLVED_GAP else None


class _CacheEntry:
    """Cache entry for the analytic closure of a program; one thread computes, others wait."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.found: ClosedForms | None = None


_known: weakref.WeakKeyDictionary[Program, _CacheEntry] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def closed_forms_of(program: Program) -> ClosedForms:
    """Analytic loop closure of a program, computed on first use."""
    with _lock:
        place = _known.setdefault(program, _CacheEntry())
    with place.lock:
        if place.found is None:
            place.found = ClosedForms(program.symbolic)
        return place.found
