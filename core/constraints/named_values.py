"""User-given coordinates, speeds, accelerations and states: by name or as lists, as numbers or as strings with a
unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError, ModelError, suggest_names
from core.mechanics.multibody.parameter_values import Values
from core.model.formula.expression import evaluate, parse
from core.model.formula.numerals import readable_to_input
from core.model.units import SI, convert_compound_unit
from core.model.validation.formulas import find_wrong_dimension
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]
Which = Literal["q", "v", "a"]
"""Coordinates, speeds or accelerations, by the suffix of their channels in a run."""

WORDS = {"q": "coordinate", "v": "speed", "a": "acceleration"}
RATES = {"angular_velocity": "angular_acceleration", "velocity": "acceleration"}
AGREED_TOLERANCE = 1e-9
"""Largest difference (rad/s or m/s, per s; relative for large values) between values given for a joint and its mimic
joint."""


@cache_per_model
def _coordinate_names(compiled: CompiledModel) -> dict[Which, dict[str, tuple[str, ...]]]:
    return {which: _names_by_label(compiled, which) for which in ("q", "v", "a")}


def _names_by_label(compiled: CompiledModel, level: Which) -> dict[str, tuple[str, ...]]:
    """Label → names of the coordinates or speeds that it denotes, in order."""
    own = compiled.coordinates
    found: dict[str, tuple[str, ...]] = {}
    names = compiled.q_names if level == "q" else compiled.v_names
    part = own.slice_q if level == "q" else own.slice_v
    found |= {name: (name,) for name in (*names, *own.followers)}
    found |= {name: names[part(name)] for name in own.joints if name not in found}
    return found | {f"{name}.{level}": meant for name, meant in found.items() if f"{name}.{level}" not in found}


def resolve_name(compiled: CompiledModel, level: Which, name: Any, where: str = "") -> tuple[str, ...]:
    """Resolve a name to the coordinates or speeds it stands for: one by its own name or by that of a mimic joint, all
    of a joint by the joint's name; channel names of a run ("elbow.q") are accepted, too.

    Raises ModelError for an unknown name.
    """
    known = _coordinate_names(compiled)[level]
    if name in known:
        return known[name]
    raise unknown_name_error(compiled, level, str(name), where)


def unknown_name_error(compiled: CompiledModel, level: Which, name: str, where: str = "") -> ModelError:
    """Error for a name that belongs to no coordinate or speed; if it is a cut joint, the message says that the joint
    closes a loop."""
    word = WORDS["q" if level == "q" else "v"]
    plain = name.removesuffix(f".{level}")
    for loop in compiled.loops:
        if plain == loop.cut or plain.startswith(f"{loop.cut}."):
            others = ", ".join(loop.joints[:-1])
            return ModelError(
                f"The joint '{loop.cut}' closes a loop and has no {word} of its own.",
                where=where,
                remedy=f"Choose other coordinates of this loop ({others}), or set its field “cut” to no.",
            )
    names = compiled.q_names if level == "q" else compiled.v_names
    return ModelError(f"There is no {word} '{name}'.", where=where, remedy=suggest_names(name, names))


def dimension_of_name(compiled: CompiledModel, level: Which, name: str) -> str:
    """Dimension of one coordinate, speed or acceleration given by its own name."""
    if level == "a":
        speed = dimension_of_name(compiled, "v", name)
        return RATES.get(speed, speed)
    own = compiled.coordinates
    if name in own.followers:
        info = own.followers[name].info
        return (info.coordinate_dimensions if level == "q" else info.speed_dimensions)[0]
    return _dimensions(compiled)[level][name]


@cache_per_model
def _dimensions(compiled: CompiledModel) -> dict[str, dict[str, str]]:
    """Dimension of each coordinate and speed."""
    joints = compiled.coordinates.joints.values()
    positions = (each for joint in joints for each in joint.info.coordinate_dimensions)
    return {
        "q": dict(zip(compiled.q_names, positions, strict=True)),
        "v": dict(zip(compiled.v_names, compiled.coordinates.speed_dimensions, strict=True)),
    }


def values_by_name(
    compiled: CompiledModel, level: Which, given_values: Mapping[str, Any], p: Values = None, label: str = ""
) -> dict[str, float]:
    """Value of each named coordinate or speed, rad, m, rad/s, m/s.

    given_values : names (see `resolve_name`) → a number, a string with a unit or a formula, or one for each of the
    joint's; label : what the caller calls it
    Raises ModelError for unknown names, values that are not finite numbers, and two values for one coordinate.
    """
    found: dict[str, float] = {}
    values = _parameter_values(compiled, p, given_values.values())
    for name, value in given_values.items():
        meant = resolve_name(compiled, level, name, label)
        where = f"{label} of '{name}'" if label else f"{WORDS[level]} '{name}'"
        several = [value] if len(meant) == 1 and _is_single_value(value) else _sequence_items(value, where)
        if len(several) != len(meant):
            words = f"{len(meant)} numbers are" if len(meant) > 1 else "One number is"
            raise ModelError(f"{words} needed.", where=where, remedy=f"In order: {', '.join(meant)}.")
        for each, one in zip(meant, several, strict=True):
            number = parse_quantity(one, dimension_of_name(compiled, level, each), values, where)
            if found.setdefault(each, number) != number:
                raise ModelError(
                    f"The value is given twice, as {found[each]:.6g} and as {number:.6g}.",
                    where=where,
                    remedy="Give it once.",
                )
    return found


def motion_values_by_name(
    compiled: CompiledModel,
    level: Literal["v", "a"],
    given_values: Mapping[str, Any],
    p: Values = None,
    label: str = "",
) -> dict[int, float]:
    """Value of each named speed or acceleration by its index; a value of a mimic joint is converted to its leader's.

    Raises ModelError as `by_name`, and where a joint and its follower do not agree.
    """
    found: dict[int, float] = {}
    for name, value in values_by_name(compiled, level, given_values, p, label).items():
        ratio, places = 1.0, compiled.coordinates.place_of_speed
        at = places[name] if name in places else compiled.joint_v(name).start
        if name in compiled.coordinates.followers:
            ratio = float(compiled.following(name, p)[0][0])
        wanted = value / ratio if ratio else 0.0
        if abs(ratio * found.get(at, wanted) - value) > AGREED_TOLERANCE * max(1.0, abs(value)):
            raise ModelError(
                f"{value:.6g} contradicts '{compiled.v_names[at]}', to which it is coupled with ratio {ratio:g}.",
                where=f"{label} of '{name}'" if label else f"{WORDS[level]} '{name}'",
                remedy="Give one of them; the other follows.",
            )
        found[at] = wanted
    return found


def values_in_order(
    compiled: CompiledModel, level: Which, given_values: Any, p: Values = None, label: str = ""
) -> Array:
    """(nq,) or (nv,) all coordinates or speeds from a list in order: numbers, or strings as in `values_by_name`.

    Raises ModelError, which states the required number and order of values.
    """
    names = compiled.q_names if level == "q" else compiled.v_names
    items = (
        [given_values] if len(names) == 1 and _is_single_value(given_values) else _sequence_items(given_values, label)
    )
    if any(isinstance(each, str) for each in items) and len(items) == len(names):
        values = _parameter_values(compiled, p, items)
        measured = zip(items, names, strict=True)
        return np.array(
            [
                parse_quantity(x, dimension_of_name(compiled, level, name), values, f"{label} of '{name}'")
                for x, name in measured
            ]
        )
    return one_number_per_name(items, names, label)


def one_number_per_name(given_values: Any, names: Iterable[str], label: str) -> Array:
    """(n,) one number for each name. Raises ModelError if their number differs."""
    known = tuple(names)
    try:
        array = np.array(given_values, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(
            "This is not a list of numbers.", where=label, remedy="Give numbers in SI units, or values by name."
        ) from None
    if array.shape != (len(known),):
        listed = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        raise ModelError(
            f"{label} has shape {array.shape}; {len(known)} numbers are needed.",
            where=label,
            remedy=f"In order: {listed}. Or give some of them by name." if known else "",
        )
    return array


def parse_quantity(value: Any, dimension: str, parameters: Mapping[str, float], where: str) -> float:
    """Convert a number or a string to a finite number in SI: a value with a unit ("30 deg", "10 rpm", "30°/s") or a
    formula of `parameters`. Raises ModelError."""
    if isinstance(value, str):
        return _parse_quantity_text(value, dimension, parameters, where)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        unit = f" in {SI[dimension]}" if SI.get(dimension) else ""
        raise ModelError(
            f"{value!r} is not a finite number.",
            where=where,
            remedy=f"Give a number{unit}, or a string with a unit.",
        )
    return float(value)


def _parse_quantity_text(text: str, dimension: str, values: Mapping[str, float], where: str) -> float:
    try:
        formula = convert_compound_unit(readable_to_input(text.strip()).replace("°", " deg"), dimension, values)
        if (said := find_wrong_dimension(formula, dimension)) is not None:
            raise ModelError(said[0], remedy=said[1])
        number = evaluate(parse(formula), values)
    except KinetostatError as error:
        raise ModelError(error.what, where=where, remedy=error.remedy) from None
    return parse_quantity(number, dimension, values, where)


def _sequence_items(sequence: Any, where: str) -> list[Any]:
    """The items of a list, array or other sequence."""
    if _is_single_value(sequence) or isinstance(sequence, str | bytes | Mapping):
        raise ModelError(
            "This is not a list of numbers.", where=where, remedy="Give numbers in SI units, or values by name."
        )
    return list(sequence)


def _is_single_value(value: Any) -> bool:
    """Return True if the value is not a sequence."""
    return (
        isinstance(value, str) or not isinstance(value, Iterable) or (isinstance(value, np.ndarray) and not value.ndim)
    )


def _parameter_values(compiled: CompiledModel, p: Values, texts_and_values: Iterable[Any]) -> dict[str, float]:
    """Values of the parameter names that occur in the given strings."""
    if not any(
        isinstance(item, str) for each in texts_and_values for item in ([each] if _is_single_value(each) else each)
    ):
        return {}
    row = compiled.parameter_values(p)
    return compiled.model.values(dict(zip(compiled.p_names, map(float, row), strict=True)))


def single_state(compiled: CompiledModel, q: Any) -> Array:
    """Return a copy of q as a single state (nq,). Raises ModelError if it is not a single state."""
    array = as_states(q, compiled.nq, "q")
    if array.ndim > 1:
        raise ModelError(f"q has shape {array.shape}; one state is needed.", remedy="Give the states one by one.")
    return array.copy()


def as_states(states: Any, size: int, symbol: str) -> Array:
    """(…, size) one state or an array of states as floats. Raises ModelError if the size differs. symbol : "q" or
    "v"."""
    try:
        array = np.asarray(states, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{symbol} is not an array of numbers.", remedy="Give numbers in SI units.") from None
    if array.shape[-1:] != (size,):
        raise ModelError(
            f"{symbol} has shape {array.shape}; {size} numbers are needed.",
            remedy=f"mech.{symbol}_names lists them in order.",
        )
    return array


def broadcast_to_states(array: Array, leading: tuple[int, ...]) -> Array:
    """(n, size) the array broadcast to all states."""
    size = array.shape[-1]
    return np.broadcast_to(array, (*leading, size)).reshape(math.prod(leading), size)
