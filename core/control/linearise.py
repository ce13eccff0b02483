"""Function `linearise`: the linear system of a machine about a state, or along a run, with inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.control.descriptor import DescriptorSystem
from core.control.linear_system import LinearSystem, LinearSystems
from core.control.lineariser import Lineariser, Point, input_points
from core.control.open_chains import systems_along, unconstrained_states
from core.control.operating_point import OperatingPoint
from core.errors import ModelError
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.simulation.run.interpolation import between

if TYPE_CHECKING:
    from core.model import Model
    from core.simulation import Run

Array = NDArray[np.float64]


def linearise(
    machine: Model | Mechanism | Run,
    at: Any = None,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    coordinates: Sequence[str] | Literal["auto"] = "auto",
    form: Literal["minimal", "descriptor"] = "minimal",
    v: Any = None,
    tau: Any = None,
    p: Values = None,
    t: float = 0.0,
    driver_as: Literal["signal", "acceleration"] = "signal",
    friction: bool = True,
    motors: bool = True,
) -> LinearSystem | LinearSystems | DescriptorSystem:
    """Linearise a machine exactly on its constraint manifold.

    machine : a model, a mechanism, or a run
    at : (nq,) position, closed first (default: the rest pose), an `OperatingPoint`'s solution, or the name of one of
        the document; of a run a time, s, or times, for which a `LinearSystems` is given
    inputs : names as `core.control.inputs` says: joint.tau, force.input, driver.signal, parameters, gravity.x,
        frame.force … ; outputs : channels of a run, or formulas of them
    coordinates : names of independent speeds, or "auto"; form : "minimal" in these, or "descriptor": (E, A, B, C, D) in
        all coordinates, accelerations and multipliers, at one state (a `DescriptorSystem`)
    v, tau : (nv,) or by name; p : parameters; t : s; of a run its own
    driver_as : a driver's input is what it moves by, in columns of value, rate and second rate; or its acceleration,
        value and rate being states
    friction : joints at rest stick where dry friction holds them
    motors : `tau` is what motors are asked for, which give what their limits allow, as in runs: at a limit of effort
        its input changes nothing, at one of speed that is held (`saturated`, `limited` of what comes); False: joints
        get it

    Raises ModelError for names that there are not, coordinates that do not determine the motion, and outputs that
    depend on forces which redundant constraints leave open.
    """
    if driver_as not in ("signal", "acceleration"):
        raise ModelError(
            f"driver_as cannot be '{driver_as}'.", where="driver_as", remedy="Use 'signal' or 'acceleration'."
        )
    if form not in ("minimal", "descriptor"):
        raise ModelError(f"form cannot be '{form}'.", where="form", remedy="Use 'minimal' or 'descriptor'.")
    for word, names in (("inputs", inputs), ("outputs", outputs), ("coordinates", coordinates)):
        if isinstance(names, str) and (word, names) != ("coordinates", "auto"):
            raise ModelError(f"{word} is a single text.", where=word, remedy=f"Write a list: {word}=['{names}'].")
        if wrong := [name for name in names if not isinstance(name, str)]:
            raise ModelError(f"{wrong[0]!r} is not a name.", where=word, remedy="Give names as texts.")
    named = () if isinstance(coordinates, str) else tuple(coordinates)
    points, many = _points_of(machine, at, v, tau, p, t)
    if not points:
        raise ModelError(
            "No times are given.", where="at", remedy="Give at least one, or omit `at` for all samples of the run."
        )
    first = points[0]
    maker = Lineariser(first.mech, inputs, outputs, first.p, driver_as, friction, motors)
    if form == "descriptor":
        return _single_system(points, many, maker)
    if len(points) > 1 and not named and (all_at_once := _open_chain_systems(maker, points)) is not None:
        return all_at_once
    systems: list[LinearSystem] = []
    changes: list[tuple[float, tuple[str, ...]]] = []
    for point in points:
        found = maker.at(point, named, kept=changes[-1][1] if changes else ())
        if not changes or found.coordinates != changes[-1][1]:
            changes.append((point.t, found.coordinates))
        systems.append(found)
    return LinearSystems(np.array([each.t for each in points]), tuple(systems), tuple(changes)) if many else systems[0]


def _single_system(points: Sequence[Point], many: bool, maker: Lineariser) -> DescriptorSystem:
    if many:
        raise ModelError("A descriptor system can be computed for one state only.", where="at", remedy="Give one time.")
    return maker.descriptor_at(points[0])


def _open_chain_systems(maker: Lineariser, points: Sequence[Point]) -> LinearSystems | None:
    """Linearise at all points at once, for machines without constraints; None if that is not possible."""
    q, v, tau = (np.array([getattr(point, name) for point in points]) for name in ("q", "v", "tau"))
    p = maker.values(points[0].p)
    states = unconstrained_states(maker.mech, p, q, v, tau, np.array([point.t for point in points]), maker.motors)
    return systems_along(maker, states, lambda k: maker.at(points[k])) if states.free.any() else None


def _points_of(machine: Any, at: Any, v: Any, tau: Any, p: Values, t: float) -> tuple[list[Point], bool]:
    if hasattr(machine, "computed_channels"):
        return _points_of_run(machine, at)
    mech = machine if isinstance(machine, Mechanism) else Mechanism(machine)
    if isinstance(at, str):
        at = OperatingPoint(mech, at, p=p).solve().met()
    if hasattr(at, "multipliers"):  # a solved operating point, whose machine has a parameter more for other inputs
        own = at.mech if at.mech.p_names != mech.p_names else mech
        return [Point(own, at.q, at.v, at.tau, at.x, own.parameter_values(at.parameters), at.t)], False
    return [input_points(mech, at, v, tau, p, t)], False


def _points_of_run(run: Any, at: Any) -> tuple[list[Point], bool]:
    times = np.atleast_1d(np.asarray(run.time if at is None else at, dtype=float))
    outside = times[(times < run.time[0]) | (times > run.time[-1]) | ~np.isfinite(times)]
    if len(outside):
        raise ModelError(
            f"The run has no time {outside[0]:g} s.",
            where="at",
            remedy=f"Give times from {run.time[0]:g} to {run.time[-1]:g} s.",
        )
    mech = run.mech
    values = run.settings.values_of(mech.p_names)
    q = between(run, times)[0]
    v, tau = (np.array([np.interp(times, run.time, each) for each in rows.T]).T for rows in (run.v, run.tau))
    result = []
    for k, time in enumerate(times):
        x = run.states_at(float(time)) if run.x.shape[1] else None
        result.append(Point(mech, q[k], v[k], tau[k], x, values, float(time)))
    return result, np.ndim(run.time if at is None else at) > 0
