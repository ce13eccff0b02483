"""Symbolic positions, velocities and Jacobians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import along, column
from core.mechanics import kinematics
from core.mechanics.crba import screws
from core.mechanics.elements.sensors import measurement, motion_of, readings_of
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Place, Runner, inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import rate as rate_along
from core.numerics.spatial.scalar import Scalar, over, plus
from core.numerics.spatial.vector import Vector3
from core.programs.machine_symbols import MachineSymbols

Inputs = Mapping[str, list[Any]]
Scalars = Sequence[Scalar]


def matrix_of(pose: Pose) -> list[Scalar]:
    """Return the 4×4 matrix of a pose, row by row."""
    rows: list[Scalar] = []
    for row, component in zip(pose.rotation, pose.position, strict=True):
        rows += [*row, component]
    return [*rows, 0.0, 0.0, 0.0, 1.0]


def poses(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the pose matrices of all frames except the world."""
    links = context.standing(x["q"], run).poses
    return _pose_matrices(list(context.machine.frames.values())[1:], links, run)


def _pose_matrices(places: Sequence[Place], links: Sequence[Pose], run: Runner) -> list[Scalar]:
    result: list[Scalar] = []
    for place in places:
        result += matrix_of(place.pose if place.link < 0 else run(Pose.__matmul__, links[place.link], place.pose))
    return result


def joint_poses(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the pose matrices of frames a and b of all joints."""
    links = context.standing(x["q"], run).poses
    return _pose_matrices([place for sides in context.machine.joints.values() for place in sides], links, run)


def jacobian(context: MachineSymbols, x: Inputs, frame: str, run: Runner = inline) -> list[Scalar]:
    """Return the Jacobian J of a frame, row by row."""
    place = context.machine.frames[frame]
    rows = kinematics.jacobian(context.tree, x["q"], place.link, place.pose, run)
    return [entry for row in rows for entry in row]


def frames_jacobian(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the Jacobians J of all frames except the world."""
    names = list(context.machine.frames)[1:]
    return [entry for name in names for entry in jacobian(context, x, name, run)]


def frame_acceleration(context: MachineSymbols, x: Inputs, frame: str, run: Runner = inline) -> list[Scalar]:
    """Return [ω̇; v̇] of a frame's origin, world axes: J a + J̇ v; u: accelerations."""
    q, v, a = (column(list(x[name])) for name in "qvu")
    J = ca.densify(column(jacobian(context, x, frame))).reshape((context.tree.nv, 6)).T
    return ca.vertsplit(ca.densify(J @ a + along(J @ v, q, rates(context, x))))


def rates(context: MachineSymbols, x: Inputs) -> ca.SX:
    """Return q̇ as a column."""
    return ca.densify(column(kinematics.rate(context.tree, x["q"], x["v"])))


def center(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the centre of mass of the whole machine."""
    links = context.standing(x["q"], run).poses
    sums = kinematics.mass_center(context.tree, links, context.machine.ground, run)
    state = context.standing(x["q"], run)
    for mass in context.elements.line_masses:
        sums = run(_add_mass, tuple(sums), mass.mass, mass.position(state))
    return list(run(_center_from_sums, tuple(sums)))


def _add_mass(sums: Scalars, mass: Scalar, p: Vector3) -> tuple[Scalar, ...]:
    return tuple(plus(total, more) for total, more in zip(sums, (mass, *p.scaled(mass)), strict=True))


def _center_from_sums(sums: Scalars) -> tuple[Scalar, ...]:
    return tuple(over(component, sums[0]) for component in sums[1:])


def rate(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return q̇."""
    return kinematics.rate(context.tree, x["q"], x["v"])


def screws_of(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the screws of the links; see `core.mechanics.crba.screws`."""
    return [entry for row in screws(context.tree, x["q"], run) for entry in row]


def sensor(context: MachineSymbols, x: Inputs, name: str, run: Runner = inline) -> list[Scalar]:
    """Return values, rates and accelerations of a sensor's components; u: accelerations. Acceleration sensors are the
    rates of velocity sensors and have a value only."""
    found, state = context.elements.sensors[name], KinematicState(context.tree, x["q"], x["v"])
    if found.info.accelerated:  # seen from a: the rate of the components in a's axes, turned into those of `resolve`
        turn = state.frame(found.a).rotation
        inside = turn.act_back(motion_of(found, state))
        outside = turn.act(type(inside)(*_derivative(context, x, list(inside))))
        return [*state.frame(found.resolve).rotation.act_back(outside), *[float("nan")] * (2 * found.count)]
    values, speeds = readings_of(found, state)
    if found.info.geometric:
        return [*values, *speeds, *_derivative(context, x, speeds)]
    return [*values, *_derivative(context, x, values), *[float("nan")] * found.count]


def cut_coordinates(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the coordinates of all cut joints."""
    state, values = context.standing(x["q"], run), list[Scalar]()
    for name in (name for name, (law, *_) in context.machine.laws.items() if law.nq):
        measure = context.elements.measure_of_joint(name)
        measured = run(measure.of, state.frame(measure.a), state.frame(measure.b), measure.axis, measure.axis_b)
        values += measured.values
    return values


def joint_measure(context: MachineSymbols, x: Inputs, name: str, run: Runner = inline) -> list[Scalar]:
    """Return coordinates, speeds and accelerations of a cut joint; u: accelerations."""
    measured, motion = measurement(
        context.elements.measure_of_joint(name), KinematicState(context.tree, x["q"], x["v"])
    )
    speeds = [rate_along(wrench, motion) for wrench in measured.wrenches]
    return [*measured.values, *speeds, *_derivative(context, x, speeds)]


def _derivative(context: MachineSymbols, x: Inputs, values: Scalars) -> list[Scalar]:
    """Return d/dt along q̇ and v̇ = u."""
    q, v, u = (column(list(x[word])) for word in "qvu")
    f = column(list(values))
    total = along(f, q, rates(context, x)) + along(f, v, u)
    return ca.vertsplit(ca.densify(total))
