"""The same machine with its loops cut at other joints, so that values named for joints that close loops can be kept.

Positions, speeds and accelerations of a machine do not depend on where its loops are cut. Where a joint that closes a
loop is named, the question is answered by the machine cut elsewhere, in which that joint has coordinates of its own,
and the answer is measured back between the frames of the joints.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import cut_joint_motion, cut_limits, joint_coordinates
from core.errors import ModelError
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.model.model import Model
from core.model.signals import component_name
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]


@cache_per_model
def _joint_by_name(compiled: CompiledModel) -> dict[str, str]:
    """Name of a cut joint or of one of its coordinates, speeds or channels → the joint."""
    found: dict[str, str] = {}
    for cut in compiled.cuts:
        parts = (*cut.info.coordinates, *cut.info.speeds)
        names = {cut.name, *(component_name(cut.name, part) for part in parts)} if cut.info.nv else set()
        found |= dict.fromkeys([*names, *(f"{name}.{level}" for name in names for level in "qva")], cut.name)
    return found


def closing_joint(compiled: CompiledModel, name: Any) -> str:
    """Joint that closes a loop and is denoted by a name (joint, coordinate, speed or channel); "" if there is none."""
    return _joint_by_name(compiled).get(name, "") if isinstance(name, str) else ""


class ClosingCoordinate(NamedTuple):
    """Coordinate k of a joint that closes a loop."""

    name: str
    joint: str
    k: int
    dimension: str

    def value(self, compiled: CompiledModel, q: Array, p: Values = None) -> float:
        """Value at a position of the tree, rad (within half a turn) or m."""
        return float(joint_coordinates(compiled, q, self.joint, p)[self.k])


@cache_per_model
def closing_coordinates(compiled: CompiledModel) -> dict[str, ClosingCoordinate]:
    """All coordinates of joints that close loops, by name, without those of joints with quaternions."""
    found = (
        ClosingCoordinate(component_name(cut.name, suffix), cut.name, k, cut.info.coordinate_dimensions[k])
        for cut in compiled.cuts
        if cut.info.nq == cut.info.nv
        for k, suffix in enumerate(cut.info.coordinates)
    )
    return {each.name: each for each in found}


@cache_per_model
def closing_speeds(compiled: CompiledModel) -> dict[str, str]:
    """Dimension of each speed of joints that close loops, by name, without those of joints with quaternions."""
    return {
        component_name(cut.name, suffix): dimension
        for cut in compiled.cuts
        if cut.info.nq == cut.info.nv
        for suffix, dimension in zip(cut.info.speeds, cut.info.speed_dimensions, strict=True)
    }


def speeds_of_cut_joints(compiled: CompiledModel, q: Array, v: Array, p: Values = None) -> dict[str, float]:
    """Speed of each joint that closes a loop at a consistent state of the tree, by name as in `closing_speeds`."""
    found: dict[str, float] = {}
    for cut in compiled.cuts:
        if cut.info.nv and cut.info.nq == cut.info.nv:
            speeds = cut_joint_motion(compiled, cut.name, q, v, np.zeros_like(v), p).v
            names = (component_name(cut.name, suffix) for suffix in cut.info.speeds)
            found |= {name: float(x) for name, x in zip(names, speeds, strict=True)}
    return found


@dataclass(frozen=True, eq=False)
class OtherCuts:
    """A machine (`own`) and the same one with its loops cut elsewhere (`compiled`)."""

    own: CompiledModel
    compiled: CompiledModel

    def position(self, q: Array, p: Values = None) -> Array:
        """Coordinates of the machine cut elsewhere at a closed position of the own one."""
        return _positions_in(self.compiled, self.own, q, None, p)

    def position_back(self, q: Array, near: Array, p: Values = None) -> Array:
        """Coordinates of the own machine at a position of the other one, with whole turns chosen as near as possible to
        those of a position of the own one."""
        return _positions_in(self.own, self.compiled, q, near, p)

    def motion(self, q: Array, v: Array, p: Values = None) -> Array:
        """Speeds of the machine cut elsewhere at a consistent state of the own one."""
        return _rates_in(self.compiled, self.own, q, v, np.zeros_like(v), "v", p)

    def speeds_back(self, q: Array, v: Array, p: Values = None) -> Array:
        """Speeds of the own machine at a consistent state of the other one."""
        return _rates_in(self.own, self.compiled, q, v, np.zeros_like(v), "v", p)

    def accelerations_back(self, q: Array, v: Array, a: Array, p: Values = None) -> Array:
        """Accelerations of the own machine at a consistent state of the other one."""
        return _rates_in(self.own, self.compiled, q, v, a, "a", p)


@cache_per_model
def _known_cuts(_: CompiledModel) -> dict[frozenset[str], CompiledModel]:
    return {}


def cut_elsewhere(compiled: CompiledModel, names: Iterable[Any]) -> OtherCuts | None:
    """The machine with loops cut so that all named joints have coordinates; None if none of them closes a loop.

    Raises ModelError if every loop must be cut at one of them.
    """
    given = [name for name in names if isinstance(name, str)]
    if not any(closing_joint(compiled, name) for name in given):
        return None
    owners = {c.name: c.joint for c in compiled.coordinates.table}
    owners |= {
        speed: joint
        for joint in compiled.coordinates.joints
        for speed in compiled.v_names[compiled.coordinates.slice_v(joint)]
    }
    owners |= {name: name for name in (*compiled.coordinates.joints, *compiled.coordinates.followers)}
    plain = [name if name in owners else name[:-2] for name in given if not closing_joint(compiled, name)]
    cut = {closing_joint(compiled, name) for name in given} - {""}
    kept = frozenset(cut | {owners[name] for name in plain if name in owners})
    known = _known_cuts(compiled)
    if kept not in known:
        known[kept] = CompiledModel(_model_cut_elsewhere(compiled, kept, cut))
    return OtherCuts(compiled, known[kept])


def _model_cut_elsewhere(compiled: CompiledModel, kept: Collection[str], cut: Collection[str]) -> Model:
    """The model with the joints to be kept in the tree."""
    plain = compiled.model.expanded
    joints = tuple(
        dataclasses.replace(joint, cut="no") if joint.name in kept and joint.info.closes_loops else joint
        for joint in plain.joints
    )
    try:
        return _checked(dataclasses.replace(plain, joints=joints), cut)
    except ModelError:
        loop = next(each for each in compiled.loops if each.cut in cut)
        raise ModelError(
            f"The joint '{loop.cut}' closes a loop, and that loop cannot be cut at another joint: all of them are "
            "named, coupled to others, or marked not to be cut.",
            where=f"joint '{loop.cut}'",
            remedy=f"Name fewer joints of this loop ({', '.join(loop.joints)}); the others follow.",
        ) from None


def _checked(model: Model, cut: Collection[str]) -> Model:
    """Return the model if it cuts none of these joints. Raises ModelError."""
    from core.mechanics.multibody.topology import build_topology

    if any(joint.name in cut for joint in build_topology(model).cuts):
        raise ModelError("The joint is cut.")
    return model


def _is_cut(compiled: CompiledModel, joint: str) -> bool:
    return any(cut.name == joint for cut in compiled.cuts)


def _positions_in(of: CompiledModel, at: CompiledModel, q: Array, near: Array | None, p: Values) -> Array:
    """(nq,) coordinates of one machine at a position of the other one. near : position from which turns are counted,
    else from the middle of limits or the reference value."""
    still, result = np.zeros(at.nv), np.zeros(of.nq)
    for name, joint in of.coordinates.joints.items():
        part = of.coordinates.slice_q(name)
        if not _is_cut(at, name):
            result[part] = q[at.coordinates.slice_q(name)]
            continue
        values = cut_joint_motion(at, name, q, still, still, p).q
        for k in range(joint.info.nq if joint.info.nq == joint.info.nv else 0):
            if joint.info.wraps_around(k):
                base = _base_angle(at, name, k) if near is None else float(near[part][k])
                values[k] += 2.0 * np.pi * np.round((base - values[k]) / (2.0 * np.pi))
        result[part] = values
    return result


def _base_angle(compiled: CompiledModel, joint: str, k: int) -> float:
    """Angle of a cut joint within half a turn of which its value is taken."""
    limit = next((each for each in cut_limits(compiled) if (each.joint, each.k) == (joint, k)), None)
    if limit is not None:
        return limit.base
    stated = compiled.model.expanded.find("joints", joint).rest
    return compiled.coordinates.numbers.scalar(stated[k], f"joint '{joint}', rest") if stated else 0.0


def _rates_in(of: CompiledModel, at: CompiledModel, q: Array, v: Array, a: Array, which: str, p: Values) -> Array:
    """(nv,) speeds or accelerations of one machine at a state of the other one."""
    result = np.zeros(of.nv)
    for name in of.coordinates.joints:
        if _is_cut(at, name):
            own = getattr(cut_joint_motion(at, name, q, v, a, p), which)
        else:
            own = (v if which == "v" else a)[at.coordinates.slice_v(name)]
        result[of.coordinates.slice_v(name)] = own
    return result
