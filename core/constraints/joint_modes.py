"""Friction and stop rows of a machine's joints, and their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.later import dataclass
from core.mechanics.dry_friction import friction_of, is_controlled, owner_name
from core.mechanics.elements.constraints.joint_coordinate import OF_CLUTCH
from core.mechanics.multibody.coordinates import Coordinates
from core.model import Force, Joint
from core.model.joints import Limit, effective_motor_limit
from core.model.parameters import parameter_values
from core.model.signals import component_name
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]

NOWHERE = -1
YIELDING = 1e-3
"""Deflection of an elastic stop at its design speed, as a fraction of the joint range; without a range, of 1 rad or of
the size of the machine."""
LEVEL_NAMES = ("kinetic", "static", "backward_kinetic", "backward_static")
NO_FRICTION: dict[str, Any] = {**dict.fromkeys(LEVEL_NAMES, 0.0), "controlled": NOWHERE, "bearing": NOWHERE}
NO_LIMITS: dict[str, Any] = {"lower": -math.inf, "rigid": False}
NO_LIMITS |= dict.fromkeys(("upper", "fastest", "effort"), math.inf)
STEPS_IN_STOP = 0.1
"""Largest h √(k/m), with fixed steps h, of stops whose stiffness is derived from the effective inertia m."""
RESTITUTION = 0.3
"""Default coefficient of restitution of stops."""
MOST_RATIO = 10.0
"""Largest damping ratio of a stop; its coefficient of restitution is 0.0025."""


@dataclass(frozen=True)
class JointRow:
    """Coordinate k of a joint, or the slip of a clutch, with its friction, stops and limits; fields as in
    `ModeRows`."""

    owner: str
    k: int
    """Index of the coordinate of the joint `owner`; of a clutch `OF_CLUTCH`."""
    name: str
    dimension: str
    at_q: int = NOWHERE
    at_v: int = NOWHERE
    """Indices of the coordinate in q and of its speed in v; NOWHERE for a loop-closing joint."""
    ratio: float = 1.0
    offset: float = 0.0
    kinetic: float = 0.0
    static: float = 0.0
    backward_kinetic: float = 0.0
    backward_static: float = 0.0
    """Friction levels, kinetic and static, in the positive and the negative direction of motion."""
    stribeck: float = 0.0
    controlled: int = NOWHERE
    """Index in `MachineElements.controlled` of the formulas for the four friction levels; NOWHERE if the levels are
    constants.
    """
    coefficient: float = 0.0
    static_coefficient: float = 0.0
    """Kinetic and static friction coefficients for the joint's own reaction; this friction is added to the levels."""
    bearing: int = NOWHERE
    """Index in "bearing_loads" of the load by which these coefficients are multiplied; NOWHERE if there is none."""
    lower: float = -math.inf
    upper: float = math.inf
    fastest: float = math.inf
    effort: float = math.inf
    rigid: bool = False
    hunt_crossley: bool = False
    stiffness: float = 0.0
    damping: float = 0.0
    """Damping of a linear stop, if given by the user."""
    damping_ratio: float = 0.0
    """Damping ratio of a linear stop whose damping follows from its restitution and the effective inertia."""
    restitution: float = RESTITUTION
    turns: bool = False
    measured: bool = True
    """True if the speed of the row is the rate of a coordinate."""
    shares: int = 1
    """Number of consecutive rows, starting with this one, that share one vector friction law; 0 for a row that belongs
    to an earlier one."""
    together: str = ""
    """Name of the rows that share one vector friction law."""

    @property
    def document_location(self) -> str:
        """Location of its friction in the document, for messages."""
        return f"{'force' if self.k == OF_CLUTCH else 'joint'} '{self.owner}', friction"

    @property
    def has_dry_friction(self) -> bool:
        """True if the row has dry friction, possibly only at some instants."""
        return self.has_friction_now or self.controlled != NOWHERE

    @property
    def has_friction_now(self) -> bool:
        """True if the row has dry friction in some direction, possibly only under load."""
        return max(self.static, self.backward_static, self.static_coefficient) > 0.0

    @property
    def friction_levels(self) -> tuple[float, float, float, float]:
        """Friction levels: kinetic and static in the positive direction, then in the negative one."""
        return self.kinetic, self.static, self.backward_kinetic, self.backward_static

    @property
    def static_bounds(self) -> tuple[float, float]:
        """Smallest and largest force of static friction, positive along increasing coordinates."""
        return -self.static, self.backward_static

    @property
    def sliding_bounds(self) -> tuple[float, float]:
        """Friction force at the onset of sliding in the positive and in the negative direction."""
        if self.stribeck:
            return self.static_bounds
        return -self.kinetic, self.backward_kinetic

    def sliding_friction(self, speed: float) -> float:
        """Friction force at a speed, positive along increasing coordinates; 0 at rest."""
        if speed == 0.0:
            return 0.0
        kinetic, static = self.friction_levels[:2] if speed > 0.0 else self.friction_levels[2:]
        fall = math.exp(-((speed / self.stribeck) ** 2)) if self.stribeck else 0.0
        return -math.copysign(kinetic + (static - kinetic) * fall, speed)

    def with_bearing_load(self, load: float) -> JointRow:
        """Return the row with the friction of its bearing under a load, N·m or N per unit friction coefficient."""
        if self.bearing == NOWHERE:
            return self
        sliding, resting = self.coefficient * load, self.static_coefficient * load
        more = (sliding, resting, sliding, resting)
        changed: dict[str, Any] = {
            name: a + b for name, a, b in zip(LEVEL_NAMES, self.friction_levels, more, strict=True)
        }
        return replace(self, **changed)

    @property
    def has_effect(self) -> bool:
        """True if the row has friction, or a limit of position, speed or effort."""
        bounds = (self.lower, self.upper, self.fastest, self.effort)
        return self.has_dry_friction or any(map(math.isfinite, bounds))


