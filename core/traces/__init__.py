"""The functions of a machine, each traced over the graph of scalars and compiled when first asked for."""
