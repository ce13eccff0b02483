"""Findings about physically questionable sensors, forces, constraints, drivers, junctions and sub-assemblies.

check(model, values) -> findings of an expanded model at the present parameter values
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from core.errors import KinetostatError, suggest_names
from core.model.constraints import Constraint, Driver, UnknownConstraint, count_meshing_positions
from core.model.declared_numbers import quantity_value
from core.model.forces import JOINT, LINE, SENSOR, STRANDS, Force, LineMass, UnknownForce
from core.model.formula.expression import evaluate, names_in_formula, parse
from core.model.model import COLLECTIONS, Model
from core.model.parameters import evaluate_field
from core.model.sensors import Sensor
from core.model.signals import TIME
from core.model.units import format_with_unit
from core.model.validation.findings import Finding, Severity
from core.model.validation.possible_numbers import find_impossible_numbers

DURATION = 10.0
"""Duration (s) for which a driver is compared with the limits of its joint."""
BISECTIONS = 20
"""Bisection steps between the two samples at which a limit is exceeded."""


def check(model: Model, values: Mapping[str, float]) -> Iterator[Finding]:
    """Yield all findings, in the order of the tree."""
    checks = _ForceChecks(model, values)
    yield from checks.check_junctions()
    for sensor in model.sensors:
        yield from checks.check_sensor(sensor)
    for force in model.forces:
        if force.info is not UnknownForce:
            yield from checks.check_force(force)
    for constraint in model.constraints:
        if constraint.info is not UnknownConstraint:
            yield from checks.check_constraint(constraint)
    for driver in model.drivers:
        yield from checks.check_driver(driver)
    yield from checks.check_double_drivers()


def check_sub_assemblies(model: Model) -> Iterator[Finding]:
    """Yield findings for sub-assemblies whose file was not read, has a different gravity, or has elements that are not
    taken over."""
    for each in model.assemblies:
        if each.content is not None and (signals := each.content.signals):
            yield Finding(
                "warning",
                f"Controllers and signals of its file are not taken over: {', '.join(x.name for x in signals)}.",
                "Add them to this machine, with the names that its joints have here.",
                "assemblies",
                each.name,
                "file",
            )
        if each.content is None:
            yield Finding(
                "error",
                f"Its file '{each.file}' has not been read, so its elements are missing.",
                "Open the machine from its file, or choose the file again.",
                "assemblies",
                each.name,
                "file",
            )
        elif each.content.world.gravity != model.world.gravity:
            yield Finding(
                "hint",
                "Its file has a different gravity; the gravity of this machine is used.",
                "",
                "assemblies",
                each.name,
                "file",
            )


def constrained_frames(model: Model) -> Iterator[str]:
    """Yield the bodies and frames on which constraints act."""
    return (end for each in model.constraints for pair in each.connected_frames(model.sensors) for end in pair)


class _ForceChecks:
    def __init__(self, model: Model, values: Mapping[str, float]) -> None:
        self.model, self.values = model, values
        self.joints = {joint.name: joint for joint in model.joints}
        self.sensors = {sensor.name: sensor for sensor in model.sensors}

    def evaluate_or_nan(self, value: float | str | None) -> float:
        """Return the value of a number; NaN if there is none or it depends on time and state."""
        try:
            return math.nan if value is None else float(evaluate_field(value, self.values))
        except (KinetostatError, TypeError, ValueError, OverflowError):
            return math.nan

    def find_carrier_and_position(self, name: str) -> tuple[str, tuple[float, ...] | None]:
        """Return the body (or world, or junction) that carries a point, and the point's position on it if no rotation
        lies between."""
        position: tuple[float, ...] | None = (0.0, 0.0, 0.0)
        carrier, frames = self.model.placement(name)
        for frame in reversed(frames):
            if position is not None:
                turned = any(position) and any(x != 0.0 for x in frame.pose.rotation)
                offset = [self.evaluate_or_nan(x) for x in frame.pose.position]
                position = None if turned else tuple(a + b for a, b in zip(position, offset, strict=True))
        return carrier.name, position

    # ------------------------------------------------------------------------------- points and sensors

    def check_junctions(self) -> Iterator[Finding]:
        """Check that each junction has at least two forces that can be in equilibrium."""
        ends = Counter(end for force in self.model.forces for end in (force.a, force.b))
        for junction in self.model.junctions:
            if ends[junction.name] < 2:
                yield make_finding(
                    junction,
                    "warning",
                    f"{ends[junction.name] or 'No'} force acts on it: a massless point needs at least two forces in "
                    "equilibrium.",
                    "Connect line forces to it.",
                    "guess",
                )

    def check_sensor(self, sensor: Sensor) -> Iterator[Finding]:
        """Check for differences of incompatible quantities, and for frames that cannot move relative to each other."""
        other = self.sensors.get(sensor.minus)
        if other is not None and other.info.components != sensor.info.components:
            yield make_finding(
                sensor,
                "error",
                f"'{other.name}' measures another quantity ({other.kind}).",
                f"Subtract a sensor of kind {sensor.kind}.",
                "minus",
            )
        if sensor.info.is_geometric and self.model.carrier(sensor.a) is self.model.carrier(sensor.b):
            yield make_finding(
                sensor,
                "hint",
                "Both frames are on the same body: its value never changes.",
                "Choose another frame.",
                "b",
            )

    # ------------------------------------------------------------------------------- forces

    def check_force(self, force: Force) -> Iterator[Finding]:
        """Check springs and dampers and the elements they act on."""
        uses = force.info.uses
        yield from find_impossible_numbers(force, self.evaluate_or_nan)
        if force.info.along == LINE:
            yield from self.check_line(force)
        for field in force.info.nonzero:
            if self.evaluate_or_nan(getattr(force, field)) == 0.0:
                yield make_finding(
                    force,
                    "error",
                    f"With a {field} of 0 it exerts no force.",
                    f"Give a {field}." if force.is_clutch else f"Give a {field}, or use a line force.",
                    field,
                )
        if not force.info.nonzero and self.has_no_effect(force):
            yield make_finding(
                force,
                "hint",
                "It exerts no force.",
                "Give a spring rate, a damper rate or a law.",
                "law" if "law" in uses else "force",
            )
        if force.info.along == JOINT:
            yield from self.check_coordinate(force, force.joint, force.coordinate)
        if force.info.along == SENSOR:
            yield from self.check_scalar_sensor(force, force.sensor)
        if force.info.along == STRANDS:
            for strand in force.strands:
                if strand.joint:
                    yield from self.check_coordinate(force, strand.joint, "", "strands")
                else:
                    yield from self.check_scalar_sensor(force, strand.sensor, "strands")
        yield from self.check_settings(force)
        if force.is_contact:
            yield from self.check_contact(force)

    def check_contact(self, force: Force) -> Iterator[Finding]:
        """Check the numbers of a contact."""
        for number in force.info.numbers:
            value = self.evaluate_or_nan(quantity_value(number, force.settings))
            if value < 0.0:
                text, remedy = f"The {number.name} of a contact cannot be negative.", "Enter 0 or more."
                yield make_finding(force, "error", text, remedy, "settings")
            elif number.name == "restitution" and value > 1.0:
                text, remedy = "A restitution above 1 would bring energy.", "Enter a value from 0 to 1."
                yield make_finding(force, "error", text, remedy, "settings")

    def check_settings(self, element: Force | Constraint) -> Iterator[Finding]:
        """Check for numbers that the kind does not declare."""
        known = [number.name for number in element.info.numbers]
        for setting in element.settings:
            if setting.parameter not in known:
                text = f"The kind '{element.kind}' has no number '{setting.parameter}'."
                remedy = suggest_names(setting.parameter, known) if known else "Remove it."
                yield make_finding(element, "warning", text, remedy, "settings")

    def has_no_effect(self, force: Force) -> bool:
        uses = force.info.uses
        vectors = (getattr(force, field) for field in ("force", "torque") if field in uses)
        numbers = (getattr(force, field) for field in ("stiffness", "damping", "inertia") if field in uses)
        values = [*numbers, *(x for vector in vectors for x in vector)]
        further = ("law" in uses and force.law is not None) or ("masses" in uses and force.masses)
        return bool(values) and all(value == 0.0 for value in values) and not further

    def check_line(self, force: Force) -> Iterator[Finding]:
        """Check the natural length, end points and masses of a line force."""
        rest = self.evaluate_or_nan(force.rest) if "rest" in force.info.uses else math.nan
        if rest < 0.0:
            yield make_finding(
                force, "warning", "Its natural length is negative.", "Give a length of 0 or more.", "rest"
            )
        elif rest == 0.0 and self.evaluate_or_nan(force.stiffness) > 0.0 and force.law is None:
            yield make_finding(
                force,
                "hint",
                "Its natural length is 0: the spring pulls until its ends meet.",
                "Give the natural length.",
                "rest",
            )
        (carrier, p), (other, r) = self.find_carrier_and_position(force.a), self.find_carrier_and_position(force.b)
        if carrier == other:
            if p is not None and r is not None and math.dist(p, r) < 1e-12:
                yield make_finding(
                    force,
                    "error",
                    "Both ends coincide on the same body: the line has no direction.",
                    "Connect points of two bodies.",
                    "b",
                )
            else:
                yield make_finding(
                    force, "hint", "Both ends are on the same body: it has no effect.", "Connect two bodies.", "b"
                )
        for number, mass in enumerate(force.masses, 1):
            yield from self.check_line_mass(force, mass, number)

    def check_line_mass(self, force: Force, mass: LineMass, number: int) -> Iterator[Finding]:
        amount, place = self.evaluate_or_nan(mass.mass), self.evaluate_or_nan(mass.place)
        if amount == 0.0:
            yield make_finding(
                force, "hint", f"Mass {number} on the line is 0.", "Give its mass or remove it.", "masses"
            )
        if place < 0.0 or (mass.at == "fraction" and place > 1.0):
            yield make_finding(
                force,
                "warning",
                f"Mass {number} lies outside the line (at {place:g}).",
                "Give a fraction between 0 and 1, or a positive distance.",
                "masses",
            )

    # ------------------------------------------------------------------------------- constraints and drivers

    def check_constraint(self, constraint: Constraint) -> Iterator[Finding]:
        """Check that the constraint can be satisfied."""
        uses = constraint.info.uses
        if "sensor" in uses and not (sensor := self.sensors[constraint.sensor]).info.is_geometric:
            yield make_finding(
                constraint,
                "error",
                f"'{sensor.name}' ({sensor.kind}) is not a function of positions, so it cannot be kept constant.",
                "Use a sensor of a distance, an angle, a position …",
                "sensor",
            )
        if "leader" in uses:
            for field in ("joint", "leader"):
                yield from self.check_coordinate(constraint, getattr(constraint, field), "", field)
            if constraint.joint == constraint.leader:
                yield make_finding(constraint, "error", "It couples a joint with itself.", "Name two joints.", "leader")
            yield from self.check_countable_turns(constraint)
        if "b" in uses and self.model.carrier(constraint.a) is self.model.carrier(constraint.b):
            yield make_finding(constraint, "error", "Both ends are on the same body.", "Connect two bodies.", "b")
        yield from find_impossible_numbers(constraint, self.evaluate_or_nan)
        yield from self.check_settings(constraint)

    def check_countable_turns(self, gear: Constraint) -> Iterator[Finding]:
        """Report gears between two measured angles whose ratio is not a quotient of small integers, so that turns
        cannot be counted."""
        both = [self.joints[name] for name in (gear.joint, gear.leader)]
        if any(joint.cut != "yes" or joint.info.coordinate_dimensions != ("angle",) for joint in both):
            return
        ratio = self.evaluate_or_nan(gear.ratio)
        varies = isinstance(gear.ratio, str) and names_in_formula(parse(gear.ratio))
        if np.isfinite(ratio) and (
            not count_meshing_positions(ratio) or (varies and count_meshing_positions(ratio) > 1)
        ):
            yield make_finding(
                gear,
                "warning",
                f"Both '{gear.joint}' and '{gear.leader}' close loops, so their turns cannot be counted at this ratio.",
                "Cut one of the loops at another joint, or write the ratio as a "
                "quotient of numbers of teeth, such as 20/30.",
                "ratio",
            )

    def check_driver(self, driver: Driver) -> Iterator[Finding]:
        """Check for drivers of dependent coordinates, and for drivers that exceed limits."""
        if driver.sensor and driver.motion == "position" and not self.sensors[driver.sensor].info.is_geometric:
            yield make_finding(
                driver,
                "error",
                f"'{driver.sensor}' is not a function of positions, so it cannot be driven.",
                "Drive a sensor of a distance, an angle, a position …",
                "sensor",
            )
        if not driver.joint:
            return
        yield from self.check_coordinate(driver, driver.joint, driver.coordinate)
        joint = self.joints[driver.joint]
        if joint.mimic is not None:
            yield make_finding(
                driver, "error", f"'{joint.name}' follows '{joint.mimic.leader}' already.", "Drive the leader.", "joint"
            )
        index = joint.info.coordinates.index(driver.coordinate) if driver.coordinate in joint.info.coordinates else 0
        if driver.motion == "position" and index < len(joint.limits):
            low, high = (
                self.evaluate_or_nan(joint.limits[index].lower),
                self.evaluate_or_nan(joint.limits[index].upper),
            )
            if (found := self.find_limit_violation(driver, low, high)) is not None:
                time, value = found
                measure = joint.info.coordinate_dimensions[index]
                limit = format_with_unit(low if value < low else high, measure)
                when = f"from t = {time:.4g} s on" if time > 0.0 else "from the start"
                most = f"{format_with_unit(value, measure)} within {DURATION:g} s"
                yield make_finding(
                    driver,
                    "warning",
                    f"It moves '{joint.name}' beyond its limit {limit} {when}: to {most}.",
                    f"Change the function or the limits{', or end runs before' if time > 0.0 else ''}.",
                    "function",
                )

    def find_limit_violation(self, driver: Driver, low: float, high: float) -> tuple[float, float] | None:
        """Return (s, value): the time when a driver first exceeds the limits within `DURATION`, and its extreme value;
        None if it stays within, or cannot be evaluated."""
        times, values = self.sample_motion(driver)
        outside = (values < low - 1e-9) | (values > high + 1e-9)
        if not outside.any():
            return None
        first = int(np.argmax(outside))
        begin, end = float(times[max(first - 1, 0)]), float(times[first])
        node = None if driver.values or not isinstance(driver.function, str) else parse(driver.function)
        for _ in range(BISECTIONS if first and node is not None else 0):
            middle = 0.5 * (begin + end)
            value = self.evaluate_at_time(node, middle)
            begin, end = (begin, middle) if value < low - 1e-9 or value > high + 1e-9 else (middle, end)
        beyond = np.maximum(values - high, low - values)
        beyond[~outside] = -math.inf
        return end, float(values[int(np.argmax(beyond))])

    def sample_motion(self, driver: Driver) -> tuple[np.ndarray, np.ndarray]:
        """Return times (s) and values of a driver's formula or table; empty if they cannot be evaluated."""
        nothing = np.array([]), np.array([])
        if driver.values:
            return (
                np.array([self.evaluate_or_nan(time) for time in driver.times]),
                np.array([self.evaluate_or_nan(value) for value in driver.values]),
            )
        if not isinstance(driver.function, str):
            return nothing if driver.function is None else (np.zeros(1), np.array([driver.function]))
        node = parse(driver.function)
        if names_in_formula(node) - set(TIME) - self.values.keys():
            return nothing
        times = np.linspace(0.0, DURATION, 201)
        found = np.array([self.evaluate_at_time(node, float(t)) for t in times])
        return (times, found) if np.isfinite(found).all() else nothing

    def evaluate_at_time(self, node: Any, t: float) -> float:
        """Return the value of a formula at a time (s); NaN if unknown."""
        try:
            return float(evaluate(node, {**self.values, "t": t, "time": t}))
        except (KinetostatError, TypeError, ValueError, OverflowError):
            return math.nan

    def check_double_drivers(self) -> Iterator[Finding]:
        """Report coordinates with two drivers, which contradict each other or are redundant."""
        seen: dict[tuple[str, str, str], str] = {}
        for driver in self.model.drivers:
            key = driver.joint, driver.coordinate, driver.sensor
            if key in seen:
                yield make_finding(
                    driver,
                    "error",
                    f"'{seen[key]}' drives the same motion.",
                    "Remove one of them.",
                    "joint" if driver.joint else "sensor",
                )
            seen.setdefault(key, driver.name)

    def check_coordinate(
        self, element: Force | Constraint | Driver, joint: str, coordinate: str, field: str = "coordinate"
    ) -> Iterator[Finding]:
        """Check that a coordinate exists in the joint and is a single number."""
        found = self.joints.get(joint)
        if found is None:
            return
        known = [
            name
            for name, d in zip(found.info.coordinates, found.info.coordinate_dimensions, strict=True)
            if d != "none"
        ]
        if coordinate not in known and not (coordinate == "" and len(known) == 1):
            what = f"has no coordinate '{coordinate}'" if coordinate else "has several coordinates"
            what = what if known else "has no coordinate that is a single number"
            hint = f"Choose one of {', '.join(filter(None, known))}." if any(known) else "Choose another joint."
            yield make_finding(element, "error", f"'{joint}' ({found.kind}) {what}.", hint, field)

    def check_scalar_sensor(self, force: Force, sensor: str, field: str = "sensor") -> Iterator[Finding]:
        """Check that a force acts along a single number determined by positions."""
        found = self.sensors[sensor]
        if not found.info.is_geometric or len(found.info.components) != 1:
            yield make_finding(
                force,
                "error",
                f"A force cannot act along '{sensor}' ({found.kind}).",
                "Use a distance or an angle.",
                field,
            )


def make_finding(element: object, severity: Severity, text: str, remedy: str, field: str) -> Finding:
    """Return a finding about an element of a model."""
    collection = next(name for name, kind in COLLECTIONS.items() if isinstance(element, kind))
    return Finding(severity, text, remedy, collection, getattr(element, "name", ""), field)
