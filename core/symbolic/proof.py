"""Numerical check of symbolic results of robots and linkages: largest deviation of the written forms (positions,
speeds, accelerations, forces) from the compiled kernel over random states."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError
from core.mechanics.energy import spring_potential
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.tree_of_model import build_machine
from core.mechanics.tree import Link
from core.mechanism import Mechanism
from core.model.formula.numerals import format_readable
from core.numerics.spatial.inertia import split_inertia
from core.symbolic.forms import evaluate
from core.symbolic.linkage import Linkage
from core.symbolic.robot import SIGNS, Forms, Robot

Array = NDArray[np.float64]
STATES = 20
ACCEPTED = 1e-9
"""Relative deviation up to which a result passes; it allows for rounding in long sums."""
TAKEN = 1e-4
"""Relative deviation up to which a result passes if numbers of the file were replaced by multiples of π or fractions.
"""

CHECKED = ("A", "T", "J", "Jvc", "Jwc", "M", "c", "C", "G", "tau", "K", "P", "Ki", "Pi")
"""Results that can be compared with the compiled kernel."""
SPREAD = 0.02
"""Relative amount by which parameters are varied at random."""
STEPS = 3
"""Number of Newton steps after the kernel's assembly, whose residual is small but not yet at rounding error."""
WELL_CLOSED_FRACTION = 1e-3
"""Smallest accepted ratio of smallest to largest singular value of the constraint Jacobian; poses closer to a
singularity are not compared."""
TRIALS = 12
"""Number of poses tried for each state, each closer to the reference configuration than the one before."""
SECTIONS = {
    "positions": "The position",
    "ratios": "The motion at random speeds",
    "derivatives": "The motion at random accelerations",
    "dynamics": "The force that it takes",
}


class Proof(NamedTuple):
    """Outcome of a comparison with the compiled kernel."""

    what: str
    deviation: float
    """Largest difference, relative to the largest entry (at least 1)."""
    states: int
    passed: bool

    def __str__(self) -> str:
        shown = format_readable(f"{self.deviation:.1e}")
        if self.passed:
            return f"{self.what} agrees with the compiled kernel within {shown} ({self.states} random states)"
        return (
            f"{self.what} DIFFERS from the compiled kernel by up to {shown} ({self.states} random states): "
            "do not rely on it."
        )


def check_result(robot: Robot, result: str, *indices: int, states: int = STATES, seed: int = 0) -> Proof:
    """Compare a result of `Robot.form` with the compiled kernel; "T" without indices means T(0, n).

    C is compared by C q̇.
    """
    if result == "T" and not indices:
        indices = (0, robot.n)
    judge = _comparison_for(robot)
    rng = np.random.default_rng(seed)
    drawn = [judge.random_state(rng) for _ in range(states)]
    ours = judge.evaluate_forms(result, indices, drawn)
    worst = 0.0
    for mine, state in zip(ours, drawn, strict=True):
        theirs = judge.evaluate_kernel(result, indices, state)
        scale = max(1.0, float(np.max(np.abs(theirs), initial=0.0)))
        deviation = float(np.max(np.abs(mine.reshape(np.shape(theirs)) - theirs), initial=0.0)) / scale
        worst = deviation if math.isnan(deviation) else max(worst, deviation)
    limit = TAKEN if robot.recognised else ACCEPTED
    name = SIGNS.get(result, result) + (f"({', '.join(map(str, indices))})" if indices else "")
    return Proof(name, worst, states, worst <= limit)


@lru_cache(maxsize=2)
def _comparison_for(robot: Robot) -> _KernelComparison:
    """Return the evaluator for a robot; cached, since it compiles the machine."""
    return _KernelComparison(robot)


