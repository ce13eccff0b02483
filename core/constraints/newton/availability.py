"""Test for machines that the position solver in machine code applies to; imports nothing that brings LLVM."""

from __future__ import annotations

from core.joints.free import Free
from core.joints.spherical import Spherical
from core.programs.compiled import CompiledModel, cache_per_model

QUATERNION_KINDS = (Spherical, Free)
"""Kinds of joints with more coordinates than speeds that machine code can displace."""


@cache_per_model
def has_newton(compiled: CompiledModel) -> bool:
    """Return True if machine code knows the coordinates of a machine, and its constraints are dense."""
    kinds = [joint.info for joint in compiled.coordinates.joints.values()]
    return not compiled.is_sparse and all(kind.nq == kind.nv or kind in QUATERNION_KINDS for kind in kinds)
