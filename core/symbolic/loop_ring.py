"""Loop closure over exact polynomials: quotients get symbols until they are combined into one fraction, and the
subproblems of closed chains (`core.constraints.closed_forms.dyads`) return the symbols that they determine.

Each kind of `Answer` has a rule for writing it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from core.constraints.closed_forms.dyads import SOLVERS, Answers, Root, Turn, register_answers
from core.errors import ModelError
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, cos, negated, sin
from core.numerics.spatial.vector import Vector3
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
from core.symbolic.notation import short_angle_digits
from core.symbolic.ring import Element, Ring, exact

_DIRECTIONS = tuple(f"direction {n}" for n in range(6))
"""Placeholder angles of a chain that are not yet assigned to joints."""
_QUOTIENTS = tuple(f"quotient {n}" for n in range(32))

SIMPLE = 4
"""Largest denominator of fractions that are cleared; decimal numbers are left unchanged."""
SHORT = 12
"""Largest number of operations of a part that is written in place; longer ones get a name."""


class Ratio(NamedTuple):
    """Quotient of two elements without common factors."""

    top: Scalar
    bottom: Scalar


class LoopRing(Ring):
    """Ring in which quotients that are not polynomials become symbols."""

    def __init__(self, angles: Iterable[str], plain: Iterable[str]) -> None:
        super().__init__((*angles, *_DIRECTIONS), (*plain, *_DIRECTIONS, *_QUOTIENTS))
        self.answers: Answers | None = None
        """Rules or numbers that answer the subproblems at present."""
        self._quotients: list[tuple[Any, Any]] = []
        self._first = 2 * len(self.angles) + self.plain.index(_QUOTIENTS[0])

    def quotient_element(self, top: Element, bottom: Element) -> Element:
        """Return a symbol for a quotient."""
        if len(self._quotients) == len(_QUOTIENTS):
            raise ModelError(
                "The symbolic solution of the loop needs too many quotients.",
                where="symbolic",
                remedy="Use the numeric functions.",
            )
        self._quotients.append((top.polynomial, bottom.polynomial))
        return self.symbol(_QUOTIENTS[len(self._quotients) - 1])

    def release_quotients(self) -> None:
        """Release the symbols of quotients for reuse once none is used any longer."""
        self._quotients.clear()

    def ratio(self, x: Scalar) -> Ratio:
        """Convert an element with quotient symbols to one quotient of polynomials."""
        if not isinstance(x, Element):
            return Ratio(x, 1.0)
        top, bottom = x.polynomial, self.context.constant(1)
        for n in reversed(range(len(self._quotients))):
            at = self._first + n
            highest = max(int(top.degrees()[at]), int(bottom.degrees()[at]))
            if highest:
                top, bottom = (self._with_quotient_inserted(each, at, n, highest) for each in (top, bottom))
        return self._shortened(top, bottom)

    def _with_quotient_inserted(self, polynomial: Any, at: int, n: int, highest: int) -> Any:
        """Substitute the n-th quotient into a polynomial and multiply by a power of its divisor."""
        over, under = self._quotients[n]
        parts: dict[int, dict[tuple[int, ...], Any]] = {}
        for powers, coefficient in polynomial.terms():
            own = tuple(0 if i == at else int(k) for i, k in enumerate(powers))
            parts.setdefault(int(powers[at]), {})[own] = coefficient
        total = self.context.constant(0)
        for k, terms in parts.items():
            total += self.context.from_dict(terms) * over**k * under ** (highest - k)
        return self.reduced(total)

    def reduced_ratio(self, top: Scalar, bottom: Scalar) -> Ratio:
        """Return the quotient of two elements without common factors."""
        given = [
            x.polynomial if isinstance(x, Element) else self.context.constant(self.number(x)) for x in (top, bottom)
        ]
        return self._shortened(*given)

    def _shortened(self, top: Any, bottom: Any) -> Ratio:
        if bottom.is_zero():
            raise ModelError(
                "A loop is singular in every pose.",
                where="symbolic",
                remedy="Check with Mobility which joints are locked.",
            )
        if top.is_zero():
            return Ratio(0.0, 1.0)
        common = top.gcd(bottom)
        top, bottom = divmod(top, common)[0], divmod(bottom, common)[0]
        number = self.number(_quotient_scale(top, bottom))
        return Ratio(self.as_scalar(top * number), self.as_scalar(bottom * number))

    def divided_by_common_power(self, name: str, elements: Sequence[Scalar]) -> tuple[int, list[Scalar]]:
        """Divide elements by the highest power of a symbol that all of them contain; return the power and the
        elements."""
        polynomials = [x.polynomial for x in elements if isinstance(x, Element)]
        if any(not isinstance(x, Element) and x != 0.0 for x in elements) or not polynomials:
            return 0, list(elements)
        at = 2 * len(self.angles) + self.plain.index(name)
        least = min(int(powers[at]) for each in polynomials for powers, _ in each.terms())
        if not least:
            return 0, list(elements)
        divisor = self._plain[name] ** least
        return least, [
            self.as_scalar(divmod(x.polynomial, divisor)[0]) if isinstance(x, Element) else x for x in elements
        ]

    def with_whole_coefficients(self, elements: Sequence[Scalar]) -> list[Scalar]:
        """Multiply elements by a positive number that clears simple fractions."""
        polynomials = [x.polynomial for x in elements if isinstance(x, Element)]
        if not polynomials:
            return list(elements)
        content = _content(*polynomials)
        if content.denominator > SIMPLE:
            below = {_fraction(c).denominator for each in polynomials for _, c in each.terms()}
            content = Fraction(1, math.lcm(*(k for k in below if k <= SIMPLE)))
        number = self.number(1 / content)
        return [
            self.as_scalar(x.polynomial * number) if isinstance(x, Element) else x / float(content) for x in elements
        ]


def _quotient_scale(top: Any, bottom: Any) -> Fraction:
    """Return the factor for both sides of a quotient: it makes a constant divisor 1, clears simple fractions, and gives
    decimals a leading divisor of 1."""
    leading = _fraction(bottom.leading_coefficient())
    if bottom.is_constant():
        return 1 / leading
    content = _content(top, bottom)
    scale = 1 / content if content.denominator <= SIMPLE else 1 / abs(leading)
    return -scale if leading < 0 else scale


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _content(*polynomials: Any) -> Fraction:
    """Return the content of polynomials: the positive number by which dividing makes the coefficients coprime
    integers."""
    found = [_fraction(c) for each in polynomials for _, c in each.terms()]
    if not found:
        return Fraction(1)
    return Fraction(math.gcd(*(c.numerator for c in found)), math.lcm(*(c.denominator for c in found)))


# --------------------------------------------------------------------------------- subproblems


class Answer(NamedTuple):
    """Equation that a subproblem gives for a joint of a chain: kind "turn" (A, B, C with A cos + B sin = C), "slide" (w
    and a square: |w + s z|² = square), "direction" (sine and cosine up to a positive factor), "value"."""

    kind: str
    joint: int
    """Index of the joint in the chain."""
    given: tuple[Any, ...]


class _SymbolicAnswers:
    """Answers subproblems with the unknown symbols themselves, and records the equations."""

    def __init__(self, ring: LoopRing, unknowns: Sequence[Any], order: Sequence[int] = ()) -> None:
        self.ring, self.unknowns, self.order = ring, unknowns, order
        self.asked: list[Answer] = []
        self.turns: list[Turn] = []

    def turn(self, A: Scalar, B: Scalar, C: Scalar, guess: Scalar) -> Root:
        """Return the angle with A cos q + B sin q = C."""
        self.asked.append(Answer("turn", self._joint_index(guess), (A, B, C)))
        return Root(Turn(cos(guess), sin(guess)), 1.0)

    def slide(self, w: Vector3, square: Scalar, guess: Scalar) -> Root:
        """Return the displacement s with |w + s z|² = square."""
        self.asked.append(Answer("slide", self._joint_index(guess), (w, square)))
        return Root(guess, 1.0)

    def direction(self, ahead: Scalar, along: Scalar) -> Turn:
        """Return the angle whose sine and cosine are proportional to `ahead` and `along`."""
        n = len(self.turns)
        place = self.order[n] if self.order else n
        angle = self.unknowns[place] if self.order else self.ring.symbol(_DIRECTIONS[n])
        self.asked.append(Answer("direction", place, (ahead, along)))
        self.turns.append(Turn(cos(angle), sin(angle)))
        return self.turns[-1]

    def _joint_index(self, guess: Scalar) -> int:
        return next(k for k, each in enumerate(self.unknowns) if each is guess)


def joint_equations(
    ring: LoopRing, family: str, kinds: str, K: Sequence[Pose], unknowns: Sequence[Any]
) -> list[Answer]:
    """Return the equations that determine the joints of a closed chain, in the order in which they are solved.

    unknowns : the motion of each joint in the direction of the chain, as a symbol; the length of a massless rod
    """
    solve = SOLVERS[family]
    tried = _SymbolicAnswers(ring, unknowns)
    values, _ = _with_answers(ring, tried, lambda: solve(kinds, K, unknowns.__getitem__))
    order = [next(k for k, value in enumerate(values) if value is turn) for turn in tried.turns]
    if order:
        tried = _SymbolicAnswers(ring, unknowns, order)
        values, _ = _with_answers(ring, tried, lambda: solve(kinds, K, unknowns.__getitem__))
    known = {each.joint for each in tried.asked}
    for k, value in enumerate(values):
        if k in known or value is None or not isinstance(value, Turn | Element | float):
            continue
        if isinstance(value, Turn):
            tried.asked.append(Answer("direction", k, (value.sine, value.cosine)))
        else:
            tried.asked.append(Answer("value", k, (value,)))
    return tried.asked


def _with_answers(ring: LoopRing, answers: _SymbolicAnswers, work: Callable[[], Any]) -> Any:
    ring.answers = answers
    try:
        return work()
    finally:
        ring.answers = None


def _current_answers(x: Element) -> Any:
    return getattr(x.ring, "answers", None)


register_answers(Element, _current_answers)


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
