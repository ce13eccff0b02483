"""Nearest balanced point where no operating point exists, and its residuals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from core.control.found_point import Found
from core.control.lineariser import Point
from core.control.trim_counting import FREE
from core.control.trim_rows import Row
from core.errors import listed

MET = 1e-6
"""Relative residual below which Newton's method is tried again with all rows."""
Solve = Callable[[Mapping[str, Row], Point], Found]


def nearest_point(found: Found, rows: Mapping[str, Row], point: Point, solve: Solve) -> Found:
    """Search the nearest point after a failed search: fixed outputs that are off become targets, while the other
    requirements stay. Sometimes that leads to a solution after all.

    solve(rows, point) : from a point on
    """
    off = [
        name
        for name, row in rows.items()
        if row.kind == "fixed" and not row.of_input and _relative_error(found, row) > MET
    ]
    if found.solved or not off or not found.iterations:
        return found
    near = solve({**rows, **{name: dataclasses.replace(rows[name], kind="target") for name in off}}, point)
    steps = found.iterations + near.iterations
    if not near.solved:
        return found
    if all(_relative_error(near, rows[name]) <= MET for name in off):
        met = solve(rows, point._replace(q=near.q, v=near.v))
        return dataclasses.replace(met, iterations=steps + met.iterations) if met.solved else found
    units = dict(zip(near.system.output_names, near.system.units.outputs, strict=True))
    missed = [name for name in off if _relative_error(near, rows[name]) > MET]
    misses = [f"{name} is off by {near.residuals[name]:.4g} {units.get(name, '')}".rstrip() for name in missed]
    words = f"No such point was found; at the nearest {listed(misses)}."
    words += f" Bounds act: {listed(list(near.acting))}; widen them." if near.acting else ""
    freed = found.message.partition(f". {FREE}")[2]
    words += f" {FREE}{freed}" if freed else ""
    return dataclasses.replace(near, solved=False, message=words, iterations=steps, targets=())


def _relative_error(found: Found, row: Row) -> float:
    """Return the error of a row, relative to its value if that is above 1."""
    return abs(found.residuals.get(row.name, 0.0)) / max(1.0, abs(row.value or 0.0))
