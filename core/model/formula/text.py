"""Writer of formulas as text that can be parsed again."""

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


def text_of(node: Node, dialect: Dialect = "native") -> str:
    """Return the formula as text that `parse` reads back to an equal tree (in Mathematica's dialect: of equal
    value)."""
    return _native_text(node, 0) if dialect == "native" else _mathematica_text(node, 0)


def number_text(value: float) -> str:
    """Return a float as short text that reads back exactly; integers without a decimal point."""
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return repr(value)


def _native_text(node: Node, outer: int) -> str:
    match node:
        case Number(value, unit):
            text = f"{number_text(value)} {unit}" if unit else number_text(value)
            return f"({text})" if unit and outer > UNIT else text
        case Name("not"):  # a name: bare it would turn the truth of what follows
            return "(not)"
        case Name(name):
            return name
        case Negative(operand):
            text = "-" + _native_text(operand, PRODUCT)
            return f"({text})" if outer >= PRODUCT else text
        case Binary(operator, left, right):
            first, second = _operand_precedences(operator)
            return _binary_text(operator, operator, _native_text(left, first), _native_text(right, second), outer)
        case Call("not", (operand,)):
            text = "not " + _native_text(operand, NOT)
            return f"({text})" if outer > NOT else text
        case Call(function, arguments):
            return f"{function}({', '.join(_native_text(a, 0) for a in arguments)})"


def _operand_precedences(operator: str) -> tuple[int, int]:
    """Return the precedence that each operand of an operator needs to go without parentheses."""
    precedence = PRECEDENCE[operator]
    if operator in COMPARISONS:
        return precedence + 1, precedence + 1
    return precedence + (operator == "^"), precedence + (operator != "^")


def _binary_text(operator: str, shown: str, first: str, second: str, outer: int) -> str:
    space = "" if operator in "*/^" else " "
    text = f"{first}{space}{shown}{space}{second}"
    return f"({text})" if PRECEDENCE[operator] < outer else text


def _mathematica_text(node: Node, outer: int, *, condition: bool = False) -> str:
    """Return the text of a number or, separately in Mathematica, of a condition."""
    if _is_condition(node) and not condition:
        return f"Boole[{_mathematica_text(node, 0, condition=True)}]"
    if condition and not _is_condition(node):
        return _mathematica_text(Binary("!=", node, Number(0.0)), outer, condition=True)
    match node:
        case Number(value, unit):
            text = _mathematica_number(value)
            text = f"{text} Degree" if unit == "deg" else (f"{text}*{UNITS[unit].factor!r}" if unit else text)
            return f"({text})" if unit and outer > PRODUCT else text  # a unit is a factor here
        case Name(name):
            return {"pi": "Pi", "e": "E", "tau": "(2 Pi)"}.get(name, name)
        case Negative(operand):
            text = "-" + _mathematica_text(operand, PRODUCT)
            return f"({text})" if outer >= PRODUCT else text
        case Binary(operator, left, right):
            first, second = _operand_precedences(operator)
            words = [
                _mathematica_text(side, tight, condition=operator in LOGIC)
                for side, tight in ((left, first), (right, second))
            ]
            shown = {"and": "&&", "or": "||"}.get(operator, operator)
            return _binary_text(operator, shown, words[0], words[1], outer)
        case Call(function, arguments):
            return _mathematica_call(function, arguments)


def _is_condition(node: Node) -> bool:
    match node:
        case Binary(operator, _, _):
            return operator in COMPARISONS or operator in LOGIC
        case Call("not", _):
            return True
        case _:
            return False


def _mathematica_call(function: str, arguments: tuple[Node, ...]) -> str:
    if function == "atan2":
        arguments = (arguments[1], arguments[0])
        function = "atan"
    title = next(theirs for theirs, ours in MATHEMATICA_FUNCTIONS.items() if ours == function)
    words = [_mathematica_text(a, 0, condition=not k and function in ("if", "not")) for k, a in enumerate(arguments)]
    return f"{title}[{', '.join(words)}]"


def _mathematica_number(value: float) -> str:
    text = number_text(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa}*^{int(exponent)}"  # exact, where a product with a power of ten is rounded
    return text
