"""Vectors of a motion as arrows: forces and torques in joints and of force elements, velocities, accelerations.

Which arrows there are is plain data (`Wanted`); their numbers come from the channels of a run, so that a plot of the
same name shows the same numbers. Moved arrows keep their actors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from core.errors import KinetostatError
from core.model import WORLD, Model
from core.model.forces import JOINT, LINE
from core.model.parameters import evaluate_field
from viz.drawlist import geometry as g
from viz.look import Colour, ColourScheme
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import vtk_matrix
from viz.placement import frame_along
from viz.scene.figures import set_material

if TYPE_CHECKING:
    from core.simulation.run.run import Run


SECOND_HEAD = 0.86
"""Position of the second head of a double arrow, as a share of its length."""
THINNEST, THICKEST = 0.16, 0.4
"""Arrow lengths, relative to the machine, beyond which the thickness no longer changes."""

Array = NDArray[np.float64]
LENGTH = 0.3
"""Length of a typical long arrow of a kind, relative to the size of the machine, at scale 1."""
LONGEST = 3.0
"""Arrow length, relative to the size of the machine, above which a new scale is chosen."""
QUANTILE = 0.75
LOOKS = 200
"""Number of samples of a run from which the typical length of arrows is computed."""
_MOVING = ("bodies", "frames")
_ACTING = ("joints", "forces")


class VectorGlyph(NamedTuple):
    """Arrow to be drawn, from `origin` (3,) by `vector` (3,), m. `double` : with two heads, for rotational quantities;
    `opacity` : 1 is opaque."""

    origin: ArrayLike
    vector: ArrayLike
    colour: Colour = "accent"
    double: bool = False
    opacity: float = 1.0


class SceneArrows:
    """All arrows, grouped by independent sources."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self.renderer, self.look = renderer, look
        self._shown: dict[str, list[tuple[vtkActor, Colour]]] = {}

    def show_arrows(self, source: str, glyphs: Sequence[VectorGlyph | tuple], size: float | None = None) -> None:
        """Show the arrows of a source; arrows of zero length are omitted. size (m) : of the machine; it limits the
        thickness."""
        pool = [actor for actor, _ in self._shown.pop(source, [])]
        shown: list[tuple[vtkActor, Colour]] = []
        for glyph in (VectorGlyph(*each) for each in glyphs):
            vector = np.asarray(glyph.vector, dtype=float)
            length = float(np.linalg.norm(vector))
            if length <= 0.0 or not np.isfinite(length):
                continue
            for share in (1.0, SECOND_HEAD) if glyph.double else (1.0,):
                actor = pool.pop() if pool else self._create_actor()
                self._place_arrow(
                    actor, glyph, share * length, length if size is None else _limited_length(length, size)
                )
                set_material(actor, self.look.resolve_colour(glyph.colour))
                actor.GetProperty().SetOpacity(glyph.opacity)
                shown.append((actor, glyph.colour))
        for actor in pool:
            self.renderer.RemoveActor(actor)
        if shown:
            self._shown[source] = shown

    def _create_actor(self) -> vtkActor:
        actor = vtkActor()
        actor.SetMapper(vtkPolyDataMapper())
        actor.GetMapper().ScalarVisibilityOff()
        actor.GetMapper().SetInputData(get_mesh(g.Arrow(1.0, 0.018, 0.055, 0.17)))
        self.renderer.AddActor(actor)
        return actor

    def _place_arrow(self, actor: vtkActor, glyph: VectorGlyph, length: float, width: float) -> None:
        scale = np.diag([width, width, length, 1.0])
        actor.SetUserMatrix(vtk_matrix(frame_along(glyph.vector, glyph.origin) @ scale))

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self.look = look
        for shown in self._shown.values():
            for actor, colour in shown:
                set_material(actor, look.resolve_colour(colour))

    @property
    def visible_actors(self) -> list[vtkActor]:
        """Return all visible actors."""
        return [actor for shown in self._shown.values() for actor, _ in shown]

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources with visible arrows."""
        return tuple(self._shown)


def _limited_length(length: float, size: float) -> float:
    return min(max(length, THINNEST * size), THICKEST * size)


class VectorKind(NamedTuple):
    """Kind of arrow. `channel` : quantity of a frame, or "" for quantities of joints and force elements."""

    id: str
    title: str
    unit: str
    colour: str
    collections: tuple[str, ...]
    """Collections of elements that have such a vector."""
    channel: str = ""
    turning: bool = False


KINDS: Mapping[str, VectorKind] = MappingProxyType(
    {
        kind.id: kind
        for kind in (
            VectorKind("force", "Force", "N", "vector_force", _ACTING),
            VectorKind("torque", "Torque", "N·m", "vector_torque", _ACTING, turning=True),
            VectorKind("velocity", "Velocity", "m/s", "vector_velocity", _MOVING, "velocity"),
            VectorKind("acceleration", "Acceleration", "m/s²", "vector_acceleration", _MOVING, "acceleration"),
            VectorKind("omega", "Angular velocity", "rad/s", "vector_omega", _MOVING, "omega", True),
        )
    }
)


class RequestedArrow(NamedTuple):
    """Requested arrow: its kind (a key of KINDS), and the collection and name of its element."""

    kind: str
    collection: str
    name: str


class ArrowField(NamedTuple):
    """Arrows of one element at all samples: origins (n, 3), in m, and vectors (n, 3), SI, world axes."""

    wanted: RequestedArrow
    origins: Array
    vectors: Array


def possible_arrows(model: Model, kind: str) -> tuple[RequestedArrow, ...]:
    """Return all arrows of a kind that a model can show."""
    expanded = model.expanded
    return tuple(
        RequestedArrow(kind, collection, element.name)
        for collection in KINDS[kind].collections
        for element in getattr(expanded, collection)
    )


def compute_arrow_fields(run: Run, requested: Iterable[RequestedArrow]) -> list[ArrowField]:
    """Return the requested arrows at all samples of a run; elements that have no such vector, or no longer exist, are
    omitted."""
    found = []
    poses: dict[str, tuple[Array, Array]] = {}
    for each in requested:
        try:
            pairs = _origins_and_vectors(run, each, poses)
        except (KinetostatError, KeyError, ValueError):
            continue
        found += [ArrowField(each, origins, vectors) for origins, vectors in pairs]
    return found


def _origins_and_vectors(
    run: Run, requested: RequestedArrow, poses: dict[str, tuple[Array, Array]]
) -> list[tuple[Array, Array]]:
    kind = KINDS[requested.kind]
    if kind.channel:
        return [(run[f"{requested.name}.position"], run[f"{requested.name}.{kind.channel}"])]
    part = slice(0, 3) if kind.turning else slice(3, 6)
    if requested.collection == "joints":
        if not poses:
            poses.update(run.mech.joint_poses(run.q, p=_parameter_values(run)))
        places = np.asarray(poses[requested.name][1])[:, :3, 3]
        return [(places, run[f"{requested.name}.reaction"][:, part])]
    return _force_arrows(run, requested, part)


def _force_arrows(run: Run, requested: RequestedArrow, part: slice) -> list[tuple[Array, Array]]:
    """Return the arrows of a force element: at both ends of a line, at frame b of a wrench, at the child of a force in
    a joint."""
    force = run.model.expanded.find("forces", requested.name)
    if force.is_clutch:  # it exerts opposite torques on two joints
        return []
    values = run[f"{requested.name}.force"]
    if force.info.along == JOINT:
        return _joint_arrows(run, force.joint, values, KINDS[requested.kind].turning)
    if force.info.along == LINE:
        if KINDS[requested.kind].turning:
            return []
        a, b = (_point_positions(run, name) for name in (force.a, force.b))
        offset = b - a
        length = np.linalg.norm(offset, axis=1, keepdims=True)
        pull = values.reshape(len(values), -1)[:, :1] * offset / np.maximum(length, 1e-12)
        return [(a, pull), (b, -pull)]
    if values.ndim == 2 and values.shape[1] in (3, 6):
        center = f"{requested.name}.center"
        place = np.asarray(run[center]) if center in run.channels else _point_positions(run, force.b)
        if values.shape[1] == 6:
            return [(place, values[:, part])]
        return [] if KINDS[requested.kind].turning else [(place, values)]
    return []


def _joint_arrows(run: Run, name: str, values: Array, rotational: bool) -> list[tuple[Array, Array]]:
    """Return the arrow along the axis of a revolute or prismatic joint; the force on the child is −F, against an
    increase of the coordinate."""
    joint = run.model.expanded.find("joints", name)
    dimensions = joint.info.coordinate_dimensions
    plain = joint.info.is_hinge() or joint.info.is_slider()
    if not plain or (dimensions[0] == "angle") != rotational:
        return []
    known = {**run.model.expanded.values(), **run.settings.parameters}
    axis = np.array([evaluate_field(x, known) for x in joint.axis], dtype=float)
    a, b = run.mech.joint_poses(run.q, p=_parameter_values(run))[name]
    along = np.asarray(a)[:, :3, :3] @ (axis / np.linalg.norm(axis))
    return [(np.asarray(b)[:, :3, 3], -values.reshape(-1, 1) * along)]


def _point_positions(run: Run, name: str) -> Array:
    """Return the positions (n, 3) of a body, frame or junction."""
    if name in ("", WORLD):
        return np.zeros((len(run.time), 3))
    return np.asarray(run[f"{name}.position"])


def _parameter_values(run: Run) -> dict[str, float] | None:
    return dict(run.settings.parameters) or None


def reference_magnitudes(arrow_fields: Sequence[ArrowField]) -> dict[str, float]:
    """Return for each kind the magnitude (SI) by which its arrows are scaled: the longest arrow is shorter than this
    for three quarters of the time. (With the maximum, a single shock would make all other arrows vanish.)"""
    result: dict[str, float] = {}
    for kind in dict.fromkeys(each.wanted.kind for each in arrow_fields):
        lengths = np.array([np.linalg.norm(each.vectors, axis=1) for each in arrow_fields if each.wanted.kind == kind])
        peaks = np.where(np.isfinite(lengths), lengths, 0.0).max(axis=0)
        result[kind] = float(np.quantile(peaks, QUANTILE)) or float(peaks.max(initial=0.0))
    return result


def sample_run(run: Run) -> Run:
    """Return a run with some of the samples, from which the scale of the arrows is computed."""
    from core.simulation.run.resampling import resample_run

    count = len(run.time)
    if count <= LOOKS:
        return run
    return resample_run(run, run.time[np.unique(np.linspace(0, count - 1, LOOKS).astype(int))])


def arrow_scales(magnitudes: Mapping[str, float], size: float) -> dict[str, float]:
    """Return the scale of each kind, metres of arrow per SI unit, for a machine of `size` m."""
    return {kind: LENGTH * size / value if value > 0.0 else 0.0 for kind, value in magnitudes.items()}


def round_down(value: float) -> float:
    """Round a positive number down to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max((f for f in (1.0, 2.0, 5.0) if f * power <= value * (1.0 + 1e-9)), default=1.0) * power)


