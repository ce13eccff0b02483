"""Symbolic serial chain: the recursive algorithms of `core.mechanics` with exact polynomials as scalars.

Frame i is the frame of the body behind joint i (link i's frame of a DH table), frame 0 the body the first moving
joint stands on. Positions and Jacobians are in the axes of frame 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property

from core.analysis.tool_frame import closure_text, moving_joints_to_tip, tool_frame
from core.errors import ModelError, suggest_names
from core.mechanics import kinematics
from core.mechanics.energy import kinetic_by_link, potential_by_link
from core.model import Model
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.scalar import Scalar, plus, times, total
from core.numerics.spatial.vector import Vector3
from core.symbolic.symbolic_machine import Rows, SymbolicMachine, joint_variables


class SymbolicChain(SymbolicMachine):
    """Serial chain whose recursive algorithms run over one ring. Entries are elements of the ring or floats."""

    def __init__(
        self, model: Model, tip: str = "", values: Mapping[str, float] | None = None, *, recognise: bool = True
    ) -> None:
        super().__init__(model, values)
        self.tip = tip or tool_frame(self.model)
        if self.tip not in self.topology.carriers:
            raise ModelError(
                f"There is no body or frame '{self.tip}'.",
                where="tip",
                remedy=suggest_names(self.tip, self.topology.carriers),
            )
        if (tie := closure_text(self.topology)) is not None:
            raise ModelError(
                "The machine has closed loops or constraints; this function derives open chains only.",
                where=tie,
                remedy="Use the symbolic functions for loops, open the loop, or use the numeric functions.",
            )
        path = moving_joints_to_tip(self.topology, self.tip)
        self.begin(joint_variables(self.model, self.topology, path), recognise=recognise)

    # ------------------------------------------------------------------------------- kinematics

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Names of frames 0 … n, followed by the tip if it is another frame."""
        joints = {joint.name: joint for joint in self.topology.model.joints}
        names: list[str] = []
        for name in moving_joints_to_tip(self.topology, self.tip):
            branch = next(b for b in self.topology.branches if b.joint.name == name)
            if not names:
                names.append(branch.inner)
            names += [branch.outer] * joints[name].info.nq if name in joints else [branch.outer]
        return tuple(names)

    @cached_property
    def _poses_in_base(self) -> dict[str, Pose]:
        """Return the pose in frame 0 of every body and frame that the chain names."""
        links = kinematics.link_poses(self.machine.tree, self.q)
        base = self._pose_in_world(self.frames[0], links)
        back = base.inverse()
        wanted = {*self.frames, self.tip}
        return {name: back @ self._pose_in_world(name, links) for name in wanted} | {"": base}

    def _pose_in_world(self, name: str, links: list[Pose]) -> Pose:
        place = self.machine.frames[name]
        return place.pose if place.link < 0 else links[place.link] @ place.pose

    def pose(self, i: int, j: int) -> Pose:
        """Return T(i, j): pose of frame j in frame i; j = n + 1 is the tip."""
        names = (*self.frames, self.tip)
        first, second = self._poses_in_base[names[i]], self._poses_in_base[names[j]]
        return second if i == 0 else first.inverse() @ second

    @cached_property
    def jacobian(self) -> Rows:
        """Return the 6×n Jacobian, rows [v; ω] of the tip's origin, axes of frame 0."""
        place = self.machine.frames[self.tip]
        return self._to_base_frame(kinematics.jacobian(self.machine.tree, self.q, place.link, place.pose))

    def _to_base_frame(self, rows: Rows) -> Rows:
        """Convert rows [ω; v] in world axes to [v; ω] in the axes of frame 0, for the columns of the chain only."""
        R = self._poses_in_base[""].rotation
        columns = []
        for variable in self.variables:
            column = [row[variable.v] for row in rows]
            angular, linear = R.act_back(Vector3(*column[:3])), R.act_back(Vector3(*column[3:]))
            columns.append([*linear, *angular])
        return [list(row) for row in zip(*columns, strict=True)]

    def center(self, i: int) -> Vector3:
        """Return the centre of mass of link i in its frame."""
        return self.numbers.center(self.topology.model.body(self.frames[i]))

    @cache  # noqa: B019 – chains live as long as their results
    def center_jacobian(self, i: int) -> Rows:
        """Return the 6×n Jacobian, rows [v; ω], of the centre of mass of link i (1 … n)."""
        place = self.machine.frames[self.frames[i]]
        at = place.pose @ Pose(NO_ROTATION, self.center(i))
        return self._to_base_frame(kinematics.jacobian(self.machine.tree, self.q, place.link, at))

    # ------------------------------------------------------------------------------- dynamics

    @cached_property
    def coriolis_matrix(self) -> Rows:
        """Return C with C_kj = Σ_i c_ijk q̇_i; Ṁ − 2 C is skew-symmetric."""
        speeds = [self.ring.symbol(name) for name in self.rates]
        return [
            [total(times(self.christoffel(i, j, k), speeds[i]) for i in range(self.n)) for j in range(self.n)]
            for k in range(self.n)
        ]

    @cached_property
    def kinetic(self) -> Scalar:
        """Return the kinetic energy ½ q̇ᵀ M q̇."""
        speeds = [self.ring.symbol(name) for name in self.rates]
        terms = (
            times(times(speeds[i], speeds[j]), self.mass_matrix[i][j]) for i in range(self.n) for j in range(self.n)
        )
        return times(0.5, total(terms))

    @cached_property
    def moved_links(self) -> tuple[int, ...]:
        """Links that the joints of the chain move, including links on side branches."""
        own = {variable.v for variable in self.variables}
        links = self.machine.tree.links
        moved: list[int] = []
        for i, link in enumerate(links):
            if link.parent in moved or own & set(range(link.v.start, link.v.stop)):
                moved.append(i)
        return tuple(moved)

    def link_body(self, i: int) -> str:
        """Return the child body of the joint that moves link i (counted from 1)."""
        joint = self.machine.tree.links[self.moved_links[i - 1]].name
        return next(branch.outer for branch in self.topology.branches if branch.joint.name == joint)

    def link_bodies(self, i: int) -> list[str]:
        """Return all bodies fixed to moved link i (counted from 1)."""
        frames, at = self.machine.frames, self.moved_links[i - 1]
        return [body.name for body in self.topology.model.bodies if frames[body.name].link == at]

    @cached_property
    def kinetic_energy_by_link(self) -> list[Scalar]:
        """Return the kinetic energy of each moved link."""
        speeds: list[Scalar] = [0.0] * self.machine.tree.nv
        for variable, rate in zip(self.variables, self.rates, strict=True):
            speeds[variable.v] = self.ring.symbol(rate)
        found = kinetic_by_link(self.machine.tree, self.q, speeds)
        return [found[i] for i in self.moved_links]

    @cached_property
    def potential_energy_by_link(self) -> list[Scalar]:
        """Return the potential energy of each moved link and of the spring in its joint."""
        found = potential_by_link(self.machine.tree, self.q)
        return [found[i] for i in self.moved_links]

    @cached_property
    def torques(self) -> list[Scalar]:
        """Return τ = M q̈ + C q̇ + G."""
        v = [self.ring.symbol(name) for name in self.rates]
        a = [self.ring.symbol(name) for name in self.accelerations]
        result = []
        for k in range(self.n):
            inertial = total(times(self.mass_matrix[k][j], a[j]) for j in range(self.n))
            centrifugal = total(times(self.coriolis_matrix[k][j], v[j]) for j in range(self.n))
            result.append(plus(plus(inertial, centrifugal), self.gravity[k]))
        return result
