"""Solutions of dyad chains: closed chains of few unknown joints, E_1 K_1 E_2 K_2 … E_n K_n = 1.

E_i are the unknown motions, about or along the z axes of the joints' frames; K_i the known poses behind the joints.
Every family takes the K_i and guesses, and gives the motions in the order of the chain: a `Turn`, a displacement (m) or
a rotation; and the least reach of its roots (see `dyads`). All follow the same plan (Paden and Kahan's decomposition,
in Murray, Li, Sastry 1994, 3.3):

1. One motion follows from a quantity that the others do not change: a distance of two points, or the height of a point
   over a plane. That is the subproblem with two roots; the guess chooses one.
2. The next motions follow from directions, once that one is known.
3. The last one takes what is left: E_n = (E_1 K_1 … K_{n−1})⁻¹ K_n⁻¹.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.constraints.closed_forms import dyads
from core.constraints.closed_forms.dyads import Turn
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar, apply, over, times
from core.numerics.spatial.vector import ZERO, Vector3, Z

Guess = Callable[[int], Any]
"""Function that returns the guess of the k-th motion of the chain: rad, m, or a rotation."""
Solution = tuple[list[Any], Scalar]


def pose_of(value: Any) -> Pose:
    """Pose that a joint value stands for."""
    if isinstance(value, Turn):
        return Pose(value.rotation(), ZERO)
    if isinstance(value, Rotation):
        return Pose(value, ZERO)
    return Pose(NO_ROTATION, Vector3(0.0, 0.0, value))


def _without_z(v: Vector3) -> Vector3:
    return Vector3(v.x, v.y, 0.0)


def _squared_norm(v: Vector3) -> Scalar:
    return v.dot(v)


def point_on_z(height: Scalar) -> Vector3:
    """Point at a given height on the z axis."""
    return Vector3(0.0, 0.0, height)


def _smallest_reach(*reaches: Scalar) -> Scalar:
    result = reaches[0]
    for reach in reaches[1:]:
        result = apply("fmin", result, reach)
    return result


def planar(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve RRR, PRR or RPP in a plane (RRP, RPR and PRR are one chain started at different joints)."""
    if kinds == "RPP":
        return _turn_and_slides(K)
    # the middle link's length, seen along the normal, is the distance of its ends: the first joint from that
    a, c, square = K[0].position, K[2].inverse().position, _squared_norm(_without_z(K[1].position))
    if kinds == "RRR":
        first, reach = dyads.turn_to_distance(_without_z(a), _without_z(c), square, guess(0))
    else:
        n = K[0].rotation.act(Z)
        a, flat_c = a - n.scaled(n.dot(a)), c - n.scaled(n.dot(c))
        first, reach = dyads.slide_to_distance(a, flat_c, square, guess(0))
    # the second points the middle link to where the third joint must be; the third takes the angle that is left
    before = pose_of(first) @ K[0]
    second = dyads.turn_between(K[1].position, before.inverse().point(c))
    there = before @ pose_of(second) @ K[1]
    last = dyads.turn_of(there.rotation.transposed() @ K[2].rotation.transposed())
    return [first, second, last], reach


def _turn_and_slides(K: Sequence[Pose]) -> Solution:
    # slides do not turn, so the angle is that of the known parts; then two equations for the lengths
    turn = dyads.turn_of((K[0].rotation @ K[1].rotation @ K[2].rotation).transposed())
    one = pose_of(turn) @ K[0]
    two = one @ K[1]
    d, e, b = one.rotation.act(Z), two.rotation.act(Z), -(two @ K[2]).position
    across = d.cross(e).z
    return [turn, over(b.cross(e).z, across), over(d.cross(b).z, across)], times(across, across)


