"""A serial chain over exact polynomials: the recursions of `core.mechanics` with symbols for scalars.

Frame i is the frame of the body behind joint i (link i's frame of a DH table), frame 0 the body the first moving
joint stands on. Positions and Jacobians are in the axes of frame 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

from core.analysis.moving_path import closing, moving_path
from core.analysis.tool_frame import tool_frame
from core.errors import ExpressionError, ModelError, near_misses
from core.mechanics import kinematics
from core.mechanics.crba import crba
from core.mechanics.energy import kinetic_by_link, potential, potential_by_link
from core.model import WORLD, Model
from core.model.fields import Value
from core.model.formula.expression import names, parse
from core.model.parameters import environment
from core.model.shapes import Pose as DocumentPose
from core.model.signals import component
from core.multibody.number_reader import Numbers
from core.multibody.topology import Topology, topology_of
from core.multibody.tree_of_model import Machine, machine_of
from core.spatial.pose import Pose
from core.spatial.rotation import IDENTITY as NO_ROTATION
from core.spatial.rotation import from_angles
from core.spatial.scalar import Scalar, minus, plus, times, total
from core.spatial.vector import Vector3
from core.symbolic.closed_terms import angles_in_formulas, with_own_symbols
from core.symbolic.naming import Recognised, angle_of, angle_parameters, fraction_of
from core.symbolic.ring import Element, Ring

Rows = list[list[Scalar]]


class Variable(NamedTuple):
    """A joint coordinate of the chain."""

    symbol: str
    joint: str
    coordinate: str
    """Its name in `Mechanism.q_names`."""
    q: int
    """Its place in q of the whole machine."""
    v: int
    """Its place in v."""
    turns: bool


@dataclass(frozen=True)
class ExactNumbers(Numbers):
    """Numbers of a document over a ring; notes what it recognised."""

    recognised: dict[str, Recognised] | None = None
    """None: take all numbers as they are."""
    ring: Ring | None = None
    """Where sines of 30° and 45° are exact roots."""

    def scalar(self, value: Value, where: str = "") -> Scalar:
        number = super().scalar(value, where)
        if self.recognised is None or not isinstance(number, float) or number == 0.0 or "limits" in where:
            return number
        found = fraction_of(number)
        return number if found is None else self._note(where, number, *found)

    def pose(self, pose: DocumentPose, where: str = "") -> Pose:
        if self.recognised is None or len(pose.rotation) != 3:
            return super().pose(pose, where)
        turn = [self._with_roots(self.scalar(self._angle(value, where), where)) for value in pose.rotation]
        return Pose(from_angles(turn), self.vector(pose.position, where))

    def _with_roots(self, angle: Scalar) -> Scalar:
        """An angle whose sine is no rational number, as an element: its sine is then an exact root."""
        if self.ring is None or not isinstance(angle, float) or angle % (0.5 * math.pi) == 0.0:
            return angle
        return self.ring.constant(angle) if angle_of(angle) is not None else angle

    def _angle(self, value: Value, where: str) -> Value:
        if isinstance(value, str) or (found := angle_of(value)) is None:
            return value
        return float(self._note(where, value, *found))

    def _note(self, where: str, given: float, taken: float, meaning: str) -> float:
        if taken != given and self.recognised is not None:
            self.recognised[f"{where} {meaning}"] = Recognised(where, given, taken, meaning)
        return taken


class Chain:
    """The recursions over one ring. Entries are elements of the ring or floats."""

    def __init__(
        self, model: Model, tip: str = "", given: Mapping[str, float] | None = None, *, recognise: bool = True
    ) -> None:
        model, own = with_own_symbols(model)
        self.model = model
        self.given = dict(given or {})
        self.watch: Callable[[], None] = _unwatched
        """Called between pieces of long work; may raise to stop it."""
        self.tip = tip or tool_frame(model)
        self.topology = topology_of(model)
        if self.tip not in self.topology.carriers:
            raise ModelError(
                f"There is no body or frame '{self.tip}'.",
                where="tip",
                remedy=near_misses(self.tip, self.topology.carriers),
            )
        if (tie := closing(self.topology)) is not None:
            raise ModelError(
                "The machine has closed loops or constraints; symbols are for chains.",
                where=tie,
                remedy="Open the loop, take the constraint away, or use the numeric functions.",
            )
        self.variables = _variables(model, self.topology, self.tip)
        values = model.values()
        free = [p.name for p in model.parameters if p.independent and p.name not in (given or {})]
        free += [name for name in own if not _is_known(model, name, given or {})]
        turned = angle_parameters(model) | angles_in_formulas(model)
        turning = [variable.symbol for variable in self.variables if variable.turns]
        angles = [*turning, *(name for name in free if name in turned)]
        symbols = [v.symbol for v in self.variables]
        self.rates = tuple(f"D{s}" for s in symbols)
        self.accelerations = tuple(f"DD{s}" for s in symbols)
        self.ring = Ring(angles, [*free, *symbols, *self.rates, *self.accelerations])
        self.parameters = tuple(free)
        self.values = {name: values[name] for name in free}
        scalars = {name: self.ring.symbol(name) for name in free} | dict(given or {})
        self.recognised: dict[str, Recognised] = {}
        self.numbers = ExactNumbers(
            self._environment(scalars), model.origin, self.recognised if recognise else None, self.ring
        )
        self.machine: Machine = machine_of(self.topology, self.numbers)
        self.q = self._coordinates()

    def _environment(self, scalars: Mapping[str, Any]) -> dict[str, Scalar]:
        try:
            return environment(self.model.parameters, scalars)
        except ExpressionError as error:
            raise ModelError(error.what, where=error.where, remedy=error.remedy) from None

    def _coordinates(self) -> list[Scalar]:
        """Symbols for the chain's coordinates; what else moves stands at its rest position."""
        from core.multibody.coordinates import Coordinates

        self.rest = tuple(float(x) for x in Coordinates(self.topology, self.model.values()).rest())
        q: list[Scalar] = list(self.rest)
        for variable in self.variables:
            q[variable.q] = self.ring.symbol(variable.symbol)
        return q

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.variables)

    # ------------------------------------------------------------------------------- kinematics

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Names of frames 0 … n, and of the tip last if it is another one."""
        joints = {joint.name: joint for joint in self.topology.model.joints}
        names: list[str] = []
        for name in moving_path(self.topology, self.tip):
            branch = next(b for b in self.topology.branches if b.joint.name == name)
            if not names:
                names.append(branch.inner)
            names += [branch.outer] * joints[name].info.nq if name in joints else [branch.outer]
        return tuple(names)

    @cached_property
    def _poses(self) -> dict[str, Pose]:
        """Pose in frame 0 of every body and frame the chain names."""
        links = kinematics.link_poses(self.machine.tree, self.q)
        base = self._pose_in_world(self.frames[0], links)
        back = base.inverse()
        wanted = {*self.frames, self.tip}
        return {name: back @ self._pose_in_world(name, links) for name in wanted} | {"": base}

    def _pose_in_world(self, name: str, links: list[Pose]) -> Pose:
        place = self.machine.frames[name]
        return place.pose if place.link < 0 else links[place.link] @ place.pose

    def pose(self, i: int, j: int) -> Pose:
        """T(i, j): frame j in frame i; j = n + 1 is the tip."""
        names = (*self.frames, self.tip)
        first, second = self._poses[names[i]], self._poses[names[j]]
        return second if i == 0 else first.inverse() @ second

    @cached_property
    def jacobian(self) -> Rows:
        """6×n, rows [v; ω] of the tip's origin, axes of frame 0."""
        place = self.machine.frames[self.tip]
        return self._turned(kinematics.jacobian(self.machine.tree, self.q, place.link, place.pose))

    def _turned(self, rows: Rows) -> Rows:
        """Rows [ω; v] in world axes as [v; ω] in the axes of frame 0, columns of the chain."""
        R = self._poses[""].rotation
        columns = []
        for variable in self.variables:
            column = [row[variable.v] for row in rows]
            angular, linear = R.act_back(Vector3(*column[:3])), R.act_back(Vector3(*column[3:]))
            columns.append([*linear, *angular])
        return [list(row) for row in zip(*columns, strict=True)]

    def center(self, i: int) -> Vector3:
        """Centre of mass of link i in its frame."""
        return self.numbers.center(self.topology.model.body(self.frames[i]))

    @cache  # noqa: B019 – chains live as long as their results
    def center_jacobian(self, i: int) -> Rows:
        """6×n, rows [v; ω] of the centre of mass of link i (1 … n)."""
        place = self.machine.frames[self.frames[i]]
        at = place.pose @ Pose(NO_ROTATION, self.center(i))
        return self._turned(kinematics.jacobian(self.machine.tree, self.q, place.link, at))

    # ------------------------------------------------------------------------------- dynamics

    @cached_property
    def mass_matrix(self) -> Rows:
        """n×n."""
        M = crba(self.machine.tree, self.q)
        return [[M[a.v][b.v] for b in self.variables] for a in self.variables]

    @cached_property
    def _slopes(self) -> list[list[list[Scalar]]]:
        """∂M_ij/∂q_k as [i][j][k]."""
        n, M = self.n, self.mass_matrix
        slopes: list[list[list[Scalar]]] = [[[] for _ in range(n)] for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                slopes[i][j] = slopes[j][i] = [self.by(M[i][j], k) for k in range(n)]
        return slopes

    def by(self, x: Scalar, k: int) -> Scalar:
        """∂x/∂q_k."""
        return x.derivative(self.variables[k].symbol) if isinstance(x, Element) else 0.0

    @cache  # noqa: B019
    def christoffel(self, i: int, j: int, k: int) -> Scalar:
        """c_ijk = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k) (Spong and Vidyasagar 6.3); indices from 0."""
        D = self._slopes
        self.watch()
        return times(0.5, minus(plus(D[k][j][i], D[k][i][j]), D[i][j][k]))

    @cached_property
    def coriolis(self) -> Rows:
        """C with C_kj = Σ_i c_ijk q̇_i; Ṁ − 2 C is skew-symmetric."""
        speeds = [self.ring.symbol(name) for name in self.rates]
        return [
            [total(times(self.christoffel(i, j, k), speeds[i]) for i in range(self.n)) for j in range(self.n)]
            for k in range(self.n)
        ]

    @cached_property
    def potential(self) -> Scalar:
        """Potential energy of gravity and joint springs."""
        return potential(self.machine.tree, self.q)

    @cached_property
    def kinetic(self) -> Scalar:
        """½ q̇ᵀ M q̇."""
        speeds = [self.ring.symbol(name) for name in self.rates]
        terms = (
            times(times(speeds[i], speeds[j]), self.mass_matrix[i][j]) for i in range(self.n) for j in range(self.n)
        )
        return times(0.5, total(terms))

    @cached_property
    def links(self) -> tuple[int, ...]:
        """Links of the tree that the chain's joints move, those beside its path included."""
        own = {variable.v for variable in self.variables}
        links = self.machine.tree.links
        moved: list[int] = []
        for i, link in enumerate(links):
            if link.parent in moved or own & set(range(link.v.start, link.v.stop)):
                moved.append(i)
        return tuple(moved)

    def link_body(self, i: int) -> str:
        """The body behind the joint of moved link i (from 1)."""
        joint = self.machine.tree.links[self.links[i - 1]].name
        return next(branch.outer for branch in self.topology.branches if branch.joint.name == joint)

    def link_bodies(self, i: int) -> list[str]:
        """All bodies that are one with moved link i (from 1)."""
        frames, at = self.machine.frames, self.links[i - 1]
        return [body.name for body in self.topology.model.bodies if frames[body.name].link == at]

    @cached_property
    def kinetic_by_link(self) -> list[Scalar]:
        """Kinetic energy of each moved link."""
        speeds: list[Scalar] = [0.0] * self.machine.tree.nv
        for variable, rate in zip(self.variables, self.rates, strict=True):
            speeds[variable.v] = self.ring.symbol(rate)
        found = kinetic_by_link(self.machine.tree, self.q, speeds)
        return [found[i] for i in self.links]

    @cached_property
    def potential_by_link(self) -> list[Scalar]:
        """Potential energy of each moved link and the spring in its joint."""
        found = potential_by_link(self.machine.tree, self.q)
        return [found[i] for i in self.links]

    @cached_property
    def gravity(self) -> list[Scalar]:
        """G_j = ∂P/∂q_j."""
        return [self.by(self.potential, j) for j in range(self.n)]

    @cached_property
    def torques(self) -> list[Scalar]:
        """τ = M q̈ + C q̇ + G."""
        v = [self.ring.symbol(name) for name in self.rates]
        a = [self.ring.symbol(name) for name in self.accelerations]
        result = []
        for k in range(self.n):
            inertial = total(times(self.mass_matrix[k][j], a[j]) for j in range(self.n))
            centrifugal = total(times(self.coriolis[k][j], v[j]) for j in range(self.n))
            result.append(plus(plus(inertial, centrifugal), self.gravity[k]))
        return result


def _unwatched() -> None:
    """Nobody wants to stop the work."""


def _is_known(model: Model, name: str, given: Mapping[str, float]) -> bool:
    """True if a parameter follows from parameters that all have values."""
    parameter = next(p for p in model.parameters if p.name == name)
    if parameter.independent:
        return name in given
    return all(_is_known(model, used, given) for used in names(parse(str(parameter.value))))


def _variables(model: Model, topology: Topology, tip: str) -> tuple[Variable, ...]:
    from core.multibody.tree_of_model import offsets

    where = offsets(topology)
    kinds = {branch.joint.name: branch.joint for branch in topology.branches}
    path = [name for name in moving_path(topology, tip) if kinds[name].mimic is None]
    wanted = _requested_symbols(model)
    taken = {parameter.name for parameter in topology.model.parameters} | {WORLD}
    result: list[Variable] = []
    for name in path:
        info = kinds[name].info
        for k, suffix in enumerate(info.coordinates):
            symbol = wanted.get(name, "")
            if not symbol or symbol in taken:
                symbol = f"q{len(result) + 1}"
            while symbol in taken:
                symbol += "_"
            taken.add(symbol)
            coordinate = component(name, suffix)
            turns = info.coordinate_dimensions[k] == "angle"
            result.append(Variable(symbol, name, coordinate, where.q[name] + k, where.v[name] + k, turns))
    return tuple(result)


def _requested_symbols(model: Model) -> dict[str, str]:
    """Symbols a DH table gives its joints."""
    wanted: dict[str, str] = {}
    for chain in model.chains:
        wanted |= {f"{chain.prefix}joint{i}": s for i, s in enumerate(chain.variables(), 1)}
    return wanted
