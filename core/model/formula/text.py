"""Formatting of formulas as text that can be parsed again."""

from __future__ import annotations

from core.model.formula.nodes import (
    COMPARISONS,
    LOGIC,
    MATHEMATICA_FUNCTIONS,
    NOT,
    PRECEDENCE,
    PRODUCT,
    UNIT,
    Binary,
    Call,
    Dialect,
    Name,
    Negative,
    Node,
    Number,
)
from core.model.units import UNITS


def format_formula(node: Node, dialect: Dialect = "native") -> str:
    """Return the formula as text that `parse` reads back to an equal tree (in Mathematica's dialect: of equal
    value)."""
    return _format_native(node, 0) if dialect == "native" else _format_mathematica(node, 0)


def format_number(value: float) -> str:
    """Return a float as short text that reads back exactly; integers without a decimal point."""
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return repr(value)


def _format_native(node: Node, outer_precedence: int) -> str:
    match node:
        case Number(value, unit):
            text = f"{format_number(value)} {unit}" if unit else format_number(value)
            return f"({text})" if unit and outer_precedence > UNIT else text
        case Name("not"):  # a name: bare it would turn the truth of what follows
            return "(not)"
        case Name(name):
            return name
        case Negative(operand):
            text = "-" + _format_native(operand, PRODUCT)
            return f"({text})" if outer_precedence >= PRODUCT else text
        case Binary(operator, left, right):
            first, second = _operand_precedences(operator)
            return _format_binary(
                operator, operator, _format_native(left, first), _format_native(right, second), outer_precedence
            )
        case Call("not", (operand,)):
            text = "not " + _format_native(operand, NOT)
            return f"({text})" if outer_precedence > NOT else text
        case Call(function, arguments):
            return f"{function}({', '.join(_format_native(a, 0) for a in arguments)})"


def _operand_precedences(operator: str) -> tuple[int, int]:
    """Return the minimum precedence that each operand of an operator needs to be written without parentheses."""
    precedence = PRECEDENCE[operator]
    if operator in COMPARISONS:
        return precedence + 1, precedence + 1
    return precedence + (operator == "^"), precedence + (operator != "^")


def _format_binary(operator: str, symbol: str, first: str, second: str, outer_precedence: int) -> str:
    space = "" if operator in "*/^" else " "
    text = f"{first}{space}{symbol}{space}{second}"
    return f"({text})" if PRECEDENCE[operator] < outer_precedence else text


def _format_mathematica(node: Node, outer_precedence: int, *, condition: bool = False) -> str:
    """Return the text of a number or, separately in Mathematica, of a condition."""
    if _is_condition(node) and not condition:
        return f"Boole[{_format_mathematica(node, 0, condition=True)}]"
    if condition and not _is_condition(node):
        return _format_mathematica(Binary("!=", node, Number(0.0)), outer_precedence, condition=True)
    match node:
        case Number(value, unit):
            text = _format_mathematica_number(value)
            text = f"{text} Degree" if unit == "deg" else (f"{text}*{UNITS[unit].factor!r}" if unit else text)
            return f"({text})" if unit and outer_precedence > PRODUCT else text  # a unit is a factor here
        case Name(name):
            return {"pi": "Pi", "e": "E", "tau": "(2 Pi)"}.get(name, name)
        case Negative(operand):
            text = "-" + _format_mathematica(operand, PRODUCT)
            return f"({text})" if outer_precedence >= PRODUCT else text
        case Binary(operator, left, right):
            first, second = _operand_precedences(operator)
            words = [
                _format_mathematica(side, tight, condition=operator in LOGIC)
                for side, tight in ((left, first), (right, second))
            ]
            shown = {"and": "&&", "or": "||"}.get(operator, operator)
            return _format_binary(operator, shown, words[0], words[1], outer_precedence)
        case Call(function, arguments):
            return _format_mathematica_call(function, arguments)


def _is_condition(node: Node) -> bool:
    match node:
        case Binary(operator, _, _):
            return operator in COMPARISONS or operator in LOGIC
        case Call("not", _):
            return True
        case _:
            return False


def _format_mathematica_call(function: str, arguments: tuple[Node, ...]) -> str:
    if function == "atan2":
        arguments = (arguments[1], arguments[0])
        function = "atan"
    title = next(theirs for theirs, ours in MATHEMATICA_FUNCTIONS.items() if ours == function)
    words = [_format_mathematica(a, 0, condition=not k and function in ("if", "not")) for k, a in enumerate(arguments)]
    return f"{title}[{', '.join(words)}]"


def _format_mathematica_number(value: float) -> str:
    text = format_number(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa}*^{int(exponent)}"  # exact, where a product with a power of ten is rounded
    return text