@dataclass(frozen=True)
class JointRowTable:
    """Friction and stop rows of a machine, those of tree joints first."""

    rows: tuple[JointRow, ...] = ()
    size: float = field(default=1.0)

    @property
    def tree_row_count(self) -> int:
        """Number of rows of tree joints."""
        return sum(row.at_v != NOWHERE for row in self.rows)

    @property
    def has_friction_formulas(self) -> bool:
        """True if any friction level is a formula."""
        return any(row.controlled != NOWHERE for row in self.rows)

    @property
    def rows_with_bearing_friction(self) -> tuple[JointRow, ...]:
        """Rows whose friction grows with the reaction of their joint."""
        return tuple(row for row in self.rows if row.bearing != NOWHERE)


_latest: WeakKeyDictionary[CompiledModel, tuple[bytes, JointRowTable]] = WeakKeyDictionary()


def build_joint_row_table(compiled: CompiledModel, p: Array) -> JointRowTable:
    """Friction and stop rows of a machine at parameter values p; the latest result is cached."""
    known = _latest.get(compiled)
    if known is None or known[0] != p.tobytes():
        known = _latest[compiled] = p.tobytes(), _compute_joint_row_table(compiled, p)
    return known[1]


def _compute_joint_row_table(compiled: CompiledModel, p: Array) -> JointRowTable:
    coordinates = compiled.coordinates
    if not np.array_equal(p, compiled.parameter_values()):
        values = dict(zip(compiled.p_names, map(float, p), strict=True))
        coordinates = Coordinates(compiled.topology, parameter_values(compiled.model.expanded.parameters, values))
    limits = compiled.model.world.limits == "act"
    found = [row for row in _build_rows(compiled, coordinates, limits) if row.has_effect]
    if not found:
        return JointRowTable()
    found.sort(key=lambda row: row.at_v == NOWHERE)
    return JointRowTable(tuple(found), size=_machine_size(compiled, coordinates))


