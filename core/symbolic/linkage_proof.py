"""Numerical check of a symbolic linkage: positions, speeds, accelerations and forces against the compiled kernel."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.symbolic.linkage import Linkage
from core.symbolic.proof import ACCEPTED, STATES, TAKEN, Proof

Array = NDArray[np.float64]
SPREAD = 0.02
"""Relative amount by which parameters are varied at random."""
STEPS = 3
"""Newton steps after the kernel's assembly, whose residual is small but above rounding error."""
WELL_CLOSED_FRACTION = 1e-3
"""Least ratio of smallest to largest singular value of the constraint equations; poses nearer to a singularity are not
compared."""
TRIALS = 12
"""Number of poses tried for each state, ever closer to the reference configuration."""
SECTIONS = {
    "positions": "The position",
    "ratios": "The motion at random speeds",
    "derivatives": "The motion at random accelerations",
    "dynamics": "The force that it takes",
}


class LinkageProof:
    """Evaluates both sides of the comparison."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self.mech = Mechanism(dataclasses.replace(linkage.model, drivers=()))
        self.names = [v.coordinate for v in linkage.independent]

    def state(self, rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a random closed pose with speeds and accelerations; None if the loops close at none of the poses
        tried."""
        linkage, mech = self.linkage, self.mech
        known = linkage.model.values()
        given = {n: known[n] for n in mech.p_names} | {n: x for n, x in linkage.given.items() if n in mech.p_names}
        drawn = {n: given[n] * rng.uniform(1.0 - SPREAD, 1.0 + SPREAD) for n in linkage.values if n in mech.p_names}
        p = mech.parameter_values({**given, **drawn})
        values = linkage.model.values({**given, **drawn})
        try:
            rest = mech.assemble(mech.rest(p), p=p, limits=False)
        except KinetostatError:
            return None
        for trial in range(TRIALS):
            share = 1.0 if not trial else 0.7**trial
            q = self._random_pose(rest, p, share, rng)
            if q is not None:
                break
        else:
            return None
        speeds = dict(zip(self.names, rng.uniform(-2.0, 2.0, len(self.names)), strict=True))
        changes = dict(zip(self.names, rng.uniform(-2.0, 2.0, len(self.names)), strict=True))
        v = mech.speeds(q, speeds, p=p)
        a = mech.accelerations(q, v, changes, p=p)
        tau = mech.inverse_dynamics(q, v, a, p=p, passive=False, actuators=self.names)
        symbols = {name: float(values[name]) for name in linkage.values}
        return {"symbols": symbols, "q": q, "v": v, "a": a, "tau": tau}

    def _random_pose(self, rest: Array, p: Array, share: float, rng: np.random.Generator) -> Array | None:
        q = rest.copy()
        for variable in self.linkage.independent:
            q[variable.q] += share * rng.uniform(-1.0, 1.0) * (math.pi if variable.turns else self._displacement_size)
        joints = [v.joint for v in self.linkage.independent]
        try:
            return self._exactly_closed(np.asarray(self.mech.assemble(q, p=p, fixed=joints, limits=False)), p)
        except KinetostatError:
            return None

    def _exactly_closed(self, q: Array, p: Array) -> Array | None:
        """Close the pose to rounding error by Newton steps in the dependent coordinates; None near a singular pose."""
        own = {each.v for each in self.linkage.independent}
        dependent = [each for each in self.linkage.variables if each.v not in own]
        places, at = [each.v for each in dependent], [each.q for each in dependent]
        for _ in range(STEPS if dependent else 0):
            G = self.mech.constraint_jacobian(q, p=p)[:, places]
            sizes = np.linalg.svd(G, compute_uv=False)
            if len(sizes) < len(places) or sizes[len(places) - 1] < WELL_CLOSED_FRACTION * sizes[0]:
                return None
            q = q.copy()
            q[at] -= np.linalg.lstsq(G, self.mech.constraint_residual(q, p=p), rcond=None)[0]
        return q

    @cached_property
    def _displacement_size(self) -> float:
        """Return the size of random independent displacements in m, a fraction of the machine's size."""
        places = self.mech.poses(self.mech.rest())[:, :3, 3]
        return 0.3 * float(np.max(np.ptp(places, axis=0), initial=0.1))

    def deviations(self, state: Mapping[str, Any], sections: Sequence[str]) -> dict[str, float]:
        """Return section → largest difference, relative to the largest number (at least 1)."""
        linkage = self.linkage
        q, v, a = state["q"], state["v"], state["a"]
        coordinates = {each.symbol: float(q[each.q]) for each in linkage.variables}
        signs = linkage.branches_at({**state["symbols"], **coordinates})
        own = {each.symbol: float(q[each.q]) for each in linkage.independent}
        rates = {linkage.rates[i]: float(v[linkage.variables[i].v]) for i in linkage.places}
        rates |= {linkage.accelerations[i]: float(a[linkage.variables[i].v]) for i in linkage.places}
        found = linkage.evaluated({**state["symbols"], **signs, **own, **rates}, sections)
        worst = {"positions": 0.0}
        for each in linkage.variables:
            off = found[each.symbol] - coordinates[each.symbol]
            off = math.remainder(off, 2.0 * math.pi) if each.turns else off
            worst["positions"] = max(worst["positions"], abs(off))
        if "ratios" not in sections:
            return worst
        s = np.array([v[each.v] for each in linkage.independent])
        phi = linkage.matrix(found)
        places = [each.v for each in linkage.variables]
        worst["ratios"] = _deviation(phi @ s, v[places])
        if "derivatives" not in sections:
            return worst
        changes = np.array([a[each.v] for each in linkage.independent])
        worst["derivatives"] = _deviation(phi @ changes + linkage.turning(found, s), a[places])
        if "dynamics" not in sections:
            return worst
        ours = np.array([found[name] for name in linkage.forces])
        worst["dynamics"] = _deviation(ours, state["tau"][[each.v for each in linkage.independent]])
        return worst


def _deviation(ours: Array, theirs: Array) -> float:
    scale = max(1.0, float(np.max(np.abs(theirs), initial=0.0)))
    return float(np.max(np.abs(ours - theirs), initial=0.0)) / scale


def proofs(
    linkage: Linkage, sections: Sequence[str] = tuple(SECTIONS), *, states: int = STATES, seed: int = 0
) -> dict[str, Proof]:
    """Compare sections over random states; return section → outcome. sections : consecutive ones from the first, since
    each depends on those before it.

    Parameters are moved by up to 2 %, poses lie anywhere the loops close, on the branch they close on. Angles are
    compared up to whole turns.
    """
    judge = LinkageProof(linkage)
    rng = np.random.default_rng(seed)
    drawn: list[Any] = []
    for _ in range(states):
        linkage.watch()
        if (state := judge.state(rng)) is not None:
            drawn.append(state)
    worst = dict.fromkeys(sections, 0.0)
    for state in drawn:
        linkage.watch()
        for section, deviation in judge.deviations(state, sections).items():
            worst[section] = deviation if math.isnan(deviation) else max(worst[section], deviation)
    limit = TAKEN if linkage.recognised else ACCEPTED
    return {
        section: Proof(SECTIONS[section], deviation, len(drawn), bool(drawn) and deviation <= limit)
        for section, deviation in worst.items()
    }
