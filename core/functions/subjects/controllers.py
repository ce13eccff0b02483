"""Functions for controllers of joints: gains by wanted poles, and the poles of closed loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.diagrams import Series
from core.functions.function import Function, needs_mass, needs_motion
from core.functions.options import Choice, ElementName, Flag, Number, OutputFile
from core.functions.results import Message, Report, Result, Table
from core.functions.subjects.control import mode_table, pole_zero_diagram
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.control.linear_system import LinearSystem
    from core.model import Model, Signal

TITLES = {"computed_torque": "Computed torque", "pd": "PD with gravity", "pid": "PID"}


def _needs_controller(context: Context) -> str:
    """Check that the document has a controller; return the reason if it has none, else ''."""
    has = any(signal.joints for signal in context.model.signals)
    return "" if has else "The model has no controller; add one, or use the function Controller."


def _needs_open_machine(context: Context) -> str:
    """Check that each joint has an inertia of its own; return the reason if not, else ''."""
    if context.mech.constrained or context.model.expanded.drivers:
        return "The model has loops, constraints or drivers; use Feedback (LQR)."
    single = any(len(joint.info.speeds) == 1 for joint in context.model.expanded.joints)
    return "" if single else "The model has no joint that turns or slides alone; add one."


def _linear_system(context: Context, model: Model) -> LinearSystem:
    """Return the linear system of a model without inputs and outputs, at the present pose at rest."""
    from core.control.linear_system import LinearSystem
    from core.control.linearise import linearise
    from core.mechanism import Mechanism

    mech = context.mech if model is context.model else Mechanism(model)
    found = linearise(mech, context.q, inputs=(), outputs=(), p=dict(context.p) or None, t=context.t)
    assert isinstance(found, LinearSystem)
    return found


def _pole_parts(closed: LinearSystem, open_loop: LinearSystem | None) -> list[Result]:
    """Return the result's words on stability, its table of poles, and the diagram of them."""
    fastest = max((abs(pole) for pole in closed.poles), default=0.0)
    size = 1e-9 * max(fastest, 1.0)
    slowest = max((pole.real for pole in closed.poles), default=0.0)
    if slowest > size:
        text = f"The closed loop is unstable: a deviation grows by e in {1.0 / slowest:.3g} s."
        words = Message(text=text, severity="warning")
    elif slowest > -size:
        words = Message(text="The closed loop has poles on the imaginary axis, which do not decay.", severity="hint")
    else:
        text = f"The closed loop is stable: deviations decay by e in {-1.0 / slowest:.3g} s at the latest."
        words = Message(text=text, severity="done")
    series = [Series("closed", tuple(closed.poles.real), tuple(closed.poles.imag), "x")]
    if open_loop is not None:
        series.insert(0, Series("open", tuple(open_loop.poles.real), tuple(open_loop.poles.imag), "x"))
    return [words, mode_table(closed), pole_zero_diagram("Poles", series)]


def closed_loop_poles(context: Context, compare: bool = True) -> Result:
    """Compute the poles of the machine with its controllers, and of the machine without them."""
    from core.control.controller_design import without_controllers, without_sampling

    context.step(0, 2, "Closed loop")
    model, sampled = without_sampling(context.model)
    closed = _linear_system(context, model)
    context.step(1, 2, "Open loop")
    parts = _pole_parts(closed, _linear_system(context, without_controllers(model)) if compare else None)
    if sampled:
        text = f"Taken as continuous, without period, delay, resolution and noise: {', '.join(sampled)}."
        parts.append(Message(text=text, severity="hint"))
    if not closed.at_rest:
        text = "The machine does not rest here: the poles are those of small deviations from its motion at this moment."
        parts.append(Message(text=text, severity="hint"))
    return Report(title="Closed-loop poles", parts=tuple(parts))


