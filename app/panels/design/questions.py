"""Kinds of design problems in the Design panel."""

from __future__ import annotations

PARAMETERS, FUNCTION, MOTION, CURVE = range(4)
TITLES = (
    "Parameters of this machine, by a formula",
    "A function of this machine",
    "Poses of a body of this machine",
    "A linkage for a curve",
)
OF_AIMS = {"parameters": PARAMETERS, "function": FUNCTION, "motion": MOTION, "curve": CURVE}
"""Names of the kinds in `core.model.aims`."""
