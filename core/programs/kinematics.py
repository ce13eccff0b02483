"""Symbolic positions, velocities and Jacobians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import build_column, directional_derivative
from core.mechanics import kinematics
from core.mechanics.crba import screws
from core.mechanics.elements.sensors import evaluate_measure, measured_motion, values_and_rates
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import LinkFrame, Runner, inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import measure_rate as rate_along
from core.numerics.spatial.scalar import Scalar, over, plus
from core.numerics.spatial.vector import Vector3
from core.programs.machine_symbols import MachineSymbols

Inputs = Mapping[str, list[Any]]
Scalars = Sequence[Scalar]


def pose_matrix(pose: Pose) -> list[Scalar]:
    """Return the 4×4 matrix of a pose, row by row."""
    rows: list[Scalar] = []
    for row, component in zip(pose.rotation, pose.position, strict=True):
        rows += [*row, component]
    return [*rows, 0.0, 0.0, 0.0, 1.0]


def poses(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the pose matrices of all frames except the world."""
    links = context.state_at_zero_speed(inputs["q"], run).poses
    return _pose_matrices(list(context.machine.frames.values())[1:], links, run)


def _pose_matrices(frames: Sequence[LinkFrame], links: Sequence[Pose], run: Runner) -> list[Scalar]:
    result: list[Scalar] = []
    for place in frames:
        result += pose_matrix(place.pose if place.link < 0 else run(Pose.__matmul__, links[place.link], place.pose))
    return result


def joint_poses(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the pose matrices of frames a and b of all joints."""
    links = context.state_at_zero_speed(inputs["q"], run).poses
    return _pose_matrices([place for sides in context.machine.joints.values() for place in sides], links, run)


def jacobian(context: MachineSymbols, inputs: Inputs, frame: str, run: Runner = inline) -> list[Scalar]:
    """Return the Jacobian J of a frame, row by row."""
    place = context.machine.frames[frame]
    rows = kinematics.jacobian(context.tree, inputs["q"], place.link, place.pose, run)
    return [entry for row in rows for entry in row]


def pose_and_jacobian(context: MachineSymbols, inputs: Inputs, frame: str, run: Runner = inline) -> list[Scalar]:
    """Return position and rotation of a frame, then its Jacobian, both row by row."""
    links, place = context.state_at_zero_speed(inputs["q"], run).poses, context.machine.frames[frame]
    pose = place.pose if place.link < 0 else run(Pose.__matmul__, links[place.link], place.pose)
    turned = [entry for row in pose.rotation for entry in row]
    return [*pose.position, *turned, *jacobian(context, inputs, frame, run)]


def frames_jacobian(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the Jacobians J of all frames except the world."""
    names = list(context.machine.frames)[1:]
    return [entry for name in names for entry in jacobian(context, inputs, name, run)]


def frame_acceleration(context: MachineSymbols, inputs: Inputs, frame: str, run: Runner = inline) -> list[Scalar]:
    """Return [ω̇; v̇] of a frame's origin, world axes: J a + J̇ v; u: accelerations."""
    q, v, a = (build_column(list(inputs[name])) for name in "qvu")
    J = ca.densify(build_column(jacobian(context, inputs, frame))).reshape((context.tree.nv, 6)).T
    return ca.vertsplit(ca.densify(J @ a + directional_derivative(J @ v, q, coordinate_rates(context, inputs))))


def coordinate_rates(context: MachineSymbols, inputs: Inputs) -> ca.SX:
    """Return q̇ as a column."""
    return ca.densify(build_column(kinematics.coordinate_rates(context.tree, inputs["q"], inputs["v"])))


def center(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the centre of mass of the whole machine."""
    links = context.state_at_zero_speed(inputs["q"], run).poses
    sums = kinematics.mass_center(context.tree, links, context.machine.ground, run)
    state = context.state_at_zero_speed(inputs["q"], run)
    for mass in context.elements.line_masses:
        sums = run(_add_mass, tuple(sums), mass.mass, mass.position(state))
    return list(run(_center_from_sums, tuple(sums)))


def _add_mass(sums: Scalars, mass: Scalar, p: Vector3) -> tuple[Scalar, ...]:
    return tuple(plus(total, more) for total, more in zip(sums, (mass, *p.scaled(mass)), strict=True))


def _center_from_sums(sums: Scalars) -> tuple[Scalar, ...]:
    return tuple(over(component, sums[0]) for component in sums[1:])


def rate(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return q̇."""
    return kinematics.coordinate_rates(context.tree, inputs["q"], inputs["v"])


def screws_of(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the screws of the links; see `core.mechanics.crba.screws`."""
    return [entry for row in screws(context.tree, inputs["q"], run) for entry in row]


def sensor(context: MachineSymbols, inputs: Inputs, name: str, run: Runner = inline) -> list[Scalar]:
    """Return values, rates and accelerations of a sensor's components; u: accelerations. A sensor of accelerations is
    the rate of a velocity sensor and has values only."""
    found, state = context.elements.sensors[name], KinematicState(context.tree, inputs["q"], inputs["v"])
    if found.info.accelerated:  # seen from a: the rate of the components in a's axes, turned into those of `resolve`
        turn = state.frame(found.a).rotation
        inside = turn.act_back(measured_motion(found, state))
        outside = turn.act(type(inside)(*_time_derivative(context, inputs, list(inside))))
        return [*state.frame(found.resolve).rotation.act_back(outside), *[float("nan")] * (2 * found.count)]
    values, speeds = values_and_rates(found, state)
    if found.info.is_geometric:
        return [*values, *speeds, *_time_derivative(context, inputs, speeds)]
    return [*values, *_time_derivative(context, inputs, values), *[float("nan")] * found.count]


def cut_coordinates(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the coordinates of all cut joints."""
    state, values = context.state_at_zero_speed(inputs["q"], run), list[Scalar]()
    for name in (name for name, (law, *_) in context.machine.laws.items() if law.nq):
        measure = context.elements.measure_of_joint(name)
        measured = run(measure.of, state.frame(measure.a), state.frame(measure.b), measure.axis, measure.axis_b)
        values += measured.values
    return values


def joint_measure(context: MachineSymbols, inputs: Inputs, name: str, run: Runner = inline) -> list[Scalar]:
    """Return coordinates, speeds and accelerations of a cut joint; u: accelerations."""
    measured, motion = evaluate_measure(
        context.elements.measure_of_joint(name), KinematicState(context.tree, inputs["q"], inputs["v"])
    )
    speeds = [rate_along(wrench, motion) for wrench in measured.wrenches]
    return [*measured.values, *speeds, *_time_derivative(context, inputs, speeds)]


def _time_derivative(context: MachineSymbols, inputs: Inputs, values: Scalars) -> list[Scalar]:
    """Return d/dt along q̇ and v̇ = u."""
    q, v, u = (build_column(list(inputs[word])) for word in "qvu")
    f = build_column(list(values))
    total = directional_derivative(f, q, coordinate_rates(context, inputs)) + directional_derivative(f, v, u)
    return ca.vertsplit(ca.densify(total))
