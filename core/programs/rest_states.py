"""States of force elements at rest: junctions in equilibrium of their springs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import SimulationError
from core.mechanics.multibody.coordinates import Coordinates
from core.mechanics.multibody.parameter_values import Values
from core.programs.machine_symbols import MachineSymbols

Array = NDArray[np.float64]
Call = Callable[..., Array]
"""Function of the machine by name, with states, parameter values and time."""

STEPS = 200
BALANCED = 1e-12
"""Fraction of the largest initial junction force below which a force counts as zero."""
UNHELD = 1e-9
"""Fraction of the largest stiffness (or damping) below which a direction counts as unsupported."""


def find_rest_states(
    call: Call,
    context: MachineSymbols,
    coordinates: Coordinates,
    q: Any,
    v: Any,
    p: Values,
    values: Array,
    t: Any,
    near: Any = None,
) -> Array:
    """Compute the states of force elements at rest (…, nx) for `Mechanism.x_rest`. coordinates : source of the numbers
    in the initial guesses for junctions; values : values of all parameters."""
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], context.tree.nv)) if v is None else np.asarray(v, dtype=float)
    leading = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], np.shape(t), values.shape[:-1])
    x = np.zeros((*leading, context.nx))
    if not context.nx:
        return x
    if context.elements.junctions:
        for place in np.ndindex(*leading):
            a, b, c = (np.broadcast_to(each, (*leading, each.shape[-1]))[place] for each in (q, v, values))
            x[place] = _balance_junctions(
                call, context, coordinates, a, b, c, float(np.broadcast_to(t, leading)[place])
            )
    x = call("stretched", q, v, np.concatenate([x, np.zeros_like(x)], axis=-1), p=p, t=t)
    counted = [state for state, _ in context.elements.turn_counters.values()]
    if near is not None and counted:
        turns = np.round((np.asarray(near)[..., counted] - x[..., counted]) / (2.0 * np.pi))
        x[..., counted] += 2.0 * np.pi * turns
    return x


def _balance_junctions(
    call: Call, context: MachineSymbols, coordinates: Coordinates, q: Array, v: Array, p: Array, t: float
) -> Array:
    """Return x with the junctions in equilibrium, by Newton's method with step halving."""
    junctions = context.topology.model.junctions
    count = 3 * len(junctions)
    x = np.zeros(context.nx)
    numbers = coordinates.numbers
    x[:count] = [numbers.scalar(value, f"junction '{j.name}', guess") for j in junctions for value in j.guess]

    def forces(x: Array) -> tuple[Array, Array]:
        both = call("balance", q, v, np.concatenate([x, np.zeros_like(x)]), p=p, t=t).reshape(-1)
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
    _check_supported(call, list(context.elements.junctions), q, v, p, t, x)
    return x


def _check_supported(call: Call, names: list[str], q: Array, v: Array, p: Array, t: float, x: Array) -> None:
    x = np.asarray(call("stretched", q, v, np.concatenate([x, np.zeros_like(x)]), p=p, t=t))
    J = call("junctions", q, v, np.concatenate([x, np.zeros_like(x)]), p=p, t=t)
    if not np.isfinite(J).all():
        raise SimulationError(
            "The forces at the junction are not finite numbers.",
            where=f"junction '{names[0]}'",
            remedy="Check the force laws of the elements at the junction.",
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
        f"No spring or damper supports the junction in the direction ({direction}).",
        where=f"junction '{names[worst]}'",
        remedy="Attach another spring or damper to the junction, or replace it by a body.",
    )
