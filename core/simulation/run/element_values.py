"""Quantities of an element at one moment: of a machine that is held in a position, or of a run at a time.

The numbers are those of the channels of a run. Between two samples they are interpolated linearly, poses along the
shortest path with loops closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError, ModelError
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import WORLD
from core.simulation.run.channels import Channels
from core.simulation.run.growing_rows import Samples
from core.simulation.run.run import Run

Array = NDArray[np.float64]
NO_STATES = np.zeros((0, 0))
VECTORS = (
    ("Angular velocity", "ω", "omega", "angular_velocity"),
    ("Velocity", "v", "velocity", "velocity"),
    ("Angular acceleration", "α", "alpha", "angular_acceleration"),
    ("Acceleration", "a", "acceleration", "acceleration"),
)
"""Title, symbol, channel and dimension of the motion of a frame."""
SCALARS = (("Position", "q", "q"), ("Speed", "v", "v"), ("Acceleration", "a", "a"), ("Joint force", "τ", "tau"))
"""Title, symbol and channel of the quantities of a joint."""


class Quantity(NamedTuple):
    """A quantity of an element in SI. components : suffixes of the values; is_vector : True for vectors in world axes,
    which can be given in other axes; group : heading of quantities that belong together"""

    title: str
    symbol: str
    values: Array
    dimensions: tuple[str, ...]
    components: tuple[str, ...] = ()
    is_vector: bool = False
    group: str = ""


@dataclass(frozen=True, eq=False)
class ElementValues:
    """Pose (4, 4) of an element in the world (None: it has none), its other quantities, and the reason why some of them
    cannot be computed."""

    pose: Array | None
    quantities: tuple[Quantity, ...]
    problem: str = ""


class Moment:
    """State of a machine at one moment; `values_of` gives the quantities of its elements."""

    def __init__(
        self, mech: Mechanism, q: Array, samples: Samples, p: Array, *, share: float = 0.0, problem: str = ""
    ) -> None:
        """share : fraction of the way from the first of the samples to the last; problem : reason why they contain no
        speeds and forces"""
        self.mech, self.q, self.p = mech, q, p
        self._share, self._problem = share, problem
        self.channels = Channels(mech, p, samples)

    # ----------------------------------------------------------------------------- asking

    def values_of(self, collection: str, name: str) -> ElementValues:
        """Return the quantities of an element. Raises ModelError if the machine has no such element."""
        known = self.mech.joint_names if collection == "joints" else self.mech.frame_names
        if collection in ("bodies", "frames", "joints") and name not in known:
            raise ModelError(f"The machine at this moment has no {name}.", remedy="Simulate the present machine.")
        problem = self._problem
        pose = self._pose_of(collection, name)
        found = []
        try:
            for quantity in self._quantities_of(collection, name, pose):
                found.append(quantity)
        except KinetostatError as error:
            problem = problem or str(error)
        return ElementValues(pose, tuple(found), problem)

    def value(self, channel: str) -> Array:
        """Return the values (k,) of a channel at this moment."""
        values = np.asarray(self.channels[channel], dtype=float)
        values = values.reshape(len(values), -1)
        return np.asarray((1.0 - self._share) * values[0] + self._share * values[-1])

    # ----------------------------------------------------------------------------- by element

    def _pose_of(self, collection: str, name: str) -> Array | None:
        if collection == "joints":
            return np.asarray(self.mech.joint_poses(self.q, self.p)[name][1])
        if collection in ("bodies", "frames"):
            return np.asarray(self.mech.frame(self.q, name, p=self.p))
        return None

    def _quantities_of(self, collection: str, name: str, pose: Array | None) -> Iterator[Quantity]:
        if pose is None:
            yield from self._element_quantities(name)
            return
        if collection == "joints":
            yield from self._joint_quantities(name)
            joint = next((each for each in self.mech.model.expanded.joints if each.name == name), None)
            child = joint.child if joint is not None else name
            yield from self._motion_at(child, pose[:3, 3], f"Motion of {child} at the joint")
            if not self._problem:
                yield from _wrench(f"Exerted on {child} by the joint", self.value(f"{name}.reaction"))
            return
        yield from self._motion_at(name, pose[:3, 3], "Motion")
        branch = self._carrying_joint(name)
        if branch is not None and not self._problem:
            joint_name, sign = branch
            F = sign * self.value(f"{joint_name}.reaction")
            b = np.asarray(self.mech.joint_poses(self.q, self.p)[joint_name][1])[:3, 3]
            F[:3] += np.cross(b - pose[:3, 3], F[3:])
            yield from _wrench(f"Exerted by {joint_name}, about this origin", F)

    def _joint_quantities(self, joint: str) -> Iterator[Quantity]:
        """Yield the coordinates of a joint with their rates and forces; a fixed joint has none."""
        channels = self.channels
        for title, symbol, what in SCALARS:
            channel = f"{joint}.{what}"
            if channel not in channels.names or (what == "tau" and self._problem):
                continue
            values = self.value(channel)
            if what == "q" and joint not in self._cut_joints:  # quaternions are not interpolated linearly
                values = np.asarray(self.mech.coordinate(self.q, joint, p=self.p), dtype=float)
            dimensions = channels.coordinate_dimensions(joint, what)
            if what == "tau" and set(dimensions) == {"torque"}:
                title = "Joint torque"
            yield Quantity(title, symbol, values, dimensions, channels.components(channel, len(values)))

    @property
    def _cut_joints(self) -> frozenset[str]:
        return frozenset(each.name for each in self.mech.compiled.topology.cuts)

    def _motion_at(self, frame: str, point: Array, group: str) -> Iterator[Quantity]:
        """Yield velocity and acceleration of a frame at a point fixed to it, in world axes."""
        origin = np.asarray(self.mech.frame(self.q, frame, p=self.p))[:3, 3]
        r = point - origin
        ω, v, α, a = (self.value(f"{frame}.{what}") for _, _, what, _ in VECTORS)
        v, a = v + np.cross(ω, r), a + np.cross(α, r) + np.cross(ω, np.cross(ω, r))
        for (title, symbol, _, dimension), values in zip(VECTORS, (ω, v, α, a), strict=True):
            yield Quantity(title, symbol, values, (dimension,) * 3, tuple("xyz"), True, group)

    def _carrying_joint(self, frame: str) -> tuple[str, float] | None:
        """Return the joint that connects a body towards the ground, and the sign with which its wrench acts on the
        body; None for the ground and free bodies."""
        topology = self.mech.compiled.topology
        body = topology.carriers.get(frame, frame)
        branch = next((each for each in topology.branches if each.outer == body), None)
        if body == WORLD or branch is None or branch.joint.info.nv == 6:
            return None
        return branch.joint.name, -1.0 if branch.reversed else 1.0

    def _element_quantities(self, name: str) -> Iterator[Quantity]:
        """Yield the channels of a force, a sensor, a driver or a constraint."""
        table = self.channels.elements.table
        own = [key for key in table if key == name or key.rpartition(".")[0] == name]
        parts = {f"{key}.{suffix}" for key in own for suffix in table[key].suffixes}
        for key in own:
            if key in parts:
                continue
            title = key.removeprefix(name).lstrip(".").replace("_", " ") or "value"
            yield Quantity(title.capitalize(), "", self.value(key), table[key].dimensions, table[key].suffixes)


def _wrench(group: str, F: Array) -> Iterator[Quantity]:
    yield Quantity("Torque", "τ", F[:3], ("torque",) * 3, tuple("xyz"), True, group)
    yield Quantity("Force", "f", F[3:], ("force",) * 3, tuple("xyz"), True, group)


def moment_held(mech: Mechanism, q: Array, p: Mapping[str, float] | None = None, t: float = 0.0) -> Moment:
    """Return the state of a machine that its joints hold in a position (nq,): at rest, as far as its drivers allow,
    with the joint forces that this needs."""
    problem = ""
    try:
        v = np.asarray(mech.speeds(q, {}, p=p, t=t))
        a = np.asarray(mech.accelerations(q, v, {}, p=p, t=t))
        tau = np.asarray(mech.inverse_dynamics(q, v, a, p=p, t=t))
    except KinetostatError as error:
        v, a, tau = (np.zeros(mech.nv) for _ in range(3))
        problem = str(error)
    samples = Samples(np.array([t]), q[None], v[None], a[None], tau[None], NO_STATES, NO_STATES)
    return Moment(mech, q, samples, np.asarray(mech.parameter_values(p)), problem=problem)


def moment_of_run(run: Run, time: float) -> Moment:
    """Return the state of a run at a time, s; at an instant at which it jumps, the state after the jump."""
    time = float(np.clip(time, run.time[0], run.time[-1]))
    first = max(int(np.searchsorted(run.time, time, side="right")) - 1, 0)
    last = min(first + 1, len(run.time) - 1)
    share = float((time - run.time[first]) / (run.time[last] - run.time[first])) if last > first else 0.0
    rows = slice(first, last + 1) if share > 0.0 else slice(first, first + 1)
    q = run.at(time) if share > 0.0 else np.array(run.q[first])
    p = run.settings.values_of(run.mech.p_names)
    return Moment(run.mech, q, Samples.of(run, rows), np.asarray(p, dtype=float), share=share)
