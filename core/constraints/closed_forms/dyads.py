"""Solutions of dyad chains: closed chains of few unknown joints, E_1 K_1 E_2 K_2 … E_n K_n = 1.

E_i are the unknown motions, about or along the z axes of the joints' frames; K_i the known poses behind the joints.
Every family takes the K_i and guesses, and gives the motions in the order of the chain: a `Turn`, a displacement (m) or
a rotation; and the least reach of its roots. All follow the same plan (Paden and Kahan's decomposition, in Murray, Li,
Sastry 1994, 3.3):

1. One motion follows from a quantity that the others do not change: a distance of two points, or the height of a point
   over a plane. That is the subproblem with two roots; the guess chooses one.
2. The next motions follow from directions, once that one is known.
3. The last one takes what is left: E_n = (E_1 K_1 … K_{n−1})⁻¹ K_n⁻¹.

Each subproblem has one unknown joint, or two or three whose axes meet, about or along z of their own frames
(Paden and Kahan's subproblems, 3.2; Kecskeméthy's characteristic measurements). A root is chosen by a guess: the one on
the guess's side of the pose in which both roots are one. The `reach` of a root is negative where no root exists; the
formulas then give the nearest pose. All of them go back to A cos q + B sin q = C (`turn`) or to a quadratic equation
(`solve_slide_for_distance`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.rotation import Rotation, from_quaternion, quaternion_product
from core.numerics.spatial.scalar import Scalar, apply, cos, minus, negated, over, plus, side, sin, sqrt, times, total
from core.numerics.spatial.vector import ZERO, Vector3, Z

LEAST_DIVISOR = 1e-200
"""Small number added to divisors (squares), so that quotients stay finite even where they are meaningless and unused.
"""


OPEN_TURN_TOLERANCE = 1e-9
"""Sine of the angle between a direction and an axis below which a turn about the axis counts as open."""


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

    def nearest_angle(self, guess: Scalar) -> Scalar:
        """The angle (rad) within half a turn of the guess, so that whole turns are preserved."""
        c, s = cos(guess), sin(guess)
        ahead = minus(times(self.sine, c), times(self.cosine, s))
        along = plus(times(self.cosine, c), times(self.sine, s))
        return plus(guess, apply("atan2", ahead, along))


class Root(NamedTuple):
    """A selected root and its margin `reach` ≤ 1, which is 0 at a double root and negative if there is no root."""

    value: Scalar
    """A `Turn`, or a displacement, m."""
    reach: Scalar


class ChosenSide(NamedTuple):
    """A guess that names the side of a root, instead of a value on that side: 1 or −1."""

    sign: float


class SubproblemSolver(Protocol):
    """Solver of the subproblems for a special kind of scalars, such as symbols, which introduces names for roots and
    directions."""

    def turn(self, A: Scalar, B: Scalar, C: Scalar, guess: Scalar) -> Root:
        """The angle with A cos q + B sin q = C."""

    def slide(self, w: Vector3, square: Scalar, guess: Scalar) -> Root:
        """The displacement s with |w + s z|² = square."""

    def direction(self, ahead: Scalar, along: Scalar) -> Turn:
        """The angle whose sine and cosine are in the ratio `ahead` : `along`."""


_answers: dict[type, Callable[[Any], SubproblemSolver]] = {}


def register_subproblem_solver(kind: type, factory: Callable[[Any], SubproblemSolver]) -> None:
    """Register a solver of the subproblems for a kind of scalars."""
    _answers[kind] = factory


def _registered_solver(*scalars: Scalar) -> SubproblemSolver | None:
    """Registered solver for these scalars; None if the formulas of this module apply."""
    for x in scalars:
        of = _answers.get(type(x))
        if of is not None:
            return of(x)
    return None


def solve_angle(A: Scalar, B: Scalar, C: Scalar, guess: Scalar) -> Root:
    """Solve A cos q + B sin q = C for the angle: q = α ± β with r cos α = A, r sin α = B, r cos β = C; sin²β is the
    reach.

    guess : rad, its side is the sign of sin(guess − α); or that sign, as a `ChosenSide`
    """
    if (own := _registered_solver(A, B, C, guess)) is not None:
        return own.turn(A, B, C, guess)
    r2 = plus(plus(times(A, A), times(B, B)), LEAST_DIVISOR)
    w2 = minus(r2, times(C, C))
    sign = guess.sign if isinstance(guess, ChosenSide) else side(minus(times(A, sin(guess)), times(B, cos(guess))))
    w = times(sign, sqrt(apply("fmax", w2, 0.0)))
    cosine = over(minus(times(A, C), times(B, w)), r2)
    sine = over(plus(times(B, C), times(A, w)), r2)
    return Root(Turn(cosine, sine), over(w2, r2))


def solve_angle_for_distance(a: Vector3, c: Vector3, square: Scalar, guess: Scalar) -> Root:
    """Rotation about z that brings point a to a given distance from point c; square : of the distance, m²"""
    # |R a − c|² = a² + c² − 2 c · R a
    A = plus(times(c.x, a.x), times(c.y, a.y))
    B = minus(times(c.y, a.x), times(c.x, a.y))
    half = times(0.5, minus(plus(a.dot(a), c.dot(c)), square))
    return solve_angle(A, B, minus(half, times(c.z, a.z)), guess)


def solve_slide_for_distance(a: Vector3, c: Vector3, square: Scalar, guess: Scalar) -> Root:
    """Displacement along z that brings point a to a given distance from point c."""
    # s² + 2 s w_z + w² − L² = 0 with w = a − c
    w = a - c
    if (own := _registered_solver(*w, square, guess)) is not None:
        return own.slide(w, square, guess)
    across = plus(times(w.x, w.x), times(w.y, w.y))
    root2 = minus(square, across)
    sign = guess.sign if isinstance(guess, ChosenSide) else side(plus(guess, w.z))
    root = times(sign, sqrt(apply("fmax", root2, 0.0)))
    return Root(minus(root, w.z), over(root2, plus(square, LEAST_DIVISOR)))


def angle_between(a: Vector3, c: Vector3, open_turn: Turn | None = None) -> Turn:
    """Rotation about z that aligns a with c; z components are ignored.

    open_turn : the angle where one of them is along z, so that every angle aligns them
    """
    along = plus(times(a.x, c.x), times(a.y, c.y))
    ahead = minus(times(a.x, c.y), times(a.y, c.x))
    if (own := _registered_solver(ahead, along)) is not None:
        return own.direction(ahead, along)
    square = plus(times(along, along), times(ahead, ahead))
    length = sqrt(plus(square, LEAST_DIVISOR))
    turn = Turn(over(along, length), over(ahead, length))
    if open_turn is None:
        return turn
    least = times(OPEN_TURN_TOLERANCE**4, times(a.dot(a), c.dot(c)))
    return _turn_if(apply("gt", square, least), turn, open_turn)


def _turn_if(is_known: Scalar, turn: Turn, otherwise: Turn) -> Turn:
    return Turn(*(apply("if_else", is_known, own, other) for own, other in zip(turn, otherwise, strict=True)))


def angle_about_z(R: Rotation) -> Turn:
    """Angle of a rotation about z."""
    if (own := _registered_solver(R.y.x, R.x.x)) is not None:
        return own.direction(R.y.x, R.x.x)
    return Turn(R.x.x, R.y.x)


def solve_pointing_angles(
    fixed_rotation: Rotation, direction: Vector3, target: Vector3, guess: Scalar, open_turn: Turn | None = None
) -> tuple[Turn, Turn, Scalar]:
    """Solve Rz(θ₁) K Rz(θ₂) d = w (fixed rotation K, direction d, target w, |d| = |w|) for the angles of two
    intersecting axes; return both and the reach. guess : of θ₂; open_turn : θ₁ where w is along its axis"""
    k = fixed_rotation.z  # the first axis seen from behind K
    A = plus(times(k.x, direction.x), times(k.y, direction.y))
    B = minus(times(k.y, direction.x), times(k.x, direction.y))
    second, reach = solve_angle(A, B, minus(target.z, times(k.z, direction.z)), guess)
    return angle_between(fixed_rotation.act(second.rotation().act(direction)), target, open_turn), second, reach


def solve_three_axis_angles(
    K: Rotation, M: Rotation, T: Rotation, guess: Scalar, open_turn: Turn | None = None
) -> tuple[Turn, Turn, Turn, Scalar]:
    """Solve Rz(θ₁) K Rz(θ₂) M Rz(θ₃) = T for the three angles; return them and the reach.

    guess : of θ₂; open_turn : θ₁ where the first and third axes are aligned, so that only their sum is determined
    """
    first, second, reach = solve_pointing_angles(K, M.act(Z), T.act(Z), guess, open_turn)
    before = first.rotation() @ K @ second.rotation() @ M
    return first, second, angle_about_z(before.transposed() @ T), reach


def align_direction(R: Rotation, direction: Vector3, target_direction: Vector3) -> Rotation:
    """Return the rotation nearest to R that maps the given direction to that of the target."""
    u, target = _unit_vector(R.act(direction)), _unit_vector(target_direction)
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


def _unit_vector(v: Vector3) -> Vector3:
    return v.scaled(over(1.0, sqrt(plus(v.dot(v), LEAST_DIVISOR))))


def _shortest_rotation(k: Vector3, one_plus_cosine: Scalar) -> Rotation:
    """Shortest rotation from u to w, 1 + [k]× + [k]×²/below with k = u × w and below = 1 + u · w."""
    one_plus_cosine = apply("fmax", one_plus_cosine, 1e-12)
    x, y, z = k
    xx, yy, zz = (over(times(e, e), one_plus_cosine) for e in k)
    xy, xz, yz = (
        over(times(x, y), one_plus_cosine),
        over(times(x, z), one_plus_cosine),
        over(times(y, z), one_plus_cosine),
    )
    return Rotation(
        Vector3(minus(1.0, plus(yy, zz)), minus(xy, z), plus(xz, y)),
        Vector3(plus(xy, z), minus(1.0, plus(xx, zz)), minus(yz, x)),
        Vector3(minus(xz, y), plus(yz, x), minus(1.0, plus(xx, yy))),
    )


def axis_intersection_heights(K: Rotation, p: Vector3) -> tuple[Scalar, Scalar]:
    """Heights of the intersection of two axes: on z, and on the z axis of a frame at p rotated by K."""
    u = K.act(Z)
    height = negated(over(plus(times(p.x, u.x), times(p.y, u.y)), plus(times(u.x, u.x), times(u.y, u.y))))
    return plus(p.z, times(height, u.z)), height


Guess = Callable[[int], Any]
"""Function that returns the guess of the k-th motion of the chain: rad, m, or a rotation."""
Solution = tuple[list[Any], Scalar]
OpenTurns = Sequence[Turn] | None
"""Angles that the revolutes of a chain take where its equations leave them open (aligned axes); None: not treated."""


def pose_from_joint_value(value: Any) -> Pose:
    """Pose given by a joint value."""
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


def solve_planar_chain(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve RRR, PRR or RPP in a plane (RRP, RPR and PRR are one chain started at different joints)."""
    if kinds == "RPP":
        return _solve_turn_and_slides(K)
    # the middle link's length, seen along the normal, is the distance of its ends: the first joint from that
    a, c, square = K[0].position, K[2].inverse().position, _squared_norm(_without_z(K[1].position))
    if kinds == "RRR":
        first, reach = solve_angle_for_distance(_without_z(a), _without_z(c), square, guess(0))
    else:
        n = K[0].rotation.act(Z)
        a, flat_c = a - n.scaled(n.dot(a)), c - n.scaled(n.dot(c))
        first, reach = solve_slide_for_distance(a, flat_c, square, guess(0))
    # the second points the middle link to where the third joint must be; the third takes the angle that is left
    before = pose_from_joint_value(first) @ K[0]
    second = angle_between(K[1].position, before.inverse().point(c))
    there = before @ pose_from_joint_value(second) @ K[1]
    last = angle_about_z(there.rotation.transposed() @ K[2].rotation.transposed())
    return [first, second, last], reach


