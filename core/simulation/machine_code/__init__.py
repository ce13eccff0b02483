"""Loops in machine code: the words they are written in, how they are compiled ahead, how they are loaded and called."""
