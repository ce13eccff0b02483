"""Rules for writing the solution of a subproblem of a closed chain, one for each kind of `loop_ring.Answer`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

from core.numerics.spatial.scalar import Scalar, negated
from core.symbolic.forms import (
    MINUS_ONE,
    ZERO,
    Form,
    Function,
    Number,
    Sum,
    Symbol,
    Trig,
    children,
    operations,
    power,
    product,
    rebuilt,
    sign_of,
    summed,
)
from core.symbolic.loop_ring import Answer
from core.symbolic.notation import short_angle_digits
from core.symbolic.ring import exact

SHORT = 12
"""Largest number of operations of a part that is written in place; longer ones get a name."""


class Definition(NamedTuple):
    """Definition name = form.

    side : of a sign its form is `side`: positive on one branch of the linkage, negative on the other
    """

    name: str
    form: Form
    about: str = ""
    side: Form | None = None


def with_angles_in_full(definition: Definition, variables: Collection[str]) -> Definition:
    """Return the definition with sines and cosines of other angles written in full, so that C1 always means the cosine
    of a variable."""

    def put(form: Form) -> Form:
        if isinstance(form, Trig):
            if all(name in variables or not short_angle_digits(name) for name, _ in form.angle):
                return form
            angle = summed([product(Number(Fraction(k)), Symbol(name)) for name, k in form.angle])
            return Function(form.function, (angle,))
        inner = children(form)
        return rebuilt(form, [put(each) for each in inner]) if inner else form

    side = None if definition.side is None else put(definition.side)
    return definition._replace(form=put(definition.form), side=side)


class ElementWriter(Protocol):
    """Interface for writing elements of a ring."""

    def written(self, x: Scalar) -> Form:
        """Write an element or a quotient of elements."""

    def named(self, name: str) -> str:
        """Return a unique name."""

    branches: dict[str, str]

    def direction(self, *elements: Scalar) -> tuple[list[str], list[Scalar]]:
        """Divide elements by common factors; return the signs of those factors that may be negative, and the
        elements."""

    def scaled(self, *elements: Scalar) -> list[Scalar]:
        """Multiply elements by a positive number that makes their coefficients integers."""

    def recognised_angle_sum(self, sine: Scalar, cosine: Scalar) -> Form | None:
        """Return the sum of angles with this sine and cosine; None if it is not recognised."""


@dataclass(frozen=True)
class Rule(ABC):
    """Rule that writes the solution for one coordinate.

    name : of the coordinate; number : behind the letters of what belongs to it; backward : the chain meets its joint
    from the other side; answer : what the subproblem says
    """

    name: str
    number: str
    backward: bool
    answer: Answer

    @abstractmethod
    def definitions(self, pen: ElementWriter) -> Iterator[Definition]:
        """Yield definitions in order of use, the coordinate last."""

    def in_joint_direction(self, x: Scalar) -> Scalar:
        """Negate a value if the joint is traversed backward."""
        return negated(x) if self.backward else x


class AngleRule(Rule):
    """Solution of P cos q + Q sin q = R: q = atan2(Q, P) + σ atan2(√(P² + Q² − R²), R)."""

    def definitions(self, pen: ElementWriter) -> Iterator[Definition]:
        A, B, C = self.answer.given
        P, Q, R = (pen.named(f"{letter}{self.number}") for letter in "PQR")
        sigma = pen.named(f"sigma{self.number}")
        forms = [pen.written(x) for x in pen.scaled(A, self.in_joint_direction(B), C)]
        p, q, r = (Symbol(each) for each in (P, Q, R))
        for name, form in zip((P, Q, R), forms, strict=True):
            yield Definition(name, form)
        coordinate = Symbol(self.name)
        side = summed(
            [
                product(p, Trig("sin", ((self.name, 1),))),
                product(MINUS_ONE, q, Trig("cos", ((self.name, 1),))),
            ]
        )
        yield Definition(sigma, coordinate, "branch", side)
        root = Function("sqrt", (summed([power(p, 2), power(q, 2), product(MINUS_ONE, power(r, 2))]),))
        half = product(Symbol(sigma), Function("atan2", (root, r)))
        equation = f"{P} cos {self.name} + {Q} sin {self.name} = {R}"
        yield Definition(self.name, summed([Function("atan2", (q, p)), half]), equation)


class DisplacementRule(Rule):
    """Solution of |w + s z| = l: s = −w_z + σ √(l² − w_x² − w_y²)."""

    def definitions(self, pen: ElementWriter) -> Iterator[Definition]:
        w, square = self.answer.given
        sigma = pen.named(f"sigma{self.number}")
        middle = pen.written(self.in_joint_direction(negated(w.z)))
        parts = [pen.written(square), *(product(MINUS_ONE, _squared(pen.written(x))) for x in w[:2])]
        yield Definition(sigma, Symbol(self.name), "branch", summed([Symbol(self.name), product(MINUS_ONE, middle)]))
        if middle == ZERO:
            pen.branches[self.name] = sigma
        root = product(Symbol(sigma), Function("sqrt", (summed(parts),)))
        yield Definition(self.name, summed([middle, root]), "distance of two points")


def _squared(form: Form) -> Form:
    """Return the square of a form without its sign."""
    if isinstance(form, Number):
        return Number(form.value**2)
    return power(sign_of(form)[1] if not isinstance(form, Sum) else form, 2)


class DirectionRule(Rule):
    """Solution q = atan2(Y, X), or a sum of angles if one is recognised."""

    def definitions(self, pen: ElementWriter) -> Iterator[Definition]:
        sine, cosine = self.answer.given
        sine = self.in_joint_direction(sine)
        if isinstance(sine, float) and isinstance(cosine, float):
            yield Definition(self.name, Number(exact(math.atan2(sine, cosine))))
            return
        angle = pen.recognised_angle_sum(sine, cosine)
        if angle is not None:
            yield Definition(self.name, angle, "sum of angles")
            return
        given = []
        signs, found = pen.direction(sine, cosine)
        for letter, x in zip("YX", found, strict=True):
            form = pen.written(x)
            if operations(form) > SHORT:
                name = pen.named(f"{letter}{self.number}")
                yield Definition(name, form)
                form = Symbol(name)
            given.append(product(*map(Symbol, signs), form))
        yield Definition(self.name, Function("atan2", tuple(given)), "direction")


class Known(Rule):
    """Solution q given as a quotient of polynomials."""

    def definitions(self, pen: ElementWriter) -> Iterator[Definition]:
        yield Definition(self.name, pen.written(self.in_joint_direction(self.answer.given[0])))


RULES: dict[str, type[Rule]] = {
    "turn": AngleRule,
    "slide": DisplacementRule,
    "direction": DirectionRule,
    "value": Known,
}
"""Rule for each kind of answer."""
