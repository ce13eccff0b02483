"""The table of functions that can be traced."""

from __future__ import annotations

from collections.abc import Callable

from core.kernel import closure_traces, dynamic_traces, junctions, kinematic_traces
from core.kernel.slope_traces import slopes
from core.kernel.wrenches import wrenches
from core.spatial.scalar import Scalar

BODIES: dict[str, Callable[..., list[Scalar]]] = {
    "poses": kinematic_traces.poses,
    "joint_poses": kinematic_traces.joint_poses,
    "jacobian": kinematic_traces.jacobian,
    "frames_jacobian": kinematic_traces.frames_jacobian,
    "frame_acceleration": kinematic_traces.frame_acceleration,
    "center": kinematic_traces.center,
    "rate": kinematic_traces.rate,
    "screws": kinematic_traces.screws_of,
    "sensor": kinematic_traces.sensor,
    "joint_measure": kinematic_traces.joint_measure,
    "mass_matrix": dynamic_traces.mass_matrix,
    "inverse_dynamics": dynamic_traces.inverse,
    "inverse_dynamics_ideal": lambda *a: dynamic_traces.inverse(*a, resist=False),
    "forward_dynamics": dynamic_traces.forward,
    "forward_dynamics_ideal": lambda *a: dynamic_traces.forward(*a, resist=False),
    "forward_dynamics_slip": lambda *a: dynamic_traces.forward(*a, slip=True),
    "bias": dynamic_traces.bias,
    "bias_ideal": lambda *a: dynamic_traces.bias(*a, resist=False),
    "bias_slip": lambda *a: dynamic_traces.bias(*a, slip=True),
    "gravity": dynamic_traces.gravity,
    "energy": dynamic_traces.energy,
    "momentum": dynamic_traces.momentum_of,
    "forces": dynamic_traces.observed,
    "wrenches": wrenches,
    "wrenches_ideal": lambda *a: wrenches(*a, resist=False),
    "closure": closure_traces.closure,
    "closure_jacobian": closure_traces.closure_jacobian,
    "closure_bias": closure_traces.closure_bias,
    "closure_time": closure_traces.closure_time,
    "closure_motion": closure_traces.closure_motion,
    "closure_origins": closure_traces.closure_origins,
    "states": junctions.states,
    "stretched": junctions.stretched,
    "settle": junctions.settle,
    "junctions": junctions.held,
    "slopes": slopes,
    "conditions": dynamic_traces.conditions,
    "balance": junctions.at_rest,
}
"""Function → its trace: (tracer, inputs, detail after the colon, runner) → flat result."""
