"""Subproblems of dyad chains: rotations and translations that bring points to given distances or directions.

Each subproblem has one unknown joint, or two or three whose axes meet, about or along z of their own frames
(Paden and Kahan's subproblems, in Murray, Li, Sastry 1994, 3.2; Kecskeméthy's characteristic measurements). A root
is chosen by a guess: the one on the guess's side of the pose in which both roots are one. The `reach` of a root is
negative where no root exists; the formulas then give the nearest pose. All of them go back to A cos q + B sin q = C
(`turn`) or to a quadratic equation (`slide_to_distance`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from core.numerics.spatial.rotation import Rotation, from_quaternion, quaternion_product
from core.numerics.spatial.scalar import Scalar, apply, cos, minus, negated, over, plus, side, sin, sqrt, times, total
from core.numerics.spatial.vector import Vector3, Z

LEAST_DIVISOR = 1e-200
"""Small number added to divisors (squares), so that quotients stay finite where they are meaningless and unused."""


class Turn(NamedTuple):
    """An angle by its cosine and sine."""

    cosine: Scalar
    sine: Scalar

    def back(self) -> Turn:
        """The opposite angle."""
        return Turn(self.cosine, negated(self.sine))

    def rotation(self) -> Rotation:
        """Rotation about z."""
        c, s = self
        return Rotation(Vector3(c, negated(s), 0.0), Vector3(s, c, 0.0), Z)

    def angle(self, guess: Scalar) -> Scalar:
        """The angle (rad) within half a turn of the guess, so that whole turns are kept."""
        c, s = cos(guess), sin(guess)
        ahead = minus(times(self.sine, c), times(self.cosine, s))
        along = plus(times(self.cosine, c), times(self.sine, s))
        return plus(guess, apply("atan2", ahead, along))


class Root(NamedTuple):
    """A selected root and its margin `reach` ≤ 1, which is 0 at a double root and negative if there is no root."""

    value: Scalar
    """A `Turn`, or a displacement, m."""
    reach: Scalar


class Answers(Protocol):
    """Solver of the subproblems for a special kind of scalars, such as symbols, which name roots and directions."""

    def turn(self, A: Scalar, B: Scalar, C: Scalar, guess: Scalar) -> Root:
        """The angle with A cos q + B sin q = C."""

    def slide(self, w: Vector3, square: Scalar, guess: Scalar) -> Root:
        """The displacement s with |w + s z|² = square."""

    def direction(self, ahead: Scalar, along: Scalar) -> Turn:
        """The angle whose sine and cosine are in the ratio of `ahead` to `along`."""


_answers: dict[type, Callable[[Any], Answers]] = {}


def register_answers(kind: type, of: Callable[[Any], Answers]) -> None:
    """Register a solver of the subproblems for a kind of scalars."""
    _answers[kind] = of


def _registered_solver(*scalars: Scalar) -> Answers | None:
    """Registered solver for these scalars; None if the formulas of this module apply."""
    for x in scalars:
        of = _answers.get(type(x))
        if of is not None:
            return of(x)
    return None


def turn(A: Scalar, B: Scalar, C: Scalar, guess: Scalar) -> Root:
    """The angle with A cos q + B sin q = C: q = α ± β with r cos α = A, r sin α = B, r cos β = C; sin²β is the reach.

    guess : rad; its side is the sign of sin(guess − α)
    """
    if (own := _registered_solver(A, B, C, guess)) is not None:
        return own.turn(A, B, C, guess)
    r2 = plus(plus(times(A, A), times(B, B)), LEAST_DIVISOR)
    w2 = minus(r2, times(C, C))
    sign = side(minus(times(A, sin(guess)), times(B, cos(guess))))
    w = times(sign, sqrt(apply("fmax", w2, 0.0)))
    cosine = over(minus(times(A, C), times(B, w)), r2)
    sine = over(plus(times(B, C), times(A, w)), r2)
    return Root(Turn(cosine, sine), over(w2, r2))


def turn_to_distance(a: Vector3, c: Vector3, square: Scalar, guess: Scalar) -> Root:
    """Rotation about z that brings point a to a given distance from point c; square : of the distance, m²"""
    # |R a − c|² = a² + c² − 2 c · R a
    A = plus(times(c.x, a.x), times(c.y, a.y))
    B = minus(times(c.y, a.x), times(c.x, a.y))
    half = times(0.5, minus(plus(a.dot(a), c.dot(c)), square))
    return turn(A, B, minus(half, times(c.z, a.z)), guess)


def slide_to_distance(a: Vector3, c: Vector3, square: Scalar, guess: Scalar) -> Root:
    """Displacement along z that brings point a to a given distance from point c."""
    # s² + 2 s w_z + w² − L² = 0 with w = a − c
    w = a - c
    if (own := _registered_solver(*w, square, guess)) is not None:
        return own.slide(w, square, guess)
    across = plus(times(w.x, w.x), times(w.y, w.y))
    root2 = minus(square, across)
    root = times(side(plus(guess, w.z)), sqrt(apply("fmax", root2, 0.0)))
    return Root(minus(root, w.z), over(root2, plus(square, LEAST_DIVISOR)))


def turn_between(a: Vector3, c: Vector3) -> Turn:
    """Rotation about z that aligns a with c; z components are ignored."""
    along = plus(times(a.x, c.x), times(a.y, c.y))
    ahead = minus(times(a.x, c.y), times(a.y, c.x))
    if (own := _registered_solver(ahead, along)) is not None:
        return own.direction(ahead, along)
    length = sqrt(plus(plus(times(along, along), times(ahead, ahead)), LEAST_DIVISOR))
    return Turn(over(along, length), over(ahead, length))


def turn_of(R: Rotation) -> Turn:
    """Angle of a rotation about z."""
    if (own := _registered_solver(R.y.x, R.x.x)) is not None:
        return own.direction(R.y.x, R.x.x)
    return Turn(R.x.x, R.y.x)


def pointed(K: Rotation, d: Vector3, w: Vector3, guess: Scalar) -> tuple[Turn, Turn, Scalar]:
    """Angles of two intersecting axes with Rz(θ₁) K Rz(θ₂) d = w (|d| = |w|), and the reach; guess : of θ₂"""
    k = K.z  # the first axis seen from behind K
    A = plus(times(k.x, d.x), times(k.y, d.y))
    B = minus(times(k.y, d.x), times(k.x, d.y))
    second, reach = turn(A, B, minus(w.z, times(k.z, d.z)), guess)
    return turn_between(K.act(second.rotation().act(d)), w), second, reach


def three_axis_angles(K: Rotation, M: Rotation, T: Rotation, guess: Scalar) -> tuple[Turn, Turn, Turn, Scalar]:
    """Angles with Rz(θ₁) K Rz(θ₂) M Rz(θ₃) = T, and the reach; guess : of θ₂"""
    first, second, reach = pointed(K, M.act(Z), T.act(Z), guess)
    before = first.rotation() @ K @ second.rotation() @ M
    return first, second, turn_of(before.transposed() @ T), reach


def swung(R: Rotation, d: Vector3, w: Vector3) -> Rotation:
    """Rotation nearest to R that maps the direction of d to that of w."""
    u, target = _unit(R.act(d)), _unit(w)
    k = u.cross(target)
    below = plus(1.0, u.dot(target))
    return _shortest_rotation(k, below) @ R


def quaternion_near(R: Rotation, guess: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Unit quaternion x, y, z, w of R with the sign nearest to a guess (less than half a turn away)."""
    length = sqrt(total(times(e, e) for e in guess))
    start = tuple(over(e, length) for e in guess)
    D = from_quaternion(start).transposed() @ R
    w = times(0.5, sqrt(apply("fmax", plus(1.0, total((D.x.x, D.y.y, D.z.z))), 1e-12)))
    scale = over(0.25, w)
    axial = (minus(D.z.y, D.y.z), minus(D.x.z, D.z.x), minus(D.y.x, D.x.y))
    return quaternion_product(start, (*(times(scale, e) for e in axial), w))


