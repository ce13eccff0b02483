"""Models as Python scripts; only written, never read, because opening a file must not run code."""
