"""The functions of a mechanism as traces: inputs q, v, u and the parameters p; one flat output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca

from core.errors import SimulationError
from core.kernel.blocks import Recorder, Table
from core.kernel.links import Machine, Place, machine_of
from core.kernel.reading import Numbers
from core.kernel.slip import slipping
from core.kernel.symbols import column, symbols
from core.kernel.topology import Topology
from core.kernel.wrenches import wrenches
from core.mechanics import energy, kinematics
from core.mechanics.aba import aba
from core.mechanics.closure import residual
from core.mechanics.crba import SCREW, by_screws, crba, screws
from core.mechanics.factor import factorise, solve
from core.mechanics.momentum import momentum
from core.mechanics.rnea import rnea
from core.mechanics.steps import Runner, inline
from core.mechanics.tree import Tree
from core.model.parameters import environment
from core.spatial.pose import IDENTITY, Pose
from core.spatial.rotation import small as small_rotation
from core.spatial.scalar import Scalar, minus, over
from core.spatial.vector import Vector3

Scalars = Sequence[Scalar]


class Signature(NamedTuple):
    """What a function takes of q, v, u (u: joint forces or accelerations), and the shape of its result."""

    arguments: tuple[str, ...]
    shape: tuple[int, ...]
    checked: bool = False
    """True if a result that is not finite is a failure."""


class Trace(NamedTuple):
    """A traced function: (q, v, u as the signature says, p) → flat result, in one piece or as a table of blocks."""

    name: str
    signature: Signature
    content: ca.Function | Table


LONG = 24
"""Links above which recursions are recorded as tables of blocks instead of being traced in one piece."""
VERY_LONG = 200
"""Speeds above which the mass matrix of a long machine is the product of two matrices made by NumPy."""
_IN_ONE_PIECE = {
    "rate", "closure", "closure_jacobian", "closure_bias", "closure_motion", "frame_acceleration",
}  # fmt: skip
"""Functions that need the whole trace (for derivatives), or are cheap."""


class Tracer:
    """Traces the functions of one topology."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        model = topology.model
        self.p_names = tuple(p.name for p in model.parameters if not isinstance(p.value, str))
        self.p = symbols("p", len(self.p_names))
        values = environment(model.parameters, dict(zip(self.p_names, self.p, strict=True)))
        self.numbers = Numbers(values, model.origin)

    @cached_property
    def machine(self) -> Machine:
        """With links merged across fixed joints."""
        return machine_of(self.topology, self.numbers)

    @cached_property
    def unmerged(self) -> Machine:
        """With every body a link of its own."""
        return machine_of(self.topology, self.numbers, merged=False)

    @property
    def frame_names(self) -> list[str]:
        """Bodies and frames, without the world."""
        model = self.topology.model
        return [*(body.name for body in model.bodies), *(frame.name for frame in model.frames)]

    @property
    def joint_names(self) -> list[str]:
        """Implicit free joints, then those of the document."""
        declared = [joint.name for joint in self.topology.model.joints]
        tree = [branch.joint.name for branch in self.topology.branches]
        return [*(name for name in tree if name not in set(declared)), *declared]

    @property
    def tree(self) -> Tree:
        """The merged tree."""
        return self.machine.tree

    def trace(self, name: str) -> Trace:
        """The trace of a function by name; a frame's Jacobian is "jacobian:<frame>"."""
        kind, _, detail = name.partition(":")
        signature = self.signature(name)
        sizes = {"q": self.tree.nq, "v": self.tree.nv, "u": self.tree.nv}
        if self.long and kind not in _IN_ONE_PIECE:
            return Trace(name, signature, self._record(signature, kind, detail, sizes))
        inputs = {argument: symbols(argument, sizes[argument]) for argument in signature.arguments}
        result = self._body(kind, inputs, detail, inline)
        sources = [*(inputs[argument] for argument in signature.arguments), self.p]
        function = ca.Function("f", [column(list(source)) for source in sources], [column(result)], {"cse": True})
        return Trace(name, signature, function)

    @property
    def long(self) -> bool:
        """True if recursions become tables of blocks."""
        return len(self.tree.links) > LONG

    @property
    def very_long(self) -> bool:
        """True if the mass matrix is left to NumPy."""
        return self.long and (self.tree.nv > VERY_LONG or self.tree.coupled)

    def _record(self, signature: Signature, kind: str, detail: str, sizes: Mapping[str, int]) -> Table:
        recorder = Recorder([*(sizes[argument] for argument in signature.arguments), len(self.p)], self.p)
        inputs = dict(zip(signature.arguments, recorder.inputs, strict=False))
        return recorder.finish(self._body(kind, inputs, detail, recorder))

    def _body(self, kind: str, inputs: Mapping[str, list[Any]], detail: str, run: Runner) -> list[Scalar]:
        try:
            return _BODIES[kind](self, inputs, detail, run)
        except ZeroDivisionError:
            raise self._massless() from None

    def signature(self, name: str) -> Signature:
        """Arguments and shape of a function."""
        kind = name.partition(":")[0]
        nq, nv = self.tree.nq, self.tree.nv
        rows = sum(len(self.closure_rows(joint)) for joint in self.machine.laws)
        shapes: dict[str, tuple[str, tuple[int, ...]]] = {
            "poses": ("q", (len(self.machine.frames) - 1, 4, 4)),
            "joint_poses": ("q", (len(self.machine.joints), 2, 4, 4)),
            "jacobian": ("q", (6, nv)),
            "frames_jacobian": ("q", (len(self.machine.frames) - 1, 6, nv)),
            "mass_matrix": ("q", (nv, nv)),
            "screws": ("q", (sum(link.law.nv for link in self.tree.links), SCREW)),
            "inverse_dynamics": ("qvu", (nv,)),
            "inverse_dynamics_ideal": ("qvu", (nv,)),
            "forward_dynamics": ("qvu", (nv,)),
            "forward_dynamics_ideal": ("qvu", (nv,)),
            "bias": ("qv", (nv,)),
            "bias_ideal": ("qv", (nv,)),
            "forward_dynamics_slip": ("qvu", (nv,)),
            "bias_slip": ("qv", (nv,)),
            "gravity": ("q", (nv,)),
            "energy": ("qv", (2,)),
            "momentum": ("qv", (6,)),
            "frame_acceleration": ("qvu", (6,)),
            "center": ("q", (3,)),
            "rate": ("qv", (nq,)),
            "wrenches": ("qvu", (len(self.machine.joints), 6)),
            "closure": ("q", (rows,)),
            "closure_jacobian": ("q", (rows, nv)),
            "closure_bias": ("qv", (rows,)),
            "closure_motion": ("q", (rows, 6)),
        }
        arguments, shape = shapes[kind]
        return Signature(tuple(arguments), shape, kind in _CHECKED)

    def _massless(self) -> SimulationError:
        """Which joint moves nothing that has mass."""
        moved: dict[int, bool] = {}
        links = self.tree.links
        for i in range(len(links) - 1, -1, -1):
            has_mass = any(
                not (type(e) is float and e == 0.0) for e in (links[i].inertia.mass, *links[i].inertia.tensor)
            )
            moved[i] = has_mass or any(moved[k] for k in range(i + 1, len(links)) if links[k].parent == i)
        culprit = next((links[i].name for i in range(len(links)) if not moved[i]), links[-1].name)
        return massless(culprit)

    def closure_rows(self, joint: str) -> list[Scalar]:
        law = self.machine.laws[joint][0]
        return residual(law, IDENTITY)


