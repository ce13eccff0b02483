"""Functions of the catalogue, one module per subject."""
