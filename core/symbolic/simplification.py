"""Simplification of a typed expression (Robotica's SimplifyExpression), in the ring spanned by its names."""

from __future__ import annotations

from typing import Any

from core.errors import ExpressionError, KinetostatError
from core.model.formula.expression import Binary, Call, Negative, Node, evaluate, names, parse
from core.model.formula.nodes import FUNCTIONS, MATHEMATICA_FUNCTIONS
from core.symbolic.factoring import written
from core.symbolic.forms import Form
from core.symbolic.ring import Ring
from core.symbolic.terms import terms_of


def simplified(text: str) -> Form:
    """Return the short form of an expression of numbers, names, sines and cosines: Sin[q1] Cos[q2] + Cos[q1] Sin[q2]
    becomes S12.

    Functions may be written in Robotica's or in ordinary notation, Cos[q1] or cos(q1).
    Raises ExpressionError where it is no polynomial of these.
    """
    node = parse(text, "mathematica")
    if function := next((name for name in sorted(names(node)) if name in _FUNCTIONS), ""):
        raise ExpressionError(
            f"'{function}' in '{text}' is a function without its argument.",
            remedy=f"Write {function}(q1) or {function}(q1)^2.",
        )
    angles = sorted(_angles(node))
    ring = Ring(angles, sorted(names(node)))
    try:
        value = evaluate(node, {name: ring.symbol(name) for name in names(node)})
    except KinetostatError as error:
        raise ExpressionError(error.what, remedy=error.remedy) from None
    return written(terms_of(value, [angles]))


_FUNCTIONS = {*FUNCTIONS, *MATHEMATICA_FUNCTIONS}


def _angles(node: Node) -> set[str]:
    """Return the names inside sines and cosines."""
    if isinstance(node, Call):
        inner: set[str] = set().union(*map(names, node.arguments)) if node.function in ("sin", "cos") else set()
        return inner.union(*map(_angles, node.arguments))
    parts: tuple[Any, ...] = ()
    if isinstance(node, Binary):
        parts = (node.left, node.right)
    elif isinstance(node, Negative):
        parts = (node.operand,)
    return set().union(*map(_angles, parts))
