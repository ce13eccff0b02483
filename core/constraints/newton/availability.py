"""Test for machines that the position solver in machine code applies to; imports nothing that brings LLVM."""

from __future__ import annotations

from core.joints.free import Free
from core.joints.spherical import Spherical
from core.programs.compiled import CompiledModel, cache_per_model

QUATERNION_KINDS = (Spherical, Free)
"""Kinds of joints with more coordinates than speeds that machine code can displace."""
_NEEDED = ("constraint_residual", "constraint_jacobian")
_asked: list[bool] = []
"""Not empty once the code of the search has been asked for."""


@cache_per_model
def has_newton(compiled: CompiledModel) -> bool:
    """Return True if machine code knows the coordinates of a machine, and its constraints are dense."""
    kinds = [joint.info for joint in compiled.coordinates.joints.values()]
    return not compiled.is_sparse and all(kind.nq == kind.nv or kind in QUATERNION_KINDS for kind in kinds)


def is_newton_ready(compiled: CompiledModel) -> bool:
    """Return True if the search in machine code can begin at once; where only its own code is missing, that is loaded
    in the background."""
    if not has_newton(compiled) or any(compiled.evaluator(name).code.interpreted for name in _NEEDED):
        return False
    from core.constraints.newton.loop_closing import close_positions

    if not close_positions.is_loaded and not _asked:
        from core.codegen import background

        _asked.append(True)
        background.submit_job(_load)
    return close_positions.is_loaded


def _load() -> None:
    from core.constraints.newton.loop_closing import close_positions

    assert close_positions.address
