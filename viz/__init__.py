"""The scene in VTK, without Qt: draw lists, meshes, actors, pictures, films."""

from viz import system_libraries as system_libraries
