"""Maps of where frames can be, and of how well machines do there: clouds, areas, volumes, boundaries."""
