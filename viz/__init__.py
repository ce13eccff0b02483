"""The scene in VTK, without Qt: draw lists, meshes, actors, pictures, films."""

from viz import vtk_libraries as vtk_libraries
