"""Conditions in the formulas of forces and drivers that a simulation may hold fixed while it steps over them.

Comparisons a < b, sign(a), step(a), |a|, min(a, b) and max(a, b) make a force jump or bend where an argument (a − b, a)
changes its sign. In a latched formula the argument is a − b + 1e300 m with a latch m that comes with the time argument:
0 leaves the formula as it is, ±1 holds the side, and the force is as smooth as the formula on this side. Equal
arguments share a latch, except where they are of what only one force knows, its `length` and `rate`; comparisons of
constants, == and !=, floor and ceil have none. Functions of drivers have latches in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from core.elements.signals import LATCH
from core.model.formula.expression import names, substitute
from core.model.formula.nodes import Binary, Call, Name, Negative, Node, Number

HELD = 1e300
"""More than any argument."""
ORDERED = {"<", "<=", ">", ">="}
OWN = frozenset({"length", "rate"})
"""What a force's law calls its own, another in each force."""
OF_FORCE = "own "
"""What the name of such a quantity begins with outside of the law, followed by which it is and the force."""
MOST = 64
"""Latches of a machine at most; further conditions stay as they are."""


class Latches:
    """The conditions of some formulas, and the formulas with latches in them."""

    def __init__(
        self, nodes: Iterable[Node], constant: Collection[str], laws: Mapping[str, Node] | None = None
    ) -> None:
        """constant : names that do not change during a run; laws : of forces, by their names."""
        self.constant = frozenset(constant)
        self.numbers: dict[Node, int] = {}
        """Argument → its latch."""
        for node in nodes:
            self.latched(node)
        for force, law in (laws or {}).items():
            self.latched(law, force)

    @property
    def arguments(self) -> tuple[Node, ...]:
        """In the order of the latches."""
        return tuple(self.numbers)

    def latched(self, node: Node, force: str = "") -> Node:
        """The formula with latches; force : whose law it is."""
        match node:
            case Negative(operand):
                return Negative(self.latched(operand, force))
            case Binary(operator, left, right):
                left, right = self.latched(left, force), self.latched(right, force)
                held = self._held(Binary("-", node.left, node.right), force) if operator in ORDERED else None
                return Binary(operator, left, right) if held is None else Binary(operator, held, Number(0.0))
            case Call(function, arguments):
                inner = Call(function, tuple(self.latched(argument, force) for argument in arguments))
                return self._called(node, inner, force)
        return node

    def _called(self, node: Call, inner: Call, force: str) -> Node:
        """A call with latches in its arguments, and in itself if it needs one."""
        if node.function in ("sign", "step"):
            held = self._held(node.arguments[0], force)
            return inner if held is None else Call(node.function, (held,))
        if node.function == "abs":
            held = self._held(node.arguments[0], force)
            return inner if held is None else Binary("*", inner.arguments[0], Call("sign", (held,)))
        if node.function in ("min", "max"):
            held = self._held(Binary("-", *node.arguments), force)
            if held is not None:
                one, other = inner.arguments if node.function == "min" else inner.arguments[::-1]
                return Call("if", (Binary("<", held, Number(0.0)), one, other))
        return inner

    def _held(self, argument: Node, force: str) -> Node | None:
        """The argument with its latch; None if it has none. Conditions within conditions stay as they are."""
        own, known = OWN if force else frozenset(), argument
        if names(argument) <= self.constant - own or not names(argument).isdisjoint(OWN - self.constant - own):
            return None
        if not names(argument).isdisjoint(own):
            known = substitute(argument, {name: Name(f"{OF_FORCE}{name} {force}") for name in own})
        if known not in self.numbers and len(self.numbers) >= MOST:
            return None
        k = self.numbers.setdefault(known, len(self.numbers))
        return Binary("+", argument, Binary("*", Number(HELD), Name(f"{LATCH}{k}")))
