"""Names, limits, rest position and manifold of a machine's coordinates, for given parameter values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.joints import JointKind, quaternions
from core.later import dataclass
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Topology
from core.mechanics.multibody.tree_of_model import Offsets, assign_offsets
from core.model import Joint
from core.model.signals import component_name
from core.model.units import format_with_unit

Array = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Coordinate:
    """Coordinate, one entry of q."""

    name: str
    joint: str
    index: int
    dimension: str
    """Dimension: "angle" (rad), "length" (m) or "none" (component of a quaternion)."""
    lower: float | None
    upper: float | None


class Coordinates:
    """Coordinates of a topology for one set of parameter values."""

    def __init__(self, topology: Topology, values: Mapping[str, float]) -> None:
        self.numbers = Numbers(values, topology.model.origin)
        self.offsets: Offsets = assign_offsets(topology)
        declared = {branch.joint.name: branch.joint for branch in topology.branches}
        self.joints: dict[str, Joint] = {name: declared[name] for name in self.offsets.q}
        """Joints with entries of their own, in the order of q."""
        self.followers = {j.name: j for j in topology.model.joints if j.mimic is not None}
        kinds = [(joint, joint.info) for joint in self.joints.values()]
        self.table = tuple([c for joint, kind in kinds for c in self._coordinates_of_joint(joint, kind)])
        self.v_names = tuple([component_name(joint.name, suffix) for joint, kind in kinds for suffix in kind.speeds])
        self.place_of_speed = {name: k for k, name in enumerate(self.v_names)}
        """Name of a speed → its index in v."""
        self.speed_dimensions = tuple([dimension for _, kind in kinds for dimension in kind.speed_dimensions])
        """Dimension of each speed: "angular_velocity" or "velocity"."""
        self.lower = np.array([-np.inf if c.lower is None else c.lower for c in self.table])
        self.upper = np.array([np.inf if c.upper is None else c.upper for c in self.table])
        self.index = {c.name: c.index for c in self.table}
        self._turning = self._joints_on_manifolds(kinds)
        plain_q, plain_v = np.ones(self.offsets.nq, dtype=bool), np.ones(self.offsets.nv, dtype=bool)
        for _, at, speeds in self._turning:
            plain_q[at] = plain_v[speeds] = False
        self._plain_q, self._plain_v = np.flatnonzero(plain_q), np.flatnonzero(plain_v)
        """Indices in q of the coordinates whose rates are speeds, and indices of these speeds in v."""
        self.quaternions = tuple(
            self.offsets.q[joint.name] + kind.quaternion for joint, kind in kinds if kind.quaternion is not None
        )
        """Index in q of each quaternion's first component."""

    @property
    def plain_indices(self) -> tuple[Places, Places]:
        """Return the indices in q of the coordinates whose rates are speeds, and indices of these speeds in v."""
        return self._plain_q, self._plain_v

    def _joints_on_manifolds(
        self, joints: Iterable[tuple[Joint, type[JointKind]]]
    ) -> list[tuple[type[JointKind], Places, Places]]:
        """Return each joint kind with more coordinates than speeds, and its joints' indices: (k, nq) in q, (k, nv) in
        v."""
        kinds: dict[type[JointKind], list[str]] = {}
        for joint, own in joints:
            if own.nq > own.nv:
                kinds.setdefault(own, []).append(joint.name)
        return [
            (
                kind,
                np.array([self.offsets.q[name] for name in names])[:, None] + np.arange(kind.nq),
                np.array([self.offsets.v[name] for name in names])[:, None] + np.arange(kind.nv),
            )
            for kind, names in kinds.items()
        ]

    def _coordinates_of_joint(self, joint: Joint, kind: type[JointKind]) -> list[Coordinate]:
        first = self.offsets.q[joint.name]
        result = []
        for k, (suffix, dimension) in enumerate(zip(kind.coordinates, kind.coordinate_dimensions, strict=True)):
            lower, upper = self._narrowed_bounds(joint, k)
            result.append(
                Coordinate(component_name(joint.name, suffix), joint.name, first + k, dimension, lower, upper)
            )
        return result

    def _narrowed_bounds(self, joint: Joint, k: int) -> tuple[float | None, float | None]:
        """Return the limits of coordinate k, narrowed by the limits of the joints coupled to it unless no range would
        remain."""
        lower, upper = self.limits_of_joint(joint, k)
        for name, follower in self.followers.items():
            leader, ratio, offset = self.coupling(name)
            if leader != joint.name or ratio == 0.0:
                continue
            ends = [None if x is None else (x - offset) / ratio for x in self.limits_of_joint(follower, 0)]
            low, high = ends if ratio > 0.0 else ends[::-1]
            low = max((x for x in (lower, low) if x is not None), default=None)
            high = min((x for x in (upper, high) if x is not None), default=None)
            if low is None or high is None or low < high:
                lower, upper = low, high
        return lower, upper

    def limits_of_joint(self, joint: Joint, k: int) -> tuple[float | None, float | None]:
        """Return the limits of coordinate k given by the joint itself."""
        if k >= len(joint.limits) or not joint.info.limited:
            return None, None
        limit, where = joint.limits[k], f"joint '{joint.name}', limits"
        lower, upper = [None if v is None else self.numbers.scalar(v, where) for v in (limit.lower, limit.upper)]
        return lower, upper

    def coupling(self, name: str) -> tuple[str, float, float]:
        """Return (leader, ratio, offset) of a joint, where the leader has entries in q; ratio 1 and offset 0 for a
        joint that is not coupled."""
        ratio, offset = 1.0, 0.0
        while (joint := self.followers.get(name)) is not None and joint.mimic is not None:
            where = f"joint '{name}', mimic"
            offset += ratio * self.numbers.scalar(joint.mimic.offset, where)
            ratio *= self.numbers.scalar(joint.mimic.ratio, where)
            name = joint.mimic.leader
        return name, ratio, offset

    def slice_q(self, name: str) -> slice:
        """Return the slice of a joint's coordinates in q, or of its leader's if it is coupled."""
        leader = self.coupling(name)[0]
        if leader not in self.joints:
            raise ModelError(
                f"'{name}' has no coordinates of its own.",
                where=f"joint '{name}'",
                remedy="Choose a joint of the tree: " + ", ".join(list(self.joints)[:8]) + " …",
            )
        first = self.offsets.q[leader]
        return slice(first, first + self.joints[leader].info.nq)

    def slice_v(self, name: str) -> slice:
        """Return the slice of a joint's speeds in v, or of its leader's if it is coupled."""
        self.slice_q(name)
        leader = self.coupling(name)[0]
        first = self.offsets.v[leader]
        return slice(first, first + self.joints[leader].info.nv)

    def neutral(self) -> Array:
        """Return the neutral position (nq,): zeros and unit quaternions."""
        return np.array([x for joint in self.joints.values() for x in joint.info.neutral], dtype=float)

    def rest(self) -> Array:
        """Return the rest position (nq,): the values given in the model, otherwise neutral ones, clamped to the limits.
        Values that are not finite, which `check` reports, count as not given."""
        q = self.neutral()
        for name, joint in self.joints.items():
            if joint.rest:
                given = np.array([self.numbers.scalar(v, f"joint '{name}', rest") for v in joint.rest])
                q[self.slice_q(name)] = np.where(np.isfinite(given), given, q[self.slice_q(name)])
        return self.clamp(q)

    def clamp(self, q: Array) -> Array:
        """Clamp q (nq,) to the limits and normalise its quaternions."""
        lower, upper = self.lower, np.maximum(self.lower, self.upper)
        result = np.clip(q, lower, upper)
        if self.quaternions:
            at = np.array(self.quaternions)[:, None] + np.arange(4)
            result[..., at] = quaternions.normalise_quaternion(result[..., at])
        return result

    def integrate(self, q: Array, v: Array, dt: float | Array = 1.0) -> Array:
        """Return q after motion with constant speeds v (in b's axes) for dt."""
        steps = np.asarray(v, dtype=float) * np.expand_dims(np.asarray(dt, dtype=float), -1)
        q = np.asarray(q, dtype=float)
        shape = np.broadcast_shapes(q.shape[:-1], steps.shape[:-1])
        result = np.array(np.broadcast_to(q, (*shape, q.shape[-1])))
        result[..., self._plain_q] += steps[..., self._plain_v]
        for kind, at, speeds in self._turning:
            result[..., at] = kind.moved(result[..., at], steps[..., speeds])
        return result

    def integrate_within_limits(self, q: Array, step: Array) -> Array:
        """Return q (nq,) after a displacement (nv,), clamped to the limits."""
        return self.clamp(self.integrate(q, step, 1.0))

    def integrate_unlimited(self, q: Array, step: Array) -> Array:
        """Return q (nq,) after a displacement (nv,), ignoring the limits."""
        return self.integrate(q, step, 1.0)

    def unlimited_bounds(self, q: Array) -> tuple[Array, Array]:
        """Return infinite bounds for a displacement (nv,)."""
        return np.full(self.offsets.nv, -np.inf), np.full(self.offsets.nv, np.inf)

    def displacement_bounds(self, q: Array) -> tuple[Array, Array]:
        """Return the smallest and largest displacement (nv,) that the limits of plain coordinates allow."""
        nv = self.offsets.nv
        low, high = np.full(nv, -np.inf), np.full(nv, np.inf)
        at, speeds = self._plain_q, self._plain_v
        low[speeds] = np.minimum(self.lower[at] - q[at], 0.0)
        high[speeds] = np.maximum(self.upper[at] - q[at], 0.0)
        return low, high

    def speeds_between(self, q0: Array, q1: Array) -> Array:
        """Return the constant speeds (nv,) that lead from q0 to q1 in unit time."""
        q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
        result = np.empty((*np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1]), self.offsets.nv))
        result[..., self._plain_v] = q1[..., self._plain_q] - q0[..., self._plain_q]
        for kind, at, speeds in self._turning:
            result[..., speeds] = kind.between(q0[..., at], q1[..., at])
        return result

    def check_limit_order(self) -> None:
        """Raise ModelError if the lower limit of a coordinate lies above the upper one."""
        if not (self.lower > self.upper).any():
            return
        for coordinate, low, high in zip(self.table, self.lower, self.upper, strict=True):
            if low > high:
                words = [format_with_unit(float(bound), coordinate.dimension) for bound in (low, high)]
                raise ModelError(
                    f"The lower limit of '{coordinate.name}' ({words[0]}) lies above the upper ({words[1]}).",
                    where=f"joint '{coordinate.joint}', limits",
                    remedy="Swap the two limits.",
                )

    def random(self, rng: np.random.Generator, count: int | None = None) -> Array:
        """Return a random position inside the limits, or `count` of them; unbounded coordinates within ±π (rad or m).
        Raises ModelError where limits are crossed."""
        self.check_limit_order()
        low = np.where(np.isfinite(self.lower), self.lower, -math.pi)
        high = np.where(np.isfinite(self.upper), self.upper, math.pi)
        shape = len(low) if count is None else (count, len(low))
        return self.clamp(rng.uniform(low, np.maximum(low, high), shape))
