"""Models as Python scripts; written, never read: files carry no code."""
