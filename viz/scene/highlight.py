"""Highlight of selected and hovered figures: an outline of constant width in pixels.

The outline is the figure once more, seen from inside only and pushed outward along its normals in the picture plane.
"""

from __future__ import annotations

from functools import lru_cache

from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkPolyDataNormals
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz.drawlist import geometry as g
from viz.meshes.meshes import mesh
from viz.scene.figures import Figure

WIDTH = 2.6
"""Width of the outline, pixels."""
GLASS = 0.5
"""Opacity below which bodies count as transparent: items behind them are picked first, and outlines stay visible
through them."""

_PUSH = """//VTK::PositionVC::Impl
  vec4 outlinePlace = MCDCMatrix * vertexMC;
  vec2 outlineWay = (MCDCMatrix * vec4(normalMC, 0.0)).xy * outlineSize;
  float outlineLength = length(outlineWay);
  if (outlineLength > 1e-9)
    outlinePlace.xy += outlineWay / outlineLength / outlineSize * outlineWidth * 2.0 * outlinePlace.w;
  gl_Position = outlinePlace;
"""


@lru_cache(maxsize=512)
def hull(form: g.Geometry) -> vtkPolyData:
    """Return the mesh of a form with one common normal per corner, so that displaced faces stay connected."""
    clean = vtkCleanPolyData()
    clean.SetInputData(mesh(form))
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
    """Outlines of one kind of highlight."""

    def __init__(self, renderer: vtkRenderer, width: float = WIDTH) -> None:
        self.renderer = renderer
        self.width = width
        self._actors: list[vtkActor] = []

    def show(self, figures: list[Figure], colour: tuple[float, float, float]) -> None:
        """Outline these figures only."""
        for actor in self._actors:
            self.renderer.RemoveActor(actor)
        self._actors = [self._outline(figure, colour) for figure in figures]
        for actor in self._actors:
            self.renderer.AddActor(actor)

    def fit(self, size: tuple[int, int], pixel_ratio: float) -> None:
        """Set the picture size in pixels, on which the outline width depends."""
        for actor in self._actors:
            uniforms = actor.GetShaderProperty().GetVertexCustomUniforms()
            uniforms.SetUniform2f("outlineSize", [float(x) for x in size])
            uniforms.SetUniformf("outlineWidth", self.width * pixel_ratio)

    def _outline(self, figure: Figure, colour: tuple[float, float, float]) -> vtkActor:
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(hull(figure.item.geometry))
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
