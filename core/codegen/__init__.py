"""Compilation of expression graphs to machine code: instructions, LLVM IR, object cache, calls."""
