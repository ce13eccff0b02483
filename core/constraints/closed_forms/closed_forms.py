"""Analytic loop closure of a machine, compiled to machine code.

1. The order in which loops close, and what is independent, is sought on the graph of elementary joints
   (`core.constraints.closed_forms.order`), once for each program, when first asked for.
2. The steps are carried out over symbols: explicit positions, speeds, accelerations, the mass matrix and the forces
   in independent speeds (`positions`, `reduction`); `ReducedEquationsLayout` says where the numbers lie.
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
from core.codegen.blocks import BlockTable, RecursionRecorder
from core.codegen.graph_symbols import build_column, scalar_symbols
from core.codegen.instructions import Instruction, list_instructions
from core.codegen.joined_rows import compress_table
from core.codegen.machine_code import MachineCode
from core.codegen.object_code import is_cached
from core.codegen.tiered_code import TieredLibrary
from core.constraints.closed_forms.families import ChainSolution
from core.constraints.closed_forms.graph import BESIDE, Edge, elementary_edges, equivalent_gears, equivalent_rods
from core.constraints.closed_forms.order import SolutionSearch, solve_order
from core.constraints.closed_forms.positions import Positions, evaluate_positions
from core.constraints.closed_forms.reduction import (
    SparsityPattern,
    compute_motions,
    find_sparsity,
    independent_speeds,
    reduce_equations,
)
from core.constraints.closed_forms.velocities import Speed, smallest_value
from core.constraints.closed_forms.wording import SolutionStep, solution_steps
from core.errors import SimulationError
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.multibody.parameter_values import Values
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import all_zero
from core.numerics.tolerances import SOLVED_GAP
from core.programs.compiled import CompiledModel
from core.programs.dynamics import inverse
from core.programs.function_builder import FunctionBuilder
from core.programs.program import Program

Array = NDArray[np.float64]
LONG = 120
"""Number of joints above which steps are recorded as a table of blocks instead of one symbolic function."""
MOST_PRODUCTS = 36
"""Average number of products of motions per link above which the loops of a long machine are closed by iteration; it
corresponds to eight independent speeds that move every link."""
MOST_BESIDE = 8
"""Number of independent speeds of a long machine above which it is closed entirely by iteration if some constraint rows
have no analytic solution."""
PATIENCE = 1.5
"""Processor time, s, that a run waits for its code to compile; code that takes longer is compiled in the background."""
OF_FORM, OF_INSTRUCTION = 2.5e-3, 1.3e-4
"""Estimated seconds for recording one chain solution as rows, and for compiling one instruction."""
CLOSING_SINE = 0.05
"""Conditioning (sine) of a chain solution above which the solution is used to close positions."""

FIT_TOLERANCE = 1e-6
"""Largest deviation (rad, m) of an analytic solution from a closed position."""


@dataclass(frozen=True)
class ReducedEquationsLayout:
    """Layout of the reduced equations' output: q, v, b, entries of Φ column by column, the lower triangle of Φᵀ M Φ row
    by row (the entries in `structure`), Φᵀ (M b + h), reach, sine, gain."""

    nq: int
    nv: int
    structure: SparsityPattern

    @property
    def size(self) -> int:
        """Total number of output values."""
        columns = self.structure.columns
        return self.nq + 2 * self.nv + sum(map(len, columns)) + len(self.structure.pairs) + len(columns) + 3


class _SymbolicFunction(NamedTuple):
    """A symbolic function that is compiled as a single LLVM function."""

    instructions: list[Instruction]
    sizes: list[int]
    size: int

    @property
    def llvm_text(self) -> str:
        """LLVM text of the function."""
        return llvm_ir.build_module(self.instructions, self.sizes, self.size, checked=False)


def compile_code(function: _SymbolicFunction | BlockTable) -> MachineCode | BlockCode:
    """Compile a function; raises CompilationStopped if the program is ending."""
    background.raise_if_stopping()
    if isinstance(function, BlockTable):
        return BlockCode(function, checked=False)
    return MachineCode(TieredLibrary(function.llvm_text), function.sizes, function.size, len(function.instructions))


def abortable_runner(runner: Runner) -> Runner:
    """Return a runner that raises an exception when the program ends."""

    def run_step(step: Callable[..., Any], *arguments: Any) -> Any:
        background.raise_if_stopping()
        return runner(step, *arguments)

    return run_step


class AnalyticClosure:
    """Analytic loop closure of one program, with its machine code."""

    def __init__(self, symbolic: FunctionBuilder) -> None:
        self.symbolic = symbolic
        self._lock = threading.RLock()
        self._made: MachineCode | BlockCode | None = None
        self._asked, self._seconds = False, 0.0
        self.failure = ""
        """Reason why there is no machine code of `reduction`."""
        self.search: SolutionSearch | None = None
        count = len(symbolic.topology.model.joints) + len(symbolic.topology.branches)
        topology = symbolic.topology
        self.long = count > LONG
        """True if the steps become a table of blocks."""
        if topology.cuts or equivalent_rods(topology) or equivalent_gears(topology):
            self.search = solve_order(topology)
            if self.long and self._is_too_dense():
                self.search = None

    def _is_too_dense(self) -> bool:
        """Return True if the equations are so dense that iteration is faster."""
        beside = len(self.independent_speeds) > MOST_BESIDE and bool(self.rows_left_to_iteration)
        return beside or self.sparsity.product_count > MOST_PRODUCTS * len(self.symbolic.tree.links)

    @property
    def chain_solutions(self) -> list[ChainSolution]:
        """Chain solutions in the order of evaluation."""
        return [] if self.search is None else [step for step in self.search.steps if isinstance(step, ChainSolution)]

    @property
    def has_solutions(self) -> bool:
        """True if any loop has an analytic solution."""
        return bool(self.chain_solutions)

    @property
    def is_usable(self) -> bool:
        """True if the solutions can be used in a run; False for a rigid structure, which has no independent speed."""
        return self.has_solutions and bool(self.independent_speeds)

    @cached_property
    def steps(self) -> tuple[SolutionStep, ...]:
        """Description of the order of solution."""
        return solution_steps(self.symbolic.topology, self.search)

    @cached_property
    def edges(self) -> list[Edge]:
        """Elementary joints with the symbols of the program."""
        return elementary_edges(self.symbolic.topology, self.symbolic.numbers)

    @cached_property
    def independent_speeds(self) -> list[Speed]:
        """Independent speeds, in the order in which they become known."""
        assert self.search is not None
        return independent_speeds(self.edges, self.search.steps)

    @cached_property
    def dependent_speeds_mask(self) -> NDArray[np.bool_]:
        """(nv,) True for dependent speeds."""
        flags = np.zeros(self.symbolic.tree.nv, dtype=bool)
        for form in self.chain_solutions:
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
        closed = [self.edges[i] for form in self.chain_solutions for i, _ in form.chain]
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
    def output_layout(self) -> ReducedEquationsLayout:
        """Layout of the reduced equations' output."""
        return ReducedEquationsLayout(self.symbolic.tree.nq, self.symbolic.tree.nv, self.sparsity)

    @cached_property
    def sparsity(self) -> SparsityPattern:
        """Sparsity of the reduced equations."""
        symbolic = self.symbolic
        kinematics = KinematicState(symbolic.tree, scalar_symbols("q", symbolic.tree.nq))
        masses = [
            [k for k, column in enumerate(mass.columns(kinematics)) if not all_zero(column)]
            for mass in symbolic.elements.added_inertia
        ]
        return find_sparsity(symbolic.tree, self.edges, self._solution_steps, self.independent_speeds, masses)

    # ------------------------------------------------------------------------------------------ machine code

    @property
    def reduction_code(self) -> MachineCode | BlockCode:
        """Machine code (q, v[, x][, t], p) → `layout`; x and t as in the bias function.

        Raises SimulationError where none can be made.
        """
        with self._lock:
            if self._made is None:
                try:
                    self._made = compile_code(self._reduction_function)
                    del self._reduction_function
                except (OSError, RuntimeError, NotImplementedError) as error:
                    self.failure = str(error)
                    raise SimulationError(
                        f"The analytic loop closure could not be compiled: {error}.",
                        remedy="Close the loops by iteration (closed_forms=False), and report this with the model.",
                    ) from None
            return self._made

    @cached_property
    def _reduction_function(self) -> _SymbolicFunction | BlockTable:
        return self._symbolic_function(self.symbolic.signature("bias_smooth").arguments, self._reduced_outputs)

    def expected_compile_time(self) -> float:
        """Estimated processor time, s, that a run would wait for the reduction code; 0 if it is compiled already or
        compiles quickly. Slow code starts compiling in the background."""
        if self._made is None and not self._asked:
            self._seconds = self._estimated_compile_time()
            if self._seconds > PATIENCE:
                self._asked = True
                background.submit_job(self._compile_reduction)
        return self._seconds if self._made is None and self._asked else 0.0

    def _estimated_compile_time(self) -> float:
        if self.long:
            return OF_FORM * len(self.chain_solutions)
        with self._lock:
            piece = self._reduction_function
            assert isinstance(piece, _SymbolicFunction)
            seconds = OF_INSTRUCTION * len(piece.instructions)
            return 0.0 if seconds > PATIENCE and is_cached(piece.llvm_text) else seconds

    def _compile_reduction(self) -> None:
        with suppress(SimulationError, background.CompilationStopped):  # a failure is kept, for those who ask next
            _ = self.reduction_code

    def reduced_equations(self, inputs: dict[str, list[Any]]) -> list[Any]:
        """Values of `layout` as expressions in the symbols q, v (and x, t if present)."""
        return self._reduced_outputs(inputs, inline)

    def _reduced_outputs(self, inputs: dict[str, list[Any]], runner: Runner) -> list[Any]:
        symbolic, closed = self.symbolic, self.closed_position_expressions(inputs["q"], runner)
        found = compute_motions(
            self.edges, self._solution_steps, self.independent_speeds, closed, inputs["v"], symbolic.tree.nv, runner
        )

        def joint_forces(a: list[Any]) -> list[Any]:
            return inverse(symbolic, {**inputs, "q": closed.q, "v": found.v, "u": a}, "", runner, smooth=True)

        M, h = reduce_equations(symbolic.tree, found, closed.q, joint_forces, symbolic.elements.added_inertia, runner)
        flat = [*closed.q, *found.v, *found.bias]
        for own, entries in zip(found.columns, self.sparsity.columns, strict=True):
            flat += [own.get(k, 0.0) for k in entries]
        flat += [M.get(pair, 0.0) for pair in self.sparsity.pairs]
        return [*flat, *h, smallest_value(closed.reaches, runner), *found.quality]

    @cached_property
    def closing(self) -> MachineCode | BlockCode:
        """Machine code (q, p) → closed q, reach, sine."""
        with self._lock:
            return compile_code(self._symbolic_function(("q",), self._closed_position_outputs))

    def compile_guess_function(
        self, definition: Callable[[dict[str, list[Any]], Runner], list[Any]]
    ) -> MachineCode | BlockCode:
        """Compile a function of (q, p) from its symbolic definition to machine code."""
        with self._lock:
            return compile_code(self._symbolic_function(("q",), definition))

    def _closed_position_outputs(self, inputs: dict[str, list[Any]], runner: Runner) -> list[Any]:
        closed, nv = self.closed_position_expressions(inputs["q"], runner), self.symbolic.tree.nv
        still = compute_motions(
            self.edges, self._solution_steps, self.independent_speeds, closed, [0.0] * nv, nv, runner
        )
        return [*closed.q, smallest_value(closed.reaches, runner), still.quality[0]]

    @property
    def _solution_steps(self) -> list[ChainSolution | int]:
        assert self.search is not None
        return self.search.steps

    def closed_position_expressions(self, q: Sequence[Any], runner: Runner) -> Positions:
        """Closed position as symbolic expressions; q : (nq,) guess that contains the independent coordinates"""
        return evaluate_positions(self.edges, self._solution_steps, q, runner)

    def _symbolic_function(
        self, arguments: Sequence[str], definition: Callable[[dict[str, list[Any]], Runner], list[Any]]
    ) -> _SymbolicFunction | BlockTable:
        """Expression graph of a function of the named arguments and p."""
        sizes = [*(self.symbolic.sizes[word] for word in arguments), len(self.symbolic.p)]
        if self.long:
            recorder = RecursionRecorder(sizes, self.symbolic.p)
            inputs = dict(zip(arguments, recorder.inputs, strict=False))
            return compress_table(recorder.build_table(definition(inputs, abortable_runner(recorder))))
        inputs = {word: scalar_symbols(word, self.symbolic.sizes[word]) for word in arguments}
        result, sources = definition(inputs, abortable_runner(inline)), [*inputs.values(), self.symbolic.p]
        function = ca.Function(
            "f", [build_column(list(x)) for x in sources], [ca.densify(build_column(result))], {"cse": True}
        )
        return _SymbolicFunction(list_instructions(function), sizes, len(result))

    def fit(self, q: Array, p: Array) -> bool:
        """Return True if the analytic solution reproduces a closed position: a geometric condition met at the model's
        own parameters may fail at others."""
        given = [np.zeros((1, size)) for size in self.reduction_code.sizes[:-1]]
        given[0][0] = q
        out = np.empty((1, self.reduction_code.size))
        self.reduction_code.evaluate_batch(given, np.ascontiguousarray(p), out)
        reach, sine, _ = out[0, -3:]
        if not (reach > 0.0 and sine > CLOSING_SINE):
            return True  # at a pose where branches meet nothing can be said
        return bool(np.max(np.abs(out[0, : len(q)] - q)) < FIT_TOLERANCE)

    def compile_closing_code(self) -> None:
        """Compile the closing code now, so that a later drag does not have to wait for it."""
        if self.has_solutions and not self.rows_left_to_iteration:
            _ = self.closing

    def closed(self, q: Array, p: Array) -> tuple[Array, bool]:
        """Return the closed position nearest to a guess, and True if it is valid: solutions exist and are not (nearly)
        double roots."""
        out = np.empty((1, self.closing.size))
        self.closing.evaluate_batch([np.ascontiguousarray(q, dtype=float)[None]], np.ascontiguousarray(p), out)
        reach, sine = out[0, -2:]
        return out[0, :-2].copy(), bool(reach > 0.0 and sine > CLOSING_SINE and np.isfinite(out).all())


def close_analytically(compiled: CompiledModel, q: Array, fixed: NDArray[np.bool_], p: Values) -> Array | None:
    """Return the closed position (nq,) near q from analytic solutions only; None if some loops need iteration, a fixed
    coordinate (mask nv,) is dependent, or a limit is exceeded."""
    forms = get_analytic_closure(compiled.program)
    if not forms.has_solutions or forms.rows_left_to_iteration or (fixed & forms.dependent_speeds_mask).any():
        return None
    closed, well = forms.closed(q, compiled.parameter_values(p))
    beyond = np.max(np.abs(compiled.coordinates.clamp(closed) - closed), initial=0.0)
    return closed if well and beyond < SOLVED_GAP else None


class _CacheEntry:
    """Cache entry for the analytic closure of a program; one thread computes, others wait."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.found: AnalyticClosure | None = None


_known: weakref.WeakKeyDictionary[Program, _CacheEntry] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def get_analytic_closure(program: Program) -> AnalyticClosure:
    """Analytic loop closure of a program, computed on first use."""
    with _lock:
        place = _known.setdefault(program, _CacheEntry())
    with place.lock:
        if place.found is None:
            place.found = AnalyticClosure(program.symbolic)
        return place.found