def _build_rows(compiled: CompiledModel, coordinates: Coordinates, limits: bool) -> Iterator[JointRow]:
    controlled = {name: i for i, name in enumerate(compiled.elements.controlled_friction)}
    yield from _build_joint_rows(compiled, coordinates, limits, controlled)
    for force in compiled.model.expanded.forces:
        if force.is_clutch:
            levels = _friction_fields(force, coordinates, owner_name(force))
            at = controlled.get(owner_name(force), NOWHERE)
            yield JointRow(
                force.name, OF_CLUTCH, force.name, force.along(compiled.model.expanded, None), controlled=at, **levels
            )


def _build_joint_rows(
    compiled: CompiledModel, coordinates: Coordinates, limits: bool, controlled: Mapping[str, int]
) -> Iterator[JointRow]:
    machine = compiled.program.symbolic.machine
    bearings = {(joint.name, k): i for i, (joint, k) in enumerate(compiled.program.symbolic.bearings)}
    declared = {joint.name: joint for joint in compiled.model.expanded.joints}
    for joint in machine.members:
        own, kind = declared.get(joint.name, joint), joint.info
        closing = joint.name in machine.laws
        if not kind.nv:
            continue
        link = None if closing else machine.carried.get(joint.name)
        if not closing and link is None:
            continue
        found = list[JointRow]()
        for k in range(kind.nv):
            row = replace(
                _build_coordinate_row(own, k, coordinates, limits),
                controlled=controlled.get(owner_name(joint), NOWHERE),
            )
            if (joint.name, k) in bearings:
                row = replace(row, bearing=bearings[joint.name, k], **_friction_coefficients(own, coordinates))
            straight = kind.nq == kind.nv
            if closing:
                found.append(replace(row, turns=straight and kind.wraps_around(k), measured=straight))
                continue
            body = compiled.tree.links[link]  # type: ignore[index]
            if body.coupling is None:
                at_q = body.first_q + k if straight else NOWHERE
                found.append(replace(row, at_q=at_q, at_v=body.first_v + k, measured=straight))
            else:
                _, ratio, offset = coordinates.coupling(joint.name)
                found.append(replace(row, at_q=body.first_q, at_v=body.first_v, ratio=ratio, offset=offset))
        yield from _separate_vector_friction(joint, found) if kind.balls else found


def _separate_vector_friction(joint: Joint, rows: list[JointRow]) -> Iterator[JointRow]:
    """Yield the rows of a joint with the components of vector friction in separate consecutive rows, without stops and
    limits."""
    inside = {k for ball in joint.info.balls for k in ball}
    for row in rows:
        yield replace(row, **NO_FRICTION) if row.k in inside else row
    for ball in joint.info.balls:
        shared = joint.info.speeds[ball[0]][:-1] if len(joint.info.balls) > 1 else ""
        for place, k in enumerate(ball):
            own: dict[str, Any] = {"shares": 0 if place else len(ball), "together": component_name(joint.name, shared)}
            own |= {"backward_kinetic": rows[k].kinetic, "backward_static": rows[k].static}
            yield replace(rows[k], **NO_LIMITS, **own)


def _machine_size(compiled: CompiledModel, coordinates: Coordinates) -> float:
    """Longest distance (m) from a body's frame to one of its joints; 1 if there is none."""
    read = coordinates.numbers.vector
    distances = [
        math.hypot(*map(float, read(side.position, f"joint '{joint.name}'")))
        for joint in compiled.model.expanded.joints
        for side in (joint.a, joint.b)
    ]
    longest = max(distances, default=0.0)
    return longest if longest > 1e-9 else 1.0


