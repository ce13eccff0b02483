"""Workspace maps: reachable points of frames and local performance measures, as clouds, areas, volumes, boundaries."""
