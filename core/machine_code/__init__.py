"""Compiler of the simulation loops: the Python subset in which they are written, ahead-of-time compilation through
LLVM, loading and calling."""
