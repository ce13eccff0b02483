"""The VTK scene: draw lists, pictures, film. Knows no Qt."""
