"""Evaluators of symbolic functions: interpreted at first, in machine code once it is compiled."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen import single_state
from core.codegen.single_state import FREE, Guard, Path
from core.errors import ModelError


class Signature(NamedTuple):
    """Lengths of a function's arguments q, v, u (joint forces or accelerations), l (constraint multipliers), c (forces
    along coordinates of joints that close loops), x (states of force elements, then their rates), t
    (`core.mechanics.elements.time_argument`) and o (coordinates of a point), and the shape of its result."""

    arguments: tuple[str, ...]
    shape: tuple[int, ...]
    checked: bool = False
    """True if a result that is not finite is an error."""


Array = NDArray[np.float64]


class Code(Protocol):
    """Interface of code that evaluates a function on flat states."""

    interpreted: ClassVar[bool]
    """True if machine code may still replace this code."""

    def path(self, p: Array, shape: Sequence[int], fallback: Path, guard: Guard = FREE) -> Path:
        """Return a fast function for single states: it takes arrays and returns a result of this shape with parameters
        p. It calls `fallback` for arguments of other types or sizes, for those that the guard rejects, and where a
        result that must be finite is not."""
        ...

    def evaluate_batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """Evaluate arrays of states and return the number of failures. inputs: (n, size) each, contiguous; p: (n_p,) or
        (n, n_p); out: (n, size), overwritten.

        Returns the number of states whose result must be finite and is not.
        """
        ...

    def optimise(self) -> None:
        """Replace machine code that was compiled quickly by optimised code now, not later."""
        ...


def _memory_view(array: Any) -> memoryview:
    return memoryview(array)


class Interpreter:
    """Evaluation by CasADi's interpreter: available at once, about ten times slower than machine code."""

    interpreted: ClassVar[bool] = True

    def __init__(self, function: ca.Function, *, checked: bool) -> None:
        self.function, self.checked = function, checked

    def bind_buffers(self, p: Array) -> tuple[list[Array], Array, Callable[[], Any]]:
        """Return input buffers, output buffer and evaluating function for parameters p; see `single_state`."""
        both: Any = self.function.buffer()
        buffer, trigger = both
        *inputs, values = (np.zeros(self.function.numel_in(i)) for i in range(self.function.n_in()))
        values[:] = p
        out = np.zeros(self.function.numel_out(0))
        for i, array in enumerate((*inputs, values)):
            if array.size:
                buffer.set_arg(i, _memory_view(array))
        if out.size:
            buffer.set_res(0, _memory_view(out))
        checked = self.checked

        def call(_: Any = (buffer, values)) -> bool:
            trigger()
            return checked and not np.isfinite(out).all()

        return inputs, out, call

    def path(self, p: Array, shape: Sequence[int], fallback: Path, guard: Guard = FREE) -> Path:
        """Return a function for single states; see `Code.path`."""
        return single_state.build_buffered_function(*self.bind_buffers(p), shape, fallback, guard)

    def evaluate_batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """Evaluate an array of states; see `Code.batch`."""
        failures = 0
        for k in range(len(out)):
            if k == 0 or p.ndim > 1:
                states, result, call = self.bind_buffers(p if p.ndim == 1 else p[k])
            for state, array in zip(states, inputs, strict=True):
                state[:] = array[k]
            failures += call()
            out[k] = result
        return failures

    def optimise(self) -> None:
        """Do nothing; see `Code.optimise`."""


def _ignore_failures(states: Sequence[Array], p: Array, out: Array) -> None:
    """Accept results that are not finite."""


def _flatten_states(array: Array, leading: tuple[int, ...], count: int) -> Array:
    """Broadcast an array to one row per state, (count, size)."""
    size = array.shape[-1]
    if array.shape[:-1] != leading:
        array = np.broadcast_to(array, (*leading, size))
    return np.ascontiguousarray(array.reshape(count, size))


