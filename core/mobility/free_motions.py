"""The free motions of a machine, told apart so that each moves as few joints as possible.

A basis of the motions N with G N = 0 is searched among those of small support: for each joint in turn the others are
held, as long as the joint can still move. What only turns a body between two balls about its own line is found that
way as a motion of its own, an idle one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.mobility.constraint_rank import PositionConstraints, rank_of
from core.numerics.rank import pivots

Array = NDArray[np.float64]

MOVES = 1e-7
"""Part of the largest speed (rad/s, or machine sizes per second) below which a joint counts as still."""
NOISE = 1e-5
"""The same for speeds told from differences."""
STEP = 1e-4
"""Step of the difference from which the bodies' motion is told."""


@dataclass(frozen=True)
class FreeMotion:
    """A motion that the constraints allow.

    speeds : (nv,) rad/s and m/s, the largest 1 in units of the machine; joints : those that move, and the largest
    speed of each (rad/s or m/s); idle : body that only turns about its own line, moving nothing else, or ""
    alone : how a body that moves alone and without a joint does it, or ""
    """

    speeds: Array
    joints: tuple[tuple[str, float], ...]
    idle: str = ""
    alone: str = ""

    @property
    def text(self) -> str:
        """In words."""
        names = ", ".join(name for name, _ in self.joints[:6]) + (" …" if len(self.joints) > 6 else "")
        if self.idle:
            several = ", " in self.idle
            turn = "turn about their common line" if several else "turns about its own line"
            return f"{self.idle.replace(', ', ' and ')} {turn} (idle; {names})"
        if self.alone:
            return f"{names} {self.alone}"
        return f"{names} move{'s' if len(self.joints) == 1 else ' together'}"


def free_motions(constraints: PositionConstraints, q: Array, N: Array) -> tuple[FreeMotion, ...]:
    """N (nv, k) of `PositionConstraints.motions` as k motions of small support."""
    blocks = _blocks(constraints)
    scaled = N / constraints.units[:, None]
    # a free body's turns are told apart from its shifts
    parts = [rows[at : at + 3] for rows in blocks.values() for at in range(0, len(rows), 3)]
    found: list[Array] = []
    for k in range(len(parts)):
        found += _circuits(scaled, parts, k)
        if found and N.shape[1] == 1:
            break
    found = _few_first(found, list(blocks.values()))
    chosen: list[Array] = []
    for v in (*found, *scaled.T):
        if len(chosen) == N.shape[1]:
            break
        rest = v - _projected(chosen, v)
        if np.linalg.norm(rest) > 1e-6 * np.linalg.norm(v):
            chosen.append(v)
    motions = [_told(constraints, q, v * constraints.units, blocks) for v in chosen]
    listed = {name: place for place, name in enumerate(constraints.compiled.joint_names)}
    return tuple(sorted(motions, key=lambda motion: (bool(motion.idle), [listed[name] for name, _ in motion.joints])))


def _few_first(found: Sequence[Array], blocks: Sequence[list[int]]) -> list[Array]:
    """Motions in the order of how many joints, each a block of speeds, they move."""
    if not found:
        return []
    starts = np.cumsum([0, *map(len, blocks)])[:-1]
    speeds = np.abs(np.array(found))[:, [k for block in blocks for k in block]]
    count = np.count_nonzero(np.maximum.reduceat(speeds, starts, axis=1) > MOVES, axis=1)
    return [found[k] for k in np.argsort(count, kind="stable")]


def _projected(basis: Sequence[Array], v: Array) -> Array:
    if not basis:
        return np.zeros(len(v))
    matrix = np.column_stack(basis)
    return np.asarray(matrix @ np.linalg.lstsq(matrix, v, rcond=None)[0])


def _blocks(constraints: PositionConstraints) -> dict[str, list[int]]:
    """joint → its speeds: joints with one speed first, of these those on the ground first, then as they are listed."""
    compiled = constraints.compiled
    slices = {c.joint: compiled.joint_v(c.joint) for c in compiled.coordinates.table}
    blocks = {name: list(range(at.start, at.stop)) for name, at in slices.items()}
    carriers = compiled.topology.carriers
    joints = {joint.name: joint for joint in compiled.model.expanded.joints}

    def inner(name: str) -> bool:
        joint = joints.get(name)
        return joint is not None and "world" not in (carriers[joint.parent], carriers[joint.child])

    return dict(sorted(blocks.items(), key=lambda item: (len(item[1]), inner(item[0]))))


def _circuits(scaled: Array, parts: Sequence[list[int]], chosen: int) -> list[Array]:
    """Motions in which a part moves and as many others as possible stand, each of them along one of its speeds if it
    can; none if it cannot move."""
    rows, space = parts[chosen], scaled
    if not np.any(np.abs(space[rows]) > MOVES):
        return []
    for k, other in enumerate(parts):
        if space.shape[1] == 1:
            break
        if k == chosen:
            continue
        _, sigma, vt = np.linalg.svd(space[other])
        held = space @ vt[_rank(sigma) :].T
        if held.shape[1] and np.max(np.abs(held[rows])) > 1e-6:
            space = held
    _, sigma, vt = np.linalg.svd(space[rows])
    moving = space @ vt[: _rank(sigma)].T
    independent = pivots(moving[rows].T, moving.shape[1])
    result = []
    for v in (moving @ np.linalg.inv(moving[rows][independent])).T:
        v = np.where(np.abs(v) > MOVES * np.max(np.abs(v)), v, 0.0)
        result.append(np.asarray(v / v[np.argmax(np.abs(v))]))
    return result


