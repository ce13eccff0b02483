"""The table of functions that can be traced."""

from __future__ import annotations

from collections.abc import Callable

from core.spatial.scalar import Scalar
from core.traces import constraint_equations, dynamics, junctions, kinematics
from core.traces.jacobians import slopes
from core.traces.joint_wrenches import wrenches

BODIES: dict[str, Callable[..., list[Scalar]]] = {
    "poses": kinematics.poses,
    "joint_poses": kinematics.joint_poses,
    "jacobian": kinematics.jacobian,
    "frames_jacobian": kinematics.frames_jacobian,
    "frame_acceleration": kinematics.frame_acceleration,
    "center": kinematics.center,
    "rate": kinematics.rate,
    "screws": kinematics.screws_of,
    "sensor": kinematics.sensor,
    "joint_measure": kinematics.joint_measure,
    "mass_matrix": dynamics.mass_matrix,
    "inverse_dynamics": dynamics.inverse,
    "inverse_dynamics_ideal": lambda *a: dynamics.inverse(*a, resist=False),
    "forward_dynamics": dynamics.forward,
    "forward_dynamics_ideal": lambda *a: dynamics.forward(*a, resist=False),
    "forward_dynamics_regularised": lambda *a: dynamics.forward(*a, regularise=True),
    "bias": dynamics.bias,
    "bias_ideal": lambda *a: dynamics.bias(*a, resist=False),
    "bias_regularised": lambda *a: dynamics.bias(*a, regularise=True),
    "gravity": dynamics.gravity,
    "energy": dynamics.energy,
    "momentum": dynamics.momentum_of,
    "forces": dynamics.observed,
    "wrenches": wrenches,
    "wrenches_ideal": lambda *a: wrenches(*a, resist=False),
    "constraint_residual": constraint_equations.constraint_residual,
    "constraint_jacobian": constraint_equations.constraint_jacobian,
    "constraint_bias": constraint_equations.constraint_bias,
    "constraint_time": constraint_equations.constraint_time,
    "constraint_motion": constraint_equations.constraint_motion,
    "constraint_origins": constraint_equations.constraint_origins,
    "states": junctions.states,
    "stretched": junctions.stretched,
    "settle": junctions.settle,
    "junctions": junctions.balance_jacobian,
    "slopes": slopes,
    "event_indicators": dynamics.event_indicators,
    "balance": junctions.at_rest,
}
"""Function → its trace: (context, inputs, detail after the colon, runner) → flat result."""
