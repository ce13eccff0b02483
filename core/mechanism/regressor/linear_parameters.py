"""Parameters in which inverse dynamics is linear, with names and values, and the regressor for them.

    τ = Y(q, v, a) π + τ₀(q, v, a)

τ₀ is what other parameters and other elements need: it is zero where all kinds of parameters are taken, force elements
and mass-spring lines are not there. Through loops Y, as inverse dynamics, gives the forces at the actuators.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.multipliers import equivalent_actuator_forces_each
from core.constraints.named_values import states_of
from core.errors import ModelError, near_misses
from core.mechanics.dry_friction import is_controlled
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.parameter_values import Values
from core.model import Joint
from core.programs import regressor as symbolic_regressor
from core.programs.compiled import Compiled
from core.programs.regressor import INERTIAL, OF_JOINTS, LinearParameter

Array = NDArray[np.float64]

KINDS = ("inertia", *OF_JOINTS)
"""Kinds of linear parameters that callers can select."""
INERTIA_ONLY = ("inertia",)
_UNITS = {
    True: {"armature": "kg·m²", "damping": "N·m·s/rad", "friction": "N·m", "stiffness": "N·m/rad"},
    False: {"armature": "kg", "damping": "N·s/m", "friction": "N", "stiffness": "N/m"},
}
_LETTERS = {"armature": "J", "damping": "d", "friction": "f", "stiffness": "k"}


class LinearParameters(NamedTuple):
    """Parameters of a regressor's columns, in order.

    parameters : kind, owner and part of each; names : "link3.mx", "joint2.damping"; symbols : as in formulas, "m3·c3x";
    units : SI; values (m,) : the model's
    """

    parameters: tuple[LinearParameter, ...]
    names: tuple[str, ...]
    symbols: tuple[str, ...]
    units: tuple[str, ...]
    values: Array


def linear_parameters(compiled: Compiled, kinds: Sequence[str] = INERTIA_ONLY, p: Values = None) -> LinearParameters:
    """Return the parameters of the selected kinds (`KINDS`) at parameter values (n_p,)."""
    wanted = [
        each
        for each in symbolic_regressor.linear_parameters(compiled.program.symbolic)
        if each.kind in _checked_kinds(kinds)
    ]
    names = tuple(f"{each.owner}.{each.part}" for each in wanted)
    return LinearParameters(
        tuple(wanted),
        names,
        _parameter_symbols(wanted),
        _parameter_units(compiled, wanted),
        _parameter_values(compiled, wanted, p),
    )


def regressor(
    compiled: Compiled,
    q: Any,
    v: Any,
    a: Any,
    kinds: Sequence[str] = INERTIA_ONLY,
    actuators: Sequence[str] | None = None,
    p: Values = None,
) -> Array:
    """Return the regressor Y (…, nv, m); see `Mechanism.regressor`."""
    if compiled.model.expanded.world.gravity.kind == "point":
        raise ModelError(
            "The regressor is not defined in a point gravity field, where the force on a body is not linear in "
            "its first moment.",
            where="world, gravity",
            remedy="Set gravity to uniform or none.",
        )
    q, v, a = (
        states_of(x, size, word)
        for x, size, word in ((q, compiled.nq, "q"), (v, compiled.nv, "v"), (a, compiled.nv, "a"))
    )
    chosen = _checked_kinds(kinds)
    every = symbolic_regressor.linear_parameters(compiled.program.symbolic)
    Y = compiled.call("regressor", q, v, a, p=p)[..., [k for k, each in enumerate(every) if each.kind in chosen]]
    if actuators is None and not compiled.constrained:
        return np.asarray(Y)
    return equivalent_actuator_forces_each(compiled, q, Y, actuators, p)


def _checked_kinds(kinds: Sequence[str]) -> Collection[str]:
    chosen = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    wrong = next((kind for kind in chosen if kind not in KINDS), None)
    if wrong is not None or not chosen:
        raise ModelError(
            f"There is no parameter kind '{wrong}'." if chosen else "No parameter kind is selected.",
            where="kinds",
            remedy=near_misses(str(wrong), KINDS),
        )
    return chosen


def _parameter_symbols(wanted: Sequence[LinearParameter]) -> tuple[str, ...]:
    """Return short symbols of the parameters, indexed by the number at the end of a body's or joint's name where it is
    unique, otherwise by the name."""
    found = []
    tags = {
        collection: _owner_tags([e.owner for e in wanted if (e.kind == "inertia") is collection])
        for collection in (True, False)
    }
    for each in wanted:
        tag = tags[each.kind == "inertia"][each.owner]
        if each.kind != "inertia":
            found.append(f"{_LETTERS[each.kind]}{tag}")
        elif each.part == "m":
            found.append(f"m{tag}")
        elif each.part.startswith("m"):
            axis = each.part[1]
            found.append(f"m{tag}·c{tag}{axis}" if tag.isdigit() else f"m·c{axis}{tag}")
        else:
            found.append(f"I{tag}{each.part[1:]}" if tag.isdigit() else f"{each.part}{tag}")
    return tuple(found)


def _owner_tags(owners: Sequence[str]) -> dict[str, str]:
    """Return the index of each body or joint in symbols: "3", or "[forearm]"."""
    names = dict.fromkeys(owners)
    numbers = {name: found.group() for name in names if (found := re.search(r"\d+$", name))}
    plain = len(numbers) == len(names) == len(set(numbers.values()))
    return numbers if plain else {name: f"[{name}]" for name in names}


def _parameter_units(compiled: Compiled, wanted: Sequence[LinearParameter]) -> tuple[str, ...]:
    inertial = {"m": "kg", **dict.fromkeys(INERTIAL[1:4], "kg·m"), **dict.fromkeys(INERTIAL[4:], "kg·m²")}
    members = {joint.name: joint for joint in compiled.program.symbolic.machine.members}

    def turns(joint: str) -> bool:
        return members[joint].info.speed_dimensions[0] == "angular_velocity"

    return tuple(inertial[e.part] if e.kind == "inertia" else _UNITS[turns(e.owner)][e.kind] for e in wanted)


def _parameter_values(compiled: Compiled, wanted: Sequence[LinearParameter], p: Values) -> Array:
    row = compiled.parameter_values(p)
    values = compiled.model.values(dict(zip(compiled.p_names, row.tolist(), strict=True)))
    numbers = Numbers(values, compiled.model.origin)
    topology = compiled.topology
    inertias = {
        body: numbers.inertia(topology.model.body(body)) for body in {e.owner for e in wanted if e.kind == "inertia"}
    }
    members = {joint.name: joint for joint in compiled.program.symbolic.machine.members}
    found = []
    for each in wanted:
        if each.kind == "inertia":
            mass, h, I = inertias[each.owner]
            parts = (mass, *h, I.xx, I.xy, I.yy, I.xz, I.yz, I.zz)
            found.append(parts[INERTIAL.index(each.part)])
        else:
            found.append(_joint_parameter(members[each.owner], each.kind, numbers))
    return np.array(found, dtype=float)


def _joint_parameter(joint: Joint, kind: str, numbers: Numbers) -> Any:
    if kind == "friction" and is_controlled(joint, numbers.values):
        return 0.0  # a brake is an element of its own
    return numbers.scalar(getattr(joint, kind), f"joint '{joint.name}', {kind}")