def _rank(sigma: Array) -> int:
    return rank_of(sigma) if len(sigma) and sigma[0] > MOVES else 0


def _told(constraints: PositionConstraints, q: Array, v: Array, blocks: dict[str, list[int]]) -> FreeMotion:
    compiled = constraints.compiled
    amounts = {name: float(np.max(np.abs(v[rows] / constraints.units[rows]))) for name, rows in blocks.items()}
    amounts = {name: amount for name, amount in amounts.items() if amount > MOVES}
    speeds = {name: float(np.max(np.abs(v[blocks[name]]))) for name in amounts} | _cut_speeds(constraints, q, v)
    count = {joint.name: joint.info.nv for joint in compiled.model.expanded.joints}
    listed = sorted(compiled.joint_names, key=lambda name: count.get(name, 6) > 1)  # what a person drives comes first
    joints = tuple((name, speeds[name]) for name in listed if name in speeds)
    free = len(joints) == 1 and joints[0][0] in {joint.name for joint in compiled.implicit_joints}
    idle = _idle(constraints, q, v) if len(joints) > 1 else ""
    return FreeMotion(v, joints, idle, _alone(constraints, q, v, joints[0][0]) if free else "")


def _alone(constraints: PositionConstraints, q: Array, v: Array, body: str) -> str:
    """How a free body moves: it shifts, turns or screws, and along which direction of the world."""
    R = constraints.compiled.call("poses", q, p=constraints.p)[constraints.compiled.frame_names.index(body)][:3, :3]
    turn, shift = (R @ part for part in v[constraints.compiled.joint_v(body)].reshape(2, 3))
    if np.linalg.norm(turn) < MOVES:
        return f"shifts along {_direction(shift)}"
    pitch = float(turn @ shift) / float(turn @ turn)
    return f"{'turns' if abs(pitch) < NOISE * constraints.size else 'screws'} about {_direction(turn)}"


def _direction(vector: Array) -> str:
    """ "z", "−z" or "(0.6, 0.8, 0)"."""
    unit = vector / np.linalg.norm(vector)
    k = int(np.argmax(np.abs(unit)))
    if abs(unit[k]) > 1.0 - NOISE:
        return f"{'' if unit[k] > 0.0 else '−'}{'xyz'[k]}"
    return "({:.3g}, {:.3g}, {:.3g})".format(*(round(float(x), 6) + 0.0 for x in unit))


def _cut_speeds(constraints: PositionConstraints, q: Array, v: Array) -> dict[str, float]:
    """How fast the joints that close loops move (rad/s, else m/s), those that do."""
    compiled = constraints.compiled
    ahead, behind = (
        compiled.joint_poses(compiled.coordinates.integrate(q, v, dt), constraints.p) for dt in (STEP, -STEP)
    )
    result = {}
    for name in (joint.name for joint in compiled.cuts):
        X0, X1 = (np.linalg.inv(sides[0]) @ sides[1] for sides in (behind[name], ahead[name]))
        rate = (X1 - X0) / (2.0 * STEP)
        turn = float(np.linalg.norm(rate[:3, :3]) / np.sqrt(2.0))
        shift = float(np.linalg.norm(rate[:3, 3]))
        if max(turn, shift / constraints.size) > NOISE:
            result[name] = turn if turn > NOISE else shift
    return result


def _idle(constraints: PositionConstraints, q: Array, v: Array) -> str:
    """The body (or bodies) that turn as one about a line that stands still, in a machine's loop."""
    compiled = constraints.compiled
    names = [body.name for body in compiled.model.expanded.bodies]
    ahead, behind = (
        compiled.call("poses", compiled.coordinates.integrate(q, v, dt), p=constraints.p)[: len(names)]
        for dt in (STEP, -STEP)
    )
    rates = (ahead - behind) / (2.0 * STEP)
    here = compiled.call("poses", q, p=constraints.p)[: len(names)]
    spins = rates[:, :3, :3] @ np.swapaxes(here[:, :3, :3], -1, -2)
    twists = np.stack([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0], *(rates[:, :3, 3] / constraints.size).T], axis=1)
    # velocity of the point at the world's origin
    twists[:, 3:] -= np.cross(twists[:, :3], here[:, :3, 3]) / constraints.size
    moving = [i for i in range(len(names)) if np.max(np.abs(twists[i])) > NOISE]
    if not moving or len(moving) == len(names) > 1:
        return ""
    first = twists[moving[0]]
    alike = all(np.max(np.abs(twists[i] - first)) < NOISE for i in moving)
    turning = bool(np.linalg.norm(first[:3]) > NOISE) and abs(float(first[:3] @ first[3:])) < NOISE
    return ", ".join(names[i] for i in moving) if alike and turning else ""
