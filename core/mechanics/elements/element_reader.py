"""Reader of the document's sensors, force elements, loops, constraints and drivers, over the scalars of a machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from core.mechanics.dry_friction import owner_name
from core.mechanics.elements.constraints import CONSTRAINTS
from core.mechanics.elements.constraints.cut_joint import CutJoint
from core.mechanics.elements.constraints.kinematic_constraint import KinematicConstraint, Row, Side
from core.mechanics.elements.forces import FORCES
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.time_argument import Clock
from core.mechanics.elements.turn_counters import find_turn_counters
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.tree_of_model import Machine
from core.model import Driver, Force, Joint, Model
from core.numerics.spatial.scalar import is_zero

if TYPE_CHECKING:
    from core.mechanics.dry_friction import DryFriction
    from core.mechanics.elements.added_inertia import AddedInertia
    from core.mechanics.elements.forces.force_element import ForceElement
    from core.mechanics.elements.line_masses import LineMass
    from core.mechanics.elements.rotors import Rotor


class MachineElements(Resolver):
    """Sensors and forces of a model, bound to a machine (rigidly joined bodies merged into links, or each body a link
    of its own)."""

    def __init__(self, model: Model, machine: Machine, numbers: Numbers) -> None:
        own = [(force.name, FORCES[force.kind].states_of(force, model)) for force in model.forces]
        begins = list(accumulate((len(words) for _, words in own), initial=3 * len(model.junctions)))
        states = {name: first for (name, words), first in zip(own, begins, strict=False) if words}
        of_signals = {name: begins[-1] + k for k, name in enumerate(model.signal_table.states)}
        end = begins[-1] + len(of_signals)
        counters = {each.name: (end + k, each) for k, each in enumerate(find_turn_counters(model, machine))}
        super().__init__(model, machine, numbers, states, counters, of_signals)
        self.x_names = (
            *(f"{name}.{axis}" for name in self.junctions for axis in "xyz"),
            *(f"{name}.{word}" for name, words in own for word in words),
            *of_signals,
            *(f"{name}.turned" for name in self.turn_counters),
        )

    @cached_property
    def forces(self) -> tuple[ForceElement, ...]:
        """Return all force elements of the document, then brakes, the passive forces of cut joints, and the forces of
        controllers."""
        from core.mechanics.elements.control_forces import ControlForce
        from core.mechanics.elements.forces.in_joint import build_passive_forces

        return (
            *(FORCES[force.kind].read(force, self) for force in self.model.forces),
            *build_passive_forces(self),
            *(ControlForce.of_signal(*each, self) for each in self.model.signal_table.forces),
        )

    @cached_property
    def controlled_friction(self) -> dict[str, DryFriction]:
        """Return the dry friction whose levels are formulas of time or state, by the name of its brake or clutch."""
        rubbing: tuple[Joint | Force, ...] = (*self.machine.members, *self.model.forces)
        return {owner_name(each): self.friction(each) for each in rubbing if self.is_controlled(each)}

    @property
    def named_forces(self) -> tuple[ForceElement, ...]:
        """Return the force elements of the document."""
        return self.forces[: len(self.model.forces)]

    @cached_property
    def loss_states(self) -> tuple[int, ...]:
        """Return the indices in x of energies that force elements have lost, J."""
        return tuple(force.loss_state for force in self.named_forces if force.loss_state >= 0)

    def force_elements_in(self, joint: str) -> list[ForceElement]:
        """Return the elements that act in a joint: those of the document along its coordinates, and its passive
        forces."""
        return [element for element in self.forces if element.joint == joint]

    @cached_property
    def line_masses(self) -> tuple[LineMass, ...]:
        """Return the point masses on the lines of forces."""
        return tuple(mass for force in self.model.forces for mass in FORCES[force.kind].masses(force, self))

    @cached_property
    def rotors(self) -> tuple[Rotor, ...]:
        """Return the rotor inertias of cut joints."""
        from core.mechanics.elements.rotors import Rotor

        found: list[Rotor] = []
        for name, (law, _, _) in self.machine.laws.items():
            J = self.numbers.scalar(self.machine.find_joint(name).armature, f"joint '{name}', armature")
            if law.nv and not is_zero(J):
                found.append(Rotor(name, self.measure_of_joint(name), J))
        return tuple(found)

    @cached_property
    def tendon_inertias(self) -> tuple[AddedInertia, ...]:
        """Return the masses that move with the lengths of tendons."""
        return tuple(mass for force in self.model.forces for mass in FORCES[force.kind].moving_masses(force, self))

    @property
    def added_inertia(self) -> tuple[AddedInertia, ...]:
        """Return everything that has inertia in addition to the links."""
        return (*self.line_masses, *self.rotors, *self.tendon_inertias)


class ConstraintReader:
    """All constraints on the machine of `elements`: cut joints first, then constraints and drivers."""

    def __init__(self, elements: MachineElements, clock: Clock) -> None:
        self.elements, self.clock = elements, clock
        self.table: tuple[KinematicConstraint, ...] = (
            *(CutJoint.read(name, elements) for name in elements.machine.laws),
            *(CONSTRAINTS[each.kind].read(each, elements) for each in elements.model.constraints),
            *map(self._read_driver, elements.model.drivers),
        )

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return all rows."""
        return tuple(row for constraint in self.table for row in constraint.rows)

    def sides(self) -> Iterator[tuple[KinematicConstraint, Side, slice]]:
        """Iterate over (constraint, side, its rows) of all sides that exert wrenches."""
        start = 0
        for constraint in self.table:
            rows = slice(start, start + len(constraint.rows))
            start = rows.stop
            for side in constraint.sides:
                yield constraint, side, rows

    def _read_driver(self, driver: Driver) -> KinematicConstraint:
        from core.mechanics.elements.drivers import DRIVERS
        from core.mechanics.elements.drivers.driver_kind import build_time_function

        kind = next(kind for field, kind in DRIVERS.items() if getattr(driver, field))
        return kind.read(driver, build_time_function(driver, self.elements, self.clock), self.elements)
