"""Elementary functions over abstract scalars.

A scalar is a float, a NumPy array, a CasADi `SX`, or a sympy/symengine expression; the same
mechanical text runs over all of them. Which library computes is decided by the type of the argument.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NamedTuple

Scalar = Any
"""A float, a symbol, or a graph node: any type that has + − · / and the functions below."""

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
    ("numpy", "lt"): "less",
    ("numpy", "le"): "less_equal",
    ("numpy", "gt"): "greater",
    ("numpy", "ge"): "greater_equal",
    ("numpy", "eq"): "equal",
    ("numpy", "ne"): "not_equal",
    ("numpy", "logic_and"): "logical_and",
    ("numpy", "logic_or"): "logical_or",
    ("numpy", "logic_not"): "logical_not",
    ("numpy", "if_else"): "where",
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
    if name == "step":
        return lambda x: apply("ge", x, 0.0)
    if module.__name__ == "casadi" and name == "logic_not":
        return _logical_not_of_graph
    if module.__name__ == "numpy" and name in _TRUTHS and name != "if_else":
        truth = getattr(module, _RENAMED["numpy", name])
        return lambda *arguments: 1.0 * truth(*arguments)
    return getattr(module, _RENAMED.get((module.__name__, name), name))


def _logical_not_of_graph(x: Any) -> Any:
    """Logical not of a CasADi expression. CasADi simplifies a double negation to its argument, which need not be 0 or
    1."""
    casadi = sys.modules["casadi"]
    doubled = isinstance(x, casadi.SX) and x.is_scalar() and x.is_op(casadi.OP_NOT)
    return casadi.ne(x.dep(0), 0.0) if doubled else casadi.logic_not(x)


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x and not math.isnan(x) else x


_PYTHON: dict[str, Callable[..., float]] = {
    "sign": _sign,
    "floor": lambda x: math.copysign(math.floor(x), x),  # Python's own give integers, which grow without bound
    "ceil": lambda x: math.copysign(math.ceil(x), x),  # −0.0 for −0.3, as machine code gives
    "fmin": min,
    "fmax": max,
}


_TRUTHS: dict[str, Callable[..., Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "logic_and": lambda a, b: bool(a) and bool(b),
    "logic_or": lambda a, b: bool(a) or bool(b),
    "logic_not": operator.not_,
    "if_else": lambda condition, a, b: a if condition else b,
}
"""Comparisons and logical functions of Python numbers; 1.0 is true, 0.0 is false."""


def _truth_function(name: str) -> Callable[..., float]:
    return lambda *arguments: float(_TRUTHS[name](*arguments))


_PYTHON.update({name: _truth_function(name) for name in _TRUTHS}, step=lambda x: float(x >= 0.0))

_functions: dict[type, Callable[..., Scalar]] = {}


def register_functions(kind: type, function: Callable[..., Scalar]) -> None:
    """Register `function(name, *arguments)` to evaluate elementary functions of arguments of type `kind`."""
    _functions[kind] = function


def apply(name: str, *arguments: Scalar) -> Scalar:
    """Evaluate the elementary function `name` in the library of the arguments' type."""
    for argument in arguments:
        own = _functions.get(type(argument))
        if own is not None:
            return own(name, *arguments)
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
    """Return True if x is a literal zero, so that products with it drop out of the expression."""
    return type(x) is float and x == 0.0


def is_one(x: Scalar) -> bool:
    """Return True if x is a literal one."""
    return type(x) is float and x == 1.0


class Arithmetic(NamedTuple):
    """The four arithmetic operations of a scalar type, called directly where that is faster than its operators."""

    plus: Callable[[Scalar, Scalar], Scalar]
    minus: Callable[[Scalar, Scalar], Scalar]
    times: Callable[[Scalar, Scalar], Scalar]
    over: Callable[[Scalar, Scalar], Scalar]
    negated: Callable[[Scalar], Scalar]


_PLAIN = Arithmetic(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg)
_arithmetic: dict[type, Arithmetic] = {}


def register(kind: type, arithmetic: Arithmetic) -> None:
    """Use `arithmetic` whenever an operand is of type `kind`."""
    _arithmetic[kind] = arithmetic


def _arithmetic_of(a: Scalar, b: Scalar) -> Arithmetic:
    return _arithmetic.get(type(a)) or _arithmetic.get(type(b)) or _PLAIN


def plus(a: Scalar, b: Scalar) -> Scalar:
    """Return a + b, simplified where one of them is a literal zero."""
    if type(a) is float:
        if a == 0.0:
            return b
        if type(b) is float:
            return a + b if b else a
    elif type(b) is float and b == 0.0:
        return a
    return _arithmetic_of(a, b).plus(a, b)


def minus(a: Scalar, b: Scalar) -> Scalar:
    """Return a − b, simplified where one of them is a literal zero."""
    if type(b) is float:
        if b == 0.0:
            return a
        if type(a) is float:
            return a - b
    elif type(a) is float and a == 0.0:
        return negated(b)
    return _arithmetic_of(a, b).minus(a, b)


def negated(a: Scalar) -> Scalar:
    """Return −a; a literal zero stays positive."""
    if type(a) is float:
        return -a if a else 0.0
    return _arithmetic_of(a, a).negated(a)


def times(a: Scalar, b: Scalar) -> Scalar:
    """Return a · b, simplified where one of them is a literal zero or one."""
    if type(a) is float:
        if type(b) is float:
            return a * b if a and b else 0.0
        literal, other = a, b
    elif type(b) is float:
        literal, other = b, a
    else:
        return _arithmetic_of(a, b).times(a, b)
    if literal == 0.0:
        return 0.0
    if literal == 1.0:
        return other
    if literal == -1.0:
        return negated(other)
    return _arithmetic_of(a, b).times(a, b)


def over(a: Scalar, b: Scalar) -> Scalar:
    """Return a / b; zero where a is a literal zero. Raises ZeroDivisionError where b is a literal zero."""
    if is_one(b):
        return a
    if type(b) is float and b == 0.0:
        raise ZeroDivisionError
    if is_zero(a):
        return 0.0
    return _arithmetic_of(a, b).over(a, b)


def side(x: Scalar) -> Scalar:
    """Return the side of zero: 1 for x ≥ 0, −1 for x < 0."""
    return apply("sign", plus(apply("sign", x), 0.5))


def all_zero(entries: Iterable[Scalar]) -> bool:
    """Return True if every entry is a literal zero."""
    return all(is_zero(x) for x in entries)


def total(terms: Iterable[Scalar]) -> Scalar:
    """Return the sum of the terms."""
    result: Scalar = 0.0
    for term in terms:
        result = plus(result, term)
    return result
