"""Physically impossible numbers. One table states which values are rejected, read as unset, or reported with a warning;
`check`, readers, runs, functions and forms all use it (docs/possible_numbers.md).

    impossible(element, number) -> findings of one element; errors are what is refused
    refusal(elements, …)        -> the error to raise before forces and motions are computed; None: all is possible
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from core.errors import SimulationError
from core.model.aims import Aim
from core.model.bodies import Body, Inertia
from core.model.constraints import Constraint
from core.model.fields import Element, Value, nested_elements
from core.model.forces import Force, LineMass
from core.model.formula.expression import names_in_text
from core.model.formula.formula_fields import list_formulas
from core.model.joints import LEVELS, NO_RATE, Joint, Limit, friction_levels_by_direction
from core.model.model import COLLECTIONS, QUESTIONS, Model
from core.model.motions import Motion, Segment
from core.model.shapes import Shape
from core.model.signal_elements import ControlledJoint, Signal
from core.model.study_plans import RecordRow, StudyPlan
from core.model.trims import TrimRow
from core.model.units import format_with_unit
from core.model.validation.findings import Finding, Severity
from core.model.validation.formulas import check_element_formulas, evaluate_or_nan
from core.numerics.spatial.scalar import Scalar, minus, plus, times, total

Number = Callable[[Any], float]
"""The value of a field, NaN if it has none."""

TRIANGLE_TOLERANCE = 1e-4
"""Relative to the largest moment: published numbers are rounded to about four digits."""
SHORTEST_ROD = 1e-12
"""Length of a rod, m, up to which it has no direction."""
NO_INERTIA = 1e-12
"""Moment of inertia (kg·m²) below which a moment counts as zero (a gram within a thousandth of a millimetre)."""


class NumberBound(NamedTuple):
    """Range of possible values of an element's number, with the message and severity for values outside."""

    field: str
    text: str
    remedy: str
    severity: Severity = "error"
    low: float = 0.0
    high: float = math.inf
    above: bool = False
    """True if `low` itself is impossible."""
    none: tuple[float, ...] = ()
    """Values that mean "not set"."""

    def is_possible(self, value: float) -> bool:
        """Return True if a value is possible; NaN passes, because formulas are checked elsewhere."""
        return value in self.none or not (value < self.low or value > self.high or (self.above and value == self.low))


ZERO_OR_MORE = "Give a value of 0 or more, whatever the parameters are."
GIVE_RATE = "Give a positive value, or leave it empty for no limit."
_FEW = "It has {value:g} samples.", "Give 1 or more."
FEEDS = "Its {words} is negative ({value:g}): it would add energy."
NEGATIVE = "Its {words} is negative: {value:g}."

BOUNDS: dict[type[Element], tuple[NumberBound, ...]] = {
    Body: (
        NumberBound("mass", "The mass {value:g} kg is negative.", "Give a positive mass, or change its parameters."),
        NumberBound("density", "The density {value:g} is not positive.", "Give a density, e.g. 7850.", above=True),
    ),
    Joint: (
        NumberBound("damping", FEEDS, ZERO_OR_MORE, "warning"),
        NumberBound("stiffness", FEEDS, ZERO_OR_MORE, "warning"),
        NumberBound("armature", NEGATIVE, ZERO_OR_MORE),
        *(NumberBound(level, NEGATIVE, ZERO_OR_MORE) for level in (*LEVELS, "stribeck_speed")),
        NumberBound("friction_coefficient", NEGATIVE, "Give a value of 0 or more."),
        NumberBound("bearing_radius", NEGATIVE, "Give a value of 0 or more."),
        NumberBound("thrust_radius", NEGATIVE, "Give a value of 0 or more."),
        NumberBound(
            "bearing_distance",
            "Bearings at the same position cannot support a moment.",
            "Give a distance above 0, or leave it empty.",
            above=True,
        ),
    ),
    Limit: (
        NumberBound("velocity", "The largest velocity{which} is negative: {value:g}.", GIVE_RATE, none=NO_RATE),
        NumberBound("effort", "The largest effort{which} is negative: {value:g}.", GIVE_RATE, none=NO_RATE),
        NumberBound(
            "restitution",
            "The restitution of its stop is {value:g}: above 1 it would add energy, below 0 it is meaningless.",
            "Give a number from 0 to 1.",
            high=1.0,
        ),
        *(
            NumberBound(each, f"The largest {each}{{which}} is negative: {{value:g}}.", GIVE_RATE)
            for each in ("acceleration", "deceleration", "jerk")
        ),
        NumberBound(
            "stiffness",
            "The stiffness of its stop is negative ({value:g}): it would add energy.",
            "Give a value of 0 or more, or leave it empty.",
        ),
        NumberBound(
            "damping",
            "The damping of its stop is negative ({value:g}): it would add energy.",
            "Give a value of 0 or more, or leave it empty.",
        ),
    ),
    Force: (
        NumberBound("stiffness", FEEDS, "Give 0 or more.", "warning"),
        NumberBound("damping", FEEDS, "Give 0 or more.", "warning"),
        NumberBound("inertia", FEEDS, "Give 0 or more."),
        *(NumberBound(level, NEGATIVE, ZERO_OR_MORE) for level in (*LEVELS, "stribeck_speed")),
    ),
    LineMass: (NumberBound("mass", "Mass {which} on the line is negative ({value:g}).", "Give a positive mass."),),
    Constraint: (
        NumberBound("length", "A rod needs a positive length.", "Give its length.", low=SHORTEST_ROD, above=True),
    ),
}
"""Kind of element → its numbers with bounds."""


