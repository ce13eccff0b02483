"""Reader of the document's loops, constraints and drivers, which become constraint equations of the symbolic
functions."""

from __future__ import annotations

from collections.abc import Iterator

from core.mechanics.elements.constraints import CONSTRAINTS
from core.mechanics.elements.constraints.cut_joint import CutJoint
from core.mechanics.elements.constraints.kinematic_constraint import KinematicConstraint, Row, Side
from core.mechanics.elements.element_reader import Elements
from core.mechanics.elements.time_argument import Clock
from core.model import Driver


class ConstraintReader:
    """All constraints on the machine of `elements`: cut joints first, then constraints and drivers."""

    def __init__(self, elements: Elements, clock: Clock) -> None:
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
        from core.mechanics.elements.drivers.driver_functions import motion_of

        kind = next(kind for field, kind in DRIVERS.items() if getattr(driver, field))
        return kind.read(driver, motion_of(driver, self.elements, self.clock), self.elements)
