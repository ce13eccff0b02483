"""Choice of symbols for a robot, and their names.

Names are those of the field: a2, d3 for lengths, m2, the centre of mass r2x, r2y, r2z, the inertia I2xx … of link 2,
g for gravity. Numbers of a file that stand for multiples of π or for simple fractions are recognised within
`RECOGNITION_TOLERANCE`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from core.errors import ModelError
from core.mechanics.multibody.number_reader import Numbers
from core.model import Body, DHChain, DHRow, Inertia, Joint, Model, Parameter, Pose
from core.model.fields import Value, declared_fields, nested_elements
from core.model.formula.expression import names_in_formula as names_in
from core.model.formula.expression import parse
from core.model.formula.formula_fields import list_formulas
from core.model.model import require_model
from core.numerics.spatial.inertia import split_inertia

RECOGNITION_TOLERANCE = 5e-5
"""Relative difference within which a number is recognised as a multiple of π or a simple fraction."""
LARGEST_SIMPLE = 16
"""Largest denominator of a fraction that is recognised as simple."""
NO_FRACTION = 1e-12
"""Fraction of the largest component below which a component is not recognised as a fraction."""
KINDS = ("named", "masses", "all", "none")
"""Values of the option `symbols` that are not names of parameters."""
USUAL_GRAVITY = (9.7, 9.9)
"""Accelerations (m/s²) that become the symbol g."""


class RecognisedNumber(NamedTuple):
    """A number of the file that was replaced by an exact number."""

    where: str
    given: float
    taken: float
    meaning: str
    """Exact number as written by hand: π/2, 1/3."""


def recognise_angle(value: float) -> tuple[float, str] | None:
    """Return the multiple of π/12 that equals an angle within tolerance; None if there is none."""
    twelfths = 12.0 * value / math.pi
    whole = round(twelfths)
    if whole == 0 or abs(twelfths - whole) > RECOGNITION_TOLERANCE * abs(whole):
        return None
    fraction = Fraction(whole, 12)
    top = {1: "π", -1: "-π"}.get(fraction.numerator, f"{fraction.numerator}π")
    return whole * math.pi / 12.0, top if fraction.denominator == 1 else f"{top}/{fraction.denominator}"


def recognise_fraction(value: float) -> tuple[float, str] | None:
    """Return the simple fraction of a periodic decimal such as 0.33333; None for short decimals."""
    fraction = Fraction(value).limit_denominator(LARGEST_SIMPLE)
    if not fraction or fraction.denominator in (1, 2, 4, 5, 8, 10, 16):
        return None
    if abs(float(fraction) - value) > RECOGNITION_TOLERANCE * abs(value):
        return None
    return float(fraction), f"{fraction.numerator}/{fraction.denominator}"


# --------------------------------------------------------------------------------- numbers become symbols


def replace_numbers_by_symbols(model: Model) -> Model:
    """Return the model with parameters in place of all numbers of its links: lengths, masses, centres, inertias."""
    namer = _ParameterMaker(model)
    chains = tuple(namer.replace_in_chain(chain) for chain in model.chains)
    bodies = tuple(namer.replace_in_body(body, i) for i, body in enumerate(model.bodies, 1))
    joints = tuple(namer.replace_in_joint(joint, i) for i, joint in enumerate(model.joints, 1))
    return dataclasses.replace(
        model, chains=chains, bodies=bodies, joints=joints, parameters=(*model.parameters, *namer.made)
    )


def add_gravity_symbol(model: Model) -> Model:
    """Return the model with the symbol g for standard gravity along an axis, unless g is already the name of something
    else."""
    gravity = model.world.gravity
    used = {parameter.name for parameter in model.parameters}
    acting = [x for x in gravity.acceleration if x != 0.0]
    if gravity.kind != "uniform" or len(acting) != 1 or not isinstance(acting[0], float) or "g" in used:
        return model
    if not USUAL_GRAVITY[0] <= abs(acting[0]) <= USUAL_GRAVITY[1]:
        return model
    sign = "-" if acting[0] < 0.0 else ""
    x, y, z = (f"{sign}g" if x != 0.0 else 0.0 for x in gravity.acceleration)
    world = dataclasses.replace(model.world, gravity=dataclasses.replace(gravity, acceleration=(x, y, z)))
    g = Parameter(name="g", value=abs(acting[0]), dimension="acceleration", description="Gravity")
    return dataclasses.replace(model, world=world, parameters=(*model.parameters, g))


def apply_chosen_symbols(
    model: Model, symbols: str | Iterable[str] | None, values: Mapping[str, float] | None
) -> tuple[Model, dict[str, float]]:
    """Return the model with parameters for the chosen symbols, and the values of the parameters that become numbers.

    symbols : "named", "masses", "all", "none" or names, as `symbolic.robot` and `symbolic.linkage` take them; values :
    of parameters that take others than the model's. Raises ModelError for unknown names and for no numbers.
    """
    named = add_gravity_symbol(require_model(model))
    if symbols == "all":
        named = replace_numbers_by_symbols(named)
    elif symbols == "masses":
        named = replace_masses_by_symbols(named)
    known = {
        name: x for name, x in named.values().items() if any(p.name == name and p.independent for p in named.parameters)
    }
    for name, value in (values or {}).items():
        if value is None or isinstance(value, str | list | tuple):
            raise ModelError(f"{value!r} is not a number.", where=f"value of '{name}'", remedy="Give a number in SI.")
    if not isinstance(symbols, str | None):
        symbols = tuple(symbols)
    wanted = (symbols,) if isinstance(symbols, str) and symbols not in KINDS else symbols
    if isinstance(wanted, tuple) and (missing := [name for name in wanted if name not in known]):
        raise ModelError(
            f"There is no parameter '{missing[0]}'.", where="symbols", remedy="There are: " + ", ".join(known) + "."
        )
    given = symbol_selector(wanted)(known) | dict(values or {})
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise ModelError(
            f"There is no parameter '{unknown[0]}'.", where="values", remedy="There are: " + ", ".join(known) + "."
        )
    return named, given


def replace_masses_by_symbols(model: Model) -> Model:
    """Return the model with parameters for mass, centre of mass and inertia of every body, also where these are
    computed from shapes and density; lengths are unchanged."""
    namer = _ParameterMaker(model)
    numbers = Numbers(model.values(), model.origin)
    bodies = tuple(
        _replace_inertia_by_symbols(body, numbers.inertia(body), namer, i) for i, body in enumerate(model.bodies, 1)
    )
    chains = tuple(
        dataclasses.replace(
            chain,
            rows=tuple(
                dataclasses.replace(row, **namer.replace_mass_properties(row, f"{chain.prefix.replace('.', '_')}{i}"))
                for i, row in enumerate(chain.rows, 1)
            ),
        )
        for chain in model.chains
    )
    return dataclasses.replace(model, chains=chains, bodies=bodies, parameters=(*model.parameters, *namer.made))


def _replace_inertia_by_symbols(body: Body, inertia: Any, namer: _ParameterMaker, number: int) -> Body:
    """Return a body with symbols for its mass properties; values that are only rounding errors become zero."""
    mass, center, tensor = split_inertia(inertia)
    size = max(map(abs, center), default=0.0)
    x, y, z = (float(each) if abs(each) > NO_FRACTION * size else 0.0 for each in center)
    moments = {name: float(getattr(tensor, name[1:])) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
    most = max(map(abs, moments.values()))
    plain = dataclasses.replace(
        body,
        density=None,
        mass=float(mass),
        center_of_mass=(x, y, z),
        inertia=Inertia(**{name: I if abs(I) > NO_FRACTION * most else 0.0 for name, I in moments.items()}),
    )
    return dataclasses.replace(plain, **namer.replace_mass_properties(plain, number))


class _ParameterMaker:
    """Builder of named parameters from numbers."""

    def __init__(self, model: Model) -> None:
        self.taken = {parameter.name for parameter in model.parameters}
        self.taken |= {row for chain in model.chains for row in chain.variables()}
        self.made: list[Parameter] = []

    def replace_number(self, value: Value, name: str, dimension: str) -> Value:
        """Create a parameter for a number and return its name; zero remains a number."""
        if isinstance(value, str) or value == 0.0:
            return value
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        self.made.append(Parameter(name=name, value=value, dimension=dimension))
        return name

    def replace_mass_properties(self, part: Any, i: Any) -> dict[str, Any]:
        """Replace mass, centre and inertia of a body or DH row by parameters."""
        inertia = {
            field.name: self.replace_number(getattr(part.inertia, field.name), f"I{i}{field.name[1:]}", "inertia")
            for field in declared_fields(type(part.inertia))
        }
        center = tuple(
            self.replace_number(x, f"r{i}{axis}", "length") for axis, x in zip("xyz", part.center_of_mass, strict=True)
        )
        return {
            "mass": self.replace_number(part.mass, f"m{i}", "mass"),
            "center_of_mass": center,
            "inertia": dataclasses.replace(part.inertia, **inertia),
        }

    def replace_in_chain(self, chain: DHChain) -> DHChain:
        prefix = chain.prefix.replace(".", "_")
        rows = tuple(self.replace_in_row(row, f"{prefix}{i}") for i, row in enumerate(chain.rows, 1))
        return dataclasses.replace(chain, rows=rows)

    def replace_in_row(self, row: DHRow, i: str) -> DHRow:
        d = row.d if row.kind == "prismatic" else self.replace_number(row.d, f"d{i}", "length")
        return dataclasses.replace(
            row,
            a=self.replace_number(row.a, f"a{i}", "length"),
            d=d,
            armature=self.replace_number(row.armature, f"J{i}", "inertia"),
            **self.replace_mass_properties(row, i),
        )

    def replace_in_body(self, body: Body, i: int) -> Body:
        return body if body.density is not None else dataclasses.replace(body, **self.replace_mass_properties(body, i))

    def replace_in_joint(self, joint: Joint, i: int) -> Joint:
        return dataclasses.replace(
            joint,
            a=self.replace_in_pose(joint.a, f"p{i}"),
            b=self.replace_in_pose(joint.b, f"s{i}"),
            armature=self.replace_number(joint.armature, f"J{i}", "inertia"),
        )

    def replace_in_pose(self, pose: Pose, stem: str) -> Pose:
        x, y, z = (
            self.replace_number(x, f"{stem}{axis}", "length") for axis, x in zip("xyz", pose.position, strict=True)
        )
        return dataclasses.replace(pose, position=(x, y, z))


def angle_parameters(model: Model) -> set[str]:
    """Return the parameters that occur in angles, directly or through other parameters."""
    found: set[str] = set()
    for _, element in model.elements():
        for part in nested_elements(element):
            found |= _names_in_values(each.text for each in list_formulas(part) if each.kind.dimension == "angle")
    formulas = {p.name: p.value for p in model.parameters if isinstance(p.value, str)}
    waiting = list(found)
    while waiting:
        for name in _names_in_values((formulas.get(waiting.pop()),)) - found:
            found.add(name)
            waiting.append(name)
    return found | {p.name for p in model.parameters if p.dimension == "angle"}


def _names_in_values(values: Iterable[Any]) -> set[str]:
    return {name for value in values if isinstance(value, str) for name in names_in(parse(value))}


def symbol_selector(chosen: str | Iterable[str] | None) -> Callable[[Mapping[str, float]], dict[str, float]]:
    """Return a function of the model's values that selects the parameters to be replaced by numbers.

    chosen : "all" or None (every parameter stays a symbol), "none", or the names that stay
    """
    keep = (
        None
        if chosen in (None, "all", "named", "masses")
        else frozenset()
        if chosen == "none"
        else frozenset(chosen or ())
    )
    return lambda values: {} if keep is None else {n: x for n, x in values.items() if n not in keep}
