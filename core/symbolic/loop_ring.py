"""Loop closure over exact polynomials. Quotients become symbols until they are combined into one fraction, and the
subproblems of closed chains (`core.constraints.closed_forms.dyads`) return the symbols of the joints they determine.

Each kind of `JointEquation` has a rule for writing it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from core.constraints.closed_forms.dyads import SOLVERS, Root, SubproblemSolver, Turn, register_subproblem_solver
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
    SineOrCosine,
    Sum,
    Symbol,
    count_operations,
    make_power,
    make_product,
    make_sum,
    split_sign,
    subexpressions,
    with_subexpressions,
)
from core.symbolic.notation import short_angle_digit
from core.symbolic.ring import Ring, RingElement, exact_fraction

_DIRECTIONS = tuple(f"direction {n}" for n in range(6))
"""Placeholder angles of a chain before they are assigned to joints."""
_QUOTIENTS = tuple(f"quotient {n}" for n in range(32))

SIMPLE = 4
"""Largest denominator of fractions that are cleared; decimal numbers are left unchanged."""
SHORT = 12
"""Largest number of operations of a part that is written in place; longer parts get a name."""


class Ratio(NamedTuple):
    """Quotient of two elements without common factors."""

    top: Scalar
    bottom: Scalar


class LoopRing(Ring):
    """Ring in which quotients that are not polynomials become symbols."""

    def __init__(self, angles: Iterable[str], plain: Iterable[str]) -> None:
        super().__init__((*angles, *_DIRECTIONS), (*plain, *_DIRECTIONS, *_QUOTIENTS))
        self.answers: SubproblemSolver | None = None
        """Rules or numbers that answer the subproblems at present."""
        self._quotients: list[tuple[Any, Any]] = []
        self._first = 2 * len(self.angles) + self.plain.index(_QUOTIENTS[0])

    def quotient_element(self, numerator: RingElement, denominator: RingElement) -> RingElement:
        """Return a symbol for a quotient."""
        if len(self._quotients) == len(_QUOTIENTS):
            raise ModelError(
                "The symbolic solution of the loop needs too many quotients.",
                where="symbolic",
                remedy="Use the numeric functions.",
            )
        self._quotients.append((numerator.polynomial, denominator.polynomial))
        return self.symbol(_QUOTIENTS[len(self._quotients) - 1])

    def release_quotients(self) -> None:
        """Release the symbols of quotients for reuse when none of them is in use any longer."""
        self._quotients.clear()

    def to_ratio(self, x: Scalar) -> Ratio:
        """Convert an element with quotient symbols to one quotient of polynomials."""
        if not isinstance(x, RingElement):
            return Ratio(x, 1.0)
        top, bottom = x.polynomial, self.context.constant(1)
        for n in reversed(range(len(self._quotients))):
            at = self._first + n
            highest = max(int(top.degrees()[at]), int(bottom.degrees()[at]))
            if highest:
                top, bottom = (self._insert_quotient(each, at, n, highest) for each in (top, bottom))
        return self._cancel_common_factors(top, bottom)

    def _insert_quotient(self, polynomial: Any, position: int, n: int, highest: int) -> Any:
        """Substitute the n-th quotient into a polynomial and multiply by a power of its divisor."""
        over, under = self._quotients[n]
        parts: dict[int, dict[tuple[int, ...], Any]] = {}
        for powers, coefficient in polynomial.terms():
            own = tuple(0 if i == position else int(k) for i, k in enumerate(powers))
            parts.setdefault(int(powers[position]), {})[own] = coefficient
        total = self.context.constant(0)
        for k, terms in parts.items():
            total += self.context.from_dict(terms) * over**k * under ** (highest - k)
        return self.reduce(total)

    def reduce_ratio(self, numerator: Scalar, denominator: Scalar) -> Ratio:
        """Return the quotient of two elements without common factors."""
        given = [
            x.polynomial if isinstance(x, RingElement) else self.context.constant(self.to_exact_number(x))
            for x in (numerator, denominator)
        ]
        return self._cancel_common_factors(*given)

    def _cancel_common_factors(self, numerator: Any, denominator: Any) -> Ratio:
        if denominator.is_zero():
            raise ModelError(
                "A loop is singular in every pose.",
                where="symbolic",
                remedy="Check with Mobility which joints are locked.",
            )
        if numerator.is_zero():
            return Ratio(0.0, 1.0)
        common = numerator.gcd(denominator)
        numerator, denominator = divmod(numerator, common)[0], divmod(denominator, common)[0]
        number = self.to_exact_number(_quotient_scale(numerator, denominator))
        return Ratio(self.as_scalar(numerator * number), self.as_scalar(denominator * number))

    def divide_by_common_power(self, name: str, elements: Sequence[Scalar]) -> tuple[int, list[Scalar]]:
        """Divide elements by the highest power of a symbol that all of them contain; return the power and the
        elements."""
        polynomials = [x.polynomial for x in elements if isinstance(x, RingElement)]
        if any(not isinstance(x, RingElement) and x != 0.0 for x in elements) or not polynomials:
            return 0, list(elements)
        at = 2 * len(self.angles) + self.plain.index(name)
        least = min(int(powers[at]) for each in polynomials for powers, _ in each.terms())
        if not least:
            return 0, list(elements)
        divisor = self._plain[name] ** least
        return least, [
            self.as_scalar(divmod(x.polynomial, divisor)[0]) if isinstance(x, RingElement) else x for x in elements
        ]

    def clear_fractions(self, elements: Sequence[Scalar]) -> list[Scalar]:
        """Multiply elements by a positive number that clears simple fractions."""
        polynomials = [x.polynomial for x in elements if isinstance(x, RingElement)]
        if not polynomials:
            return list(elements)
        content = _polynomial_content(*polynomials)
        if content.denominator > SIMPLE:
            below = {_to_fraction(c).denominator for each in polynomials for _, c in each.terms()}
            content = Fraction(1, math.lcm(*(k for k in below if k <= SIMPLE)))
        number = self.to_exact_number(1 / content)
        return [
            self.as_scalar(x.polynomial * number) if isinstance(x, RingElement) else x / float(content)
            for x in elements
        ]


def _quotient_scale(numerator: Any, denominator: Any) -> Fraction:
    """Return the factor for numerator and denominator that makes a constant denominator 1, clears simple fractions, and
    otherwise gives decimals a leading denominator coefficient of 1."""
    leading = _to_fraction(denominator.leading_coefficient())
    if denominator.is_constant():
        return 1 / leading
    content = _polynomial_content(numerator, denominator)
    scale = 1 / content if content.denominator <= SIMPLE else 1 / abs(leading)
    return -scale if leading < 0 else scale


def _to_fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _polynomial_content(*polynomials: Any) -> Fraction:
    """Return the content of polynomials: the positive number whose division leaves coprime integer coefficients."""
    found = [_to_fraction(c) for each in polynomials for _, c in each.terms()]
    if not found:
        return Fraction(1)
    return Fraction(math.gcd(*(c.numerator for c in found)), math.lcm(*(c.denominator for c in found)))


# --------------------------------------------------------------------------------- subproblems


class JointEquation(NamedTuple):
    """Equation from which a subproblem determines a joint of a chain. Kinds: "turn" (A, B, C with A cos + B sin = C),
    "slide" (w and a square: |w + s z|² = square), "direction" (sine and cosine up to a positive factor), "value"."""

    kind: str
    joint: int
    """Index of the joint in the chain."""
    given: tuple[Any, ...]


class _EquationRecorder:
    """Recorder of the equations of subproblems; as the solution it returns the unknown symbols themselves."""

    def __init__(self, ring: LoopRing, unknowns: Sequence[Any], order: Sequence[int] = ()) -> None:
        self.ring, self.unknowns, self.order = ring, unknowns, order
        self.asked: list[JointEquation] = []
        self.turns: list[Turn] = []

    def turn(self, A: Scalar, B: Scalar, C: Scalar, guess: Scalar) -> Root:
        """Return the angle with A cos q + B sin q = C."""
        self.asked.append(JointEquation("turn", self._joint_index(guess), (A, B, C)))
        return Root(Turn(cos(guess), sin(guess)), 1.0)

    def slide(self, w: Vector3, square: Scalar, guess: Scalar) -> Root:
        """Return the displacement s with |w + s z|² = square."""
        self.asked.append(JointEquation("slide", self._joint_index(guess), (w, square)))
        return Root(guess, 1.0)

    def direction(self, ahead: Scalar, along: Scalar) -> Turn:
        """Return the angle whose sine and cosine are proportional to `ahead` and `along`."""
        n = len(self.turns)
        place = self.order[n] if self.order else n
        angle = self.unknowns[place] if self.order else self.ring.symbol(_DIRECTIONS[n])
        self.asked.append(JointEquation("direction", place, (ahead, along)))
        self.turns.append(Turn(cos(angle), sin(angle)))
        return self.turns[-1]

    def _joint_index(self, guess: Scalar) -> int:
        return next(k for k, each in enumerate(self.unknowns) if each is guess)


def derive_joint_equations(
    ring: LoopRing, family: str, kinds: str, K: Sequence[Pose], unknowns: Sequence[Any]
) -> list[JointEquation]:
    """Return the equations that determine the joints of a closed chain, in the order of solution.

    unknowns : the motion of each joint in the direction of the chain, as a symbol; the length of a massless rod
    """
    solve = SOLVERS[family]
    tried = _EquationRecorder(ring, unknowns)
    values, _ = _run_with_recorder(ring, tried, lambda: solve(kinds, K, unknowns.__getitem__))
    order = [next(k for k, value in enumerate(values) if value is turn) for turn in tried.turns]
    if order:
        tried = _EquationRecorder(ring, unknowns, order)
        values, _ = _run_with_recorder(ring, tried, lambda: solve(kinds, K, unknowns.__getitem__))
    known = {each.joint for each in tried.asked}
    for k, value in enumerate(values):
        if k in known or value is None or not isinstance(value, Turn | RingElement | float):
            continue
        if isinstance(value, Turn):
            tried.asked.append(JointEquation("direction", k, (value.sine, value.cosine)))
        else:
            tried.asked.append(JointEquation("value", k, (value,)))
    return tried.asked


def _run_with_recorder(ring: LoopRing, recorder: _EquationRecorder, derivation: Callable[[], Any]) -> Any:
    ring.answers = recorder
    try:
        return derivation()
    finally:
        ring.answers = None


def _current_recorder(x: RingElement) -> Any:
    return getattr(x.ring, "answers", None)


register_subproblem_solver(RingElement, _current_recorder)


class Definition(NamedTuple):
    """Definition name = form.

    side : of a sign its form is `side`: positive on one branch of the linkage, negative on the other
    """

    name: str
    form: Form
    about: str = ""
    side: Form | None = None


def write_angles_in_full(definition: Definition, variables: Collection[str]) -> Definition:
    """Return the definition with sines and cosines of other angles written in full, so that C1 always means the cosine
    of a variable."""

    def replace_angle(form: Form) -> Form:
        if isinstance(form, SineOrCosine):
            if all(name in variables or not short_angle_digit(name) for name, _ in form.angle):
                return form
            angle = make_sum([make_product(Number(Fraction(k)), Symbol(name)) for name, k in form.angle])
            return Function(form.function, (angle,))
        inner = subexpressions(form)
        return with_subexpressions(form, [replace_angle(each) for each in inner]) if inner else form

    side = None if definition.side is None else replace_angle(definition.side)
    return definition._replace(form=replace_angle(definition.form), side=side)


class ElementWriter(Protocol):
    """Interface for writing elements of a ring."""

    def written(self, x: Scalar) -> Form:
        """Write an element or a quotient of elements."""

    def named(self, name: str) -> str:
        """Return a unique name."""

    branches: dict[str, str]

    def reduce_direction(self, *elements: Scalar) -> tuple[list[str], list[Scalar]]:
        """Divide elements by common factors; return the signs of those factors that may be negative, and the
        elements."""

    def clear_fractions(self, *elements: Scalar) -> list[Scalar]:
        """Multiply elements by a positive number that makes their coefficients integers."""

    def recognise_angle_sum(self, sine: Scalar, cosine: Scalar) -> Form | None:
        """Return the sum of angles with this sine and cosine; None if it is not recognised."""


@dataclass(frozen=True)
class SolutionRule(ABC):
    """Rule that writes the solution for one coordinate.

    name : of the coordinate; number : behind the letters of what belongs to it; backward : the chain meets its joint
    from the other side; answer : what the subproblem says
    """

    name: str
    number: str
    backward: bool
    answer: JointEquation

    @abstractmethod
    def definitions(self, writer: ElementWriter) -> Iterator[Definition]:
        """Yield the definitions in order of use; the coordinate comes last."""

    def in_joint_direction(self, x: Scalar) -> Scalar:
        """Negate a value if the chain passes the joint from child to parent."""
        return negated(x) if self.backward else x


class AngleRule(SolutionRule):
    """Solution of P cos q + Q sin q = R: q = atan2(Q, P) + σ atan2(√(P² + Q² − R²), R)."""

    def definitions(self, writer: ElementWriter) -> Iterator[Definition]:
        A, B, C = self.answer.given
        P, Q, R = (writer.named(f"{letter}{self.number}") for letter in "PQR")
        sigma = writer.named(f"sigma{self.number}")
        forms = [writer.written(x) for x in writer.clear_fractions(A, self.in_joint_direction(B), C)]
        p, q, r = (Symbol(each) for each in (P, Q, R))
        for name, form in zip((P, Q, R), forms, strict=True):
            yield Definition(name, form)
        coordinate = Symbol(self.name)
        side = make_sum(
            [
                make_product(p, SineOrCosine("sin", ((self.name, 1),))),
                make_product(MINUS_ONE, q, SineOrCosine("cos", ((self.name, 1),))),
            ]
        )
        yield Definition(sigma, coordinate, "branch", side)
        root = Function(
            "sqrt", (make_sum([make_power(p, 2), make_power(q, 2), make_product(MINUS_ONE, make_power(r, 2))]),)
        )
        half = make_product(Symbol(sigma), Function("atan2", (root, r)))
        equation = f"{P} cos {self.name} + {Q} sin {self.name} = {R}"
        yield Definition(self.name, make_sum([Function("atan2", (q, p)), half]), equation)


class DisplacementRule(SolutionRule):
    """Solution of |w + s z| = l: s = −w_z + σ √(l² − w_x² − w_y²)."""

    def definitions(self, writer: ElementWriter) -> Iterator[Definition]:
        w, square = self.answer.given
        sigma = writer.named(f"sigma{self.number}")
        middle = writer.written(self.in_joint_direction(negated(w.z)))
        parts = [writer.written(square), *(make_product(MINUS_ONE, _square_form(writer.written(x))) for x in w[:2])]
        yield Definition(
            sigma, Symbol(self.name), "branch", make_sum([Symbol(self.name), make_product(MINUS_ONE, middle)])
        )
        if middle == ZERO:
            writer.branches[self.name] = sigma
        root = make_product(Symbol(sigma), Function("sqrt", (make_sum(parts),)))
        yield Definition(self.name, make_sum([middle, root]), "distance of two points")


def _square_form(form: Form) -> Form:
    """Return the square of a form, ignoring its sign."""
    if isinstance(form, Number):
        return Number(form.value**2)
    return make_power(split_sign(form)[1] if not isinstance(form, Sum) else form, 2)


class DirectionRule(SolutionRule):
    """Solution q = atan2(Y, X), or a sum of angles if one is recognised."""

    def definitions(self, writer: ElementWriter) -> Iterator[Definition]:
        sine, cosine = self.answer.given
        sine = self.in_joint_direction(sine)
        if isinstance(sine, float) and isinstance(cosine, float):
            yield Definition(self.name, Number(exact_fraction(math.atan2(sine, cosine))))
            return
        angle = writer.recognise_angle_sum(sine, cosine)
        if angle is not None:
            yield Definition(self.name, angle, "sum of angles")
            return
        given = []
        signs, found = writer.reduce_direction(sine, cosine)
        for letter, x in zip("YX", found, strict=True):
            form = writer.written(x)
            if count_operations(form) > SHORT:
                name = writer.named(f"{letter}{self.number}")
                yield Definition(name, form)
                form = Symbol(name)
            given.append(make_product(*map(Symbol, signs), form))
        yield Definition(self.name, Function("atan2", tuple(given)), "direction")


class KnownValueRule(SolutionRule):
    """Solution q given as a quotient of polynomials."""

    def definitions(self, writer: ElementWriter) -> Iterator[Definition]:
        yield Definition(self.name, writer.written(self.in_joint_direction(self.answer.given[0])))


RULES: dict[str, type[SolutionRule]] = {
    "turn": AngleRule,
    "slide": DisplacementRule,
    "direction": DirectionRule,
    "value": KnownValueRule,
}
"""Solution rule for each kind of equation."""
