"""User-defined joint forces: numbers, or formulas of time, coordinates, speeds and parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen import llvm_ir
from core.codegen.graph_symbols import build_column, scalar_symbols
from core.codegen.instructions import list_instructions
from core.codegen.tiered_code import TieredLibrary
from core.constraints.named_values import unknown_name_error
from core.errors import ExpressionError, ModelError, find_likely_names
from core.mechanics.elements.mode_variables import MODE_NAME, ModeVariables
from core.mechanics.elements.sensors import values_and_rates
from core.mechanics.kinematic_state import KinematicState
from core.mechanism import Mechanism
from core.model.formula.expression import evaluate, names_in_formula, parse
from core.model.formula.nodes import CONSTANTS
from core.model.formula.polynomials import degree_in
from core.model.parameters import parameter_values
from core.model.signals import component_name
from core.programs import native_entry

Array = NDArray[np.float64]


@runtime_checkable
class ForceLaw(Protocol):
    """Protocol for joint forces from an external source (a controller in a torque file), given the names of `names_of`
    and the parameters."""

    def forces(self, mech: Mechanism, known: Mapping[str, Any]) -> Mapping[str, Any]:
        """Map speed names to forces."""
        ...

    def plain(self) -> dict[str, str]:
        """Return the law as strings, to be stored with a run."""
        ...


Torque = Mapping[str, float | str] | Sequence[float] | Array | ForceLaw | None


def formula_names(mech: Mechanism, t: Any, q: Sequence[Any], v: Sequence[Any]) -> dict[str, Any]:
    """Return the names that a formula may use with their values (`core.model.signals`): t (or time), sensors and their
    rates, coordinates `joint` and `joint.q`, speeds `joint.v`."""
    known: dict[str, Any] = {**_sensor_values(mech, q, v), "t": t, "time": t}
    plain = dict(zip(mech.q_names, q, strict=True))
    known.update({f"{name}.q": value for name, value in plain.items()})
    known.update({f"{name}.v": value for name, value in zip(mech.v_names, v, strict=True)})
    measured = {name: read for name, read in _dependent_values(mech, q, v).items() if name not in plain}
    return {**measured, **plain, **known}


def check_formula(mech: Mechanism, name: str, formula: str) -> None:
    """Raise ExpressionError, naming the joint, if the formula of its force cannot be parsed or contains a name that is
    not defined for this machine."""
    q, v = (scalar_symbols(letter, n) for letter, n in (("q", mech.nq), ("v", mech.nv)))
    values = parameter_values(mech.model.expanded.parameters, _parameter_values(mech))
    _check_names(name, formula, {**values, **formula_names(mech, 0.0, q, v)})


def _check_names(joint: str, formula: str, known_names: Mapping[str, Any]) -> None:
    where = f"torque of '{joint}'"
    try:
        unknown = sorted(names_in_formula(parse(formula)) - {*known_names, *CONSTANTS})
    except ExpressionError as error:
        raise error.at(where=where) from None
    if unknown:
        close = find_likely_names(unknown[0], sorted(known_names))
        raise ExpressionError(
            f"The name '{unknown[0]}' is not defined.",
            where=where,
            remedy=f"Did you mean {', '.join(close)}?"
            if close
            else "Use t, coordinates as joint.q, speeds as joint.v, sensors and parameters.",
        )


def _sensor_values(mech: Mechanism, q: Sequence[Any], v: Sequence[Any]) -> dict[str, Any]:
    """Return sensors of position and velocity, and the rates of position sensors."""
    symbolic = mech.compiled.program.symbolic
    kinematics, found = KinematicState(symbolic.tree, list(q), list(v)), {}
    for name, sensor in symbolic.elements.sensors.items():
        if not sensor.info.is_function_of_state:
            continue
        values, rates = values_and_rates(sensor, kinematics)
        words = sensor.info.components
        for kind, numbers in (("", values), (".rate", rates)):
            found.update({f"{component_name(name, word)}{kind}": x for word, x in zip(words, numbers, strict=False)})
    return found


def _dependent_values(mech: Mechanism, q: Sequence[Any], v: Sequence[Any]) -> dict[str, Any]:
    """Return coordinates and speeds of joints that close a loop or follow another joint."""
    symbolic = mech.compiled.program.symbolic
    own = {*mech.q_names, *mech.v_names}
    kinematics = KinematicState(symbolic.tree, list(q), list(v))
    return {
        name: read(kinematics)
        for name, read in symbolic.elements.coordinates.items()
        if own.isdisjoint((name, name.removesuffix(".q"), name.removesuffix(".v")))
    }


def _check_ordered_forces(mech: Mechanism, torque: Any) -> Array:
    """Return (nv,) joint forces given in order without names; raises ModelError if they do not fit."""
    if callable(torque):
        raise ModelError(
            "Joint forces cannot be given as a Python function, since the run is compiled.",
            where="torque",
            remedy="Give formulas as text, e.g. {'joint1': '10*sin(2*t) - 3*joint1.v'}.",
        )
    try:
        values = np.array(torque, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape != (mech.nv,) or not np.isfinite(values).all():
        raise ModelError(
            f"The joint forces must be {mech.nv} finite numbers.",
            where="torque",
            remedy="Give them in the order of mech.v_names, or give some of them by name.",
        )
    return values


def constant_forces(mech: Mechanism, torque: Torque) -> Array | None:
    """Return the joint forces as an array (nv,) if they are all numbers, else None.

    Raises ModelError for a wrong size or an unknown name.
    """
    if torque is None:
        return np.zeros(mech.nv)
    if isinstance(torque, ForceLaw):
        return None
    if not isinstance(torque, Mapping):
        return _check_ordered_forces(mech, torque)
    for name in torque:
        if name not in mech.v_names:
            raise unknown_name_error(mech.compiled, "v", str(name), "torque")
    if any(isinstance(value, str) for value in torque.values()):
        for name, value in torque.items():
            if not isinstance(value, str):
                _check_finite_force(name, value)
        return None
    result = np.zeros(mech.nv)
    for name, value in torque.items():
        result[mech.v_names.index(name)] = _check_finite_force(name, value)
    return result


def _check_finite_force(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(
            f"{value!r} is neither a finite number nor a formula.",
            where=f"torque of '{name}'",
            remedy="Give N·m or N, or a formula as text, e.g. '10*sin(t)'.",
        )
    return number


def degree_in_time(torque: Torque) -> float:
    """Return the polynomial degree in time of the joint forces; infinite if they are not polynomials."""
    if torque is None:
        return 0.0
    if isinstance(torque, ForceLaw):
        return math.inf
    texts = [value for value in torque.values() if isinstance(value, str)] if isinstance(torque, Mapping) else []
    return max((degree_in(parse(text), {"t", "time"}) for text in texts), default=0.0)


def find_mode_variables(mech: Mechanism, torque: Torque) -> ModeVariables:
    """Return the mode variables (sides of comparisons and switches) of the joint force formulas."""
    texts = [value for value in torque.values() if isinstance(value, str)] if isinstance(torque, Mapping) else []
    values = parameter_values(mech.model.expanded.parameters, _parameter_values(mech)) if texts else {}
    return ModeVariables(map(parse, texts), values)


def _parameter_values(mech: Mechanism) -> dict[str, float]:
    return dict(zip(mech.p_names, map(float, mech.parameter_values()), strict=True))


def compile_formulas(mech: Mechanism, torque: Mapping[str, float | str] | ForceLaw, p: Array) -> native_entry.Entry:
    """Compile the formulas to machine code: (t, q, v, modes, p) → (nv,).

    Raises ExpressionError naming the joint and what its formula lacks.
    """
    inputs, forces, _ = build_expressions(mech, torque)
    return _compile_entry(inputs, forces, p)


def compile_derivatives(mech: Mechanism, torque: Mapping[str, float | str] | ForceLaw, p: Array) -> native_entry.Entry:
    """Compile the derivatives of the formulas to machine code: (t, q, v, modes, p) → (nq + nv, nv), by q and v."""
    inputs, forces, _ = build_expressions(mech, torque)
    return _compile_entry(inputs, ca.vec(ca.densify(ca.jacobian(forces, ca.vertcat(*inputs[1:3])))), p)


def compile_event_indicators(
    mech: Mechanism, torque: Mapping[str, float | str] | ForceLaw, p: Array
) -> native_entry.Entry:
    """Compile the event indicators of the formulas to machine code: (t, q, v, modes, p) → (indicators,)."""
    inputs, _, indicators = build_expressions(mech, torque)
    return _compile_entry(inputs, indicators, p)


def build_expressions(mech: Mechanism, torque: Mapping[str, float | str] | ForceLaw) -> tuple[list[Any], Any, Any]:
    """Return ((t, q, v, modes, p), forces, event indicators) as symbolic expressions."""
    modes = find_mode_variables(mech, torque)
    t, q, v, m, parameters = (
        scalar_symbols(name, n)
        for name, n in (("t", 1), ("q", mech.nq), ("v", mech.nv), ("m", len(modes.numbers)), ("p", len(mech.p_names)))
    )
    given = dict(zip(mech.p_names, parameters, strict=True))
    known = {**parameter_values(mech.model.expanded.parameters, given), **formula_names(mech, t[0], q, v)}
    held = {**known, **{f"{MODE_NAME}{k}": x for k, x in enumerate(m)}}
    forces: list[Any] = [0.0] * mech.nv
    given_forces = torque.forces(mech, known) if isinstance(torque, ForceLaw) else torque
    for name, value in given_forces.items():
        if isinstance(value, str):
            _check_names(name, value, known)
        try:
            forces[mech.v_names.index(name)] = (
                evaluate(modes.with_mode_variables(parse(value)), held) if isinstance(value, str) else value
            )
        except ExpressionError as error:
            raise error.at(where=f"torque of '{name}'") from None
    indicators = [evaluate(node, known) for node in modes.indicators]
    inputs = [build_column(list(x)) for x in (t, q, v, m, parameters)]
    return inputs, ca.densify(build_column(forces)), ca.densify(build_column(indicators))


def _compile_entry(inputs: list[Any], result: Any, p: Array) -> native_entry.Entry:
    """Compile a symbolic result over these inputs to machine code; the parameters come last."""
    function = ca.Function("f", inputs, [result], {"cse": True})
    sizes = tuple(int(x.numel()) for x in inputs)
    library = TieredLibrary(
        llvm_ir.build_module(list_instructions(function), sizes, int(result.numel()), checked=False)
    )
    return native_entry.build_single_entry(library.address("single"), sizes, int(result.numel()), p, library)
