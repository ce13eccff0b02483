"""Candidate points under the pointer: origins of frames and joints, named points, holes, edges, corners and faces.

The likeliest comes first: what the pointer is on within a few pixels, then the axis of a hole or cylinder, then the
surface; what is left of the thing under the pointer follows, for Tab.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.document.connection_draft import (
    PickedItem,
    joint_direction_at,
    pick_new_frame,
    pick_origin,
    present_poses,
    shape_landmarks,
)
from app.document.revision import ElementRef
from core.model import WORLD
from core.model.formula.numerals import round_measured_vector
from viz.placement import evaluate_vector, inverse_pose, unit_vector

if TYPE_CHECKING:
    from app.viewport.gestures import PointerState
    from app.viewport.stage import Stage
    from viz.scene.pointing import Hit

Array = NDArray[np.float64]

SNAP = 10.0
"""Pixels (at 100 %) within which the pointer snaps to a point of the body instead of its surface."""
EDGE = 6.0
"""Pixels within which the pointer snaps to an edge."""
PARALLEL = 0.999
"""Cosine of the angle up to which a cylinder counts as parallel to its body's joint axis."""
STANDS = 0.9
"""Cosine of the angle to a face's normal below which a body axis is used as the first axis of the face."""
SAME_PLACE = 1e-9
"""Points nearer than this coincide, m."""


class CandidatePoint(NamedTuple):
    """A candidate point (3,) in m, world, with the name of the existing element there, or else the body on which it
    lies.

    direction : (3,) that of a joint there, if it has one
    """

    word: str
    place: Array
    name: str = ""
    body: str = ""
    direction: Array | None = None

    def coincides_with(self, other: CandidatePoint) -> bool:
        """Return True if two candidates have the same position and joint axis."""
        turned = (self.direction is None) == (other.direction is None)
        if turned and self.direction is not None and other.direction is not None:
            turned = abs(float(self.direction @ other.direction)) > PARALLEL
        return turned and float(np.linalg.norm(self.place - other.place)) < SAME_PLACE


