"""Symbolic model of a machine over exact polynomials: symbols for parameters, coordinates and rates, and the recursive
algorithms on its tree. Formulas that are not polynomials (a root, a quotient by a symbol) become symbols."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

from core.errors import ExpressionError, ModelError
from core.mechanics.crba import crba
from core.mechanics.energy import potential_energy
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Topology, build_topology
from core.mechanics.multibody.tree_of_model import Machine, assign_offsets, build_machine
from core.model import WORLD, Model, Parameter
from core.model.fields import Element as ModelElement
from core.model.fields import FormulaKind, FormulaVectorKind, Value, map_elements, nested_elements
from core.model.formula.expression import Binary, Call, Name, Negative, Node, Number, names_in_formula, parse
from core.model.formula.formula_fields import list_formulas
from core.model.parameters import parameter_values
from core.model.shapes import Pose as DocumentPose
from core.model.signals import component_name
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import from_angles
from core.numerics.spatial.scalar import Scalar, minus, plus, times
from core.symbolic.naming import RecognisedNumber, angle_parameters, recognise_angle, recognise_fraction
from core.symbolic.ring import Ring, RingElement

Rows = list[list[Scalar]]


def is_polynomial(node: Node) -> bool:
    """Return True if the formula is a polynomial in its names and in sines and cosines of integer combinations of
    them."""
    if isinstance(node, Number | Name):
        return True
    if isinstance(node, Negative):
        return is_polynomial(node.operand)
    if isinstance(node, Call):
        return not names_in_formula(node) or (
            node.function in ("sin", "cos") and _is_integer_angle_sum(node.arguments[0])
        )
    if node.operator == "^":
        exponent = node.right.value if isinstance(node.right, Number) and not node.right.unit else -1.0
        return not names_in_formula(node) or (is_polynomial(node.left) and exponent >= 0 and exponent == int(exponent))
    if node.operator == "/":
        return is_polynomial(node.left) and not names_in_formula(node.right)
    if node.operator not in "+-*":
        return not names_in_formula(node)
    return is_polynomial(node.left) and is_polynomial(node.right)


def _is_integer_angle_sum(node: Node) -> bool:
    if isinstance(node, Negative):
        return _is_integer_angle_sum(node.operand)
    if isinstance(node, Binary) and node.operator in "+-":
        return _is_integer_angle_sum(node.left) and _is_integer_angle_sum(node.right)
    if isinstance(node, Binary) and node.operator == "*":
        number, other = (node.left, node.right) if isinstance(node.left, Number) else (node.right, node.left)
        whole = isinstance(number, Number) and number.value == int(number.value)
        return isinstance(other, Name) and whole
    return isinstance(node, Name) or not names_in_formula(node)


def replace_non_polynomials(model: Model) -> tuple[Model, tuple[str, ...]]:
    """Return the model with a parameter in place of every field formula that is not a polynomial, and the names of all
    parameters, new and old, that remain symbols although they depend on others."""
    own = [
        p.name
        for p in model.parameters
        if isinstance(p.value, str) and not p.independent and not is_polynomial(parse(p.value))
    ]
    taken = {p.name for p in model.parameters}
    made: dict[str, Parameter] = {}
    for _, element in model.elements():
        for part in () if isinstance(element, Parameter) else nested_elements(element):
            for field, text in _field_formulas(part):
                if text not in made and not is_polynomial(parse(text)):
                    name = re.sub(r"\W", "_", f"{getattr(part, 'name', '') or 'k'}_{field}")
                    while name in taken:
                        name += "_"
                    taken.add(name)
                    made[text] = Parameter(name=name, value=text)
    if not made:
        return model, tuple(own)
    names_of = {text: parameter.name for text, parameter in made.items()}

    def change(element: Any) -> dict[str, Any]:
        if isinstance(element, Parameter):
            return {}
        fields = dict.fromkeys(field for field, text in _field_formulas(element) if text in names_of)
        return {field: _replace_formulas(getattr(element, field), names_of) for field in fields}

    # the names come first, so that the model is valid while its fields change
    named = dataclasses.replace(model, parameters=(*model.parameters, *made.values()))
    return map_elements(named, change), (*own, *names_of.values())


def _field_formulas(element: ModelElement) -> Iterator[tuple[str, str]]:
    """Yield (field, text) of the formulas in an element's own fields, except formulas of time and state."""
    for field, kind, _, text in list_formulas(element):
        if not isinstance(kind, FormulaKind | FormulaVectorKind):
            yield field.name, text


def _replace_formulas(value: Any, symbol_by_formula: Mapping[str, str]) -> Any:
    if isinstance(value, tuple):
        return tuple(symbol_by_formula.get(x, x) for x in value)
    return symbol_by_formula.get(value, value)