def _positive(field: str) -> NumberBound:
    return NumberBound(field, "Its {words} is {value:g}.", "Give a value above 0.", "warning", above=True)


def _not_negative(*fields: str) -> tuple[NumberBound, ...]:
    return tuple(NumberBound(each, "Its {words} is negative: {value:g}.", ZERO_OR_MORE, "warning") for each in fields)


ASKED_BOUNDS: dict[type[Element], tuple[NumberBound, ...]] = {
    Aim: (_positive("duration"),),
    TrimRow: (_positive("weight"),),
    StudyPlan: (*map(_positive, ("duration", "step", "limit")), NumberBound("count", *_FEW, "warning", low=1.0)),
    RecordRow: (_positive("every"),),
    Segment: _not_negative("duration", "blend"),
    Motion: tuple(
        _positive(f"{what}_{rate}")
        for what, rates in (("tool", "speed acceleration turning"), ("joint", "speed acceleration jerk"))
        for rate in rates.split()
    ),
    ControlledJoint: _not_negative("limit"),
    Signal: (_positive("period"), *_not_negative("delay", "phase", "resolution", "noise")),
}
"""Kind of element that asks or computes something → its numbers with bounds. The machine itself is possible, so its
runs are not refused."""


def find_impossible_questions(model: Model, number: Number) -> Iterator[Finding]:
    """Yield warnings for impossible numbers of designs, studies, operating points, motions and signals."""
    for collection in (*QUESTIONS, "signals"):
        for element in getattr(model, collection):
            for part in nested_elements(element):
                for bound in ASKED_BOUNDS.get(type(part), ()):
                    value = number(getattr(part, bound.field))
                    if not bound.is_possible(value):
                        text = bound.text.format(value=value, words=bound.field.replace("_", " "))
                        yield Finding(bound.severity, text, bound.remedy, collection, element.name, bound.field)


def find_impossible_numbers(element: Element, number: Number) -> Iterator[Finding]:
    """Yield findings for impossible numbers of one element: errors are rejected; warnings are for values that add
    energy."""
    if not isinstance(element, Body | Joint | Force | Constraint):
        return
    for part, bound, which, field in bounded_numbers(element):
        given = getattr(part, bound.field)
        value = given if type(given) is float else number(given)
        if not bound.is_possible(value):
            text = bound.text.format(value=value, which=which, words=bound.field.replace("_", " "))
            yield _element_finding(element, bound.severity, text, bound.remedy, field)
    if isinstance(element, Body):
        yield from _check_body(element, number)
    elif isinstance(element, Joint):
        yield from _check_joint(element, number)
    elif isinstance(element, Force) and element.is_clutch:
        yield from _check_static_friction(element, number)


