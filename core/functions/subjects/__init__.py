"""The functions of the catalogue, a module per subject."""
