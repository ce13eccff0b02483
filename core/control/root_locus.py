"""Root loci: poles as a parameter, a coordinate or a feedback gain varies (Evans, Trans. AIEE 67, 1948).

Of a machine the whole system is linearised at every value, exactly, at the pose that follows: loops closed, or in
static equilibrium. Of an output fed back to an input, w = −k y, the poles are those of
A − k B (1 + k D)⁻¹ C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.control.linear_system import Complex, LinearSystem, match_rows
from core.control.linearise import linearise
from core.errors import ModelError, suggest_names
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model

Array = NDArray[np.float64]

DIVISIONS = 100
MARGIN = 1e-9
"""Fraction of the largest pole below which a real part counts as zero."""
BISECTIONS = 34
GAINS = (1e-3, 1e3)
"""Range of the varied gains, as multiples of 1 / max |G| over frequencies between the slowest and the fastest pole."""


class StabilityChange(NamedTuple):
    """Change of stability. value : of the varied quantity, SI; rate : rad/s, 0 for a real pole; lost : True if
    stability is lost there"""

    value: float
    rate: float
    lost: bool


@dataclass(frozen=True)
class RootLocus:
    """Poles as functions of the varied value.

    name : what runs; values : (k,) SI; poles : (k, n) 1/s, each column one pole that is followed; q : (k, nq) poses,
    empty of a gain; crossings : where the number of unstable poles changes
    """

    name: str
    values: Array
    poles: Complex
    q: Array
    crossings: tuple[StabilityChange, ...]


def root_locus(
    machine: Model | Mechanism | LinearSystem,
    name: str = "",
    values: ArrayLike | None = None,
    *,
    input: str = "",
    output: str = "",
    q: ArrayLike | None = None,
    p: Mapping[str, float] | None = None,
    t: float = 0.0,
    follow: Literal["pose", "equilibrium"] = "pose",
    coordinates: Sequence[str] | Literal["auto"] = "auto",
    friction: bool = True,
) -> RootLocus:
    """Compute the poles of a machine for values of a parameter or coordinate, or of a linear system for gains of the
    feedback from one output to one input.

    machine : a model or mechanism with `name`, a parameter, coordinate or DH entry, and its values (SI); or a
        `LinearSystem` with `input`, `output` and gains (default: those that move its poles)
    q : (nq,) the pose from which it starts, default the rest pose; p : other parameters; t : s
    follow : "pose", only loops are closed at each value; "equilibrium", the machine finds its rest near the pose before
    coordinates, friction : as in `linearise`

    Raises ModelError for names that there are not and systems whose number of states changes on the path, AssemblyError
    where it cannot be closed, SimulationError where nothing holds the machine.
    """
    if isinstance(machine, LinearSystem):
        return _root_locus_over_gain(machine, input, output, values)
    if values is None:
        raise ModelError(
            "No values are given.", where="values", remedy="Give the values of the parameter, coordinate or gain."
        )
    if follow not in ("pose", "equilibrium"):
        raise ModelError(f"follow cannot be '{follow}'.", where="follow", remedy="Use 'pose' or 'equilibrium'.")
    from core.analysis.equilibrium import equilibrium
    from core.analysis.sweep import sweepable_variables

    mech = machine if isinstance(machine, Mechanism) else Mechanism(machine)
    if name not in (known := sweepable_variables(mech.model, mech)):
        raise ModelError(
            f"There is no parameter or coordinate '{name}'.", where="name", remedy=suggest_names(name, known)
        )
    place = _LocusFollower(mech, mech.rest(p) if q is None else np.asarray(q, dtype=float), dict(p or {}), t, name)
    states: list[int] = []

    def poles_at(value: float) -> Complex:
        nonlocal coordinates
        place.move_to(value)
        if follow == "equilibrium":
            place.q = equilibrium(place.mech, place.q, place.p, t, nearest=True).q
        found = linearise(place.mech, place.q, coordinates=coordinates, p=place.p, t=t, friction=friction)
        assert isinstance(found, LinearSystem)
        coordinates = found.coordinates if coordinates == "auto" else coordinates
        states.append(len(found.A))
        if states[-1] != states[0]:
            raise ModelError(
                f"The number of states changes from {states[0]} to {states[-1]} at {name} = {value:g}.",
                where=name,
                remedy="Choose a range in which no joint starts to stick, slides again or locks.",
            )
        return found.poles

    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    rows, poses = [], []
    for value in numbers:
        rows.append(poles_at(float(value)))
        poses.append(place.q)

    def between(k: int, value: float) -> Complex:
        place.q = poses[k]
        return poles_at(value)

    return RootLocus(name, numbers, match_rows(rows), np.array(poses), _find_stability_changes(numbers, rows, between))


@dataclass
class _LocusFollower:
    """Lineariser of a machine along the locus; the pose is followed from value to value."""

    mech: Mechanism
    q: Array
    p: dict[str, float]
    t: float
    name: str

    def move_to(self, value: float) -> None:
        from core.analysis.sweep import sweep

        found = sweep(self.mech.model, self.mech, self.q, self.p, [(self.name, value, value, 0)], t=self.t)
        self.mech, self.q, self.p = found.mech, found.q[0], dict(found.p[0])


def _find_stability_changes(
    values: Array, pole_rows: Sequence[Complex], poles_at: Callable[[int, float], Complex]
) -> tuple[StabilityChange, ...]:
    """Locate changes of stability by bisection between neighbouring values with different numbers of unstable poles;
    `poles_at(k, value)` after the k-th value."""
    edge = MARGIN * max((float(np.max(np.abs(row), initial=0.0)) for row in pole_rows), default=0.0)

    def count_unstable(poles: Complex) -> int:
        return int(np.count_nonzero(poles.real > edge))

    found: list[StabilityChange] = []
    for k in range(len(pole_rows) - 1):
        ahead = count_unstable(pole_rows[k + 1])
        low, high, before = float(values[k]), float(values[k + 1]), count_unstable(pole_rows[k])
        if before == ahead:
            continue
        row = pole_rows[k + 1]
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            now = poles_at(k, middle)
            if count_unstable(now) == before:
                low = middle
            else:
                high, row = middle, now
        nearest = row[int(np.argmin(np.abs(row.real)))]
        rate = abs(float(nearest.imag))
        found.append(StabilityChange(0.5 * (low + high), rate if rate > edge else 0.0, ahead > before))
    return tuple(found)


def _root_locus_over_gain(system: LinearSystem, input: str, output: str, gains: ArrayLike | None) -> RootLocus:
    chosen = system.selected(
        inputs=[input] if input else system.input_names[:1], outputs=[output] if output else system.output_names[:1]
    )
    if not chosen.input_names or not chosen.output_names:
        raise ModelError(
            "A feedback gain needs one input and one output.",
            where="input",
            remedy="Linearise with exactly one of each.",
        )
    numbers = _default_gains(chosen) if gains is None else np.atleast_1d(np.asarray(gains, dtype=float))
    A, B, C, D = chosen.A, chosen.B, chosen.C, chosen.D

    def poles_at(gain: float) -> Complex:
        through = 1.0 + gain * float(D[0, 0])
        if abs(through) < 1e-12:
            raise ModelError(
                f"At the gain {gain:g} the feedback through D is a singular algebraic loop.",
                where=f"{chosen.output_names[0]} → {chosen.input_names[0]}",
                remedy="Choose other gains, or an output without accelerations.",
            )
        poles = np.linalg.eigvals(A - (gain / through) * B @ C)
        return np.asarray(poles[np.lexsort((poles.imag, np.round(np.abs(poles), 9)))], dtype=complex)

    rows = [poles_at(float(k)) for k in numbers]
    name = f"k ({chosen.output_names[0]} → {chosen.input_names[0]})"
    crossings = _find_stability_changes(numbers, rows, lambda _k, value: poles_at(value))
    return RootLocus(name, numbers, match_rows(rows), np.zeros((len(numbers), 0)), crossings)


def _default_gains(system: LinearSystem) -> Array:
    """Return zero, and gains in geometric progression around those at which feedback and system have similar effect."""
    sizes = np.abs(system.poles)
    sizes = sizes[sizes > 1e-6 * max(float(np.max(sizes, initial=0.0)), 1e-300)]
    low, high = (float(np.min(sizes)), float(np.max(sizes))) if len(sizes) else (1.0, 1.0)
    peak = float(np.max(np.abs(system.frequency_response(np.geomspace(0.9 * low, 11.0 * high, 50)))))
    if peak == 0.0:
        raise ModelError(
            f"In the linear system at this state, {system.input_names[0]} does not affect {system.output_names[0]}: no "
            "gain moves a pole.",
            where=system.input_names[0],
            remedy="Choose another input, output or state.",
        )
    return np.concatenate([[0.0], np.geomspace(GAINS[0] / peak, GAINS[1] / peak, DIVISIONS)])