def possibility_margins(element: Element, read: Callable[[Any], Scalar | None]) -> Iterator[Scalar]:
    """Yield scalars that are finite and nonnegative only if an element's numbers are possible (a sufficient condition),
    for a quick test of many parameter values. read : returns the scalar of a field; None for an empty field and for one
    that depends on time or state"""
    found: list[Scalar | None] = []
    for inner in nested_elements(element):
        found += (_square_or_none(read(text.text)) for text in list_formulas(inner))
    if isinstance(element, Body | Joint | Force | Constraint):
        for part, bound, *_ in bounded_numbers(element):
            value = read(getattr(part, bound.field)) if bound.severity == "error" else None
            found.append(_subtract_or_none(value, bound.low))
            found.append(None if math.isinf(bound.high) else _subtract_or_none(bound.high, value))
        found += (_subtract_or_none(read(high), read(low)) for low, high in _ordered_pairs(element))
    if isinstance(element, Body):
        found += _moment_coefficients(element.inertia, read)
        if element.density is not None:
            for shape in element.shapes:
                found += (read(size) for _, sizes in shape.own_sizes() for size in sizes)
                for hollow, whole, count in shape.inside:
                    needed = read(getattr(shape, hollow))
                    needed = None if needed is None else times(float(count), needed)
                    found.append(_subtract_or_none(read(getattr(shape, whole)), needed))
    yield from (each for each in found if each is not None)


def _subtract_or_none(a: Scalar | None, b: Scalar | None) -> Scalar | None:
    return None if a is None or b is None else minus(a, b)


def _square_or_none(a: Scalar | None) -> Scalar | None:
    return None if a is None else times(a, a)


def _moment_coefficients(inertia: Inertia, read: Callable[[Any], Scalar | None]) -> Iterator[Scalar]:
    """Yield the coefficients of the characteristic polynomial, which are nonnegative if all principal moments are."""
    given = (inertia.ixx, inertia.iyy, inertia.izz, inertia.ixy, inertia.ixz, inertia.iyz)
    values = [each for each in map(read, given) if each is not None]
    if len(values) < len(given):
        return
    xx, yy, zz, xy, xz, yz = values
    first, second, third = (minus(times(a, b), times(c, c)) for a, b, c in ((yy, zz, yz), (xx, zz, xz), (xx, yy, xy)))
    across = plus(times(xy, minus(times(xz, yz), times(xy, zz))), times(xz, minus(times(xy, yz), times(xz, yy))))
    yield from (total((xx, yy, zz)), total((first, second, third)), plus(times(xx, first), across))


def _possible_default(kind: type[Element], bound: NumberBound) -> Value | None:
    """Return the default of a bounded number; NaN, which equals no number, if it has none or an impossible one."""
    value = getattr(kind, bound.field, math.nan)
    return value if value is None or bound.is_possible(value) else math.nan


_DEFAULTS = {kind: {each.field: _possible_default(kind, each) for each in own} for kind, own in BOUNDS.items()}
"""Kind of element → the values of its bounded numbers that nobody has set, if they are possible."""


def bounded_numbers(element: Body | Joint | Force | Constraint) -> list[tuple[Element, NumberBound, str, str]]:
    """Return the bounded numbers of an element and of its parts, except those left at their defaults: part, bound,
    description of the part, field of the element."""
    if isinstance(element, Body):
        fields: Collection[str] = ("density",) if element.density is not None else ("mass",)
    elif isinstance(element, Joint):
        fields = {bound.field for bound in BOUNDS[Joint]}
    else:
        fields = element.info.uses
    own: type[Element] = next(filter(element.__class__.mro().__contains__, BOUNDS))
    parts: list[tuple[Element, type[Element], str, str]] = []
    if isinstance(element, Joint):
        parts = [(limit, Limit, which, "limits") for which, limit in _limits_with_descriptions(element)]
    elif isinstance(element, Force):
        parts = [(mass, LineMass, str(k), "masses") for k, mass in enumerate(element.masses, 1)]
    return [
        (part, bound, which, field or bound.field)
        for part, kind, which, field in [(element, own, "", ""), *parts]
        for bound in BOUNDS[kind]
        if (field or bound.field in fields) and getattr(part, bound.field) != _DEFAULTS[kind][bound.field]
    ]


def _limits_with_descriptions(joint: Joint) -> list[tuple[str, Limit]]:
    """Return a description of each coordinate and its limits; none for unknown kinds."""
    if not joint.limits:
        return []
    suffixes = joint.info.coordinates
    several = len(suffixes) > 1
    pairs = zip(suffixes, joint.limits, strict=False)
    return [(f" of coordinate {suffix}" if several else "", limit) for suffix, limit in pairs]