def _build_coordinate_row(joint: Joint, k: int, coordinates: Coordinates, limits: bool) -> JointRow:
    """Row of coordinate k of a joint, from the joint's own fields."""
    read, where, kind = coordinates.numbers.scalar, f"joint '{joint.name}'", joint.info
    straight = kind.nq == kind.nv
    words = kind.coordinates if straight else kind.speeds
    dimension = kind.coordinate_dimensions[k] if straight else "angle"
    row = JointRow(
        joint.name, k, component_name(joint.name, words[k]), dimension, **_friction_fields(joint, coordinates, where)
    )
    if not limits or not straight or k >= len(joint.limits):
        return row
    limit = joint.limits[k]
    lower, upper = coordinates.limits_of_joint(joint, k)

    def field_value(name: str, default: float) -> float:
        value = getattr(limit, name)
        return default if value is None else float(read(value, f"{where}, limits, {name}"))

    bounds = (-math.inf, math.inf) if limit.stop == "off" else (lower, upper)
    return replace(
        row,
        lower=-math.inf if bounds[0] is None else float(bounds[0]),
        upper=math.inf if bounds[1] is None else float(bounds[1]),
        fastest=effective_motor_limit(field_value("velocity", math.inf)),
        effort=effective_motor_limit(field_value("effort", math.inf)),
        **_stop_fields(limit, field_value),
    )


def _friction_fields(element: Joint | Force, coordinates: Coordinates, where: str) -> dict[str, Any]:
    """Friction levels of an element and its Stribeck speed. Raises ModelError if kinetic friction exceeds static
    friction."""
    read = coordinates.numbers.scalar
    if is_controlled(element, coordinates.numbers.values):
        return {"stribeck": abs(float(read(element.stribeck_speed, f"{where}, stribeck_speed")))}
    levels = [float(each) for each in friction_of(element, read, where)]
    for prefix, (kinetic, static) in zip(("", "backward_"), (levels[:2], levels[2:4]), strict=True):
        if static < kinetic or kinetic < 0.0:
            raise ModelError(
                f"Static friction ({static:g}) is less than kinetic friction ({kinetic:g})."
                if kinetic >= 0.0
                else f"Friction is negative ({kinetic:g}).",
                where=f"{where}, {prefix}{'static_friction' if kinetic >= 0.0 else 'friction'}",
                remedy="Make static friction at least as large as kinetic friction, and neither negative.",
            )
    return {**dict(zip(LEVEL_NAMES, levels[:4], strict=True)), "stribeck": abs(levels[4])}


def _friction_coefficients(joint: Joint, coordinates: Coordinates) -> dict[str, Any]:
    """Coefficients of friction by the joint's own reaction. Raises ModelError if they are invalid."""
    where, read = f"joint '{joint.name}'", coordinates.numbers.scalar
    if joint.info.bearing == "none":
        raise ModelError(
            f"A {joint.kind} joint has no reaction-dependent friction: the load on each bearing is not known.",
            where=f"{where}, friction_coefficient",
            remedy="Give its friction as a number or a formula, or replace it by revolute and prismatic joints.",
        )
    sliding = float(read(joint.friction_coefficient, f"{where}, friction_coefficient"))
    given = joint.static_friction_coefficient
    resting = sliding if given is None else float(read(given, f"{where}, static_friction_coefficient"))
    if sliding < 0.0 or resting < sliding:
        raise ModelError(
            f"The coefficient of friction is negative ({sliding:g})."
            if sliding < 0.0
            else f"The static coefficient of friction ({resting:g}) is less than the kinetic one ({sliding:g}).",
            where=f"{where}, {'static_' * (sliding >= 0.0)}friction_coefficient",
            remedy="Make static friction at least as large as kinetic friction, and neither negative.",
        )
    if joint.bearing_distance is not None and not float(read(joint.bearing_distance, where)) > 0.0:
        raise ModelError(
            "Bearings at zero distance cannot carry a moment.",
            where=f"{where}, bearing_distance",
            remedy="Give a distance above 0, or leave it empty for a single bearing.",
        )
    return {"coefficient": sliding, "static_coefficient": resting}