class PointerCandidates:
    """The element under the pointer, and all candidate points there.

    include_junctions : junctions are candidates too; for_joint : a joint is to be made, so that axes matter
    """

    def __init__(self, view: Stage, pointer: PointerState, include_junctions: bool, for_joint: bool) -> None:
        self._view, self._pointer, self._turned = view, pointer, for_joint
        self._junctions = include_junctions
        self.hit = view.scene.pick(pointer.x, pointer.y)
        self.ref = ElementRef(*self.hit.ref) if self.hit is not None and self.hit.ref is not None else None
        self.body = body_of_element(view, self.ref)
        self.spots = tuple(self._all_candidates())

    @property
    def surface_normal(self) -> tuple[float, float, float] | None:
        """Outward normal of the surface under the pointer, in the world."""
        return None if self.hit is None else round_measured_vector(self.hit.normal)

    def pick_candidate(self, index: int, used_names: Sequence[str]) -> PickedItem | None:
        """Return the candidate with the given number as a pick; names of new frames avoid those in `used_names`."""
        if not self.spots:
            return None
        spot, session = self.spots[index % len(self.spots)], self._view.session
        found = (
            pick_origin(session, spot.name)
            if spot.name
            else pick_new_frame(session, spot.body, spot.place, tuple(used_names))
        )
        direction = None if spot.direction is None else round_measured_vector(spot.direction)
        return dataclasses.replace(found, normal=self.surface_normal, direction=direction, word=spot.word)

    def _all_candidates(self) -> Iterator[CandidatePoint]:
        """Yield all candidates, each once."""
        if self.ref is not None and self.ref.collection == "junctions":
            if self._junctions:
                yield CandidatePoint(
                    "", np.array(pick_origin(self._view.session, self.ref.name).place), name=self.ref.name
                )
            return
        known: list[CandidatePoint] = []
        for spot in (*self._nearby_points(), *self._surface_candidates()):
            if not any(spot.coincides_with(other) for other in known):
                known.append(spot)
                yield spot

    # ------------------------------------------------------------------------------- what is near

    def _nearby_points(self) -> list[CandidatePoint]:
        """Return origins, named points, corners, edges and circles near the pointer, the nearest of each kind first."""
        snap, edge = SNAP * self._pointer.scale, EDGE * self._pointer.scale
        found: list[CandidatePoint] = []
        for some in (self._origin_candidates(), self._joint_candidates(), self._landmark_candidates()):
            table = [(self._distance_to_pointer(spot.place), spot) for spot in some]
            found += [spot for away, spot in sorted(table, key=lambda row: row[0]) if away < snap]
        rows: list[tuple[float, CandidatePoint]] = []
        for spot, outline in self._surface_features:
            away, on = self._distance_to_pointer(spot.place), self._line_distance_to_pointer(outline)
            if spot.word in ("corner", "edge", "circle") and (away < snap or on < edge):
                rows.append((away if away < snap else snap + on, spot))
        return found + [spot for _, spot in sorted(rows, key=lambda row: row[0])]

    def _origin_candidates(self) -> Iterator[CandidatePoint]:
        """Yield the origins of bodies, frames and junctions; only those of the body under the pointer, if
        there is one."""
        model, known = self._view.session.model.expanded, present_poses(self._view.session)
        names = [*(frame.name for frame in model.frames), *(body.name for body in model.bodies)]
        if self._junctions:
            names += [junction.name for junction in model.junctions]
        for name in names:
            if self.body is None or model.carrier(name).name == self.body:
                yield CandidatePoint("", known[name][:3, 3], name=name)

    def _joint_candidates(self) -> Iterator[CandidatePoint]:
        """Yield the origins of the joints on the body under the pointer, each with its axis."""
        session, model = self._view.session, self._view.session.model.expanded
        on, known = self.body or WORLD, session.mech.joint_poses(session.q, p=session.p)
        values = model.values(session.p)
        for joint in model.joints:
            ends = (model.carrier(joint.parent).name, model.carrier(joint.child).name)
            if on not in ends or joint.name not in known:
                continue
            X_W = np.asarray(known[joint.name][ends.index(on)])
            axis = X_W[:3, :3] @ unit_vector(evaluate_vector(joint.axis, values)) if "axis" in joint.info.uses else None
            yield CandidatePoint(f"joint {joint.name}", X_W[:3, 3], body=on, direction=axis)

    def _landmark_candidates(self) -> Iterator[CandidatePoint]:
        """Yield the centres, ends and face centres of the body's shapes."""
        for point in shape_landmarks(self._view.session, self.body or WORLD):
            yield CandidatePoint("", point, body=self.body or WORLD)

    def _distance_to_pointer(self, point: Array) -> float:
        """Return the distance in pixels from the pointer to the projection of a point (3,)."""
        return float(np.hypot(*np.subtract(self._view.scene.project(point), (self._pointer.x, self._pointer.y))))

    def _line_distance_to_pointer(self, outline: Array) -> float:
        """Return the distance in pixels from the pointer to the projection of a line through points (n, 3)."""
        if len(outline) < 2:
            return np.inf
        seen = np.array([self._view.scene.project(place) for place in outline]) - (self._pointer.x, self._pointer.y)
        start, steps = seen[:-1], np.diff(seen, axis=0)
        share = -(start * steps).sum(axis=1) / np.maximum((steps**2).sum(axis=1), 1e-12)
        nearest = start + np.clip(share, 0.0, 1.0)[:, None] * steps
        return float(np.hypot(*nearest.T).min())

    # ------------------------------------------------------------------------------- what is hit

    @cached_property
    def _surface_features(self) -> list[tuple[CandidatePoint, Array]]:
        """Return the features of the surface under the pointer, each with the outline (n, 3) near which it is picked,
        world."""
        hit = self.hit
        if hit is None or hit.form is None or hit.pose is None or self.body is None or not _is_real_shape(hit):
            return []
        from viz.meshes.surface_features import find_features

        X, local = hit.pose, (inverse_pose(hit.pose) @ np.array([*hit.position, 1.0]))[:3]
        found = []
        for each in find_features(hit.form, local):
            direction = None if each.direction is None else X[:3, :3] @ each.direction
            spot = CandidatePoint(each.word, X[:3, :3] @ each.point + X[:3, 3], body=self.body, direction=direction)
            found.append((spot, each.outline @ X[:3, :3].T + X[:3, 3]))
        return found

    def _surface_candidates(self) -> Iterator[CandidatePoint]:
        """Yield the axis of a hole or cylinder, the surface point, and the other features of the face."""
        found = [spot for spot, _ in self._surface_features]
        axes = [spot for spot in found if spot.word in ("hole", "cylinder")]
        first = bool(axes) and self._should_pick_axis(axes[0])
        yield from axes if first else ()
        if self.hit is not None and self.body is not None:
            yield CandidatePoint("", np.asarray(self.hit.position), body=self.body)
        elif (ground := self._view.ground_under(self._pointer)) is not None:
            yield CandidatePoint("", ground, body=WORLD)
        yield from () if first else axes
        yield from (spot for spot in found if spot.word == "face")
        yield from (spot for spot in found if spot.word == "circle")

    def _should_pick_axis(self, axis: CandidatePoint) -> bool:
        """Return True if a click on the side of a hole or cylinder should pick its axis; False for a bar whose joint
        turns about another axis."""
        if axis.word == "hole":
            return True
        carrier = joint_direction_at(self._view.session, PickedItem(axis.body))
        assert axis.direction is not None
        return self._turned and (carrier is None or abs(float(carrier @ axis.direction)) > PARALLEL)