def _solve_turn_and_slides(K: Sequence[Pose]) -> Solution:
    # slides do not turn, so the angle is that of the known parts; then two equations for the lengths
    turn = angle_about_z((K[0].rotation @ K[1].rotation @ K[2].rotation).transposed())
    one = pose_from_joint_value(turn) @ K[0]
    two = one @ K[1]
    d, e, b = one.rotation.act(Z), two.rotation.act(Z), -(two @ K[2]).position
    across = d.cross(e).z
    return [turn, over(b.cross(e).z, across), over(d.cross(b).z, across)], times(across, across)


def solve_spherical_chain(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve three revolutes with intersecting axes."""
    *turns, reach = solve_three_axis_angles(K[0].rotation, K[1].rotation, K[2].rotation.transposed(), guess(1))
    return turns, reach


def solve_rod_chain(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve a revolute or prismatic joint with a rod between two ball joints; the rod's spin stays at its guess."""
    reachable = solve_angle_for_distance if kinds[0] == "R" else solve_slide_for_distance
    c = K[2].inverse().position
    # the joint from the rod's length, the first ball from the rod's direction, the second from what is left
    first, reach = reachable(K[0].position, c, _squared_norm(K[1].position), guess(0))
    before = pose_from_joint_value(first) @ K[0]
    swing = align_direction(guess(1), K[1].position, before.inverse().point(c))
    there = before.rotation @ swing @ K[1].rotation
    return [first, swing, there.transposed() @ K[2].rotation.transposed()], reach


def solve_massless_rod_chain(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve a revolute or prismatic joint with a massless rod between two points, of length `guess(1)`."""
    reachable = solve_angle_for_distance if kinds[0] == "R" else solve_slide_for_distance
    length = guess(1)
    first, reach = reachable(K[0].position, K[1].inverse().position, times(length, length), guess(0))
    return [first, None], reach


def solve_wrist_chain(kinds: str, K: Sequence[Pose], guess: Guess, open_turns: OpenTurns = None) -> Solution:
    """Solve two intersecting revolutes, a joint, and a ball joint: the joint from a distance, the revolutes from a
    direction, the ball from the remaining rotation."""
    height, behind = axis_intersection_heights(K[0].rotation, K[0].position)
    p, c = _ball_joint_centres(kinds, K)
    hub, w = point_on_z(behind), c - point_on_z(height)
    reachable = solve_angle_for_distance if kinds[2] == "R" else solve_slide_for_distance
    # the first two joints keep the distance of the ball from where their axes meet (the hub): the third from that
    third, reach = reachable(p, K[1].inverse().point(hub), _squared_norm(w), guess(2))
    d = K[1].point(pose_from_joint_value(third).point(p)) - hub
    first, second, pointing = solve_pointing_angles(
        K[0].rotation, d, w, guess(1), open_turns[0] if open_turns else None
    )
    return _add_ball_rotation(kinds, K, [first, second, third], guess, _smallest_reach(reach, pointing), open_turns)


def solve_parallel_chain(kinds: str, K: Sequence[Pose], guess: Guess) -> Solution:
    """Solve two parallel revolutes, a prismatic joint parallel to them, and a ball joint."""
    p, c = _ball_joint_centres(kinds, K)
    slide = kinds[:3].index("P")
    one, two = (k for k in range(3) if k != slide)
    # seen along the axes the slide does nothing: `two` turns by a distance, then `one` by a direction
    K_a = (K[1], K[0] @ K[1], K[0])[slide]
    p_b = K[1].point(p) if slide == 2 else p
    target = _without_z(K[0].inverse().point(c) if slide == 0 else c)
    second, reach = solve_angle_for_distance(
        _without_z(p_b), _without_z(K_a.inverse().position), _squared_norm(target), guess(two)
    )
    first = angle_between(K_a.point(second.rotation().act(p_b)), target)
    values: list[Any] = [0.0, 0.0, 0.0]
    values[one], values[two] = first, second
    before = NO_ROTATION
    for k in range(slide):
        before = before @ pose_from_joint_value(values[k]).rotation @ K[k].rotation
    reached = (
        pose_from_joint_value(values[0])
        @ K[0]
        @ pose_from_joint_value(values[1])
        @ K[1]
        @ pose_from_joint_value(values[2])
    ).point(p)
    values[slide] = (c - reached).dot(before.act(Z))
    return _add_ball_rotation(kinds, K, values, guess, reach)


def _ball_joint_centres(kinds: str, K: Sequence[Pose]) -> tuple[Vector3, Vector3]:
    """Centre of the ball after the third joint, and before the first."""
    if kinds[3:] == "S":
        return K[2].position, K[3].inverse().position
    enter, _ = axis_intersection_heights(K[3].rotation, K[3].position)
    _, leave = axis_intersection_heights(K[4].rotation, K[4].position)
    return K[2].point(point_on_z(enter)), K[5].inverse().point(point_on_z(leave))


def _add_ball_rotation(
    kinds: str, K: Sequence[Pose], values: list[Any], guess: Guess, reach: Scalar, open_turns: OpenTurns = None
) -> Solution:
    """Values with the rotation of the ball joint added, or of the three revolutes equivalent to it."""
    R = NO_ROTATION
    for value, X in zip(values, K, strict=False):
        R = R @ pose_from_joint_value(value).rotation @ X.rotation
    T = R.transposed() @ K[-1].rotation.transposed()
    if kinds[3:] == "S":
        return [*values, T], reach
    *turns, middle = solve_three_axis_angles(
        K[3].rotation, K[4].rotation, T, guess(4), open_turns[3] if open_turns else None
    )
    return [*values, *turns], _smallest_reach(reach, middle)


def solve_level_angle(K: Pose, c: Vector3, height: Scalar, guess: Scalar, open_turn: Turn) -> Root:
    """Solve n · (Rz(−θ) c − p) = height for the angle, with n the z axis and p the position of K: the height of a point
    over the plane through the next joint is kept by all joints parallel to it.

    open_turn : the angle where the point is on the first axis, so that its height is the same at all angles
    """
    n = K.rotation.act(Z)
    A = plus(times(n.x, c.x), times(n.y, c.y))
    B = minus(times(n.x, c.y), times(n.y, c.x))
    turn, reach = solve_angle(A, B, minus(plus(height, n.dot(K.position)), times(n.z, c.z)), guess)
    size = plus(plus(c.dot(c), K.position.dot(K.position)), times(height, height))
    is_known = apply("gt", plus(times(A, A), times(B, B)), times(OPEN_TURN_TOLERANCE**2, size))
    return Root(_turn_if(is_known, turn, open_turn), apply("if_else", is_known, reach, 1.0))


def solve_elbow_chain(kinds: str, K: Sequence[Pose], guess: Guess, open_turns: Sequence[Turn]) -> Solution:
    """Solve a revolute, two parallel revolutes (z axes in the same direction), and three that meet in a point: the
    first from the height of that point along the parallel axes, the third from a distance, the second from a
    direction."""
    p, c = _ball_joint_centres(kinds, K)
    first, level = solve_level_angle(K[0], c, plus(K[1].position.z, p.z), guess(0), open_turns[0])
    ahead = (pose_from_joint_value(first) @ K[0]).inverse().point(c)
    third, reach = solve_angle_for_distance(
        _without_z(p), _without_z(K[1].inverse().position), _squared_norm(_without_z(ahead)), guess(2)
    )
    second = angle_between(K[1].point(third.rotation().act(p)), ahead, open_turns[1])
    return _add_ball_rotation(kinds, K, [first, second, third], guess, _smallest_reach(level, reach), open_turns)


def solve_three_parallel_chain(kinds: str, K: Sequence[Pose], guess: Guess, open_turns: Sequence[Turn]) -> Solution:
    """Solve a revolute, three parallel ones (z axes in the same direction), and two that meet: the first from the
    height of their meeting point along the parallel axes, the last two and the sum of the parallel angles from the
    orientation, the parallel ones as a planar chain."""
    enter, leave = axis_intersection_heights(K[4].rotation, K[4].position)
    back = K[5].inverse()
    height = plus(plus(K[1].position.z, K[2].position.z), K[3].point(point_on_z(enter)).z)
    first, level = solve_level_angle(K[0], back.point(point_on_z(leave)), height, guess(0), open_turns[0])
    B = (pose_from_joint_value(first) @ K[0]).rotation.transposed() @ back.rotation
    turned = NO_ROTATION
    for k in (1, 2, 3):
        turned = turned @ open_turns[k].rotation() @ (K[k].rotation if k < 3 else NO_ROTATION)
    _, fifth, sixth, middle = solve_three_axis_angles(K[3].rotation, K[4].rotation, B, guess(4), angle_about_z(turned))
    there = K[3] @ pose_from_joint_value(fifth) @ K[4] @ pose_from_joint_value(sixth) @ K[5]
    parallel, reach = solve_planar_chain(
        "RRR", [K[1], K[2], there @ pose_from_joint_value(first) @ K[0]], lambda k: guess(k + 1)
    )
    return [first, *parallel, fifth, sixth], _smallest_reach(level, middle, reach)


def solve_cylindrical_chain(kinds: str, K: Sequence[Pose], guess: Guess, open_turns: Sequence[Turn]) -> Solution:
    """Solve three parallel revolutes and a slide along them, in any order: the revolutes as a planar chain, the slide
    from the height that is left. Whether the last pose is turned about the axes only is for the caller to check."""
    slide = kinds.index("P")
    one, two, three = order = [(slide + k) % 4 for k in (1, 2, 3)]  # a chain may begin at any of its joints
    turns, reach = solve_planar_chain("RRR", [K[one], K[two], K[three] @ K[slide]], lambda k: guess(order[k]))
    before = K[slide]
    for k, turn in zip(order, turns, strict=True):
        before = before @ pose_from_joint_value(turn) @ K[k]
    values = dict(zip(order, turns, strict=True)) | {slide: before.inverse().position.z}
    return [values[k] for k in range(4)], reach


SOLVERS: dict[str, Callable[[str, Sequence[Pose], Guess], Solution]] = {
    "planar": solve_planar_chain,
    "spherical": solve_spherical_chain,
    "rod": solve_rod_chain,
    "wrist": solve_wrist_chain,
    "parallel": solve_parallel_chain,
    "massless": solve_massless_rod_chain,
}
"""Solver of each family (`core.constraints.closed_forms.families`)."""


def required_guesses(family: str, kinds: str) -> frozenset[int]:
    """Indices of the motions of a chain whose guesses are needed."""
    ball = {4} if kinds[3:] == "RRR" else set()
    if family == "planar":
        return frozenset(() if kinds == "RPP" else (0,))
    if family == "wrist":
        return frozenset({1, 2} | ball)
    if family == "parallel":
        return frozenset({max(k for k in range(3) if kinds[k] == "R")} | ball)
    return frozenset({"spherical": (1,), "rod": (0, 1), "massless": (0, 1)}[family])
