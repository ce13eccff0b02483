"""Compiled code of a machine, shared by all mechanisms that differ only in parameter values, limits and appearance."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.codegen import background
from core.codegen.blocks import BlockTable
from core.codegen.evaluator import Array, Code, Evaluator, Interpreter, Signature
from core.files.followed_files import content_fingerprints
from core.mechanics.elements.constraints.kinematic_constraint import Row
from core.mechanics.elements.time_argument import followed_coordinates
from core.mechanics.multibody.topology import Topology, build_topology
from core.model import Body, Joint, Model
from core.model.model import used_user_kinds
from core.numerics.matrix_forms import Matrix
from core.programs.function_builder import FunctionBuilder, SymbolicFunction
from core.programs.long_machines import DofTable, build_dof_table

if TYPE_CHECKING:
    from core.codegen.flat_code import FlatCode
    from core.codegen.instructions import Instruction

KEPT = 16
"""Number of machine structures whose code is kept although no machine uses them."""
_programs: OrderedDict[Any, Program] = OrderedDict()
"""Most recently used programs, kept even if no mechanism uses them."""
_in_use: weakref.WeakValueDictionary[Any, Program] = weakref.WeakValueDictionary()
"""Programs that some mechanism uses."""
_lock = threading.Lock()


class Program:
    """Symbolic functions and compiled code of one machine structure."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.symbolic = FunctionBuilder(topology)
        self._codes: dict[str, Code] = {}
        self._lock = threading.RLock()
        self._functions: dict[str, SymbolicFunction] = {}
        """Symbolic functions that wait for compilation."""
        self._waiting: dict[str, threading.Event] = {}
        self._evaluators: dict[str, weakref.WeakSet[Evaluator]] = {}
        self.failures: dict[str, str] = {}
        """Functions that could not be compiled, with the reason."""
        self.compile_times: dict[str, float] = {}
        """Compilation time of each function, s."""

        self.frame_names = tuple(self.symbolic.frame_names)
        self.frame_index = {name: i for i, name in enumerate(self.frame_names)}
        self.joint_names = tuple(self.symbolic.joint_names)
        self.joint_index = {name: i for i, name in enumerate(self.joint_names)}

    @cached_property
    def dof_table(self) -> DofTable:
        """Return the table of degrees of freedom and which carry which."""
        return build_dof_table(self.symbolic.tree)

    @cached_property
    def constraint_rows(self) -> tuple[Row, ...]:
        """Return the owner of each row of `constraint_residual`: cut joints first, then constraints and drivers."""
        return self.symbolic.constraints.rows

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """Return the level of each row (rows,) from which on it is enforced: 0 position, 1 speed, 2 acceleration."""
        return np.array([row.level for row in self.constraint_rows], dtype=np.int64)

    def constraint_matrix(self, entries: Array) -> Matrix:
        """Return G (rows, nv) in CSR format from its nonzero entries."""
        import scipy.sparse

        columns, begins = self._row_structure
        shape = len(self.constraint_rows), self.symbolic.tree.nv
        return scipy.sparse.csr_array((entries, columns, begins), shape=shape)

    @cached_property
    def _row_structure(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the column indices of the entries of G, and the start of each row among them."""
        rows, columns = self.symbolic.row_expressions.pattern
        begins = np.searchsorted(rows, np.arange(len(self.constraint_rows) + 1))
        return columns.astype(np.int32), begins.astype(np.int32)

    def compressed_masses(self, entries: Array) -> Matrix:
        """Return M (nv, nv) in CSC format from its entries on and below the diagonal."""
        import scipy.sparse

        rows, columns = self.symbolic.mass_pattern
        below = rows != columns
        places = np.concatenate([rows, columns[below]]), np.concatenate([columns, rows[below]])
        shape = self.symbolic.tree.nv, self.symbolic.tree.nv
        return scipy.sparse.csc_array((np.concatenate([entries, entries[below]]), places), shape=shape)

    @cached_property
    def has_timed_constraints(self) -> bool:
        """Return True if any constraint row depends on time."""
        return bool(self.topology.model.drivers)

    def evaluator(self, name: str, p: Array) -> Evaluator:
        """Return a function with default parameter values; it switches to machine code once that is compiled."""
        with self._lock:
            if name not in self._codes:
                self._functions[name] = self.symbolic.function(name)
                self._codes[name] = _build_interpreter(self._functions[name])
                self._waiting[name] = threading.Event()
            if name in self._functions:
                background.submit_job(lambda: self._compile(name, even_if_unused=False))
            signature = self.symbolic.signature(name)
            sizes = self._sizes(signature)
            evaluator = Evaluator(name, signature, sizes[:-1], self._codes[name], np.array(p, dtype=float))
            self._evaluators.setdefault(name, weakref.WeakSet()).add(evaluator)
            return evaluator

    def _sizes(self, signature: Signature) -> list[int]:
        lengths = self.symbolic.sizes
        return [*(lengths[argument] for argument in signature.arguments), len(self.symbolic.p_names)]

    def _compile(self, name: str, *, even_if_unused: bool) -> None:
        """Compile a function to machine code and hand it to all its evaluators.

        Does nothing if that is done or in hand, or if nobody uses the function any more (unless `even_if_unused`).
        """
        with self._lock:
            if name not in self._functions or not (even_if_unused or self._evaluators[name]):
                return
            function = self._functions.pop(name)
        started = time.perf_counter()
        try:
            self._use_code(name, self._compile_function(name, function))
        except Exception as error:  # the interpreter goes on serving: slower, with the same numbers
            self.failures[name] = str(error)
        finally:
            self.compile_times[name] = time.perf_counter() - started
            self._waiting[name].set()

    def _use_code(self, name: str, code: Code) -> None:
        """Hand code of a function to all its evaluators."""
        with self._lock:
            self._codes[name] = code
            for evaluator in list(self._evaluators[name]):
                evaluator.switch_code(code)

    def _compile_function(self, name: str, function: SymbolicFunction) -> Code:
        from core.codegen import llvm_ir
        from core.codegen.block_code import BlockCode
        from core.codegen.instructions import list_instructions
        from core.codegen.machine_code import MachineCode
        from core.codegen.tiered_code import TieredLibrary
        from core.codegen.wide_code import WideCode

        checked = function.signature.checked
        if isinstance(function.content, BlockTable):
            return BlockCode(function.content, checked=checked)
        sizes, size = self._sizes(function.signature), math.prod(function.signature.shape)
        instructions = list_instructions(function.content)
        text = llvm_ir.build_module(instructions, sizes, size, checked=checked)
        wide = WideCode(lambda: self._list_again(name), sizes, size, checked=checked)
        return MachineCode(TieredLibrary(text), sizes, size, len(instructions), wide)

    def _list_again(self, name: str) -> list[Instruction]:
        """Return the instructions of a function, traced again: few functions evaluate long arrays."""
        from core.codegen.instructions import list_instructions

        with self._lock:
            function = self.symbolic.function(name)
        return list_instructions(function.content)

    def is_ready(self, names: Iterable[str] | None = None) -> bool:
        """Return True when the given functions (default: all used so far) run as machine code."""
        return all(map(self._is_compiled, list(names or self._codes)))

    def _is_compiled(self, name: str) -> bool:
        return name in self._waiting and self._waiting[name].is_set() and name not in self.failures

    def wait(self, names: Iterable[str] | None = None, timeout: float | None = None) -> None:
        """Compile the given functions now, or wait for the thread that is compiling them."""
        for name in list(names or self._codes):
            self._compile(name, even_if_unused=True)
            self._waiting[name].wait(timeout)

    def optimise(self, names: Iterable[str] | None = None) -> None:
        """Optimise the machine code of the given functions (default: all used so far) now, after `wait`."""
        for name in list(names or self._codes):
            self._codes[name].optimise()


def _build_interpreter(function: SymbolicFunction) -> Code:
    if isinstance(function.content, BlockTable):
        from core.codegen.block_code import BlockInterpreter

        return BlockInterpreter(function.content, checked=function.signature.checked)
    return Interpreter(function.content, checked=function.signature.checked)


def find_program(model: Model) -> Program:
    """Return the program of a model, shared with models that differ only in values, limits or appearance."""
    key = code_structure(model)
    with _lock:
        found = _programs.get(key) or _in_use.get(key)
        if found is None:
            found = _in_use[key] = Program(build_topology(model))
        _programs[key] = found
        _programs.move_to_end(key)
        while len(_programs) > KEPT:
            _programs.popitem(last=False)
        return found


def code_structure(model: Model) -> Any:
    """Return a hashable value of everything on which a model's code depends."""
    plain = model.expanded
    bodies = tuple(_body_structure(body) for body in plain.bodies)
    joints = tuple(_joint_structure(joint, bool(plain.forces)) for joint in plain.joints)
    frames = tuple(dataclasses.replace(frame, description="") for frame in plain.frames)
    parameters = tuple((p.name, None if p.independent else p.value) for p in plain.parameters)
    others = tuple(
        dataclasses.replace(element, description="")
        for collection in ("junctions", "sensors", "forces", "constraints", "drivers", "signals")
        for element in getattr(plain, collection)
    )
    others += followed_coordinates(plain) if plain.signals or plain.motions else ()
    contents = content_fingerprints(model)
    return plain.world.gravity, parameters, bodies, frames, joints, others, contents, used_user_kinds(plain)


def _body_structure(body: Body) -> Any:
    shapes = () if body.density is None else body.shapes
    return body.name, body.mass, body.center_of_mass, body.inertia, body.density, shapes


_code_fields = attrgetter(
    *(field.name for field in dataclasses.fields(Joint) if field.name not in ("limits", "start_speed", "description"))
)
"""Returns the fields of a joint that its code depends on."""


def _joint_structure(joint: Joint, forces: bool) -> Any:
    """Return a joint's fields that its code depends on. The rest position is only a starting value, unless a spring or
    force refers to it."""
    if joint.stiffness == 0.0 and not forces and all(isinstance(value, float) for value in joint.rest):
        joint = dataclasses.replace(joint, rest=(0.0,) * len(joint.rest))
    return _code_fields(joint)


def drop_programs() -> None:
    """Drop all shared programs (mechanisms in use keep theirs)."""
    with _lock:
        _programs.clear()
        _in_use.clear()


_known: WeakKeyDictionary[Program, dict[Hashable, FlatCode]] = WeakKeyDictionary()


def cached_code(program: Program, key: Hashable, make: Callable[[], FlatCode]) -> FlatCode:
    """Return code of a program from the cache, made on first use."""
    known = _known.setdefault(program, {})
    if key not in known:
        known[key] = make()
    return known[key]
