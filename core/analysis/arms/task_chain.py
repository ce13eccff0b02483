"""Chains of six joints for tasks with other numbers of joints: locked, virtual and reversed ones.

- A locked joint holds its value; its link becomes part of its neighbours.
- A free joint, at the frame, is a direction of the target that does not matter: it may have any value.
- A phantom joint completes an arm of fewer than six joints to a six-joint arm of a known family. Of its solutions those
  are the arm's in which the phantoms are at zero; the arm's own forward kinematics shows which they are.
- An arm with a spherical shoulder, read from the tool to the base, has a spherical wrist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import meeting_point
from core.analysis.arms.screw_chain import ScrewChain, chain_jacobian
from core.errors import ModelError

Array = NDArray[np.float64]

FREE_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
FREE_NAME, PHANTOM_NAME = "free ", "phantom"
"""Names of virtual joints begin with these; no joint of a document has a blank in its name."""
SINGULAR = 1e-7
"""Singular value of a Jacobian (rad, machine sizes) at general positions up to which a direction is lost everywhere."""
NOWHERE = -1
"""Index in q of virtual joints."""
_SKEW = np.array([0.2672612419124244, 0.5345224838248488, 0.8017837257372732])
"""A direction that no machine has."""


def check_free_directions(free: Sequence[str]) -> tuple[str, ...]:
    """Directions of the target that do not matter, in their order; ModelError if they are no set that can be free."""
    names = (free,) if isinstance(free, str) else tuple(free)
    unknown = [name for name in names if name not in FREE_DIRECTIONS]
    if unknown:
        raise ModelError(
            f"There is no direction '{unknown[0]}' of the target.",
            where="free",
            remedy="Give some of x, y, z (along the target's axes) and rx, ry, rz (about them).",
        )
    if sum(name.startswith("r") for name in set(names)) == 2:
        raise ModelError(
            "Rotations about two axes combine to one about the third, so two alone cannot be free.",
            where="free",
            remedy="Give one of rx, ry, rz, or all three.",
        )
    return tuple(name for name in FREE_DIRECTIONS if name in names)


def lock_joints(chain: ScrewChain, locked: Sequence[int], q: Array) -> ScrewChain:
    """Chain without the joints with these indices, which hold their values in q (n,)."""
    if not len(locked):
        return chain
    held = chain.start.copy()
    held[list(locked)] = q[list(locked)]
    directions, points, X = (each[0] for each in chain.axes(held[None]))
    moved = chain._replace(direction=directions, point=points, X=X, start=held)
    return keep_joints(moved, ~np.isin(np.arange(len(chain.kinds)), locked))


def keep_joints(chain: ScrewChain, kept: NDArray[np.bool_]) -> ScrewChain:
    """Chain of some of the joints only, with the others where they are at the start."""
    at = np.flatnonzero(kept)
    return chain._replace(
        kinds="".join(chain.kinds[k] for k in at),
        joints=tuple(chain.joints[k] for k in at),
        at=chain.at[at],
        direction=chain.direction[at],
        point=chain.point[at],
        start=chain.start[at],
        lower=chain.lower[at],
        upper=chain.upper[at],
    )


def reverse_chain(chain: ScrewChain) -> ScrewChain:
    """Chain from the frame to the base: its forward kinematics is the inverse of the chain's."""
    R, p = chain.X[:3, :3], chain.X[:3, 3]
    back = np.eye(4)
    back[:3, :3], back[:3, 3] = R.T, -R.T @ p
    return chain._replace(
        kinds=chain.kinds[::-1],
        joints=chain.joints[::-1],
        at=chain.at[::-1],
        direction=-(chain.direction @ R)[::-1],
        point=((chain.point - p) @ R)[::-1],
        X=back,
        start=chain.start[::-1],
        lower=chain.lower[::-1],
        upper=chain.upper[::-1],
    )


def _with_joints(chain: ScrewChain, kinds: str, names: Sequence[str], d: Array, p: Array, *, first: bool) -> ScrewChain:
    """Chain with virtual joints of directions d (m, 3) through points p (m, 3) before the first or after the last."""
    m = len(kinds)

    def joined(new: Array, own: Array) -> Array:
        return np.concatenate([new, own] if first else [own, new])

    return chain._replace(
        kinds=kinds + chain.kinds if first else chain.kinds + kinds,
        joints=(*names, *chain.joints) if first else (*chain.joints, *names),
        at=np.concatenate([np.full(m, NOWHERE), chain.at] if first else [chain.at, np.full(m, NOWHERE)]),
        direction=joined(d.reshape(m, 3), chain.direction),
        point=joined(p.reshape(m, 3), chain.point),
        start=joined(np.zeros(m), chain.start),
        lower=joined(np.full(m, -np.inf), chain.lower),
        upper=joined(np.full(m, np.inf), chain.upper),
    )


