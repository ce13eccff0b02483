"""The scene in VTK, without Qt: draw lists, meshes, actors, pictures, films."""
