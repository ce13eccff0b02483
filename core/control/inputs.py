"""Inputs of a machine by name, as columns of its linear equations.

    joint.tau, joint.x.tau   force or torque along a coordinate, of joints that close loops, too
    force.input              added to the law of a force element: an actuator
    driver.signal            what a driver moves by: its value, and rates of it (`driver_as`)
    name of a parameter      any independent one; a constant that is stepped
    gravity, gravity.x       acceleration of gravity
    frame.force, .torque, .wrench, also .force.x   on a body or frame at its origin, world axes

What the document has no parameter for gets one, of value 0, in a model of its own (`extended`); then every input but
joint forces and drivers is a parameter of the expressions, and its columns are exact derivatives of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.errors import ModelError, suggest_names
from core.mechanism import Mechanism
from core.model import WORLD, Force, Model, Parameter
from core.model.dimensions import force_dimension, rate_dimension
from core.model.edits import edits

XYZ = ("x", "y", "z")
LAWS = ("line", "sensor", "joint", "tendon")
"""Kinds of force elements with a law to which an input can be added."""
ORDERS = ("", ".rate", ".second")
"""Suffixes for a driver's value, rate and second rate."""


class Input(NamedTuple):
    """An input: its name, dimension, and the parameter, speed or driver row through which it acts.

    speed : index of the speed along which it acts; parameter : name of a parameter of the extended model; row : of a
    driver, with order 0 value, 1 rate, 2 second rate of what it moves
    """

    name: str
    dimension: str
    speed: int = -1
    parameter: str = ""
    row: int = -1
    order: int = 0


def input_names(mech: Mechanism) -> tuple[str, ...]:
    """Return all inputs of a machine, vectors by component."""
    model = mech.model.expanded
    of_frames = [f"{frame}.{what}.{axis}" for frame in mech.frame_names for what in ("force", "torque") for axis in XYZ]
    return (
        *(f"{name}.tau" for name in mech.v_names),
        *(f"{cut.name}.tau" for cut in mech.compiled.cuts if cut.info.nv == 1),
        *(f"{force.name}.input" for force in model.forces if force.kind in LAWS),
        *(f"{driver.name}.signal" for driver in model.drivers),
        *mech.p_names,
        *(f"gravity.{axis}" for axis in XYZ if model.world.gravity.kind == "uniform"),
        *of_frames,
    )


