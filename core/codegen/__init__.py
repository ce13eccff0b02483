"""A graph of expressions becomes machine code: instructions, LLVM text, object cache, call."""