def angles_in_formulas(model: Model) -> set[str]:
    """Return the names inside sines and cosines in the formulas of parameters."""
    found: set[str] = set()
    for parameter in model.parameters:
        if isinstance(parameter.value, str):
            found |= _angles_in_formula(parse(parameter.value))
    return found


def _angles_in_formula(node: Node) -> set[str]:
    if isinstance(node, Call):
        return set().union(*map(names_in_formula, node.arguments)) if node.function in ("sin", "cos") else set()
    if isinstance(node, Binary):
        return _angles_in_formula(node.left) | _angles_in_formula(node.right)
    return _angles_in_formula(node.operand) if isinstance(node, Negative) else set()


class SymbolicCoordinate(NamedTuple):
    """A joint coordinate of the machine, with its symbol."""

    symbol: str
    joint: str
    coordinate: str
    """Name in `Mechanism.q_names`."""
    q: int
    """Index in q of the whole machine."""
    v: int
    """Index in v of the whole machine."""
    turns: bool


@dataclass(frozen=True)
class ExactFieldEvaluator(Numbers):
    """Evaluator that converts the numbers of a document to elements of a ring, and records those it replaced by exact
    numbers."""

    recognised: dict[str, RecognisedNumber] | None = None
    """Numbers replaced so far; None to take all numbers unchanged."""
    ring: Ring | None = None
    """Ring in which sines of 30° and 45° are exact roots."""

    def scalar(self, value: Value, where: str = "") -> Scalar:
        number = super().scalar(value, where)
        if (
            self.recognised is None
            or not isinstance(number, float)
            or number == 0.0
            or "limits" in where
            or "spring_rest" in where
        ):
            return number
        found = recognise_fraction(number)
        return number if found is None else self._record_recognised(where, number, *found)

    def pose(self, pose: DocumentPose, where: str = "") -> Pose:
        if self.recognised is None or len(pose.rotation) != 3:
            return super().pose(pose, where)
        turn = [self._exact_angle(self.scalar(self._recognise_angle(value, where), where)) for value in pose.rotation]
        return Pose(from_angles(turn), self.vector(pose.position, where))

    def _exact_angle(self, angle: Scalar) -> Scalar:
        """Convert an angle whose sine is irrational to an element, so that its sine becomes an exact root."""
        if self.ring is None or not isinstance(angle, float) or angle % (0.5 * math.pi) == 0.0:
            return angle
        return self.ring.to_element(angle) if recognise_angle(angle) is not None else angle

    def _recognise_angle(self, value: Value, where: str) -> Value:
        if isinstance(value, str) or (found := recognise_angle(value)) is None:
            return value
        return float(self._record_recognised(where, value, *found))

    def _record_recognised(self, where: str, original: float, replacement: float, meaning: str) -> float:
        if replacement != original and self.recognised is not None:
            self.recognised[f"{where} {meaning}"] = RecognisedNumber(where, original, replacement, meaning)
        return replacement


