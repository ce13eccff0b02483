"""Results of the mobility analysis at a pose, attached to components as marks with a position, a direction and a text.

Redundant constraints and contradictions stand at their joints, constraints and drivers; a freedom at the joint that a
person would move, or at the body that moves alone; every moving body has the screw of its motion besides. What is lost
at or near a singular pose stands at the frame and the joints that cannot move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.body_motions import screw_from_twist
from core.analysis.singular_directions import LeastResistedMotion, LostDirection, SingularDirections
from core.analysis.tool_frame import tool_frame
from core.constraints.mobility.findings import conflicting_elements
from core.constraints.mobility.free_motions import FreeMotion
from core.constraints.mobility.mobility import Mobility
from core.errors import AssemblyError, KinetostatError
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Joint

Array = NDArray[np.float64]
Kind = Literal["redundant", "conflict", "free", "idle", "singular"]
Form = Literal["rotation", "translation", "screw", ""]
Ref = tuple[str, str]

STILL_FRACTION = 1e-6
"""Speed, relative to the fastest body, below which a body counts as at rest."""
SHORTEST_PITCH = 1e-6
"""Pitch (machine sizes per rad) below which a screw counts as a rotation."""


@dataclass(frozen=True)
class MobilityMark:
    """A result of the mobility analysis at one component.

    ref : (collection, name) of the component; place, direction : (3,) world, m; form : what is marked about the
    direction (rotation, screw) or along it (translation), "" where there is none; pitch : of a screw, m/rad
    text : description without numbers; brief : the same in one or two words, "" if the text is that short
    share : remaining share of mobility in a lost direction, 0: none; motion : number of the free motion, from 1
    others : further components concerned
    chief : True if it represents all marks of its motion; marks of bodies are shown for selected bodies
    """

    kind: Kind
    ref: Ref
    text: str
    place: tuple[float, float, float]
    direction: tuple[float, float, float] = (0.0, 0.0, 0.0)
    form: Form = ""
    pitch: float = 0.0
    share: float = 0.0
    motion: int = 0
    others: tuple[Ref, ...] = ()
    chief: bool = True
    brief: str = ""

    @property
    def element_refs(self) -> tuple[Ref, ...]:
        """All components concerned, beginning with the marked one."""
        return (self.ref, *(ref for ref in self.others if ref != self.ref))


@dataclass(frozen=True)
class PoseDiagnosis:
    """Marks of a pose; mobility : the analysis on which they are based, None if the machine does not close; problem :
    the reason"""

    marks: tuple[MobilityMark, ...]
    mobility: Mobility | None
    problem: str = ""


class MobilityMarker:
    """Builder of mobility marks for any pose of a machine, with given parameter values and a frame whose lost
    directions are marked."""

    def __init__(self, mech: Mechanism, frame: str = "", p: Mapping[str, float] | None = None) -> None:
        self.mech, self.p = mech, p
        self._singular = SingularDirections(mech, frame, p)
        self._joints: dict[str, Joint] = {joint.name: joint for joint in mech.model.expanded.joints}
        self._implicit: dict[str, Joint] = {joint.name: joint for joint in mech.implicit_joints}

    def at(self, q: Array) -> PoseDiagnosis:
        """Marks at a pose (nq,); the loops are closed first, so that the marks agree with `mobility(q)`."""
        try:
            found = self.mech.mobility(q, self.p)
        except AssemblyError as error:
            refs = tuple(ref for ref in conflicting_elements(error) if ref[0])
            places = _ElementPositions(self.mech, q, self.p)
            text = "is not satisfied"
            marks = tuple(
                MobilityMark("conflict", ref, f"{ref[1]} {text}", places.position_of(ref), others=refs) for ref in refs
            )
            return PoseDiagnosis(marks, None, error.what)
        except KinetostatError as error:
            return PoseDiagnosis((), None, error.what)
        places = _ElementPositions(self.mech, found.q, self.p)
        marks = (
            *self._constraint_marks(found, places),
            *self._free_motion_marks(found, places),
            *self._lost_direction_marks(found, places),
        )
        return PoseDiagnosis(marks, found)

    # ----------------------------------------------------------------------------- too much

    def _constraint_marks(self, mobility: Mobility, positions: _ElementPositions) -> Iterator[MobilityMark]:
        """Marks of redundant constraints and of drivers that contradict or repeat others."""
        for item in mobility.redundant:
            ref = item.collection, item.joint
            form: Form = "rotation" if item.motion == "rotation" else "translation" if item.motion else ""
            yield MobilityMark(
                "redundant", ref, item.component, positions.position_of(ref), item.direction, form, others=item.others
            )
        for fault in mobility.driver_faults:
            ref = "drivers", fault.driver
            others = tuple(("drivers", name) for name in fault.others)
            kind: Kind = "conflict" if fault.contradicts else "redundant"
            yield MobilityMark(kind, ref, fault.text, positions.position_of(ref), others=others)

    # ----------------------------------------------------------------------------- freedoms

    def _free_motion_marks(self, mobility: Mobility, positions: _ElementPositions) -> Iterator[MobilityMark]:
        if not mobility.motions:
            return
        speeds = np.column_stack([motion.speeds for motion in mobility.motions])
        twists = self._singular.body_twists(mobility.q, speeds)
        joints = self._singular.joint_twists(mobility.q, twists)
        rows = {joint.name: k for k, joint in enumerate(self._singular.joints)}
        for k, motion in enumerate(mobility.motions):
            head = f"motion {k + 1}" if len(mobility.motions) > 1 else "free"
            chief = None
            if not motion.idle:
                joint = next((name for name, _ in motion.joints if name in rows), "")
                if joint:
                    chief = self._screw_from_twist(
                        mobility, joints[rows[joint], :, k], positions.position_of(("joints", joint))
                    )
                    does = "slides" if chief[0] == "translation" else "turns"
                    yield self._free_motion_mark(mobility, k, ("joints", joint), f"{head}: {joint} {does}", *chief)
            for body, mark in self._body_screws(mobility, k, twists, positions):
                alone = chief is None and body == self._representative_body(motion, mobility)
                does = "spins about its own axis" if motion.idle else _motion_verb(mark[0])
                text = f"{'idle' if motion.idle else head}: {body} {does}"
                yield self._free_motion_mark(mobility, k, ("bodies", body), text, *mark, alone)

    def _free_motion_mark(
        self,
        mobility: Mobility,
        k: int,
        ref: Ref,
        text: str,
        form: Form,
        position: Array,
        direction: Array,
        pitch: float,
        is_representative: bool = True,
    ) -> MobilityMark:
        motion = mobility.motions[k]
        kind: Kind = "idle" if motion.idle else "singular" if mobility.singular else "free"
        if kind == "singular" and is_representative:
            text += f" ({mobility.at_pose} degrees of freedom here, {mobility.dof} nearby)"
        others = tuple(
            ("joints", name) if name in self._joints else ("bodies", self._implicit[name].child)
            for name, _ in motion.joints
            if name in self._joints or name in self._implicit
        )
        brief = "" if len(mobility.motions) == 1 or motion.idle else f"motion {k + 1}"
        if brief and kind == "singular":
            brief += f" of {len(mobility.motions)} here"
        return MobilityMark(
            kind,
            ref,
            text,
            _to_float_triple(position),
            _to_float_triple(direction),
            form,
            pitch,
            0.0,
            k + 1,
            others,
            is_representative,
            brief,
        )

    def _body_screws(
        self, mobility: Mobility, k: int, twists: Mapping[str, Array], positions: _ElementPositions
    ) -> Iterator[tuple[str, tuple[Form, Array, Array, float]]]:
        """Instantaneous screw of every body that moves."""
        bodies = [body.name for body in self.mech.model.expanded.bodies if body.name in twists]
        size = self._singular.constraints.size
        fastest = max((_twist_norm(twists[name][:, k], size) for name in bodies), default=0.0)
        for name in bodies:
            V = twists[name][:, k]
            if _twist_norm(V, size) > STILL_FRACTION * fastest:
                yield name, self._screw_from_twist(mobility, V, positions.position_of(("bodies", name)))

    def _screw_from_twist(
        self, mobility: Mobility, V: Array, point: Sequence[float]
    ) -> tuple[Form, Array, Array, float]:
        """Return (form, position, direction, pitch) of a twist [ω; v] with v at a point; a translation is positioned at
        that point."""
        size = self._singular.constraints.size
        V = np.where(np.abs(V) > STILL_FRACTION * _twist_norm(V, size) * np.array([1.0] * 3 + [size] * 3), V, 0.0)
        screw = screw_from_twist(V, np.array(point))
        if screw.kind in ("translation", "rest"):
            return "translation", np.array(point), screw.direction, 0.0
        slides = abs(screw.pitch) > SHORTEST_PITCH * size
        return "screw" if slides else "rotation", screw.point, screw.direction, screw.pitch if slides else 0.0

    def _representative_body(self, motion: FreeMotion, mobility: Mobility) -> str:
        """Body that represents a motion in which no one-coordinate joint moves: the idle body, the free body, or the
        child of the first joint."""
        if motion.idle:
            return motion.idle.split(", ")[0]
        name = motion.joints[0][0] if motion.joints else ""
        joint = self._joints.get(name) or self._implicit.get(name)
        return self.mech.model.expanded.placement(joint.child)[0].name if joint is not None else ""

    # ----------------------------------------------------------------------------- what is lost

    def _lost_direction_marks(self, mobility: Mobility, positions: _ElementPositions) -> Iterator[MobilityMark]:
        for lost in self._singular.lost_frame_directions(mobility.q):
            ref = _frame_ref(self.mech, lost.frame)
            form: Form = "translation" if lost.part == "translation" else "rotation"
            text = f"{lost.frame} {_lost_direction_text(lost)}"
            yield MobilityMark(
                "singular",
                ref,
                text,
                positions.position_of(ref),
                _to_float_triple(lost.direction),
                form,
                share=lost.share,
            )
        joints = self._singular.immobile_joints(mobility.q)
        axes = self._joint_axes(mobility)
        for name, share in joints.items():
            slides = self._joints[name].info.is_slider()
            text = f"{name} {'can hardly move' if share else 'cannot move'} here"
            form = "translation" if slides else "rotation"
            ref = "joints", name
            yield MobilityMark(
                "singular", ref, text, positions.position_of(ref), _to_float_triple(axes[name]), form, share=share
            )
        soft = self._singular.least_constrained_motion(mobility.q)
        if soft is not None:
            yield from self._loose_motion_mark(
                mobility, soft, "near a singular pose: * is barely constrained", positions
            )
        loose = self._singular.least_controlled_motion(mobility.q)
        if loose is not None:
            names = self._singular.actuators.names
            actuators = names[0] if len(names) == 1 else "all actuators"
            are = "is" if len(names) == 1 else "are"
            held = (
                f"* is barely controlled by {actuators}"
                if loose.share
                else f"* can move although {actuators} {are} locked"
            )
            yield from self._loose_motion_mark(mobility, loose, held, positions)

    def _loose_motion_mark(
        self, mobility: Mobility, stiffness: LeastResistedMotion, text: str, positions: _ElementPositions
    ) -> Iterator[MobilityMark]:
        """Mark of the joint that moves most in a barely constrained motion; text : with a * as placeholder for the
        joint's name"""
        twists = self._singular.body_twists(mobility.q, stiffness.speeds[:, None])
        joints = self._singular.joint_twists(mobility.q, twists)[:, :, 0]
        if not len(joints):
            return
        size = self._singular.constraints.size
        k = max(range(len(joints)), key=lambda k: _twist_norm(joints[k], size))
        name = self._singular.joints[k].name
        form, place, direction, pitch = self._screw_from_twist(
            mobility, joints[k], positions.position_of(("joints", name))
        )
        ref, words = ("joints", name), text.replace("*", name, 1)
        yield MobilityMark(
            "singular", ref, words, _to_float_triple(place), _to_float_triple(direction), form, pitch, stiffness.share
        )

    def _joint_axes(self, mobility: Mobility) -> dict[str, Array]:
        """(3,) axes, world, of joints with one degree of freedom."""
        frames = self.mech.joint_poses(mobility.q, self.p)
        values = self.mech.compiled.coordinates.numbers
        return {
            joint.name: frames[joint.name][0][:3, :3]
            @ _unit_vector(np.array(values.vector(joint.axis, f"joint '{joint.name}', axis"), dtype=float))
            for joint in self._singular.joints
        }