class GuardedFunction:
    """Fast function for states that pass a guard; all other states are passed to a second function."""

    def __init__(self, evaluator: Evaluator, guard: Guard, otherwise: Path) -> None:
        self._p, self._shape, self._guard, self._otherwise = evaluator.p, evaluator.signature.shape, guard, otherwise
        self.switch_code(evaluator.code)

    def switch_code(self, code: Code) -> None:
        """Switch to other code."""
        self.call = code.path(self._p, self._shape, self._otherwise, self._guard)


class Evaluator:
    """Function of one mechanism, with the mechanism's own parameter values as default.

    Single states take the quick path of the code; arrays of states and given parameter values the general one.
    """

    def __init__(self, name: str, signature: Signature, sizes: Sequence[int], code: Code, p: Array) -> None:
        self.name = name
        self.signature = signature
        self.sizes = tuple(sizes)
        self.code = code
        self.p = p
        self.size = math.prod(signature.shape)
        self.failed = _ignore_failures
        self.call = self._build_fast_function(code)
        self._guarded = weakref.WeakSet[GuardedFunction]()

    def switch_code(self, code: Code) -> None:
        """Switch to other code."""
        self.code = code
        self.call = self._build_fast_function(code)
        for each in list(self._guarded):
            each.switch_code(code)

    def build_guarded_function(self, guard: Guard, otherwise: Path) -> GuardedFunction:
        """Return a fast function of single states that pass the guard; otherwise : the function for all other
        states."""
        found = GuardedFunction(self, guard, otherwise)
        self._guarded.add(found)
        return found

    def __call__(self, *states: Any, p: Array | None = None) -> Array:
        """Evaluate at a state, or at arrays of states (leading axes)."""
        return self.call(*states) if p is None else self.evaluate_general(states, p)

    def evaluate_general(self, states: Sequence[Any], p: Array | None = None) -> Array:
        """Evaluate any arrays with any parameter values; safe in any thread."""
        arrays = [
            self._check_array(s, n, word) for s, n, word in zip(states, self.sizes, self._argument_names(), strict=True)
        ]
        values = self.p if p is None else p
        leading = self._leading_axes([*arrays, values])
        count = math.prod(leading)
        flat = [_flatten_states(array, leading, count) for array in arrays]
        if values.ndim > 1:
            values = _flatten_states(values, leading, count)
        out = np.empty((count, self.size))
        if self.code.evaluate_batch(flat, values, out):
            self.failed(flat, values, out)
        return out.reshape(*leading, *self.signature.shape)

    def _leading_axes(self, arrays: Sequence[Array]) -> tuple[int, ...]:
        """Return the common leading axes of all arrays. Raises ModelError if they do not match."""
        shapes = {a.shape[:-1] for a in arrays} - {()}
        if len(shapes) < 2:
            return shapes.pop() if shapes else ()
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            leading = ", ".join(str(a.shape[:-1]) for a in arrays)
            raise ModelError(
                f"The arrays of states and parameters have different leading axes: {leading}.",
                where=self.name,
                remedy="Give arrays of the same number of states, or single states.",
            ) from None

    def _argument_names(self) -> list[str]:
        torque = "a" if "inverse" in self.name or "acceleration" in self.name else "tau"
        return [{"u": torque, "o": "point"}.get(argument, argument) for argument in self.signature.arguments]

    def _check_array(self, state: Any, size: int, label: str) -> Array:
        try:
            array = np.asarray(state, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{label} is not an array of numbers.", where=self.name) from None
        if array.ndim == 0 or array.shape[-1] != size:
            got = "a single number" if array.ndim == 0 else f"shape {array.shape}"
            raise ModelError(
                f"{label} has {got}; {size} numbers are needed (one state, or an array of states with {size} columns).",
                where=self.name,
                remedy="mech.q_names and mech.v_names list the entries in order.",
            )
        return array

    def _build_fast_function(self, code: Code) -> Path:
        return code.path(self.p, self.signature.shape, lambda *states: self.evaluate_general(states))
