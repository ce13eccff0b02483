"""What a mechanism consists of, by name: coordinates, joints, frames, loops; positions that need no mechanics."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from core.codegen.evaluator import Array
from core.errors import ModelError, near_misses
from core.model import Joint, Model
from core.multibody.coordinates import Coordinate, Coordinates
from core.multibody.parameter_values import Values
from core.multibody.topology import Loop, topology_of
from core.traces.compiled import Evaluation
from core.traces.program import Program


def states(word: str, given: Any, size: int) -> Array:
    """(…, size) one state or an array of states as floats, or a ModelError. word : "q" or "v"."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{word} is not an array of numbers.", remedy="Give numbers in SI units.") from None
    if array.shape[-1:] != (size,):
        raise ModelError(
            f"{word} has shape {array.shape}; {size} numbers are needed.",
            remedy=f"mech.{word}_names lists them in order.",
        )
    return array


class Configuration(Evaluation):
    """Names and coordinates of one model; the mechanics is in `Mechanism`."""

    def _setup(self, model: Model, program: Program) -> None:
        super()._setup(model, program)
        self.name = model.name
        values = model.values()
        self._coordinates = Coordinates(topology_of(model), values)  # the model's own limits, not the program's
        self.coordinates: tuple[Coordinate, ...] = self._coordinates.table
        self.q_names: tuple[str, ...] = tuple(c.name for c in self.coordinates)
        self.v_names: tuple[str, ...] = self._coordinates.v_names
        self.nq, self.nv = len(self.q_names), len(self.v_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Bodies and frames, in the order of `poses`."""
        return tuple(self._program.frame_names)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """All joints: implicit free ones, then as the document lists them."""
        return tuple(self._program.joint_names)

    @property
    def implicit_joints(self) -> tuple[Joint, ...]:
        """The free joints of bodies that nothing holds: not in the document, named as the body."""
        declared = {joint.name for joint in self._program.topology.model.joints}
        return tuple(b.joint for b in self._program.topology.branches if b.joint.name not in declared)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Closed chains, by the names of their joints and the one that was cut."""
        return self._program.topology.loops

    def joint_q(self, name: str) -> slice:
        """Where a joint's coordinates are in q (its leader's, if it follows another)."""
        return self._coordinates.slice_q(self._known_joint(name))

    def joint_v(self, name: str) -> slice:
        """Where a joint's speeds are in v (its leader's, if it follows another)."""
        return self._coordinates.slice_v(self._known_joint(name))

    def following(self, joint: str, p: Values = None) -> tuple[Array, Array]:
        """(ratio, offset) of a joint's coordinate to that of the joint with entries in q which it follows, (…, 1);
        1 and 0 of one that leads."""
        values = self.parameter_values(p)
        rows = values.reshape(-1, values.shape[-1]) if p is not None else values[None]
        found = []
        for row in rows:
            own = self._coordinates
            if p is not None:
                own = Coordinates(topology_of(self.model), self.model.values(dict(zip(self.p_names, row, strict=True))))
            found.append(own.coupling(joint)[1:])
        both = np.array(found).reshape(*values.shape[:-1], 2)
        return both[..., :1], both[..., 1:]

    def _known_joint(self, name: Any) -> str:
        if name not in self.joint_names:
            raise ModelError(f"There is no joint '{name}'.", remedy=near_misses(str(name), self.joint_names))
        return name

    def _known_frame(self, name: Any) -> str:
        if not isinstance(name, str) or (name not in self._program.frame_index and name != "world"):
            raise ModelError(f"There is no body or frame '{name}'.", remedy=near_misses(str(name), self.frame_names))
        return name

    # --------------------------------------------------------------------------- positions

    def neutral(self, *, p: Values = None, t: float = 0.0) -> Array:
        """(nq,) zeros and unit quaternions, whatever the parameters and the time."""
        return self._coordinates.neutral()

    def clamp(self, q: Any) -> Array:
        """(…, nq) q inside the limits, quaternions at length one."""
        return self._coordinates.clamp(states("q", q, self.nq))

    def integrate(self, q: Any, v: Any, dt: Any = 1.0) -> Array:
        """(…, nq) q after moving with speeds v for dt seconds, on the manifold of coordinates."""
        q, v = states("q", q, self.nq), states("v", v, self.nv)
        return self._coordinates.integrate(q, v, dt)

    def difference(self, q0: Any, q1: Any) -> Array:
        """(…, nv) the speeds that lead from q0 to q1 in one second: `integrate(q0, difference(q0, q1)) == q1`."""
        return self._coordinates.difference(states("q", q0, self.nq), states("q", q1, self.nq))

    def random(self, seed: int | np.random.Generator = 0) -> Array:
        """(nq,) a random position inside the limits."""
        rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)
        return self._coordinates.random(rng)