def is_legible(arrow_fields: Sequence[ArrowField], scale: Mapping[str, float], size: float) -> bool:
    """Return True if no arrow is longer than `LONGEST` machine sizes, and every nonzero arrow has a scale."""
    lengths = {each.wanted.kind: 0.0 for each in arrow_fields}
    for each in arrow_fields:
        peak = np.linalg.norm(each.vectors, axis=1).max(initial=0.0)
        lengths[each.wanted.kind] = max(lengths[each.wanted.kind], float(peak))
    return all(
        longest == 0.0 or 0.0 < scale.get(kind, 0.0) * longest <= LONGEST * size for kind, longest in lengths.items()
    )


def build_glyphs(arrow_fields: Sequence[ArrowField], scale: Mapping[str, float], index: int) -> list[VectorGlyph]:
    """Return the arrows of one sample to be drawn."""
    return [
        VectorGlyph(
            each.origins[index],
            scale.get(each.wanted.kind, 0.0) * each.vectors[index],
            KINDS[each.wanted.kind].colour,
            KINDS[each.wanted.kind].turning,
        )
        for each in arrow_fields
    ]


def legend_arrow(scale: float, size: float) -> tuple[float, float]:
    """Return (value, length in m) of the arrow in the legend: 1, 2 or 5 times a power of ten, about an eighth of `size`
    long."""
    if scale <= 0.0:
        return 0.0, 0.0
    value = round_down(size / 8.0 / scale)
    return value, value * scale