def massless(joint: str) -> SimulationError:
    """The message for a joint that moves nothing."""
    return SimulationError(
        "The joint moves no mass, so a force on it gives no finite acceleration.",
        where=f"joint '{joint}'",
        remedy="Give the body behind it a mass and an inertia, or the joint an armature.",
    )


# ------------------------------------------------------------------------------------- the functions

_CHECKED = {"forward_dynamics", "forward_dynamics_ideal", "forward_dynamics_slip", "center"}

Inputs = Mapping[str, list[Any]]


def matrix_of(pose: Pose) -> list[Scalar]:
    """The 4×4 matrix of a pose, row by row."""
    rows: list[Scalar] = []
    for row, component in zip(pose.rotation, pose.position, strict=True):
        rows += [*row, component]
    return [*rows, 0.0, 0.0, 0.0, 1.0]


def at(place: Place, link_poses: Sequence[Pose]) -> Pose:
    """X_WF of a frame fixed to a link."""
    return place.pose if place.link < 0 else link_poses[place.link] @ place.pose


def _poses(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    links = kinematics.link_poses(tracer.tree, x["q"], run)
    return _matrices(list(tracer.machine.frames.values())[1:], links, run)


def _matrices(places: Sequence[Place], links: Sequence[Pose], run: Runner) -> list[Scalar]:
    result: list[Scalar] = []
    for place in places:
        result += matrix_of(place.pose if place.link < 0 else run(Pose.__matmul__, links[place.link], place.pose))
    return result


def _joint_poses(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    links = kinematics.link_poses(tracer.tree, x["q"], run)
    return _matrices([place for sides in tracer.machine.joints.values() for place in sides], links, run)


def _jacobian(tracer: Tracer, x: Inputs, frame: str, run: Runner = inline) -> list[Scalar]:
    place = tracer.machine.frames[frame]
    rows = kinematics.jacobian(tracer.tree, x["q"], place.link, place.pose, run)
    return [entry for row in rows for entry in row]


def _frames_jacobian(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    names = list(tracer.machine.frames)[1:]
    return [entry for name in names for entry in _jacobian(tracer, x, name, run)]


def _mass_matrix(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    algorithm = by_screws if tracer.long and not tracer.tree.coupled else crba
    return [entry for row in algorithm(tracer.tree, x["q"], run) for entry in row]


def _inverse(tracer: Tracer, x: Inputs, _: str, run: Runner = inline, *, resist: bool = True) -> list[Scalar]:
    return rnea(tracer.tree, x["q"], x["v"], x["u"], resist=resist, run=run).torques


def _bias(tracer: Tracer, x: Inputs, _: str, run: Runner = inline, *, resist: bool = True, slip: bool = False
          ) -> list[Scalar]:  # fmt: skip
    tree, rest = slipping(tracer.tree) if slip else tracer.tree, [0.0] * tracer.tree.nv
    return rnea(tree, x["q"], x["v"], rest, resist=resist, run=run).torques


def _gravity(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    rest = [0.0] * tracer.tree.nv
    return rnea(tracer.tree, x["q"], rest, rest, resist=False, run=run).torques


def _forward(tracer: Tracer, x: Inputs, _: str, run: Runner = inline, *, resist: bool = True, slip: bool = False
             ) -> list[Scalar]:  # fmt: skip
    tree = slipping(tracer.tree) if slip else tracer.tree
    if not tree.coupled:
        return aba(tree, x["q"], x["v"], x["u"], resist=resist, run=run)
    # couplings tie distant joints: M q̈ = τ − h with the reduced mass matrix
    bias = _bias(tracer, x, "", run, resist=resist, slip=slip)
    loads = run(_differences, tuple(x["u"]), tuple(bias))
    return list(run(_solved, tuple(map(tuple, crba(tree, x["q"], run))), loads))


def _differences(a: Scalars, b: Scalars) -> tuple[Scalar, ...]:
    return tuple(minus(x, y) for x, y in zip(a, b, strict=True))


def _solved(M: Sequence[Scalars], b: Scalars) -> tuple[Scalar, ...]:
    return solve(factorise(M), b)


def _energy(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    return [energy.kinetic(tracer.tree, x["q"], x["v"], run), energy.potential(tracer.tree, x["q"], run)]


def _momentum(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    return momentum(tracer.tree, x["q"], x["v"], run)


def _frame_acceleration(tracer: Tracer, x: Inputs, frame: str, run: Runner = inline) -> list[Scalar]:
    """[ω̇; v̇] of the frame's origin, world axes: J a + J̇ v; u: accelerations."""
    q, v, a = (column(list(x[name])) for name in "qvu")
    J = ca.densify(column(_jacobian(tracer, x, frame))).reshape((tracer.tree.nv, 6)).T
    rates = ca.densify(column(kinematics.rate(tracer.tree, x["q"], x["v"])))
    return ca.vertsplit(ca.densify(J @ a + ca.jtimes(J @ v, q, rates)))


def _center(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    poses = kinematics.link_poses(tracer.tree, x["q"], run)
    return list(run(_divided, tuple(kinematics.mass_center(tracer.tree, poses, tracer.machine.ground, run))))


def _divided(sums: Scalars) -> tuple[Scalar, ...]:
    return tuple(over(component, sums[0]) for component in sums[1:])


def _rate(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    return kinematics.rate(tracer.tree, x["q"], x["v"])


def _screws(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    return [entry for row in screws(tracer.tree, x["q"], run) for entry in row]


def closure_of(tracer: Tracer, q: Scalars) -> list[Scalar]:
    """Residuals of all cut joints."""
    links = kinematics.link_poses(tracer.tree, q)
    result: list[Scalar] = []
    for law, a, b in tracer.machine.laws.values():
        result += residual(law, at(a, links).inverse() @ at(b, links))
    return result


def _closure(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    return closure_of(tracer, x["q"])


def _speed_jacobian(tracer: Tracer, q: list[ca.SX]) -> ca.SX:
    """G with d(residual)/dt = G v: the derivative by q, times q̇ = N v."""
    residuals, coordinates = column(closure_of(tracer, q)), column(list(q))
    v = symbols("w", tracer.tree.nv)
    N = ca.jacobian(column(kinematics.rate(tracer.tree, q, v)), column(list(v)))
    return ca.densify(ca.jacobian(residuals, coordinates) @ N)


def _closure_jacobian(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    return ca.vertsplit(ca.vec(_speed_jacobian(tracer, x["q"]).T))


def _closure_bias(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Ġ v."""
    speeds, q = column(list(x["v"])), column(list(x["q"]))
    rates = ca.densify(column(kinematics.rate(tracer.tree, x["q"], x["v"])))
    gaps = _speed_jacobian(tracer, x["q"]) @ speeds
    return ca.vertsplit(ca.densify(ca.jtimes(gaps, q, rates)))


def _closure_motion(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Derivative of the residuals by the motion [ω; v] of b against a, at b's origin in world axes."""
    links = kinematics.link_poses(tracer.tree, x["q"])
    motion = symbols("m", 6)
    turn = small_rotation(Vector3(*motion[:3]))
    rows: list[Scalar] = []
    for law, a, b in tracer.machine.laws.values():
        X_Wb = at(b, links)
        moved = Pose(turn @ X_Wb.rotation, X_Wb.position + Vector3(*motion[3:]))
        rows += residual(law, at(a, links).inverse() @ moved)
    R = ca.jacobian(column(rows), column(motion))
    return ca.vertsplit(ca.vec(ca.densify(ca.substitute(R, column(motion), ca.DM.zeros(6))).T))


_BODIES: dict[str, Callable[..., list[Scalar]]] = {
    "poses": _poses,
    "joint_poses": _joint_poses,
    "jacobian": _jacobian,
    "frames_jacobian": _frames_jacobian,
    "mass_matrix": _mass_matrix,
    "screws": _screws,
    "inverse_dynamics": _inverse,
    "inverse_dynamics_ideal": lambda *a: _inverse(*a, resist=False),
    "forward_dynamics": _forward,
    "forward_dynamics_ideal": lambda *a: _forward(*a, resist=False),
    "bias": _bias,
    "bias_ideal": lambda *a: _bias(*a, resist=False),
    "forward_dynamics_slip": lambda *a: _forward(*a, slip=True),
    "bias_slip": lambda *a: _bias(*a, slip=True),
    "gravity": _gravity,
    "energy": _energy,
    "momentum": _momentum,
    "frame_acceleration": _frame_acceleration,
    "center": _center,
    "rate": _rate,
    "wrenches": wrenches,
    "closure": _closure,
    "closure_jacobian": _closure_jacobian,
    "closure_bias": _closure_bias,
    "closure_motion": _closure_motion,
}
