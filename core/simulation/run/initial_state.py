"""Initial state of a run: closed loops, consistent speeds (`start_speed` of joints), states of force elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints import cut_coordinates
from core.constraints.named_values import (
    motion_values_by_name,
    one_number_per_name,
    parse_quantity,
    values_in_order,
)
from core.constraints.other_cuts import closing_joint
from core.errors import ModelError, SimulationError, suggest_names
from core.mechanism import Mechanism
from core.model.formula.evaluation import FieldEvaluator
from core.numerics.tolerances import RANK_TOLERANCE
from core.simulation.run.settings import Values

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
    numbers = FieldEvaluator(mech.model.values(given))
    for joint in moving:
        where = f"joint '{joint.name}', start_speed"
        prescribed[joint.name] = [numbers.scalar(value, where) for value in joint.start_speed]
    for name in prescribed:
        if _is_in_tree(name, mech):
            v[mech.joint_v(name)] = prescribed[name]
    cut = [name for name in prescribed if cut_coordinates.closes_loop(mech.compiled, name)]
    return _speeds_with_cut_joints(mech, v, prescribed, cut, p, mech.rest(p) if q is None else q) if cut else v


def _speeds_with_cut_joints(
    mech: Mechanism, v: Array, prescribed: dict[str, list[float]], cut: list[str], p: Array | None, q: Array
) -> Array:
    """Return the smallest speeds that keep loops closed and give joints, including loop-closing ones, their prescribed
    speeds."""
    one = np.eye(mech.nv)
    states = np.repeat(np.asarray(q, dtype=float)[None], mech.nv, axis=0)
    measured = [
        cut_coordinates.cut_joint_motion(mech.compiled, name, states, one, np.zeros_like(one), p).v.T for name in cut
    ]
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


START_GAP = 1e-6
"""Largest residual (m, rad) of a closed initial position, also for one beyond joint limits, which are ignored here."""


def start_state(mech: Mechanism, q0: Values, v0: Values, p: Array, t: float = 0.0, x0: Values = None) -> Array:
    """Return the initial state (nq + nv + nx,) at time t: loops closed, drivers followed, unit quaternions, consistent
    speeds; force elements at rest unless x0 (nx,) is given.

    Raises AssemblyError if the loops do not close, SimulationError for numbers that are not finite and those
    that no machine has (`core.model.validation.possible_numbers`).
    """
    compiled = mech.compiled
    given = None if np.array_equal(p, mech.parameter_values()) else p
    compiled.gate.check_numbers(p)
    if q0 is None:
        q = mech.rest(given, t=t)
    elif isinstance(q0, Mapping):
        q = mech.move(mech.rest(given, t=t), q0, given, t=t, exact=True)
    else:
        q = values_in_order(compiled, "q", q0, given, "q0")
    named: dict[str, Any] | None = None
    if isinstance(v0, Mapping) and any(closing_joint(compiled, name) for name in v0):
        named, v = dict(v0), np.zeros(mech.nv)
    elif isinstance(v0, Mapping):
        named = {mech.v_names[k]: x for k, x in motion_values_by_name(compiled, "v", v0, given, "v0").items()}
        v = np.array([named.get(name, 0.0) for name in mech.v_names])
    elif v0 is None:
        v = start_speeds(mech, given, q)
        named = {name: x for name, x in zip(mech.v_names, v, strict=True) if x != 0.0}
    else:
        v = values_in_order(compiled, "v", v0, given, "v0")
    for label, array, names in (("q0", q, mech.q_names), ("v0", v, mech.v_names)):
        if not np.isfinite(array).all():
            name = names[int(np.argmin(np.isfinite(array)))]
            raise SimulationError(
                "The initial value is not a finite number.",
                where=f"{label} of '{name}'",
                remedy="Give a finite initial value.",
            )
    if mech.nq > mech.nv:
        q = mech.integrate(q, np.zeros(mech.nv))
    if mech.constrained:
        closed = float(np.max(np.abs(mech.constraint_residual(q, p=given, t=t)), initial=0.0)) < START_GAP
        q, v = mech.assemble(q, v if named is None else named, p=given, t=t, limits=not closed)
    return np.concatenate([q, v, _initial_force_states(mech, q, v, given, t, x0)])


def _initial_force_states(mech: Mechanism, q: Array, v: Array, p: Array | None, t: float, x0: Values) -> Array:
    """Return the initial states (nx,) of force elements."""
    if isinstance(x0, Mapping):
        x = mech.x_rest(q, p=p, t=t, v=v)
        for name, value in x0.items():
            if name not in mech.x_names:
                raise ModelError(
                    f"There is no state '{name}'.", where="x0", remedy=suggest_names(str(name), mech.x_names)
                )
            x[mech.x_names.index(name)] = parse_quantity(value, "none", {}, f"x0 of '{name}'")
        return x
    if x0 is not None:
        return one_number_per_name(x0, mech.x_names, "x0")
    return mech.x_rest(q, p=p, t=t, v=v) if mech.nx else np.zeros(0)
