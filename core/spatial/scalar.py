"""Elementary functions over abstract scalars.

A scalar is a float, a NumPy array, a CasADi `SX`, or a sympy/symengine expression; the same
mechanical text runs over all of them. Which library computes is decided by the type of the argument.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

Scalar = Any
"""A float, or a symbol, or a node of a graph: anything with + − · / and the functions below."""

_PACKAGES = ("casadi", "sympy", "symengine", "numpy")
_RENAMED = {
    ("sympy", "fabs"): "Abs",
    ("symengine", "fabs"): "Abs",
    ("sympy", "fmin"): "Min",
    ("symengine", "fmin"): "Min",
    ("sympy", "fmax"): "Max",
    ("symengine", "fmax"): "Max",
    ("symengine", "atan2"): "atan2",
    ("sympy", "ceil"): "ceiling",
    ("symengine", "ceil"): "ceiling",
    ("numpy", "asin"): "arcsin",
    ("numpy", "acos"): "arccos",
    ("numpy", "atan"): "arctan",
    ("numpy", "atan2"): "arctan2",
}
_modules: dict[type, ModuleType] = {}


def _module_of(kind: type) -> ModuleType:
    module = _modules.get(kind)
    if module is None:
        package = kind.__module__.partition(".")[0]
        module = sys.modules[package] if package in _PACKAGES else math
        _modules[kind] = module
    return module


def _function(module: ModuleType, name: str) -> Any:
    return getattr(module, _RENAMED.get((module.__name__, name), name))


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


_PYTHON: dict[str, Callable[..., float]] = {"sign": _sign, "fmin": min, "fmax": max}


def apply(name: str, *arguments: Scalar) -> Scalar:
    """The elementary function `name` in the library to which the arguments belong."""
    for argument in arguments:
        module = _module_of(type(argument))
        if module is not math:
            return _function(module, name)(*arguments)
    return (_PYTHON.get(name) or getattr(math, name))(*arguments)


def sin(x: Scalar) -> Scalar:
    """Sine of an angle in rad."""
    return apply("sin", x)


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle in rad."""
    return apply("cos", x)


def sqrt(x: Scalar) -> Scalar:
    """Square root."""
    return apply("sqrt", x)


def is_zero(x: Scalar) -> bool:
    """True if x is a literal zero, so that a product with it vanishes from the trace."""
    return type(x) is float and x == 0.0


def is_one(x: Scalar) -> bool:
    """True if x is a literal one."""
    return type(x) is float and x == 1.0
