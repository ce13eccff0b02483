"""Controllers by wanted poles, and machines without the controllers or the sampling that they have.

For one joint with inertia m about it and e = −q, the closed loops are (Åström and Murray, Feedback Systems, 11.3)

- PD: m s² + kd s + kp = m (s² + 2 D ω s + ω²)
- PID: m s³ + kd s² + kp s + ki = m (s + ω) (s² + 2 D ω s + ω²)
- computed torque: s² + kd s + kp, whatever the masses
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import ControlledJoint, Model, Signal
from core.model.edits import edits
from core.model.signals import component_name

KINDS = ("computed_torque", "pd", "pid")


def design_controller(
    mech: Mechanism, q: Any, kind: str, omega: float, damping: float, *, motion: str = "", p: Any = None
) -> Signal:
    """Return a controller of all joints with one coordinate, with poles of the natural frequency omega (rad/s) and the
    damping ratio. Without a motion it holds the pose q. Raises ModelError."""
    model = mech.model.expanded
    if mech.constrained or model.drivers:
        raise ModelError(
            "Gains are chosen from the inertia about each joint, which a machine with loops, constraints or drivers "
            "does not have.",
            where="controller",
            remedy="Use Feedback (LQR), or give the gains in the document.",
        )
    M = mech.mass_matrix(q, p=p)
    rows: list[ControlledJoint] = []
    for joint in model.joints:
        names = [component_name(joint.name, suffix) for suffix in joint.info.speeds]
        if len(names) != 1 or names[0] not in mech.v_names:
            continue
        m = float(M[mech.v_names.index(names[0]), mech.v_names.index(names[0])])
        kp, ki, kd = _gains(kind, m, omega, damping)
        row = ControlledJoint(joint=joint.name, kp=kp, ki=ki, kd=kd)
        if not motion:
            value = float(q[mech.q_names.index(names[0])])
            row = replace(row, reference=value) if value else row
        rows.append(row)
    if not rows:
        raise ModelError(
            "No joint has a single coordinate.", where="controller", remedy="Control joints that turn or slide."
        )
    same = float(kind == "computed_torque")
    return Signal(
        name=edits.unused_name(mech.model, "signals", "controller"),
        kind=kind,
        motion=motion,
        joints=tuple(rows),
        gravity=kind == "pd",
        kp=same * omega**2,
        kd=same * 2.0 * damping * omega,
    )


def _gains(kind: str, m: float, omega: float, damping: float) -> tuple[float | None, float | None, float | None]:
    """Return kp, ki and kd of a joint with inertia m; None: those of the controller."""
    if kind == "pd":
        return m * omega**2, None, 2.0 * damping * omega * m
    if kind == "pid":
        more = 1.0 + 2.0 * damping
        return more * m * omega**2, m * omega**3, more * m * omega
    return None, None, None


def without_controllers(model: Model) -> Model:
    """Return the model without its controllers. Raises ModelError where something else uses their values."""
    return _with_signals(model, lambda signal: None if signal.joints else signal)


def without_sampling(model: Model) -> tuple[Model, tuple[str, ...]]:
    """Return the model with its sampled signals as continuous ones, and their names: their hold, delay, resolution and
    noise are left out. Controllers in Python have no continuous law and are left out whole."""
    names = tuple(signal.name for signal in model.signals if signal.period is not None)

    def continuous(signal: Signal) -> Signal | None:
        if signal.period is None:
            return signal
        if signal.kind == "script":
            return None
        delay = signal.delay if signal.kind == "delay" else 0.0
        return replace(signal, period=None, phase=0.0, delay=delay, resolution=0.0, noise=0.0)

    return (_with_signals(model, continuous), names) if names else (model, ())


def _with_signals(model: Model, change: Any) -> Model:
    signals = tuple(new for new in map(change, model.signals) if new is not None)
    changed = replace(model, signals=signals, origin=model.origin)
    changed.validate()
    return changed
