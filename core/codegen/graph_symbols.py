"""CasADi's SX as a scalar type of the mechanics."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import casadi as ca

from core.numerics.spatial import scalar
from core.numerics.spatial.scalar import Scalar

_constants: dict[float, ca.SX] = {}


def to_symbol(x: Scalar) -> ca.SX:
    """Convert a scalar to SX (literals become constants of the graph)."""
    if isinstance(x, float | int):
        found = _constants.get(x)
        if found is None:
            found = ca.SX(float(x))
            if len(_constants) < 100_000:
                _constants[x] = found
        return found
    return x


def _binary_operator(operation: int, reflected: str) -> Any:
    make, symbol = ca.SX.binary, ca.SX  # the operators of SX resolve overloads first, at ten times the cost

    def apply(a: Scalar, b: Scalar) -> Scalar:
        try:
            return make(operation, a if type(a) is symbol else to_symbol(a), b if type(b) is symbol else to_symbol(b))
        except NotImplementedError:  # of scalars that are made of such symbols
            return getattr(b, reflected)(a)

    return apply


def _negate(a: ca.SX) -> ca.SX:
    return ca.SX.unary(ca.OP_NEG, a)


scalar.register(
    ca.SX,
    scalar.Arithmetic(
        _binary_operator(ca.OP_ADD, "__radd__"),
        _binary_operator(ca.OP_SUB, "__rsub__"),
        _binary_operator(ca.OP_MUL, "__rmul__"),
        _binary_operator(ca.OP_DIV, "__rtruediv__"),
        _negate,
    ),
)


@contextlib.contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Context without cyclic garbage collection. Tracing makes many small objects, none of which is garbage; looking at
    them again and again takes a tenth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def scalar_symbols(name: str, size: int) -> list[ca.SX]:
    """Return `size` scalar symbols."""
    return [ca.SX.sym(f"{name}{i}") for i in range(size)]


def build_column(entries: list[Scalar]) -> ca.SX:
    """Return a column of scalars."""
    return ca.vertcat(*map(to_symbol, entries)) if entries else ca.SX(0, 1)


def directional_derivative(f: ca.SX, x: ca.SX, direction: ca.SX) -> ca.SX:
    """Return the directional derivative of a column f by x; zero where x is empty (CasADi returns a matrix without
    columns)."""
    return ca.jtimes(f, x, direction) if x.numel() else ca.SX.zeros(f.shape)