class Inputs:
    """Inputs with the given names; `mech` is the mechanism of the model extended by a parameter for each input that
    needs one."""

    def __init__(self, mech: Mechanism, names: Sequence[str]) -> None:
        self._given = mech
        self._model: Model = mech.model.expanded
        self.table: list[Input] = []
        for name in names:
            self.table += self._inputs_with_name(name)
        twice = [each.name for k, each in enumerate(self.table) if each.name in {e.name for e in self.table[:k]}]
        if twice:
            raise ModelError(f"The input '{twice[0]}' is named twice.", where="inputs", remedy="Name it once.")
        changed = self._model is not mech.model.expanded
        self.mech = Mechanism(self._model) if changed else mech

    def _inputs_with_name(self, name: str) -> Iterator[Input]:
        owner, _, what = name.rpartition(".")
        mech, model = self._given, self._given.model.expanded
        if what == "tau" and owner in mech.v_names:
            speed = mech.v_names.index(owner)
            turns = dimension_of_speed(mech, speed) == "angular_velocity"
            return iter([Input(name, "torque" if turns else "force", speed=speed)])
        if what == "tau" and any(cut.name == owner and cut.info.nv == 1 for cut in mech.compiled.cuts):
            return iter([self._cut_joint_input(name, owner)])
        if what == "input" and (force := next((f for f in model.forces if f.name == owner), None)) is not None:
            return iter([self._law_input(name, force)])
        if what == "signal" and any(driver.name == owner for driver in model.drivers):
            return self._driver_input(name, owner)
        if name in mech.p_names:
            return iter([Input(name, model.find("parameters", name).dimension, parameter=name)])
        if name == "gravity" or owner == "gravity":
            return self._gravity_input(name, what)
        return self._frame_input(name)

    def _add_parameter(self, dimension: str) -> str:
        """Add a parameter of value 0 and return its name."""
        name = edits.unused_name(self._model, "parameters", "added_input")
        known = dimension if dimension in ("acceleration", "force", "torque") else "none"
        self._model = edits.add(self._model, Parameter(name=name, value=0.0, dimension=known))
        return name

    def _cut_joint_input(self, name: str, joint: str) -> Input:
        dimension = force_dimension(self._model.find("joints", joint).info.coordinate_dimensions[0])
        added = self._add_parameter(dimension)
        motor = edits.unused_name(self._model, "forces", f"{joint}_motor")
        self._model = edits.add(self._model, Force(name=motor, kind="joint", joint=joint, law=f"-({added})"))
        return Input(name, dimension, parameter=added)

    def _law_input(self, name: str, force: Force) -> Input:
        if force.kind not in LAWS:
            raise ModelError(
                f"A force element of kind {force.kind} has no law to which an input could be added.",
                where=f"input '{name}'",
                remedy=f"Use '{force.b}.force'." if force.kind == "wrench" else "Use a line or joint force.",
            )
        dimension = force_dimension(force.along(self._model, None))
        added = self._add_parameter(dimension)
        law = added if force.law is None else f"({force.law}) + {added}"
        self._model = edits.change(self._model, "forces", force.name, law=law)
        return Input(name, dimension, parameter=added)

    def _driver_input(self, name: str, driver: str) -> Iterator[Input]:
        rows = self._given.compiled.rows
        row = next(k for k, each in enumerate(rows) if each.collection == "drivers" and each.element == driver)
        measured = self._given.model.expanded.find("drivers", driver).along(self._given.model.expanded, 0)
        dimensions = (measured, rate_dimension(measured), rate_dimension(rate_dimension(measured)))
        for order in range(3):
            yield Input(name + ORDERS[order], dimensions[order], row=row, order=order)

    def _gravity_input(self, name: str, component: str) -> Iterator[Input]:
        gravity = self._given.model.expanded.world.gravity
        axes = XYZ if name == "gravity" else (component,)
        if gravity.kind != "uniform" or not set(axes) <= set(XYZ):
            uniform = "gravity.x, gravity.y and gravity.z are inputs."
            remedy = f"With uniform gravity, {uniform}" if gravity.kind != "uniform" else f"Only {uniform}"
            raise ModelError(f"'{name}' is not an input of this machine.", where="inputs", remedy=remedy)
        for axis in axes:
            added = self._add_parameter("acceleration")
            world = self._model.world
            x, y, z = (
                f"({entry}) + {added}" if axis == own else entry
                for own, entry in zip(XYZ, world.gravity.acceleration, strict=True)
            )
            changed = dataclasses.replace(world.gravity, acceleration=(x, y, z))
            self._model = dataclasses.replace(self._model, world=dataclasses.replace(world, gravity=changed))
            yield Input(f"gravity.{axis}", "acceleration", parameter=added)

    def _frame_input(self, name: str) -> Iterator[Input]:
        frames = self._given.frame_names
        axes: tuple[str, ...] = XYZ
        head, _, tail = name.rpartition(".")
        if tail in XYZ:
            name, axes = head, (tail,)
        frame, _, what = name.rpartition(".")
        if frame not in frames or what not in ("force", "torque", "wrench") or (what == "wrench" and len(axes) == 1):
            asked = name if len(axes) == 3 else f"{name}.{axes[0]}"
            raise ModelError(
                f"There is no input '{asked}'.", where="inputs", remedy=suggest_names(asked, input_names(self._given))
            )
        for kind in ("torque", "force") if what == "wrench" else (what,):
            added = {axis: self._add_parameter(kind) for axis in axes}
            x, y, z = (added.get(axis, 0.0) for axis in XYZ)
            on_frame = edits.unused_name(self._model, "forces", f"{frame}_input")
            new = Force(name=on_frame, kind="wrench", a=WORLD, b=frame)
            field = (
                dataclasses.replace(new, force=(x, y, z))
                if kind == "force"
                else dataclasses.replace(new, torque=(x, y, z))
            )
            self._model = edits.add(self._model, field)
            for axis in axes:
                yield Input(f"{frame}.{kind}.{axis}", kind, parameter=added[axis])


def dimension_of_speed(mech: Mechanism, speed: int) -> str:
    """Return the dimension of a speed."""
    return mech.compiled.coordinates.speed_dimensions[speed]
