"""Evaluating one traced function: the interpreter at once, machine code as soon as it is there."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen import single_state
from core.codegen.signature import Signature
from core.errors import ModelError

Array = NDArray[np.float64]


class Code(Protocol):
    """Something that evaluates a function on flat states."""

    interpreted: ClassVar[bool] = False
    """True if machine code may yet take its place."""

    def bind(self, p: Array) -> tuple[list[Array], Array, Callable[[], Any]]:
        """(inputs, result, call): `call()` evaluates one state from and into these buffers with parameters p; true
        if a result that must be finite is not. For one thread."""
        ...

    def batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """inputs: (n, size) each, contiguous; p: (n_p,) or (n, n_p); out: (n, size), filled.

        Returns the number of states whose result must be finite and is not.
        """
        ...


def _view(array: Any) -> memoryview:
    return memoryview(array)


class Interpreter:
    """CasADi's own interpreter: ready at once, some ten times slower than machine code."""

    interpreted = True

    def __init__(self, function: ca.Function, *, checked: bool) -> None:
        self.function, self.checked = function, checked

    def bind(self, p: Array) -> tuple[list[Array], Array, Callable[[], Any]]:
        """See `Code.bind`."""
        both: Any = self.function.buffer()
        buffer, trigger = both
        *inputs, values = (np.zeros(self.function.numel_in(i)) for i in range(self.function.n_in()))
        values[:] = p
        out = np.zeros(self.function.numel_out(0))
        for i, array in enumerate((*inputs, values)):
            if array.size:
                buffer.set_arg(i, _view(array))
        if out.size:
            buffer.set_res(0, _view(out))
        checked = self.checked

        def call(_: Any = (buffer, values)) -> bool:
            trigger()
            return checked and not np.isfinite(out).all()

        return inputs, out, call

    def batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """See `Code.batch`."""
        failures = 0
        for k in range(len(out)):
            if k == 0 or p.ndim > 1:
                states, result, call = self.bind(p if p.ndim == 1 else p[k])
            for state, array in zip(states, inputs, strict=True):
                state[:] = array[k]
            failures += call()
            out[k] = result
        return failures


def _ignore(states: Sequence[Array], p: Array, out: Array) -> None:
    """Results that are not finite are given back as they are."""


class Evaluator:
    """One function of one mechanism, with the mechanism's own parameter values as default.

    Single states go through buffers that belong to the thread that made the evaluator; other threads, arrays of
    states and given parameter values take the general path.
    """

    def __init__(self, name: str, signature: Signature, sizes: Sequence[int], code: Code, p: Array) -> None:
        self.name = name
        self.signature = signature
        self.sizes = tuple(sizes)
        self.code = code
        self.p = p
        self.size = math.prod(signature.shape)
        self.failed = _ignore
        self._owner = threading.get_ident()
        self.call = self._bound(code)

    def use(self, code: Code) -> None:
        """Evaluate by this code from now on."""
        self.code = code
        self.call = self._bound(code)

    def __call__(self, *states: Any, p: Array | None = None) -> Array:
        """The value at a state, or at every state of arrays of states (leading axes)."""
        return self.call(*states) if p is None else self.general(states, p)

    def general(self, states: Sequence[Any], p: Array | None = None) -> Array:
        """Any arrays, any parameter values, any thread."""
        arrays = [self._checked(s, n, word) for s, n, word in zip(states, self.sizes, self._words(), strict=True)]
        values = self.p if p is None else p
        try:
            leading = np.broadcast_shapes(*(a.shape[:-1] for a in arrays), values.shape[:-1])
        except ValueError:
            shapes = ", ".join(str(a.shape[:-1]) for a in (*arrays, values))
            raise ModelError(
                f"The leading axes {shapes} of states and parameters do not fit together.",
                where=self.name,
                remedy="Give as many of each, or one.",
            ) from None
        count = math.prod(leading)
        flat = [
            np.ascontiguousarray(np.broadcast_to(a, (*leading, a.shape[-1])).reshape(count, a.shape[-1]))
            for a in arrays
        ]
        if values.ndim > 1:
            values = np.ascontiguousarray(
                np.broadcast_to(values, (*leading, values.shape[-1])).reshape(count, values.shape[-1])
            )
        out = np.empty((count, self.size))
        if self.code.batch(flat, values, out):
            self.failed(flat, values, out)
        return out.reshape(*leading, *self.signature.shape)

    def _words(self) -> list[str]:
        torque = "a" if "inverse" in self.name else "tau"
        return [{"u": torque}.get(argument, argument) for argument in self.signature.arguments]

    def _checked(self, state: Any, size: int, word: str) -> Array:
        try:
            array = np.asarray(state, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{word} is not an array of numbers.", where=self.name) from None
        if array.ndim == 0 or array.shape[-1] != size:
            got = "a single number" if array.ndim == 0 else f"shape {array.shape}"
            raise ModelError(
                f"{word} has {got}; {size} numbers are needed (one state, or an array of states with {size} columns).",
                where=self.name,
                remedy="mech.q_names and mech.v_names list them in order.",
            )
        return array

    def _bound(self, code: Code) -> Callable[..., Array]:
        inputs, out, run = code.bind(self.p)
        copy = out.reshape(self.signature.shape).copy
        return single_state.path([_view(array) for array in inputs], run, copy, self.general, self._owner)
