"""Resamples runs at given times, along the shortest path between samples; also makes a run of one pose."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.constraints.force_ranges import compute_joint_forces
from core.mechanism import Mechanism
from core.numerics.rank import pseudoinverse
from core.simulation.events.contact_columns import BOUNCES, CLIPPED, MODE, RESTS, STOP, columns_of_all_rows
from core.simulation.run.interpolation import interpolate_positions
from core.simulation.run.run import Run, Statistics
from core.simulation.run.settings import Array, check_settings


def resample_run(run: Run, times: ArrayLike) -> Run:
    """Return the run at these times (n,), s; times outside the run are clamped to its start or end.

    Positions are interpolated on the manifold of the coordinates with loops closed, all else linearly. The result
    computes channels as any run does: `resampled(run, [t])["tool.velocity"]` is (1, 3).
    """
    wanted = np.atleast_1d(np.asarray(times, dtype=float))
    made: dict[str, Array] = {"time": np.clip(wanted, run.time[0], run.time[-1])}
    made["q"], first, last, part = interpolate_positions(run, made["time"])
    count = len(run.time)
    for field in dataclasses.fields(run):
        values = getattr(run, field.name)
        if field.name not in made and isinstance(values, np.ndarray) and len(values) == count:
            share = part.reshape(-1, *([1] * (values.ndim - 1)))
            made[field.name] = values[first] + share * (values[last] - values[first])
            if field.name == "modes":
                held = columns_of_all_rows(values.shape[1], MODE, STOP, CLIPPED, BOUNCES, RESTS)
                made[field.name][:, held] = values[first][:, held]
    arrays: Any = made
    return dataclasses.replace(run, **arrays)


def equilibrium_run(mech: Mechanism, q: ArrayLike, p: Mapping[str, float] | None = None) -> Run:
    """Return a run of one sample: the machine at rest at q (nq,) with the joint forces that keep it in equilibrium (in
    machines with loops, the smallest ones).

    Its channels are those of the pose: reactions under gravity, energies, places.
    """
    place, still = np.asarray(q, dtype=float)[None, :], np.zeros((1, mech.nv))
    chosen = check_settings(
        mech,
        duration=1.0,
        method="rk4",
        step=None,
        rtol=1e-7,
        atol=1e-9,
        output=None,
        start=0.0,
        parameters=dict(p) if p else None,
        torque=None,
        max_steps=1,
    )
    asked = compute_joint_forces(mech.compiled, place, still, still, None, dict(p) if p else None, True)
    tau = np.reshape(asked, (1, mech.nv))
    if mech.constrained and mech.nv:  # what the loops carry by themselves, G^T lambda, needs no joint force
        G = np.reshape(mech.constraint_jacobian(place[0], p=dict(p) if p else None), (-1, mech.nv))
        tau = tau - tau @ pseudoinverse(G) @ G
    x = np.reshape(mech.x_rest(place[0], p=dict(p) if p else None), (1, mech.nx))
    return Run(mech, chosen, np.zeros(1), place, still, still, tau, Statistics(), x)
