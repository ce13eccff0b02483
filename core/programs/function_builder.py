"""Table and builder of a machine's symbolic functions: arguments (letters) and parameters p; one flat result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import casadi as ca

from core import later
from core.codegen.blocks import BlockTable, RecursionRecorder
from core.codegen.evaluator import Signature
from core.codegen.graph_symbols import build_column
from core.errors import SimulationError
from core.mechanics.crba import SCREW
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.programs.machine_symbols import MachineSymbols

Shape = tuple[int, ...]


class FunctionEntry(NamedTuple):
    """Function of a machine: arguments (letters of `core.codegen.evaluator`), shape as a function of (context, detail
    after the colon of its name), and implementation (context, inputs, detail, runner) → flat result."""

    arguments: str
    shape: Callable[[MachineSymbols, str], Shape]
    build: Callable[..., list[Scalar]]
    loaded: bool = False
    """True if the function depends on force elements, and so on their states and time where there are any."""
    checked: bool = False
    """True if a result that is not finite is an error."""
    whole: bool = False
    """True if the function is one graph even for long machines, because it is short or is to be differentiated."""


def _positions_shape(context: MachineSymbols, _: str) -> Shape:
    return (context.tree.nq,)


def _speeds_shape(context: MachineSymbols, _: str) -> Shape:
    return (context.tree.nv,)


def _states_shape(context: MachineSymbols, _: str) -> Shape:
    return (context.nx,)


def _rows_shape(context: MachineSymbols, _: str) -> Shape:
    return (len(context.constraints.rows),)


def _cut_rows_shape(context: MachineSymbols, _: str) -> Shape:
    return (len(context.cut_coordinates),)


def _side_rows_shape(context: MachineSymbols, _: str) -> Shape:
    return (sum(rows.stop - rows.start for *_, rows in context.constraints.sides()), 9)


def _cut_side_rows_shape(context: MachineSymbols, _: str) -> Shape:
    return (sum(len(each.sides) for each in context.cut_coordinates), 9)


def _frame_count(context: MachineSymbols) -> int:
    return len(context.machine.frames) - 1


def _joints_shape(context: MachineSymbols, *each: int) -> Shape:
    return (len(context.machine.joints), *each)


def _junction_coordinate_count(context: MachineSymbols) -> int:
    return 3 * len(context.elements.junctions)


def _joint_measure_shape(context: MachineSymbols, joint: str) -> Shape:
    law = context.machine.laws[joint][0] if joint in context.machine.laws else None
    return (0 if law is None else law.nq + 2 * law.nv,)


def _cut_coordinates_shape(context: MachineSymbols, _: str) -> Shape:
    return (sum(law.nq for law, *_ in context.machine.laws.values()),)


def _slopes_shape(context: MachineSymbols, _: str) -> Shape:
    states = context.tree.nq + context.tree.nv + context.nx
    return states, states + len(context.constraints.rows)


def _parameter_slopes_shape(context: MachineSymbols, _: str) -> Shape:
    return context.tree.nv, len(context.p)


_of = partial(later.lazy_function, __package__)
"""Loads a symbolic function of this package by name."""

FUNCTIONS: dict[str, FunctionEntry] = {
    # where all is, and how it moves
    "poses": FunctionEntry("q", lambda c, _: (_frame_count(c), 4, 4), _of("kinematics.poses")),
    "joint_poses": FunctionEntry("q", lambda c, _: _joints_shape(c, 2, 4, 4), _of("kinematics.joint_poses")),
    "jacobian": FunctionEntry("q", lambda c, _: (6, c.tree.nv), _of("kinematics.jacobian")),
    "pose_and_jacobian": FunctionEntry("q", lambda c, _: (12 + 6 * c.tree.nv,), _of("kinematics.pose_and_jacobian")),
    "frames_jacobian": FunctionEntry(
        "q", lambda c, _: (_frame_count(c), 6, c.tree.nv), _of("kinematics.frames_jacobian")
    ),
    "frame_acceleration": FunctionEntry("qvu", lambda *_: (6,), _of("kinematics.frame_acceleration"), whole=True),
    "point_jacobian": FunctionEntry("qo", lambda c, _: (6, c.tree.nv), _of("frame_motion.point_jacobian"), whole=True),
    "jacobian_rate": FunctionEntry("qvo", lambda c, _: (6, c.tree.nv), _of("frame_motion.jacobian_rate"), whole=True),
    "jacobian_rate_times_speed": FunctionEntry(
        "qvo", lambda *_: (6,), _of("frame_motion.jacobian_rate_times_speed"), whole=True
    ),
    "center": FunctionEntry("q", lambda *_: (3,), _of("kinematics.center"), checked=True),
    "rate": FunctionEntry("qv", _positions_shape, _of("kinematics.rate"), whole=True),
    "screws": FunctionEntry(
        "q", lambda c, _: (sum(link.law.nv for link in c.tree.links), SCREW), _of("kinematics.screws_of")
    ),
    "sensor": FunctionEntry("qvu", lambda c, sensor: (3, c.components(sensor)), _of("kinematics.sensor"), whole=True),
    "cut_coordinates": FunctionEntry("q", _cut_coordinates_shape, _of("kinematics.cut_coordinates")),
    "joint_measure": FunctionEntry("qvu", _joint_measure_shape, _of("kinematics.joint_measure")),
    # masses and forces; ideal: without passive joint forces; smooth: without friction, which runs take by modes
    "mass_matrix": FunctionEntry("q", lambda c, _: (c.tree.nv, c.tree.nv), _of("dynamics.mass_matrix")),
    "mass_entries": FunctionEntry("q", lambda c, _: (len(c.mass_pattern.rows),), _of("dynamics.mass_entries")),
    "segment_entries": FunctionEntry(
        "q", lambda c, _: (len(c.segments.rows) if c.segments else 0,), _of("dynamics.segment_entries")
    ),
    "inverse_dynamics": FunctionEntry("qvu", _speeds_shape, _of("dynamics.inverse"), loaded=True),
    "inverse_dynamics_ideal": FunctionEntry("qvu", _speeds_shape, partial(_of("dynamics.inverse"), resist=False)),
    "forward_dynamics": FunctionEntry("qvu", _speeds_shape, _of("dynamics.forward"), loaded=True, checked=True),
    "forward_dynamics_ideal": FunctionEntry(
        "qvu", _speeds_shape, partial(_of("dynamics.forward"), resist=False), checked=True
    ),
    "forward_dynamics_smooth": FunctionEntry(
        "qvu", _speeds_shape, partial(_of("dynamics.forward"), smooth=True), loaded=True, checked=True
    ),
    "bias": FunctionEntry("qv", _speeds_shape, _of("dynamics.bias"), loaded=True),
    "bias_ideal": FunctionEntry("qv", _speeds_shape, partial(_of("dynamics.bias"), resist=False)),
    "bias_smooth": FunctionEntry("qv", _speeds_shape, partial(_of("dynamics.bias"), smooth=True), loaded=True),
    "gravity": FunctionEntry("q", _speeds_shape, _of("dynamics.gravity")),
    "energy": FunctionEntry("qv", lambda *_: (2,), _of("dynamics.energy"), loaded=True),
    "lost_power": FunctionEntry("qvxt", lambda *_: (1,), _of("derivatives.lost_power"), whole=True),
    "control_power": FunctionEntry("qvxt", lambda *_: (1,), _of("derivatives.control_power"), whole=True),
    "coriolis": FunctionEntry("qv", lambda c, _: (c.tree.nv, c.tree.nv), _of("coriolis.coriolis"), whole=True),
    "momentum": FunctionEntry("qv", lambda *_: (6,), _of("dynamics.momentum_of")),
    "momentum_about": FunctionEntry("qvo", lambda *_: (6,), _of("coriolis.momentum_about"), checked=True, whole=True),
    "momentum_matrix": FunctionEntry(
        "qo", lambda c, _: (6, c.tree.nv), _of("coriolis.momentum_matrix"), checked=True, whole=True
    ),
    "wrenches": FunctionEntry("qvu", lambda c, _: _joints_shape(c, 6), _of("wrenches.wrenches"), loaded=True),
    "wrenches_smooth": FunctionEntry(
        "qvu", lambda c, _: _joints_shape(c, 6), partial(_of("wrenches.wrenches"), smooth=True), loaded=True
    ),
    "wrenches_ideal": FunctionEntry(
        "qvu", lambda c, _: _joints_shape(c, 6), partial(_of("wrenches.wrenches"), resist=False)
    ),
    # force elements and their states
    "forces": FunctionEntry("qvxt", lambda c, _: (c.observed,), _of("dynamics.observed")),
    "signal_updates": FunctionEntry(
        "qvxt", lambda c, _: (len(c.elements.signal_updates),), _of("dynamics.signal_updates"), whole=True
    ),
    "signal_values": FunctionEntry(
        "qvxt", lambda c, _: (len(c.elements.signal_values),), _of("dynamics.signal_values"), whole=True
    ),
    "event_indicators": FunctionEntry(
        "qvxt", lambda c, _: (len(c.elements.mode_variables.numbers),), _of("dynamics.event_indicators"), whole=True
    ),
    "friction_levels": FunctionEntry(
        "qvxt", lambda c, _: (len(c.elements.controlled_friction), 4), _of("dynamics.friction_levels"), whole=True
    ),
    "bearing_loads": FunctionEntry(
        "qvulc", lambda c, _: (len(c.bearings),), _of("wrenches.bearing_loads"), loaded=True, whole=True
    ),
    "states": FunctionEntry("qvxt", _states_shape, _of("junctions.states"), whole=True),
    "stretched": FunctionEntry("qvxt", _states_shape, _of("junctions.stretched"), whole=True),
    "settle": FunctionEntry("qvxt", _states_shape, _of("junctions.settle"), whole=True),
    "junctions": FunctionEntry(
        "qvxt",
        lambda c, _: (_junction_coordinate_count(c), _junction_coordinate_count(c)),
        _of("junctions.balance_jacobian"),
        whole=True,
    ),
    "balance": FunctionEntry(
        "qvxt",
        lambda c, _: (_junction_coordinate_count(c), 1 + _junction_coordinate_count(c)),
        _of("junctions.at_rest"),
        whole=True,
    ),
    # what holds
    "constraint_residual": FunctionEntry("qt", _rows_shape, _of("constraint_equations.constraint_residual")),
    "constraint_jacobian": FunctionEntry(
        "q", lambda c, _: (len(c.constraints.rows), c.tree.nv), _of("constraint_equations.constraint_jacobian")
    ),
    "constraint_entries": FunctionEntry(
        "q", lambda c, _: (len(c.row_expressions.pattern.rows),), _of("constraint_equations.constraint_entries")
    ),
    "constraint_bias": FunctionEntry("qvt", _rows_shape, _of("constraint_equations.constraint_bias")),
    "constraint_time": FunctionEntry("t", _rows_shape, _of("constraint_equations.constraint_time")),
    "cut_values": FunctionEntry("q", _cut_rows_shape, _of("constraint_equations.cut_values")),
    "cut_entries": FunctionEntry(
        "q", lambda c, _: (len(c.cut_expressions.pattern.rows),), _of("constraint_equations.cut_entries")
    ),
    "cut_drift": FunctionEntry("qv", _cut_rows_shape, _of("constraint_equations.cut_drift")),
    "cut_facing": FunctionEntry(
        "q",
        lambda c, _: (len(c.reversible_cuts),),
        _of("constraint_equations.cut_facing"),
    ),
    "cut_sides": FunctionEntry("q", _cut_side_rows_shape, _of("wrenches.cut_sides")),
    "constraint_sides": FunctionEntry("q", _side_rows_shape, _of("wrenches.constraint_sides")),
    # derivatives of inverse and forward dynamics of open chains
    "force_slopes": FunctionEntry(
        "qvu",
        lambda c, _: (2, c.tree.nv, c.tree.nv),
        _of("derivatives.force_slopes"),
        loaded=True,
        whole=True,
    ),
    "force_slopes_by_parameters": FunctionEntry(
        "qvu", _parameter_slopes_shape, _of("derivatives.force_slopes_by_parameters"), loaded=True, whole=True
    ),
    "motion_slopes": FunctionEntry(
        "qvu",
        lambda c, _: (3, c.tree.nv, c.tree.nv),
        _of("derivatives.motion_slopes"),
        loaded=True,
        whole=True,
    ),
    "motion_slopes_by_parameters": FunctionEntry(
        "qvu", _parameter_slopes_shape, _of("derivatives.motion_slopes_by_parameters"), loaded=True, whole=True
    ),
    # by what inverse dynamics is linear in
    "regressor": FunctionEntry("qvu", _of("regressor.shape"), _of("regressor.regressor"), whole=True),
    # for implicit integrators
    "slopes": FunctionEntry("qvulxt", _slopes_shape, _of("derivatives.slopes"), whole=True),
}
"""Name → function. A name with a detail after a colon, e.g. "jacobian:tool", refers to one frame, sensor or joint."""


def build_signature(context: MachineSymbols, name: str) -> Signature:
    """Return arguments and shape of a function; arguments that a machine does not have are left out."""
    kind, _, detail = name.partition(":")
    function = FUNCTIONS[kind]
    arguments = function.arguments + ("xt" if function.loaded and context.elements.forces else "")
    sizes = context.sizes
    taken = tuple(word for word in arguments if word not in "lcxt" or sizes[word])
    return Signature(taken, function.shape(context, detail), function.checked)


class SymbolicFunction(NamedTuple):
    """Symbolic function (arguments as in the signature, p) → flat result, as one graph or as a block table."""

    name: str
    signature: Signature
    content: ca.Function | BlockTable


class FunctionBuilder(MachineSymbols):
    """Builder of the symbolic functions of one topology."""

    def function(self, name: str) -> SymbolicFunction:
        """Build a function by name; a frame's Jacobian is "jacobian:<frame>"."""
        kind, _, detail = name.partition(":")
        signature = self.signature(name)
        sizes = self.sizes
        if self.is_long and not FUNCTIONS[kind].whole:
            return SymbolicFunction(name, signature, self._record_table(signature, kind, detail, sizes))
        inputs = self.inputs(signature.arguments)
        result = self.build_body(kind, inputs, detail, inline)
        sources = [*(inputs[argument] for argument in signature.arguments), self.p]
        function = ca.Function(
            "f", [build_column(list(source)) for source in sources], [build_column(result)], {"cse": True}
        )
        return SymbolicFunction(name, signature, function)

    def _record_table(self, signature: Signature, kind: str, detail: str, sizes: Mapping[str, int]) -> BlockTable:
        recorder = RecursionRecorder([*(sizes[argument] for argument in signature.arguments), len(self.p)], self.p)
        inputs = dict(zip(signature.arguments, recorder.inputs, strict=False))
        return recorder.build_table(self.build_body(kind, inputs, detail, recorder))

    def build_body(self, kind: str, inputs: Mapping[str, list[Any]], detail: str, run: Runner) -> list[Scalar]:
        """Return the flat result of a function for symbolic inputs; detail : text after the colon in its name."""
        try:
            return FUNCTIONS[kind].build(self, inputs, detail, run)
        except ZeroDivisionError:
            raise self._massless_error() from None

    def signature(self, name: str) -> Signature:
        """Return arguments and shape of a function."""
        return build_signature(self, name)

    def _massless_error(self) -> SimulationError:
        """Return the error that names the joint that moves no mass."""
        moved: dict[int, bool] = {}
        links = self.tree.links
        for i in range(len(links) - 1, -1, -1):
            has_mass = any(
                not (type(e) is float and e == 0.0) for e in (links[i].inertia.mass, *links[i].inertia.tensor)
            )
            moved[i] = has_mass or any(moved[k] for k in range(i + 1, len(links)) if links[k].parent == i)
        if not links:
            return SimulationError("The machine has no moving bodies.", remedy="Add a body and a joint.")
        culprit = next((links[i].name for i in range(len(links)) if not moved[i]), links[-1].name)
        declared = {joint.name for joint in self.topology.model.joints}
        return massless_joint_error(culprit, {link.name for link in links} - declared)


def massless_joint_error(joint: str, free_bodies: Iterable[str] = ()) -> SimulationError:
    """Return the error for a joint, or one of the bodies without a joint (`free_bodies`), that moves no mass. `joint` :
    name of the joint or of one of its speeds."""
    body = next((name for name in free_bodies if joint == name or joint.startswith(f"{name}.")), "")
    if body:
        return SimulationError(
            "The body moves freely but has no mass or no inertia, so a force on it gives no finite acceleration.",
            where=f"body '{body}'",
            remedy="Give it a mass and an inertia (any value for a point mass, which nothing rotates), "
            "or fix it to a body that has both.",
        )
    return SimulationError(
        "The joint moves no mass or inertia, so a force on it gives no finite acceleration.",
        where=f"joint '{joint}'",
        remedy="Give the body that it moves a mass and an inertia, or the joint an armature.",
    )
