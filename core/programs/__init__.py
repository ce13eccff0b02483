"""Functions of a machine, built symbolically as CasADi graphs and compiled when first needed."""