def _is_real_shape(hit: Hit) -> bool:
    """Return True if the hit is on a shape of a body drawn in its true form, not on a symbolic figure."""
    assert hit.pose is not None
    own = hit.ref is not None and hit.ref[0] == "bodies"
    return own and bool(np.allclose(hit.pose[:3, :3] @ hit.pose[:3, :3].T, np.eye(3), atol=1e-9))


class FlatFace(NamedTuple):
    """A flat face of a body. X_WF : (4, 4) world ← axes of the face: x along its longest edge, else along the body's
    first axis that is not normal to it; z outward; origin at its centre. outlines : (n, 3) each, m, world"""

    body: str
    X_WF: Array
    outlines: tuple[Array, ...]


def flat_face_under_pointer(view: Stage, pointer: PointerState) -> FlatFace | None:
    """Return the flat face under the pointer; None if there is none."""
    hit = view.scene.pick(pointer.x, pointer.y)
    body = body_of_element(view, ElementRef(*hit.ref)) if hit is not None and hit.ref is not None else None
    if hit is None or body is None or hit.form is None or hit.pose is None or not _is_real_shape(hit):
        return None
    from viz.meshes.surface_features import find_flat_face

    X, local = hit.pose, (inverse_pose(hit.pose) @ np.array([*hit.position, 1.0]))[:3]
    flat = find_flat_face(hit.form, local)
    if flat is None:
        return None
    R, R_WB = X[:3, :3], present_poses(view.session)[body][:3, :3]
    normal = unit_vector(R @ flat.normal)
    first = (
        next(axis for axis in R_WB.T if abs(float(axis @ normal)) < STANDS) if flat.along is None else R @ flat.along
    )
    u = unit_vector(first - (first @ normal) * normal)
    u = u * np.sign((R_WB.T @ u)[int(np.argmax(np.abs(R_WB.T @ u)))])
    X_WF = np.eye(4)
    X_WF[:3, :3] = np.column_stack([u, np.cross(normal, u), normal])
    X_WF[:3, 3] = R @ flat.point + X[:3, 3]
    return FlatFace(body, X_WF, tuple(line @ R.T + X[:3, 3] for line in flat.outlines))


def body_of_element(view: Stage, ref: ElementRef | None) -> str | None:
    """Return the body (or the ground) to which an element under the pointer belongs."""
    if ref is None:
        return None
    model = view.session.model.expanded
    if ref.collection == "joints":
        joints = (*view.session.mech.implicit_joints, *model.joints)
        name = next((joint.child for joint in joints if joint.name == ref.name), "")
    elif ref.collection in ("bodies", "frames"):
        name = ref.name
    else:
        return None
    return model.carrier(name).name if name in model.placements else None
