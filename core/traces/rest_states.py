"""The states of force elements at rest: junctions where springs are in balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import SimulationError
from core.multibody.parameter_values import Values

if TYPE_CHECKING:
    from core.traces.compiled import Evaluation

Array = NDArray[np.float64]

STEPS = 200
BALANCED = 1e-12
"""Part of the largest force at a junction that counts as none."""
UNHELD = 1e-9
"""Part of the largest stiffness (or damping) that counts as none."""


def at_rest(mech: Evaluation, q: Any, v: Any, p: Values, t: Any, near: Any = None) -> Array:
    """(…, nx) see `Mechanism.x_rest`."""
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], mech._program.tracer.tree.nv)) if v is None else np.asarray(v, dtype=float)
    leading = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], np.shape(t), mech.parameter_values(p).shape[:-1])
    x = np.zeros((*leading, mech.nx))
    if not mech.nx:
        return x
    junctions = mech._program.tracer.elements.junctions
    if junctions:
        values = mech.parameter_values(p)
        for place in np.ndindex(*leading):
            a, b, c = (np.broadcast_to(each, (*leading, each.shape[-1]))[place] for each in (q, v, values))
            x[place] = _junctions_at_rest(mech, a, b, c, float(np.broadcast_to(t, leading)[place]))
    x = mech._call("stretched", p, q, v, np.concatenate([x, np.zeros_like(x)], axis=-1), t=t)
    counted = [state for state, _ in mech._program.tracer.elements.turn_counters.values()]
    if near is not None and counted:
        turns = np.round((np.asarray(near)[..., counted] - x[..., counted]) / (2.0 * np.pi))
        x[..., counted] += 2.0 * np.pi * turns
    return x


def _junctions_at_rest(mech: Evaluation, q: Array, v: Array, p: Array, t: float) -> Array:
    """x with the junctions in balance; Newton's method, each step at most as long as it lowers the forces."""
    tracer = mech._program.tracer
    count = 3 * len(tracer.elements.junctions)
    x = np.zeros(mech.nx)
    numbers = mech.model.expanded
    read = mech._coordinates.numbers  # type: ignore[attr-defined]
    x[:count] = [read.scalar(value, f"junction '{j.name}', guess") for j in numbers.junctions for value in j.guess]

    def forces(x: Array) -> tuple[Array, Array]:
        both = mech._call("balance", p, q, v, np.concatenate([x, np.zeros_like(x)]), t=t).reshape(-1)
        return both[:count], both[count:].reshape(count, count)

    f, K = forces(x)
    scale = max(float(np.max(np.abs(f))), 1e-9)
    for _ in range(STEPS):
        if np.max(np.abs(f)) <= BALANCED * scale or not np.any(K) or not np.isfinite(K).all():
            break
        step, part = np.linalg.lstsq(K, -f, rcond=UNHELD)[0], 1.0
        while part > 1e-6:
            trial = x.copy()
            trial[:count] += part * step
            f_trial, K_trial = forces(trial)
            if f_trial @ f_trial < f @ f:
                break
            part *= 0.5
        else:
            break
        x, f, K = trial, f_trial, K_trial
    _check_held(mech, q, v, p, t, x)
    return x


def _check_held(mech: Evaluation, q: Array, v: Array, p: Array, t: float, x: Array) -> None:
    x = np.asarray(mech._call("stretched", p, q, v, np.concatenate([x, np.zeros_like(x)]), t=t))
    J = mech._call("junctions", p, q, v, np.concatenate([x, np.zeros_like(x)]), t=t)
    names = list(mech._program.tracer.elements.junctions)
    if not np.isfinite(J).all():
        raise SimulationError(
            "The forces at the junction are not finite numbers.",
            where=f"junction '{names[0]}'",
            remedy="Look at the laws of the forces that meet there.",
        )
    _, sizes, rows = np.linalg.svd(J)
    if sizes[-1] > UNHELD * sizes[0] and sizes[0] > 0.0:
        return
    blocks = rows[-1].reshape(-1, 3)
    worst = int(np.argmax(np.linalg.norm(blocks, axis=1)))
    d = blocks[worst] / np.max(np.abs(blocks[worst]))
    d = d * np.sign(d[int(np.argmax(np.abs(d)))])
    direction = ", ".join(f"{round(float(e), 3) + 0.0:g}" for e in d)
    raise SimulationError(
        f"Nothing holds the junction in the direction ({direction}).",
        where=f"junction '{names[worst]}'",
        remedy="Let another spring or damper meet it there, or use a body.",
    )
