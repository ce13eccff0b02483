"""Compiler for the simulation loops: the Python subset they are written in, ahead-of-time compilation through LLVM,
loading and calling."""
