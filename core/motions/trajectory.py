"""A planned motion over time: positions, speeds, accelerations, the tool, margins, and a run with its forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.constraints import Driver
from core.motions.joint_bounds import JointBounds
from core.motions.laws import TimeLaw
from core.motions.paths import Path
from core.simulation.methods.method import RECORDED
from core.simulation.run.run import Run, Statistics
from core.simulation.run.settings import Settings

Array = NDArray[np.float64]

SAMPLES = 501
"""Samples of a segment among which its largest values are looked for."""
REFINED = 21
"""Samples between the neighbours of the largest one."""
JERK_STEP = 1e-5
"""Step (s) of the differences of accelerations."""


class Piece(NamedTuple):
    """A segment in time. number : its place in the motion, from 1; start : s; law : of the path's parameter"""

    number: int
    kind: str
    start: float
    law: TimeLaw
    path: Path


class Margin(NamedTuple):
    """The largest value of a quantity of a joint over a motion: value, time (s), its bound, and value / bound."""

    joint: str
    quantity: str
    value: float
    time: float
    bound: float

    @property
    def share(self) -> float:
        """Return the value as a share of its bound; 0 without one."""
        return self.value / self.bound


class Trajectory:
    """A planned motion. duration : s; q0 : (nq,) where it begins; pieces : its segments in time; frame : its tool;
    notes : remarks on how it differs from what was asked, such as blends that were cut."""

    def __init__(
        self,
        mech: Mechanism,
        name: str,
        frame: str,
        q0: Array,
        pieces: tuple[Piece, ...],
        bounds: JointBounds,
        notes: tuple[str, ...] = (),
    ):
        self.notes = notes
        self.mech, self.name, self.frame, self.q0, self.pieces, self.bounds = mech, name, frame, q0, pieces, bounds
        self.duration = pieces[-1].start + pieces[-1].law.duration

    def __repr__(self) -> str:
        """Return name, duration and number of segments."""
        return f"Trajectory('{self.name}', {self.duration:.6g} s, {len(self.pieces)} segments)"

    def at(self, t: Any) -> tuple[Array, Array, Array]:
        """Return q (…, nq), v and a (…, nv) at times t (…), s; before and after the motion the machine is at rest."""
        times = np.asarray(t, dtype=float)
        flat = times.reshape(-1)
        if not np.isfinite(flat).all():
            raise ModelError("A time is not a finite number.", where="t", remedy="Give times in s.")
        q = np.broadcast_to(self.q0, (len(flat), self.mech.nq)).copy()
        v, a = np.zeros((len(flat), self.mech.nv)), np.zeros((len(flat), self.mech.nv))
        starts = np.array([piece.start for piece in self.pieces])
        number = np.searchsorted(starts, flat, side="right") - 1
        for k, piece in enumerate(self.pieces):
            at = np.flatnonzero(number == k)
            if len(at):
                q[at], v[at], a[at] = evaluate_piece(piece, flat[at])
        lead = times.shape
        return q.reshape(*lead, -1), v.reshape(*lead, -1), a.reshape(*lead, -1)

    def sample(self, step: float = 1e-2) -> tuple[Array, Array, Array, Array]:
        """Return times (N,), q, v and a at multiples of a step (s) and at the end."""
        if not (np.isfinite(step) and step > 0.0):
            raise ModelError(f"A step of {step:g} s is not possible.", where="step", remedy="Give a positive step.")
        times = np.arange(0.0, self.duration, step)
        if not len(times) or self.duration - times[-1] > 1e-9 * max(self.duration, 1e-300):
            times = np.append(times, self.duration)
        times[-1] = self.duration
        return times, *self.at(times)

    def jerk(self, t: Any) -> Array:
        """(…, nv) jerk at times t (…), s, by differences of the accelerations to the side without a jump; jumps of the
        acceleration, which are impulses of the jerk, are not counted."""
        times = np.asarray(t, dtype=float)
        before, now, after = (self.at(times + k * JERK_STEP)[2] for k in (-1.0, 0.0, 1.0))
        ahead, behind = (after - now) / JERK_STEP, (now - before) / JERK_STEP
        return np.asarray(np.where(np.abs(ahead) < np.abs(behind), ahead, behind))

    def tool(self, t: Any, frame: str | None = None) -> tuple[Array, Array, Array]:
        """Return pose (…, 4, 4), twist (…, 6) [ω; v] and acceleration (…, 6) of the tool, world axes."""
        q, v, a = self.at(t)
        name = frame or self.frame
        return (
            np.asarray(self.mech.frame(q, name)),
            np.asarray(self.mech.frame_velocity(q, v, name)),
            np.asarray(self.mech.frame_acceleration(q, v, a, name)),
        )

    def margins(self) -> tuple[Margin, ...]:
        """Return the largest |v|, |a|, and joint force of each joint with its bound, where one exists.

        The values are the largest of 501 samples of each segment, refined around them.
        """
        found: list[Margin] = []
        for quantity, bounds in (
            ("speed", self.bounds.velocity),
            ("acceleration", self.bounds.acceleration),
            ("force", self.bounds.effort),
        ):
            if not np.isfinite(bounds).any():
                continue
            times, values = self._extremes(quantity)
            for k, name in enumerate(self.mech.v_names):
                if np.isfinite(bounds[k]):
                    found.append(Margin(name, quantity, float(values[k]), float(times[k]), float(bounds[k])))
        return tuple(found)

    def _extremes(self, quantity: str) -> tuple[Array, Array]:
        """(nv,) times and largest magnitudes of a quantity."""
        times, values = np.zeros(self.mech.nv), np.zeros(self.mech.nv)
        for piece in self.pieces:
            t = piece.start + np.linspace(0.0, piece.law.duration, SAMPLES)
            for _ in range(2):
                size = np.abs(self._quantity(quantity, piece, t))
                best = np.argmax(size, axis=0)
                own = size[best, np.arange(self.mech.nv)]
                better = own > values
                values[better], times[better] = own[better], t[best][better]
                width = (t[-1] - t[0]) / (SAMPLES - 1)
                t = np.unique(np.concatenate([np.linspace(x - width, x + width, REFINED) for x in t[best]]))
                t = np.clip(t, piece.start, piece.start + piece.law.duration)
        return times, values

    def _quantity(self, quantity: str, piece: Piece, t: Array) -> Array:
        q, v, a = evaluate_piece(piece, t)
        match quantity:
            case "speed":
                return v
            case "acceleration":
                return a
            case _:
                return np.asarray(self.mech.inverse_dynamics(q, v, a))

    def run(
        self, step: float = 1e-2, wrenches: Mapping[str, Any] | None = None, payload: Mapping[str, Any] | None = None
    ) -> Run:
        """Return the motion as a run with the joint forces that it needs (inverse dynamics at each sample).

        step : s between samples; wrenches : frame → (6,) [torque; force] from outside, at its origin, world axes;
        payload : a mass that the tool carries, {"mass": kg, "center": (3,) m in the tool's axes, default its origin}
        """
        time, q, v, a = self.sample(step)
        acting = dict(wrenches or {})
        if payload is not None:
            own = acting.get(self.frame, np.zeros(6))
            acting[self.frame] = own + self._payload_wrench(q, v, a, payload)
        tau = np.asarray(self.mech.inverse_dynamics(q, v, a, wrenches=acting or None))
        settings = Settings(
            method=RECORDED.id,
            duration=self.duration,
            step=None,
            rtol=0.0,
            atol=0.0,
            output=step,
            start=0.0,
            parameters=dict(zip(self.mech.model.values(), self.mech.model.values().values(), strict=True)),
            torque=f"motion '{self.name}'",
            max_steps=0,
        )
        return Run(self.mech, settings, time, q, v, a, tau, Statistics(), points=self.points)

    @property
    def points(self) -> tuple[tuple[float, str], ...]:
        """Return times, s, and names of the poses and targets at the ends of segments."""
        motion = next((each for each in self.mech.model.motions if each.name == self.name), None)
        segments = () if motion is None else motion.segments
        ends = [
            (piece.start + piece.law.duration, (segments[piece.number - 1].to if segments else "") or piece.kind)
            for piece in self.pieces
        ]
        return (0.0, (motion.start if motion is not None else "") or "start"), *ends

    def _payload_wrench(self, q: Array, v: Array, a: Array, payload: Mapping[str, Any]) -> Array:
        """(N, 6) wrench of a carried mass on the tool, at its origin, world axes: weight and inertia."""
        mass, center = float(payload.get("mass", 0.0)), np.asarray(payload.get("center", (0.0, 0.0, 0.0)), dtype=float)
        unknown = set(payload) - {"mass", "center"}
        if unknown or not (np.isfinite(mass) and mass >= 0.0) or center.shape != (3,):
            raise ModelError(
                f"A payload of {dict(payload)} is not possible.",
                where="payload",
                remedy='Give {"mass": kg, "center": (x, y, z)} with a mass of at least 0.',
            )
        field = self.mech.model.world.gravity
        if field.kind == "point":
            raise ModelError(
                "A payload is possible in a uniform field of gravity only.", where="payload", remedy="Add a body."
            )
        read = self.mech.compiled.coordinates.numbers.scalar
        weight = np.array([float(read(x, "gravity")) for x in field.acceleration]) * (field.kind == "uniform")
        arm = np.asarray(self.mech.frame(q, self.frame))[:, :3, :3] @ center
        spin = np.asarray(self.mech.frame_velocity(q, v, self.frame))[:, :3]
        change = np.asarray(self.mech.frame_acceleration(q, v, a, self.frame))
        own = change[:, 3:] + np.cross(change[:, :3], arm) + np.cross(spin, np.cross(spin, arm))
        force = mass * (weight - own)
        return np.concatenate([np.cross(arm, force), force], axis=1)

    def as_drivers(self, model: Model | None = None, step: float = 1e-2) -> Model:
        """Return the model with a driver per coordinate that follows the motion, as tables of samples.

        step : s between samples, between which drivers interpolate by cubic splines. Raises ModelError for joints whose
        coordinates are not driven one by one (free bodies, balls).
        """
        base = self.mech.model if model is None else model
        time, q, _, _ = self.sample(step)
        if len(time) < 2:
            raise ModelError("A motion without duration drives nothing.", remedy="Give it segments that take time.")
        drivers, names = list(base.drivers), set(base.expanded.index("force"))
        own = {coordinate.joint for coordinate in self.mech.coordinates}
        for joint in base.expanded.joints:
            if joint.name not in own:
                continue
            at = self.mech.joint_q(joint.name)
            if joint.info.nq != joint.info.nv:
                raise ModelError(
                    f"Joint '{joint.name}' turns in more than one direction and has no driver per coordinate.",
                    remedy="Use the run of the motion instead.",
                )
            for k, word in enumerate(joint.info.coordinates):
                values = q[:, at.start + k]
                single = joint.info.nq == 1
                name = f"{self.name}_{joint.name}" if single else f"{self.name}_{joint.name}_{word}"
                while name in names:
                    name += "_"
                names.add(name)
                drivers.append(
                    Driver(
                        name=name,
                        joint=joint.name,
                        coordinate="" if single else word,
                        times=tuple(time.tolist()),
                        values=tuple(values.tolist()),
                    )
                )
        return replace(base, drivers=tuple(drivers))

    def save(self, path: Any, step: float = 1e-2) -> None:
        """Write time, q, v and a of all coordinates as CSV with units in the head, or a ROS joint trajectory message.

        The suffix decides: .csv, .json or .yaml. Raises FileError.
        """
        from core.motions.trajectory_files import write_trajectory

        write_trajectory(self.mech, self.sample(step), path)


def evaluate_piece(piece: Piece, t: Array) -> tuple[Array, Array, Array]:
    """Return q, v and a of a segment at times (N,), s, of the motion; at rest outside of it."""
    s, speed, acceleration = piece.law.at(t - piece.start)
    moving = piece.path.at(np.clip(s, 0.0, 1.0))
    v = moving.rate * speed[:, None]
    return moving.q, v, moving.rate * acceleration[:, None] + moving.change * (speed**2)[:, None]
