"""Context of symbolic functions: the machine over symbols, its tree, elements, constraints and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from core.codegen.graph_symbols import scalar_symbols
from core.mechanics.crba import nonzero_mass_indices
from core.mechanics.elements.constraints.joint_coordinate import RowCoordinate, find_row_coordinates
from core.mechanics.elements.element_reader import ConstraintReader, MachineElements
from core.mechanics.elements.forces import FORCES
from core.mechanics.elements.forces.force_element import output_count
from core.mechanics.elements.time_argument import Clock, build_clock
from core.mechanics.elements.turn_counters import names_in_force_formulas
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Topology
from core.mechanics.multibody.tree_of_model import Machine, build_machine
from core.mechanics.tree import Runner, Tree, inline
from core.model import Joint
from core.model.parameters import parameter_values
from core.numerics.spatial.scalar import Scalar, all_zero

if TYPE_CHECKING:
    from core.mechanics.segments import Segments
    from core.numerics.elimination import Pattern
    from core.programs.row_expressions import RowExpressions

LONG = 24
"""Number of links above which recursions are recorded as tables of blocks instead of one graph."""
SHALLOW = 6
"""Mean depth of the links up to which inertia forces are passed from link to link."""
VERY_LONG = 200
"""Number of speeds above which NumPy computes the mass matrix of a long machine as a product of two matrices."""


class MachineSymbols:
    """Machine of one topology with symbols for its parameters."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        model = topology.model
        self.p_names = tuple(p.name for p in model.parameters if p.independent)
        self.p = scalar_symbols("p", len(self.p_names))
        values = parameter_values(model.parameters, dict(zip(self.p_names, self.p, strict=True)))
        self.numbers = Numbers(values, model.origin)

        self._inputs: dict[str, list[Any]] = {}
        self._standing: KinematicState | None = None

    def inputs(self, arguments: Iterable[str]) -> dict[str, list[Any]]:
        """Return the symbols q, v …, shared by all functions, so that common subexpressions are built once."""
        sizes = self.sizes
        for argument in arguments:
            if argument not in self._inputs:
                self._inputs[argument] = scalar_symbols(argument, sizes[argument])
        return {argument: self._inputs[argument] for argument in arguments}

    def state_at_zero_speed(self, q: Sequence[Scalar], run: Runner = inline) -> KinematicState:
        """Return the kinematic state at q with zero speeds, cached for the symbols of the inputs."""
        if run is not inline or q is not self._inputs.get("q"):
            return KinematicState(self.tree, q, None, run)
        if self._standing is None:
            self._standing = KinematicState(self.tree, q)
        return self._standing

    @cached_property
    def machine(self) -> Machine:
        """Return the machine with links merged across fixed joints."""
        return build_machine(self.topology, self.numbers)

    @cached_property
    def unmerged_machine(self) -> Machine:
        """Return the machine with every body as a separate link."""
        return build_machine(self.topology, self.numbers, merged=False)

    @cached_property
    def elements(self) -> MachineElements:
        """Return sensors and forces on the merged machine."""
        return MachineElements(self.topology.model, self.machine, self.numbers)

    @cached_property
    def unmerged_elements(self) -> MachineElements:
        """Return sensors and forces on the machine with every body as a separate link."""
        return MachineElements(self.topology.model, self.unmerged_machine, self.numbers)

    @cached_property
    def clock(self) -> Clock:
        """Return the quantities that depend on time."""
        return build_clock(
            self.topology.model, names_in_force_formulas(self.topology.model), len(self.elements.mode_variables.numbers)
        )

    @cached_property
    def constraints(self) -> ConstraintReader:
        """Return the cut joints, constraints and drivers."""
        return ConstraintReader(self.elements, self.clock)

    @cached_property
    def row_expressions(self) -> RowExpressions:
        """Return the constraint rows as expressions."""
        from core.programs.row_expressions import RowExpressions

        return RowExpressions(self.tree, self.constraints.table, self.p, self.clock.size, self.is_long)

    @cached_property
    def cut_coordinates(self) -> tuple[RowCoordinate, ...]:
        """Return the coordinates of cut joints and clutches along which forces may act."""
        return find_row_coordinates(self.elements)

    @cached_property
    def bearings(self) -> tuple[tuple[Joint, int], ...]:
        """Return (joint, index of the speed) for each speed of the joints whose friction grows with their reaction."""
        rubbing = [joint for joint in self.machine.members if joint.has_reaction_friction]
        return tuple((joint, k) for joint in rubbing for k in range(joint.info.nv))

    @cached_property
    def cut_expressions(self) -> RowExpressions:
        """Return the coordinates of cut joints and clutches as expressions."""
        from core.programs.row_expressions import RowExpressions

        return RowExpressions(self.tree, self.cut_coordinates, self.p, self.clock.size, self.is_long)

    @cached_property
    def reversible_cuts(self) -> tuple[str, ...]:
        """Return the cut joints that can be assembled with their axis reversed."""
        laws = self.machine.laws
        return tuple(name for name, (law, *_) in laws.items() if law.direction_rows is not None)

    @property
    def nx(self) -> int:
        """Return the number of states of force elements."""
        return len(self.elements.x_names)

    @property
    def frame_names(self) -> list[str]:
        """Return the names of bodies and frames, without the world."""
        model = self.topology.model
        return [*(body.name for body in model.bodies), *(frame.name for frame in model.frames)]

    @property
    def joint_names(self) -> list[str]:
        """Return the names of implicit free joints, then of those in the document."""
        declared = [joint.name for joint in self.topology.model.joints]
        tree = [branch.joint.name for branch in self.topology.branches]
        return [*(name for name in tree if name not in set(declared)), *declared]

    @property
    def tree(self) -> Tree:
        """Return the merged tree."""
        return self.machine.tree

    @property
    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arguments."""
        nv = self.tree.nv
        rows = len(self.constraints.rows)
        others = {"c": len(self.cut_coordinates) if self.bearings else 0, "x": 2 * self.nx, "t": self.clock.size}
        return {"q": self.tree.nq, "v": nv, "u": nv, "o": 3, "l": rows, **others}

    @cached_property
    def segments(self) -> Segments | None:
        """Return the segments of a deep machine with constraints; None for others."""
        from core.mechanics.segments import Segments, find_stations

        plain = self.constraints.rows and not self.elements.added_inertia
        stations = find_stations(self.tree) if plain else ()
        return Segments(self.tree, stations) if stations else None

    @cached_property
    def mass_pattern(self) -> Pattern:
        """Return the pattern of M on and below its diagonal, in the order of "mass_entries"; for a deep machine that of
        its segments."""
        from core.numerics.elimination import Pattern

        if self.segments is not None:
            rows, columns = np.array(self.segments.masses, dtype=np.int64).T
            return Pattern(rows, columns)
        found = nonzero_mass_indices(self.tree)
        if self.elements.added_inertia:
            kinematics = KinematicState(self.tree, scalar_symbols("q", self.tree.nq))
            for mass in self.elements.added_inertia:
                moving = [k for k, column in enumerate(mass.columns(kinematics)) if not all_zero(column)]
                found.update((i, j) for i in moving for j in moving if j <= i)
        ordered = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
        return Pattern(ordered[:, 0], ordered[:, 1])

    @cached_property
    def is_deep(self) -> bool:
        """Return True if most links of a long machine have many ancestors."""
        depths = [0]
        for link in self.tree.links:
            depths.append(depths[link.parent + 1] + 1)
        return self.is_long and sum(depths) > SHALLOW * len(depths)

    @property
    def is_long(self) -> bool:
        """Return True if recursions become tables of blocks."""
        return len(self.tree.links) > LONG

    @property
    def very_long(self) -> bool:
        """Return True if NumPy computes the mass matrix."""
        plain = not self.elements.added_inertia
        return self.is_long and plain and (self.tree.nv > VERY_LONG or self.tree.has_coupled_joints)

    def components(self, sensor: str) -> int:
        """Return the number of components of a sensor; 0 for an unknown name."""
        found = self.elements.sensors.get(sensor)
        return 0 if found is None else found.count

    @property
    def observed(self) -> int:
        """Return the number of output quantities of all force elements."""
        return sum(output_count(FORCES[force.kind]) for force in self.topology.model.forces)
