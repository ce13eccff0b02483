"""The user's settings for a simulation as plain data, and their conversion to arguments of `simulate`. This module does
not use Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.document.run_pose import match_coordinates_by_name
from core.constraints.other_cuts import closing_speeds
from core.errors import ModelError
from core.later import dataclass
from core.simulation import METHODS
from core.simulation.methods.method import ATOL, AUTOMATIC, RTOL
from core.simulation.run.initial_state import start_speeds
from core.simulation.run.settings import AUTOMATIC_FACTORS, FACTORISATIONS, check_closing

if TYPE_CHECKING:
    from app.document.run_tree import RunRecord
    from app.document.session import Session
    from core.mechanism import Mechanism

Array = NDArray[np.float64]

STARTS = {
    "pose": (
        "Pose set by hand",
        (
            "From the pose set by handles or sliders, not the pose shown during playback, with the start "
            "speeds below. “Use this pose” in the timeline adopts the pose of a run."
        ),
    ),
    "rest": ("Rest", "From the rest pose, with the start speeds below."),
    "moment": (
        "Playhead of the run",
        ("From the playhead: the new run branches off there, with the same speeds and time."),
    ),
    "moving": (
        "Pose set by hand, speeds of the run",
        "From the pose set by hand, with the speeds of the run at the playhead.",
    ),
}
"""Choices for the initial state of a run: id → title, explanation."""
REMEMBERED = ("duration", "method", "rtol", "atol", "step", "output", "closed_forms", "closing", "factorisation")
"""Settings that are also used for other machines."""


@dataclass(frozen=True)
class RunSettings:
    """Settings of a run. duration, step, output : s (None: automatic); rtol, atol : tolerances; start : one of
    `STARTS`; speeds : initial speeds by name, rad/s or m/s; forces : joint forces by speed, numbers (N·m, N) or
    formulas; closed_forms : close loops analytically where possible; closing : method of iterative loop closure,
    factorisation : how its equations are solved, see `simulate`"""

    duration: float = 10.0
    method: str = AUTOMATIC
    rtol: float = RTOL
    atol: float = ATOL
    step: float | None = None
    output: float | None = None
    start: str = "pose"
    speeds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    forces: Mapping[str, float | str] = field(default_factory=lambda: MappingProxyType({}))
    closed_forms: bool = True
    closing: float | None = None
    factorisation: str = AUTOMATIC_FACTORS

    def remembered_settings(self) -> dict[str, Any]:
        """Return the settings that are stored between sessions."""
        return {name: getattr(self, name) for name in REMEMBERED}

    @staticmethod
    def from_remembered(data: Any) -> RunSettings:
        """Return run settings from stored data; invalid entries are ignored."""
        first = RunSettings()
        if not isinstance(data, dict):
            return first
        known = {
            each.name: data[each.name] for each in fields(RunSettings) if each.name in REMEMBERED and each.name in data
        }
        if known.get("method", first.method) not in METHODS:
            known.pop("method")
        if loop_closure_problem(known.get("closing")):
            known.pop("closing")
        if known.get("factorisation", first.factorisation) not in FACTORISATIONS:
            known.pop("factorisation")
        numbers = ("duration", "rtol", "atol", "step", "output")
        good = {
            name: value
            for name, value in known.items()
            if name not in numbers
            or (isinstance(value, float | int) and value > 0)
            or (value is None and name in ("step", "output"))
        }
        return RunSettings(**good)


def loop_closure_problem(value: Any) -> str:
    """Return why a value is not a valid setting for iterative loop closure; empty if it is valid."""
    try:
        check_closing(value)
    except ModelError as error:
        return f"{error.what} {error.remedy}"
    return ""


class InitialState(NamedTuple):
    """Initial state of a run: q (nq,), v (nv,), time (s), the run from which it branches, and the states of force
    elements by name where they are not at rest.

    named : the speeds of v that were given, which are kept while the others follow; None: v is one of a motion
    """

    q: Array
    v: Array
    time: float = 0.0
    parent: RunRecord | None = None
    x: Mapping[str, float] = MappingProxyType({})
    named: Mapping[str, float] | None = None

    @property
    def speeds(self) -> Array | Mapping[str, float]:
        """Return the initial speeds in the form that `simulate` accepts."""
        return self.v if self.named is None else self.named


def find_initial_state(run_settings: RunSettings, session: Session) -> InitialState:
    """Return the initial state selected in the settings, without elements that no longer exist.

    A pose in which the playhead shows a run is no start, so that runs made one after another can be compared.
    """
    mech, runs = session.mech, session.runs
    own = dict(zip(mech.v_names, start_speeds(mech), strict=True))
    v = np.array([float(run_settings.speeds.get(name, own[name])) for name in mech.v_names])
    record = runs.current
    if run_settings.start in ("moment", "moving") and record is not None:
        k = record.run
        moment = map_speeds_by_name(mech, k.mech, interpolate_speeds(k, runs.time))
        if run_settings.start == "moment":
            q = match_coordinates_by_name(session, k, k.at(runs.time))
            states = dict(zip(k.mech.x_names, k.states_at(runs.time).tolist(), strict=False))
            return InitialState(q, moment, runs.time, record, {n: x for n, x in states.items() if n in mech.x_names})
        return InitialState(session.q.copy(), moment, 0.0, record)
    q = session.q if run_settings.start != "rest" and session.has_preview else session.edited_pose
    q = session.reference_configuration.copy() if run_settings.start == "rest" else q.copy()
    return InitialState(q, v, named=_specified_speeds(run_settings, mech, v))


def _specified_speeds(run_settings: RunSettings, mech: Mechanism, v: Array) -> dict[str, float] | None:
    """Return the speeds in v that are specified by the user or by joints; None if there are none, or if some belong to
    loop-closing joints."""
    stating = [joint.name for joint in mech.model.expanded.joints if joint.start_speed and joint.mimic is None]
    if {loop.cut for loop in mech.loops} & set(stating):
        return None
    names = {name for joint in stating for name in mech.v_names[mech.joint_v(joint)]} | set(run_settings.speeds)
    closing = closing_speeds(mech.compiled)
    cut = {name: float(x) for name, x in run_settings.speeds.items() if name in closing}
    return {name: float(x) for name, x in zip(mech.v_names, v, strict=True) if name in names} | cut or None


def interpolate_speeds(run: Any, time: float) -> Array:
    """Return the speeds of a run at a time (nv,), interpolated linearly between samples."""
    return np.array([np.interp(time, run.time, column) for column in run.v.T])


def map_speeds_by_name(mech: Mechanism, other: Mechanism, v: Array) -> Array:
    """Return the speeds of another machine transferred to this one by name (nv,)."""
    values = dict(zip(other.v_names, v, strict=True))
    return np.array([values.get(name, 0.0) for name in mech.v_names])


def simulate_arguments(run_settings: RunSettings, session: Session, start: InitialState) -> dict[str, Any]:
    """Return the keyword arguments of `core.simulation.simulate` for the machine `session.mech` with the document's
    parameters."""
    mech = session.mech
    adaptive = METHODS[run_settings.method].adaptive
    known = {*mech.v_names, *closing_speeds(mech.compiled)}
    forces = {name: value for name, value in run_settings.forces.items() if name in known}
    return {
        "duration": run_settings.duration,
        "method": run_settings.method,
        "rtol": run_settings.rtol,
        "atol": run_settings.atol,
        "step": run_settings.step if run_settings.step is not None or adaptive else 1e-3,
        "output": run_settings.output,
        "q0": start.q,
        "v0": start.speeds,
        "x0": dict(start.x) or None,
        "start": start.time,
        "parameters": dict(session.edited_parameters) or None,
        "torque": forces or None,
        "closed_forms": None if run_settings.closed_forms else False,
        "closing": run_settings.closing,
        "factorisation": run_settings.factorisation,
    }
