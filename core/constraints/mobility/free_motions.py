"""Decomposition of a machine's free motions into motions that each move as few joints as possible.

A basis of the motions N with G N = 0 is searched among those of small support: for each joint in turn the others are
held, as long as the joint can still move. What only turns a body between two balls about its own line is found that
way as a motion of its own, an idle one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.constraint_rank import PositionConstraints, rank_from_singular_values
from core.later import dataclass
from core.numerics.rank import echelon_basis, pivot_columns

Array = NDArray[np.float64]

MOVES = 1e-7
"""Speed, relative to the largest (rad/s, or machine sizes per second), above which a joint counts as moving."""
NOISE = 1e-5
"""Relative speed below which a joint counts as at rest if speeds come from finite differences."""
STEP = 1e-4
"""Finite-difference step for the bodies' motion."""
TOGETHER = 64
"""Number of motions evaluated in one batch."""


@dataclass(frozen=True)
class FreeMotion:
    """A motion admitted by the constraints.

    speeds : (nv,) rad/s and m/s, the largest 1 in units of the machine; joints : those that move, and the largest
    speed of each (rad/s or m/s); idle : body that only spins about its own axis, moving nothing else, or ""
    alone : how a body that moves alone and without a joint does it, or ""
    """

    speeds: Array
    joints: tuple[tuple[str, float], ...]
    idle: str = ""
    alone: str = ""

    @property
    def text(self) -> str:
        """Description of the motion."""
        names = ", ".join(name for name, _ in self.joints[:6]) + (" …" if len(self.joints) > 6 else "")
        if self.idle:
            several = ", " in self.idle
            turn = "spin about their common axis" if several else "spins about its own axis"
            return f"{self.idle.replace(', ', ' and ')} {turn} (idle; {names})"
        if self.alone:
            return f"{names} {self.alone}"
        return f"{names} move{'s' if len(self.joints) == 1 else ' together'}"


def decompose_free_motions(constraints: PositionConstraints, q: Array, N: Array) -> tuple[FreeMotion, ...]:
    """Decompose the space N (nv, k) of `PositionConstraints.free_motions` into k motions of small support."""
    if not N.shape[1]:
        return ()
    blocks = _group_speeds_by_joint(constraints)
    scaled = N / constraints.speed_units[:, None]
    # a free body's turns are told apart from its shifts
    parts = [rows[at : at + 3] for rows in blocks.values() for at in range(0, len(rows), 3)]
    found = _sorted_by_joint_count(_find_motions_of_small_support(scaled, parts), list(blocks.values()))
    motions = _describe_motions(
        constraints, q, _first_independent([*found, *scaled.T], N.shape[1]) * constraints.speed_units, blocks
    )
    listed = {name: place for place, name in enumerate(constraints.compiled.joint_names)}
    return tuple(sorted(motions, key=lambda motion: (bool(motion.idle), [listed[name] for name, _ in motion.joints])))


def _find_motions_of_small_support(scaled: Array, parts: Sequence[list[int]]) -> list[Array]:
    """Motions of small support, one for each part that can move."""
    if scaled.shape[1] == 1:
        return [_scale_to_largest(scaled[:, 0])]
    order = [row for part in parts for row in part]
    columns = np.zeros_like(scaled)
    columns[order] = echelon_basis(scaled[order], MOVES)
    columns[np.abs(columns) < MOVES] = 0.0
    result: dict[int, list[Array]] = {}
    for own in _independent_column_groups(columns, parts):
        moving = [k for k, part in enumerate(parts) if columns[part][:, own].any()]
        if all(len(parts[k]) == 1 for k in moving):
            # to hold others one after another as long as it moves is to leave free the last column that moves it
            for k in moving:
                v = columns[:, own[np.flatnonzero(columns[parts[k][0], own])[-1]]]
                result[k] = [_scale_to_largest(v)]
            continue
        space = np.linalg.qr(columns[:, own])[0]
        for k in range(len(moving)):
            result[moving[k]] = _find_motions_of_part(space, [parts[each] for each in moving], k)
    return [v for k in sorted(result) for v in result[k]]


def _independent_column_groups(columns: Array, parts: Sequence[list[int]]) -> list[NDArray[np.int64]]:
    """Groups of columns that have no moving part in common."""
    groups = np.arange(columns.shape[1])
    members = {k: [k] for k in range(len(groups))}
    for part in parts:
        together = np.unique(groups[columns[part].any(axis=0)])
        for group in together[1:].tolist():
            groups[members[group]] = together[0]
            members[int(together[0])] += members.pop(group)
    return [np.array(sorted(own), dtype=np.int64) for own in members.values()]


def _scale_to_largest(v: Array) -> Array:
    """The motion in units of its largest speed, with rounding error set to zero."""
    v = np.where(np.abs(v) > MOVES * np.max(np.abs(v)), v, 0.0)
    return np.asarray(v / v[np.argmax(np.abs(v))])