def _stop_fields(limit: Limit, number: Any) -> dict[str, Any]:
    """Stop parameters of a limit."""
    stiffness, restitution = number("stiffness", 0.0), number("restitution", RESTITUTION)
    if limit.stop == "rigid":
        return {"rigid": True, "restitution": restitution}
    if limit.stop == "hunt_crossley":
        return {"hunt_crossley": True, "stiffness": stiffness, "restitution": restitution}
    if limit.damping is not None:
        return {"stiffness": stiffness, "damping": number("damping", 0.0)}
    return {
        "stiffness": stiffness,
        "restitution": restitution,
        "damping_ratio": damping_ratio_from_restitution(restitution),
    }


def design_impact_speed(row: JointRow, machine_size: float) -> float:
    """Impact speed (rad/s or m/s) for which default stops are designed."""
    if math.isfinite(row.fastest):
        return row.fastest
    span = row.upper - row.lower
    if not 0.0 < span < math.inf:
        span = 1.0 if row.dimension == "angle" else machine_size
    return span * math.sqrt(9.81 / machine_size) if machine_size > 0.0 else span


def stiffness_per_inertia(row: JointRow, machine_size: float) -> float:
    """k/m = (v/p)², 1/s², of a stop that deflects by p when an inertia m hits it with speed v."""
    return (design_impact_speed(row, machine_size) / design_deflection(row, machine_size)) ** 2


def largest_resolvable_stiffness(step: float) -> float:
    """Largest k/m, 1/s², for which fixed steps (s) are accurate and stable, even with the damping of a stop of zero
    restitution."""
    return (STEPS_IN_STOP / step) ** 2


@lru_cache(maxsize=1024)
def damping_ratio_from_restitution(restitution: float) -> float:
    """ζ = cos α of a linear spring-damper stop with coefficient of restitution e = exp(−2 α cot α), where contact ends
    when the force vanishes (Schwager and Pöschel, Granular Matter 9, 2007; α is imaginary above critical damping); at
    most `MOST_RATIO`."""
    if restitution >= 1.0:
        return 0.0

    def log_restitution(ratio: float) -> float:
        if ratio < 1.0:
            return 2.0 * math.acos(ratio) * ratio / math.sqrt(1.0 - ratio * ratio)
        return 2.0 * math.acosh(ratio) * ratio / math.sqrt(ratio * ratio - 1.0) if ratio > 1.0 else 2.0

    return _bisect_threshold(lambda ratio: math.exp(-log_restitution(ratio)) < restitution, 0.0, MOST_RATIO)


@lru_cache(maxsize=1024)
def dissipation_from_restitution(restitution: float) -> float:
    """δ = c v₀ of a Hunt–Crossley stop with coefficient of restitution e at impact speed v₀: (1 + e) δ = ln((1 + δ)/(1
    − e δ)), for any stiffness and exponent."""
    if restitution >= 1.0:
        return 0.0
    if restitution <= 0.0:
        return math.inf

    def exceeds_root(delta: float) -> bool:
        return (1.0 + restitution) * delta < math.log((1.0 + delta) / (1.0 - restitution * delta))

    return _bisect_threshold(exceeds_root, 1e-12, (1.0 - 1e-15) / restitution)


def _bisect_threshold(predicate: Callable[[float], bool], low: float, high: float) -> float:
    """Threshold at which the predicate becomes true, by bisection down to neighbouring floats."""
    while low < (between := 0.5 * (low + high)) < high:
        low, high = (low, between) if predicate(between) else (between, high)
    return 0.5 * (low + high)


def design_deflection(row: JointRow, machine_size: float) -> float:
    """Deflection of a stop at its design speed, rad or m."""
    span = row.upper - row.lower
    return YIELDING * (span if 0.0 < span < math.inf else 1.0 if row.dimension == "angle" else machine_size)


def reference_angle(row: JointRow) -> float:
    """Reference angle from which the turns of a loop-closing joint are counted."""
    return 0.5 * (row.lower + row.upper) if math.isfinite(row.upper - row.lower) else 0.0
