"""Picking of figures, i.e. the object under a pixel (handles first, then items in front, solids, transparent items);
and the highlight of selected and hovered figures, an outline of constant width in pixels.

The outline is the figure once more, seen from inside only and pushed outward along its normals in the picture plane.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkPolyDataNormals
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from core.later import dataclass
from viz.camera import Ray
from viz.drawlist import geometry as g
from viz.drawlist.geometry import Geometry
from viz.drawlist.item import Ref
from viz.drawlist.joint_look import HandlePart
from viz.meshes.meshes import get_mesh
from viz.placement import Array
from viz.scene.figures import IN_FRONT, Figure
from viz.scene.handles import JointHandles
from viz.scene.picking import PickTarget, nearest_hit

WIDTH = 2.6
"""Width of the outline, pixels."""
GLASS = 0.5
"""Opacity below which bodies count as transparent: items behind them are picked first, and outlines are visible through
them."""

_PUSH = """//VTK::PositionVC::Impl
  vec4 outlinePlace = MCDCMatrix * vertexMC;
  vec2 outlineWay = (MCDCMatrix * vec4(normalMC, 0.0)).xy * outlineSize;
  float outlineLength = length(outlineWay);
  if (outlineLength > 1e-9)
    outlinePlace.xy += outlineWay / outlineLength / outlineSize * outlineWidth * 2.0 * outlinePlace.w;
  gl_Position = outlinePlace;
"""

SEEN_THROUGH = ("inertia", "collision")
"""Roles that cannot be picked."""


@lru_cache(maxsize=512)
def connected_mesh(form: g.Geometry) -> vtkPolyData:
    """Return the mesh of a form with a single normal per corner, so that faces stay connected when they are displaced
    along the normals."""
    clean = vtkCleanPolyData()
    clean.SetInputData(get_mesh(form))
    clean.Update()
    bare = vtkPolyData()
    bare.SetPoints(clean.GetOutput().GetPoints())
    bare.SetPolys(clean.GetOutput().GetPolys())
    normals = vtkPolyDataNormals()
    normals.SetInputData(bare)
    normals.SplittingOff()
    normals.ConsistencyOff()
    normals.Update()
    return normals.GetOutput()


class Outline:
    """Outlines of the figures of one kind of highlight (selected, hovered …)."""

    def __init__(self, renderer: vtkRenderer, width: float = WIDTH) -> None:
        self.renderer = renderer
        self.width = width
        self._actors: list[vtkActor] = []

    def show_outlines(self, figures: list[Figure], colour: tuple[float, float, float]) -> None:
        """Show the outlines of these figures only."""
        for actor in self._actors:
            self.renderer.RemoveActor(actor)
        self._actors = [self._create_outline_actor(figure, colour) for figure in figures]
        for actor in self._actors:
            self.renderer.AddActor(actor)

    def fit(self, size: tuple[int, int], pixel_ratio: float) -> None:
        """Set the size of the picture in pixels, which determines the width of the outlines."""
        for actor in self._actors:
            uniforms = actor.GetShaderProperty().GetVertexCustomUniforms()
            uniforms.SetUniform2f("outlineSize", [float(x) for x in size])
            uniforms.SetUniformf("outlineWidth", self.width * pixel_ratio)

    def _create_outline_actor(self, figure: Figure, colour: tuple[float, float, float]) -> vtkActor:
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(connected_mesh(figure.item.geometry))
        mapper.ScalarVisibilityOff()
        actor = vtkActor()
        actor.SetMapper(mapper)
        actor.SetUserMatrix(figure.matrix)
        actor.PickableOff()
        surface = actor.GetProperty()
        surface.SetColor(*colour)
        surface.SetAmbient(1.0)
        surface.SetDiffuse(0.0)  # not LightingOff: the shader would then have no normals
        if figure.item.opacity < GLASS:
            surface.SetOpacity(0.35)
        surface.FrontfaceCullingOn()
        shader = actor.GetShaderProperty()
        shader.AddVertexShaderReplacement("//VTK::PositionVC::Impl", True, _PUSH, False)
        return actor


@dataclass(frozen=True)
class Hit:
    """Object under a pixel. position (3,) m and normal (3,) in world axes, at the true position, whatever layer the
    object is drawn in; `handle` if it is a joint handle; form and pose (4, 4; world) of the form that was hit."""

    ref: Ref | None
    position: Array
    normal: Array
    item: str = ""
    handle: HandlePart | None = None
    form: Geometry | None = None
    pose: Array | None = None


def pick_handle(ray: Ray, handles: JointHandles) -> Hit | None:
    """Return the handle that a line of sight meets."""
    held = handles.pick(ray)
    if held is None:
        return None
    assert isinstance(held.meaning, HandlePart)
    return Hit(("joints", held.meaning.joint), held.position, held.normal, handle=held.meaning)


def pick_figure(ray: Ray, figures: Iterable[Figure]) -> Hit | None:
    """Return the first element that a line of sight meets, in the first layer with a hit."""
    for layer in _picking_layers(figures):
        found = nearest_hit(ray, (PickTarget(figure.item.geometry, figure.pose, figure) for figure in layer))
        if found is not None:
            assert isinstance(found.meaning, Figure)
            item, pose = found.meaning.item, found.meaning.pose.copy()
            aside = _drawing_offset(found.meaning)
            pose[:3, 3] -= aside
            return Hit(item.ref, found.position - aside, found.normal, item.id, form=item.geometry, pose=pose)
    return None


def _drawing_offset(figure: Figure) -> Array:
    """Return the offset (3,), m, in the world, from the true position of a figure to the position at which it is
    drawn."""
    R_WB = figure.pose[:3, :3] @ figure.place[:3, :3].T
    return R_WB @ np.array(figure.item.layer)


def _picking_layers(figures: Iterable[Figure]) -> Iterator[list[Figure]]:
    """Yield figures by picking priority: those drawn in front; solid ones; transparent ones, so that an object seen
    through one is preferred."""
    meant = [each for each in figures if each.item.ref is not None and each.item.role not in SEEN_THROUGH]
    behind = [each for each in meant if each.item.role not in IN_FRONT]
    yield [each for each in meant if each.item.role in IN_FRONT]
    yield [each for each in behind if each.item.opacity >= GLASS]
    yield [each for each in behind if each.item.opacity < GLASS]