def _first_independent(motions: Sequence[Array], count: int) -> Array:
    """(count, nv) the first motions that are linearly independent."""
    chosen: list[Array] = []
    along = np.zeros((count, len(motions[0])))
    for v in motions:
        if len(chosen) == count:
            break
        rest, basis = v, along[: len(chosen)]
        for _ in range(2):
            rest = rest - (basis @ rest) @ basis
        length = float(np.linalg.norm(rest))
        if length > 1e-6 * np.linalg.norm(v):
            along[len(chosen)] = rest / length
            chosen.append(v)
    return np.array(chosen)


def _sorted_by_joint_count(motions: Sequence[Array], blocks: Sequence[list[int]]) -> list[Array]:
    """Motions sorted by the number of joints (blocks of speeds) they move."""
    starts = np.cumsum([0, *map(len, blocks)])[:-1]
    speeds = np.abs(np.array(motions))[:, [k for block in blocks for k in block]]
    count = np.count_nonzero(np.maximum.reduceat(speeds, starts, axis=1) > MOVES, axis=1)
    return [motions[k] for k in np.argsort(count, kind="stable")]


def _group_speeds_by_joint(constraints: PositionConstraints) -> dict[str, list[int]]:
    """Joint → its speeds: joints with one speed first, among them those connected to the ground, then in the order of
    the document."""
    compiled = constraints.compiled
    slices = {c.joint: compiled.joint_v(c.joint) for c in compiled.coordinates.table}
    blocks = {name: list(range(at.start, at.stop)) for name, at in slices.items()}
    carriers = compiled.topology.carriers
    joints = {joint.name: joint for joint in compiled.model.expanded.joints}

    def is_between_bodies(name: str) -> bool:
        joint = joints.get(name)
        return joint is not None and "world" not in (carriers[joint.parent], carriers[joint.child])

    return dict(sorted(blocks.items(), key=lambda item: (len(item[1]), is_between_bodies(item[0]))))


def _find_motions_of_part(scaled: Array, parts: Sequence[list[int]], moving_part: int) -> list[Array]:
    """Motions in which the chosen part moves, along a single one of its speeds if possible, and as many others as
    possible are at rest; none if it cannot move."""
    rows, space = parts[moving_part], scaled
    if not np.any(np.abs(space[rows]) > MOVES):
        return []
    for k, other in enumerate(parts):
        if space.shape[1] == 1:
            break
        if k == moving_part:
            continue
        _, sigma, vt = np.linalg.svd(space[other])
        held = space @ vt[_numerical_rank(sigma) :].T
        if held.shape[1] and np.max(np.abs(held[rows])) > 1e-6:
            space = held
    _, sigma, vt = np.linalg.svd(space[rows])
    moving = space @ vt[: _numerical_rank(sigma)].T
    independent = pivot_columns(moving[rows].T, moving.shape[1])
    result = []
    for v in (moving @ np.linalg.inv(moving[rows][independent])).T:
        result.append(_scale_to_largest(v))
    return result


def _numerical_rank(sigma: Array) -> int:
    return rank_from_singular_values(sigma) if len(sigma) and sigma[0] > MOVES else 0


def _describe_motions(
    constraints: PositionConstraints, q: Array, motions: Array, blocks: dict[str, list[int]]
) -> list[FreeMotion]:
    compiled = constraints.compiled
    count = {joint.name: joint.info.nv for joint in compiled.model.expanded.joints}
    listed = sorted(compiled.joint_names, key=lambda name: count.get(name, 6) > 1)  # what a person drives comes first
    places = {name: place for place, name in enumerate(listed)}
    alone = {joint.name for joint in compiled.implicit_joints}
    result = []
    for first in range(0, len(motions), TOGETHER):
        some = motions[first : first + TOGETHER]
        of_cuts = _cut_joint_speeds(constraints, q, some)
        speeds = [
            _largest_speeds(v, constraints.speed_units, blocks) | cuts for v, cuts in zip(some, of_cuts, strict=True)
        ]
        several = [len(each) > 1 for each in speeds]
        idle = iter(_idle_bodies(constraints, q, some[several]) if any(several) else [])
        for v, own, more in zip(some, speeds, several, strict=True):
            joints = tuple((name, own[name]) for name in sorted(own, key=places.__getitem__))
            free = len(joints) == 1 and joints[0][0] in alone
            how = _free_body_text(constraints, q, v, joints[0][0]) if free else ""
            result.append(FreeMotion(v, joints, next(idle) if more else "", how))
    return result


def _largest_speeds(v: Array, units: Array, blocks: dict[str, list[int]]) -> dict[str, float]:
    """Largest speed of each tree joint that moves."""
    moving = {name: rows for name, rows in blocks.items() if v[rows].any()}
    return {
        name: float(np.max(np.abs(v[rows])))
        for name, rows in moving.items()
        if np.max(np.abs(v[rows] / units[rows])) > MOVES
    }


