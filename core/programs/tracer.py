"""Builder of a mechanism's symbolic functions: inputs q, v, u, l, x, t and parameters p; one flat output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import casadi as ca

from core.codegen.blocks import Recorder, Table
from core.codegen.evaluator import Signature
from core.codegen.graph_symbols import column
from core.errors import SimulationError
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.programs.registry import FUNCTIONS, signature_of
from core.programs.trace_context import TraceContext


class Trace(NamedTuple):
    """Symbolic function (arguments as in the signature, p) → flat result, as one graph or as a block table."""

    name: str
    signature: Signature
    content: ca.Function | Table


class Tracer(TraceContext):
    """Builder of the symbolic functions of one topology."""

    def trace(self, name: str) -> Trace:
        """Build a function by name; a frame's Jacobian is "jacobian:<frame>"."""
        kind, _, detail = name.partition(":")
        signature = self.signature(name)
        sizes = self.sizes
        if self.long and not FUNCTIONS[kind].whole:
            return Trace(name, signature, self._record_table(signature, kind, detail, sizes))
        inputs = self.inputs(signature.arguments)
        result = self.body(kind, inputs, detail, inline)
        sources = [*(inputs[argument] for argument in signature.arguments), self.p]
        function = ca.Function("f", [column(list(source)) for source in sources], [column(result)], {"cse": True})
        return Trace(name, signature, function)

    def _record_table(self, signature: Signature, kind: str, detail: str, sizes: Mapping[str, int]) -> Table:
        recorder = Recorder([*(sizes[argument] for argument in signature.arguments), len(self.p)], self.p)
        inputs = dict(zip(signature.arguments, recorder.inputs, strict=False))
        return recorder.finish(self.body(kind, inputs, detail, recorder))

    def body(self, kind: str, inputs: Mapping[str, list[Any]], detail: str, run: Runner) -> list[Scalar]:
        """Return the flat result of a function for symbolic inputs; detail : text after the colon in its name."""
        try:
            return FUNCTIONS[kind].trace(self, inputs, detail, run)
        except ZeroDivisionError:
            raise self._massless_error() from None

    def signature(self, name: str) -> Signature:
        """Return arguments and shape of a function."""
        return signature_of(self, name)

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
        return massless(culprit, {link.name for link in links} - declared)


def massless(moved: str, free: Iterable[str] = ()) -> SimulationError:
    """Return the error for a joint, or one of the bodies without a joint (`free`), that moves no mass. `moved` may be
    one of its speeds."""
    body = next((name for name in free if moved == name or moved.startswith(f"{name}.")), "")
    if body:
        return SimulationError(
            "The body moves freely but has no mass or no inertia, so a force on it gives no finite acceleration.",
            where=f"body '{body}'",
            remedy="Give it a mass and an inertia (any value for a point mass, which nothing rotates), "
            "or fix it to a body that has both.",
        )
    return SimulationError(
        "The joint moves no mass or inertia, so a force on it gives no finite acceleration.",
        where=f"joint '{moved}'",
        remedy="Give the body that it moves a mass and an inertia, or the joint an armature.",
    )