def _ordered_pairs(element: Element) -> Iterator[tuple[Value | None, Value | None]]:
    """Yield pairs of numbers whose second must not be less than the first."""
    if isinstance(element, Joint) or (isinstance(element, Force) and element.is_clutch):
        yield from friction_levels_by_direction(element)
    if isinstance(element, Joint):
        yield from ((limit.lower, limit.upper) for _, limit in _limits_with_descriptions(element))
        if element.has_reaction_friction:
            yield element.friction_coefficient, element.static_friction_coefficient


Placed = tuple[str, Element]
"""A collection, and an element of it."""


def impossible_number_error(
    elements: Iterable[Placed], model: Model, values: Mapping[str, float]
) -> SimulationError | None:
    """Return the error to be raised before computing forces and motions if an element has an impossible number at these
    parameter values; None if all numbers are possible."""

    def number(value: Any) -> float:
        return evaluate_or_nan(value, values)

    for collection, element in elements:
        if _plain_and_possible.get(id(element)) is element:
            continue
        findings = relax_for_fixed_bodies(find_impossible_numbers(element, number), model, values)
        errors = (each for each in findings if each.severity == "error")
        for finding in (*errors, *check_element_formulas(values, collection, element)):
            return SimulationError(finding.text, where=finding.place, remedy=finding.remedy)
        if not any(map(list_formulas, nested_elements(element))):
            _plain_and_possible[id(element)] = element
    return None


_plain_and_possible: WeakValueDictionary[int, Element] = WeakValueDictionary()
"""Cache of elements without formulas whose numbers are all possible; successive models share the elements that an edit
leaves unchanged."""


def relax_for_fixed_bodies(findings: Iterable[Finding], model: Model, values: Mapping[str, float]) -> Iterator[Finding]:
    """Yield the findings; a negative moment becomes a warning if the body and everything fixed to it have no negative
    moment together."""
    for finding in findings:
        if (finding.collection, finding.field, finding.severity) == ("bodies", "inertia", "error"):
            from core.model.validation.joined_bodies import has_negative_group_moment

            if not has_negative_group_moment(model, model.find("bodies", finding.name), values):
                finding = dataclasses.replace(finding, severity="warning")
        yield finding


def elements_with_numbers(model: Model) -> Iterator[Placed]:
    """Yield the elements whose numbers affect forces and motions."""
    yield "world", model.world
    for collection in ("bodies", "frames", "joints", "forces", "constraints", "junctions", "drivers", "signals"):
        for element in getattr(model, collection):
            yield collection, element


def depends_on_parameters(element: Element, parameters: set[str]) -> bool:
    """Return True if a number of an element, or of a part of it, is a formula of known parameters only."""
    for part in nested_elements(element):
        for formula in list_formulas(part):
            if (found := names_in_text(formula.text)) and found <= parameters:
                return True
    return False


def notes_on_negative_damping(model: Model, values: Mapping[str, float]) -> Iterator[str]:
    """Yield notes for a run about dampers that add energy: element, field and problem."""
    dampers: tuple[Joint | Force, ...] = (*model.joints, *model.forces)
    for element in dampers:
        if element.damping != 0.0 and evaluate_or_nan(element.damping, values) < 0.0:
            for finding in find_impossible_numbers(element, lambda value: evaluate_or_nan(value, values)):
                if finding.field == "damping":
                    yield f"{finding.place}: {finding.text}"


# ------------------------------------------------------------------------------------- kinds of elements


def _check_body(body: Body, number: Number) -> Iterator[Finding]:
    if body.density is None:
        yield from _check_moments(body, number)
        return
    for k, shape in enumerate(body.shapes, 1):
        if shape.role == "collision":
            continue
        if any(number(size) < 0.0 for _, sizes in shape.own_sizes() for size in sizes):
            text = f"Shape {k}, from which the mass is computed, has a negative size."
            yield _element_finding(body, "error", text, "Give sizes of 0 or more.", "shapes")
        for text, remedy in find_oversized_hollows(shape, number):
            text = f"Shape {k}, from which the mass is computed: {text}"
            yield _element_finding(body, "error", text, remedy, "shapes")