def _free_body_text(constraints: PositionConstraints, q: Array, v: Array, body: str) -> str:
    """Description of the motion of a free body: translation, rotation or screw, with its world direction."""
    R = constraints.compiled.call("poses", q, p=constraints.p)[constraints.compiled.frame_names.index(body)][:3, :3]
    turn, shift = (R @ part for part in v[constraints.compiled.joint_v(body)].reshape(2, 3))
    if np.linalg.norm(turn) < MOVES:
        return f"translates along {_direction_text(shift)}"
    pitch = float(turn @ shift) / float(turn @ turn)
    return f"{'rotates' if abs(pitch) < NOISE * constraints.size else 'screws'} about {_direction_text(turn)}"


def _direction_text(vector: Array) -> str:
    """Direction as text: "z", "−z" or "(0.6, 0.8, 0)"."""
    unit = vector / np.linalg.norm(vector)
    k = int(np.argmax(np.abs(unit)))
    if abs(unit[k]) > 1.0 - NOISE:
        return f"{'' if unit[k] > 0.0 else '−'}{'xyz'[k]}"
    return "({:.3g}, {:.3g}, {:.3g})".format(*(round(float(x), 6) + 0.0 for x in unit))


def _cut_joint_speeds(constraints: PositionConstraints, q: Array, motions: Array) -> list[dict[str, float]]:
    """Speeds (rad/s, or m/s) of the loop-closing joints that move, for each of the motions (n, nv)."""
    compiled = constraints.compiled
    if not compiled.cuts:
        return [{}] * len(motions)
    index = [compiled.program.joint_index[joint.name] for joint in compiled.cuts]
    sides = [
        compiled.call("joint_poses", at, p=constraints.p)[:, index]
        for at in _neighbouring_poses(constraints, q, motions)
    ]
    ahead, behind = (np.linalg.inv(pair[:, :, 0]) @ pair[:, :, 1] for pair in sides)
    rates = (ahead - behind) / (2.0 * STEP)
    turns = np.linalg.norm(rates[..., :3, :3], axis=(-2, -1)) / np.sqrt(2.0)
    shifts = np.linalg.norm(rates[..., :3, 3], axis=-1)
    moving = np.maximum(turns, shifts / constraints.size) > NOISE
    speeds = np.where(turns > NOISE, turns, shifts)
    return [
        {compiled.cuts[k].name: float(own[k]) for k in np.flatnonzero(flags)}
        for own, flags in zip(speeds, moving, strict=True)
    ]


def _neighbouring_poses(constraints: PositionConstraints, q: Array, motions: Array) -> tuple[Array, Array]:
    """Poses (n, nq) one step ahead along each motion (n, nv), and one step behind."""
    there = np.broadcast_to(q, (len(motions), len(q)))
    ahead, behind = (constraints.compiled.coordinates.integrate(there, motions, dt) for dt in (STEP, -STEP))
    return ahead, behind


def _idle_bodies(constraints: PositionConstraints, q: Array, motions: Array) -> list[str]:
    """For each of the motions (n, nv), the body (or bodies) of a loop that only spins, as one, about a fixed line."""
    compiled = constraints.compiled
    names = [body.name for body in compiled.model.expanded.bodies]
    ahead, behind = (
        compiled.call("poses", at, p=constraints.p)[:, : len(names)]
        for at in _neighbouring_poses(constraints, q, motions)
    )
    rates = (ahead - behind) / (2.0 * STEP)
    here = compiled.call("poses", q, p=constraints.p)[: len(names)]
    spins = rates[..., :3, :3] @ np.swapaxes(here[:, :3, :3], -1, -2)
    turns = np.stack([spins[..., 2, 1], spins[..., 0, 2], spins[..., 1, 0]], axis=-1)
    # velocity of the point at the world's origin
    shifts = (rates[..., :3, 3] - np.cross(turns, here[:, :3, 3])) / constraints.size
    return [_spinning_bodies(names, twists) for twists in np.concatenate([turns, shifts], axis=-1)]


def _spinning_bodies(names: Sequence[str], twists: Array) -> str:
    """Names of the bodies that rotate, provided that all moving bodies rotate as one; twists : (bodies, 6) [ω; v per
    size]"""
    moving = np.flatnonzero(np.max(np.abs(twists), axis=1) > NOISE)
    if not len(moving) or len(moving) == len(names) > 1:
        return ""
    first = twists[moving[0]]
    alike = bool(np.max(np.abs(twists[moving] - first)) < NOISE)
    turning = bool(np.linalg.norm(first[:3]) > NOISE) and abs(float(first[:3] @ first[3:])) < NOISE
    return ", ".join(names[i] for i in moving.tolist()) if alike and turning else ""