def controller(
    context: Context,
    kind: str = "computed_torque",
    frequency: float = 2.0,
    damping: float = 1.0,
    motion: str = "",
    period: float | None = None,
    file: str = "",
) -> Result:
    """Choose the gains of a controller for wanted poles; write the machine with it to a file if one is named."""
    from dataclasses import replace
    from math import pi

    from core.control.controller_design import design_controller, without_controllers, without_sampling

    p = context.mech.parameter_values(dict(context.p) or None)
    model = without_controllers(context.model)
    bare = context.mech if model.signals == context.model.signals else None
    if bare is None:
        from core.mechanism import Mechanism

        bare = Mechanism(model)
    context.step(0, 2, "Gains")
    law = design_controller(bare, context.q, kind, 2.0 * pi * frequency, damping, motion=motion, p=p)
    law = replace(law, period=period or None)
    made = replace(model, signals=(*model.signals, law), origin=model.origin)
    made.validate()
    context.step(1, 2, "Closed loop")
    parts: list[Result] = [_gain_table(law)]
    if removed := [each.name for each in context.model.signals if each.joints]:
        parts.append(Message(text=f"It takes the place of {', '.join(removed)}.", severity="hint"))
    parts += _pole_parts(_linear_system(context, without_sampling(made)[0]), _linear_system(context, model))
    if file:
        from core.files import save

        save(made, file)
        parts.append(Message(text=f"The machine with its controller has been written to {file}."))
    return Report(title=f"Controller: {TITLES[kind]}", parts=tuple(parts))


def _gain_table(law: Signal) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            row.component,
            *(float(getattr(law, gain) if getattr(row, gain) is None else getattr(row, gain)) for gain in _GAINS),
        )
        for row in law.joints
    ]
    inertia = "of the error, as an acceleration" if law.kind == "computed_torque" else "of the error, as a force"
    return Table(
        title=f"Gains of {law.name}", columns=tuple(map(Column, ("Joint", *_GAINS))), rows=tuple(rows), note=inertia
    )


_GAINS = ("kp", "ki", "kd")

FUNCTIONS = (
    Function(
        "controller",
        "Controller",
        "Control",
        "Gains of a controller of all joints, by the natural frequency and damping ratio of its poles.\n\n"
        "It holds the present pose, or follows a motion. Computed torque has these poles everywhere; PD and PID have "
        "them for each joint alone, with the inertia about it in the present pose, and the closed loop's own poles are "
        "listed. A PID has a third pole at the natural frequency. When saved to a file, the machine contains the "
        "controller and can be simulated as it is.",
        controller,
        (
            Choice(
                "kind",
                "Kind",
                "Law of the controller",
                "computed_torque",
                ("computed_torque", "pd", "pid"),
                titles=TITLES,
            ),
            Number("frequency", "Natural frequency", "Of the poles", 2.0, "frequency", minimum=1e-3),
            Number("damping", "Damping ratio", "Of the poles; 1: no overshoot", 1.0, minimum=0.0),
            ElementName(
                "motion",
                "Motion",
                "Motion to follow; empty: the present pose",
                collection="motions",
                none="Present pose",
            ),
            Number("period", "Period", "Time between samples; empty: continuous", None, "time", minimum=1e-6),
            OutputFile("file", "Save to", "Machine file (.kst) with the controller; empty: none", "", (".kst",)),
        ),
        needs=(needs_motion, needs_mass, _needs_open_machine),
        also=("PID", "PD", "computed torque", "gains", "pole placement", "tracking", "servo"),
    ),
    Function(
        "closed_loop_poles",
        "Closed-loop poles",
        "Control",
        "Poles of the machine with its controllers about the present pose, and without them.\n\n"
        "The equations and the laws of all controllers and signals are differentiated exactly. Sampled laws are taken "
        "as continuous, which is true for periods that are short compared with the poles.",
        closed_loop_poles,
        (Flag("compare", "Open loop", "Also show the poles without controllers", True),),
        needs=(needs_motion, needs_mass, _needs_controller),
        also=("stability of the controller", "eigenvalues of the closed loop", "damping of the controller"),
    ),
)
