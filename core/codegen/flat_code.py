"""Matrices of symbolic expressions evaluated at many states: compiled, or interpreted by CasADi where large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen import background
from core.codegen.evaluator import Interpreter
from core.codegen.machine_code import MachineCode

Array = NDArray[np.float64]

MOST_INSTRUCTIONS = 16_000
"""Maximum number of instructions of a graph that is compiled (about two seconds; LLVM's time grows faster than
linearly)."""
MOST_UNSHARED = 40_000
"""Maximum number of instructions of a graph whose common subexpressions are eliminated at once. For larger, interpreted
graphs the elimination takes 0.4 s and more under Python's global lock, and shortens them by a third only."""
FEW_STATES = 60
"""Number of states up to which compilation does not pay off."""


class FlatCode:
    """Compiled function of matrices (r, c) of arguments (size,) each, parameters last; arguments of size 0 are omitted.

    later : the machine code is made in the background; the interpreter gives the same numbers until it is there
    """

    def __init__(self, arguments: Sequence[Any], matrices: Sequence[Any], *, later: bool = False) -> None:
        self._taken = [k for k, each in enumerate(arguments[:-1]) if each.numel()]
        inputs = [*(arguments[k] for k in self._taken), arguments[-1]]
        self.shapes = [each.shape for each in matrices]
        flat = ca.vertcat(*(ca.vec(ca.densify(each).T) for each in matrices))
        self._shared: Callable[[], Interpreter] | None = None
        """Creates the interpreter with common subexpressions eliminated, for many states."""
        self._states = 0
        function = ca.Function("f", inputs, [flat])
        if function.n_instructions() <= MOST_UNSHARED:
            function = ca.Function("f", inputs, [flat], {"cse": True})
        else:
            self._shared = lambda: Interpreter(ca.Function("f", inputs, [flat], {"cse": True}), checked=False)
        self.sizes, self.size = [int(each.numel()) for each in inputs], int(flat.numel())
        self._code: MachineCode | Interpreter = Interpreter(function, checked=False)
        if function.n_instructions() <= MOST_INSTRUCTIONS:
            if later:
                background.submit_job(lambda: self._compile_if_possible(function))
            else:
                self._compile(function)

    @property
    def is_compiled(self) -> bool:
        """Return True once the function is machine code."""
        return not self._code.interpreted

    def _compile(self, function: ca.Function) -> None:
        from core.codegen import llvm_ir
        from core.codegen.instructions import list_instructions
        from core.codegen.tiered_code import TieredLibrary
        from core.codegen.wide_code import WideCode

        instructions = list_instructions(function)
        text = llvm_ir.build_module(instructions, self.sizes, self.size, checked=False)
        wide = WideCode(lambda: list_instructions(function), self.sizes, self.size, checked=False)
        self._code = MachineCode(TieredLibrary(text), self.sizes, self.size, len(instructions), wide)

    def _compile_if_possible(self, function: ca.Function) -> None:
        try:
            self._compile(function)
        except background.CompilationStopped:
            raise
        except Exception:  # the interpreter goes on serving: slower, with the same numbers
            return

    def bind(self, p: Array) -> Callable[..., Array]:
        """Return a quick function of single states, (size,) each, for parameters p, with all numbers in one row. It is
        not faster once the machine code is there: bind again."""
        values = np.ascontiguousarray(p, dtype=float)

        def evaluate_general(*states: Array) -> Array:
            out = np.empty((1, self.size))
            self._code.evaluate_batch([np.ascontiguousarray(x, dtype=float)[None] for x in states], values, out)
            return out[0]

        return self._code.path(values, (self.size,), evaluate_general)

    def __call__(self, states: Sequence[Array], p: Array) -> list[Array]:
        """Evaluate at states (n, size) of each argument; returns (n, r, c) for each matrix."""
        out, found, at = self.rows(states, p), [], 0
        for rows, columns in self.shapes:
            found.append(out[:, at : at + rows * columns].reshape(len(out), rows, columns))
            at += rows * columns
        return found

    def rows(self, states: Sequence[Array], p: Array) -> Array:
        """Evaluate at states (n, size) of each argument; returns a row of all entries of the matrices for each."""
        self._states += len(states[0])
        if self._shared is not None and self._states > FEW_STATES:
            shared, self._shared = self._shared, None
            self._code = shared()
        given = [np.ascontiguousarray(states[k], dtype=float) for k in self._taken]
        out = np.empty((len(states[0]), self.size))
        if self.size:
            self._code.evaluate_batch(given, np.ascontiguousarray(p), out)
        return out
