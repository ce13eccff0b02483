"""Joints of a symbolic kinematic chain, and reasons why a model has none."""

from __future__ import annotations

from core.analysis.tool_frame import tool_frame
from core.errors import ModelError
from core.mechanics.multibody.topology import Topology, topology_of
from core.model import Model


def obstacle(model: Model) -> str:
    """Reason why a model has no symbolic chain; '' if it has one."""
    try:
        topology = topology_of(model)
        moving_path(topology, tool_frame(model))
    except ModelError as error:
        return f"The model has no symbolic chain: {error}"
    if closing(topology) is None:
        return ""
    return "The model has closed loops or constraints; this is for open chains. See “Loops in symbols”."


def closing(topology: Topology) -> str | None:
    """Description of the loop or constraint that makes a model no open chain; None for an open chain."""
    if topology.cuts:
        return f"joint '{topology.cuts[0].name}'"
    return next((f"constraint '{each.name}'" for each in topology.model.constraints), None)


def moving_path(topology: Topology, tip: str) -> list[str]:
    """Names of the joints with coordinates from the world to the tip, without free (floating) joints."""
    kinds = {branch.joint.name: branch.joint for branch in topology.branches}
    path = [name for name in reversed(topology.path(tip)) if kinds[name].info.nq]
    while path and not kinds[path[0]].info.constraints:
        path.pop(0)
    for name in path:
        if kinds[name].info.nq != kinds[name].info.nv:
            raise ModelError(
                f"A {kinds[name].kind} joint has a quaternion, for which there is no textbook form.",
                where=f"joint '{name}'",
                remedy="Replace it by three revolute joints.",
            )
    if not path:
        raise ModelError(f"No joint moves '{tip}'.", where="tip", remedy="Choose another frame.")
    return path