def default_marked_frame(mech: Mechanism) -> str:
    """Frame whose lost directions are marked by default: the tool of an arm; "" for other machines."""
    return "" if mech.constrained or not mech.nv else tool_frame(mech.model) or ""


class _ElementPositions:
    """Positions (3,) m, world, of elements at a pose."""

    def __init__(self, mech: Mechanism, q: Array, p: Mapping[str, float] | None) -> None:
        self._model = mech.model.expanded
        self._joints = mech.joint_poses(q, p)
        poses = np.asarray(mech.poses(q, p))
        self._frames = dict(zip(mech.frame_names, poses[:, :3, 3], strict=True))

    def position_of(self, ref: Ref) -> tuple[float, float, float]:
        """Position of a joint's frame b, of a body's or frame's origin, of the centre of an element's frames, or else
        the world origin."""
        collection, name = ref
        if collection == "joints" and name in self._joints:
            return _to_float_triple(self._joints[name][1][:3, 3])
        if collection in ("bodies", "frames"):
            return _to_float_triple(self._frames.get(name, np.zeros(3)))
        found = next((each for each in getattr(self._model, collection, ()) if each.name == name), None)
        return _to_float_triple(np.mean(list(self._element_positions(found)) or [np.zeros(3)], axis=0))

    def _element_positions(self, element: object) -> Iterator[Array]:
        """Positions of the joint, frames or sensor that a constraint or driver refers to."""
        joint = getattr(element, "joint", "")
        if joint in self._joints:
            yield self._joints[joint][1][:3, 3]
        for end in ("a", "b"):
            name = getattr(element, end, "")
            if isinstance(name, str) and name:
                yield self._frames.get(name, np.zeros(3))
        sensor = getattr(element, "sensor", "")
        if sensor:
            yield from self._element_positions(
                next((each for each in self._model.sensors if each.name == sensor), None)
            )


def _frame_ref(mech: Mechanism, name: str) -> Ref:
    bodies = {body.name for body in mech.model.expanded.bodies}
    return ("bodies" if name in bodies else "frames"), name


def _lost_direction_text(lost: LostDirection) -> str:
    can = "can hardly" if lost.share else "cannot"
    if lost.part == "translation":
        return f"{can} move along this line"
    return f"{can} turn about this line" + (" in place" if lost.part == "rotation in place" else "")


def _motion_verb(form: Form) -> str:
    return {"translation": "translates", "screw": "screws", "rotation": "turns", "": "moves"}[form]


def _twist_norm(V: Array, size: float) -> float:
    return float(np.linalg.norm([*V[:3], *(V[3:] / size)]))


def _unit_vector(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-300)


def _to_float_triple(vector: Sequence[float] | Array) -> tuple[float, float, float]:
    x, y, z = map(float, vector)
    return x, y, z