class _KernelComparison:
    """Evaluator of both sides of the comparison for a robot."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.chain = robot, robot.chain
        self.mech = Mechanism(robot.chain.model)
        self.mech.compiled.gate.is_open = True  # forms are equal for numbers that no machine has, too
        self._links = lru_cache(maxsize=2 * STATES)(self._numeric_links)  # of all links the same states are drawn
        self.at_q = [v.q for v in self.chain.variables]
        self.at_v = [v.v for v in self.chain.variables]

    def random_state(self, rng: np.random.Generator) -> dict[str, float]:
        """Draw random values of all symbols."""
        chain = self.chain
        drawn = {
            name: x * rng.uniform(0.7, 1.3) if x else rng.uniform(0.5, 1.5)
            for name, x in chain.values.items()
            if name in self.mech.p_names
        }
        follows = chain.model.values({**_known_values(self.robot), **chain.given, **drawn})
        values = {name: follows[name] for name in chain.values}
        for v, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
            values[v.symbol] = rng.uniform(-np.pi, np.pi) if v.turns else rng.uniform(-1.0, 1.0)
            values[rate], values[acceleration] = rng.normal(size=2)
        return values | {"sqrt(2)": math.sqrt(2.0), "sqrt(3)": math.sqrt(3.0)}

    def evaluate_forms(self, result: str, indices: tuple[int, ...], states: list[dict[str, float]]) -> Array:
        """Evaluate the symbolic forms: (states, rows, columns); C is multiplied by q̇."""
        values = {name: np.array([state[name] for state in states]) for name in states[0]}
        found = evaluate_forms_over_states(self.robot.form(result, *indices), values, len(states))
        if result != "C":
            return found
        speeds = np.array([values[name] for name in self.chain.rates])
        return np.einsum("sij,js->si", found, speeds)

    def evaluate_kernel(self, result: str, indices: tuple[int, ...], values: dict[str, float]) -> Array:
        """Evaluate the same result with the compiled kernel at one state, in the shape of the form's entries."""
        given = {name: values[name] for name in self.chain.values if name in self.mech.p_names}
        p = self.mech.parameter_values({**_known_values(self.robot), **self.chain.given, **given})
        q, v, a = self.mech.rest(), np.zeros(self.mech.nv), np.zeros(self.mech.nv)
        for i, variable in enumerate(self.chain.variables):
            q[variable.q] = values[variable.symbol]
            v[variable.v] = values[self.chain.rates[i]]
            a[variable.v] = values[self.chain.accelerations[i]]
        found = getattr(self, f"_{result}")(q, v, a, p, *indices)
        return np.asarray(found)

    def _A(self, q: Array, v: Array, a: Array, p: Array, i: int) -> Array:
        return self._T(q, v, a, p, i - 1, i)

    def _T(self, q: Array, v: Array, a: Array, p: Array, i: int, j: int) -> Array:
        first, last = (self.mech.frame(q, self.chain.frames[k], p=p) for k in (i, j))
        return np.asarray(np.linalg.inv(first) @ last)

    def _Jvc(self, q: Array, v: Array, a: Array, p: Array, i: int) -> Array:
        """Return the Jacobian of the centre of mass of link i: that of its frame's origin plus ω × r."""
        J = self.mech.jacobian(q, self.chain.frames[i], p=p)[:, self.at_v]
        R = self.mech.frame(q, self.chain.frames[i], p=p)[:3, :3]
        r = R @ self.center(i, p)
        return np.asarray(self._base_pose(q, p).T @ (J[3:] + np.cross(J[:3].T, r).T))

    def _Jwc(self, q: Array, v: Array, a: Array, p: Array, i: int) -> Array:
        J = self.mech.jacobian(q, self.chain.frames[i], p=p)[:3, self.at_v]
        return np.asarray(self._base_pose(q, p).T @ J)

    def _base_pose(self, q: Array, p: Array) -> Array:
        return np.asarray(self.mech.frame(q, self.chain.frames[0], p=p)[:3, :3])

    def center(self, i: int, p: Array) -> Array:
        """Return the centre of mass (3,) of link i in its frame, m, for parameter values (n_p,)."""
        return np.array(
            self._evaluator_for_parameters(p).center(self.chain.topology.model.body(self.chain.frames[i])), dtype=float
        )

    def _J(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        J = self.mech.jacobian(q, self.chain.tip, p=p)[:, self.at_v]
        R = self._base_pose(q, p)
        return np.vstack([R.T @ J[3:], R.T @ J[:3]])

    def _M(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.asarray(self.mech.mass_matrix(q, p=p)[np.ix_(self.at_v, self.at_v)])

    def _C(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        bias = self.mech.bias(q, v, p=p, passive=False)
        return np.asarray((bias - self.mech.bias(q, 0.0 * v, p=p, passive=False))[self.at_v])

    def _c(self, q: Array, v: Array, a: Array, p: Array, i: int, j: int, k: int) -> Array:
        """Compute c_ijk from b(v) = C v, a quadratic form in v: 2 c_ijk = b_k(e_i + e_j) − b_k(e_i) − b_k(e_j)."""
        first, second = (np.eye(self.mech.nv)[self.at_v[index - 1]] for index in (i, j))
        both, one, other = (self._C(q, speeds, a, p)[k - 1] for speeds in (first + second, first, second))
        return np.array([[0.5 * (both - one - other)]])

    def _G(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.asarray(self.mech.gravity(q, p=p)[self.at_v])

    def _tau(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.asarray(self.mech.inverse_dynamics(q, v, a, p=p, passive=False)[self.at_v])

    def _K(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.array([self.mech.compiled.call("energy", q, v, p=p)[0]])

    def _Ki(self, q: Array, v: Array, a: Array, p: Array, i: int) -> Array:
        """Return the kinetic energy of a link: ½ m v·v + ½ ω·I ω of each body about its centre of mass, plus that of
        the joint's rotor."""
        total = 0.0
        link, numbers = self._link(i, p)
        for body, inertia in self._bodies_of_link(i, numbers):
            R = self.mech.frame(q, body, p=p)[:3, :3]
            V = self.mech.frame_velocity(q, v, body, p=p)
            mass, center, tensor = split_inertia(inertia)
            speed = V[3:] + np.cross(V[:3], R @ np.array(center, dtype=float))
            turning = R.T @ V[:3]
            I = np.array([list(row) for row in (tensor.row_x, tensor.row_y, tensor.row_z)], dtype=float)
            total += 0.5 * float(mass) * speed @ speed + 0.5 * turning @ I @ turning
        rotor = float(link.armature) * np.sum(np.asarray(v)[link.v] ** 2)
        return np.array([total + 0.5 * rotor])

    def _Pi(self, q: Array, v: Array, a: Array, p: Array, i: int) -> Array:
        """Return the potential energy of a link: −m g·r of each body, plus that of the spring in the joint."""
        total = 0.0
        link, numbers = self._link(i, p)
        gravity = self.chain.topology.model.world.gravity
        pull = np.array([float(x) for x in numbers.vector(gravity.acceleration)])
        for body, inertia in self._bodies_of_link(i, numbers):
            X = self.mech.frame(q, body, p=p)
            total -= float(inertia.mass) * pull @ X[:3, 3] + pull @ X[:3, :3] @ np.array(inertia.moment, dtype=float)
        if link.stiffness:
            total += float(spring_potential(link.law, link.stiffness, link.rest, list(q[link.q])))
        return np.array([total])

    def _link(self, i: int, p: Array) -> tuple[Link, Numbers]:
        """Return moved link i with numbers for its parameters."""
        links, numbers = self._links(tuple(p.tolist()))
        return links[self.chain.moved_links[i - 1]], numbers

    def _numeric_links(self, p: tuple[float, ...]) -> tuple[Sequence[Link], Numbers]:
        numbers = self._evaluator_for_parameters(np.array(p))
        return build_machine(self.chain.topology, numbers).tree.links, numbers

    def _bodies_of_link(self, i: int, numbers: Numbers) -> list[tuple[str, Any]]:
        """Return the bodies of moved link i, each with its inertia in its own frame."""
        model = self.chain.topology.model
        return [(name, numbers.inertia(model.body(name))) for name in self.chain.link_bodies(i)]

    def _evaluator_for_parameters(self, p: Array) -> Numbers:
        model = self.chain.topology.model
        return Numbers(model.values(dict(zip(self.mech.p_names, map(float, p), strict=True))), model.origin)

    def _P(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.array([self.mech.compiled.call("energy", q, v, p=p)[1]])  # poses beyond limits are as good as others


def _known_values(robot: Robot) -> dict[str, float]:
    values = robot.chain.model.values()
    return {p.name: values[p.name] for p in robot.chain.model.parameters if p.independent}


def evaluate_forms(forms: Forms, values: Mapping[str, Any]) -> Array:
    """Evaluate forms: (rows, columns)."""
    return evaluate_forms_over_states(forms, values, 1)[0]


def evaluate_forms_over_states(forms: Forms, values: Mapping[str, Any], count: int) -> Array:
    """Evaluate forms for `count` values of each symbol: (count, rows, columns)."""
    kept: dict[Any, Any] = {}
    found = np.empty((count, len(forms), len(forms[0])))
    for i, row in enumerate(forms):
        for j, form in enumerate(row):
            found[:, i, j] = evaluate(form, values, kept)
    return found


class LinkageComparison:
    """Evaluator of both sides of the comparison for a linkage."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self.mech = Mechanism(dataclasses.replace(linkage.model, drivers=()))
        self.names = [v.coordinate for v in linkage.independent]

    def random_state(self, rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a random closed pose with speeds and accelerations; None if the loops close at none of the poses that
        were tried."""
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

    def _random_pose(self, reference: Array, p: Array, spread: float, rng: np.random.Generator) -> Array | None:
        q = reference.copy()
        for variable in self.linkage.independent:
            q[variable.q] += spread * rng.uniform(-1.0, 1.0) * (math.pi if variable.turns else self._displacement_size)
        joints = [v.joint for v in self.linkage.independent]
        try:
            return self._close_exactly(np.asarray(self.mech.assemble(q, p=p, fixed=joints, limits=False)), p)
        except KinetostatError:
            return None

    def _close_exactly(self, q: Array, p: Array) -> Array | None:
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
        """Return the size (m) of random independent displacements, a fraction of the machine's size."""
        places = self.mech.poses(self.mech.rest())[:, :3, 3]
        return 0.3 * float(np.max(np.ptp(places, axis=0), initial=0.1))

    def compute_deviations(self, state: Mapping[str, Any], sections: Sequence[str]) -> dict[str, float]:
        """Return section → largest difference, relative to the largest number (at least 1)."""
        linkage = self.linkage
        q, v, a = state["q"], state["v"], state["a"]
        coordinates = {each.symbol: float(q[each.q]) for each in linkage.variables}
        signs = linkage.branch_signs({**state["symbols"], **coordinates})
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
        worst["ratios"] = _relative_deviation(phi @ s, v[places])
        if "derivatives" not in sections:
            return worst
        changes = np.array([a[each.v] for each in linkage.independent])
        worst["derivatives"] = _relative_deviation(
            phi @ changes + linkage.velocity_product_accelerations(found, s), a[places]
        )
        if "dynamics" not in sections:
            return worst
        ours = np.array([found[name] for name in linkage.forces])
        worst["dynamics"] = _relative_deviation(ours, state["tau"][[each.v for each in linkage.independent]])
        return worst


def _relative_deviation(symbolic: Array, numeric: Array) -> float:
    scale = max(1.0, float(np.max(np.abs(numeric), initial=0.0)))
    return float(np.max(np.abs(symbolic - numeric), initial=0.0)) / scale


def check_sections(
    linkage: Linkage, sections: Sequence[str] = tuple(SECTIONS), *, states: int = STATES, seed: int = 0
) -> dict[str, Proof]:
    """Compare sections over random states and return section → outcome. sections : consecutive ones from the first,
    since each depends on those before it.

    Parameters are moved by up to 2 %, poses lie anywhere the loops close, on the branch they close on. Angles are
    compared up to whole turns.
    """
    judge = LinkageComparison(linkage)
    rng = np.random.default_rng(seed)
    drawn: list[Any] = []
    for _ in range(states):
        linkage.watch()
        if (state := judge.random_state(rng)) is not None:
            drawn.append(state)
    worst = dict.fromkeys(sections, 0.0)
    for state in drawn:
        linkage.watch()
        for section, deviation in judge.compute_deviations(state, sections).items():
            worst[section] = deviation if math.isnan(deviation) else max(worst[section], deviation)
    limit = TAKEN if linkage.recognised else ACCEPTED
    return {
        section: Proof(SECTIONS[section], deviation, len(drawn), bool(drawn) and deviation <= limit)
        for section, deviation in worst.items()
    }