def add_free_joints(chain: ScrewChain, free: Sequence[str]) -> ScrewChain:
    """Chain with a joint at the frame for each free direction, turns first: the displacements are then along the
    target's axes."""
    order = sorted(free, key=lambda name: not name.startswith("r"))
    if not order:
        return chain
    axes = np.array([chain.X[:3, "xyz".index(name[-1])] for name in order])
    return _with_joints(
        chain,
        "".join("R" if name.startswith("r") else "P" for name in order),
        [FREE_NAME + name for name in order],
        axes,
        np.tile(chain.X[:3, 3], (len(order), 1)),
        first=False,
    )


def free_motions(chain: ScrewChain, values: Array) -> Array:
    """(m, 4, 4) poses of the frame behind the free joints, seen from the frame before them, at values (m, n)."""
    is_free = np.array([name.startswith(FREE_NAME) for name in chain.joints])
    at_zero = np.where(is_free, values, chain.start)
    return np.asarray(np.linalg.inv(chain.X) @ chain.axes(at_zero)[2])


def count_freedoms(chain: ScrewChain) -> int:
    """Number of directions in which a chain's frame can move at general positions."""
    units = np.where([kind == "P" for kind in chain.kinds], chain.size, 1.0)
    q = chain.start + units * np.random.default_rng(23).uniform(-1.5, 1.5, (4, len(chain.kinds)))
    J, _ = chain_jacobian(chain, q)
    J[:, 3:] /= chain.size
    sigma = np.linalg.svd(J * units, compute_uv=False)
    return int(np.count_nonzero(sigma > SINGULAR, axis=1).max())


def complete_to_six(chain: ScrewChain) -> Iterator[ScrewChain]:
    """Six-joint chains with phantoms before and after, of which one may belong to a family; the last one is general."""
    return (longer for longer in _longer_chains(chain) if count_freedoms(longer) == 6)


def _longer_chains(chain: ScrewChain) -> Iterator[ScrewChain]:
    missing = 6 - len(chain.kinds)
    if missing == 0:
        yield chain
    if missing <= 0:
        return
    for before in range(missing + 1):
        for centre in _centres(chain):
            longer = _with_phantoms_behind(chain, missing - before, centre)
            if before == 0:
                yield longer
            for offset in (0.0, 1.0) if before else ():
                yield _with_phantoms_before(longer, before, offset)
    if len(chain.kinds) > 1:
        rng = np.random.default_rng(17)
        d = rng.normal(size=(missing, 3))
        points = chain.X[:3, 3] + chain.size * rng.normal(size=(missing, 3))
        d /= np.linalg.norm(d, axis=1)[:, None]
        yield _with_joints(chain, "R" * missing, [PHANTOM_NAME] * missing, d, points, first=False)


def _centres(chain: ScrewChain) -> Iterator[Array]:
    """Points through which phantoms behind the last joint may go."""
    if len(chain.kinds) > 1 and chain.kinds[-2:] == "RR":
        meets = meeting_point(chain, len(chain.kinds) - 2, len(chain.kinds) - 1)
        if meets is not None:
            yield meets
    w, p = chain.direction[-1], chain.point[-1]
    if chain.kinds[-1] == "R":
        yield p + w * float(w @ (chain.X[:3, 3] - p))
    yield chain.X[:3, 3]


def _with_phantoms_behind(chain: ScrewChain, count: int, centre: Array) -> ScrewChain:
    """Chain with phantoms through a point, each at right angles to the one before."""
    if not count:
        return chain
    w = chain.direction[-1]
    across = np.cross(w, _SKEW)
    across /= np.linalg.norm(across)
    cycle = np.array([across, np.cross(across, w), w])
    d = np.array([cycle[k % 3] for k in range(count)])
    return _with_joints(chain, "R" * count, [PHANTOM_NAME] * count, d, np.tile(centre, (count, 1)), first=False)


def _with_phantoms_before(chain: ScrewChain, count: int, offset: float) -> ScrewChain:
    """Chain with phantoms before the first joint, turned and displaced from one another."""
    for _ in range(count):
        w, p = chain.direction[0], chain.point[0]
        across = np.cross(w, _SKEW)
        across /= np.linalg.norm(across)
        d = across + 0.3 * w
        place = p + offset * chain.size * (0.3 * np.cross(w, across) + 0.2 * across)
        chain = _with_joints(chain, "R", [PHANTOM_NAME], d / np.linalg.norm(d), place, first=True)
    return chain
