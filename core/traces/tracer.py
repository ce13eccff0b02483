"""The functions of a mechanism as traces: inputs q, v, u, l, x, t and the parameters p; one flat output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca

from core.codegen.blocks import Recorder, Table
from core.codegen.graph_symbols import column, symbols
from core.codegen.signature import Signature
from core.elements.constraint_reader import ConstraintReader
from core.elements.element_reader import Elements
from core.elements.time_argument import Clock, clock_of
from core.elements.turn_counters import called_by_forces
from core.errors import SimulationError
from core.joints.residuals import residual
from core.mechanics.runner import Runner, inline
from core.mechanics.tree import Tree
from core.model.parameters import environment
from core.multibody.number_reader import Numbers
from core.multibody.topology import Topology
from core.multibody.tree_of_model import Machine, machine_of
from core.spatial.pose import IDENTITY
from core.spatial.scalar import Scalar
from core.traces.signatures import signature_of


class Trace(NamedTuple):
    """A traced function: (q, v, u, l, x, t as the signature says, p) → flat result, in one piece or as a table."""

    name: str
    signature: Signature
    content: ca.Function | Table


LONG = 24
"""Links above which recursions are recorded as tables of blocks instead of being traced in one piece."""
VERY_LONG = 200
"""Speeds above which the mass matrix of a long machine is the product of two matrices made by NumPy."""
_IN_ONE_PIECE = {
    "rate",
    "constraint_residual",
    "constraint_jacobian",
    "constraint_bias",
    "constraint_time",
    "constraint_motion",
    "constraint_origins",
    "frame_acceleration",
    "states",
    "settle",
    "junctions",
    "balance",
    "stretched",
    "sensor",
    "slopes",
    "event_indicators",
}
"""Functions that need the whole trace (for derivatives), or are cheap."""


class Tracer:
    """Traces the functions of one topology."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        model = topology.model
        self.p_names = tuple(p.name for p in model.parameters if p.independent)
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

    @cached_property
    def elements(self) -> Elements:
        """Sensors and forces on the merged machine."""
        return Elements(self.topology.model, self.machine, self.numbers)

    @cached_property
    def unmerged_elements(self) -> Elements:
        """Sensors and forces where every body is a link of its own."""
        return Elements(self.topology.model, self.unmerged, self.numbers)

    @cached_property
    def clock(self) -> Clock:
        """What depends on time, and how."""
        return clock_of(
            self.topology.model, called_by_forces(self.topology.model), len(self.elements.mode_variables.numbers)
        )

    @cached_property
    def constraints(self) -> ConstraintReader:
        """Cut joints, constraints and drivers."""
        return ConstraintReader(self.elements, self.clock)

    @property
    def nx(self) -> int:
        """Number of states of force elements."""
        return len(self.elements.x_names)

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
        sizes = self.sizes
        if self.long and kind not in _IN_ONE_PIECE:
            return Trace(name, signature, self._record(signature, kind, detail, sizes))
        inputs = {argument: symbols(argument, sizes[argument]) for argument in signature.arguments}
        result = self._body(kind, inputs, detail, inline)
        sources = [*(inputs[argument] for argument in signature.arguments), self.p]
        function = ca.Function("f", [column(list(source)) for source in sources], [column(result)], {"cse": True})
        return Trace(name, signature, function)

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the arguments."""
        nv = self.tree.nv
        rows = len(self.constraints.rows)
        return {"q": self.tree.nq, "v": nv, "u": nv, "l": rows, "x": 2 * self.nx, "t": self.clock.size}

    @property
    def long(self) -> bool:
        """True if recursions become tables of blocks."""
        return len(self.tree.links) > LONG

    @property
    def very_long(self) -> bool:
        """True if the mass matrix is left to NumPy."""
        plain = not self.elements.added_inertia
        return self.long and plain and (self.tree.nv > VERY_LONG or self.tree.coupled)

    def _record(self, signature: Signature, kind: str, detail: str, sizes: Mapping[str, int]) -> Table:
        recorder = Recorder([*(sizes[argument] for argument in signature.arguments), len(self.p)], self.p)
        inputs = dict(zip(signature.arguments, recorder.inputs, strict=False))
        return recorder.finish(self._body(kind, inputs, detail, recorder))

    def _body(self, kind: str, inputs: Mapping[str, list[Any]], detail: str, run: Runner) -> list[Scalar]:
        from core.traces.registry import BODIES

        try:
            return BODIES[kind](self, inputs, detail, run)
        except ZeroDivisionError:
            raise self._massless() from None

    def signature(self, name: str) -> Signature:
        """Arguments and shape of a function."""
        return signature_of(self, name)

    def components(self, sensor: str) -> int:
        """Number of components of a sensor; 0 for a name that is none."""
        found = self.elements.sensors.get(sensor)
        return 0 if found is None else found.count

    @property
    def observed(self) -> int:
        """Numbers that force elements show."""
        return sum(7 if force.kind == "wrench" else 5 for force in self.topology.model.forces)

    def _massless(self) -> SimulationError:
        """Which joint moves nothing that has mass."""
        moved: dict[int, bool] = {}
        links = self.tree.links
        for i in range(len(links) - 1, -1, -1):
            has_mass = any(
                not (type(e) is float and e == 0.0) for e in (links[i].inertia.mass, *links[i].inertia.tensor)
            )
            moved[i] = has_mass or any(moved[k] for k in range(i + 1, len(links)) if links[k].parent == i)
        if not links:
            return SimulationError("Nothing moves.", remedy="Add a body and a joint.")
        culprit = next((links[i].name for i in range(len(links)) if not moved[i]), links[-1].name)
        declared = {joint.name for joint in self.topology.model.joints}
        return massless(culprit, {link.name for link in links} - declared)

    def constraint_rows(self, joint: str) -> list[Scalar]:
        law = self.machine.laws[joint][0]
        return residual(law, IDENTITY)


def massless(moved: str, free: Iterable[str] = ()) -> SimulationError:
    """The message for a joint, or one of the bodies without a joint (`free`), that moves nothing. `moved` may be one
    of its speeds."""
    body = next((name for name in free if moved == name or moved.startswith(f"{name}.")), "")
    if body:
        return SimulationError(
            "It moves freely but has no mass or no inertia, so a force on it gives no finite acceleration.",
            where=f"body '{body}'",
            remedy="Give it a mass and an inertia (a point mass any: nothing turns it), "
            "or fix it to a body that has them.",
        )
    return SimulationError(
        "The joint moves no mass or inertia, so a force on it gives no finite acceleration.",
        where=f"joint '{moved}'",
        remedy="Give the body behind it a mass and an inertia, or the joint an armature.",
    )
