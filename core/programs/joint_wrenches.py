"""Symbolic joint wrenches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.mechanics import kinematics
from core.mechanics.elements.force_state import ExchangedWrench
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.rnea import rnea
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Force, Vector3
from core.programs.dynamics import acting, force_state
from core.programs.trace_context import TraceContext


def wrenches(
    context: TraceContext,
    x: Mapping[str, list[Any]],
    _: str,
    run: Runner = inline,
    *,
    resist: bool = True,
    smooth: bool = False,
) -> list[Scalar]:
    """Return the wrench of the parent side on the child side of every joint, at b's origin in world axes; for cut
    joints only the part of their own springs, dampers, forces and rotors, without constraint forces. u: accelerations;
    smooth : without dry friction"""
    machine = context.unmerged
    loads = acting(context, x, run, resist=resist, smooth=smooth, unmerged=True)
    external = () if loads is None else loads.external
    forces = rnea(machine.tree, x["q"], x["v"], x["u"], external=external, run=run).forces
    poses = kinematics.link_poses(machine.tree, x["q"], run)
    turned = {branch.joint.name: branch.reversed for branch in context.topology.branches}
    result: list[Scalar] = []
    for name, (_a, b) in machine.joints.items():
        link = machine.carried.get(name)
        if link is None:
            F = _wrench_of_own_elements(context, x, name, run, resist, smooth)
            result += [*F.moment, *F.force]
            continue
        p_b = b.pose.position if b.link < 0 else run(Pose.point, poses[b.link], b.pose.position)
        F = run(_reaction_at_link if turned[name] else _moved_to_link, forces[link], poses[link], p_b)
        result += [*F.moment, *F.force]
    return result


def _wrench_of_own_elements(
    context: TraceContext, x: Mapping[str, list[Any]], joint: str, run: Runner, resist: bool, smooth: bool
) -> Force:
    """Return the wrench of a cut joint's own elements on its child side."""
    elements = context.unmerged_elements
    seen = force_state(context, x, run, smooth, elements)
    loads = ExchangedWrench(KinematicState(elements.machine.tree, x["q"], x["v"], run, x["u"]))
    for element in elements.force_elements_in(joint) if resist else ():
        element.act(seen, loads)
    for rotor in elements.rotors:
        if rotor.name == joint:
            rotor.inertia(loads.kinematics, loads)
    return loads.on_b


def _moved_to_link(force: Force, X_WL: Pose, p: Vector3) -> Force:
    """Move a force about the world point p, world axes, to a link's origin and axes."""
    return Pose(X_WL.rotation, X_WL.position - p).force(force)


def _reaction_at_link(force: Force, X_WL: Pose, p: Vector3) -> Force:
    """Return the reaction to a force, moved to a link's origin and axes."""
    return -_moved_to_link(force, X_WL, p)
