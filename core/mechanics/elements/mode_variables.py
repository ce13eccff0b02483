"""Mode variables: they fix the outcome of comparisons in formulas of forces and drivers during an integration step.

Comparisons a < b, sign(a), step(a), |a|, min(a, b) and max(a, b) make a force jump or bend where their event indicator
g (a − b, a) changes its sign. A formula with modes has g + 1e300 m in place of g, with a mode variable m that comes
with the time argument: 0 leaves the formula as it is, ±1 holds the side, and the force is as smooth as the formula on
this side. Equal indicators share a mode variable, except where they are of what only one force knows, its `length` and
`rate`; comparisons of constants, == and !=, floor and ceil have none. Functions of drivers have them in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from core.model.formula.expression import names_in_formula, substitute
from core.model.formula.nodes import Binary, Call, Name, Negative, Node, Number

MODE_NAME = "mode "
"""Prefix of the names of mode variables, followed by their number."""
MODE_OFFSET = 1e300
"""Number larger than any event indicator."""
ORDERED = {"<", "<=", ">", ">="}
JUMPING = {"==", "!=", "floor", "ceil"}
"""Operators and functions that are discontinuous without a single event indicator, so they get no mode variable."""
OWN = frozenset({"length", "rate"})
"""Names that the law of a force defines for itself, so that they have another meaning in each force."""
OF_FORCE = "own "
"""Prefix of such a name outside the law, followed by the quantity and the force."""
MOST = 64
"""Maximum number of mode variables; further comparisons stay in the formulas."""


def has_unlocated_jumps(node: Node, constant: Collection[str]) -> bool:
    """Return True if a formula has discontinuities without a mode variable: those of `JUMPING` with arguments that
    change during a simulation.

    constant : names that do not change
    """
    match node:
        case Binary(operator, left, right):
            jumps = operator in JUMPING and not names_in_formula(node) <= set(constant)
            return jumps or has_unlocated_jumps(left, constant) or has_unlocated_jumps(right, constant)
        case Negative(operand):
            return has_unlocated_jumps(operand, constant)
        case Call(function, arguments):
            jumps = function in JUMPING and not names_in_formula(node) <= set(constant)
            return jumps or any(has_unlocated_jumps(argument, constant) for argument in arguments)
    return False


class ModeVariables:
    """Event indicators of formulas, and the formulas with mode variables in place of comparisons."""

    def __init__(
        self, nodes: Iterable[Node], constant: Collection[str], laws: Mapping[str, Node] | None = None
    ) -> None:
        """Collect the event indicators of formulas. constant : names that do not change during a simulation; laws :
        formulas of forces, by the forces' names."""
        self.constant = frozenset(constant)
        self.numbers: dict[Node, int] = {}
        """Event indicator → index of its mode variable."""
        self.beyond: set[Node] = set()
        """Event indicators without a mode variable, because there are more than `MOST`."""
        for node in nodes:
            self.with_mode_variables(node)
        for force, law in (laws or {}).items():
            self.with_mode_variables(law, force)

    @property
    def indicators(self) -> tuple[Node, ...]:
        """Return the event indicators in the order of the mode variables."""
        return tuple(self.numbers)

    def with_mode_variables(self, node: Node, force: str = "") -> Node:
        """Return the formula with mode variables in place of its comparisons. force : name of the force whose law it
        is."""
        match node:
            case Negative(operand):
                return Negative(self.with_mode_variables(operand, force))
            case Binary(operator, left, right):
                left, right = self.with_mode_variables(left, force), self.with_mode_variables(right, force)
                held = (
                    self._shifted_indicator(Binary("-", node.left, node.right), force) if operator in ORDERED else None
                )
                return Binary(operator, left, right) if held is None else Binary(operator, held, Number(0.0))
            case Call(function, arguments):
                inner = Call(function, tuple(self.with_mode_variables(argument, force) for argument in arguments))
                return self._call_with_modes(node, inner, force)
        return node

    def _call_with_modes(self, node: Call, inner: Call, force: str) -> Node:
        """Return a function call with mode variables in its arguments, and in the call itself if it needs one."""
        if node.function in ("sign", "step"):
            held = self._shifted_indicator(node.arguments[0], force)
            return inner if held is None else Call(node.function, (held,))
        if node.function == "abs":
            held = self._shifted_indicator(node.arguments[0], force)
            return inner if held is None else Binary("*", inner.arguments[0], Call("sign", (held,)))
        if node.function in ("min", "max"):
            held = self._shifted_indicator(Binary("-", *node.arguments), force)
            if held is not None:
                one, other = inner.arguments if node.function == "min" else inner.arguments[::-1]
                return Call("if", (Binary("<", held, Number(0.0)), one, other))
        return inner

    def _shifted_indicator(self, argument: Node, force: str) -> Node | None:
        """Return g + 1e300 m for an indicator g with mode variable m; None if it has none. Comparisons inside g stay as
        they are."""
        own, known = OWN if force else frozenset(), argument
        if names_in_formula(argument) <= self.constant - own or not names_in_formula(argument).isdisjoint(
            OWN - self.constant - own
        ):
            return None
        if not names_in_formula(argument).isdisjoint(own):
            known = substitute(argument, {name: Name(f"{OF_FORCE}{name} {force}") for name in own})
        if known not in self.numbers and len(self.numbers) >= MOST:
            self.beyond.add(known)
            return None
        k = self.numbers.setdefault(known, len(self.numbers))
        return Binary("+", argument, Binary("*", Number(MODE_OFFSET), Name(f"{MODE_NAME}{k}")))