def _unit(v: Vector3) -> Vector3:
    return v.scaled(over(1.0, sqrt(plus(v.dot(v), LEAST_DIVISOR))))


def _shortest_rotation(k: Vector3, below: Scalar) -> Rotation:
    """Shortest rotation from u to w, 1 + [k]× + [k]×²/below with k = u × w and below = 1 + u · w."""
    below = apply("fmax", below, 1e-12)
    x, y, z = k
    xx, yy, zz = (over(times(e, e), below) for e in k)
    xy, xz, yz = over(times(x, y), below), over(times(x, z), below), over(times(y, z), below)
    return Rotation(
        Vector3(minus(1.0, plus(yy, zz)), minus(xy, z), plus(xz, y)),
        Vector3(plus(xy, z), minus(1.0, plus(xx, zz)), minus(yz, x)),
        Vector3(minus(xz, y), plus(yz, x), minus(1.0, plus(xx, yy))),
    )


def meeting(K: Rotation, p: Vector3) -> tuple[Scalar, Scalar]:
    """Intersection of two axes: its height on z, and on the z of a frame at p rotated by K."""
    u = K.act(Z)
    height = negated(over(plus(times(p.x, u.x), times(p.y, u.y)), plus(times(u.x, u.x), times(u.y, u.y))))
    return plus(p.z, times(height, u.z)), height