def spherical(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve three revolutes with intersecting axes."""
    *turns, reach = dyads.three_axis_angles(K[0].rotation, K[1].rotation, K[2].rotation.transposed(), guess(1))
    return turns, reach


def rod(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve a revolute or prismatic joint with a rod between two ball joints; the rod's spin stays at its guess."""
    reachable = dyads.turn_to_distance if kinds[0] == "R" else dyads.slide_to_distance
    c = K[2].inverse().position
    # the joint from the rod's length, the first ball from the rod's direction, the second from what is left
    first, reach = reachable(K[0].position, c, _squared_norm(K[1].position), guess(0))
    before = pose_of(first) @ K[0]
    swing = dyads.swung(guess(1), K[1].position, before.inverse().point(c))
    there = before.rotation @ swing @ K[1].rotation
    return [first, swing, there.transposed() @ K[2].rotation.transposed()], reach


def massless(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve a revolute or prismatic joint with a massless rod between two points, of length `guess(1)`."""
    reachable = dyads.turn_to_distance if kinds[0] == "R" else dyads.slide_to_distance
    length = guess(1)
    first, reach = reachable(K[0].position, K[1].inverse().position, times(length, length), guess(0))
    return [first, None], reach


def wrist(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve two intersecting revolutes, a joint, and a ball joint: the joint from a distance, the revolutes from a
    direction, the ball from the remaining rotation."""
    height, behind = dyads.meeting(K[0].rotation, K[0].position)
    p, c = _ball_centre(kinds, K)
    hub, w = point_on_z(behind), c - point_on_z(height)
    reachable = dyads.turn_to_distance if kinds[2] == "R" else dyads.slide_to_distance
    # the first two joints keep the distance of the ball from where their axes meet (the hub): the third from that
    third, reach = reachable(p, K[1].inverse().point(hub), _squared_norm(w), guess(2))
    d = K[1].point(pose_of(third).point(p)) - hub
    first, second, pointing = dyads.pointed(K[0].rotation, d, w, guess(1))
    return _with_ball(kinds, K, [first, second, third], guess, _smallest_reach(reach, pointing))


def parallel(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve two parallel revolutes, a prismatic joint parallel to them, and a ball joint."""
    p, c = _ball_centre(kinds, K)
    slide = kinds[:3].index("P")
    one, two = (k for k in range(3) if k != slide)
    # seen along the axes the slide does nothing: `two` turns by a distance, then `one` by a direction
    K_a = (K[1], K[0] @ K[1], K[0])[slide]
    p_b = K[1].point(p) if slide == 2 else p
    target = _without_z(K[0].inverse().point(c) if slide == 0 else c)
    second, reach = dyads.turn_to_distance(
        _without_z(p_b), _without_z(K_a.inverse().position), _squared_norm(target), guess(two)
    )
    first = dyads.turn_between(K_a.point(second.rotation().act(p_b)), target)
    values: list[Any] = [0.0, 0.0, 0.0]
    values[one], values[two] = first, second
    before = NO_ROTATION
    for k in range(slide):
        before = before @ pose_of(values[k]).rotation @ K[k].rotation
    reached = (pose_of(values[0]) @ K[0] @ pose_of(values[1]) @ K[1] @ pose_of(values[2])).point(p)
    values[slide] = (c - reached).dot(before.act(Z))
    return _with_ball(kinds, K, values, guess, reach)


def _ball_centre(kinds: str, K: Sequence[Pose]) -> tuple[Vector3, Vector3]:
    """Centre of the ball after the third joint, and before the first."""
    if kinds[3:] == "S":
        return K[2].position, K[3].inverse().position
    enter, _ = dyads.meeting(K[3].rotation, K[3].position)
    _, leave = dyads.meeting(K[4].rotation, K[4].position)
    return K[2].point(point_on_z(enter)), K[5].inverse().point(point_on_z(leave))


def _with_ball(kinds: str, K: Sequence[Pose], values: list[Any], guess: Guess, reach: Scalar) -> Solution:
    """Values with the rotation of the ball joint added, or of the three revolutes equivalent to it."""
    R = NO_ROTATION
    for value, X in zip(values, K, strict=False):
        R = R @ pose_of(value).rotation @ X.rotation
    T = R.transposed() @ K[-1].rotation.transposed()
    if kinds[3:] == "S":
        return [*values, T], reach
    *turns, middle = dyads.three_axis_angles(K[3].rotation, K[4].rotation, T, guess(4))
    return [*values, *turns], _smallest_reach(reach, middle)


SOLVERS: dict[str, Callable[[str, Sequence[Pose], Guess], Solution]] = {
    "planar": planar,
    "spherical": spherical,
    "rod": rod,
    "wrist": wrist,
    "parallel": parallel,
    "massless": massless,
}
"""Solver of each family (`core.constraints.closed_forms.families`)."""


def guesses_of(family: str, kinds: str) -> frozenset[int]:
    """Indices of the motions of a chain whose guesses are needed."""
    ball = {4} if kinds[3:] == "RRR" else set()
    if family == "planar":
        return frozenset(() if kinds == "RPP" else (0,))
    if family == "wrist":
        return frozenset({1, 2} | ball)
    if family == "parallel":
        return frozenset({max(k for k in range(3) if kinds[k] == "R")} | ball)
    return frozenset({"spherical": (1,), "rod": (0, 1), "massless": (0, 1)}[family])
