"""Table of a machine's functions: arguments, shape of the result, and symbolic implementation of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from core import later
from core.codegen.evaluator import Signature
from core.mechanics.crba import SCREW
from core.numerics.spatial.scalar import Scalar
from core.programs.trace_context import TraceContext

Shape = tuple[int, ...]


class Traced(NamedTuple):
    """Function of a machine: arguments (letters of `core.codegen.evaluator`), shape as a function of (context, detail
    after the colon of its name), and implementation (context, inputs, detail, runner) → flat result."""

    arguments: str
    shape: Callable[[TraceContext, str], Shape]
    trace: Callable[..., list[Scalar]]
    loaded: bool = False
    """True if the function depends on force elements, and so on their states and time where there are any."""
    checked: bool = False
    """True if a result that is not finite is an error."""
    whole: bool = False
    """True if the function is one graph even for long machines, because it is short or is differentiated."""
    wide: bool = False
    """True if arrays of states are worth vectorised code, which doubles the time of compilation."""


def _positions_shape(context: TraceContext, _: str) -> Shape:
    return (context.tree.nq,)


def _speeds_shape(context: TraceContext, _: str) -> Shape:
    return (context.tree.nv,)


def _states_shape(context: TraceContext, _: str) -> Shape:
    return (context.nx,)


def _rows_shape(context: TraceContext, _: str) -> Shape:
    return (len(context.constraints.rows),)


def _cut_rows_shape(context: TraceContext, _: str) -> Shape:
    return (len(context.cut_coordinates),)


def _side_rows_shape(context: TraceContext, _: str) -> Shape:
    return (sum(rows.stop - rows.start for *_, rows in context.constraints.sides()), 9)


def _cut_side_rows_shape(context: TraceContext, _: str) -> Shape:
    return (sum(len(each.sides) for each in context.cut_coordinates), 9)


def _frame_count(context: TraceContext) -> int:
    return len(context.machine.frames) - 1


def _joints_shape(context: TraceContext, *each: int) -> Shape:
    return (len(context.machine.joints), *each)


def _junction_coordinate_count(context: TraceContext) -> int:
    return 3 * len(context.elements.junctions)


def _joint_measure_shape(context: TraceContext, joint: str) -> Shape:
    law = context.machine.laws[joint][0] if joint in context.machine.laws else None
    return (0 if law is None else law.nq + 2 * law.nv,)


def _cut_coordinates_shape(context: TraceContext, _: str) -> Shape:
    return (sum(law.nq for law, *_ in context.machine.laws.values()),)


def _slopes_shape(context: TraceContext, _: str) -> Shape:
    states = context.tree.nq + context.tree.nv + context.nx
    return states, states + len(context.constraints.rows)


def _parameter_slopes_shape(context: TraceContext, _: str) -> Shape:
    return context.tree.nv, len(context.p)


_of = partial(later.function, __package__)
"""Loads a symbolic function of this package by name."""

FUNCTIONS: dict[str, Traced] = {
    # where all is, and how it moves
    "poses": Traced("q", lambda c, _: (_frame_count(c), 4, 4), _of("kinematics.poses")),
    "joint_poses": Traced("q", lambda c, _: _joints_shape(c, 2, 4, 4), _of("kinematics.joint_poses")),
    "jacobian": Traced("q", lambda c, _: (6, c.tree.nv), _of("kinematics.jacobian")),
    "frames_jacobian": Traced("q", lambda c, _: (_frame_count(c), 6, c.tree.nv), _of("kinematics.frames_jacobian")),
    "frame_acceleration": Traced("qvu", lambda *_: (6,), _of("kinematics.frame_acceleration"), whole=True),
    "center": Traced("q", lambda *_: (3,), _of("kinematics.center"), checked=True),
    "rate": Traced("qv", _positions_shape, _of("kinematics.rate"), whole=True),
    "screws": Traced("q", lambda c, _: (sum(link.law.nv for link in c.tree.links), SCREW), _of("kinematics.screws_of")),
    "sensor": Traced("qvu", lambda c, sensor: (3, c.components(sensor)), _of("kinematics.sensor"), whole=True),
    "cut_coordinates": Traced("q", _cut_coordinates_shape, _of("kinematics.cut_coordinates")),
    "joint_measure": Traced("qvu", _joint_measure_shape, _of("kinematics.joint_measure")),
    # masses and forces; ideal: without passive joint forces; smooth: without friction, which runs take by modes
    "mass_matrix": Traced("q", lambda c, _: (c.tree.nv, c.tree.nv), _of("dynamics.mass_matrix")),
    "mass_entries": Traced("q", lambda c, _: (len(c.mass_pattern.rows),), _of("dynamics.mass_entries")),
    "segment_entries": Traced(
        "q", lambda c, _: (len(c.segments.rows) if c.segments else 0,), _of("dynamics.segment_entries")
    ),
    "inverse_dynamics": Traced("qvu", _speeds_shape, _of("dynamics.inverse"), loaded=True),
    "inverse_dynamics_ideal": Traced("qvu", _speeds_shape, partial(_of("dynamics.inverse"), resist=False)),
    "forward_dynamics": Traced("qvu", _speeds_shape, _of("dynamics.forward"), loaded=True, checked=True),
    "forward_dynamics_ideal": Traced(
        "qvu", _speeds_shape, partial(_of("dynamics.forward"), resist=False), checked=True
    ),
    "forward_dynamics_smooth": Traced(
        "qvu", _speeds_shape, partial(_of("dynamics.forward"), smooth=True), loaded=True, checked=True
    ),
    "bias": Traced("qv", _speeds_shape, _of("dynamics.bias"), loaded=True),
    "bias_ideal": Traced("qv", _speeds_shape, partial(_of("dynamics.bias"), resist=False)),
    "bias_smooth": Traced("qv", _speeds_shape, partial(_of("dynamics.bias"), smooth=True), loaded=True),
    "gravity": Traced("q", _speeds_shape, _of("dynamics.gravity")),
    "energy": Traced("qv", lambda *_: (2,), _of("dynamics.energy"), loaded=True),
    "lost_power": Traced("qvxt", lambda *_: (1,), _of("jacobians.lost_power"), whole=True),
    "momentum": Traced("qv", lambda *_: (6,), _of("dynamics.momentum_of")),
    "wrenches": Traced("qvu", lambda c, _: _joints_shape(c, 6), _of("joint_wrenches.wrenches"), loaded=True),
    "wrenches_smooth": Traced(
        "qvu", lambda c, _: _joints_shape(c, 6), partial(_of("joint_wrenches.wrenches"), smooth=True), loaded=True
    ),
    "wrenches_ideal": Traced(
        "qvu", lambda c, _: _joints_shape(c, 6), partial(_of("joint_wrenches.wrenches"), resist=False)
    ),
    # force elements and their states
    "forces": Traced("qvxt", lambda c, _: (c.observed,), _of("dynamics.observed")),
    "event_indicators": Traced(
        "qvxt", lambda c, _: (len(c.elements.mode_variables.numbers),), _of("dynamics.event_indicators"), whole=True
    ),
    "friction_levels": Traced(
        "qvxt", lambda c, _: (len(c.elements.controlled), 4), _of("dynamics.friction_levels"), whole=True
    ),
    "bearing_loads": Traced(
        "qvulc", lambda c, _: (len(c.bearings),), _of("loads_of_bearings.bearing_loads"), loaded=True, whole=True
    ),
    "states": Traced("qvxt", _states_shape, _of("junctions.states"), whole=True),
    "stretched": Traced("qvxt", _states_shape, _of("junctions.stretched"), whole=True),
    "settle": Traced("qvxt", _states_shape, _of("junctions.settle"), whole=True),
    "junctions": Traced(
        "qvxt",
        lambda c, _: (_junction_coordinate_count(c), _junction_coordinate_count(c)),
        _of("junctions.balance_jacobian"),
        whole=True,
    ),
    "balance": Traced(
        "qvxt",
        lambda c, _: (_junction_coordinate_count(c), 1 + _junction_coordinate_count(c)),
        _of("junctions.at_rest"),
        whole=True,
    ),
    # what holds
    "constraint_residual": Traced("qt", _rows_shape, _of("constraint_equations.constraint_residual")),
    "constraint_jacobian": Traced(
        "q", lambda c, _: (len(c.constraints.rows), c.tree.nv), _of("constraint_equations.constraint_jacobian")
    ),
    "constraint_entries": Traced(
        "q", lambda c, _: (len(c.row_expressions.pattern.rows),), _of("constraint_equations.constraint_entries")
    ),
    "constraint_bias": Traced("qvt", _rows_shape, _of("constraint_equations.constraint_bias")),
    "constraint_time": Traced("t", _rows_shape, _of("constraint_equations.constraint_time")),
    "cut_values": Traced("q", _cut_rows_shape, _of("constraint_equations.cut_values")),
    "cut_entries": Traced(
        "q", lambda c, _: (len(c.cut_expressions.pattern.rows),), _of("constraint_equations.cut_entries")
    ),
    "cut_drift": Traced("qv", _cut_rows_shape, _of("constraint_equations.cut_drift")),
    "cut_sides": Traced("q", _cut_side_rows_shape, _of("constraint_sides.cut_sides")),
    "constraint_sides": Traced("q", _side_rows_shape, _of("constraint_sides.constraint_sides")),
    # derivatives of inverse and forward dynamics of open chains
    "force_slopes": Traced(
        "qvu",
        lambda c, _: (2, c.tree.nv, c.tree.nv),
        _of("motion_slopes.force_slopes"),
        loaded=True,
        whole=True,
        wide=True,
    ),
    "force_slopes_by_parameters": Traced(
        "qvu", _parameter_slopes_shape, _of("motion_slopes.force_slopes_by_parameters"), loaded=True, whole=True
    ),
    "motion_slopes": Traced(
        "qvu",
        lambda c, _: (3, c.tree.nv, c.tree.nv),
        _of("motion_slopes.motion_slopes"),
        loaded=True,
        whole=True,
        wide=True,
    ),
    "motion_slopes_by_parameters": Traced(
        "qvu", _parameter_slopes_shape, _of("motion_slopes.motion_slopes_by_parameters"), loaded=True, whole=True
    ),
    # by what inverse dynamics is linear in
    "regressor": Traced("qvu", _of("regressor.shape"), _of("regressor.regressor"), whole=True),
    # for implicit integrators
    "slopes": Traced("qvulxt", _slopes_shape, _of("jacobians.slopes"), whole=True),
}
"""Name → function. A name with a detail after a colon, e.g. "jacobian:tool", refers to one frame, sensor or joint."""


def signature_of(context: TraceContext, name: str) -> Signature:
    """Return arguments and shape of a function; arguments that a machine does not have are left out."""
    kind, _, detail = name.partition(":")
    function = FUNCTIONS[kind]
    arguments = function.arguments + ("xt" if function.loaded and context.elements.forces else "")
    sizes = context.sizes
    taken = tuple(word for word in arguments if word not in "lcxt" or sizes[word])
    return Signature(taken, function.shape(context, detail), function.checked, function.wide)
