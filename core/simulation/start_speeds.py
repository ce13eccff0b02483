"""Initial speeds of a machine from the `start_speed` of its joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.constraints import cut_coordinates
from core.mechanism import Mechanism
from core.model.formula.evaluation import Numbers
from core.numerics.tolerances import RANK_TOLERANCE

Array = NDArray[np.float64]


def start_speeds(mech: Mechanism, p: Array | None = None, q: Array | None = None) -> Array:
    """Return the initial speeds (nv,) from `start_speed` of the joints, rad/s, m/s; 0 by default. Loop closure is
    considered only if a loop-closing joint has a start speed: then the smallest speeds that realise it at q (default:
    the reference configuration) are returned."""
    v = np.zeros(mech.nv)
    moving = [joint for joint in mech.model.expanded.joints if joint.start_speed and joint.mimic is None]
    if not moving:
        return v
    prescribed: dict[str, list[float]] = {}
    given = None if p is None else dict(zip(mech.p_names, map(float, p), strict=True))
    numbers = Numbers(mech.model.values(given))
    for joint in moving:
        where = f"joint '{joint.name}', start_speed"
        prescribed[joint.name] = [numbers.scalar(value, where) for value in joint.start_speed]
    for name in prescribed:
        if _is_in_tree(name, mech):
            v[mech.joint_v(name)] = prescribed[name]
    cut = [name for name in prescribed if cut_coordinates.closes_loop(mech.compiled, name)]
    return _with_cut_joints(mech, v, prescribed, cut, p, mech.rest(p) if q is None else q) if cut else v


def _with_cut_joints(
    mech: Mechanism, v: Array, prescribed: dict[str, list[float]], cut: list[str], p: Array | None, q: Array
) -> Array:
    """Return the smallest speeds that keep loops closed and give joints, including loop-closing ones, their prescribed
    speeds."""
    one = np.eye(mech.nv)
    states = np.repeat(np.asarray(q, dtype=float)[None], mech.nv, axis=0)
    measured = [cut_coordinates.motion(mech.compiled, name, states, one, np.zeros_like(one), p).v.T for name in cut]
    tree = [one[mech.joint_v(name)] for name in prescribed if name not in cut and _is_in_tree(name, mech)]
    G = mech.constraint_jacobian(q, p=p)
    rows = np.concatenate([G, *measured, *tree])
    wanted = [
        np.zeros(len(G)),
        *(np.array(prescribed[name]) for name in cut),
        rows[len(rows) - sum(map(len, tree)) :] @ v,
    ]
    return np.linalg.lstsq(rows, np.concatenate(wanted), rcond=RANK_TOLERANCE)[0]


def _is_in_tree(joint: str, mech: Mechanism) -> bool:
    return joint in mech.v_names or any(name.startswith(f"{joint}.") for name in mech.v_names)
