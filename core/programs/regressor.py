"""Symbolic regressor: ∂τ/∂π of inverse dynamics for the parameters π in which it is linear.

Nothing mechanical is written again: the tree gets a symbol for each mass, first moment, moment of inertia, armature and
coefficient of a joint, its symbolic inverse dynamics is differentiated by them (Atkeson, An and Hollerbach,
"Estimation of inertial parameters of manipulator loads and links", Int. J. Robotics Research 5(3), 1986).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import casadi as ca

from core.codegen.graph_symbols import build_column, scalar_symbols
from core.mechanics.dry_friction import DryFriction
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.tree_of_model import build_machine
from core.mechanics.rnea import rnea
from core.mechanics.tree import Link, Runner, Tree, inline
from core.model import Body
from core.numerics.spatial.inertia import Inertia, Symmetric3
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3
from core.programs.machine_symbols import MachineSymbols

INERTIAL = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Parameters of a body, in its frame: mass, first moment, tensor about the origin, in the order of Pinocchio."""
OF_JOINTS = ("armature", "damping", "friction", "stiffness")
"""Parameters of a joint: rotor inertia, viscous damping, kinetic dry friction, spring rate."""


class LinearParameter(NamedTuple):
    """Parameter in which τ is linear. kind : "inertia" or one of `OF_JOINTS`; owner : the body or joint; part : one of
    `INERTIAL`, or equal to kind."""

    kind: str
    owner: str
    part: str


@dataclass(frozen=True, kw_only=True)
class _SymbolicNumbers(Numbers):
    """Reader of numbers that gives bodies symbolic inertias."""

    inertias: Mapping[str, Inertia]

    def inertia(self, body: Body) -> Inertia:
        return self.inertias[body.name]


def linear_parameters(context: MachineSymbols) -> tuple[LinearParameter, ...]:
    """Return the parameters of the regressor's columns: ten of each moving body, as the document lists them, then those
    of joints."""
    frames = context.machine.frames
    moving = [body.name for body in context.topology.model.bodies if frames[body.name].link >= 0]
    order = {joint.name: k for k, joint in enumerate(context.topology.model.joints)}
    joints = sorted((link.name for link in context.tree.links), key=lambda name: order.get(name, -1))
    inertial = [LinearParameter("inertia", body, part) for body in moving for part in INERTIAL]
    return (*inertial, *(LinearParameter(kind, joint, kind) for kind in OF_JOINTS for joint in joints))


def shape(context: MachineSymbols, _: str) -> tuple[int, ...]:
    """Return (nv, columns)."""
    return context.tree.nv, len(linear_parameters(context))


def regressor(context: MachineSymbols, inputs: Mapping[str, list[Any]], _: str, run: Runner = inline) -> list[Scalar]:
    """Return the regressor Y, row by row; u: accelerations."""
    wanted = linear_parameters(context)
    pi = scalar_symbols("pi", len(wanted))
    value = dict(zip(wanted, pi, strict=True))
    bodies = {body.name: _symbolic_inertia(value, body.name) for body in context.topology.model.bodies}
    numbers = _SymbolicNumbers(values=context.numbers.values, origin=context.numbers.origin, inertias=bodies)
    tree = build_machine(context.topology, numbers).tree
    tree = Tree(tuple(_with_symbols(link, value) for link in tree.links), tree.nq, tree.nv, tree.gravity)
    torques = rnea(tree, inputs["q"], inputs["v"], inputs["u"]).torques
    Y = ca.densify(ca.jacobian(build_column(torques), build_column(pi)))
    return list(ca.vertsplit(ca.vec(Y.T)))


def _symbolic_inertia(value: Mapping[LinearParameter, Any], body: str) -> Inertia:
    mass, x, y, z, xx, xy, yy, xz, yz, zz = (
        value.get(LinearParameter("inertia", body, part), 0.0) for part in INERTIAL
    )
    return Inertia(mass, Vector3(x, y, z), Symmetric3(xx, yy, zz, xy, xz, yz))


def _with_symbols(link: Link, value: Mapping[LinearParameter, Any]) -> Link:
    own = {kind: value[LinearParameter(kind, link.name, kind)] for kind in OF_JOINTS}
    level = own.pop("friction")
    return replace(link, **own, friction=DryFriction(level, level, level, level))