def find_oversized_hollows(shape: Shape, number: Number) -> Iterator[tuple[str, str]]:
    """Yield (problem, remedy) for hollows and walls of a shape that are larger than what contains them."""
    for inner, outer, count in shape.inside:
        if count * number(getattr(shape, inner)) > number(getattr(shape, outer)):
            words, whole = inner.replace("_", " "), outer.replace("_", " ")
            twice = "twice " if count == 2 else ""
            yield f"{twice}its {words} is larger than its {whole}.", f"Give a smaller {words}."


def _check_moments(body: Body, number: Number) -> Iterator[Finding]:
    """Check for moments that no mass distribution has. Negative ones are rejected; those that violate the triangle
    inequality may be rounded or fitted values, as for the PUMA 560, and give a warning."""
    moments = principal_moments(body.inertia, number)
    largest = max(map(abs, moments))
    if math.isnan(largest) or largest < NO_INERTIA:
        return
    small, middle, large = moments
    if small < -TRIANGLE_TOLERANCE * largest:
        text = f"Its inertia has a negative principal moment ({small:.4g} kg·m²)."
        remedy = "Check the signs: ixy = −∫xy dm, about the centre of mass."
        yield _element_finding(body, "error", text, remedy, "inertia")
    elif small + middle < large * (1.0 - TRIANGLE_TOLERANCE):
        text = f"No real body has these principal moments: {small:.4g} + {middle:.4g} < {large:.4g} kg·m²."
        remedy = "Check the numbers; they must refer to the centre of mass."
        yield _element_finding(body, "warning", text, remedy, "inertia")


def principal_moments(inertia: Inertia, number: Number) -> tuple[float, float, float]:
    """Return the principal moments in ascending order, kg·m²; NaN if a formula has no finite value."""
    given = (inertia.ixx, inertia.iyy, inertia.izz, inertia.ixy, inertia.ixz, inertia.iyz)
    xx, yy, zz, xy, xz, yz = [each if type(each) is float else number(each) for each in given]
    if not all(map(math.isfinite, (xx, yy, zz, xy, xz, yz))):
        return math.nan, math.nan, math.nan
    if xy == xz == yz == 0.0:
        first, second, third = sorted((xx, yy, zz))
        return first, second, third
    import numpy as np

    first, second, third = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])).tolist()
    return first, second, third


def _check_joint(joint: Joint, number: Number) -> Iterator[Finding]:
    yield from _check_static_friction(joint, number)
    if joint.static_friction_coefficient is not None:
        sliding, resting = number(joint.friction_coefficient), number(joint.static_friction_coefficient)
        if resting < sliding:
            text = f"The static friction coefficient ({resting:g}) is less than the kinetic one ({sliding:g})."
            remedy = "Make static friction at least as large as kinetic friction."
            yield _element_finding(joint, "error", text, remedy, "static_friction_coefficient")
    for k, (which, limit) in enumerate(_limits_with_descriptions(joint)):
        low, high = number(limit.lower), number(limit.upper)
        if low > high:
            low_words, high_words = (format_with_unit(x, joint.info.coordinate_dimensions[k]) for x in (low, high))
            text = f"The lower limit{which} ({low_words}) lies above the upper limit ({high_words})."
            yield _element_finding(joint, "error", text, "Swap them.", "limits")


def _check_static_friction(element: Joint | Force, number: Number) -> Iterator[Finding]:
    """Check for static friction lower than sliding friction, which it is equal to unless it is given."""
    if element.static_friction is None and element.backward_static_friction is None:
        return
    for k, levels in enumerate(friction_levels_by_direction(element)):
        kinetic, static = map(number, levels)
        if static < kinetic:  # backward levels that are not given are those of the other direction
            yield _element_finding(
                element,
                "error",
                f"Static friction ({static:g}) is less than kinetic friction{' backward' * k} ({kinetic:g}).",
                "Make static friction at least as large as kinetic friction.",
                "backward_static_friction" if k else "static_friction",
            )
            return


def _element_finding(element: Any, severity: Severity, text: str, remedy: str, field: str) -> Finding:
    collection = next(name for name, kind in COLLECTIONS.items() if isinstance(element, kind))
    return Finding(severity, text, remedy, collection, element.name, field)
