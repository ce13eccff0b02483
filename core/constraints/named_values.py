"""User-given values of coordinates, speeds and accelerations, and states: by name or as lists, as numbers or texts with
a unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError, ModelError, near_misses
from core.mechanics.multibody.parameter_values import Values
from core.model.formula.expression import evaluate, parse
from core.model.formula.numerals import typed
from core.model.units import SI, with_compound_unit
from core.model.validation.formulas import wrong_dimension
from core.programs.compiled import Compiled, once

Array = NDArray[np.float64]
Which = Literal["q", "v", "a"]
"""Coordinates, speeds or accelerations, by the suffix of their channels in a run."""

WORDS = {"q": "coordinate", "v": "speed", "a": "acceleration"}
RATES = {"angular_velocity": "angular_acceleration", "velocity": "acceleration"}
AGREED_TOLERANCE = 1e-9
"""Largest difference (rad/s or m/s, per s; relative for large values) between values given for a joint and its mimic
joint."""


@once
def _names_of_all(compiled: Compiled) -> dict[Which, dict[str, tuple[str, ...]]]:
    return {which: _name_table(compiled, which) for which in ("q", "v", "a")}


def _name_table(compiled: Compiled, which: Which) -> dict[str, tuple[str, ...]]:
    """Name → the coordinates or speeds it stands for, in order."""
    own = compiled.coordinates
    found: dict[str, tuple[str, ...]] = {}
    names = compiled.q_names if which == "q" else compiled.v_names
    part = own.slice_q if which == "q" else own.slice_v
    found |= {name: (name,) for name in (*names, *own.followers)}
    found |= {name: names[part(name)] for name in own.joints if name not in found}
    return found | {f"{name}.{which}": meant for name, meant in found.items() if f"{name}.{which}" not in found}


def meant_by(compiled: Compiled, which: Which, name: Any, where: str = "") -> tuple[str, ...]:
    """Coordinates or speeds that a name stands for: one by its own name or by that of a mimic joint, all of a joint by
    the joint's name; channel names of a run ("elbow.q") work, too.

    Raises ModelError for a name that stands for none.
    """
    known = _names_of_all(compiled)[which]
    if name in known:
        return known[name]
    raise unknown_name_error(compiled, which, str(name), where)


def unknown_name_error(compiled: Compiled, which: Which, name: str, where: str = "") -> ModelError:
    """Error for a name of no coordinate or speed; for a cut joint it says that the joint closes a loop."""
    word = WORDS["q" if which == "q" else "v"]
    plain = name.removesuffix(f".{which}")
    for loop in compiled.loops:
        if plain == loop.cut or plain.startswith(f"{loop.cut}."):
            others = ", ".join(loop.joints[:-1])
            return ModelError(
                f"The joint '{loop.cut}' closes a loop and has no {word} of its own.",
                where=where,
                remedy=f"Name others of its loop ({others}), or set its field “cut” to no: then one of those is cut.",
            )
    names = compiled.q_names if which == "q" else compiled.v_names
    return ModelError(f"There is no {word} '{name}'.", where=where, remedy=near_misses(name, names))


def dimension(compiled: Compiled, which: Which, name: str) -> str:
    """Dimension of one coordinate, speed or acceleration given by its own name."""
    if which == "a":
        speed = dimension(compiled, "v", name)
        return RATES.get(speed, speed)
    own = compiled.coordinates
    if name in own.followers:
        info = own.followers[name].info
        return (info.coordinate_dimensions if which == "q" else info.speed_dimensions)[0]
    return _dimensions(compiled)[which][name]


@once
def _dimensions(compiled: Compiled) -> dict[str, dict[str, str]]:
    """Dimension of each coordinate and speed."""
    joints = compiled.coordinates.joints.values()
    positions = (each for joint in joints for each in joint.info.coordinate_dimensions)
    return {
        "q": dict(zip(compiled.q_names, positions, strict=True)),
        "v": dict(zip(compiled.v_names, compiled.coordinates.speed_dimensions, strict=True)),
    }


def by_name(
    compiled: Compiled, which: Which, given: Mapping[str, Any], p: Values = None, label: str = ""
) -> dict[str, float]:
    """Value of each named coordinate or speed, rad, m, rad/s, m/s.

    given : names (see `meant_by`) → a number, a text with a unit or a formula in parameters, or one for each of the
    joint's; label : what the caller calls it
    Raises ModelError for names that there are not, values that are no finite numbers, and two values for one.
    """
    found: dict[str, float] = {}
    values = _parameter_values(compiled, p, given.values())
    for name, value in given.items():
        meant = meant_by(compiled, which, name, label)
        where = f"{label} of '{name}'" if label else f"{WORDS[which]} '{name}'"
        several = [value] if len(meant) == 1 and _is_single_value(value) else _items(value, where)
        if len(several) != len(meant):
            words = f"{len(meant)} numbers are" if len(meant) > 1 else "One number is"
            raise ModelError(f"{words} needed.", where=where, remedy=f"In order: {', '.join(meant)}.")
        for each, one in zip(meant, several, strict=True):
            number = quantity(one, dimension(compiled, which, each), values, where)
            if found.setdefault(each, number) != number:
                raise ModelError(
                    f"It is given twice, as {found[each]:.6g} and as {number:.6g}.",
                    where=where,
                    remedy="Give it once.",
                )
    return found


def motion_values_by_name(
    compiled: Compiled, which: Literal["v", "a"], given: Mapping[str, Any], p: Values = None, label: str = ""
) -> dict[int, float]:
    """Value of each named speed or acceleration by its index; a value of a mimic joint is converted to its leader's.

    Raises ModelError as `by_name`, and where a joint and its follower do not agree.
    """
    found: dict[int, float] = {}
    for name, value in by_name(compiled, which, given, p, label).items():
        ratio, places = 1.0, compiled.coordinates.place_of_speed
        at = places[name] if name in places else compiled.joint_v(name).start
        if name in compiled.coordinates.followers:
            ratio = float(compiled.following(name, p)[0][0])
        wanted = value / ratio if ratio else 0.0
        if abs(ratio * found.get(at, wanted) - value) > AGREED_TOLERANCE * max(1.0, abs(value)):
            raise ModelError(
                f"{value:.6g} contradicts '{compiled.v_names[at]}', to which it is coupled with ratio {ratio:g}.",
                where=f"{label} of '{name}'" if label else f"{WORDS[which]} '{name}'",
                remedy="Give one of them; the other follows.",
            )
        found[at] = wanted
    return found


def in_order(compiled: Compiled, which: Which, given: Any, p: Values = None, label: str = "") -> Array:
    """(nq,) or (nv,) all coordinates or speeds from a list in order: numbers, or texts as in `by_name`.

    Raises ModelError that tells how many are needed, and in which order.
    """
    names = compiled.q_names if which == "q" else compiled.v_names
    items = [given] if len(names) == 1 and _is_single_value(given) else _items(given, label)
    if any(isinstance(each, str) for each in items) and len(items) == len(names):
        values = _parameter_values(compiled, p, items)
        measured = zip(items, names, strict=True)
        return np.array(
            [quantity(x, dimension(compiled, which, name), values, f"{label} of '{name}'") for x, name in measured]
        )
    return numbers(items, names, label)


def numbers(given: Any, names: Iterable[str], label: str) -> Array:
    """(n,) one number for each name. Raises ModelError if the count differs."""
    known = tuple(names)
    try:
        array = np.array(given, dtype=float)
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


def quantity(value: Any, dimension: str, values: Mapping[str, float], where: str) -> float:
    """A finite number, SI, from a number or a text: a value with a unit ("30 deg", "10 rpm", "30°/s") or a formula of
    parameters (`values`). Raises ModelError."""
    if isinstance(value, str):
        return _quantity_from_text(value, dimension, values, where)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        unit = f" in {SI[dimension]}" if SI.get(dimension) else ""
        raise ModelError(
            f"{value!r} is not a finite number.",
            where=where,
            remedy=f"Give a number{unit}, or a text with a unit.",
        )
    return float(value)


def _quantity_from_text(text: str, dimension: str, values: Mapping[str, float], where: str) -> float:
    try:
        formula = with_compound_unit(typed(text.strip()).replace("°", " deg"), dimension, values)
        if (said := wrong_dimension(formula, dimension)) is not None:
            raise ModelError(said[0], remedy=said[1])
        number = evaluate(parse(formula), values)
    except KinetostatError as error:
        raise ModelError(error.what, where=where, remedy=error.remedy) from None
    return quantity(number, dimension, values, where)


def _items(given: Any, where: str) -> list[Any]:
    """The items of a list, array or other sequence."""
    if _is_single_value(given) or isinstance(given, str | bytes | Mapping):
        raise ModelError(
            "This is not a list of numbers.", where=where, remedy="Give numbers in SI units, or values by name."
        )
    return list(given)


def _is_single_value(given: Any) -> bool:
    """Return True if the value is no sequence."""
    return (
        isinstance(given, str) or not isinstance(given, Iterable) or (isinstance(given, np.ndarray) and not given.ndim)
    )


def _parameter_values(compiled: Compiled, p: Values, given: Iterable[Any]) -> dict[str, float]:
    """Values of the parameter names that occur in the given texts."""
    if not any(isinstance(item, str) for each in given for item in ([each] if _is_single_value(each) else each)):
        return {}
    row = compiled.parameter_values(p)
    return compiled.model.values(dict(zip(compiled.p_names, map(float, row), strict=True)))


def one_state(compiled: Compiled, q: Any) -> Array:
    """A copy of q as one state (nq,). Raises ModelError if it is not one state."""
    array = states_of(q, compiled.nq, "q")
    if array.ndim > 1:
        raise ModelError(f"q has shape {array.shape}; one state is needed.", remedy="Give the states one by one.")
    return array.copy()


def states_of(given: Any, size: int, word: str) -> Array:
    """(…, size) one state or an array of states as floats. Raises ModelError if the size differs. word : "q" or "v"."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{word} is not an array of numbers.", remedy="Give numbers in SI units.") from None
    if array.shape[-1:] != (size,):
        raise ModelError(
            f"{word} has shape {array.shape}; {size} numbers are needed.",
            remedy=f"mech.{word}_names lists them in order.",
        )
    return array


def broadcast_to_states(array: Array, leading: tuple[int, ...]) -> Array:
    """(n, size) the array broadcast to all states."""
    size = array.shape[-1]
    return np.broadcast_to(array, (*leading, size)).reshape(math.prod(leading), size)
