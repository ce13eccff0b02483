"""Counters of whole turns for measured angles on which forces depend.

Each is a state of its own: x = θ with ẋ = θ̇. What acts takes the measured angle, turned by whole turns to be next to
x, so that errors of the integration do not matter. At rest x is the angle next to a base: of a joint that closes a loop
its rest position, of a sensor the rest of the spring along it (it pulls by the shorter way at first).
"""

from __future__ import annotations

from typing import NamedTuple

from core.mechanics.multibody.tree_of_model import Machine
from core.model import Force, Joint, Model
from core.model.fields import Value, nested_elements
from core.model.forces import JOINT, SENSOR, STRANDS
from core.model.formula.expression import names_in_formula, parse
from core.model.signals import component_name


class TurnCounter(NamedTuple):
    """Measured angle whose turns are counted: coordinate k of a cut joint, or a sensor; name as in formulas."""

    name: str
    joint: str
    k: int
    sensor: str
    base: Value
    where: str


def find_turn_counters(model: Model, machine: Machine) -> tuple[TurnCounter, ...]:
    """Return the turn counters of a model, those of cut joints first."""
    strands = [strand for force in model.forces if force.info.along == STRANDS for strand in force.strands]
    called = names_in_force_formulas(model) | {strand.joint or strand.sensor for strand in strands}
    found = [
        TurnCounter(
            component_name(joint.name, suffix), joint.name, k, "", _rest_value(joint, k), f"joint '{joint.name}', rest"
        )
        for joint in machine.members
        if joint.name in machine.laws
        for k, suffix in enumerate(joint.info.coordinates)
        if _needs_counter(model, joint, k, called)
    ]
    for sensor in model.sensors:
        along = [force for force in model.forces if force.info.along == SENSOR and force.sensor == sensor.name]
        if sensor.info.turns and (sensor.name in called or any(map(_has_elastic_law, along))):
            base = along[0].rest if along else 0.0
            where = f"force '{along[0].name}', rest" if along else f"sensor '{sensor.name}'"
            found.append(TurnCounter(sensor.name, "", 0, sensor.name, base, where))
    return tuple(found)


def _needs_counter(model: Model, joint: Joint, k: int, used_names: set[str]) -> bool:
    """Return True if the angle of a cut joint affects forces. A screw joint needs no counter, because its advance
    determines the turns."""
    info = joint.info
    if info.nq > info.nv or not info.wraps_around(k):
        return False
    name = component_name(joint.name, info.coordinates[k])
    within = any(
        force.info.along == JOINT and force.joint == joint.name and _has_elastic_law(force) for force in model.forces
    )
    return joint.stiffness != 0.0 or within or name in used_names or f"{name}.q" in used_names


def _has_elastic_law(force: Force) -> bool:
    return force.stiffness != 0.0 or isinstance(force.law, str)


def _rest_value(joint: Joint, k: int) -> Value:
    return joint.rest[k] if joint.rest else 0.0


def formulas_by_element(model: Model) -> list[tuple[str, str]]:
    """Return (joint or force, formula) for the formulas of forces and of joint friction."""
    rubbing: tuple[Joint | Force, ...] = (*model.joints, *model.forces)
    return [(each.name, level) for each in rubbing for level in each.friction_levels if isinstance(level, str)] + [
        (force.name, value)
        for force in model.forces
        for part in nested_elements(force)
        for value in (getattr(part, "law", None), *getattr(part, "force", ()), *getattr(part, "torque", ()))
        if isinstance(value, str)
    ]


def force_formulas(model: Model) -> list[str]:
    """Return the formulas of forces and of joint friction."""
    return [formula for _, formula in formulas_by_element(model)]


def names_in_force_formulas(model: Model) -> set[str]:
    """Return the names used in the formulas of forces and signals."""
    own = {name for text in force_formulas(model) for name in names_in_formula(parse(text))}
    return own | model.signal_table.used_names if model.signals else own