class SymbolicMachine:
    """Symbols of a machine, and its kinematic tree over one ring. Entries are elements of the ring or floats."""

    ring_kind: type[Ring] = Ring

    def __init__(self, model: Model, values: Mapping[str, float] | None = None) -> None:
        self.model, self._own = replace_non_polynomials(model)
        self.given = dict(values or {})
        self.watch: Callable[[], None] = _do_nothing
        """Called between pieces of long work; may raise to stop it."""
        self.topology = build_topology(self.model)

    def begin(
        self,
        variables: tuple[SymbolicCoordinate, ...],
        *,
        angles: Iterable[str] = (),
        plain_symbols: Iterable[str] = (),
        recognise: bool = True,
    ) -> None:
        """Create the ring. angles, plain_symbols : further symbols in addition to those of the model and the
        variables"""
        self.variables = variables
        values = self.model.values()
        free = [p.name for p in self.model.parameters if p.independent and p.name not in self.given]
        free += [name for name in self._own if not _is_parameter_known(self.model, name, self.given)]
        turned = angle_parameters(self.model) | angles_in_formulas(self.model)
        turning = [variable.symbol for variable in variables if variable.turns]
        symbols = [v.symbol for v in variables]
        self.rates = tuple(f"D{s}" for s in symbols)
        self.accelerations = tuple(f"DD{s}" for s in symbols)
        self.ring = self.ring_kind(
            [*turning, *angles, *(name for name in free if name in turned)],
            [*free, *symbols, *self.rates, *self.accelerations, *angles, *plain_symbols],
        )
        self.parameters = tuple(free)
        self.values = {name: values[name] for name in free}
        scalars = {name: self.ring.symbol(name) for name in free} | self.given
        self.recognised: dict[str, RecognisedNumber] = {}
        self.numbers = ExactFieldEvaluator(
            self._parameter_values(scalars), self.model.origin, self.recognised if recognise else None, self.ring
        )
        self.machine: Machine = build_machine(self.topology, self.numbers)
        self.q = self._symbolic_coordinates()

    def _parameter_values(self, scalars: Mapping[str, Any]) -> dict[str, Scalar]:
        try:
            return parameter_values(self.model.parameters, scalars)
        except ExpressionError as error:
            raise ModelError(error.what, where=error.where, remedy=error.remedy) from None

    def _symbolic_coordinates(self) -> list[Scalar]:
        """Return q with symbols for the variables; other coordinates have their values in the reference
        configuration."""
        from core.mechanics.multibody.coordinates import Coordinates

        self.rest = tuple(float(x) for x in Coordinates(self.topology, self.model.values()).rest())
        q: list[Scalar] = list(self.rest)
        for variable in self.variables:
            q[variable.q] = self.ring.symbol(variable.symbol)
        return q

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @cached_property
    def mass_matrix(self) -> Rows:
        """Mass matrix, n×n."""
        M = crba(self.machine.tree, self.q)
        return [[M[a.v][b.v] for b in self.variables] for a in self.variables]

    @cached_property
    def _mass_matrix_derivatives(self) -> list[list[list[Scalar]]]:
        """Derivatives ∂M_ij/∂q_k as [i][j][k]."""
        n, M = self.n, self.mass_matrix
        slopes: list[list[list[Scalar]]] = [[[] for _ in range(n)] for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                slopes[i][j] = slopes[j][i] = [self.by(M[i][j], k) for k in range(n)]
        return slopes

    def by(self, x: Scalar, k: int) -> Scalar:
        """Return ∂x/∂q_k."""
        return x.derivative(self.variables[k].symbol) if isinstance(x, RingElement) else 0.0

    @cache  # noqa: B019
    def christoffel(self, i: int, j: int, k: int) -> Scalar:
        """Return c_ijk = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k) (Spong and Vidyasagar 6.3); indices from 0."""
        D = self._mass_matrix_derivatives
        self.watch()
        return times(0.5, minus(plus(D[k][j][i], D[k][i][j]), D[i][j][k]))

    @cached_property
    def potential(self) -> Scalar:
        """Potential energy of gravity and joint springs."""
        return potential_energy(self.machine.tree, self.q)

    @cached_property
    def gravity(self) -> list[Scalar]:
        """Gravity terms G_j = ∂P/∂q_j."""
        return [self.by(self.potential, j) for j in range(self.n)]


def _do_nothing() -> None:
    """Do nothing (default callback during long computations)."""


def _is_parameter_known(model: Model, name: str, values: Mapping[str, float]) -> bool:
    """Return True if a parameter depends only on parameters that have values."""
    parameter = next(p for p in model.parameters if p.name == name)
    if parameter.independent:
        return name in values
    return all(_is_parameter_known(model, used, values) for used in names_in_formula(parse(str(parameter.value))))


def joint_variables(model: Model, topology: Topology, joints: Iterable[str]) -> tuple[SymbolicCoordinate, ...]:
    """Return the coordinates of tree joints with their symbols, except mimic joints."""
    where = assign_offsets(topology)
    kinds = {branch.joint.name: branch.joint for branch in topology.branches}
    path = [name for name in joints if kinds[name].mimic is None]
    wanted = _symbols_from_dh_tables(model)
    taken = {parameter.name for parameter in topology.model.parameters} | {WORLD}
    result: list[SymbolicCoordinate] = []
    for name in path:
        info = kinds[name].info
        for k, suffix in enumerate(info.coordinates):
            symbol = wanted.get(name, "")
            if not symbol or symbol in taken:
                symbol = f"q{len(result) + 1}"
            while symbol in taken:
                symbol += "_"
            taken.add(symbol)
            coordinate = component_name(name, suffix)
            turns = info.coordinate_dimensions[k] == "angle"
            result.append(SymbolicCoordinate(symbol, name, coordinate, where.q[name] + k, where.v[name] + k, turns))
    return tuple(result)


def _symbols_from_dh_tables(model: Model) -> dict[str, str]:
    """Return the symbols that DH tables give their joints."""
    wanted: dict[str, str] = {}
    for chain in model.chains:
        wanted |= {f"{chain.prefix}joint{i}": s for i, s in enumerate(chain.variables(), 1)}
    return wanted
