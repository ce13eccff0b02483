"""Exact derivatives of formulas, as formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.errors import ExpressionError
from core.model.formula.expression import names_in_formula, substitute
from core.model.formula.nodes import COMPARISONS, LOGIC, Binary, Call, Name, Negative, Node, Number
from core.model.formula.parser import parse

ZERO = Number(0.0)
_OUTER = {
    "sin": "cos(x)",
    "cos": "-sin(x)",
    "tan": "1 + tan(x)^2",
    "asin": "1/sqrt(1 - x^2)",
    "acos": "-1/sqrt(1 - x^2)",
    "atan": "1/(1 + x^2)",
    "sinh": "cosh(x)",
    "cosh": "sinh(x)",
    "tanh": "1 - tanh(x)^2",
    "sqrt": "0.5/sqrt(x)",
    "exp": "exp(x)",
    "log": "1/x",
    "abs": "sign(x)",
}
"""Function → its derivative as a formula of its argument x."""
_STEPS = ("sign", "floor", "ceil", "step", "not")
"""Functions that are constant between jumps."""


def combine(template: str, **parts: Node) -> Node:
    """Return the formula of a template with its names replaced by formulas; terms that are zero vanish."""
    return _simplify(substitute(parse(template), parts))


def differentiate(node: Node, rates: Mapping[str, Node]) -> Node:
    """Return the derivative of a formula, given the rates of the names on which it depends; other names are constant.

    Functions with jumps are differentiated between them. Raises ExpressionError for a function without a derivative.
    """
    if names_in_formula(node).isdisjoint(rates):
        return ZERO
    match node:
        case Name(name):
            return rates.get(name, ZERO)
        case Negative(operand):
            return _simplify(Negative(differentiate(operand, rates)))
        case Binary(operator, left, right):
            return _differentiate_operation(operator, left, right, rates)
        case Call(function, arguments):
            return _differentiate_call(function, arguments, rates)
    return ZERO


def _differentiate_operation(operator: str, u: Node, v: Node, rates: Mapping[str, Node]) -> Node:
    if operator in COMPARISONS or operator in LOGIC:
        return ZERO
    du, dv = differentiate(u, rates), differentiate(v, rates)
    parts = {"u": u, "v": v, "du": du, "dv": dv}
    match operator:
        case "*":
            return combine("du*v + u*dv", **parts)
        case "/":
            return combine("du/v - u*dv/v^2", **parts)
        case "^" if dv == ZERO:
            return combine("v*u^(v - 1)*du", **parts)
        case "^":
            return combine("u^v*(dv*log(u) + v*du/u)", **parts)
    return combine(f"du {operator} dv", **parts)


def _differentiate_call(function: str, arguments: tuple[Node, ...], rates: Mapping[str, Node]) -> Node:
    inner = [differentiate(argument, rates) for argument in arguments]
    if function in _OUTER:
        return combine(f"({_OUTER[function]})*dx", x=arguments[0], dx=inner[0])
    if function in _STEPS:
        return ZERO
    both: dict[str, Callable[[], Node]] = {
        "if": lambda: Call("if", (arguments[0], inner[1], inner[2])),
        "min": lambda: Call("if", (Binary("<", *arguments), inner[0], inner[1])),
        "max": lambda: Call("if", (Binary(">", *arguments), inner[0], inner[1])),
        "atan2": lambda: combine("(x*dy - y*dx)/(x^2 + y^2)", y=arguments[0], x=arguments[1], dy=inner[0], dx=inner[1]),
    }
    if function not in both:
        raise ExpressionError(
            f"The derivative of {function} is not known.", remedy="Use another function, or give the rate as a formula."
        )
    return both[function]()


def _simplify(node: Node) -> Node:
    """Return the formula without terms and factors that are zero, and without factors that are one."""
    match node:
        case Negative(operand):
            inner = _simplify(operand)
            return ZERO if inner == ZERO else Negative(inner)
        case Binary(operator, left, right):
            return _simplify_operation(operator, _simplify(left), _simplify(right))
        case Call(function, arguments):
            return Call(function, tuple(map(_simplify, arguments)))
    return node


def _simplify_operation(operator: str, a: Node, b: Node) -> Node:
    one = Number(1.0)
    match operator:
        case "+" if ZERO in (a, b):
            return b if a == ZERO else a
        case "-" if b == ZERO:
            return a
        case "-" if a == ZERO:
            return Negative(b)
        case "*" if ZERO in (a, b):
            return ZERO
        case "*" if one in (a, b):
            return b if a == one else a
        case "/" if a == ZERO:
            return ZERO
        case "/" | "^" if b == one:
            return a
    return Binary(operator, a, b)
